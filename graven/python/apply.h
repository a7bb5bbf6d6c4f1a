#pragma once
#include <Python.h>

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "graven/base/status.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph.h"
#include "graven/ir/op.h"
#include "graven/runtime/eager_builder.h"
#include "graven/tensor/tensor.h"

namespace graven::python {

// The scope that TensorFlow opens around an op. While it lives, constants made of Python operands
// are named "<scope>/<operand>", and the op itself is applied under name(). Does nothing for an
// empty name, and when values are computed at once.
class NodeScope {
 public:
  explicit NodeScope(std::string_view wished) : frame_(engine::Frame::current()) {
    if (frame_.is_graph() && !wished.empty()) open(wished);
  }
  ~NodeScope() {
    if (!name_.empty()) frame_.name_scope = std::move(saved_);
  }
  NodeScope(const NodeScope&) = delete;

  // The name for Builder::apply: the "/" at its end says that it is unique already.
  std::string_view name() const { return name_; }

 private:
  void open(std::string_view wished) {
    saved_ = frame_.name_scope;
    if (!wished.empty() && wished.back() == '/') {
      name_ = wished;
    } else {
      name_ = frame_.graph()->unique_name(saved_ + std::string(wished)) + "/";
    }
    frame_.name_scope = name_;
  }
  engine::Frame& frame_;
  std::string name_, saved_;
};

// A ValueError unless a node may have the name. Inside a scope it may start with "_".
engine::Status check_node_name(std::string_view name);

// An eager value as an operand: itself, or a Const node where a graph is being built.
engine::Tensor as_operand(const engine::Tensor& value, std::string_view name);

// The first output of an op, applied by the current builder.
template <typename Attrs>
engine::Result<engine::Tensor> apply_op(const engine::OpHandle<Attrs>& op,
                                        std::span<const engine::Tensor> inputs,
                                        const std::type_identity_t<Attrs>& attrs = {},
                                        std::string_view name = {}) {
  ASSIGN_OR_RETURN(engine::Tensors outputs, engine::apply(*op, inputs, attrs, name));
  return std::move(outputs[0]);
}
template <typename Attrs>
engine::Result<engine::Tensor> apply_op(const engine::OpHandle<Attrs>& op,
                                        std::initializer_list<engine::Tensor> inputs,
                                        const std::type_identity_t<Attrs>& attrs = {},
                                        std::string_view name = {}) {
  return apply_op(op, std::span(inputs.begin(), inputs.size()), attrs, name);
}

}  // namespace graven::python
