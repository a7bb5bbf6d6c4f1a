#pragma once
#include <optional>
#include <string>

#include "graven/base/export.h"
#include "graven/base/function_ref.h"
#include "graven/base/mutex.h"
#include "graven/base/status.h"
#include "graven/tensor/resource.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

class Op;

// A mutable tensor. A value that was read is a snapshot: a later write makes a new tensor, or
// overwrites in place if there is no snapshot of the old one. Each read or write is atomic as a
// whole; any thread may use it.
class GRAVEN_API Variable final : public Resource {
 public:
  // The declared shape may be more general than that of any value.
  Variable(DType dtype, Shape shape, std::string name, bool trainable = true,
           bool has_owner = false)
      : dtype_(dtype),
        shape_(std::move(shape)),
        name_(std::move(name)),
        trainable_(trainable),
        has_owner_(has_owner) {}

  std::string_view kind() const override { return "Variable"; }
  std::optional<std::pair<DType, Shape>> value_type() const override {
    return std::pair(dtype_, shape_);
  }
  bool is_trainable() const override { return trainable_; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  const std::string& name() const { return name_; }  // without ":0"
  // True for a variable that is an object of the front end's, with which it ends for the program,
  // though graphs may still hold it: Python's. Handles of C++ are all alike.
  bool has_owner() const { return has_owner_; }

  bool is_initialized() const;
  // kFailedPrecondition, naming the variable, if it holds no value.
  Result<Tensor> read() const;
  // kInvalidArgument if dtype or shape do not fit the declared ones.
  Status assign(Tensor value);
  // Replaces the value by the result of `update`; no other read or write happens meanwhile.
  // `update` gets the variable's own handle: if value.owns_its_elements(), which holds unless there
  // is a snapshot, it may take the handle, overwrite the elements and return it. If it fails it
  // must leave the handle, and the value stays. kFailedPrecondition if there is no value;
  // kInvalidArgument if the new one does not fit.
  Status update(FunctionRef<Result<Tensor>(Tensor& value)> update);
  // value = op(value, operand), computed in place if there is no snapshot: AssignAdd and kin.
  Status combine(const Op& op, const Tensor& operand);
  void clear();

 private:
  const DType dtype_;
  const Shape shape_;
  const std::string name_;
  const bool trainable_;
  const bool has_owner_;
  // Whether the variable can hold the value.
  Status check_fits(const Tensor& value) const;
  mutable Mutex mutex_;
  Tensor value_ GUARDED_BY(mutex_);
};

}  // namespace graven::engine
