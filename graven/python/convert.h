#pragma once
#include <Python.h>

#include <optional>
#include <string_view>

#include "graven/base/status.h"
#include "graven/tensor/tensor.h"

namespace graven::python {

// A tensor from any argument of tf.convert_to_tensor: a tensor (itself), a variable (read), a
// Python number, string or bool, a NumPy array or scalar, nested lists and tuples of these and of
// tensors (packed), a TensorShape, an object with __array__ or __tf_tensor__ or a registered
// conversion. Without `dtype`, int becomes int32 (int64 if too wide), float float32, complex
// complex128, str and bytes string. With `dtype`, values must be representable in it, and a tensor
// of another dtype is a ValueError, but cast in lists whose first tensor has another one. In a
// graph a value becomes a Const node with the given name.
engine::Result<engine::Tensor> to_tensor(PyObject* object,
                                         std::optional<engine::DType> dtype = std::nullopt,
                                         std::string_view name = {});
// The same for tf.constant: lists that hold tensors are refused. Outside of a graph the value of a
// variable is cast to another dtype, because TensorFlow converts it as an array.
engine::Result<engine::Tensor> to_constant(PyObject* object, std::optional<engine::DType> dtype,
                                           std::string_view name);
// The same for an operand beside a tensor of dtype `hint`: a value takes that dtype if it can
// (1 beside float32), else its own.
engine::Result<engine::Tensor> to_tensor_like(PyObject* object, engine::DType hint,
                                              std::string_view name = {});
// The same, but always an eager tensor, never a node, as in tf.constant's value. Fails for symbolic
// tensors.
engine::Result<engine::Tensor> to_eager_tensor(PyObject* object,
                                               std::optional<engine::DType> dtype = std::nullopt);
// True for objects that to_tensor takes without looking inside containers: used by signatures.
bool is_array_like(PyObject* object);

// A dtype from any object that Python programs pass for one: tf.float32, np.float32, "float32", 1,
// float.
engine::Result<engine::DType> to_dtype(PyObject* object);
// A shape from a TensorShape, a list of ints, None and dimensions, an int, None (unknown rank).
engine::Result<engine::Shape> to_shape(PyObject* object);
bool is_shape(PyObject* object);             // a tf.TensorShape
PyObject* wrap(engine::DType dtype);         // the tf.DType object, a new reference
PyObject* wrap(const engine::Shape& shape);  // a tf.TensorShape
// The tf.TensorShape of a Tensor object; sizes that its trace leaves open (CallSizes) are read when
// the program looks at them.
PyObject* shape_of_tensor(PyObject* tensor);
// The elements as a NumPy array of its own, which is writable; rank 0 too.
PyObject* to_numpy_array(const engine::Tensor& tensor);
// The same, but a NumPy scalar, or bytes, for rank 0: the result of .numpy().
PyObject* to_numpy(const engine::Tensor& tensor);

}  // namespace graven::python
