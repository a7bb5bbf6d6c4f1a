#include "graven/autodiff/backward_builder.h"

#include "graven/base/strings.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {

Result<Tensors> BackwardBuilder::apply(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs,
                                       std::string_view name) {
  // The size instead of the tensor: that may be large, and a list that is kept is copied when it
  // changes.
  if (&op == kShape.op || &op == kTensorListLength.op || &op == kTensorListElementShape.op) {
    if (Tensor tensor = forward_.tensor_of(inputs[0])) {
      ASSIGN_OR_RETURN(Tensor size, forward_.size_of(op, tensor, attrs));
      if (!size) {
        needs_more_ = true;
        return internal_error("The forward half does not give the size of a tensor");
      }
      ASSIGN_OR_RETURN(Tensor inner,
                       capture(size, &op == kTensorListLength.op ? "length" : "shape"));
      return Tensors{inner};
    }
  }
  return GraphBuilder::apply(op, inputs, attrs, name);
}

Result<Tensor> BackwardBuilder::capture(const Tensor& external, std::string_view name) {
  if (external.is_symbolic() && symbolic(external).graph().get() == graph()) return external;
  if (Tensor tensor = forward_.tensor_of(external)) {
    RETURN_IF_ERROR(forward_.note_use(external, tensor));
    ASSIGN_OR_RETURN(Tensor inner, capture_forward(tensor, name));
    // A gradient of the user's that stands in this half may know it by the outer tensor.
    Node& node = symbolic(inner).node();
    if (graph()->is_input(&node)) graph()->note_capture(external.get()->id(), &node);
    return inner;
  }
  if (!external.is_symbolic()) {
    Tensor& inner = inner_of_[external.get()->id()];
    if (!inner) inner = add_constant(external);
    return inner;
  }
  const SymbolicTensor& outer = symbolic(external);
  return Status(
      Code::kInvalidArgument,
      str_cat("Tensor(\"", outer.node().name(), ":", outer.output().index, "\") of '",
              outer.graph()->name(), "' is out of scope and cannot be used here: the gradient of '",
              forward_.graph()->name(),
              "' may use tensors of that function, and those that it captured. See "
              "docs/errors/out-of-scope.md"),
      ErrorKind::kInaccessibleTensorError);
}

Result<Tensor> BackwardBuilder::capture_forward(const Tensor& tensor, std::string_view name) {
  uint64_t id = tensor.get()->id();
  if (auto at = inner_of_.find(id); at != inner_of_.end()) return at->second;
  const Node& node = symbolic(tensor).node();
  if (kDifferentiableTypes.contains(tensor.dtype())) {
    bool is_number = &node.op() == kConst.op || node.graph().is_input(&node);
    (is_number ? uses_numbers_ : uses_values_) = true;
  }
  Tensor inner;
  if (&node.op() == kConst.op && !node.graph().is_input(&node)) {
    inner = add_constant(node.attrs().as<ConstAttrs>().value, node.name());
  } else {
    int number = forward_.output_number(tensor);
    if (number < 0) {
      needs_more_ = true;
      return internal_error("The forward half does not give ", node.name());
    }
    while (!name.empty() && name.back() == '/') name.remove_suffix(1);
    inner = add_placeholder_like(tensor, name);
    side_values_.push_back(number);
  }
  inner_of_.emplace(id, inner);
  return inner;
}

Tensor BackwardBuilder::take(int output, std::string_view name) {
  side_values_.push_back(output);
  return add_placeholder_like(forward_.outputs()[output], name);
}

}  // namespace graven::engine
