#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "graven/ir/structural_ops.h"
#include "graven/library/axes.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/matrices.h"
#include "graven/library/reductions.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/nn_ops.h"

namespace graven::engine {
namespace {

// An error if y, computed from x by broadcasting, does not have the shape of x.
void check_shape_kept(FunctionContext& c, const Tensor& x, const Tensor& y) {
  if (!x || !y || are_compatible(x.shape(), y.shape())) return;
  c.fail(value_error("Shapes ", x.shape().to_text(), " and ", y.shape().to_text(),
                     " are incompatible"));
}

struct ClipByValueParameters {
  Tensor t, clip_value_min, clip_value_max;
  static constexpr auto fields() {
    using P = ClipByValueParameters;
    return std::tuple(
        required_field("t", &P::t, "T",
                       "Of any shape; IndexedSlices stay what they are, and each row is clipped "
                       "by itself."),
        required_field("clip_value_min", &P::clip_value_min, "T",
                       "The lower end; broadcasts to t, and wins where the ends are swapped."),
        required_field("clip_value_max", &P::clip_value_max, "T",
                       "The upper end; broadcasts to t."));
  }
};

Outputs clip_by_value(FunctionContext& c, const ClipByValueParameters& p) {
  const Tensor below = c(kMinimum, {p.t, p.clip_value_max});
  check_shape_kept(c, p.t, below);
  const Tensor clipped = c(kMaximum, {below, p.clip_value_min}, {}, c.name());
  check_shape_kept(c, p.t, clipped);
  return clipped;
}

constexpr Raised kGrows = {"ValueError", "The result would be larger than t."};

void define_clip_by_value(FunctionRegistry& functions) {
  functions.define({
      .names = "clip_by_value",
      .scope = "clip_by_value",
      .types = {{"T", kRealTypes}},
      .summary = "Moves elements into an interval; NaN stays NaN.",
      .returns = "The clipped elements.",
      .raises = {kGrows},
      .body = clip_by_value,
  });
}

struct ClipByNormParameters {
  Tensor t;
  Number clip_norm;
  Axes axes;
  static constexpr auto fields() {
    using P = ClipByNormParameters;
    return std::tuple(
        required_field("t", &P::t, "T", "Of any shape, or IndexedSlices."),
        required_field("clip_norm", &P::clip_norm,
                       "The largest norm; broadcasts to t. A negative one counts as 0."),
        field("axes", &P::axes, "The axes over which the norm is taken; None means all."));
  }
};

Outputs clip_by_norm(FunctionContext& c, const ClipByNormParameters& p) {
  Number limit = p.clip_norm;
  if (limit.number) limit.number = std::max(*limit.number, 0.0);
  Tensor longest = c.tensor_of(limit, p.t.dtype());
  if (longest && limit.tensor) {
    longest = c.cast(c(kMaximum, {longest, c.zero(longest.dtype())}), p.t.dtype());
  }
  Formula x = c(p.t), squares = reduce(c, kSum, x * x, p.axes, true);
  // The gradient of the square root is infinite at 0, so zeros are kept away from it.
  const Tensor is_positive = c(kGreater, {squares, c.zero(p.t.dtype())});
  const Tensor safe = c(kSelectV2, {is_positive, squares, call(kOnesLike, squares)});
  const Tensor norm = c(kSelectV2, {is_positive, c(kSqrt, {safe}), squares});
  Formula scaled = x * c(longest);
  check_shape_kept(c, p.t, scaled);
  return c(kRealDiv, {scaled, c(kMaximum, {norm, longest})}, {}, c.name());
}

struct NormParameters {
  Tensor tensor;
  NumberOrText ord = "euclidean";
  Axes axis;
  bool keepdims = false;
  static constexpr auto fields() {
    using P = NormParameters;
    return std::tuple(
        required_field("tensor", &P::tensor, "T", "The elements, of any shape."),
        field("ord", &P::ord,
              "\"euclidean\", a positive number or infinity; of matrices \"euclidean\" and "
              "\"fro\", which are the same, 1, 2 or infinity."),
        field("axis", &P::axis,
              "A number for the norms of vectors, [rows, columns] for those of matrices; None "
              "means all elements as one vector."),
        field("keepdims", &P::keepdims, "Keep the axes, with size 1."));
  }
};

// The norm of matrices that is the largest sum of absolute values over the axis `summed`.
Tensor largest_sum(FunctionContext& c, const Tensor& sizes, int64_t summed, int64_t other,
                   const NormParameters& p) {
  Axes first, second;
  first.numbers = {summed};
  second.numbers = {other};
  Formula largest = reduce(c, kMax, reduce(c, kSum, sizes, first, true), second, true);
  if (p.keepdims) return largest;
  return c(kSqueeze, {largest}, {.squeeze_dims = {summed, other}});
}

// The norm of matrices that is the largest singular value.
Tensor spectral_norm(FunctionContext& c, const NormParameters& p) {
  const auto [others, axes] =
      axes_apart(c, p.tensor, {p.axis.numbers->data(), p.axis.numbers->size()});
  const Tensor order = joined(c, others, axes);
  const Tensor s = singular_values(c, c(kTranspose, {p.tensor, order}));
  const Tensor norm = c(kMax, {s, c.scalar(-1)}, {.keep_dims = p.keepdims});
  if (!p.keepdims) return norm;
  return c(kTranspose, {c(kExpandDims, {norm, c.scalar(-1)}), c(kInvertPermutation, {order})});
}

Outputs norm(FunctionContext& c, const NormParameters& p) {
  const bool is_vector = p.axis.is_none() || p.axis.is_scalar;
  const bool is_matrix = !is_vector && p.axis.numbers && p.axis.numbers->size() == 2 &&
                         (*p.axis.numbers)[0] != (*p.axis.numbers)[1];
  if (!is_vector && !is_matrix) {
    return c.fail(value_error("'axis' must be None, an integer, or a tuple of 2 unique integers"));
  }
  const auto* text = std::get_if<std::string>(&p.ord);
  const double ord = text ? 0 : std::get<double>(p.ord);
  const bool is_named = text && (*text == "euclidean" || (is_matrix && *text == "fro"));
  const bool is_possible = is_named || (is_matrix ? ord == 1 || ord == 2 || std::isinf(ord) : true);
  if (!is_named && !(ord > 0 && is_possible)) {
    return c.fail(value_error("'ord' must be a supported ", is_matrix ? "matrix" : "vector",
                              " norm, got ", text ? *text : str_cat(ord)));
  }
  if (is_matrix && ord == 2) return spectral_norm(c, p);
  Formula x = c(p.tensor);
  if (is_named || ord == 2) {
    return c(kSqrt, {reduce(c, kSum, x * conj(x), p.axis, p.keepdims)}, {}, c.name());
  }
  const DType dtype = real_part_type(x.dtype());
  Formula sizes = is_complex(x.dtype()) ? call(kComplexAbs, x, {.Tout = dtype}) : call(kAbs, x);
  if (is_matrix) {
    const auto& axes = *p.axis.numbers;
    return ord == 1 ? largest_sum(c, sizes, axes[0], axes[1], p)
                    : largest_sum(c, sizes, axes[1], axes[0], p);
  }
  if (ord == 1) return reduce(c, kSum, sizes, p.axis, p.keepdims, c.name());
  if (std::isinf(ord)) return reduce(c, kMax, sizes, p.axis, p.keepdims, c.name());
  if (is_integer(dtype)) {
    return c.fail(type_error("Cannot convert ", ord, " and its inverse to EagerTensor of dtype ",
                             dtype_name(dtype)));
  }
  Formula sum = reduce(c, kSum, call(kPow, sizes, c(c.scalar(ord, dtype))), p.axis, p.keepdims);
  return c(kPow, {sum, c.scalar(1 / ord, dtype)}, {}, c.name());
}

constexpr Raised kNoSuchAxis = {"InvalidArgumentError", "An axis is outside [-rank, rank)."};

void define_clip_by_norm(FunctionRegistry& functions) {
  functions.define({
      .names = "clip_by_norm",
      .scope = "clip_by_norm",
      .types = {{"T", kFloatTypes}},
      .summary = "Shortens a tensor to a largest L2 norm; a shorter one stays as it is.",
      .returns = "t * clip_norm / max(norm(t), clip_norm), as t was given.",
      .raises = {kGrows, kNoSuchAxis},
      .body = clip_by_norm,
  });
}

struct GlobalNormParameters {
  TensorList t_list;
  static constexpr auto fields() {
    return std::tuple(required_field("t_list", &GlobalNormParameters::t_list, "any or None",
                                     "Tensors of one floating dtype, IndexedSlices or None, which "
                                     "are left out."));
  }
};

bool check_list(FunctionContext& c, const TensorList& list) {
  if (!list.is_list) c.fail(type_error("`t_list` should be a sequence of tensors."));
  return list.is_list;
}

Tensor global_norm(FunctionContext& c, const TensorList& list) {
  constexpr std::string_view kName = "global_norm";
  std::vector<Tensor> halves;
  for (const Tensor& t : list.tensors) {
    if (t) halves.push_back(c(kL2Loss, {t}));
  }
  if (halves.empty()) return c.scalar(0.0, DType::kFloat32, kName);
  Tensor half = halves[0];
  if (halves.size() > 1) {
    const Tensors all = c.apply(*kPack, halves, PackAttrs());
    half = all.empty() ? Tensor() : reduce(c, kSum, all[0]);
  }
  return c(kSqrt, {2.0 * c(half)}, {}, kName);
}

constexpr Raised kNoList = {"TypeError", "t_list is not a sequence."};

void define_global_norm(FunctionRegistry& functions) {
  functions.define({
      .names = "linalg.global_norm",
      .scope = "global_norm",
      .summary = "The L2 norm of all elements of several tensors.",
      .returns = "A scalar of their dtype; a float32 zero if there is no tensor.",
      .raises = {kNoList},
      .body = [](FunctionContext& c, const GlobalNormParameters& p) -> Outputs {
        return check_list(c, p.t_list) ? global_norm(c, p.t_list) : Tensor();
      },
  });
}

struct ClipByGlobalNormParameters {
  TensorList t_list;
  Number clip_norm;
  Tensor use_norm;
  static constexpr auto fields() {
    using P = ClipByGlobalNormParameters;
    return std::tuple(
        required_field("t_list", &P::t_list, "any or None",
                       "Tensors of floating dtypes, IndexedSlices or None, which stay None."),
        required_field("clip_norm", &P::clip_norm, "The largest norm, a positive scalar."),
        field("use_norm", &P::use_norm, "any",
              "The norm, if it is known; None means global_norm(t_list)."));
  }
};

Outputs clip_by_global_norm(FunctionContext& c, const ClipByGlobalNormParameters& p) {
  if (!check_list(c, p.t_list)) return {};
  Formula norm = c(p.use_norm ? p.use_norm : global_norm(c, p.t_list));
  Formula limit = c(c.tensor_of(p.clip_norm, norm.dtype()));
  if (!c.status().ok()) return {};
  if (limit.dtype() != norm.dtype()) {
    return c.fail(type_error("`x` and `y` must have the same dtype, got tf.",
                             dtype_name(norm.dtype()), " != tf.", dtype_name(limit.dtype()), "."));
  }
  Formula one = c(c.scalar(1.0, norm.dtype()));
  // The difference is 0, or NaN if the norm is not finite.
  Formula scale = limit * call(kMinimum, one / norm, one / limit) + (norm - norm);
  Outputs results{};
  for (const Tensor& t : p.t_list.tensors) {
    results.tensors.push_back(t ? c(t) * c.cast(scale, t.dtype()) : c(Tensor()));
  }
  results.tensors.push_back(norm);
  return results;
}

void define_clip_by_global_norm_and_norm(FunctionRegistry& functions) {
  functions.define({
      .names = "clip_by_global_norm",
      .scope = "clip_by_global_norm",
      .results = {.parts = {{.name = "list_clipped", .is_list = true, .may_be_none = true},
                            {.name = "global_norm"}}},
      .summary = "Shortens several tensors together, so that all their elements have a largest L2 "
                 "norm.",
      .returns = "The tensors times min(1, clip_norm / norm), all NaN if the norm is not finite; "
                 "and the norm.",
      .raises = {{"TypeError",
                  "t_list is not a sequence, or clip_norm has another dtype than the "
                  "norm."}},
      .body = clip_by_global_norm,
  });
  functions.define({
      .names = "norm, linalg.norm",
      .scope = "norm",
      .types = {{"T", kFloatTypes | kComplexTypes}},
      .summary = "The norm of vectors or matrices.",
      .details = "The norm 1 of matrices is the largest sum of sizes in a column, that of infinity "
                 "the largest in a row, and 2 the largest singular value.",
      .returns = "The norms; the dtype of the tensor, or with an ord that is a number other than "
                 "2 its real one.",
      .raises = {{"ValueError", "There is no such norm, or the axes are not one or two."},
                 kNoSuchAxis},
      .body = norm,
  });
}

struct NormalizeParameters : NormParameters {
  static constexpr auto fields() {
    const auto all = NormParameters::fields();
    return std::tuple(std::get<0>(all), std::get<1>(all), std::get<2>(all));
  }
};

Outputs normalize(FunctionContext& c, const NormalizeParameters& p) {
  NormParameters parameters = p;
  parameters.keepdims = true;
  const Outputs lengths = norm(c, parameters);
  if (!c.status().ok()) return {};
  Formula length = c(lengths.tensors[0]);
  return {c(p.tensor) / c.cast(length, p.tensor.dtype()), length};
}

struct L2NormalizeParameters {
  Tensor x;
  Axes axis;
  Number epsilon = {.number = 1e-12};
  Axes dim;
  static constexpr auto fields() {
    using P = L2NormalizeParameters;
    return std::tuple(required_field("x", &P::x, "T", "The elements, of any shape."),
                      field("axis", &P::axis, "The axes; None means all."),
                      field("epsilon", &P::epsilon, "The squared norm is at least this."),
                      name_field(), field("dim", &P::dim, "An old name of axis."));
  }
};

Outputs l2_normalize(FunctionContext& c, const L2NormalizeParameters& p) {
  if (!p.axis.is_none() && !p.dim.is_none()) {
    return c.fail(value_error("Cannot specify both 'dim' and 'axis'."));
  }
  const Axes& axis = p.axis.is_none() ? p.dim : p.axis;
  Formula x = c(p.x);
  if (is_integer(x.dtype())) {
    return c.fail(
        type_error("Cannot convert epsilon to EagerTensor of dtype ", dtype_name(x.dtype())));
  }
  const DType dtype = real_part_type(x.dtype());
  const auto inverse = [&](const Formula& squares) {
    Formula sum = reduce(c, kSum, squares, axis, true);
    return call(kRsqrt, call(kMaximum, sum, c(c.tensor_of(p.epsilon, dtype))));
  };
  if (!is_complex(x.dtype())) {
    return c(kMul, {x, inverse(call(kSquare, x))}, {}, c.name());
  }
  Formula real = call(kReal, x, {.Tout = dtype}), imag = call(kImag, x, {.Tout = dtype});
  Formula factor = inverse(call(kSquare, real) + call(kSquare, imag));
  return c(kComplex, {real * factor, imag * factor}, {.Tout = x.dtype()}, c.name());
}

void define_normalize_and_l2_normalize(FunctionRegistry& functions) {
  functions.define({
      .names = "linalg.normalize",
      .scope = "normalize",
      .types = {{"T", kFloatTypes | kComplexTypes}},
      .results = tuple({"normalized", "norm"}),
      .summary = "Divides vectors or matrices by their norms.",
      .returns = "The tensor divided by its norms; and these, of rank(tensor) with size 1 along "
                 "the axes.",
      .raises = {{"ValueError", "There is no such norm, or the axes are not one or two."},
                 kNoSuchAxis},
      .body = normalize,
  });
  functions.define({
      .names = "math.l2_normalize, linalg.l2_normalize, nn.l2_normalize",
      .scope = "l2_normalize",
      .types = {{"T", kFloatTypes | kComplexTypes}},
      .summary = "Divides a tensor by its Euclidean norm along axes.",
      .returns = "A tensor of x's shape.",
      .raises = {kNoSuchAxis,
                 {"TypeError", "x holds integers."},
                 {"ValueError", "Both axis and dim are given."}},
      .body = l2_normalize,
  });
}

}  // namespace

void define_norms(FunctionRegistry& functions) {
  define_clip_by_value(functions);
  define_clip_by_norm(functions);
  define_global_norm(functions);
  define_clip_by_global_norm_and_norm(functions);
  define_normalize_and_l2_normalize(functions);
}

}  // namespace graven::engine
