#include "graven/python/numpy.h"

#include <cstring>
#include <optional>

#include "graven/ops/strided_copy.h"
#include "graven/python/convert.h"
#include "graven/python/errors.h"
#include "graven/python/object.h"
#include "graven/python/tensor_object.h"
#include "graven/tensor/device_queues.h"

namespace graven::python {
namespace {

using engine::Dim;
using engine::DType;
using engine::Result;
using engine::Shape;
using engine::Tensor;

// A view that is given back.
class BufferView {
 public:
  BufferView(PyObject* object, int flags)
      : ok_(run_python<PyObject_GetBuffer>(object, &view_, flags) == 0) {}
  ~BufferView() {
    if (ok_) run_python<PyBuffer_Release>(&view_);
  }
  BufferView(const BufferView&) = delete;
  bool ok() const { return ok_; }
  Py_buffer& operator*() { return view_; }
  Py_buffer* operator->() { return &view_; }

 private:
  Py_buffer view_;
  bool ok_;
};

// The dtype of a format of the struct module, as PEP 3118 extends it.
std::optional<DType> dtype_of_format(const char* format, Py_ssize_t size) {
  if (!format) return DType::kUInt8;
  if (*format == '@' || *format == '=' || *format == '<' || *format == '^') ++format;
  bool is_complex = *format == 'Z';
  if (is_complex) ++format;
  if (format[0] == '\0' || format[1] != '\0') return std::nullopt;
  switch (*format) {
    case '?':
      return DType::kBool;
    case 'e':
      return DType::kHalf;
    case 'f':
      return is_complex ? DType::kComplex64 : DType::kFloat32;
    case 'd':
      return is_complex ? DType::kComplex128 : DType::kFloat64;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
      return size == 1   ? DType::kInt8
             : size == 2 ? DType::kInt16
             : size == 4 ? DType::kInt32
                         : DType::kInt64;
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
      return size == 1   ? DType::kUInt8
             : size == 2 ? DType::kUInt16
             : size == 4 ? DType::kUInt32
                         : DType::kUInt64;
    default:
      return std::nullopt;
  }
}

// Copies elements that stand some whole elements apart, much faster than Python does; false for
// others.
bool copy_of_steps(const Py_buffer& view, DType dtype, const Tensor& to) {
  if (!view.strides || view.suboffsets ||
      reinterpret_cast<uintptr_t>(view.buf) % static_cast<uintptr_t>(view.itemsize) != 0) {
    return false;
  }
  const auto steps = engine::row_major_strides(to.shape());
  engine::CopyAxes axes;
  for (int i = 0; i < view.ndim; ++i) {
    if (view.strides[i] % view.itemsize != 0) return false;
    axes.push_back({view.shape[i], view.strides[i] / view.itemsize, steps[i]});
  }
  engine::copy_strided(dtype, axes, view.buf, to.mutable_raw_data());
  return true;
}

Result<Tensor> copy_of_view(Py_buffer& view, DType dtype) {
  Shape shape;
  for (int i = 0; i < view.ndim; ++i) shape.push_back(Dim(view.shape[i]));
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(dtype, shape));
  if (view.len > 0 && !copy_of_steps(view, dtype, tensor) &&
      PyBuffer_ToContiguous(tensor.mutable_raw_data(), &view, view.len, 'C') < 0) {
    return pending_exception();
  }
  if (dtype == DType::kBool) {  // a view of other numbers as bools holds any bytes
    for (uint8_t& byte : tensor.mutable_data<uint8_t>()) byte = byte != 0;
  }
  return tensor;
}

// Copies elements through the buffer protocol; none if the format is not of a plain dtype.
Result<std::optional<Tensor>> copy_of_buffer(PyObject* object) {
  BufferView view(object, PyBUF_FULL_RO);
  if (!view.ok()) {
    PyErr_Clear();
    return std::optional<Tensor>();
  }
  auto dtype = dtype_of_format(view->format, view->itemsize);
  if (!dtype || static_cast<Py_ssize_t>(dtype_size(*dtype)) != view->itemsize) {
    return std::optional<Tensor>();
  }
  ASSIGN_OR_RETURN(Tensor tensor, copy_of_view(*view, *dtype));
  return std::optional<Tensor>(std::move(tensor));
}

std::string text(const Object& object) {
  Object str = object ? Object::take(run_python<PyObject_Str>(object.get())) : Object();
  const char* utf8 = str ? PyUnicode_AsUTF8(str.get()) : nullptr;
  if (!utf8) PyErr_Clear();
  return utf8 ? utf8 : "";
}

Object call(PyObject* object, const char* method) {
  return Object::take(run_python<PyObject_CallMethod>(object, method, nullptr));
}

Result<Tensor> strings_of(PyObject* array) {
  Object shape = Object::take(run_python<PyObject_GetAttrString>(array, "shape")),
         flat = call(array, "ravel"), list = flat ? call(flat.get(), "tolist") : Object();
  if (!shape || !list) return pending_exception();
  ASSIGN_OR_RETURN(Shape sizes, to_shape(shape.get()));
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(DType::kString, sizes));
  auto elements = tensor.mutable_data<std::string>();
  if (!PyList_Check(list.get()) ||
      PyList_GET_SIZE(list.get()) != static_cast<Py_ssize_t>(elements.size())) {
    return engine::value_error("Failed to convert a NumPy array to a Tensor (its shape is ",
                               sizes.to_text(), ", its elements are others).");
  }
  for (size_t i = 0; i < elements.size(); ++i) {
    PyObject* item = PyList_GET_ITEM(list.get(), static_cast<Py_ssize_t>(i));
    Py_ssize_t size = 0;
    if (PyBytes_Check(item)) {
      elements[i].assign(PyBytes_AS_STRING(item), static_cast<size_t>(PyBytes_GET_SIZE(item)));
    } else if (PyUnicode_Check(item)) {
      const char* data = PyUnicode_AsUTF8AndSize(item, &size);
      if (!data) return pending_exception();
      elements[i].assign(data, static_cast<size_t>(size));
    } else {
      return engine::value_error(
          "Failed to convert a NumPy array to a Tensor (Unsupported object type ",
          Py_TYPE(item)->tp_name, ").");
    }
  }
  return tensor;
}

// The elements of strings, as an array of bytes objects.
Object array_of_strings(const Tensor& tensor) {
  static constinit Imported numpy_empty("numpy", "empty");
  PyObject* empty = numpy_empty.get();
  if (!empty) return {};
  auto elements = tensor.data<std::string>();
  Object array = Object::take(run_python<PyObject_CallFunction>(
      empty, "nO", static_cast<Py_ssize_t>(elements.size()), &PyBaseObject_Type));
  for (size_t i = 0; array && i < elements.size(); ++i) {
    Object item = Object::take(
        PyBytes_FromStringAndSize(elements[i].data(), static_cast<Py_ssize_t>(elements[i].size())));
    Object at = Object::take(PyLong_FromSize_t(i));
    if (!item || !at || run_python<PyObject_SetItem>(array.get(), at.get(), item.get()) < 0)
      return {};
  }
  if (!array) return array;
  Object shape = Object::take(PyTuple_New(tensor.rank()));
  for (int i = 0; shape && i < tensor.rank(); ++i) {
    PyTuple_SET_ITEM(shape.get(), i, PyLong_FromLongLong(tensor.shape().size(i)));
  }
  return shape ? Object::take(
                     run_python<PyObject_CallMethod>(array.get(), "reshape", "(O)", shape.get()))
               : Object();
}

// Buffers of Python's have no more dimensions either, and an array that NumPy cannot make of a
// buffer it asks __array__ for, which would come here again.
constexpr int kMaxArrayRank = 64;

// Explains a ValueError of NumPy's about a tensor, such as one without elements whose sizes are too
// large.
PyObject* refuse_array(const Tensor& tensor) {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  const std::string cause = value ? text(Object::borrow(value)) : "";
  drop(type);
  drop(value);
  drop(trace);
  return raise(engine::invalid_argument("Failed to create numpy array from tensor of shape ",
                                        tensor.shape().to_text(), ". Numpy error: ", cause));
}

Object array_of_bfloat16(const Tensor& tensor) {
  Object types = Object::take(run_python<PyImport_ImportModule>("ml_dtypes"));
  Object type =
      types ? Object::take(run_python<PyObject_GetAttrString>(types.get(), "bfloat16")) : types;
  if (!type) return {};
  engine::Result<Tensor> bits = Tensor::allocate(DType::kUInt16, tensor.shape());
  if (!bits.ok()) {
    raise(bits.status());
    return {};
  }
  std::memcpy(bits->mutable_raw_data(), tensor.raw_data(), tensor.bytes());
  Object array = Object::take(to_numpy_array(*bits));
  return array ? Object::take(run_python<PyObject_CallMethod>(array.get(), "view", "O", type.get()))
               : Object();
}

}  // namespace

bool is_numpy(PyObject* object) {
  for (PyTypeObject* type = Py_TYPE(object); type; type = type->tp_base) {
    const char* name = type->tp_name;
    if (std::strncmp(name, "numpy.", 6) == 0 &&
        (std::strcmp(name, "numpy.ndarray") == 0 || std::strcmp(name, "numpy.generic") == 0)) {
      return true;
    }
  }
  return false;
}

Result<Tensor> from_numpy(PyObject* object) {
  // Scalars of time give their bytes as a buffer.
  if (std::strstr(Py_TYPE(object)->tp_name, "time")) {
    return engine::value_error("Failed to convert a NumPy array to a Tensor (Unsupported numpy ",
                               "type: ", Py_TYPE(object)->tp_name, ").");
  }
  ASSIGN_OR_RETURN(auto copy, copy_of_buffer(object));
  if (copy) return std::move(*copy);
  Object dtype = Object::take(run_python<PyObject_GetAttrString>(object, "dtype"));
  if (!dtype) return pending_exception();
  std::string name = text(Object::take(run_python<PyObject_GetAttrString>(dtype.get(), "name")));
  std::string kind = text(Object::take(run_python<PyObject_GetAttrString>(dtype.get(), "kind")));
  std::string order =
      text(Object::take(run_python<PyObject_GetAttrString>(dtype.get(), "byteorder")));
  if (kind == "U" || kind == "S" || kind == "O") return strings_of(object);
  if (name == "bfloat16") {
    Object bits = Object::take(run_python<PyObject_CallMethod>(object, "view", "s", "uint16"));
    if (!bits) return pending_exception();
    BufferView view(bits.get(), PyBUF_FULL_RO);
    if (!view.ok()) return pending_exception();
    return copy_of_view(*view, DType::kBFloat16);
  }
  if (order == ">") {
    Object native =
        Object::take(run_python<PyObject_CallMethod>(dtype.get(), "newbyteorder", "s", "="));
    Object swapped =
        native ? Object::take(run_python<PyObject_CallMethod>(object, "astype", "O", native.get()))
               : Object();
    if (!swapped) return pending_exception();
    return from_numpy(swapped.get());
  }
  return engine::value_error(
      "Failed to convert a NumPy array to a Tensor (Unsupported numpy type: ", name, ").");
}

PyObject* to_numpy_array(const Tensor& tensor) {
  if (!tensor.device().is_host()) {
    auto copy = engine::on_device(tensor, engine::Device::host());
    if (copy.ok()) return to_numpy_array(*copy);
    raise(copy.status());
    return nullptr;
  }
  if (tensor.rank() > kMaxArrayRank) {
    return raise(engine::invalid_argument("Cannot convert tensor with ", tensor.rank(),
                                          " dimensions to NumPy array. NumPy arrays can have at "
                                          "most ",
                                          kMaxArrayRank, " dimensions"));
  }
  switch (tensor.dtype()) {
    case DType::kString:
      return array_of_strings(tensor).release();
    case DType::kBFloat16:
      return array_of_bfloat16(tensor).release();
    case DType::kResource:
    case DType::kVariant:
      return PyErr_Format(PyExc_TypeError, "A tensor of dtype %s has no NumPy array",
                          std::string(dtype_name(tensor.dtype())).c_str());
    default: {
      static constinit Imported numpy_array("numpy", "array");
      PyObject* array = numpy_array.get();
      if (!array) return nullptr;
      Object object = Object::take(wrap(tensor));
      PyObject* made = object ? run_python<PyObject_CallOneArg>(array, object.get()) : nullptr;
      return made || !PyErr_ExceptionMatches(PyExc_ValueError) ? made : refuse_array(tensor);
    }
  }
}

PyObject* to_numpy(const Tensor& tensor) {
  if (tensor.rank() == 0 && tensor.dtype() == DType::kString) {
    const auto& value = tensor.item<std::string>();
    return PyBytes_FromStringAndSize(value.data(), static_cast<Py_ssize_t>(value.size()));
  }
  Object array = Object::take(to_numpy_array(tensor));
  if (!array || tensor.rank() > 0) return array.release();
  Object nothing = Object::take(PyTuple_New(0));
  return nothing ? run_python<PyObject_GetItem>(array.get(), nothing.get()) : nullptr;
}

}  // namespace graven::python
