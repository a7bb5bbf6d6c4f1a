#include <optional>
#include <string>
#include <vector>

#include "graven/base/inline_vector.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/slice_ops.h"
#include "graven/python/apply.h"
#include "graven/python/convert.h"
#include "graven/python/errors.h"
#include "graven/python/numpy.h"
#include "graven/python/object.h"
#include "graven/python/tensor_object.h"
#include "graven/python/variable_object.h"

// x[...]: one strided_slice for all of indices, slices, newaxis and ellipsis, in a tuple or, as
// TensorFlow takes them too, in a list; a boolean mask is tf.boolean_mask.

namespace graven::python {
namespace {

using engine::DType;
using engine::Result;
using engine::Status;
using engine::Tensor;

// One of begin, end and strides: numbers, and tensors where the user gave them.
struct Sizes {
  struct Entry {
    int64_t number = 0;
    Tensor tensor;  // instead of the number
  };
  engine::InlineVector<Entry, 4> entries;
  bool has_tensors = false;

  void add(int64_t number) { entries.push_back({number, {}}); }
  void add(Tensor tensor) {
    has_tensors = true;
    entries.push_back({0, std::move(tensor)});
  }
};

struct Slices {
  Sizes begin, end, strides;
  int64_t begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_axis_mask = 0;
};

Status bad_index(PyObject* object) {
  Object repr = Object::take(run_python<PyObject_Repr>(object));
  const char* text = repr ? PyUnicode_AsUTF8(repr.get()) : nullptr;
  if (!text) PyErr_Clear();
  return engine::type_error(
      "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
      "tf.int32/tf.int64 tensors are valid indices, got ",
      text ? text : "?");
}

// A scalar integer tensor of a graph, in a dtype that the op takes along with numbers.
Result<Tensor> as_place(Tensor tensor) {
  const DType dtype = tensor.dtype();
  if (dtype == DType::kInt32 || dtype == DType::kInt64) return tensor;
  const bool is_wide = dtype == DType::kUInt32 || dtype == DType::kUInt64;
  const DType wanted = is_wide ? DType::kInt64 : DType::kInt32;
  return apply_op(engine::kCast, {tensor}, engine::CastAttrs{wanted}, "Cast");
}

// A place in a slice: a number or a scalar integer tensor.
Status add_place(PyObject* object, Sizes& sizes) {
  if (is_tensor(object) || (variable_base_type && is_variable(object))) {
    ASSIGN_OR_RETURN(Tensor tensor, to_tensor(object));
    if (!is_integer(tensor.dtype())) return bad_index(object);
    if (tensor.shape().has_rank() && tensor.rank() != 0) return bad_index(object);
    if (tensor.is_symbolic()) {
      ASSIGN_OR_RETURN(Tensor place, as_place(std::move(tensor)));
      sizes.add(std::move(place));
      return {};
    }
    int64_t number = visit_plain(tensor.dtype(), [&](auto zero) -> int64_t {
      if constexpr (std::is_integral_v<decltype(zero)>) return tensor.item<decltype(zero)>();
      return 0;
    });
    sizes.add(number);
    return {};
  }
  if (PyBool_Check(object) || !PyIndex_Check(object)) return bad_index(object);
  Py_ssize_t number = run_python<PyNumber_AsSsize_t>(object, PyExc_OverflowError);
  if (number == -1 && PyErr_Occurred()) {
    // Arrays of other than one integer have an __index__ that raises.
    const bool is_no_index = is_numpy(object) && PyErr_ExceptionMatches(PyExc_TypeError);
    if (!is_no_index && !PyErr_ExceptionMatches(PyExc_OverflowError)) return pending_exception();
    PyErr_Clear();
    if (is_no_index) return bad_index(object);
    return engine::value_error("Can't convert Python sequence with out-of-range integer to Tensor.",
                               " Indices have 64 bits.");
  }
  sizes.add(number);
  return {};
}

Status add_slice(PyObject* object, int at, Slices& slices) {
  auto* slice = reinterpret_cast<PySliceObject*>(object);
  if (slice->start == Py_None) {
    slices.begin.add(0);
    slices.begin_mask |= int64_t{1} << at;
  } else {
    RETURN_IF_ERROR(add_place(slice->start, slices.begin));
  }
  if (slice->stop == Py_None) {
    slices.end.add(0);
    slices.end_mask |= int64_t{1} << at;
  } else {
    RETURN_IF_ERROR(add_place(slice->stop, slices.end));
  }
  if (slice->step == Py_None) {
    slices.strides.add(1);
    return {};
  }
  return add_place(slice->step, slices.strides);
}

Result<Tensor> plus_one(const Tensor& index) {
  Tensor one = index.dtype() == DType::kInt64 ? Tensor::scalar(int64_t{1}) : Tensor::scalar(1);
  NodeScope scope("add");
  return apply_op(engine::kAddV2, {index, as_operand(one, "y")}, {}, scope.name());
}

Status add_entry(PyObject* object, int at, Slices& slices) {
  if (PySlice_Check(object)) return add_slice(object, at, slices);
  if (object == Py_Ellipsis || object == Py_None) {
    slices.begin.add(0);
    slices.end.add(0);
    slices.strides.add(1);
    (object == Py_None ? slices.new_axis_mask : slices.ellipsis_mask) |= int64_t{1} << at;
    return {};
  }
  RETURN_IF_ERROR(add_place(object, slices.begin));
  const Sizes::Entry& index = slices.begin.entries.back();
  if (index.tensor) {
    ASSIGN_OR_RETURN(Tensor end, plus_one(index.tensor));
    slices.end.add(std::move(end));
  } else {
    slices.end.add(index.number == INT64_MAX ? index.number : index.number + 1);
  }
  slices.strides.add(1);
  slices.shrink_axis_mask |= int64_t{1} << at;
  return {};
}

template <typename T>
Tensor vector_of(const Sizes& sizes) {
  engine::InlineVector<T, 6> numbers;
  for (const Sizes::Entry& entry : sizes.entries) numbers.push_back(static_cast<T>(entry.number));
  return Tensor::vector(std::span<const T>(numbers.data(), numbers.size()));
}

// The vector that the op takes: a constant, or the tensors packed.
Result<Tensor> to_operand(const Sizes& sizes, DType index_type) {
  bool is_wide = index_type == DType::kInt64;
  if (!sizes.has_tensors) {
    return as_operand(is_wide ? vector_of<int64_t>(sizes) : vector_of<int32_t>(sizes), "stack");
  }
  NodeScope scope("stack");
  std::vector<Tensor> parts;
  for (size_t i = 0; i < sizes.entries.size(); ++i) {
    const Sizes::Entry& entry = sizes.entries[i];
    if (entry.tensor) {
      parts.push_back(entry.tensor);
    } else {
      Tensor number = is_wide ? Tensor::scalar(entry.number)
                              : Tensor::scalar(static_cast<int32_t>(entry.number));
      parts.push_back(as_operand(number, std::to_string(i)));
    }
  }
  return apply_op(engine::kPack, parts, {}, scope.name());
}

// int64 if a tensor is, or a number does not fit.
DType index_type_of(const Slices& slices) {
  for (const Sizes* sizes : {&slices.begin, &slices.end, &slices.strides}) {
    for (const Sizes::Entry& entry : sizes->entries) {
      bool is_wide = entry.tensor ? entry.tensor.dtype() == DType::kInt64
                                  : entry.number < INT32_MIN || entry.number > INT32_MAX;
      if (is_wide) return DType::kInt64;
    }
  }
  return DType::kInt32;
}

Result<Tensor> strided_slice(const Tensor& x, PyObject* key) {
  NodeScope scope("strided_slice");
  Slices slices;
  if (PyTuple_Check(key) || PyList_Check(key)) {
    if (PySequence_Fast_GET_SIZE(key) > 62) {
      return engine::Status(engine::Code::kInvalidArgument, "Too many indices",
                            engine::ErrorKind::kIndexError);
    }
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(key); ++i) {
      RETURN_IF_ERROR(add_entry(PySequence_Fast_GET_ITEM(key, i), static_cast<int>(i), slices));
    }
  } else {
    RETURN_IF_ERROR(add_entry(key, 0, slices));
  }
  DType index_type = index_type_of(slices);
  ASSIGN_OR_RETURN(Tensor begin, to_operand(slices.begin, index_type));
  ASSIGN_OR_RETURN(Tensor end, to_operand(slices.end, index_type));
  ASSIGN_OR_RETURN(Tensor strides, to_operand(slices.strides, index_type));
  const engine::StridedSliceAttrs masks = {.begin_mask = slices.begin_mask,
                                           .end_mask = slices.end_mask,
                                           .ellipsis_mask = slices.ellipsis_mask,
                                           .new_axis_mask = slices.new_axis_mask,
                                           .shrink_axis_mask = slices.shrink_axis_mask};
  return apply_op(engine::kStridedSlice, {x, begin, end, strides}, masks, scope.name());
}

bool is_mask(PyObject* key) {
  if (is_tensor(key)) return tensor_of(key).dtype() == DType::kBool;
  if (PyBool_Check(key)) return true;
  if (!is_numpy(key)) return false;
  auto tensor = to_eager_tensor(key);
  return tensor.ok() && tensor->dtype() == DType::kBool;
}

}  // namespace

PyObject* tensor_subscript(PyObject* self, PyObject* key) {
  if (is_mask(key)) {
    Object module = Object::take(run_python<PyImport_ImportModule>("graven"));
    return module ? run_python<PyObject_CallMethod>(module.get(), "boolean_mask", "OO", self, key)
                  : nullptr;
  }
  auto result = strided_slice(operand_of(self), key);
  return result.ok() ? wrap(std::move(*result)) : raise(result.status());
}

}  // namespace graven::python
