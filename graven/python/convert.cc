#include "graven/python/convert.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/join_ops.h"
#include "graven/python/apply.h"
#include "graven/python/errors.h"
#include "graven/python/numpy.h"
#include "graven/python/object.h"
#include "graven/python/tensor_object.h"
#include "graven/python/variable_object.h"
#include "graven/runtime/eager_builder.h"

namespace graven::python {
namespace {

using engine::Dim;
using engine::DType;
using engine::Frame;
using engine::Result;
using engine::Shape;
using engine::Status;
using engine::Tensor;
using engine::type_error;
using engine::value_error;

constexpr const char* kOutOfRange =
    "Can't convert Python sequence with out-of-range integer to Tensor.";

std::string text_of(PyObject* object, bool is_repr = true) {
  Object text =
      Object::take(is_repr ? run_python<PyObject_Repr>(object) : run_python<PyObject_Str>(object));
  const char* utf8 = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  if (!utf8) PyErr_Clear();
  return utf8 ? utf8 : "<?>";
}

Status unsupported(PyObject* object) {
  return value_error("Attempt to convert a value (", text_of(object),
                     ") with an unsupported type (",
                     text_of(reinterpret_cast<PyObject*>(Py_TYPE(object))), ") to a Tensor.");
}

Status cannot_convert(PyObject* object, DType dtype) {
  return type_error("Cannot convert ", text_of(object), " to EagerTensor of dtype ",
                    dtype_op_def_name(dtype), ". See docs/errors/different-dtypes.md");
}

// The kinds of elements that Python objects are.
enum class ScalarKind : uint8_t { kBool, kInt, kFloat, kFloat64, kHalf, kComplex, kString, kOther };

ScalarKind kind_of_numpy(const char* name) {
  name += std::strlen("numpy.");
  if (!std::strncmp(name, "bool", 4)) return ScalarKind::kBool;
  if (!std::strncmp(name, "int", 3) || !std::strncmp(name, "uint", 4)) return ScalarKind::kInt;
  if (!std::strcmp(name, "float64")) return ScalarKind::kFloat64;
  if (!std::strcmp(name, "float16")) return ScalarKind::kHalf;
  if (!std::strcmp(name, "float32")) return ScalarKind::kFloat;
  if (!std::strncmp(name, "complex", 7)) return ScalarKind::kComplex;
  return ScalarKind::kOther;
}

ScalarKind kind_of(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (type == &PyFloat_Type) return ScalarKind::kFloat;
  if (type == &PyLong_Type) return ScalarKind::kInt;
  if (type == &PyBool_Type) return ScalarKind::kBool;
  if (PyUnicode_Check(object) || PyBytes_Check(object)) return ScalarKind::kString;
  if (!std::strncmp(type->tp_name, "numpy.", 6)) return kind_of_numpy(type->tp_name);
  if (PyLong_Check(object)) return ScalarKind::kInt;
  if (PyFloat_Check(object)) return ScalarKind::kFloat;
  if (PyComplex_Check(object)) return ScalarKind::kComplex;
  if (!std::strcmp(type->tp_name, "ml_dtypes.bfloat16")) return ScalarKind::kFloat;
  if (PyIndex_Check(object)) return ScalarKind::kInt;
  return ScalarKind::kOther;
}

bool is_tensor_or_variable(PyObject* object) {
  return is_tensor(object) || (variable_base_type && is_variable(object));
}

bool is_sequence(PyObject* object) {
  if (PyList_Check(object) || PyTuple_Check(object)) return true;
  if (PyUnicode_Check(object) || PyBytes_Check(object) || PyDict_Check(object)) return false;
  return PySequence_Check(object) && !is_tensor_or_variable(object) &&
         kind_of(object) == ScalarKind::kOther;
}

// The first of at least one item. An object with an iterator of its own need not count from 0
// (pandas' series are looked up by their labels).
Object first_of(PyObject* sequence) {
  if (PyList_Check(sequence) || PyTuple_Check(sequence)) {
    return Object::take(run_python<PySequence_GetItem>(sequence, 0));
  }
  Object iterator = Object::take(run_python<PyObject_GetIter>(sequence));
  Object first = iterator ? Object::take(run_python<PyIter_Next>(iterator.get())) : Object();
  if (!first && !PyErr_Occurred()) {
    PyErr_SetString(PyExc_ValueError, "A sequence whose length is not 0 has no items");
  }
  return first;
}

// The leaves of nested sequences, in order, and their shape.
class Leaves {
 public:
  Status collect(PyObject* object) {
    RETURN_IF_ERROR(find_shape(object));
    auto n = shape_.checked_num_elements();
    if (n) leaves_.reserve(static_cast<size_t>(*n));
    return walk(object, 0);
  }
  const Shape& shape() const { return shape_; }
  const std::vector<Object>& leaves() const { return leaves_; }
  bool has_tensors() const { return has_tensors_; }

 private:
  Status find_shape(PyObject* object) {
    Object at = Object::borrow(object);
    while (is_sequence(at.get())) {
      // A NumPy array without dimensions is an element.
      Py_ssize_t n = run_python<PySequence_Size>(at.get());
      if (n < 0) {
        PyErr_Clear();
        break;
      }
      shape_.push_back(Dim(n));
      if (shape_.rank() > engine::kMaxRank) {
        return value_error("Can't convert a Python sequence nested more than ", engine::kMaxRank,
                           " deep to a Tensor.");
      }
      if (n == 0) break;
      at = first_of(at.get());
      if (!at) return pending_exception();
    }
    return {};
  }
  Status walk(PyObject* object, int depth) {
    if (depth == shape_.rank() && (PyFloat_CheckExact(object) || PyLong_CheckExact(object))) {
      leaves_.push_back(Object::borrow(object));
      return {};
    }
    if (is_tensor_or_variable(object)) {
      has_tensors_ = true;
      return {};
    }
    if (depth == shape_.rank()) {
      if (is_sequence(object) && run_python<PySequence_Size>(object) >= 0) {
        return value_error("Can't convert Python sequence with mixed types to Tensor.");
      }
      PyErr_Clear();
      return add_leaf(object);
    }
    if (!is_sequence(object)) return ragged();
    Object items = items_of(object, "a sequence");
    if (!items) return pending_exception();
    if (PyTuple_GET_SIZE(items.get()) != shape_.size(depth)) return ragged();
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i) {
      RETURN_IF_ERROR(walk(PyTuple_GET_ITEM(items.get(), i), depth + 1));
      if (has_tensors_) return {};
    }
    return {};
  }
  Status add_leaf(PyObject* object) {
    const bool is_array = kind_of(object) == ScalarKind::kOther && is_numpy(object);
    if (!is_array) {
      leaves_.push_back(Object::borrow(object));
      return {};
    }
    Object nothing = Object::take(PyTuple_New(0));  // array[()]: a NumPy scalar, or an object
    Object element =
        nothing ? Object::take(run_python<PyObject_GetItem>(object, nothing.get())) : Object();
    if (!element) return pending_exception();
    leaves_.push_back(std::move(element));
    return {};
  }
  static Status ragged() {
    return value_error("Can't convert non-rectangular Python sequence to Tensor.");
  }

  Shape shape_;
  std::vector<Object> leaves_;
  bool has_tensors_ = false;
};

// The least of int32, int64 and uint64 that holds a number, none if there is none. Numbers from
// 2^63 on have a dtype in graphs only, as in TensorFlow, which leaves that to NumPy there.
std::optional<DType> least_integer(PyObject* number) {
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow > 0 && Frame::current().is_graph()) {
    (void)PyLong_AsUnsignedLongLong(number);
    if (!PyErr_Occurred()) return DType::kUInt64;
  }
  if (overflow) {
    PyErr_Clear();
    return std::nullopt;
  }
  return value >= INT32_MIN && value <= INT32_MAX ? DType::kInt32 : DType::kInt64;
}

Result<Tensor> checked_dtype(Tensor tensor, std::optional<DType> dtype, PyObject* object) {
  if (dtype && *dtype != tensor.dtype()) {
    return value_error("Tensor conversion requested dtype ", dtype_name(*dtype),
                       " for Tensor with dtype ", dtype_name(tensor.dtype()), ": ", text_of(object),
                       ". See docs/errors/different-dtypes.md");
  }
  return tensor;
}

// The result of __tf_tensor__; an empty tensor if the class has none.
Result<Tensor> own_conversion(PyObject* object, std::optional<DType> dtype) {
  if (PyType_Check(object)) return Tensor();
  Object method = Object::take(run_python<PyObject_GetAttrString>(object, "__tf_tensor__"));
  if (!method) {
    PyErr_Clear();
    return Tensor();
  }
  Object type = dtype ? Object::take(wrap(*dtype)) : Object::borrow(Py_None);
  if (!type) return pending_exception();
  Object result = Object::take(
      run_python<PyObject_CallFunctionObjArgs>(method.get(), type.get(), Py_None, nullptr));
  if (!result) return pending_exception();
  if (!is_tensor(result.get())) {
    return type_error("__tf_tensor__ of ", text_of(object), " gave no tensor but ",
                      text_of(result.get()));
  }
  return checked_dtype(tensor_of(result.get()), dtype, object);
}

// Of an element of a list: in its own words where it refuses to be a tensor.
Status unsupported_element(PyObject* object) {
  auto own = own_conversion(object, std::nullopt);
  return own.ok() ? unsupported(object) : own.status();
}

Result<DType> common_dtype(const std::vector<Object>& leaves) {
  if (leaves.empty()) return DType::kFloat32;
  ScalarKind first = kind_of(leaves[0].get());
  bool has_float = false, has_wide = false, has_unsigned = false, has_signed = false;
  for (const Object& leaf : leaves) {
    ScalarKind kind = kind_of(leaf.get());
    bool fits = true;
    switch (kind) {
      case ScalarKind::kOther:
        return unsupported_element(leaf.get());
      case ScalarKind::kBool:
        fits = first != ScalarKind::kString;
        break;
      case ScalarKind::kInt: {
        fits = first != ScalarKind::kBool && first != ScalarKind::kString;
        if (first != ScalarKind::kInt) break;
        Object number = Object::take(run_python<PyNumber_Index>(leaf.get()));
        if (!number) return pending_exception();
        const std::optional<DType> least = least_integer(number.get());
        if (!least) return value_error(kOutOfRange);
        has_wide |= *least == DType::kInt64;
        (*least == DType::kUInt64 ? has_unsigned : has_signed) = true;
        break;
      }
      case ScalarKind::kFloat:
      case ScalarKind::kFloat64:
      case ScalarKind::kHalf:
        fits = first != ScalarKind::kBool && first != ScalarKind::kString;
        has_float = true;
        break;
      case ScalarKind::kComplex:
        fits = first == ScalarKind::kComplex;
        break;
      case ScalarKind::kString:
        fits = first == ScalarKind::kString;
        break;
    }
    if (!fits) return value_error("Can't convert Python sequence with mixed types to Tensor.");
  }
  if (has_unsigned && !has_float) {
    // Beside others TensorFlow has float32, in which most of their digits are lost.
    if (has_signed) return value_error(kOutOfRange);
    return DType::kUInt64;
  }
  switch (first) {
    case ScalarKind::kBool:
      return DType::kBool;
    case ScalarKind::kInt:
      return has_float ? DType::kFloat32 : has_wide ? DType::kInt64 : DType::kInt32;
    case ScalarKind::kFloat64:
      return DType::kFloat64;
    case ScalarKind::kHalf:
      return DType::kHalf;
    case ScalarKind::kComplex:
      return DType::kComplex128;
    case ScalarKind::kString:
      return DType::kString;
    default:
      return DType::kFloat32;
  }
}

bool kind_fits(ScalarKind kind, DType dtype) {
  switch (kind) {
    case ScalarKind::kBool:
      return dtype == DType::kBool || is_plain(dtype);
    case ScalarKind::kInt:
      return is_plain(dtype) && dtype != DType::kBool;
    case ScalarKind::kFloat:
    case ScalarKind::kFloat64:
    case ScalarKind::kHalf:
      return is_floating(dtype) || is_complex(dtype);
    case ScalarKind::kComplex:
      return is_complex(dtype);
    case ScalarKind::kString:
      return dtype == DType::kString;
    case ScalarKind::kOther:
      return false;
  }
  return false;
}

bool store(PyObject* leaf, bool& value) {
  int truth = run_python<PyObject_IsTrue>(leaf);
  value = truth == 1;
  return truth >= 0;
}

// Numbers beyond 64 bits are refused, those beyond narrower dtypes wrap around, as TensorFlow has
// it.
template <typename T>
requires std::is_integral_v<T>
bool store(PyObject* leaf, T& value) {
  Object number =
      PyLong_Check(leaf) ? Object::borrow(leaf) : Object::take(run_python<PyNumber_Index>(leaf));
  if (!number) {
    PyErr_Clear();
    number = Object::take(run_python<PyNumber_Long>(leaf));  // numpy.bool
  }
  if (!number) return false;
  int overflow = 0;
  const long long wide = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
  if (wide == -1 && !overflow && PyErr_Occurred()) return false;
  value = static_cast<T>(wide);
  bool fits = !overflow;
  if constexpr (std::is_same_v<T, uint64_t>) {
    fits &= wide >= 0;
    if (overflow > 0) {
      value = PyLong_AsUnsignedLongLong(number.get());
      fits = !PyErr_Occurred();
    }
  }
  if (!fits) PyErr_SetString(PyExc_ValueError, kOutOfRange);
  return fits;
}

bool store_double(PyObject* leaf, double& value) {
  value = PyFloat_CheckExact(leaf) ? PyFloat_AS_DOUBLE(leaf) : PyFloat_AsDouble(leaf);
  if (value != -1.0 || !PyErr_Occurred()) return true;
  // In a graph TensorFlow leaves that to NumPy, which passes Python's error on.
  if (PyErr_ExceptionMatches(PyExc_OverflowError) && !Frame::current().is_graph()) {
    PyErr_SetString(PyExc_ValueError, kOutOfRange);
  }
  return false;
}

template <typename T>
requires(std::is_floating_point_v<T> || std::is_same_v<T, engine::Half> ||
         std::is_same_v<T, engine::BFloat16>) bool store(PyObject* leaf, T& value) {
  double number = 0;
  if (!store_double(leaf, number)) return false;
  if constexpr (std::is_floating_point_v<T>) {
    value = static_cast<T>(number);
  } else {
    value = T(static_cast<float>(number));
  }
  return true;
}

template <typename T>
bool store(PyObject* leaf, std::complex<T>& value) {
  if (PyComplex_Check(leaf) || kind_of(leaf) == ScalarKind::kComplex) {
    Py_complex number = PyComplex_AsCComplex(leaf);
    value = {static_cast<T>(number.real), static_cast<T>(number.imag)};
    return !PyErr_Occurred();
  }
  double number = 0;
  if (!store_double(leaf, number)) return false;
  value = {static_cast<T>(number), 0};
  return true;
}

bool store(PyObject* leaf, std::string& value) {
  if (PyBytes_Check(leaf)) {
    value.assign(PyBytes_AS_STRING(leaf), static_cast<size_t>(PyBytes_GET_SIZE(leaf)));
    return true;
  }
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(leaf, &size);
  if (data) value.assign(data, static_cast<size_t>(size));
  return data;
}

bool is_numpy_bool(PyObject* leaf) {
  return kind_of(leaf) == ScalarKind::kBool && !PyBool_Check(leaf);
}

// Whether TensorFlow, where it computes at once, reads Python's values as a dtype.
bool is_read_at_once(DType dtype) {
  switch (dtype) {
    case DType::kBool:
    case DType::kInt32:
    case DType::kInt64:
    case DType::kUInt64:
    case DType::kHalf:
    case DType::kFloat32:
    case DType::kFloat64:
    case DType::kComplex128:
    case DType::kString:
      return true;
    default:
      return false;
  }
}

// TensorFlow's rule for values outside of a graph. Values that it cannot read as the dtype get
// their own dtype first, and are cast: an integer to any number, a float to floats and complex
// numbers. So True is 1 as an int32, and refused as a uint8. whole: the user's object, for
// messages.
Status check_outside_of_graph(PyObject* whole, const std::vector<Object>& leaves, DType dtype) {
  bool is_read = is_read_at_once(dtype);
  for (const Object& leaf : leaves) {
    is_read &= kind_fits(kind_of(leaf.get()), dtype) &&
               (dtype == DType::kBool || !is_numpy_bool(leaf.get()));
  }
  if (is_read || leaves.empty()) return {};
  ASSIGN_OR_RETURN(const DType own, common_dtype(leaves));
  const bool is_real = is_integer(own) || is_floating(own);
  if (own == dtype || (is_integer(own) && is_integer(dtype)) || (is_real && is_floating(dtype)) ||
      ((is_real || is_complex(own)) && is_complex(dtype))) {
    return {};
  }
  return cannot_convert(whole, dtype);
}

// True if a finite float becomes infinite in float32: refused if float32 is only the default. In a
// graph TensorFlow leaves this to NumPy, which lets it pass.
bool is_out_of_range(double number) {
  return std::isinf(static_cast<float>(number)) && !std::isinf(number) &&
         !Frame::current().is_graph();
}

Status check_range(const std::vector<Object>& leaves) {
  for (const Object& leaf : leaves) {
    if (PyFloat_Check(leaf.get()) && is_out_of_range(PyFloat_AS_DOUBLE(leaf.get()))) {
      return value_error("Can't convert ", text_of(leaf.get()),
                         " to a Tensor of float32: out of range. Ask for tf.float64");
    }
  }
  return {};
}

Result<Tensor> from_leaves(PyObject* whole, const std::vector<Object>& leaves, const Shape& shape,
                           std::optional<DType> dtype) {
  if (!dtype) {
    ASSIGN_OR_RETURN(dtype, common_dtype(leaves));
    if (*dtype == DType::kFloat32) RETURN_IF_ERROR(check_range(leaves));
  } else if (!Frame::current().is_graph()) {
    RETURN_IF_ERROR(check_outside_of_graph(whole, leaves, *dtype));
  }
  for (const Object& leaf : leaves) {
    ScalarKind kind = kind_of(leaf.get());
    if (kind == ScalarKind::kOther) return unsupported_element(leaf.get());
    if (!kind_fits(kind, *dtype)) return cannot_convert(whole, *dtype);
  }
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(*dtype, shape));
  auto fill = [&](auto zero) {
    using T = decltype(zero);
    T* out = static_cast<T*>(tensor.mutable_raw_data());
    for (const Object& leaf : leaves) {
      if (!store(leaf.get(), *out++)) return false;
    }
    return true;
  };
  bool ok = *dtype == DType::kString ? fill(std::string()) : visit_plain(*dtype, fill);
  if (!ok) return pending_exception();
  return tensor;
}

// The commonest values without detours; an empty tensor for others.
Tensor quick_scalar(PyObject* object, std::optional<DType> dtype) {
  if (PyFloat_CheckExact(object)) {
    double value = PyFloat_AS_DOUBLE(object);
    if (!dtype && is_out_of_range(value)) return {};
    if (!dtype || *dtype == DType::kFloat32) return Tensor::scalar(static_cast<float>(value));
    if (*dtype == DType::kFloat64) return Tensor::scalar(value);
    return {};
  }
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow) return {};
    if (!dtype || *dtype == DType::kInt32) {
      if (value < INT32_MIN || value > INT32_MAX) return {};
      return Tensor::scalar(static_cast<int32_t>(value));
    }
    if (*dtype == DType::kInt64) return Tensor::scalar(static_cast<int64_t>(value));
    if (*dtype == DType::kFloat32) {
      // Through double, as numbers that are stored in lists.
      return Tensor::scalar(static_cast<float>(static_cast<double>(value)));
    }
    if (*dtype == DType::kFloat64) return Tensor::scalar(static_cast<double>(value));
    return {};
  }
  if (PyBool_Check(object) && (!dtype || *dtype == DType::kBool)) {
    return Tensor::scalar(object == Py_True);
  }
  return {};
}

// A vector of what read(item, element) finds in each item; an empty tensor if it refuses one.
template <typename T, typename F>
Tensor quick_vector(PyObject* sequence, DType dtype, F read) {
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(sequence);
  PyObject** items = PySequence_Fast_ITEMS(sequence);
  auto made = Tensor::allocate(dtype, {n});
  if (!made.ok()) return {};
  T* elements = static_cast<T*>(made->mutable_raw_data());
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (!read(items[i], elements[i])) return {};
  }
  return *made;
}

// The same for a list or tuple of such values of one type, which run no code of the user's while
// they are read.
Tensor quick_list(PyObject* object, std::optional<DType> dtype) {
  if (!PyList_CheckExact(object) && !PyTuple_CheckExact(object)) return {};
  if (PySequence_Fast_GET_SIZE(object) == 0) return {};
  PyObject* first = PySequence_Fast_ITEMS(object)[0];
  const auto is = [&](DType wanted) { return !dtype || *dtype == wanted; };
  if (PyFloat_CheckExact(first) && is(DType::kFloat32)) {
    return quick_vector<float>(object, DType::kFloat32, [&](PyObject* item, float& element) {
      if (!PyFloat_CheckExact(item)) return false;
      element = static_cast<float>(PyFloat_AS_DOUBLE(item));
      return dtype || !is_out_of_range(PyFloat_AS_DOUBLE(item));
    });
  }
  if (PyLong_CheckExact(first)) {
    const auto read = [](PyObject* item, auto& element) {
      if (!PyLong_CheckExact(item)) return false;
      int overflow = 0;
      const long long value = PyLong_AsLongLongAndOverflow(item, &overflow);
      element = static_cast<std::remove_reference_t<decltype(element)>>(value);
      return overflow == 0 && element == value;
    };
    Tensor found;
    if (is(DType::kInt32)) found = quick_vector<int32_t>(object, DType::kInt32, read);
    if (found || !is(DType::kInt64)) return found;
    return quick_vector<int64_t>(object, DType::kInt64, read);
  }
  if (PyBool_Check(first) && is(DType::kBool)) {
    return quick_vector<bool>(object, DType::kBool, [](PyObject* item, bool& element) {
      element = item == Py_True;
      return PyBool_Check(item);
    });
  }
  if (PyUnicode_CheckExact(first) && is(DType::kString)) {
    Tensor found =
        quick_vector<std::string>(object, DType::kString, [](PyObject* item, std::string& element) {
          return PyUnicode_CheckExact(item) && store(item, element);
        });
    if (!found) PyErr_Clear();
    return found;
  }
  return {};
}

Result<Tensor> cast_eagerly(const Tensor& tensor, DType dtype) {
  const engine::Tensor inputs[] = {tensor};
  ASSIGN_OR_RETURN(auto outputs,
                   engine::eager_builder().apply(*engine::kCast, inputs, engine::CastAttrs{dtype}));
  return std::move(outputs[0]);
}

Result<Tensor> numpy_value(PyObject* object, std::optional<DType> dtype) {
  ASSIGN_OR_RETURN(Tensor tensor, from_numpy(object));
  if (!dtype || *dtype == tensor.dtype()) return tensor;
  if (!is_plain(*dtype) || !is_plain(tensor.dtype())) return cannot_convert(object, *dtype);
  return cast_eagerly(tensor, *dtype);
}

// A value, not a tensor, as an eager tensor. has_tensors is set, and nothing returned, if it is a
// list that holds tensors.
Result<Tensor> value_to_eager(PyObject* object, std::optional<DType> dtype, bool& has_tensors) {
  if (Tensor quick = quick_scalar(object, dtype)) return quick;
  if (Tensor quick = quick_list(object, dtype)) return quick;
  if (is_numpy(object)) return numpy_value(object, dtype);
  if (kind_of(object) == ScalarKind::kOther && !PyList_Check(object) && !PyTuple_Check(object) &&
      !PyType_Check(object)) {
    Object array = Object::take(run_python<PyObject_GetAttrString>(object, "__array__"));
    if (array) {
      Object result = Object::take(run_python<PyObject_CallNoArgs>(array.get()));
      if (!result) return pending_exception();
      if (is_numpy(result.get())) return numpy_value(result.get(), dtype);
    }
    PyErr_Clear();
    if (!is_sequence(object)) return unsupported(object);
  }
  Leaves leaves;
  RETURN_IF_ERROR(leaves.collect(object));
  has_tensors = leaves.has_tensors();
  if (has_tensors) return Tensor();
  return from_leaves(object, leaves.leaves(), leaves.shape(), dtype);
}

// The dtype of the first tensor in nested lists, if any; every tensor must have it.
Result<std::optional<DType>> dtype_of_tensors(PyObject* object) {
  using Found = std::optional<DType>;
  if (is_tensor(object)) return Found(tensor_of(object).dtype());
  if (is_tensor_or_variable(object)) return Found(variable_of(object)->variable()->dtype());
  if (!PyList_Check(object) && !PyTuple_Check(object)) return Found();
  RecursionLevel level(" while a list is converted to a tensor");
  if (!level.ok()) return pending_exception();
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
    ASSIGN_OR_RETURN(Found found, dtype_of_tensors(PySequence_Fast_GET_ITEM(object, i)));
    if (found) return found;
  }
  return Found();
}

// Nested lists that hold tensors, as nested applications of Pack. In a graph the constants among
// them are named after their place. Tensors of another dtype are cast if `casts`, else refused:
// by Pack, outside of a graph.
Result<Tensor> pack(PyObject* list, DType dtype, bool casts, std::string_view name) {
  if (name.empty()) name = "packed";
  RecursionLevel level(" while a list is converted to a tensor");
  Object items = level.ok() ? items_of(list, "a sequence") : Object();
  if (!items) return pending_exception();
  NodeScope scope(name);
  std::vector<Tensor> parts;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i) {
    PyObject* item = PyTuple_GET_ITEM(items.get(), i);
    std::string item_name = std::to_string(i);
    const bool is_list = PyList_Check(item) || PyTuple_Check(item);
    std::optional<DType> of_tensors;
    if (is_list) {
      ASSIGN_OR_RETURN(of_tensors, dtype_of_tensors(item));
    }
    Tensor part;
    if (of_tensors) {
      ASSIGN_OR_RETURN(part, pack(item, dtype, casts, item_name));
    } else if (is_tensor_or_variable(item)) {
      ASSIGN_OR_RETURN(part, to_tensor(item));
      if (part.dtype() != dtype && !casts && Frame::current().is_graph()) {
        return type_error("Cannot convert a list containing a tensor of dtype tf.",
                          dtype_name(part.dtype()), " to tf.", dtype_name(dtype),
                          " (Tensor is: ", text_of(item), "). See docs/errors/different-dtypes.md");
      }
      if (part.dtype() != dtype && casts) {
        const Tensor inputs[] = {part};
        ASSIGN_OR_RETURN(part, apply_op(engine::kCast, inputs, engine::CastAttrs{dtype}, "Cast"));
      }
    } else {
      ASSIGN_OR_RETURN(part, to_tensor(item, dtype, item_name));
    }
    parts.push_back(std::move(part));
  }
  return apply_op(engine::kPack, parts, {}, scope.name());
}

bool is_plain_python(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  return type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type ||
         type == &PyUnicode_Type || type == &PyBytes_Type || type == &PyList_Type ||
         type == &PyTuple_Type || type == &PyComplex_Type;
}

}  // namespace

Status check_node_name(std::string_view name) {
  auto is_letter_or_digit = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  bool is_legal = true;
  for (size_t i = 0; i < name.size(); ++i) {
    char c = name[i];
    is_legal &= is_letter_or_digit(c) || c == '.' ||
                (i > 0 && (c == '_' || c == '\\' || c == '/' || c == '>' || c == '-')) ||
                (i == 0 && c == '_' && !Frame::current().name_scope.empty());
  }
  return is_legal ? Status() : value_error("'", name, "' is not a valid node name");
}

Tensor as_operand(const Tensor& value, std::string_view name) {
  Frame& frame = Frame::current();
  if (!frame.is_graph()) return value;
  return frame.graph_builder()->add_constant(value, name.empty() ? "Const" : name);
}

namespace {

// to_tensor, which packs lists that hold tensors, or refuses them.
Result<Tensor> to_tensor_of(PyObject* object, std::optional<DType> dtype, std::string_view name,
                            bool packs) {
  if (is_tensor(object)) return checked_dtype(operand_of(object), dtype, object);
  if (Tensor quick = quick_scalar(object, dtype)) return as_operand(quick, name);
  if (variable_base_type && is_variable(object)) {
    ASSIGN_OR_RETURN(Tensor value, read_variable(variable_of(object)));
    return checked_dtype(std::move(value), dtype, object);
  }
  if (!is_plain_python(object) && !is_numpy(object)) {
    ASSIGN_OR_RETURN(Tensor own, own_conversion(object, dtype));
    if (own) return own;
  }
  bool has_tensors = false;
  ASSIGN_OR_RETURN(Tensor value, value_to_eager(object, dtype, has_tensors));
  if (!has_tensors) return as_operand(value, name);
  if (!packs) {
    constexpr const char* kMessage =
        "tf.constant takes values, not lists that hold tensors: tf.stack and "
        "tf.convert_to_tensor take these";
    return Frame::current().is_graph() ? type_error(kMessage) : value_error(kMessage);
  }
  ASSIGN_OR_RETURN(std::optional<DType> of_tensors, dtype_of_tensors(object));
  const DType own = of_tensors.value_or(DType::kFloat32);
  // As in TensorFlow: tensors of another dtype are cast where the first is, to the dtype asked for.
  return pack(object, dtype.value_or(own), dtype && *dtype != own, name);
}

}  // namespace

Result<Tensor> to_tensor(PyObject* object, std::optional<DType> dtype, std::string_view name) {
  return to_tensor_of(object, dtype, name, true);
}

Result<Tensor> to_constant(PyObject* object, std::optional<DType> dtype, std::string_view name) {
  const bool is_integral = !dtype || *dtype == DType::kInt32 || *dtype == DType::kInt64;
  if (!is_integral && is_shape(object)) {  // its sizes are numbers as others are
    Object sizes = Object::take(run_python<PyObject_CallMethod>(object, "as_list", nullptr));
    return sizes ? to_tensor_of(sizes.get(), dtype, name, false) : pending_exception();
  }
  const bool may_cast = !Frame::current().is_graph() && variable_base_type && is_variable(object);
  if (!dtype || !may_cast) return to_tensor_of(object, dtype, name, false);
  ASSIGN_OR_RETURN(Tensor value, read_variable(variable_of(object)));
  if (value.dtype() == *dtype || !is_plain(*dtype) || !is_plain(value.dtype())) {
    return checked_dtype(std::move(value), dtype, object);
  }
  return cast_eagerly(value, *dtype);
}

Result<Tensor> to_tensor_like(PyObject* object, DType hint, std::string_view name) {
  if (is_tensor(object)) return operand_of(object);
  auto tensor = to_tensor(object, hint, name);
  if (tensor.ok()) return tensor;
  auto own = to_tensor(object, std::nullopt, name);
  return own;
}

Result<Tensor> to_eager_tensor(PyObject* object, std::optional<DType> dtype) {
  if (is_tensor(object)) {
    const Tensor& tensor = operand_of(object);
    if (tensor.is_symbolic()) {
      return type_error("A value is needed here, not a symbolic tensor: ", text_of(object));
    }
    return checked_dtype(tensor, dtype, object);
  }
  bool has_tensors = false;
  ASSIGN_OR_RETURN(Tensor value, value_to_eager(object, dtype, has_tensors));
  if (has_tensors) return type_error("A value is needed here, not tensors: ", text_of(object));
  return value;
}

bool is_array_like(PyObject* object) {
  if (is_numpy(object)) return true;
  if (is_plain_python(object) || PyType_Check(object) || is_tensor(object)) return false;
  Object array = Object::take(run_python<PyObject_GetAttrString>(
      reinterpret_cast<PyObject*>(Py_TYPE(object)), "__array__"));
  if (!array) PyErr_Clear();
  return static_cast<bool>(array);
}

}  // namespace graven::python
