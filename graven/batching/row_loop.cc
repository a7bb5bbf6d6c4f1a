#include "graven/batching/row_loop.h"

#include <utility>
#include <vector>

#include "graven/base/strings.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/order_effects.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

// A shape as a constant, -1 for sizes that are unknown.
Tensor shape_constant(Emitter& emit, const Shape& shape) {
  if (!shape.has_rank()) return emit.constant(Tensor::scalar<int32_t>(-1));
  std::vector<int32_t> sizes;
  for (int d = 0; d < shape.rank(); ++d) {
    sizes.push_back(shape[d].is_number() ? static_cast<int32_t>(shape.size(d)) : -1);
  }
  return emit.constant(Tensor::vector(std::span<const int32_t>(sizes)));
}

// The loop's variables are the row's number, a list for each output, the number of rows, and for
// each input of the node a list of its rows, or the input itself if it is the same for all.
class RowLoop {
 public:
  explicit RowLoop(BatchContext& c) : c_(c) {}

  Status run() {
    std::vector<Tensor> variables = {c_.constant(Tensor::scalar<int32_t>(0))};
    for (int i = 0; i < c_.num_outputs(); ++i) {
      const DType dtype = c_.node().output(i).dtype;
      if (dtype == DType::kResource) {
        return unimplemented("[", c_.op().name(), "] gives a resource for each row");
      }
      variables.push_back(c_(kTensorListReserve,
                             {shape_constant(c_, c_.row_shape_of_y(i)), c_.num_rows()}, {dtype}));
    }
    variables.push_back(c_.num_rows());
    for (int i = 0; i < c_.num_inputs(); ++i) {
      variables.push_back(c_.is_batched(i) ? c_(kTensorListFromTensor,
                                                {c_.x(i), shape_constant(c_, c_.row_shape(i))})
                                           : c_.x(i));
    }
    RETURN_IF_ERROR(c_.status());
    WhileAttrs attrs;
    attrs.parallel_iterations = 1;
    for (const Tensor& variable : variables) attrs.T.push_back(variable.dtype());
    ASSIGN_OR_RETURN(attrs.cond, condition(variables));
    ASSIGN_OR_RETURN(attrs.body, step(variables));
    const Ref<Body> bodies[] = {attrs.cond, attrs.body};
    const Tensors after = c_.apply_bodies(op_for_bodies(*kWhile, bodies), variables, attrs);
    RETURN_IF_ERROR(c_.status());
    for (int i = 0; i < c_.num_outputs(); ++i) {
      const TensorListStackAttrs stack{c_.node().output(i).dtype,
                                       c_.num_rows_if_known().value_or(-1)};
      c_.set_y(i, c_(kTensorListStack,
                     {after[static_cast<size_t>(i) + 1], shape_constant(c_, c_.row_shape_of_y(i))},
                     stack));
    }
    return c_.status();
  }

 private:
  std::vector<Tensor> arguments(GraphBuilder& builder, std::span<const Tensor> variables) const {
    builder.graph()->set_outer(c_.builder().graph());
    std::vector<Tensor> own;
    for (const Tensor& variable : variables) {
      own.push_back(builder.add_placeholder_like(variable, "variable"));
    }
    return own;
  }
  static Ref<Body> body_of(const Ref<Graph>& graph, std::span<const Tensor> outputs) {
    std::vector<OutputRef> refs;
    for (const Tensor& output : outputs) refs.push_back(symbolic(output).output());
    graph->set_outputs(std::move(refs));
    order_effects(*graph);
    return Body::create(str_cat("__inference_", graph->name(), "_", next_uid()), graph);
  }

  Result<Ref<Body>> condition(std::span<const Tensor> variables) const {
    auto graph = make_ref<Graph>("row_loop_cond");
    GraphBuilder builder(graph);
    Frame frame(&builder);
    const std::vector<Tensor> own = arguments(builder, variables);
    Emitter emit(builder);
    const Tensor is_left = emit(kLess, {own[0], own[static_cast<size_t>(c_.num_outputs()) + 1]});
    RETURN_IF_ERROR(emit.status());
    return body_of(graph, {&is_left, 1});
  }

  Result<Ref<Body>> step(std::span<const Tensor> variables) const {
    auto graph = make_ref<Graph>("row_loop_body");
    GraphBuilder builder(graph);
    Frame frame(&builder);
    std::vector<Tensor> own = arguments(builder, variables);
    Emitter emit(builder);
    const Tensor number = own[0];
    std::vector<Tensor> inputs;
    for (int i = 0; i < c_.num_inputs(); ++i) {
      const Tensor& all = own[static_cast<size_t>(c_.num_outputs() + 2 + i)];
      inputs.push_back(c_.is_batched(i) ? emit(kTensorListGetItem,
                                               {all, number, shape_constant(emit, c_.row_shape(i))},
                                               {c_.dtype(i)})
                                        : all);
    }
    const Tensors outputs = emit.apply(c_.op(), inputs, c_.raw_attrs(), c_.node().name());
    RETURN_IF_ERROR(emit.status());
    for (int i = 0; i < c_.num_outputs(); ++i) {
      Tensor& list = own[static_cast<size_t>(i) + 1];
      list = emit(kTensorListSetItem, {list, number, outputs[static_cast<size_t>(i)]});
    }
    own[0] = emit(kAddV2, {number, emit.constant(Tensor::scalar<int32_t>(1))});
    RETURN_IF_ERROR(emit.status());
    return body_of(graph, own);
  }

  BatchContext& c_;
};

}  // namespace

Status run_in_loop(BatchContext& c) { return RowLoop(c).run(); }

}  // namespace graven::engine
