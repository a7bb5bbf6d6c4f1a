#include "graven/batching/row_loop.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "graven/base/strings.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/order_effects.h"
#include "graven/ir/static_shape.h"
#include "graven/ir/structural_ops.h"
#include "graven/ir/transpose_op.h"

namespace graven::engine {
namespace {

// The type of a list's elements in one row.
HeldType held_in_row(const OutputType& type) {
  return type.handle_data ? type.handle_data->value() : HeldType();
}

// Axes 0 and 1 of a tensor exchanged.
Tensor exchanged(Emitter& emit, const Tensor& x) {
  if (!x) return x;
  if (!x.shape().has_rank()) {
    emit.fail(unimplemented("a list that differs between rows must hold tensors of a known rank"));
    return {};
  }
  std::vector<int32_t> order = {1, 0};
  for (int d = 2; d < x.shape().rank(); ++d) order.push_back(d);
  return emit(kTranspose, {x, emit.constant(Tensor::vector(std::span<const int32_t>(order)))});
}

// The loop's variables are the row's number, a list for each output, the number of rows, and for
// each input of the node a list of its rows, or the input itself if it is the same for all. A list
// that differs between rows is handed over as a tensor of its elements.
class RowLoop {
 public:
  explicit RowLoop(BatchContext& c) : c_(c) {}

  Status run() {
    std::vector<Tensor> variables = {c_.constant(Tensor::scalar<int32_t>(0))};
    for (int i = 0; i < c_.num_outputs(); ++i) {
      ASSIGN_OR_RETURN(const HeldType type, type_of_output(i));
      variables.push_back(
          c_(kTensorListReserve, {shape_constant(c_, type.shape), c_.num_rows()}, {type.dtype}));
    }
    variables.push_back(c_.num_rows());
    for (int i = 0; i < c_.num_inputs(); ++i) {
      const Tensor all = is_list(i) ? elements(i) : c_.x(i);
      const Shape row = is_list(i) ? Shape::unknown_rank() : c_.row_shape(i);
      variables.push_back(
          c_.is_batched(i) ? c_(kTensorListFromTensor, {all, shape_constant(c_, row)}) : all);
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
      ASSIGN_OR_RETURN(const HeldType type, type_of_output(i));
      const TensorListStackAttrs stack{type.dtype, c_.num_rows_if_known().value_or(-1)};
      // Without rows the elements do not tell their shape.
      const Tensor shape = gives_list(i) ? shape_constant(c_, type.shape) : shape_of_element(i);
      Tensor all = c_(kTensorListStack, {after[static_cast<size_t>(i) + 1], shape}, stack);
      if (gives_list(i)) {
        all = c_(kTensorListFromTensor,
                 {exchanged(c_, all), c_.constant(Tensor::scalar<int32_t>(-1))});
      }
      c_.set_y(i, all);
    }
    return c_.status();
  }

 private:
  // A list that differs between rows.
  bool is_list(int i) const { return c_.is_batched(i) && c_.dtype(i) == DType::kVariant; }
  bool gives_list(int i) const { return c_.node().output(i).dtype == DType::kVariant; }
  const OutputType& row_type(int i) const {
    const OutputRef input = c_.node().inputs()[static_cast<size_t>(i)];
    return input.node->output(input.index);
  }

  // What a row gives for an output: the tensor, or the elements of the list.
  Result<HeldType> type_of_output(int i) const {
    const OutputType& type = c_.node().output(i);
    if (type.dtype == DType::kResource) {
      return unimplemented("[", c_.op().name(), "] gives a resource for each row");
    }
    if (type.dtype != DType::kVariant) return HeldType{type.dtype, c_.row_shape_of_y(i)};
    const HeldType held = held_in_row(type);
    if (held.dtype == DType::kInvalid) {
      return unimplemented("[", c_.op().name(), "] gives a list of unknown dtype for each row");
    }
    Shape shape = held.shape.has_rank() ? Shape{Dim::unknown()} : Shape::unknown_rank();
    for (int d = 0; d < held.shape.rank(); ++d) shape.push_back(held.shape[d]);
    return HeldType{held.dtype, shape};
  }

  // The shape of an output in a row as a vector of integers: the sizes that are those of inputs are
  // found when it runs, and others are -1.
  Tensor shape_of_element(int i) {
    const Shape known = c_.row_shape_of_y(i);
    if (!known.has_rank() || known.is_fully_known()) return shape_constant(c_, known);
    std::vector<Tensor> sizes;
    for (Dim dim : known.dims()) sizes.push_back(vector_of_size(dim));
    if (sizes.size() == 1) return sizes[0];
    sizes.push_back(c_.constant(Tensor::scalar<int32_t>(0)));
    const Tensors made = c_.apply(*kConcatV2.op, sizes, NoAttrs());
    return made.empty() ? Tensor() : made[0];
  }
  Tensor vector_of_size(Dim dim) {
    for (int k = 0; k < c_.num_inputs() && dim.is_term(); ++k) {
      const Shape &row = row_type(k).shape, &all = c_.x(k).shape();
      if (c_.dtype(k) == DType::kVariant || !row.has_rank() || !all.has_rank()) continue;
      const auto at = std::ranges::find(row.dims(), dim);
      if (at == row.dims().end()) continue;
      const auto place = (at - row.dims().begin()) + (c_.is_batched(k) ? 1 : 0);
      // One element of the vector of sizes: its segment is 0, the others are dropped.
      std::vector<int32_t> segments(static_cast<size_t>(all.rank()), -1);
      segments[static_cast<size_t>(place)] = 0;
      return c_(
          kUnsortedSegmentSum,
          {c_(kShape, {c_.x(k)}), c_.constant(Tensor::vector(std::span<const int32_t>(segments))),
           c_.constant(Tensor::scalar<int32_t>(1))});
    }
    const auto size = static_cast<int32_t>(dim.number_or_minus_one());
    return c_.constant(Tensor::vector(std::span<const int32_t>(&size, 1)));
  }

  // The elements of a list that differs between rows: [rows, elements, ...].
  Tensor elements(int i) {
    const HeldType held = held_in(c_.x(i));
    return exchanged(c_,
                     c_(kTensorListStack, {c_.x(i), shape_constant(c_, held.shape)}, {held.dtype}));
  }

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
      const int from = c_.num_outputs() + 2 + i;
      const Tensor& all = own[static_cast<size_t>(from)];
      inputs.push_back(c_.is_batched(i) ? row_of(emit, i, all, number) : all);
    }
    const Tensors outputs = emit.apply(c_.op(), inputs, c_.raw_attrs(), c_.node().name());
    RETURN_IF_ERROR(emit.status());
    for (int i = 0; i < c_.num_outputs(); ++i) {
      Tensor& list = own[static_cast<size_t>(i) + 1];
      Tensor row = outputs[static_cast<size_t>(i)];
      if (gives_list(i)) {
        const HeldType held = held_in_row(c_.node().output(i));
        row = emit(kTensorListStack, {row, shape_constant(emit, held.shape)}, {held.dtype});
      }
      list = emit(kTensorListSetItem, {list, number, row});
    }
    own[0] = emit(kAddV2, {number, emit.constant(Tensor::scalar<int32_t>(1))});
    RETURN_IF_ERROR(emit.status());
    return body_of(graph, own);
  }

  Tensor row_of(Emitter& emit, int i, const Tensor& all, const Tensor& number) const {
    if (!is_list(i)) {
      const Tensor shape = shape_constant(emit, c_.row_shape(i));
      return emit(kTensorListGetItem, {all, number, shape}, {c_.dtype(i)});
    }
    const Tensor any = emit.constant(Tensor::scalar<int32_t>(-1));
    const DType dtype = held_in(c_.x(i)).dtype;
    const Tensor row = emit(kTensorListGetItem, {all, number, any}, {dtype});
    return emit(kTensorListFromTensor, {row, shape_constant(emit, held_in_row(row_type(i)).shape)});
  }

  BatchContext& c_;
};

}  // namespace

Status run_in_loop(BatchContext& c) { return RowLoop(c).run(); }

}  // namespace graven::engine
