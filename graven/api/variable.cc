#include "graven/api/variable.h"

#include <ostream>

#include "graven/api/apply.h"
#include "graven/api/location.h"
#include "graven/api/op_functions.h"
#include "graven/base/strings.h"
#include "graven/function/function.h"
#include "graven/ir/frame.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/tensor_text.h"
#include "graven/ops/variable_ops.h"

namespace graven {

using engine::Frame;
using Location = std::source_location;

Variable::Variable(const Tensor& initial_value, VariableOptions options, Location location) {
  if (initial_value.is_none()) {
    throw_error(engine::value_error("A variable needs an initial value"), location);
  }
  Shape shape = options.shape.value_or(initial_value.shape());
  if (!engine::are_compatible(initial_value.shape(), shape)) {
    throw_error(engine::value_error("The initial value's shape (", initial_value.shape().to_text(),
                                    ") is not compatible with the explicitly supplied `shape` "
                                    "argument (",
                                    shape.to_text(), ")"),
                location);
  }
  auto resource = engine::make_ref<engine::Variable>(
      initial_value.dtype(), shape, Frame::current().name_scope + options.name, options.trainable);
  handle_ = engine::Tensor::of_resource(resource);
  if (options.constraint) {
    constraint_ =
        std::make_shared<const std::function<Tensor(const Tensor&)>>(std::move(options.constraint));
  }
  bool in_graph = Frame::current().is_graph();
  if (!in_graph) throw_if_error(resource->assign(initial_value), location);
  if (auto* creation = engine::VariableCreation::current()) {
    // One made in an init scope has its value already.
    Tensor initial = in_graph ? internal::constant(initial_value, location) : Tensor();
    throw_if_error(creation->record({handle_, initial}), location);
    // Runs only if the initial value cannot be computed before the call.
    if (in_graph) assign(Operand(initial, location));
  } else if (in_graph) {
    throw_error(engine::value_error("A variable cannot be created in a graph that is not a "
                                    "function's"),
                location);
  }
}

Variable Variable::of_handle(engine::Tensor handle, std::shared_ptr<const void> owner) {
  Variable variable;
  variable.handle_ = std::move(handle);
  variable.owner_ = std::move(owner);
  return variable;
}

bool Variable::is_same(const Variable& other) const {
  if (is_none() || other.is_none()) return is_none() && other.is_none();
  return handle_.resource() == other.handle_.resource();
}

void Variable::check(const Location& location) const {
  if (is_none()) throw_error(engine::value_error("There is no variable here"), location);
}

void Variable::tell_tapes() const {
  auto listeners = Frame::current().listeners;
  for (engine::Listener* listener : listeners) listener->on_variable(handle_);
}

Tensor Variable::value(Location location) const {
  check(location);
  tell_tapes();
  const engine::Tensor inputs[] = {handle_};
  return internal::apply(*engine::kReadVariable, inputs, engine::ReadVariableAttrs{dtype()},
                         location)[0];
}

Tensor Variable::fitting(const Operand& value) const {
  check(value.location());
  Tensor tensor = value.as_tensor(dtype());
  if (tensor.dtype() != dtype()) {
    throw_error(
        engine::value_error("Cannot assign to the variable '", name(), "' of dtype ",
                            engine::dtype_name(dtype()),
                            ": incompatible type conversion requested, the value has dtype ",
                            engine::dtype_name(tensor.dtype())),
        value.location());
  }
  tell_tapes();
  return tensor;
}

const Variable& Variable::assign(const Operand& value) const {
  Tensor tensor = fitting(value);
  if (!engine::are_compatible(tensor.shape(), shape())) {
    throw_error(engine::value_error("Cannot assign value to variable ' ", name(),
                                    "': Shape mismatch. The variable shape ", shape().to_text(),
                                    ", and the assigned value shape ", tensor.shape().to_text(),
                                    " are incompatible."),
                value.location());
  }
  const engine::Tensor inputs[] = {handle_, tensor};
  internal::apply(*engine::kAssignVariable, inputs, engine::AssignVariableAttrs{dtype()},
                  value.location());
  return *this;
}

const Variable& Variable::assign_add(const Operand& delta) const {
  const engine::Tensor inputs[] = {handle_, fitting(delta)};
  internal::apply(*engine::kAssignAddVariable, inputs, engine::ReadVariableAttrs{dtype()},
                  delta.location());
  return *this;
}

const Variable& Variable::assign_sub(const Operand& delta) const {
  const engine::Tensor inputs[] = {handle_, fitting(delta)};
  internal::apply(*engine::kAssignSubVariable, inputs, engine::ReadVariableAttrs{dtype()},
                  delta.location());
  return *this;
}

const Variable& Variable::scatter(const engine::Op& op, const IndexedSlices& slices,
                                  const Location& location) const {
  check(location);
  const engine::Tensor inputs[] = {handle_, slices.indices,
                                   fitting(Operand(slices.values, location))};
  internal::apply(op, inputs, engine::ReadVariableAttrs{dtype()}, location);
  return *this;
}

const Variable& Variable::scatter_nd(const engine::Op& op, const Operand& indices,
                                     const Operand& updates) const {
  check(indices.location());
  const engine::Tensor inputs[] = {handle_, indices.as_tensor(), fitting(updates)};
  internal::apply(op, inputs, engine::ResourceScatterNdAttrs(), indices.location());
  return *this;
}

const Variable& Variable::scatter_update(const IndexedSlices& slices, Location location) const {
  return scatter(*engine::kResourceScatterUpdate, slices, location);
}

const Variable& Variable::scatter_add(const IndexedSlices& slices, Location location) const {
  return scatter(*engine::kResourceScatterAdd, slices, location);
}

const Variable& Variable::scatter_sub(const IndexedSlices& slices, Location location) const {
  return scatter(*engine::kResourceScatterSub, slices, location);
}

const Variable& Variable::scatter_mul(const IndexedSlices& slices, Location location) const {
  return scatter(*engine::kResourceScatterMul, slices, location);
}

const Variable& Variable::scatter_div(const IndexedSlices& slices, Location location) const {
  return scatter(*engine::kResourceScatterDiv, slices, location);
}

const Variable& Variable::scatter_min(const IndexedSlices& slices, Location location) const {
  return scatter(*engine::kResourceScatterMin, slices, location);
}

const Variable& Variable::scatter_max(const IndexedSlices& slices, Location location) const {
  return scatter(*engine::kResourceScatterMax, slices, location);
}

const Variable& Variable::scatter_nd_update(const Operand& indices, const Operand& updates) const {
  return scatter_nd(*engine::kResourceScatterNdUpdate, indices, updates);
}

const Variable& Variable::scatter_nd_add(const Operand& indices, const Operand& updates) const {
  return scatter_nd(*engine::kResourceScatterNdAdd, indices, updates);
}

const Variable& Variable::scatter_nd_sub(const Operand& indices, const Operand& updates) const {
  return scatter_nd(*engine::kResourceScatterNdSub, indices, updates);
}

const Variable& Variable::scatter_nd_min(const Operand& indices, const Operand& updates) const {
  return scatter_nd(*engine::kResourceScatterNdMin, indices, updates);
}

const Variable& Variable::scatter_nd_max(const Operand& indices, const Operand& updates) const {
  return scatter_nd(*engine::kResourceScatterNdMax, indices, updates);
}

Tensor Variable::sparse_read(const Operand& indices) const {
  check(indices.location());
  tell_tapes();
  engine::ResourceGatherAttrs attrs;
  attrs.dtype = dtype();
  const engine::Tensor inputs[] = {handle_, indices.as_tensor()};
  return internal::apply(*engine::kResourceGather, inputs, attrs, indices.location())[0];
}

Tensor Variable::gather_nd(const Operand& indices) const {
  check(indices.location());
  tell_tapes();
  const engine::Tensor inputs[] = {handle_, indices.as_tensor()};
  return internal::apply(*engine::kResourceGatherNd, inputs, engine::ReadVariableAttrs{dtype()},
                         indices.location())[0];
}

const std::function<Tensor(const Tensor&)>& Variable::constraint() const {
  static const auto* none = new std::function<Tensor(const Tensor&)>;
  return constraint_ ? *constraint_ : *none;
}

std::string Variable::repr() const {
  if (is_none()) return "None";
  std::string text = engine::str_cat("<tf.Variable '", name(), "' shape=", shape().to_text(),
                                     " dtype=", engine::dtype_name(dtype()));
  if (Frame::current().is_graph()) return text + ">";
  auto value = variable(Location()).read();
  return text + ", numpy=" + (value.ok() ? engine::elements_repr(*value) : "<no value>") + ">";
}

std::ostream& operator<<(std::ostream& out, const Variable& variable) {
  return out << variable.repr();
}

IndexedSlices clip_by_norm(const IndexedSlices& t, const Number& clip_norm, const Axes& axes) {
  return {clip_by_norm(Operand(t.values), clip_norm, axes), t.indices, t.dense_shape};
}

}  // namespace graven
