#include <algorithm>
#include <iterator>
#include <optional>

#include "graven/ir/structural_ops.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/shape_ops.h"

namespace graven::engine {
namespace {

constexpr std::string_view kLayoutDoc = "Tensors are not spread over devices.";

struct FilledParameters {
  Sizes shape;
  DType dtype = DType::kFloat32;
  static constexpr auto fields() {
    using P = FilledParameters;
    return std::tuple(
        required_field("shape", &P::shape, "The sizes; a number is the size of a vector."),
        field("dtype", &P::dtype, "The dtype of the elements."), name_field(),
        refused_field("layout", kLayoutDoc));
  }
};

constexpr Raised kNegativeSize = {"InvalidArgumentError", "A size is negative."};

struct LikeParameters {
  Tensor input;
  DType dtype = DType::kInvalid;
  static constexpr auto fields() {
    using P = LikeParameters;
    return std::tuple(required_field("input", &P::input, "any", "Whose shape is taken."),
                      field("dtype", &P::dtype, "Of the result; None means that of the input."),
                      name_field(), refused_field("layout", kLayoutDoc));
  }
};

// Zeros or ones, of the shape of a tensor.
Outputs filled_like(FunctionContext& c, const LikeParameters& p, double value,
                    const OpHandle<NoAttrs>& op) {
  const DType dtype = p.dtype == DType::kInvalid ? p.input.dtype() : p.dtype;
  const auto sizes = c.sizes_if_known(p.input);
  if (c.is_graph() && sizes) return c.filled({.numbers = *sizes}, value, dtype, c.name());
  if (dtype == p.input.dtype()) return c(op, {p.input}, {}, c.name());
  return c.filled({.tensor = c(kShape, {p.input})}, value, dtype, c.name());
}

void define_zeros_and_kin(FunctionRegistry& functions) {
  functions.define({
      .names = "zeros",
      .scope = "zeros",
      .summary = "Makes a tensor of zeros; of strings they are empty.",
      .returns = "The zeros.",
      .raises = {kNegativeSize},
      .body = [](FunctionContext& c,
                 const FilledParameters& p) { return c.filled(p.shape, 0, p.dtype, c.name()); },
  });
  functions.define({
      .names = "ones",
      .scope = "ones",
      .summary = "Makes a tensor of ones.",
      .returns = "The ones.",
      .raises = {kNegativeSize, {"TypeError", "The dtype is string."}},
      .body = [](FunctionContext& c,
                 const FilledParameters& p) { return c.filled(p.shape, 1, p.dtype, c.name()); },
  });
  functions.define({
      .names = "zeros_like",
      .scope = "zeros_like",
      .summary = "Makes zeros of the shape of a tensor.",
      .returns = "The zeros.",
      .source = "OpDef \"ZerosLike\"",
      .body = [](FunctionContext& c,
                 const LikeParameters& p) { return filled_like(c, p, 0, kZerosLike); },
  });
  functions.define({
      .names = "ones_like",
      .scope = "ones_like",
      .summary = "Makes ones of the shape of a tensor.",
      .returns = "The ones.",
      .source = "OpDef \"OnesLike\"",
      .body = [](FunctionContext& c,
                 const LikeParameters& p) { return filled_like(c, p, 1, kOnesLike); },
  });
}

struct FillParameters {
  Sizes dims;
  Tensor value;
  static constexpr auto fields() {
    using P = FillParameters;
    return std::tuple(required_field("dims", &P::dims, "The sizes."),
                      required_field("value", &P::value, "T", "A scalar of any dtype."),
                      name_field(), refused_field("layout", kLayoutDoc));
  }
};

struct EyeParameters {
  Tensor num_rows, num_columns;
  Sizes batch_shape;
  DType dtype = DType::kFloat32;
  static constexpr auto fields() {
    using P = EyeParameters;
    return std::tuple(
        required_field("num_rows", &P::num_rows, "any", "The number of rows, an integer."),
        field("num_columns", &P::num_columns, "any", "That of columns; None means as many."),
        field("batch_shape", &P::batch_shape, "The sizes of axes in front."),
        field("dtype", &P::dtype, "Any number, or bool."));
  }
};

// The numbers 0, 1, ... below a limit.
Tensor numbers_below(FunctionContext& c, const Tensor& limit) {
  if (!limit) return limit;
  return c(kRange, {c.scalar(0, limit.dtype()), limit, c.scalar(1, limit.dtype())});
}

Outputs eye(FunctionContext& c, const EyeParameters& p) {
  for (const Tensor* size : {&p.num_rows, &p.num_columns}) {
    if (!*size || is_integer(size->dtype())) continue;
    return c.fail(type_error("Arguments `num_rows` and `num_columns` must be integers, not ",
                             dtype_name(size->dtype())));
  }
  const Tensor rows = numbers_below(c, p.num_rows);
  const Tensor columns = p.num_columns ? numbers_below(c, p.num_columns) : rows;
  const Tensor same = c(kEqual, {c(kExpandDims, {c.cast(rows, DType::kInt64), c.scalar(1)}),
                                 c(kExpandDims, {c.cast(columns, DType::kInt64), c.scalar(0)})});
  const Tensor matrix = c.cast(same, p.dtype);
  if (p.batch_shape.is_none() || (p.batch_shape.numbers && p.batch_shape.numbers->empty())) {
    return matrix;
  }
  const Tensor batch = c.tensor_of(p.batch_shape, "batch_shape");
  if (!batch) return batch;  // after an error
  const Tensor sizes = c(kShape, {matrix}, {.out_type = batch.dtype()});
  return c(kBroadcastTo, {matrix, c(kConcatV2, {batch, sizes, c.scalar(0)})});
}

void define_fill_and_eye(FunctionRegistry& functions) {
  functions.define({
      .names = "fill",
      .scope = "Fill",
      .summary = "Makes a tensor of one value.",
      .returns = "A tensor of the value's dtype.",
      .raises = {{"InvalidArgumentError", "The value is no scalar, or a size is negative."}},
      .source = "OpDef \"Fill\"",
      .body =
          [](FunctionContext& c, const FillParameters& p) {
            Tensor dims = c.tensor_of(p.dims, "dims");
            // Eagerly a scalar is the size of a vector.
            if (!c.is_graph() && c.rank_if_known(dims) == 0) {
              dims = c(kExpandDims, {dims, c.scalar(0)});
            }
            return c(kFill, {dims, p.value}, {}, c.name());
          },
  });
  functions.define({
      .names = "eye, linalg.eye",
      .scope = "eye",
      .summary = "Makes a matrix, or a batch of them, with ones on the diagonal.",
      .returns = "The matrices, shape batch_shape + [num_rows, num_columns].",
      .body = eye,
  });
}

struct OneHotParameters {
  Tensor indices, depth, on_value, off_value;
  std::optional<int64_t> axis;
  DType dtype = DType::kInvalid;
  static constexpr auto fields() {
    using P = OneHotParameters;
    return std::tuple(
        required_field("indices", &P::indices, "TI",
                       "Of any shape; one outside of the depth is off everywhere."),
        required_field("depth", &P::depth, "int32", "The length of the vectors, a scalar."),
        field("on_value", &P::on_value, "like dtype", "What stands at the index; None means 1."),
        field("off_value", &P::off_value, "like dtype", "What stands elsewhere; None means 0."),
        field("axis", &P::axis, "Where the new axis is; None means last."),
        field("dtype", &P::dtype, "None means that of the values, float32 without any."));
  }
};

Outputs one_hot(FunctionContext& c, const OneHotParameters& p) {
  const Tensor& given = p.on_value ? p.on_value : p.off_value;
  const DType dtype = p.dtype != DType::kInvalid ? p.dtype
                      : given                    ? given.dtype()
                                                 : DType::kFloat32;
  for (const Tensor* value : {&p.on_value, &p.off_value}) {
    if (!*value || value->dtype() == dtype) continue;
    return c.fail(type_error("dtype ", dtype_name(value->dtype()), " of ",
                             value == &p.on_value ? "on_value" : "off_value",
                             " does not match dtype ", dtype_name(dtype), " of one_hot"));
  }
  const Tensor on = p.on_value ? p.on_value : c.scalar(1, dtype, "on_value");
  const Tensor off = p.off_value ? p.off_value : c.scalar(0, dtype, "off_value");
  return c(kOneHot, {p.indices, p.depth, on, off}, {p.axis.value_or(-1)}, c.name());
}

void define_one_hot(FunctionRegistry& functions) {
  functions.define({
      .names = "one_hot",
      .scope = "one_hot",
      .types = {{"TI", {DType::kUInt8, DType::kInt8, DType::kInt32, DType::kInt64}}},
      .summary = "Makes vectors that are off everywhere but at an index.",
      .returns = "A tensor with one axis more than indices.",
      .raises = {{"TypeError", "The values have not the dtype asked for."}},
      .source = "OpDef \"OneHot\"",
      .body = one_hot,
  });
}

struct RangeParameters {
  Tensor start, limit, delta;
  DType dtype = DType::kInvalid;
  static constexpr auto fields() {
    using P = RangeParameters;
    return std::tuple(
        required_field("start", &P::start, "each dtype",
                       "The first number; the limit if it is the only one given."),
        field("limit", &P::limit, "each dtype", "Where to stop; it is not reached."),
        field("delta", &P::delta, "each dtype", 1, "The step, not 0."),
        field("dtype", &P::dtype,
              "None means the last of int32, int64, float16, bfloat16, float32 and float64 that an "
              "argument has."));
  }
};

Outputs range(FunctionContext& c, const RangeParameters& p) {
  constexpr DType kOrder[] = {DType::kInt32,    DType::kInt64,   DType::kHalf,
                              DType::kBFloat16, DType::kFloat32, DType::kFloat64};
  size_t widest = 0;
  for (const Tensor* part : {&p.start, &p.limit, &p.delta}) {
    if (!*part || p.dtype != DType::kInvalid) continue;
    const auto at = std::ranges::find(kOrder, part->dtype());
    if (at == std::end(kOrder)) {
      return c.fail(value_error("tf.range takes no ", dtype_name(part->dtype())));
    }
    widest = std::max(widest, static_cast<size_t>(at - std::begin(kOrder)));
  }
  const DType dtype = p.dtype == DType::kInvalid ? kOrder[widest] : p.dtype;
  const Tensor start = p.limit ? c.cast(p.start, dtype) : c(c.scalar(0, dtype, "start"));
  const Tensor delta = p.delta ? c.cast(p.delta, dtype) : c(c.scalar(1, dtype, "delta"));
  return c(kRange, {start, c.cast(p.limit ? p.limit : p.start, dtype), delta}, {}, c.name());
}

void define_range(FunctionRegistry& functions) {
  functions.define({
      .names = "range",
      .scope = "range",
      .summary = "Makes the numbers from a start to before a limit.",
      .returns = "The numbers, a vector.",
      .raises = {{"InvalidArgumentError", "The step is 0, or leads away from the limit."},
                 {"ValueError", "An argument has another dtype than those named."}},
      .source = "OpDef \"Range\"",
      .body = range,
  });
}

}  // namespace

void define_creation(FunctionRegistry& functions) {
  define_zeros_and_kin(functions);
  define_fill_and_eye(functions);
  define_one_hot(functions);
  define_range(functions);
}

}  // namespace graven::engine
