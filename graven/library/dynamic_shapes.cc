#include "graven/ir/structural_ops.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/gathering.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/shape_ops.h"

namespace graven::engine {
namespace {

struct BroadcastShapeParameters {
  Sizes shape_x, shape_y;
  static constexpr auto fields() {
    using P = BroadcastShapeParameters;
    return std::tuple(required_field("shape_x", &P::shape_x, "Sizes, a vector of integers."),
                      required_field("shape_y", &P::shape_y, "Those of the other shape."));
  }
};

struct PaddingsParameters {
  Tensor input_shape, block_shape, base_paddings;
  static constexpr auto fields() {
    using P = PaddingsParameters;
    return std::tuple(
        required_field("input_shape", &P::input_shape, "int32", "The sizes of n axes."),
        required_field("block_shape", &P::block_shape, "int32",
                       "Those of a block, of which each axis is to hold whole ones."),
        field("base_paddings", &P::base_paddings, "int32",
              "The least paddings, [n, 2]; None means 0."));
  }
};

// Formulas over columns: a row for each axis.
std::vector<Tensor> paddings_and_crops(FunctionContext& c, const Tensor& input_shape,
                                       const Tensor& block_shape, const Tensor& base_paddings) {
  Formula start = c(gathered(c, base_paddings, c.scalar(0), 1));
  Formula end = c(gathered(c, base_paddings, c.scalar(1), 1)), block = c(block_shape);
  Formula size = c(input_shape) + start + end;
  Formula more = call(kFloorMod, block - call(kFloorMod, size, block), block);
  const Tensors paddings = c.apply(kPack, {start, end + more}, {.axis = 1});
  const Tensors crops = c.apply(kPack, {call(kZerosLike, more), more}, {.axis = 1});
  if (paddings.empty() || crops.empty()) return {};
  return {paddings[0], crops[0]};
}

Outputs space_to_batch_paddings(FunctionContext& c, const PaddingsParameters& p) {
  const Shape& block = p.block_shape.shape();
  if (!block.is_fully_known() || block.rank() != 1) {
    return c.fail(value_error("block_shape must be a vector of known length, not of shape ",
                              block.to_text()));
  }
  if (!are_compatible(p.input_shape.shape(), block)) {
    return c.fail(value_error("Shapes ", p.input_shape.shape().to_text(), " and [", block.size(0),
                              "] are incompatible"));
  }
  Sizes pairs;
  pairs.numbers = {block.size(0), 2};
  const Tensor base = p.base_paddings ? p.base_paddings : c.filled(pairs, 0, DType::kInt32);
  if (!base || !are_compatible(base.shape(), Shape{block[0], 2})) {
    return c.fail(value_error("Shapes ", base.shape().to_text(), " and [", block.size(0),
                              ", 2] are incompatible"));
  }
  const Tensor known[] = {known_value(p.input_shape), known_value(p.block_shape),
                          known_value(base)};
  if (!known[0] || !known[1] || !known[2]) {
    return Tensors(paddings_and_crops(c, p.input_shape, p.block_shape, base));
  }
  FunctionContext now = c.at_once();
  const auto values = paddings_and_crops(now, known[0], known[1], known[2]);
  if (!now.status().ok()) return c.fail(now.status());
  return {c.constant(values[0], "paddings"), c.constant(values[1], "crops")};
}

}  // namespace

void define_dynamic_shapes(FunctionRegistry& functions) {
  functions.define({
      .names = "broadcast_dynamic_shape",
      .summary = "The shape to which two shapes broadcast, which running may find.",
      .returns = "A vector; int64 if one of them is.",
      .raises = {{"InvalidArgumentError", "The shapes do not broadcast, or are no vectors."}},
      .source = "OpDef \"BroadcastArgs\"",
      .body = [](FunctionContext& c, const BroadcastShapeParameters& p) -> Outputs {
        const auto shapes = c.tensors_of({{p.shape_x, "shape_x"}, {p.shape_y, "shape_y"}});
        return c(kBroadcastArgs, {shapes[0], shapes[1]});
      },
  });
  functions.define({
      .names = "required_space_to_batch_paddings",
      .scope = "required_space_to_batch_paddings",
      .results = tuple({"paddings", "crops"}),
      .summary = "How much to pad each axis so that it holds whole blocks, and to crop afterwards.",
      .returns = "Two int32 tensors [n, 2]; constants of a graph if the arguments are.",
      .raises = {{"ValueError", "The shapes of the arguments do not fit."},
                 {"InvalidArgumentError", "A block is of size 0."}},
      .body = space_to_batch_paddings,
  });
}

}  // namespace graven::engine
