#include <algorithm>
#include <cctype>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graven/ir/graph.h"
#include "graven/ir/structural_ops.h"
#include "graven/library/axes.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/padding_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/slice_ops.h"
#include "graven/ops/structural_ops.h"

namespace graven::engine {
namespace {

constexpr std::string_view kAny = "Any dtype and shape.";

struct ReshapeParameters {
  Tensor tensor;
  Sizes shape;
  static constexpr auto fields() {
    using P = ReshapeParameters;
    return std::tuple(required_field("tensor", &P::tensor, "T", kAny),
                      required_field("shape", &P::shape,
                                     "The sizes; one may be -1: what is left. Eagerly a scalar is "
                                     "the size of a vector."));
  }
};

Outputs reshape(FunctionContext& c, const ReshapeParameters& p) {
  Tensor shape = c.tensor_of(p.shape, "shape");
  if (!c.is_graph() && c.rank_if_known(shape) == 0) shape = c(kExpandDims, {shape, c.scalar(0)});
  return c(kReshape, {p.tensor, shape}, {}, c.name());
}

struct SizesOfParameters {
  Tensor input;
  DType out_type = DType::kInvalid;
  static constexpr auto fields() {
    using P = SizesOfParameters;
    return std::tuple(required_field("input", &P::input, "any", kAny),
                      field("out_type", &P::out_type, "int32 (None) or int64."));
  }
  ShapeAttrs attrs() const { return {out_type == DType::kInvalid ? DType::kInt32 : out_type}; }
};

Outputs shape(FunctionContext& c, const SizesOfParameters& p) {
  const auto sizes = c.sizes_if_known(p.input);
  if (!c.is_graph() || !sizes) return c(kShape, {p.input}, p.attrs(), c.name());
  if (p.attrs().out_type == DType::kInt64) {
    return c.constant(Tensor::vector(std::span<const int64_t>(sizes->data(), sizes->size())),
                      c.name());
  }
  return c.vector({sizes->data(), sizes->size()}, c.name());
}

Outputs size(FunctionContext& c, const SizesOfParameters& p) {
  const auto count = p.input.shape().checked_num_elements();
  if (!c.is_graph() || !count) return c(kSize, {p.input}, p.attrs(), c.name());
  return c.scalar(*count, p.attrs().out_type, c.name());
}

struct BroadcastToParameters {
  Tensor input;
  Sizes shape;
  static constexpr auto fields() {
    using P = BroadcastToParameters;
    return std::tuple(required_field("input", &P::input, "T", kAny),
                      required_field("shape", &P::shape, "The sizes of the result."));
  }
};

void define_reshape_and_broadcast_to(FunctionRegistry& functions) {
  functions.define({
      .names = "reshape",
      .scope = "Reshape",
      .summary = "Gives the elements of a tensor another shape.",
      .returns = "The same elements in the same order.",
      .raises = {{"InvalidArgumentError", "The number of elements would change."}},
      .source = "OpDef \"Reshape\"",
      .body = reshape,
  });
  functions.define({
      .names = "broadcast_to",
      .scope = "BroadcastTo",
      .summary = "Repeats a tensor along axes of size 1 until it has a shape.",
      .returns = "The repeated tensor.",
      .raises = {{"InvalidArgumentError", "The shapes do not broadcast."}},
      .source = "OpDef \"BroadcastTo\"",
      .body =
          [](FunctionContext& c, const BroadcastToParameters& p) {
            return c(kBroadcastTo, {p.input, c.tensor_of(p.shape, "shape")}, {}, c.name());
          },
  });
}

struct TileParameters {
  Tensor input;
  Sizes multiples;
  static constexpr auto fields() {
    using P = TileParameters;
    return std::tuple(required_field("input", &P::input, "T", kAny),
                      required_field("multiples", &P::multiples, "How often, for each axis."));
  }
};

struct ReverseParameters {
  Tensor tensor;
  Sizes axis;
  static constexpr auto fields() {
    using P = ReverseParameters;
    return std::tuple(required_field("tensor", &P::tensor, "T", kAny),
                      required_field("axis", &P::axis, "The axes, a list."));
  }
};

struct SliceParameters {
  Tensor input_;
  Sizes begin, size;
  static constexpr auto fields() {
    using P = SliceParameters;
    return std::tuple(required_field("input_", &P::input_, "T", kAny),
                      required_field("begin", &P::begin, "Where it starts, for each axis."),
                      required_field("size", &P::size, "How large it is; -1 means up to the end."));
  }
};

void define_tile_and_kin(FunctionRegistry& functions) {
  functions.define({
      .names = "tile",
      .scope = "Tile",
      .summary = "Repeats a tensor along each axis.",
      .returns = "The repeated tensor.",
      .raises = {{"InvalidArgumentError", "There is not one number for each axis."}},
      .source = "OpDef \"Tile\"",
      .body =
          [](FunctionContext& c, const TileParameters& p) {
            return c(kTile, {p.input, c.tensor_of(p.multiples, "multiples")}, {}, c.name());
          },
  });
  functions.define({
      .names = "reverse",
      .scope = "ReverseV2",
      .summary = "Reverses a tensor along axes.",
      .returns = "The reversed tensor.",
      .raises = {{"InvalidArgumentError", "There is no such axis, or one is named twice."}},
      .source = "OpDef \"ReverseV2\"",
      .body =
          [](FunctionContext& c, const ReverseParameters& p) {
            return c(kReverseV2, {p.tensor, c.tensor_of(p.axis, "axis")}, {}, c.name());
          },
  });
  functions.define({
      .names = "slice",
      .scope = "Slice",
      .summary = "Takes a piece of a tensor.",
      .returns = "The piece.",
      .raises = {{"InvalidArgumentError", "It does not lie inside the tensor."}},
      .source = "OpDef \"Slice\"",
      .body =
          [](FunctionContext& c, const SliceParameters& p) {
            const auto places = c.tensors_of({{p.begin, "begin"}, {p.size, "size"}});
            return c(kSlice, {p.input_, places[0], places[1]}, {}, c.name());
          },
  });
}

struct EnsureShapeParameters {
  Tensor x;
  Shape shape;
  static constexpr auto fields() {
    using P = EnsureShapeParameters;
    return std::tuple(
        required_field("x", &P::x, "T", kAny),
        required_field("shape", &P::shape, "The shape, with None where any size will do."));
  }
};

struct ExpandDimsParameters {
  Tensor input, axis;
  static constexpr auto fields() {
    using P = ExpandDimsParameters;
    return std::tuple(required_field("input", &P::input, "T", kAny),
                      required_field("axis", &P::axis, "Tdim",
                                     "Where the new axis is; negative counts from the end of the "
                                     "result."));
  }
};

struct SqueezeParameters {
  Tensor input;
  Axes axis;
  static constexpr auto fields() {
    using P = SqueezeParameters;
    return std::tuple(required_field("input", &P::input, "T", kAny),
                      field("axis", &P::axis, "The axes to drop; None means all of size 1."));
  }
};

Outputs squeeze(FunctionContext& c, const SqueezeParameters& p) {
  if (p.axis.tensor) return c.fail(type_error("squeeze: axis must be numbers, not a tensor"));
  SqueezeAttrs attrs;
  if (p.axis.numbers) attrs.squeeze_dims.assign(p.axis.numbers->begin(), p.axis.numbers->end());
  return c(kSqueeze, {p.input}, attrs, c.name());
}

void define_ensure_shape_and_kin(FunctionRegistry& functions) {
  functions.define({
      .names = "ensure_shape",
      .scope = "EnsureShape",
      .summary = "Checks when it runs that a tensor has a shape, and says so while tracing.",
      .returns = "x, whose shape is known better.",
      .raises = {{"InvalidArgumentError", "It has another shape."}},
      .source = "OpDef \"EnsureShape\"",
      .body =
          [](FunctionContext& c, const EnsureShapeParameters& p) {
            return c(kEnsureShape, {p.x}, {p.shape}, c.name());
          },
  });
  functions.define({
      .names = "expand_dims",
      .scope = "ExpandDims",
      .summary = "Adds an axis of size 1.",
      .returns = "A tensor with one axis more.",
      .raises = {{"InvalidArgumentError", "There is no such place."}},
      .source = "OpDef \"ExpandDims\"",
      .body =
          [](FunctionContext& c, const ExpandDimsParameters& p) {
            return c(kExpandDims, {p.input, p.axis}, {}, c.name());
          },
  });
  functions.define({
      .names = "squeeze",
      .scope = "Squeeze",
      .summary = "Drops axes of size 1.",
      .returns = "The tensor without them.",
      .raises = {{"InvalidArgumentError", "An axis has another size."}},
      .source = "OpDef \"Squeeze\"",
      .body = squeeze,
  });
}

struct TransposeParameters {
  Tensor a;
  Axes perm;
  bool conjugate = false;
  static constexpr auto fields() {
    using P = TransposeParameters;
    return std::tuple(
        required_field("a", &P::a, "T", kAny),
        field("perm", &P::perm, "Which axis of a comes at each place; None reverses them."),
        field("conjugate", &P::conjugate, "Take the complex conjugate too."));
  }
};

// The axes of a in reverse order.
Tensor reversed_axes(FunctionContext& c, const Tensor& a) {
  if (auto rank = c.rank_if_known(a)) {
    std::vector<int64_t> order(static_cast<size_t>(*rank));
    std::iota(order.rbegin(), order.rend(), 0);
    return c.vector(order, "perm");
  }
  Formula rank = c(c(kRank, {a}));
  Tensor last = rank - 1.0;
  return c(kSub, {last, c(kRange, {c.scalar(0), rank, c.scalar(1)})});
}

Outputs transpose(FunctionContext& c, const TransposeParameters& p) {
  const Tensor perm = p.perm.is_none() ? reversed_axes(c, p.a) : c.tensor_of(p.perm, "perm");
  const bool conjugates = p.conjugate && is_complex(p.a.dtype());
  return c(conjugates ? kConjugateTranspose : kTranspose, {p.a, perm}, {}, c.name());
}

struct RankParameters {
  Tensor input;
  static constexpr auto fields() {
    return std::tuple(required_field("input", &RankParameters::input, "any", kAny));
  }
};

Outputs rank(FunctionContext& c, const RankParameters& p) {
  const auto known = c.rank_if_known(p.input);
  if (!c.is_graph() || !known) return c(kRank, {p.input}, {}, c.name());
  return c.scalar(*known, DType::kInt32, c.name());
}

void define_transpose(FunctionRegistry& functions) {
  functions.define({
      .names = "transpose",
      .scope = "transpose",
      .summary = "Reorders the axes of a tensor.",
      .returns = "The tensor with its axes in the new order.",
      .raises = {{"InvalidArgumentError", "perm is no permutation of the axes."}},
      .source = "OpDefs \"Transpose\" and \"ConjugateTranspose\"",
      .body = transpose,
  });
}

struct PadParameters {
  Tensor tensor, paddings;
  std::string mode = "CONSTANT";
  Tensor constant_values;
  static constexpr auto fields() {
    using P = PadParameters;
    return std::tuple(
        required_field("tensor", &P::tensor, "T", kAny),
        required_field("paddings", &P::paddings, "Tpaddings",
                       "Integers of shape [rank, 2]: how many before and after, for each axis."),
        field("mode", &P::mode,
              "\"CONSTANT\", or what a mirror at the edge shows: \"REFLECT\" without the edge "
              "itself, \"SYMMETRIC\" with it; in any case of letters."),
        field("constant_values", &P::constant_values, "T", 0, "The value to pad with."));
  }
};

// Of paddings that are known for some axes only.
Shape shape_of_padded(FunctionContext& c, const Tensor& x, const Tensor& paddings) {
  if (!x || !x.shape().has_rank() || !paddings || !paddings.is_symbolic()) {
    return Shape::unknown_rank();
  }
  const SymbolicTensor& known = symbolic(paddings);
  const auto& sizes = known.node().output(known.output().index).sizes;
  const auto rank = static_cast<size_t>(x.rank());
  if (!sizes || sizes->size() != 2 * rank) return Shape::unknown_rank();
  Shape shape;
  for (size_t i = 0; i < rank; ++i) {
    const Dim all[] = {x.shape()[static_cast<int>(i)], (*sizes)[2 * i], (*sizes)[2 * i + 1]};
    const bool is_known = std::ranges::all_of(all, &Dim::is_number);
    if (!is_known) {
      shape.push_back(Dim::unknown());
      continue;
    }
    const Size behind = add(c, all[1].number(), all[2].number());
    shape.push_back(Dim(add(c, all[0].number(), behind).number()));
  }
  return shape;
}

Outputs padded(FunctionContext& c, const PadParameters& p) {
  std::string mode = p.mode;
  std::ranges::transform(mode, mode.begin(), [](unsigned char letter) {
    return static_cast<char>(std::toupper(letter));
  });
  if (mode == "REFLECT" || mode == "SYMMETRIC") {
    return c(kMirrorPad, {p.tensor, p.paddings}, {mode}, c.name());
  }
  if (mode != "CONSTANT") {
    return c.fail(
        value_error("Value of argument `mode` expected to be one of 'CONSTANT', "
                    "'REFLECT', or 'SYMMETRIC'. Received `mode` = ",
                    p.mode));
  }
  if (!p.constant_values) return c(kPad, {p.tensor, p.paddings}, {}, c.name());
  return c(kPadV2, {p.tensor, p.paddings, p.constant_values}, {}, c.name());
}

Outputs pad(FunctionContext& c, const PadParameters& p) {
  Outputs made = padded(c, p);
  if (made.tensors.size() == 1) {
    set_known_shape(c, made.tensors[0], shape_of_padded(c, p.tensor, p.paddings));
  }
  return made;
}

struct UnstackParameters {
  Tensor value;
  std::optional<int64_t> num;
  int64_t axis = 0;
  static constexpr auto fields() {
    using P = UnstackParameters;
    return std::tuple(
        required_field("value", &P::value, "T", kAny),
        field("num", &P::num, "The size of the axis, where it is not known while tracing."),
        field("axis", &P::axis, "The axis; negative counts from the end."));
  }
};

Outputs unstack(FunctionContext& c, const UnstackParameters& p) {
  const auto rank = c.rank_if_known(p.value);
  if (!p.num && rank && (p.axis < -*rank || p.axis >= *rank)) {
    return c.fail(
        value_error("Argument `axis` = ", p.axis, " not in range [", -*rank, ", ", *rank, ")"));
  }
  const auto num = p.num ? p.num : c.static_size(p.value, p.axis);
  if (!num) {
    return c.fail(
        value_error("Cannot infer argument `num` from shape ", p.value.shape().to_text()));
  }
  return c.apply(kUnpack, {p.value}, {.num = *num, .axis = p.axis}, c.name());
}

void define_pad_and_unstack(FunctionRegistry& functions) {
  functions.define({
      .names = "pad",
      .scope = "Pad",
      .summary = "Puts elements around a tensor.",
      .returns = "The larger tensor.",
      .raises = {{"InvalidArgumentError", "A number is negative, or a mirror shows too little."},
                 {"ValueError", "There is no such mode."}},
      .source = "OpDefs \"Pad\", \"PadV2\" and \"MirrorPad\"",
      .body = pad,
  });
  functions.define({
      .names = "unstack",
      .scope = "unstack",
      .results = tensor_list(),
      .summary = "Takes a tensor apart along an axis.",
      .returns = "Tensors with one axis less.",
      .raises = {{"ValueError", "The size of the axis is not known, or there is no such axis."}},
      .source = "OpDef \"Unpack\"",
      .body = unstack,
  });
}

struct StridedSliceParameters {
  Tensor input_;
  Sizes begin, end, strides;
  int64_t begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_axis_mask = 0;
  static constexpr auto fields() {
    using P = StridedSliceParameters;
    return std::tuple(
        required_field("input_", &P::input_, "T", kAny),
        required_field("begin", &P::begin, "Where it starts, for each axis."),
        required_field("end", &P::end, "Where it ends; that is left out."),
        field("strides", &P::strides, "The steps, not 0; None means 1."),
        field("begin_mask", &P::begin_mask, "Bit i: from the first element of axis i on."),
        field("end_mask", &P::end_mask, "Bit i: to the last element of axis i."),
        field("ellipsis_mask", &P::ellipsis_mask, "Bit i: an ellipsis stands there."),
        field("new_axis_mask", &P::new_axis_mask, "Bit i: a new axis of size 1 stands there."),
        field("shrink_axis_mask", &P::shrink_axis_mask,
              "Bit i: only the element at begin, without the axis."),
        refused_field("var", "A variable to assign to."));
  }
};

Outputs strided_slice(FunctionContext& c, const StridedSliceParameters& p) {
  Sizes steps = p.strides;
  // If begin is numbers, so are the strides, for inference to know them.
  if (steps.is_none() && p.begin.numbers) {
    steps.numbers.emplace(p.begin.numbers->size(), 1);
  }
  const auto places = c.tensors_of({{p.begin, "begin"}, {p.end, "end"}, {steps, "strides"}});
  const Tensor strides = steps.is_none() ? c(kOnesLike, {places[0]}) : places[2];
  return c(kStridedSlice, {p.input_, places[0], places[1], strides},
           {.begin_mask = p.begin_mask,
            .end_mask = p.end_mask,
            .ellipsis_mask = p.ellipsis_mask,
            .new_axis_mask = p.new_axis_mask,
            .shrink_axis_mask = p.shrink_axis_mask},
           c.name());
}

void define_shape_and_kin(FunctionRegistry& functions) {
  functions.define({
      .names = "shape",
      .scope = "Shape",
      .summary = "Gives the shape of a tensor as a tensor.",
      .returns = "The sizes, shape [rank].",
      .source = "OpDef \"Shape\"",
      .body = shape,
  });
  functions.define({
      .names = "size",
      .scope = "Size",
      .summary = "Counts the elements of a tensor.",
      .returns = "A scalar.",
      .source = "OpDef \"Size\"",
      .body = size,
  });
  functions.define({
      .names = "rank",
      .scope = "Rank",
      .summary = "Counts the axes of a tensor.",
      .returns = "An int32 scalar.",
      .source = "OpDef \"Rank\"",
      .body = rank,
  });
  functions.define({
      .names = "strided_slice",
      .scope = "StridedSlice",
      .summary = "Takes a piece of a tensor with strides: what x[begin:end:strides] does.",
      .returns = "The piece.",
      .raises = {{"InvalidArgumentError", "A stride is 0, or an element is not there."}},
      .source = "OpDef \"StridedSlice\"",
      .body = strided_slice,
  });
}

}  // namespace

void define_shapes(FunctionRegistry& functions) {
  define_reshape_and_broadcast_to(functions);
  define_tile_and_kin(functions);
  define_ensure_shape_and_kin(functions);
  define_transpose(functions);
  define_pad_and_unstack(functions);
  define_shape_and_kin(functions);
}

}  // namespace graven::engine
