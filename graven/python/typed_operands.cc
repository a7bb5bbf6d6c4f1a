#include "graven/python/typed_operands.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "graven/base/strings.h"
#include "graven/ir/frame.h"
#include "graven/python/argument_kinds.h"
#include "graven/python/convert.h"
#include "graven/python/numpy.h"
#include "graven/python/object.h"
#include "graven/python/tensor_object.h"
#include "graven/python/variable_object.h"

namespace graven::python {
namespace {

using engine::DType;
using engine::Result;
using engine::Tensor;
using engine::type_error;

DType dtype_if_tensor(PyObject* object) {
  if (is_tensor(object)) return tensor_of(object).dtype();
  if (variable_base_type && is_variable(object)) return variable_of(object)->variable()->dtype();
  return DType::kInvalid;
}

// A list without a number at any depth; one that is deeper than a tensor can be is none.
bool is_empty_list(PyObject* object, int max_depth = 32) {
  if (!PyList_Check(object) && !PyTuple_Check(object)) return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(object, i);
    if (max_depth == 0 || !is_empty_list(item, max_depth - 1)) return false;
  }
  return true;
}

// The integer that int32 cannot hold, if the object is or holds one; null if none does. Longer
// lists than there are axes are no sizes.
PyObject* beyond_int32(PyObject* object) {
  constexpr Py_ssize_t kMaxSizes = 254;
  if (PyList_Check(object) || PyTuple_Check(object)) {
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(object);
    for (Py_ssize_t i = 0; n <= kMaxSizes && i < n; ++i) {
      PyObject* item = PySequence_Fast_GET_ITEM(object, i);
      if (PyLong_Check(item) && beyond_int32(item)) return item;
    }
    return nullptr;
  }
  const bool is_number = PyLong_Check(object) || (is_numpy(object) && PyIndex_Check(object));
  Object number = is_number ? Object::take(PyNumber_Index(object)) : Object();
  int overflow = 0;
  const long long value = number ? PyLong_AsLongLongAndOverflow(number.get(), &overflow) : 0;
  if (!number) PyErr_Clear();
  return overflow != 0 || value < INT32_MIN || value > INT32_MAX ? object : nullptr;
}

}  // namespace

TypedOperands::TypedOperands(std::string_view owner, size_t num_params,
                             std::span<const engine::TypeConstraint> types)
    : owner_(owner), types_(types), dtypes_(num_params, DType::kInvalid) {}

void TypedOperands::look_at(const OperandType& type, PyObject* object, bool in_graphs) {
  if (type.is_like || type.is_each || (!in_graphs && engine::Frame::current().is_graph())) return;
  take_dtype(type, object);
  if (PyList_Check(object) || PyTuple_Check(object)) take_dtype_of_list(type, object);
}

void TypedOperands::take_dtype(const OperandType& type, PyObject* object) {
  if (type.type_param < 0 || dtypes_[at(type.type_param)] != DType::kInvalid) return;
  dtypes_[at(type.type_param)] = dtype_if_tensor(object);
}

void TypedOperands::take_dtype_of_list(const OperandType& type, PyObject* list) {
  for (Py_ssize_t j = 0; j < PySequence_Fast_GET_SIZE(list); ++j) {
    take_dtype(type, PySequence_Fast_GET_ITEM(list, j));
  }
}

// An empty list is one of floats, unless the op wants axes, sizes or places.
bool TypedOperands::takes_indices(const OperandType& type) const {
  if (type.type_param < 0 || at(type.type_param) >= types_.size()) return false;
  const engine::DTypeSet& allowed = types_[at(type.type_param)].allowed;
  return allowed.contains(DType::kInt32) && !allowed.contains(DType::kUInt64) &&
         !allowed.contains(DType::kFloat32);
}

Result<Tensor> TypedOperands::convert(const OperandType& type, PyObject* object,
                                      std::string_view name) {
  DType* shared = type.type_param >= 0 ? &dtypes_[at(type.type_param)] : nullptr;
  const auto made = [&]() -> Result<Tensor> {
    if (is_tensor(object)) return operand_of(object);
    const bool is_value = variable_base_type && is_variable(object);
    if (is_value && type.fixed == DType::kResource) return variable_of(object)->handle;
    std::optional<DType> dtype;
    if (type.fixed != DType::kInvalid) dtype = type.fixed;
    if (shared && *shared != DType::kInvalid) dtype = *shared;
    if (!dtype && is_empty_list(object) && takes_indices(type)) dtype = DType::kInt32;
    // A dtype that a program asks for wraps numbers, in TensorFlow too; a size or an index does
    // not.
    if (dtype == DType::kInt32 && (type.fixed == dtype || takes_indices(type))) {
      if (PyObject* wide = beyond_int32(object)) {
        return engine::invalid_argument("'", type.name, "' of ", owner_,
                                        " is of int32, which does ", "not hold ", text_of(wide));
      }
    }
    if (type.is_like && dtype) return to_tensor_like(object, *dtype, name);
    return to_tensor(object, is_value ? std::nullopt : dtype, name);
  };
  ASSIGN_OR_RETURN(Tensor tensor, made());
  const bool is_apart = type.is_like || type.is_each;
  if (shared && *shared == DType::kInvalid && !is_apart) *shared = tensor.dtype();
  return tensor;
}

// The dtype of a list of values as one tensor: [1, 2.5] are floats. Values that make none are
// refused, or fit, one by one.
void TypedOperands::take_common_dtype(const OperandType& type, PyObject* list) {
  DType& shared = dtypes_[at(type.type_param)];
  if (shared != DType::kInvalid || PyTuple_GET_SIZE(list) == 0) return;
  const auto whole = to_eager_tensor(list);
  if (whole.ok()) shared = whole->dtype();
  PyErr_Clear();
}

Result<std::vector<Tensor>> TypedOperands::convert_list(const OperandType& type, PyObject* object) {
  Object items;
  if (!is_tensor(object)) {
    items = items_of(object, "a list");
    if (!items) PyErr_Clear();
  }
  if (!items) {
    return type_error("Expected list for '", type.name, "' argument to '", owner_, "' Op, not ",
                      text_of(object), ".");
  }
  take_dtype_of_list(type, items.get());
  if (type.is_common) take_common_dtype(type, items.get());
  // Where a function is traced, values of a list without tensors must agree by themselves: nothing
  // is cut to the dtype of the first, as it is eagerly.
  const bool each_as_it_comes = engine::Frame::current().is_graph() && type.type_param >= 0 &&
                                dtypes_[at(type.type_param)] == DType::kInvalid;
  std::vector<Tensor> tensors;
  for (Py_ssize_t j = 0; j < PyTuple_GET_SIZE(items.get()); ++j) {
    if (each_as_it_comes) dtypes_[at(type.type_param)] = DType::kInvalid;
    if (type.may_be_none && PyTuple_GET_ITEM(items.get(), j) == Py_None) {
      tensors.emplace_back();
      continue;
    }
    ASSIGN_OR_RETURN(Tensor tensor, convert(type, PyTuple_GET_ITEM(items.get(), j),
                                            engine::str_cat(type.name, "_", j)));
    tensors.push_back(std::move(tensor));
  }
  const auto differ = [](const Tensor& a, const Tensor& b) {
    return a && b && a.dtype() != b.dtype();
  };
  if (!each_as_it_comes || std::ranges::adjacent_find(tensors, differ) == tensors.end()) {
    return tensors;
  }
  std::vector<std::string_view> names;
  for (const Tensor& tensor : tensors) {
    if (tensor) names.push_back(dtype_name(tensor.dtype()));
  }
  return type_error("Tensors in list passed to '", type.name, "' of '", owner_, "' Op have types [",
                    engine::str_join(names, ", "), "] that don't all match.");
}

}  // namespace graven::python
