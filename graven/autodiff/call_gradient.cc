#include "graven/autodiff/call_gradient.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "graven/autodiff/add_gradients.h"
#include "graven/autodiff/gradient_runner.h"
#include "graven/autodiff/step.h"
#include "graven/ir/structural_ops.h"
#include "graven/tensor/resource_as.h"

namespace graven::engine {
namespace {

// A tensor of a step without its value. A symbolic one is kept, because its shape may not be known
// yet.
StepTensor without_value(const Tensor& tensor) {
  if (tensor.is_symbolic()) return StepTensor(tensor);
  StepTensor kept(tensor.get()->known_id(), tensor.dtype());
  kept.shape = tensor.shape();
  return kept;
}

// An input as its gradient is: the value of a variable in place of its handle.
StepTensor like_gradient(const Tensor& input) {
  StepTensor kept = without_value(input);
  if (input.dtype() == DType::kVariant) kept.tensor = input;  // only it knows its zero
  if (input.dtype() != DType::kResource) return kept;
  kept.tensor = input;
  if (input.is_symbolic()) {
    OutputRef output = symbolic(input).output();
    if (const auto& data = output.node->output(output.index).handle_data) {
      const HeldType value = data->value();
      std::tie(kept.dtype, kept.shape) = std::pair(value.dtype, value.shape);
    }
  } else if (const Resource* held = held_resource(input);
             auto type = held ? held->value_type() : std::nullopt) {
    std::tie(kept.dtype, kept.shape) = *type;
  }
  return kept;
}

Tensor zeros_like_input(Emitter& emit, const StepTensor& input) {
  if (input.shape.is_fully_known() || !input.tensor || input.tensor.dtype() != DType::kResource ||
      !is_plain(input.dtype)) {
    return zeros_like(emit, input);
  }
  return emit(kZerosLike, {emit(kReadVariable, {input.tensor}, {input.dtype})});
}

// The gradient of one call of a forward half. Made in each call that a tape records, so it keeps
// little: tensors whose value or graph is needed, and shapes that the body does not say.
class CallBackward final : public Backward {
 public:
  CallBackward(Ref<GradientPair> pair, std::span<const Tensor> inputs,
               std::span<const Tensor> outputs)
      : pair_(std::move(pair)), forward_(pair_->forward_body()), num_inputs_(inputs.size()) {
    const Graph& graph = *forward_.graph();
    tensors_.reserve(inputs.size() + outputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Tensor& input = inputs[i];
      // Only a variant itself knows its zero.
      const bool is_object = input.dtype() == DType::kResource || input.dtype() == DType::kVariant;
      keep(input, is_object, graph.inputs()[i]->output(0).shape);
    }
    const std::span<const GradientPair::OutputUse> uses = pair_->output_uses();
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto [node, index] = graph.outputs()[i];
      const bool is_variant = outputs[i].dtype() == DType::kVariant;
      keep(outputs[i], uses[i].is_side_value || is_variant, node->output(index).shape);
      // The caller's handle, so that gradients flow from the backward half's uses of the variable
      // to it.
      if (tensors_.back() && uses[i].input_of_handle >= 0) {
        tensors_.back() = inputs[static_cast<size_t>(uses[i].input_of_handle)];
      }
    }
  }

  std::string_view name() const override { return forward_.name(); }
  Result<std::vector<Gradient>> operator()(Builder& builder,
                                           std::span<const Gradient> dy) const override;

 private:
  void keep(const Tensor& tensor, bool is_needed, const Shape& expected) {
    is_needed |= tensor.is_symbolic();
    if (!is_needed && !(tensor.shape() == expected)) {
      shapes_.emplace_back(tensors_.size(), tensor.shape());
    }
    tensors_.push_back(is_needed ? tensor : Tensor());
  }
  // A tensor of the step of which only id, dtype and shape were kept.
  StepTensor without_tensor(size_t number, const OutputType& type) const {
    StepTensor made(0, type.dtype);
    auto at = std::ranges::find(shapes_, number, &std::pair<size_t, Shape>::first);
    made.shape = at == shapes_.end() ? type.shape : at->second;
    return made;
  }
  StepTensor input(size_t i) const {
    return tensors_[i] ? like_gradient(tensors_[i])
                       : without_tensor(i, forward_.graph()->inputs()[i]->output(0));
  }
  StepTensor output(size_t i) const {
    const Tensor& tensor = tensors_[num_inputs_ + i];
    if (tensor) return StepTensor(tensor);
    const auto [node, index] = forward_.graph()->outputs()[i];
    return without_tensor(num_inputs_ + i, node->output(index));
  }

  const Ref<GradientPair> pair_;
  const Body& forward_;  // which the pair keeps
  const size_t num_inputs_;
  InlineVector<Tensor, 3> tensors_;  // of inputs and outputs; empty where none is needed
  std::vector<std::pair<size_t, Shape>> shapes_;  // by number in tensors_
};

Result<std::vector<Gradient>> CallBackward::operator()(Builder& builder,
                                                       std::span<const Gradient> dy) const {
  // Listeners may have heard of the body's own outputs only.
  std::vector<bool> has_gradient(forward_.graph()->outputs().size());
  for (size_t i = 0; i < dy.size(); ++i) {
    const auto [node, index] = forward_.graph()->outputs()[i];
    const DType dtype = node->output(index).dtype;
    has_gradient[i] = !dy[i].is_none() && may_have_gradient(dtype);
  }
  ASSIGN_OR_RETURN(const GradientPair::BackwardHalf* half, pair_->backward(has_gradient));
  Emitter emit(builder);
  std::vector<Tensor> inputs;
  for (int i : half->outputs) {
    inputs.push_back(has_gradient[i] ? densify(emit, dy[i]) : zeros_like(emit, output(i)));
  }
  RETURN_IF_ERROR(emit.status());
  for (int i : half->side_values) inputs.push_back(tensors_[num_inputs_ + i]);
  Tensors outputs;
  if (!half->body->graph()->outputs().empty()) {
    ASSIGN_OR_RETURN(outputs, apply_call(builder, half->body, inputs));
  }
  std::vector<Gradient> dx;
  for (const GradientPair::InputGradient& where : half->gradients) {
    auto at = [&](int output) { return output < 0 ? Tensor() : outputs[output]; };
    dx.push_back({at(where.dense), {at(where.values), at(where.indices), at(where.dense_shape)}});
    size_t i = dx.size() - 1;
    if (dx[i].is_none() && pair_->is_connected(static_cast<int>(i))) {
      const StepTensor like = input(i);
      dx[i].dense = zeros_like_input(emit, like);
      if (half->zero >= 0 && kDifferentiableTypes.contains(like.dtype)) {
        Tensor zero = outputs[half->zero];
        if (like.dtype != DType::kFloat32) zero = emit(kCast, {zero}, {like.dtype, false});
        dx[i].dense = emit(kAddV2, {dx[i].dense, zero});
      }
    }
  }
  RETURN_IF_ERROR(emit.status());
  return dx;
}

}  // namespace

BackwardRef backward_of_call(Ref<GradientPair> pair, std::span<const Tensor> inputs,
                             std::span<const Tensor> outputs) {
  return std::make_shared<CallBackward>(std::move(pair), inputs, outputs);
}

Tensor zeros_like_gradient_of(Emitter& emit, const Tensor& input) {
  return zeros_like_input(emit, like_gradient(input));
}

Tensor shape_of_gradient_of(Emitter& emit, const Tensor& input) {
  const StepTensor like = like_gradient(input);
  const bool is_handle = like.tensor && like.tensor.dtype() == DType::kResource;
  if (like.shape.is_fully_known() || !is_handle) return shape_of(emit, like);
  return emit(kShape, {emit(kReadVariable, {like.tensor}, {like.dtype})});
}

BackwardRef backward_of_custom(const Ref<CustomGradient>& gradient, std::span<const Tensor> inputs,
                               std::span<const Tensor> outputs) {
  std::vector<StepTensor> values;
  for (const Tensor& output : outputs) {
    values.push_back(without_value(output));
  }
  std::vector<Tensor> kept;
  if (gradient->reads_inputs()) kept.assign(inputs.begin(), inputs.end());
  return backward_of(
      "custom_gradient",
      [gradient, num_inputs = inputs.size(), kept = std::move(kept), values = std::move(values)](
          Builder& builder, std::span<const Gradient> dy) -> Result<std::vector<Gradient>> {
        Emitter emit(builder);
        std::vector<Tensor> dense;
        for (size_t i = 0; i < values.size(); ++i) {
          dense.push_back(dy[i].is_none() ? zeros_like(emit, values[i]) : densify(emit, dy[i]));
        }
        RETURN_IF_ERROR(emit.status());
        ASSIGN_OR_RETURN(auto dx, gradient->gradient(builder, kept, dense));
        if (dx.size() != num_inputs) {
          return value_error("custom_gradient function expected to return ", num_inputs,
                             " gradients, but returned ", dx.size(), " instead.");
        }
        return dx;
      });
}

BackwardRef backward_that_fails(std::string name, Status status) {
  return backward_of(
      std::move(name),
      [status = std::move(status)](
          Builder&, std::span<const Gradient>) -> Result<std::vector<Gradient>> { return status; });
}

}  // namespace graven::engine
