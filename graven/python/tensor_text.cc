#include <string>

#include "graven/ir/call_sizes.h"
#include "graven/ir/graph.h"
#include "graven/python/convert.h"
#include "graven/python/object.h"
#include "graven/python/tensor_object.h"

// How tensors print. NumPy formats the elements.

namespace graven::python {
namespace {

using engine::DType;
using engine::Tensor;

std::string symbolic_name(const Tensor& tensor) {
  const auto& symbol = engine::symbolic(tensor);
  return engine::str_cat(symbol.node().name(), ":", symbol.output().index);
}

PyObject* to_str(const std::string& text) {
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()),
                              "backslashreplace");
}

// The elements: as str() or repr() of the NumPy array. The repr() of a scalar is that of the Python
// number, as TensorFlow's: 0.1 in float32 is 0.10000000149011612.
Object elements_text(const Tensor& tensor, bool is_repr) {
  if (tensor.dtype() == DType::kResource || tensor.dtype() == DType::kVariant) {
    return Object::take(PyUnicode_FromString("<unprintable>"));
  }
  Object array = Object::take(to_numpy(tensor));
  if (!array) return {};
  if (is_repr && tensor.rank() == 0 && tensor.dtype() != DType::kString) {
    array = Object::take(run_python<PyObject_CallMethod>(array.get(), "item", nullptr));
    if (!array) return {};
  }
  Object text = Object::take(is_repr ? run_python<PyObject_Repr>(array.get())
                                     : run_python<PyObject_Str>(array.get()));
  if (text && PyUnicode_FindChar(text.get(), '\n', 0, PyUnicode_GET_LENGTH(text.get()), 1) >= 0) {
    return Object::take(PyUnicode_FromFormat("\n%U", text.get()));
  }
  return text;
}

}  // namespace

PyObject* tensor_str(PyObject* self) {
  const Tensor& tensor = tensor_of(self);
  std::string shape = engine::CallSizes::read_shape(tensor).to_text(),
              dtype(dtype_name(tensor.dtype()));
  if (tensor.is_symbolic()) {
    std::string text = engine::str_cat("Tensor(\"", symbolic_name(tensor), "\"");
    if (tensor.shape().has_rank())
      text += engine::str_cat(", shape=", shape);
    else
      text += ", shape=<unknown>";
    return to_str(engine::str_cat(text, ", dtype=", dtype, ")"));
  }
  Object elements = elements_text(tensor, false);
  return elements ? PyUnicode_FromFormat("tf.Tensor(%U, shape=%s, dtype=%s)", elements.get(),
                                         shape.c_str(), dtype.c_str())
                  : nullptr;
}

PyObject* tensor_repr(PyObject* self) {
  const Tensor& tensor = tensor_of(self);
  std::string shape = engine::CallSizes::read_shape(tensor).to_text(),
              dtype(dtype_name(tensor.dtype()));
  if (tensor.is_symbolic()) {
    return to_str(engine::str_cat("<tf.Tensor '", symbolic_name(tensor), "' shape=", shape,
                                  " dtype=", dtype, ">"));
  }
  Object elements = elements_text(tensor, true);
  const char* key =
      tensor.dtype() == DType::kResource || tensor.dtype() == DType::kVariant ? "value" : "numpy";
  return elements ? PyUnicode_FromFormat("<tf.Tensor: shape=%s, dtype=%s, %s=%U>", shape.c_str(),
                                         dtype.c_str(), key, elements.get())
                  : nullptr;
}

PyObject* tensor_format(PyObject* self, PyObject* specification) {
  if (tensor_of(self).is_symbolic()) {  // a format specification is for its value, not for its text
    if (PyUnicode_Check(specification) && PyUnicode_GET_LENGTH(specification) == 0) {
      return tensor_str(self);
    }
    PyErr_SetString(PyExc_TypeError,
                    "unsupported format string passed to SymbolicTensor.__format__: it has no "
                    "value while a function is traced. See docs/errors/symbolic-tensor.md");
    return nullptr;
  }
  Object array = Object::take(to_numpy(tensor_of(self)));
  return array ? run_python<PyObject_Format>(array.get(), specification) : nullptr;
}

}  // namespace graven::python
