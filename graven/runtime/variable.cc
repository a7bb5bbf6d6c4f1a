#include "graven/runtime/variable.h"

#include "graven/base/strings.h"
#include "graven/base/waiting_lock.h"
#include "graven/ir/out_of_scope.h"
#include "graven/runtime/run_op.h"
#include "graven/tensor/spare_memory.h"

namespace graven::engine {

namespace {

Status no_value(const std::string& name) {
  return Status(Code::kFailedPrecondition,
                str_cat("Could not read variable '", name,
                        "': it is uninitialized, or was destroyed. Assign it a value first. See "
                        "docs/errors/uninitialized-variable.md"));
}

}  // namespace

Status Variable::check_fits(const Tensor& value) const {
  if (value.is_symbolic()) return type_error(out_of_scope_text(value, nullptr));
  if (value.dtype() != dtype_) {
    return invalid_argument("Cannot assign value to variable '", name_, ":0': it holds ",
                            dtype_name(dtype_), ", the value is of ", dtype_name(value.dtype()));
  }
  if (!is_subshape(value.shape(), shape_)) {
    return invalid_argument("Cannot assign value to variable '", name_,
                            ":0': Shape mismatch. The variable shape ", shape_.to_text(),
                            ", and the assigned value shape ", value.shape().to_text(),
                            " are incompatible.");
  }
  return {};
}

bool Variable::is_initialized() const {
  WaitingLock lock(mutex_);
  return static_cast<bool>(value_);
}

Result<Tensor> Variable::read() const {
  WaitingLock lock(mutex_);
  if (!value_) return no_value(name_);
  // Each reader gets an object of its own, which identifies its read for tapes.
  return value_.with_shape(value_.shape());
}

Status Variable::assign(Tensor value) {
  RETURN_IF_ERROR(check_fits(value));
  {
    WaitingLock lock(mutex_);
    std::swap(value_, value);
  }
  SpareMemory::keep(value);  // outside of the lock: objects may run code when they go
  return {};
}

Status Variable::update(FunctionRef<Result<Tensor>(Tensor& value)> update) {
  WaitingLock lock(mutex_);
  if (!value_) return no_value(name_);
  Result<Tensor> made = update(value_);
  RETURN_IF_ERROR(made.status());
  RETURN_IF_ERROR(check_fits(*made));
  value_ = std::move(*made);
  return {};
}

Status Variable::combine(const Op& op, const Tensor& operand) {
  return update([&](Tensor& value) -> Result<Tensor> {
    Tensor inputs[] = {std::move(value), operand};
    Tensors outputs;
    // The result must have the variable's shape: the operand may not make it larger.
    Status status;
    if (!(operand.shape() == inputs[0].shape())) {
      status = with_op_name(
          op, invalid_argument("variable '", name_, "' has shape ", inputs[0].shape().to_message(),
                               ", the operand has shape ", operand.shape().to_message(),
                               "; they must be equal"));
    } else {
      status = run_op(op, {}, inputs, /*reusable=*/1, /*state=*/nullptr, outputs);
    }
    if (!status.ok()) {
      if (inputs[0]) value = std::move(inputs[0]);
      return status;
    }
    return std::move(outputs[0]);
  });
}

void Variable::clear() {
  Tensor old;
  WaitingLock lock(mutex_);
  std::swap(value_, old);
}

}  // namespace graven::engine
