#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>

#include "graven/api/arguments.h"
#include "graven/api/operand.h"
#include "graven/api/tensor.h"
#include "graven/base/export.h"
#include "graven/runtime/variable.h"

namespace graven {

struct IndexedSlices;
namespace internal {
class LibraryCall;
}

// Options of a new variable.
struct VariableOptions {
  std::string name = "Variable";
  bool trainable = true;
  // May be more general than the initial value's shape; not given: that shape.
  std::optional<Shape> shape = std::nullopt;
  std::function<Tensor(const Tensor&)> constraint = nullptr;
};

// A mutable tensor (tf.Variable). A handle; copies are the same variable. A variable that a traced
// function makes is made once, on the first call.
class GRAVEN_API Variable {
 public:
  // No variable; it can only be assigned another one.
  Variable() = default;
  explicit Variable(const Tensor& initial_value, VariableOptions options = {},
                    std::source_location location = std::source_location::current());
  // The variable that a scalar of dtype resource holds. The handle and its copies keep `owner`
  // alive: the object that another language has of the variable.
  static Variable of_handle(engine::Tensor handle, std::shared_ptr<const void> owner = nullptr);

  // True if there is no variable; then all members but assignment give a ValueError.
  bool is_none() const { return !handle_.object(); }
  DType dtype(std::source_location location = std::source_location::current()) const {
    return variable(location).dtype();
  }
  const Shape& shape(std::source_location location = std::source_location::current()) const {
    return variable(location).shape();
  }
  std::string name(std::source_location location = std::source_location::current()) const {
    return variable(location).name() + ":0";
  }
  bool trainable(std::source_location location = std::source_location::current()) const {
    return variable(location).is_trainable();
  }
  // The function that an optimizer may apply to the value after changing it; empty without one. It
  // belongs to this handle and its copies.
  const std::function<Tensor(const Tensor&)>& constraint() const;
  // The scalar of dtype resource that holds the variable, for ops on resources.
  const Tensor& handle() const { return handle_; }
  // True for the same variable, not for one of equal value.
  bool is_same(const Variable& other) const;

  // Reads the value now, in program order; tapes record the read. The value is a snapshot.
  Tensor value(std::source_location location = std::source_location::current()) const;
  Tensor read_value(std::source_location location = std::source_location::current()) const {
    return value(location);
  }
  operator Tensor() const { return value(); }

  // Each returns the variable, so that calls chain. A value of another dtype is a ValueError; so is
  // one of a shape that does not fit, but for assign_add and assign_sub it is an InvalidArgument.
  const Variable& assign(const Operand& value) const;
  const Variable& assign_add(const Operand& delta) const;
  const Variable& assign_sub(const Operand& delta) const;
  // Changes the rows that the indices name, in order. InvalidArgument if there is no such row.
  const Variable& scatter_update(
      const IndexedSlices& slices,
      std::source_location location = std::source_location::current()) const;
  const Variable& scatter_add(
      const IndexedSlices& slices,
      std::source_location location = std::source_location::current()) const;
  const Variable& scatter_sub(
      const IndexedSlices& slices,
      std::source_location location = std::source_location::current()) const;
  const Variable& scatter_mul(
      const IndexedSlices& slices,
      std::source_location location = std::source_location::current()) const;
  const Variable& scatter_div(
      const IndexedSlices& slices,
      std::source_location location = std::source_location::current()) const;
  const Variable& scatter_min(
      const IndexedSlices& slices,
      std::source_location location = std::source_location::current()) const;
  const Variable& scatter_max(
      const IndexedSlices& slices,
      std::source_location location = std::source_location::current()) const;
  // The same for the slices at places [..., depth], which index the first `depth` axes; updates
  // are of shape places.shape[:-1] + shape[depth:].
  const Variable& scatter_nd_update(const Operand& indices, const Operand& updates) const;
  const Variable& scatter_nd_add(const Operand& indices, const Operand& updates) const;
  const Variable& scatter_nd_sub(const Operand& indices, const Operand& updates) const;
  const Variable& scatter_nd_min(const Operand& indices, const Operand& updates) const;
  const Variable& scatter_nd_max(const Operand& indices, const Operand& updates) const;
  // The rows that the indices name; its gradient is IndexedSlices.
  Tensor sparse_read(const Operand& indices) const;
  // The slices at places [..., depth].
  Tensor gather_nd(const Operand& indices) const;

  // "<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=1.0>".
  std::string repr() const;

 private:
  friend class internal::LibraryCall;
  const engine::Variable& variable(const std::source_location& location) const {
    check(location);
    return static_cast<const engine::Variable&>(*handle_.resource());
  }
  void check(const std::source_location& location) const;
  // The operand in the variable's dtype; an error if it has another one.
  Tensor fitting(const Operand& value) const;
  void tell_tapes() const;
  const Variable& scatter(const engine::Op& op, const IndexedSlices& slices,
                          const std::source_location& location) const;
  const Variable& scatter_nd(const engine::Op& op, const Operand& indices,
                             const Operand& updates) const;
  Tensor handle_;
  std::shared_ptr<const std::function<Tensor(const Tensor&)>> constraint_;
  std::shared_ptr<const void> owner_;
};
GRAVEN_API std::ostream& operator<<(std::ostream& out, const Variable& variable);

// Some rows of a tensor, whose other rows are zero: values[i] is row indices[i]. Rows may repeat;
// their values add up. The form of a gather's gradient.
struct IndexedSlices {
  Tensor values;       // [n, ...]
  Tensor indices;      // [n], int32 or int64
  Tensor dense_shape;  // of the whole; may be none
};

// The same rows, shortened as tensors are.
GRAVEN_API IndexedSlices clip_by_norm(const IndexedSlices& t, const Number& clip_norm,
                                      const Axes& axes = {});

}  // namespace graven
