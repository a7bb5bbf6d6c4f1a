#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "graven/ir/structural_ops.h"
#include "graven/library/axes.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/sort_ops.h"

namespace graven::engine {
namespace {

struct ArgParameters {
  Tensor input, axis;
  DType output_type = DType::kInt64;
};
template <bool is_max>
struct ArgParametersOf : ArgParameters {
  static constexpr auto fields() {
    using P = ArgParametersOf;
    return std::tuple(required_field("input", &P::input, "T", "At least one axis."),
                      field("axis", &P::axis, "any",
                            "The axis, an integer; negative counts from the end. None means 0."),
                      field("output_type", &P::output_type,
                            is_max ? "int16, uint16, int32 or int64." : "int32 or int64."));
  }
};

Outputs arg(FunctionContext& c, const OpHandle<ArgMaxAttrs>& op, const ArgParameters& p) {
  Tensor axis = p.axis ? p.axis : c.scalar(0, DType::kInt32, "dimension");
  if (!is_integer(axis.dtype())) {
    return c.fail(type_error("axis must be int or Tensor with integer datatype"));
  }
  if (dtype_size(axis.dtype()) < 4) axis = c.cast(axis, DType::kInt32);
  return c(op, {p.input, axis}, {.output_type = p.output_type}, c.name());
}

template <bool is_max>
void define_arg(FunctionRegistry& functions, const OpHandle<ArgMaxAttrs>& op, std::string_view name,
                std::string_view word) {
  functions.define({
      .names = str_cat("math.", name, ", ", name),
      .scope = op.op->name(),
      .types = {{"T", kRealTypes | kBoolType}},
      .summary =
          str_cat("The index of the ", word, " element along an axis; of equal ones the first."),
      .details = str_cat("NaN counts as the ", word,
                         ", as in NumPy, so that it is seen; TensorFlow passes over it."),
      .returns = "The indices; the shape of the input without the axis.",
      .raises = {{"InvalidArgumentError", "An axis is outside [-rank, rank)."},
                 {"TypeError", "The axis is no integer."}},
      .source = str_cat("OpDef \"", op.op->name(), "\""),
      .body = [&op](FunctionContext& c, const ArgParametersOf<is_max>& p) { return arg(c, op, p); },
  });
}

struct TopKParameters {
  Tensor input, k;
  bool sorted = true;
  DType index_type = DType::kInt32;
  static constexpr auto fields() {
    using P = TopKParameters;
    return std::tuple(
        required_field("input", &P::input, "T", "Shape [..., n]."),
        field("k", &P::k, "int32", 1, "How many, a scalar integer in [0, n]."),
        field("sorted", &P::sorted, "The largest first, which they are here in any case."),
        field("index_type", &P::index_type, "int16, int32 or int64."));
  }
};

struct SortParameters {
  Tensor values;
  int64_t axis = -1;
  std::string direction = "ASCENDING";
  static constexpr auto fields() {
    using P = SortParameters;
    return std::tuple(required_field("values", &P::values, "T", "At least one axis."),
                      field("axis", &P::axis, "The axis; negative counts from the end."),
                      field("direction", &P::direction, "\"ASCENDING\" or \"DESCENDING\"."));
  }
};

struct ArgSortParameters : SortParameters {
  static constexpr auto fields() {
    return std::tuple_cat(
        SortParameters::fields(),
        std::tuple(ignored_field("stable", "Equal elements keep their order in any case.")));
  }
};

// The same numbers in reverse order, without overflow: -1 - x for integers.
Tensor flipped(FunctionContext& c, const Tensor& x) {
  return c(x && is_floating(x.dtype()) ? kNeg : kInvert, {x});
}

// The values sorted, or the indices that sort them.
Tensor sorted(FunctionContext& c, const SortParameters& p, bool wants_indices) {
  const bool is_ascending = p.direction == "ASCENDING";
  if (!is_ascending && p.direction != "DESCENDING") {
    return c.fail(value_error(
        "Argument `direction` should be one of ASCENDING, DESCENDING. Received: direction=",
        p.direction));
  }
  if (const auto rank = c.rank_if_known(p.values); rank && (p.axis < -*rank || p.axis >= *rank)) {
    const std::string text = str_cat("slice index ", p.axis, " of dimension 0 out of bounds: axis ",
                                     "must be in [", -*rank, ", ", *rank, ")");
    return c.fail(c.is_graph() ? value_error(text) : invalid_argument(text));
  }
  Tensor x = p.values, order;
  if (!is_last(c, x, p.axis)) {
    order = swapped_with_last(c, x, p.axis);
    x = c(kTranspose, {x, order});
  }
  const auto columns = c.size_if_known(x, -1);
  const DType dtype = std::in_range<int32_t>(columns.value_or(0)) ? DType::kInt32 : DType::kInt64;
  const Tensor k = columns ? c.scalar(*columns, dtype) : element_of(c, c(kShape, {x}), -1);
  const Tensors found = c.apply(kTopKV2, {is_ascending ? flipped(c, x) : x, k});
  if (found.size() < 2) return {};
  Tensor result = found[wants_indices ? 1 : 0];
  if (is_ascending && !wants_indices) result = flipped(c, result);
  return order ? c(kTranspose, {result, order}) : result;
}

}  // namespace

void define_sorting(FunctionRegistry& functions) {
  constexpr Raised kNoSuchAxis = {"InvalidArgumentError",
                                  "values has no such axis; a ValueError in a graph."};
  constexpr Raised kNoDirection = {"ValueError", "The direction is another word."};
  define_arg<true>(functions, kArgMax, "argmax", "largest");
  define_arg<false>(functions, kArgMin, "argmin", "smallest");
  functions.define({
      .names = "math.top_k, nn.top_k",
      .scope = "TopKV2",
      .types = {{"T", kRealTypes}},
      .results = named_tuple("TopKV2", {"values", "indices"}),
      .summary = "Finds the k largest elements of each row, the last axis, and their places.",
      .details = "Of equal elements the first comes first. NaN counts as more than all numbers; "
                 "TensorFlow leaves its place to chance.",
      .returns = "values in input's dtype and indices in index_type, both of shape [..., k].",
      .raises = {{"InvalidArgumentError", "input is a scalar, or k is not in [0, n]."}},
      .source = "OpDef \"TopKV2\"",
      .body =
          [](FunctionContext& c, const TopKParameters& p) {
            const Tensor k = p.k ? p.k : c.scalar(1, DType::kInt32, "k");
            return Outputs(c.apply(kTopKV2, {p.input, k}, {p.sorted, p.index_type}, c.name()));
          },
  });
  functions.define({
      .names = "sort",
      .scope = "sort",
      .types = {{"T", kRealTypes}},
      .summary = "Sorts a tensor along an axis.",
      .details = "NaN comes first in both directions; TensorFlow leaves its place to chance.",
      .returns = "The sorted tensor, in values' dtype and shape.",
      .raises = {kNoDirection, kNoSuchAxis},
      .body = [](FunctionContext& c, const SortParameters& p) -> Outputs {
        return sorted(c, p, false);
      },
  });
  functions.define({
      .names = "argsort",
      .scope = "argsort",
      .types = {{"T", kRealTypes}},
      .summary = "The indices that sort a tensor along an axis.",
      .details = "NaN comes first in both directions; TensorFlow leaves its place to chance.",
      .returns = "int32, the shape of values.",
      .raises = {kNoDirection, kNoSuchAxis},
      .body = [](FunctionContext& c, const ArgSortParameters& p) -> Outputs {
        return sorted(c, p, true);
      },
  });
}

}  // namespace graven::engine
