#include "graven/autodiff/row_gradient.h"

#include <cstdint>

#include "graven/autodiff/add_gradients.h"
#include "graven/autodiff/gradient_runner.h"
#include "graven/ir/emitter.h"
#include "graven/ir/graph.h"
#include "graven/ir/movement.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

// Which row of input 0 a step reads: a number, or the only element of a vector, an input.
struct Row {
  int64_t number = 0;
  int input = -1;
  bool counts_from_end = false;
};

// True if axis d + 1 of the tensor is axis d of the row, whole.
bool reads_whole_axes(const Read& read, const Shape& from, const Shape& row) {
  if (static_cast<int>(read.axes.size()) != row.rank() + 1) return false;
  for (int d = 0; d < row.rank(); ++d) {
    Read::Axis whole;
    whole.terms.push_back({d, 1});
    if (!(read.axes[static_cast<size_t>(d) + 1] == whole) || !(from[d + 1] == row[d])) return false;
  }
  return true;
}

// The movement of output 0. An index that only running finds does not matter: one row has a known
// size.
std::optional<Movement> movement_by(const Node& node) {
  Graph& graph = node.graph();
  InlineVector<const Shape*, 4> shapes;
  InlineVector<Tensor, 4> values;
  for (OutputRef input : node.inputs()) {
    const bool is_known = &input.node->op() == kConst.op && !graph.is_input(input.node);
    shapes.push_back(&input.node->output(input.index).shape);
    values.push_back(is_known ? input.node->attrs().as<ConstAttrs>().value : Tensor());
    if (!shapes.back()->has_rank()) return std::nullopt;
  }
  const Shape& shape = node.output(0).shape;
  if (!shape.has_rank()) return std::nullopt;
  return node.op().record().reads(ReadsContext(node.attrs(), {shapes.data(), shapes.size()},
                                               {values.data(), values.size()}, shape, 0,
                                               &graph.symbols()));
}

std::optional<Row> row_read_by(const TapeStep& step) {
  if (!step.op || step.outputs.size() != 1 || !step.op->record().reads) return std::nullopt;
  const Tensor& output = step.outputs[0].tensor;
  if (!output || !output.is_symbolic()) return std::nullopt;
  const OutputRef made = symbolic(output).output();
  if (&made.node->op() != step.op || made.index != 0) return std::nullopt;
  const auto movement = movement_by(*made.node);
  if (!movement || movement->pieces.size() != 1 || movement->fill != Movement::kNothing ||
      !movement->split.empty()) {
    return std::nullopt;
  }
  const Movement::Piece& piece = movement->pieces[0];
  if (piece.input != 0 || !piece.start.empty() || piece.read.axes.empty()) return std::nullopt;
  const Read::Axis& first = piece.read.axes[0];
  const OutputRef read = made.node->inputs()[0];
  const bool is_one = first.terms.empty() && !first.broadcasts && !first.backwards &&
                      first.offset.is_number() && first.offset.number() >= 0;
  if (!is_one || !reads_whole_axes(piece.read, read.node->output(read.index).shape,
                                   made.node->output(0).shape)) {
    return std::nullopt;
  }
  if (piece.offsets.empty()) return Row{first.offset.number()};
  const Movement::RunTimeOffset& offset = piece.offsets[0];
  const Shape& index = step.inputs[static_cast<size_t>(offset.input)].shape;
  const bool is_only_index = piece.offsets.size() == 1 && offset.axis == 0 && offset.refuse &&
                             first.offset.number() == 0 && index.has_rank() && index.rank() == 1 &&
                             index.is_fully_known() && index.size(0) == 1;
  if (!is_only_index) return std::nullopt;
  return Row{0, offset.input, offset.counts_from_end};
}

// The indices, a vector of one. A negative one is counted from `rows`, a vector of one.
Tensor index_of(Emitter& emit, const TapeStep& step, const Row& row, const Tensor& rows) {
  if (row.input < 0) {
    const int64_t number[] = {row.number};
    return emit.constant(Tensor::vector<int64_t>(number));
  }
  Tensor index = step.inputs[static_cast<size_t>(row.input)].tensor;
  if (index.dtype() != DType::kInt64) index = emit(kCast, {index}, {DType::kInt64, false});
  if (!row.counts_from_end) return index;
  // The sum of segment 0, to which `rows` belongs only if the index is negative.
  const Tensor zero = emit.constant(Tensor::scalar<int64_t>(0));
  const Tensor is_negative = emit(kCast, {emit(kLess, {index, zero})}, {DType::kInt32, false});
  const Tensor segment = emit(kSub, {is_negative, emit.constant(Tensor::scalar<int32_t>(1))});
  const Tensor added =
      emit(kUnsortedSegmentSum, {rows, segment, emit.constant(Tensor::scalar<int32_t>(1))});
  return emit(kAddV2, {index, added});
}

// The number of rows of a tensor of this shape, a vector of one.
Tensor number_of_rows(Emitter& emit, const Shape& shape, const Tensor& dense_shape) {
  if (shape[0].is_number()) {
    const int64_t number[] = {shape.size(0)};
    return emit.constant(Tensor::vector<int64_t>(number));
  }
  std::vector<int32_t> segments(static_cast<size_t>(shape.rank()), -1);
  segments[0] = 0;
  const Tensor sizes = emit(kCast, {dense_shape}, {DType::kInt64, false});
  return emit(kUnsortedSegmentSum,
              {sizes, emit.constant(Tensor::vector(std::span<const int32_t>(segments))),
               emit.constant(Tensor::scalar<int32_t>(1))});
}

// A row as a tensor of one row.
Tensor with_first_axis(Emitter& emit, const Tensor& row) {
  const Shape& shape = row.shape();
  if (shape.has_rank() && shape.is_fully_known()) {
    std::vector<int32_t> sizes{1};
    for (int d = 0; d < shape.rank(); ++d) sizes.push_back(static_cast<int32_t>(shape.size(d)));
    return emit(kReshape, {row, emit.constant(Tensor::vector(std::span<const int32_t>(sizes)))});
  }
  const int32_t one[] = {1};
  const Tensor parts[] = {emit.constant(Tensor::vector<int32_t>(one)),
                          emit(kShape, {row}, {DType::kInt32}),
                          emit.constant(Tensor::scalar<int32_t>(0))};
  const Tensors sizes = emit.apply(*kConcatV2, parts, NoAttrs());
  return sizes.empty() ? Tensor() : emit(kReshape, {row, sizes[0]});
}

}  // namespace

Result<std::optional<std::vector<Gradient>>> gradient_of_row(const TapeStep& step,
                                                             std::span<const Gradient> dy,
                                                             const std::vector<bool>& wants,
                                                             Builder& builder) {
  std::optional<std::vector<Gradient>> none;
  if (!wants[0] || dy[0].is_none()) return none;
  const auto row = row_read_by(step);
  if (!row) return none;
  Emitter emit(builder);
  std::vector<Gradient> dx(step.inputs.size());
  const Tensor dense_shape = shape_of(emit, step.inputs[0]);
  const Tensor rows = number_of_rows(emit, step.inputs[0].shape, dense_shape);
  dx[0].slices = {with_first_axis(emit, densify(emit, dy[0])), index_of(emit, step, *row, rows),
                  dense_shape};
  RETURN_IF_ERROR(emit.status());
  return std::optional(std::move(dx));
}

}  // namespace graven::engine
