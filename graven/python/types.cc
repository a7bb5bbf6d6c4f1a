#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <array>

#include "graven/ir/call_sizes.h"
#include "graven/python/bind.h"
#include "graven/python/convert.h"
#include "graven/python/errors.h"
#include "graven/python/object.h"
#include "graven/python/tensor_object.h"

// tf.DType and tf.TensorShape are Python classes (graven/_dtypes.py, graven/_tensor_shape.py),
// which register here, so that C++ makes and reads their objects without running Python.

namespace nb = nanobind;

namespace graven::python {
namespace {

using engine::Dim;
using engine::DType;
using engine::kNumDTypes;
using engine::Result;
using engine::Shape;
using engine::Status;

// All owned, for ever.
struct Registered {
  std::array<PyObject*, kNumDTypes> dtypes{};
  PyObject* as_dtype = nullptr;
  PyTypeObject* shape_class = nullptr;
  PyObject* dims = nullptr;  // "_dims"
  PyObject* open_shape_class = nullptr;
};
Registered g_types;

// The sizes of a TensorShape: a tuple of int and None, or None.
Result<Shape> shape_of_dims(PyObject* dims) {
  if (dims == Py_None) return Shape::unknown_rank();
  Object items = items_of(dims, "a shape is a list of sizes");
  if (!items) return pending_exception();
  Shape shape;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i) {
    PyObject* item = PyTuple_GET_ITEM(items.get(), i);
    if (item == Py_None) {
      shape.push_back(Dim::unknown());
      continue;
    }
    int64_t size = PyLong_AsLongLong(item);
    if (size == -1 && PyErr_Occurred()) return pending_exception();
    if (size < -1) return engine::value_error("Dimension ", size, " must be >= 0");
    shape.push_back(size < 0 ? Dim::unknown() : Dim(size));
  }
  if (shape.rank() > engine::kMaxRank) {
    return engine::value_error("A shape has at most ", engine::kMaxRank, " dimensions, not ",
                               shape.rank());
  }
  return shape;
}

Result<Shape> shape_of_object(PyObject* object) {
  Object dims = Object::take(run_python<PyObject_GetAttr>(object, g_types.dims));
  if (!dims) return pending_exception();
  return shape_of_dims(dims.get());
}

// True if the list or tuple holds ints and None only, so that it can be read at once.
bool holds_sizes(PyObject* object) {
  if (!PyList_CheckExact(object) && !PyTuple_CheckExact(object)) return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(object, i);
    if (item != Py_None && !PyLong_CheckExact(item)) return false;
  }
  return true;
}

Status integers_of(const engine::Tensor& tensor, Shape& shape) {
  if (tensor.rank() != 1 || (tensor.dtype() != DType::kInt32 && tensor.dtype() != DType::kInt64)) {
    return engine::value_error("A shape must be a vector of integers, not a tensor of shape ",
                               tensor.shape().to_text(), " and dtype ", dtype_name(tensor.dtype()));
  }
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    int64_t size =
        tensor.dtype() == DType::kInt32 ? tensor.data<int32_t>()[i] : tensor.data<int64_t>()[i];
    if (size < -1) return engine::value_error("Dimension ", size, " must be >= 0");
    shape.push_back(size < 0 ? Dim::unknown() : Dim(size));
  }
  return {};
}

}  // namespace

Result<DType> to_dtype(PyObject* object) {
  for (int i = 0; i < kNumDTypes; ++i) {
    if (g_types.dtypes[i] == object) return static_cast<DType>(i);
  }
  Object converted = Object::take(run_python<PyObject_CallOneArg>(g_types.as_dtype, object));
  if (!converted) return pending_exception();
  for (int i = 0; i < kNumDTypes; ++i) {
    if (g_types.dtypes[i] == converted.get()) return static_cast<DType>(i);
  }
  return engine::type_error("Graven has no tensors of this dtype");
}

PyObject* wrap(DType dtype) {
  PyObject* object = g_types.dtypes[static_cast<int>(dtype)];
  if (!object) return PyErr_Format(PyExc_TypeError, "an invalid dtype has no Python object");
  return Py_NewRef(object);
}

bool is_shape(PyObject* object) {
  return g_types.shape_class && PyObject_TypeCheck(object, g_types.shape_class);
}

Result<Shape> to_shape(PyObject* object) {
  if (Py_TYPE(object) == g_types.shape_class) return shape_of_object(object);
  if (object == Py_None) return Shape::unknown_rank();
  if (holds_sizes(object)) return shape_of_dims(object);
  if (is_tensor(object) && !tensor_of(object).is_symbolic()) {
    Shape shape;
    RETURN_IF_ERROR(integers_of(tensor_of(object), shape));
    return shape;
  }
  Object shape = Object::take(
      run_python<PyObject_CallOneArg>(reinterpret_cast<PyObject*>(g_types.shape_class), object));
  if (!shape) return pending_exception();
  return shape_of_object(shape.get());
}

PyObject* wrap(const Shape& shape) {
  Object dims = Object::borrow(Py_None);
  if (shape.has_rank()) {
    dims = Object::take(PyTuple_New(shape.rank()));
    for (int i = 0; dims && i < shape.rank(); ++i) {
      PyObject* size =
          shape[i].is_number() ? PyLong_FromLongLong(shape[i].number()) : Py_NewRef(Py_None);
      if (!size) return nullptr;
      PyTuple_SET_ITEM(dims.get(), i, size);
    }
  }
  if (!dims) return nullptr;
  Object object = Object::take(g_types.shape_class->tp_alloc(g_types.shape_class, 0));
  if (!object || PyObject_GenericSetAttr(object.get(), g_types.dims, dims.get()) < 0) {
    return nullptr;
  }
  return object.release();
}

PyObject* shape_of_tensor(PyObject* object) {
  const engine::Tensor& tensor = tensor_of(object);
  engine::CallSizes::refresh(tensor);
  const Shape& shape = tensor.shape();
  bool is_open = false;
  if (engine::CallSizes::any() && tensor.is_symbolic()) {
    for (int i = 0; i < shape.rank(); ++i) {
      is_open |= !shape[i].is_number() && engine::CallSizes::number(tensor, i);
    }
  }
  if (!is_open) return wrap(shape);
  Object sizes = Object::take(PyTuple_New(shape.rank()));
  for (int i = 0; sizes && i < shape.rank(); ++i) {
    PyObject* size = shape[i].is_number()                   ? PyLong_FromLongLong(shape[i].number())
                     : engine::CallSizes::number(tensor, i) ? Py_NewRef(Py_Ellipsis)
                                                            : Py_NewRef(Py_None);
    if (!size) return nullptr;
    PyTuple_SET_ITEM(sizes.get(), i, size);
  }
  if (!sizes) return nullptr;
  return run_python<PyObject_CallFunctionObjArgs>(g_types.open_shape_class, object, sizes.get(),
                                                  nullptr);
}

void bind_types(nb::module_& m) {
  m.def(
      "register_dtypes",
      [](nb::dict by_number, nb::callable as_dtype) {
        for (auto [number, dtype] : by_number) {
          g_types.dtypes.at(nb::cast<size_t>(number)) = Py_NewRef(dtype.ptr());
        }
        g_types.as_dtype = as_dtype.inc_ref().ptr();
      },
      nb::arg("by_number"), nb::arg("as_dtype"));
  m.def(
      "register_shape_class",
      [](nb::type_object shape_class) {
        g_types.shape_class = reinterpret_cast<PyTypeObject*>(shape_class.inc_ref().ptr());
        g_types.dims = PyUnicode_InternFromString("_dims");
      },
      nb::arg("shape_class"));
  m.def(
      "register_open_shape_class",
      [](nb::type_object shape_class) { g_types.open_shape_class = shape_class.inc_ref().ptr(); },
      nb::arg("shape_class"));
  m.def(
      "read_size",
      [](nb::handle tensor, int axis) {
        return engine::CallSizes::read(tensor_of(tensor.ptr()), axis);
      },
      "read_size(tensor, axis)\n--\n\nThe size of a dimension, or None. If the trace left it open, "
      "it serves this size only from now on.",
      nb::arg("tensor"), nb::arg("axis"));
  m.def(
      "is_same_size",
      [](nb::handle tensor, int axis, nb::handle other, int other_axis) {
        return engine::CallSizes::is_same_size(tensor_of(tensor.ptr()), axis,
                                               tensor_of(other.ptr()), other_axis);
      },
      "is_same_size(tensor, axis, other, other_axis)\n--\n\nTells whether two known sizes are the "
      "same; reads them only if it cannot be told otherwise.",
      nb::arg("tensor"), nb::arg("axis"), nb::arg("other"), nb::arg("other_axis"));
}

}  // namespace graven::python
