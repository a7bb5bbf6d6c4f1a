#include "graven/control/row_gradients.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "graven/autodiff/add_gradients.h"
#include "graven/autodiff/apply_bodies.h"
#include "graven/autodiff/custom_gradient.h"
#include "graven/autodiff/gradient_pair.h"
#include "graven/function/trace_body.h"
#include "graven/ir/bodies.h"
#include "graven/ir/emitter.h"
#include "graven/ir/static_shape.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/runtime/eager_builder.h"

namespace graven::engine {
namespace {

// The gradient of one row as a graph: gradients of outputs, then side values -> dense gradients.
struct RowBackward {
  Ref<Graph> graph;
  std::vector<int> outputs;      // whose gradients it takes
  std::vector<int> side_values;  // outputs of the forward half that it takes
  std::vector<int> gradients;    // its output for each input of the row; -1 if there is none
};

Tensor placeholder_like(GraphBuilder& builder, const Graph& graph, int output) {
  const OutputRef like = graph.outputs()[static_cast<size_t>(output)];
  const auto& type = like.node->output(like.index);
  return builder.add_placeholder(type.dtype, static_shape(type.shape), "row");
}

// Nothing if there is none for just the first outputs of the pair's forward half.
Result<std::optional<RowBackward>> row_backward(GradientPair& pair) {
  const Graph& forward = *pair.forward_body().graph();
  std::vector<bool> wanted(forward.outputs().size(), false);
  const int num_outputs = pair.num_outputs();
  for (int i = 0; i < num_outputs; ++i) {
    const OutputRef output = forward.outputs()[static_cast<size_t>(i)];
    wanted[static_cast<size_t>(i)] =
        kDifferentiableTypes.contains(output.node->output(output.index).dtype);
  }
  const auto found = pair.backward(wanted);
  if (!found.ok()) return std::optional<RowBackward>();
  const GradientPair::BackwardHalf* half = *found;
  const bool takes_more =
      std::ranges::any_of(half->outputs, [&](int i) { return i >= num_outputs; });
  if (!half->missing.ok() || takes_more) return std::optional<RowBackward>();
  RowBackward made = {nullptr, half->outputs, half->side_values, {}};
  const auto placeholders = [&](GraphBuilder& builder) -> Result<std::vector<Value>> {
    std::vector<Value> rows;
    for (int i : made.outputs)
      rows.push_back(Value::of_tensor(placeholder_like(builder, forward, i)));
    for (int i : made.side_values) {
      rows.push_back(Value::of_tensor(placeholder_like(builder, forward, i)));
    }
    return rows;
  };
  const auto call = [&](std::span<const Value> arguments) -> Result<Value> {
    std::vector<Tensor> tensors;
    for (const Value& argument : arguments) tensors.push_back(argument.tensor);
    Builder& builder = current_builder();
    ASSIGN_OR_RETURN(Tensors parts, builder.call(half->body, tensors));
    const auto part = [&](int i) { return i < 0 ? Tensor() : parts[static_cast<size_t>(i)]; };
    Emitter emit(builder);
    std::vector<Value> dense;
    for (const GradientPair::InputGradient& of : half->gradients) {
      const Gradient gradient = {part(of.dense),
                                 {part(of.values), part(of.indices), part(of.dense_shape)}};
      made.gradients.push_back(gradient.is_none() ? -1 : static_cast<int>(dense.size()));
      if (!gradient.is_none()) dense.push_back(Value::of_tensor(densify(emit, gradient)));
    }
    RETURN_IF_ERROR(emit.status());
    return Value::of_container(Container::list(), std::move(dense));
  };
  ASSIGN_OR_RETURN(TracedGraph traced, trace_graph({.name = "row_gradient"}, placeholders, call));
  if (!traced.captures.empty()) return std::optional<RowBackward>();
  made.graph = traced.graph;
  return made;
}

BatchSettings settings_of(const Tensor& num_rows) {
  BatchSettings settings;
  settings.num_rows = num_rows;
  settings.apply_bodies = [](Builder& builder, const Op& op, std::span<const Tensor> all,
                             AttrsRef attrs) { return apply_bodies(builder, op, all, attrs); };
  return settings;
}

// Its inputs are those of the row, then the side values, then the number of rows. It owns no
// tensors: those of the graph that owns it would keep that alive.
class RowsGradient final : public CustomGradient {
 public:
  RowsGradient(RowBackward row, std::vector<bool> inputs_batched, std::vector<bool> side_batched)
      : row_(std::move(row)),
        inputs_batched_(std::move(inputs_batched)),
        side_batched_(std::move(side_batched)) {}

  bool reads_inputs() const override { return true; }

  Result<std::vector<Gradient>> gradient(Builder& builder, std::span<const Tensor> inputs,
                                         std::span<const Tensor> dy) const override {
    const Tensor& num_rows = inputs.back();
    const size_t num_inputs = inputs_batched_.size();
    std::vector<BatchedTensor> given;
    for (int i : row_.outputs) given.push_back({dy[static_cast<size_t>(i)], true});
    for (size_t i = 0; i < side_batched_.size(); ++i) {
      given.push_back({inputs[num_inputs + i], side_batched_[i]});
    }
    ASSIGN_OR_RETURN(std::vector<BatchedTensor> made,
                     batch_graph(builder, row_.graph, given, settings_of(num_rows)));
    Emitter emit(builder);
    std::vector<Gradient> gradients(inputs.size());
    for (size_t i = 0; i < num_inputs; ++i) {
      if (row_.gradients[i] < 0) continue;
      const BatchedTensor& of = made[static_cast<size_t>(row_.gradients[i])];
      gradients[i].dense =
          inputs_batched_[i] ? of_each_row(emit, of, num_rows) : of_all_rows(emit, of, num_rows);
    }
    RETURN_IF_ERROR(emit.status());
    return gradients;
  }

 private:
  static Tensor of_each_row(Emitter& emit, const BatchedTensor& of, const Tensor& num_rows) {
    return of.is_batched ? of.tensor : repeat_for_rows(emit, of, num_rows);
  }
  static Tensor of_all_rows(Emitter& emit, const BatchedTensor& of, const Tensor& num_rows) {
    const Tensor each = of_each_row(emit, of, num_rows);
    return emit(kSum, {each, emit.constant(Tensor::scalar(int32_t{0}))});
  }

  RowBackward row_;
  std::vector<bool> inputs_batched_, side_batched_;
};

}  // namespace

bool has_custom_gradient(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Node* node) {
    if (node->custom_gradient()) return true;
    return std::ranges::any_of(bodies_of(*node).all, [](const NodeBody& one) {
      return one.body && has_custom_gradient(*one.body->graph());
    });
  });
}

Result<std::optional<std::vector<BatchedTensor>>> batch_with_row_gradient(
    Builder& builder, const Ref<Body>& body, std::span<const BatchedTensor> inputs,
    const BatchSettings& settings) {
  auto pair = gradient_pair(body);
  if (!pair.ok()) return std::optional<std::vector<BatchedTensor>>();
  ASSIGN_OR_RETURN(std::optional<RowBackward> row, row_backward(**pair));
  if (!row) return std::optional<std::vector<BatchedTensor>>();
  Builder& plain = builder.unrecorded();
  ASSIGN_OR_RETURN(std::vector<BatchedTensor> made,
                   batch_graph(plain, (*pair)->forward_body().graph(), inputs, settings));
  Emitter emit(plain);
  const bool is_value = !settings.num_rows.is_symbolic();
  const Tensor num_rows = is_value ? emit.constant(settings.num_rows) : settings.num_rows;
  std::vector<Tensor> outputs, all;
  for (int i = 0; i < (*pair)->num_outputs(); ++i) {
    const BatchedTensor& output = made[static_cast<size_t>(i)];
    outputs.push_back(output.is_batched ? output.tensor : repeat_for_rows(emit, output, num_rows));
  }
  std::vector<bool> inputs_batched, side_batched;
  for (const BatchedTensor& input : inputs) {
    all.push_back(input.tensor);
    inputs_batched.push_back(input.is_batched);
  }
  for (int i : row->side_values) {
    all.push_back(made[static_cast<size_t>(i)].tensor);
    side_batched.push_back(made[static_cast<size_t>(i)].is_batched);
  }
  all.push_back(num_rows);
  RETURN_IF_ERROR(emit.status());
  auto gradient =
      make_ref<RowsGradient>(std::move(*row), std::move(inputs_batched), std::move(side_batched));
  ASSIGN_OR_RETURN(Tensors results,
                   apply_custom_gradient(builder, all, outputs, Ref<CustomGradient>(gradient),
                                         /*was_heard=*/false));
  std::vector<BatchedTensor> found;
  for (Tensor& result : results) found.push_back({std::move(result), true});
  return found;
}

}  // namespace graven::engine
