#include "graven/library/gathering.h"

#include <optional>
#include <utility>
#include <vector>

#include "graven/ir/structural_ops.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/reductions.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/variable_ops.h"

namespace graven::engine {

Tensor gathered(FunctionContext& c, const Tensor& x, const Tensor& indices, int64_t axis,
                std::string_view name) {
  return c(kGatherV2, {x, indices, c.scalar(axis)}, {}, name);
}

namespace {

constexpr int64_t kFlat[] = {-1}, kFirst[] = {0}, kSecond[] = {1};

// The sizes of x with the mask's axes merged into one. If they are known only at run time, their
// product is taken as the number of elements of the mask; Reshape refuses any other.
Tensor sizes_under_mask(FunctionContext& c, const Tensor& x, const Tensor& mask,
                        const Tensor& axis) {
  const int64_t depth = mask.rank();
  const auto known = c.number_if_known(axis);
  if (c.rank_if_known(x) && known) {
    SizeList sizes = c.sizes(x);
    const auto first = sizes.begin() + *known, last = first + depth;
    SizeList flat(sizes.begin(), first);
    flat.push_back(product(c, {first, last}));
    flat.insert(flat.end(), last, sizes.end());
    return vector_of(c, flat);
  }
  const Tensor begin = c(kReshape, {as_int32(c, axis), c.vector(kSecond)});
  const Tensor end = c(begin) + static_cast<double>(depth), sizes = c(kShape, {x});
  const Tensor count = c(kReshape, {c(kSize, {mask}), c.vector(kSecond)});
  return joined(c, joined(c, elements_between(c, sizes, c.vector(kFirst), begin), count),
                elements_between(c, sizes, end));
}

}  // namespace

Tensor masked(FunctionContext& c, const Tensor& x, const Tensor& mask, const Tensor& axis,
              std::string_view name) {
  if (!c.rank_if_known(mask)) return {};
  const Tensor sizes = sizes_under_mask(c, x, mask, axis);
  const Tensor places = c(kWhere, {c(kReshape, {mask, c.vector(kFlat)})});
  const Tensor indices = c(kSqueeze, {places}, {.squeeze_dims = {1}});
  return c(kGatherV2, {c(kReshape, {x, sizes}), indices, axis}, {}, name);
}

namespace {

struct WhereParameters {
  Tensor condition, x, y;
  static constexpr auto fields() {
    using P = WhereParameters;
    return std::tuple(required_field("condition", &P::condition, "any",
                                     "bool; without x and y any number. The three broadcast."),
                      field("x", &P::x, "T", "The elements where it holds."),
                      field("y", &P::y, "T", "The elements where it does not."));
  }
};

Outputs where(FunctionContext& c, const WhereParameters& p) {
  if (!p.x && !p.y) return c(kWhere, {p.condition}, {}, c.name());
  if (!p.x || !p.y) {
    return c.fail(value_error("Argument `x` and `y` must both be non-None or both be None."));
  }
  return c(kSelectV2, {p.condition, p.x, p.y}, {}, c.name());
}

struct GatherParameters {
  TensorOrVariable params;
  Tensor indices, axis;
  int64_t batch_dims = 0;
  static constexpr auto fields() {
    using P = GatherParameters;
    return std::tuple(
        required_field("params", &P::params, "T",
                       "Any dtype and shape. The gradient of a variable's rows is IndexedSlices."),
        required_field("indices", &P::indices, "Tindices", "Integers of any shape."),
        ignored_field("validate_indices", "Indices are always checked."),
        field("axis", &P::axis, "Taxis", "The axis; None means that behind the batch_dims."),
        field("batch_dims", &P::batch_dims,
              "How many leading axes of params and indices go together."));
  }
};

// The value of a tensor or a variable.
Tensor value_of(FunctionContext& c, const TensorOrVariable& x) {
  return x.handle ? c(kReadVariable, {x.handle}, {x.dtype}) : x.tensor;
}

Outputs gather(FunctionContext& c, const GatherParameters& p) {
  const bool is_first = (p.axis ? c.number_if_known(p.axis) : p.batch_dims) == 0;
  if (p.params.handle && is_first && p.batch_dims == 0) {
    return c(kResourceGather, {p.params.handle, p.indices}, {.dtype = p.params.dtype}, c.name());
  }
  const Tensor axis = p.axis ? p.axis : c.scalar(p.batch_dims, DType::kInt32, "axis");
  return c(kGatherV2, {value_of(c, p.params), p.indices, axis}, {p.batch_dims}, c.name());
}

constexpr Raised kNoSuchIndex = {"InvalidArgumentError", "An index is outside of its axis."};

void define_where_and_gather(FunctionRegistry& functions) {
  functions.define({
      .names = "where",
      .scope = "SelectV2",
      .summary = "Chooses elements by a condition, or finds where it holds.",
      .returns = "The chosen elements; or, without x and y, the indices of those that are not 0, "
                 "int64 of shape [count, rank].",
      .raises = {{"ValueError", "Only one of x and y is given."}},
      .source = "OpDefs \"SelectV2\" and \"Where\"",
      .body = where,
  });
  functions.define({
      .names = "gather",
      .scope = "GatherV2",
      .summary = "Takes slices of a tensor along an axis.",
      .returns = "The slices: params, with the axes of indices in place of the axis.",
      .raises = {kNoSuchIndex},
      .source = "OpDefs \"GatherV2\" and \"ResourceGather\"",
      .body = gather,
  });
}

struct EmbeddingLookupParameters {
  TensorOrVariable params;
  Tensor ids;
  std::optional<double> max_norm;
  static constexpr auto fields() {
    using P = EmbeddingLookupParameters;
    return std::tuple(
        required_field("params", &P::params, "sole T",
                       "The table, shape [rows, ...]. The gradient of a variable is "
                       "IndexedSlices. A list of several tables is refused."),
        required_field("ids", &P::ids, "Tindices", "Integers of any shape."),
        field("max_norm", &P::max_norm,
              "Rows of a larger Euclidean norm are scaled down to it; None leaves all."));
  }
};

// The gathered rows, scaled down to the largest norm.
Tensor with_norms_up_to(FunctionContext& c, double max_norm, const Tensor& rows,
                        const Tensor& ids) {
  const auto first = c.rank_if_known(ids), rank = c.rank_if_known(rows);
  Axes axes;
  if (first && rank) {
    axes.numbers.emplace();
    for (int64_t axis = *first; axis < *rank; ++axis) axes.numbers->push_back(axis);
  } else {
    axes.tensor = c(kRange, {c(kRank, {ids}), c(kRank, {rows}), c.scalar(1)});
  }
  Formula x = c(rows), square = reduce(c, kSum, x * x, axes, /*keepdims=*/true);
  // The square root has no finite gradient at 0.
  const Tensor is_positive = c(kGreater, {square, constant_like(x, 0)});
  Formula root = call(kSqrt, c(c(kSelectV2, {is_positive, square, constant_like(x, 1)})));
  Formula norm = c(c(kSelectV2, {is_positive, root, square}));
  return max_norm * x / call(kMaximum, norm, constant_like(x, max_norm));
}

Outputs embedding_lookup(FunctionContext& c, const EmbeddingLookupParameters& p) {
  const Tensor rows =
      p.params.handle
          ? c(kResourceGather, {p.params.handle, p.ids}, {.dtype = p.params.dtype}, c.name())
          : c(kGatherV2, {p.params.tensor, p.ids, c.scalar(0, DType::kInt32, "axis")}, {},
              c.name());
  return p.max_norm ? with_norms_up_to(c, *p.max_norm, rows, p.ids) : rows;
}

void define_embedding_lookup(FunctionRegistry& functions) {
  functions.define({
      .names = "nn.embedding_lookup",
      .scope = "embedding_lookup",
      .summary = "Takes rows of a table.",
      .returns = "The rows, shape ids.shape + params.shape[1:].",
      .raises = {kNoSuchIndex},
      .source = "OpDefs \"GatherV2\" and \"ResourceGather\"",
      .body = embedding_lookup,
  });
}

struct GatherNdParameters {
  TensorOrVariable params;
  Tensor indices;
  int64_t batch_dims = 0;
  std::string bad_indices_policy;
  static constexpr auto fields() {
    using P = GatherNdParameters;
    return std::tuple(
        required_field("params", &P::params, "T", "Any dtype and shape."),
        required_field("indices", &P::indices, "Tindices",
                       "Integers, shape [..., depth]: of the first `depth` axes of params."),
        field("batch_dims", &P::batch_dims,
              "How many leading axes of params and indices go together."),
        name_field(),
        field("bad_indices_policy", &P::bad_indices_policy,
              "\"\", \"DEFAULT\" or \"ERROR\"; \"IGNORE\" gives zeros for a bad index."));
  }
};

// Indices with the positions of `batch_dims` leading axes in front.
Tensor with_batch_places(FunctionContext& c, const Tensor& indices, int64_t batch_dims) {
  const SizeList sizes = c.sizes(indices);
  if (sizes.empty()) return {};
  SizeList each = sizes;
  each.back() = 1;
  const DType dtype = indices.dtype();
  std::vector<Tensor> columns;
  for (size_t axis = 0; axis < static_cast<size_t>(batch_dims); ++axis) {
    const Tensor limit = c.cast(sizes[axis].tensor(c), dtype);
    const Tensor places = c(kRange, {c.scalar(0, dtype), limit, c.scalar(1, dtype)});
    std::vector<int64_t> along(sizes.size(), 1);
    along[axis] = -1;
    columns.push_back(
        c(kBroadcastTo, {c(kReshape, {places, c.vector(along)}), vector_of(c, each)}));
  }
  columns.push_back(indices);
  columns.push_back(c.scalar(-1));
  const Tensors joined = c.apply(*kConcatV2, columns, NoAttrs());
  return joined.empty() ? Tensor() : joined[0];
}

Outputs gather_nd(FunctionContext& c, const GatherNdParameters& p) {
  if (p.batch_dims < 0) {
    return c.fail(value_error("tf.gather_nd does not allow negative batch_dims."));
  }
  if (p.batch_dims == 0 && p.params.handle && p.bad_indices_policy.empty()) {
    return c(kResourceGatherNd, {p.params.handle, p.indices}, {p.params.dtype}, c.name());
  }
  const Tensor params = value_of(c, p.params);
  const IndexPolicyAttrs policy{p.bad_indices_policy};
  if (p.batch_dims == 0) return c(kGatherNd, {params, p.indices}, policy, c.name());
  for (const auto& [tensor, name] :
       {std::pair(p.indices, "indices"), std::pair(params, "params")}) {
    const auto rank = c.rank_if_known(tensor);
    if (!rank || p.batch_dims < *rank) continue;
    return c.fail(value_error("Argument `batch_dims` = ", p.batch_dims, " must be less than rank(`",
                              name, "`) = ", *rank));
  }
  if (!c.rank_if_known(p.indices)) {
    return c.fail(value_error("tf.gather_nd with batch_dims needs indices of known rank"));
  }
  return c(kGatherNd, {params, with_batch_places(c, p.indices, p.batch_dims)}, policy, c.name());
}

void define_gather_nd(FunctionRegistry& functions) {
  functions.define({
      .names = "gather_nd",
      .scope = "GatherNd",
      .summary = "Takes slices of a tensor at places given by several axes.",
      .returns = "The slices, shape indices.shape[:-1] + params.shape[depth:].",
      .raises = {kNoSuchIndex,
                 {"ValueError", "batch_dims is negative, or not less than both ranks."}},
      .source = "OpDefs \"GatherNd\" and \"ResourceGatherNd\"",
      .body = gather_nd,
  });
}

struct ScatterUpdateParameters {
  Tensor tensor, indices, updates;
  static constexpr auto fields() {
    using P = ScatterUpdateParameters;
    return std::tuple(
        required_field("tensor", &P::tensor, "T", "Any dtype and shape."),
        required_field("indices", &P::indices, "Tindices",
                       "Integers, shape [..., depth]: of the first `depth` axes of the tensor."),
        required_field("updates", &P::updates, "T",
                       "The slices, shape indices.shape[:-1] + tensor.shape[depth:]."));
  }
};

struct BooleanMaskParameters {
  Tensor tensor, mask;
  Axes axis;
  static constexpr auto fields() {
    using P = BooleanMaskParameters;
    return std::tuple(
        required_field("tensor", &P::tensor, "T", "Any dtype."),
        required_field("mask", &P::mask, "any",
                       "bool, its shape the sizes of the axes from the first one on."),
        field("axis", &P::axis, "The first axis that the mask is for; None means 0."));
  }
};

Outputs boolean_mask(FunctionContext& c, const BooleanMaskParameters& p) {
  const auto depth = c.rank_if_known(p.mask), rank = c.rank_if_known(p.tensor);
  if (depth == 0) return c.fail(value_error("mask cannot be scalar."));
  if (!depth) {
    return c.fail(
        value_error("Number of mask dimensions must be specified, even if some dimensions are "
                    "None."));
  }
  if (p.axis.numbers && !p.axis.is_scalar) {
    return c.fail(type_error("boolean_mask: axis must be a number, not a list"));
  }
  const auto known = p.axis.tensor    ? c.number_if_known(p.axis.tensor)
                     : p.axis.numbers ? (*p.axis.numbers)[0]
                                      : 0;
  if (!known) return masked(c, p.tensor, p.mask, p.axis.tensor, c.name());
  int64_t axis = *known;
  if (axis < 0) {
    if (!rank) {
      const Tensor place = c(c(kRank, {p.tensor})) + static_cast<double>(axis);
      return masked(c, p.tensor, p.mask, place, c.name());
    }
    axis += *rank;
  }
  for (int64_t i = 0; rank && i < *depth; ++i) {
    const auto size = c.size_if_known(p.tensor, axis + i), held = c.size_if_known(p.mask, i);
    if (axis >= 0 && axis + i < *rank && (!size || !held || *size == *held)) continue;
    return c.fail(value_error("Shapes ", p.tensor.shape().to_text(), " from axis ", axis,
                              " on and ", p.mask.shape().to_text(),
                              " of the mask are incompatible"));
  }
  return masked(c, p.tensor, p.mask, c.scalar(axis), c.name());
}

void define_tensor_scatter_nd_update_and_boolean_mask(FunctionRegistry& functions) {
  functions.define({
      .names = "tensor_scatter_nd_update",
      .scope = "TensorScatterUpdate",
      .summary = "Replaces slices of a tensor, in a copy of it.",
      .returns = "A tensor of the same shape.",
      .raises = {{"InvalidArgumentError", "An index is not there, or the shapes do not fit."}},
      .source = "OpDef \"TensorScatterUpdate\"",
      .body =
          [](FunctionContext& c, const ScatterUpdateParameters& p) {
            return c(kTensorScatterUpdate, {p.tensor, p.indices, p.updates}, {}, c.name());
          },
  });
  functions.define({
      .names = "boolean_mask",
      .scope = "boolean_mask",
      .summary = "Keeps the slices of a tensor for which a mask holds.",
      .returns = "The slices, in order, along one axis.",
      .raises = {{"ValueError",
                  "The mask is a scalar, its rank is not known, or its shape does "
                  "not fit."}},
      .body = boolean_mask,
  });
}

}  // namespace

void define_gathering(FunctionRegistry& functions) {
  define_where_and_gather(functions);
  define_embedding_lookup(functions);
  define_gather_nd(functions);
  define_tensor_scatter_nd_update_and_boolean_mask(functions);
}

}  // namespace graven::engine
