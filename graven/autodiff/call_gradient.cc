#include "graven/autodiff/call_gradient.h"

#include <vector>

#include "graven/autodiff/add_gradients.h"
#include "graven/autodiff/gradient_runner.h"
#include "graven/autodiff/step.h"

namespace graven::engine {
namespace {

Result<std::vector<Gradient>> call_backward(GradientPair& pair,
                                            const std::vector<StepTensor>& values, Builder& builder,
                                            std::span<const Gradient> dy) {
  std::vector<bool> has_gradient;
  for (size_t i = 0; i < dy.size(); ++i) {
    has_gradient.push_back(!dy[i].is_none() && kDifferentiableTypes.contains(values[i].dtype));
  }
  ASSIGN_OR_RETURN(const GradientPair::Half* half, pair.backward(has_gradient));
  Emitter emit(builder);
  std::vector<Tensor> inputs;
  for (int i : half->outputs) {
    inputs.push_back(has_gradient[i] ? densify(emit, dy[i]) : zeros_like(emit, values[i]));
  }
  RETURN_IF_ERROR(emit.status());
  for (int i : half->side_values) inputs.push_back(values[i].tensor);
  ASSIGN_OR_RETURN(Tensors outputs, apply_call(builder, half->body, inputs));
  std::vector<Gradient> dx;
  for (const GradientPair::InputGradient& where : half->gradients) {
    auto at = [&](int output) { return output < 0 ? Tensor() : outputs[output]; };
    dx.push_back({at(where.dense), {at(where.values), at(where.indices), at(where.dense_shape)}});
  }
  return dx;
}

}  // namespace

std::shared_ptr<const Backward> backward_of_call(const Ref<GradientPair>& pair,
                                                 std::span<const Tensor> inputs,
                                                 std::span<const Tensor> outputs) {
  std::vector<StepTensor> values;
  for (size_t i = 0; i < outputs.size(); ++i) {
    values.emplace_back(outputs[i]);
    bool is_needed = outputs[i].is_symbolic() || pair->is_side_value(static_cast<int>(i));
    if (!is_needed) values.back().tensor = Tensor();
    // The handle that was given, so that what the backward half makes of the variable has a way to
    // it.
    if (int input = pair->input_of_handle(static_cast<int>(i)); is_needed && input >= 0) {
      values.back().tensor = inputs[input];
    }
  }
  return std::make_shared<const Backward>(
      [pair, values = std::move(values)](Builder& builder, std::span<const Gradient> dy) {
        return call_backward(*pair, values, builder, dy);
      });
}

std::shared_ptr<const Backward> backward_of_custom(const Ref<CustomGradient>& gradient,
                                                   size_t num_inputs,
                                                   std::span<const Tensor> outputs) {
  std::vector<StepTensor> values;
  for (const Tensor& output : outputs) {
    values.emplace_back(output);
    if (!output.is_symbolic()) values.back().tensor = Tensor();
  }
  return std::make_shared<const Backward>(
      [gradient, num_inputs, values = std::move(values)](
          Builder& builder, std::span<const Gradient> dy) -> Result<std::vector<Gradient>> {
        Emitter emit(builder);
        std::vector<Tensor> dense;
        for (size_t i = 0; i < values.size(); ++i) {
          dense.push_back(dy[i].is_none() ? zeros_like(emit, values[i]) : densify(emit, dy[i]));
        }
        RETURN_IF_ERROR(emit.status());
        ASSIGN_OR_RETURN(auto dx, gradient->gradient(builder, dense));
        if (dx.size() != num_inputs) {
          return value_error("custom_gradient function expected to return ", num_inputs,
                             " gradients, but returned ", dx.size(), " instead.");
        }
        return dx;
      });
}

std::shared_ptr<const Backward> backward_that_fails(Status status) {
  return std::make_shared<const Backward>(
      [status = std::move(status)](
          Builder&, std::span<const Gradient>) -> Result<std::vector<Gradient>> { return status; });
}

}  // namespace graven::engine
