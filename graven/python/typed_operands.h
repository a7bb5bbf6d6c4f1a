#pragma once
#include <Python.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graven/base/inline_vector.h"
#include "graven/base/status.h"
#include "graven/ir/op.h"
#include "graven/tensor/tensor.h"

namespace graven::python {

// The rule for the dtype of one tensor argument of an op or a public function.
struct OperandType {
  std::string_view name;                          // of the argument, and of its constant
  engine::DType fixed = engine::DType::kInvalid;  // or one of the following
  int type_param = -1;                            // index of a type parameter
  // The words of graven/library/parameters.h.
  bool is_like = false, is_each = false, is_common = false, may_be_none = false;
};

// Converts the arguments of one call to tensors. Python values take the dtype of the tensors that
// share a type parameter with them: eagerly of any such tensor, in graphs only of tensors before
// them, so that no value is cut to the dtype of a tensor that comes after it.
class TypedOperands {
 public:
  // `owner` is the op or function, for messages.
  TypedOperands(std::string_view owner, size_t num_params,
                std::span<const engine::TypeConstraint> types);

  // Sets the dtype of a type parameter that an attribute gives.
  void set_type(int type_param, engine::DType dtype) { dtypes_[at(type_param)] = dtype; }
  // Notes the dtype of a tensor, also one in a list, that shares its type parameter with values.
  // Does nothing in graphs, unless in_graphs: values there may look ahead.
  void look_at(const OperandType& type, PyObject* object, bool in_graphs = false);

  engine::Result<engine::Tensor> convert(const OperandType& type, PyObject* object) {
    return convert(type, object, type.name);
  }
  // Converts the items of a list or tuple, whose tensors all have the type, or any if it is not
  // fixed.
  engine::Result<std::vector<engine::Tensor>> convert_list(const OperandType& type,
                                                           PyObject* object);

 private:
  static size_t at(int type_param) { return static_cast<size_t>(type_param); }
  engine::Result<engine::Tensor> convert(const OperandType& type, PyObject* object,
                                         std::string_view name);
  void take_dtype(const OperandType& type, PyObject* object);
  void take_dtype_of_list(const OperandType& type, PyObject* list);
  void take_common_dtype(const OperandType& type, PyObject* list);
  bool takes_indices(const OperandType& type) const;
  std::string_view owner_;
  std::span<const engine::TypeConstraint> types_;
  engine::InlineVector<engine::DType, 4> dtypes_;
};

}  // namespace graven::python
