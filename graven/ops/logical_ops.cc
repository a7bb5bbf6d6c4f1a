#include "graven/ops/logical_ops.h"

#include <complex>
#include <numeric>
#include <string>
#include <vector>

#include "graven/ir/batch_context.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/shape_rules.h"
#include "graven/runtime/run_op.h"

namespace graven::engine {
namespace {

// --- PopulationCount.

// Processors with SSE4.2, the least that the engine runs on, have an instruction for it.
template <typename U>
[[gnu::target("popcnt")]] void count_bits(const U* x, int64_t n, uint8_t* counts) {
  for (int64_t i = 0; i < n; ++i) counts[i] = static_cast<uint8_t>(__builtin_popcountll(x[i]));
}

// --- Comparisons.

void define_less_and_kin(OpRegistry& ops) {
  kLess = ops.define<NoAttrs>({
      .name = "Less",
      .python = "math.less, less",
      .summary = "Is x < y? False if one is NaN.",
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: bool"},
      .types = {{"T", kRealTypes}},
      .infer = broadcast_inputs,
      .gradient = not_differentiable,
      .body = elementwise([](auto x, auto y) { return x < y; }),
  });
  kLessEqual = ops.define<NoAttrs>({
      .name = "LessEqual",
      .python = "math.less_equal, less_equal",
      .summary = "Is x <= y? False if one is NaN.",
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: bool"},
      .types = {{"T", kRealTypes}},
      .infer = broadcast_inputs,
      .gradient = not_differentiable,
      .body = elementwise([](auto x, auto y) { return x <= y; }),
  });
  kGreater = ops.define<NoAttrs>({
      .name = "Greater",
      .python = "math.greater, greater",
      .summary = "Is x > y? False if one is NaN.",
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: bool"},
      .types = {{"T", kRealTypes}},
      .infer = broadcast_inputs,
      .gradient = not_differentiable,
      .body = elementwise([](auto x, auto y) { return x > y; }),
  });
  kGreaterEqual = ops.define<NoAttrs>({
      .name = "GreaterEqual",
      .python = "math.greater_equal, greater_equal",
      .summary = "Is x >= y? False if one is NaN.",
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: bool"},
      .types = {{"T", kRealTypes}},
      .infer = broadcast_inputs,
      .gradient = not_differentiable,
      .body = elementwise([](auto x, auto y) { return x >= y; }),
  });
}

// --- Equal and NotEqual.

// Shapes that do not broadcast are an error, or unequal as a whole: then the output is a scalar.
Status equality_shape(InferContext& c) {
  const Shape &x = c.shape(0), &y = c.shape(1);
  auto shape = c.broadcast(x, y);
  if (c.attrs<EqualAttrs>().incompatible_shape_error) {
    RETURN_IF_ERROR(shape.status());
    c.set_shape(0, *shape);
    return {};
  }
  if (!shape.ok()) {
    c.set_shape(0, Shape());
    return {};
  }
  // Sizes that are not known may turn out not to broadcast.
  bool is_certain = x.has_rank() && y.has_rank();
  for (int i = 1; is_certain && i <= std::min(x.rank(), y.rank()); ++i) {
    Dim a = x[x.rank() - i], b = y[y.rank() - i];
    is_certain = a == Dim(1) || b == Dim(1) || (a == b && !a.is_unknown());
  }
  c.set_shape(0, is_certain ? *shape : Shape::unknown_rank());
  return {};
}

bool may_have_any_shapes(AttrsRef attrs) {
  return !attrs.as<EqualAttrs>().incompatible_shape_error;
}

// Strings, and shapes that may not broadcast.
Status equality_kernel(KernelContext& c) {
  const bool equal = &c.op() == kEqual.op;
  const Tensor &x = c.input(0), &y = c.input(1);
  const TypeBindings no_types = {};
  InferContext eager(c.op(), EqualAttrs(), c.inputs(), no_types, 1, nullptr);
  auto shape = eager.broadcast(x.shape(), y.shape());
  if (!shape.ok()) {
    c.set_output(0, Tensor::scalar(!equal));
    return {};
  }
  if (x.dtype() != DType::kString) {
    Tensor inputs[] = {x, y};
    Tensors outputs;
    RETURN_IF_ERROR(run_op(c.op(), EqualAttrs(), inputs, /*reusable=*/0, nullptr, outputs,
                           c.queue().device().name()));
    c.set_output(0, std::move(outputs[0]));
    return {};
  }
  RETURN_IF_ERROR(c.allocate_output(0, DType::kBool, *shape));
  auto a = x.data<std::string>(), b = y.data<std::string>();
  auto z = c.out<bool>(0);
  for_each_broadcast<2>(*shape, {&x.shape(), &y.shape()},
                        [&](int64_t i, const auto& at) { z[i] = (a[at[0]] == b[at[1]]) == equal; });
  return {};
}

void define_equal_and_kin(OpRegistry& ops) {
  kEqual = ops.define<EqualAttrs>({
      .name = "Equal",
      .summary = "Is x equal to y?",
      .details = "Tensors whose shapes do not broadcast are an error, or unequal as a whole if "
                 "incompatible_shape_error is false.",
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: bool"},
      .types = {{"T", kPlainTypes | DTypeSet{DType::kString}, kAllTypes}},
      .infer = equality_shape,
      .gradient = not_differentiable,
      .body = elementwise([](auto x, auto y) { return x == y; })
                  .with_kernel_for({DType::kString}, equality_kernel)
                  .with_kernel_when(may_have_any_shapes, equality_kernel),
      .commutative = true,
  });
  kNotEqual = ops.define<EqualAttrs>({
      .name = "NotEqual",
      .summary = "Is x unlike y?",
      .details = "Tensors whose shapes do not broadcast are an error, or unequal as a whole if "
                 "incompatible_shape_error is false.",
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: bool"},
      .types = {{"T", kPlainTypes | DTypeSet{DType::kString}, kAllTypes}},
      .infer = equality_shape,
      .gradient = not_differentiable,
      .body = elementwise([](auto x, auto y) { return x != y; })
                  .with_kernel_for({DType::kString}, equality_kernel)
                  .with_kernel_when(may_have_any_shapes, equality_kernel),
      .commutative = true,
  });
  kApproximateEqual = ops.define<ApproximateEqualAttrs>({
      .name = "ApproximateEqual",
      .python = "math.approximate_equal",
      .summary = "Is |x - y| < tolerance?",
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: bool"},
      .types = {{"T", kFloatTypes, kNumberTypes}},
      .infer = same_shapes,
      .gradient = not_differentiable,
      .body = elementwise<ApproximateEqualAttrs>(
          [](const ApproximateEqualAttrs& a, auto x, auto y) { return abs(x - y) < a.tolerance; }),
      .commutative = true,
  });
}

// --- Logic.

void define_logical_and_and_kin(OpRegistry& ops) {
  kLogicalAnd = ops.define<NoAttrs>({
      .name = "LogicalAnd",
      .python = "math.logical_and, logical_and",
      .summary = "Are both true?",
      .inputs = {"x: bool", "y: bool"},
      .outputs = {"z: bool"},
      .infer = broadcast_inputs,
      .gradient = not_differentiable,
      .body = elementwise([](auto x, auto y) { return x & y; }),
      .commutative = true,
  });
  kLogicalOr = ops.define<NoAttrs>({
      .name = "LogicalOr",
      .python = "math.logical_or, logical_or",
      .summary = "Is one of them true?",
      .inputs = {"x: bool", "y: bool"},
      .outputs = {"z: bool"},
      .infer = broadcast_inputs,
      .gradient = not_differentiable,
      .body = elementwise([](auto x, auto y) { return x | y; }),
      .commutative = true,
  });
  kLogicalNot = ops.define<NoAttrs>({
      .name = "LogicalNot",
      .python = "math.logical_not, logical_not",
      .summary = "Is x false?",
      .inputs = {"x: bool"},
      .outputs = {"y: bool"},
      .infer = same_as_input,
      .gradient = not_differentiable,
      .body = elementwise([](auto x) { return !x; }),
  });
}

// --- Bits.

void define_bitwise_and_and_kin(OpRegistry& ops) {
  kBitwiseAnd = ops.define<NoAttrs>({
      .name = "BitwiseAnd",
      .python = "bitwise.bitwise_and",
      .summary = "The bits that are set in both.",
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kIntTypes}},
      .infer = broadcast_inputs,
      .gradient = not_differentiable,
      .body = elementwise([](auto x, auto y) { return x & y; }),
      .commutative = true,
  });
  kBitwiseOr = ops.define<NoAttrs>({
      .name = "BitwiseOr",
      .python = "bitwise.bitwise_or",
      .summary = "The bits that are set in one of them or both.",
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kIntTypes}},
      .infer = broadcast_inputs,
      .gradient = not_differentiable,
      .body = elementwise([](auto x, auto y) { return x | y; }),
      .commutative = true,
  });
  kBitwiseXor = ops.define<NoAttrs>({
      .name = "BitwiseXor",
      .python = "bitwise.bitwise_xor",
      .summary = "The bits that are set in one of them only.",
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kIntTypes}},
      .infer = broadcast_inputs,
      .gradient = not_differentiable,
      .body = elementwise([](auto x, auto y) { return x ^ y; }),
      .commutative = true,
  });
}

// Clips the distance of a shift to [0, bits), as TensorFlow's kernels do.
Scalar shift_within(Scalar y) {
  const auto bits = static_cast<int64_t>(8 * dtype_size(y.dtype()));
  return max(zero_like(y), min(y, integer_like(y, bits - 1)));
}

void define_left_shift_and_kin(OpRegistry& ops) {
  kLeftShift = ops.define<NoAttrs>({
      .name = "LeftShift",
      .python = "bitwise.left_shift",
      .summary = "x shifted by y bits, at least none and at most all but one.",
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kIntTypes}},
      .infer = broadcast_inputs,
      .gradient = not_differentiable,
      .body = elementwise([](auto x, auto y) { return shift_left(x, shift_within(y)); }),
  });
  kRightShift = ops.define<NoAttrs>({
      .name = "RightShift",
      .python = "bitwise.right_shift",
      .summary = "x shifted by y bits, at least none and at most all but one; copies of the sign "
                 "come in.",
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kIntTypes}},
      .infer = broadcast_inputs,
      .gradient = not_differentiable,
      .body = elementwise([](auto x, auto y) { return shift_right(x, shift_within(y)); }),
  });
  kInvert = ops.define<NoAttrs>({
      .name = "Invert",
      .python = "bitwise.invert",
      .summary = "The bits that are not set in x.",
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kIntTypes}},
      .infer = same_as_input,
      .gradient = not_differentiable,
      .body = elementwise([](auto x) { return ~x; }),
  });
}

Status population_count_kernel(KernelContext& c) {
  visit_plain(c.input(0).dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      const T* x = c.in<T>(0).data();
      uint8_t* y = c.out<uint8_t>(0).data();
      for_ranges(c.input(0).num_elements(), 1 << 16, [&](int64_t begin, int64_t end) {
        count_bits(reinterpret_cast<const std::make_unsigned_t<T>*>(x) + begin, end - begin,
                   y + begin);
      });
    }
  });
  return {};
}

void define_population_count(OpRegistry& ops) {
  kPopulationCount = ops.define<NoAttrs>({
      .name = "PopulationCount",
      .summary = "How many bits of x are set.",
      .inputs = {"x: T"},
      .outputs = {"y: uint8"},
      .types = {{"T", kIntTypes}},
      .infer = same_as_input,
      .gradient = not_differentiable,
      .batch = batch_any_shape,
      .body = kernel(population_count_kernel),
  });
}

// --- SelectV2.

Status select_objects(KernelContext& c) {
  auto condition = c.in<bool>(0);
  visit_copied(c.output(0).dtype(), [&](auto zero) {
    using T = decltype(zero);
    auto t = static_cast<const T*>(c.input(1).raw_data());
    auto e = static_cast<const T*>(c.input(2).raw_data());
    auto output = static_cast<T*>(c.output(0).mutable_raw_data());
    for_each_broadcast<3>(
        c.output(0).shape(), {&c.input(0).shape(), &c.input(1).shape(), &c.input(2).shape()},
        [&](int64_t i, const auto& at) { output[i] = condition[at[0]] ? t[at[1]] : e[at[2]]; });
  });
  return {};
}

// dy where the output came from the input, else 0.
void choice_gradient(GradientContext& c, bool sums) {
  Tensor condition = c.x(0);
  Formula dy(c, c.dy());
  Tensor zero = sums ? constant_like(dy, 0).tensor() : c(kZerosLike, {dy});
  const OpHandle<NoAttrs>& op = sums ? kSelectV2 : kSelect;
  auto set = [&](int i, const Tensor& dx) { c.set_dx(i, sums ? reduce_to_shape(c, dx, i) : dx); };
  if (c.wants(1)) set(1, c(op, {condition, dy, zero}));
  if (c.wants(2)) set(2, c(op, {condition, zero, dy}));
}

void define_select_v2(OpRegistry& ops) {
  kSelectV2 = ops.define<NoAttrs>({
      .name = "SelectV2",
      .summary = "t where the condition holds, e elsewhere. All three broadcast.",
      .inputs = {"condition: bool", "t: T", "e: T"},
      .outputs = {"output: T"},
      .types = {{"T", kAllTypes}},
      .infer = broadcast_inputs,
      .gradient = [](GradientContext& c) { choice_gradient(c, true); },
      .body = elementwise([](auto condition, auto t, auto e) {
                return select(condition, t, e);
              }).with_kernel_for(kObjectTypes, select_objects),
  });
}

// --- Select.

Status select_shape(InferContext& c) {
  const Shape& condition = c.shape(0);
  auto both = merge_shapes(c.shape(1), c.shape(2));
  if (!both.ok()) {
    return invalid_argument("t and e must have the same shape, got ", c.shape(1).to_message(),
                            " and ", c.shape(2).to_message());
  }
  c.set_shape(0, *both);
  if (!condition.has_rank() || !both->has_rank() || condition.rank() == 0) return {};
  bool chooses_rows = condition.rank() == 1 && both->rank() >= 1;
  if (chooses_rows ? c.merge(condition[0], (*both)[0]).ok() : are_compatible(condition, *both)) {
    return {};
  }
  return invalid_argument(
      "condition must be a scalar, a vector of as many elements as t has rows, "
      "or have the shape of t, ",
      both->to_message(), ", got ", condition.to_message());
}

Status select_kernel(KernelContext& c) {
  auto condition = c.in<bool>(0);
  const Shape& shape = c.inferred_shape(0);
  if (c.input(0).rank() == 0 || c.input(0).shape() == shape) {  // element by element
    Tensor inputs[] = {c.input(0), c.input(1), c.input(2)};
    Tensors outputs;
    RETURN_IF_ERROR(run_op(*kSelectV2.op, NoAttrs(), inputs, /*reusable=*/0, /*state=*/nullptr,
                           outputs, c.queue().device().name()));
    c.set_output(0, std::move(outputs[0]));
    return {};
  }
  RETURN_IF_ERROR(c.allocate_output(0, c.input(1).dtype(), shape));
  const Tensor& output = c.output(0);
  if (output.num_elements() == 0) return {};
  int64_t width = output.num_elements() / c.input(0).num_elements();
  visit_copied(output.dtype(), [&](auto zero) {
    using T = decltype(zero);
    auto t = static_cast<const T*>(c.input(1).raw_data());
    auto e = static_cast<const T*>(c.input(2).raw_data());
    auto to = static_cast<T*>(output.mutable_raw_data());
    for_ranges(static_cast<int64_t>(condition.size()), (1 << 16) / width,
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) {
                   std::copy_n((condition[row] ? t : e) + row * width, width, to + row * width);
                 }
               });
  });
  return {};
}

// A condition of lower rank gets axes of size 1 at its end, and is then one that broadcasts.
void batch_select(BatchContext& c) {
  const auto rank = c.rank(1), rank_of_condition = c.rank(0);
  if (!rank || !rank_of_condition) return c.use_loop();
  Tensor condition = c.x(0);
  for (int d = *rank_of_condition; d < *rank; ++d) {
    condition = c(kExpandDims, {condition, c.constant(Tensor::scalar<int32_t>(-1))});
  }
  c.set_y(0, c(kSelectV2, {condition, c.repeated(1), c.repeated(2)}));
}

void define_select(OpRegistry& ops) {
  kSelect = ops.define<NoAttrs>({
      .name = "Select",
      .summary = "x where the condition holds, y elsewhere; a vector of conditions chooses rows.",
      .inputs = {"condition: bool", "t: T", "e: T"},
      .outputs = {"output: T"},
      .types = {{"T", kAllTypes}},
      .infer = select_shape,
      .gradient = [](GradientContext& c) { choice_gradient(c, false); },
      .batch = batch_select,
      .body = kernel(select_kernel),
      .allocates_outputs = true,
      .renamed = {{"t", "x"}, {"e", "y"}},
  });
}

// Writes the indices of the `count` elements from `begin` on that are not zero. kRank is 0 for any
// rank.
template <int kRank, typename T>
void write_places(const T* x, const Shape& shape, int64_t begin, int64_t count, int64_t* to) {
  const int rank = kRank > 0 ? kRank : shape.rank();
  InlineVector<int64_t, 6> index(static_cast<size_t>(rank), 0);
  int64_t rest = begin;
  for (int axis = rank - 1; axis >= 0; --axis) {
    index[axis] = rest % shape.size(axis);
    rest /= shape.size(axis);
  }
  const int64_t inner = shape.size(rank - 1);
  for (const T* element = x + begin; count > 0;) {
    // Local copies, which the stores in the loop cannot alias.
    const int64_t row = rank == 2 ? index[0] : 0;
    int64_t column = index[rank - 1];
    for (; column < inner && count > 0; ++column, ++element) {
      // Each place is written and stays only if it counts: no branch that is often guessed wrong.
      const auto counts = static_cast<int64_t>(!(*element == T{}));
      if constexpr (kRank == 2) {
        to[0] = row;
      } else {
        for (int axis = 0; axis + 1 < rank; ++axis) to[axis] = index[axis];
      }
      to[rank - 1] = column;
      to += counts * rank;
      count -= counts;
    }
    index[rank - 1] = column;
    for (int axis = rank - 1; axis >= 0 && index[axis] == shape.size(axis); --axis) {
      index[axis] = 0;
      if (axis > 0) ++index[axis - 1];
    }
  }
}

Status where_kernel(KernelContext& c) {
  constexpr int64_t kChunk = 1 << 15;
  const Tensor& x = c.input(0);
  const int rank = x.rank();
  return visit_plain(x.dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const T* elements = x.data<T>().data();
    const int64_t n = x.num_elements();
    std::vector<int64_t> counts((n + kChunk - 1) / kChunk);
    for_ranges(n, kChunk, [&](int64_t begin, int64_t end) {
      int64_t count = 0;
      for (int64_t i = begin; i < end; ++i) count += !(elements[i] == zero);
      counts[begin / kChunk] = count;
    });
    const int64_t total = std::accumulate(counts.begin(), counts.end(), int64_t{0});
    RETURN_IF_ERROR(c.allocate_output(0, DType::kInt64, Shape{Dim(total), Dim(rank)}));
    if (rank == 0) return {};
    std::vector<int64_t> firsts(counts.size());
    std::exclusive_scan(counts.begin(), counts.end(), firsts.begin(), int64_t{0});
    int64_t* to = c.out<int64_t>(0).data();
    for_ranges(n, kChunk, [&](int64_t begin, int64_t) {
      const int64_t chunk = begin / kChunk;
      auto* write = rank == 1   ? write_places<1, T>
                    : rank == 2 ? write_places<2, T>
                                : write_places<0, T>;
      write(elements, x.shape(), begin, counts[chunk], to + firsts[chunk] * rank);
    });
    return {};
  });
}

void define_where(OpRegistry& ops) {
  kWhere = ops.define<NoAttrs>({
      .name = "Where",
      .summary = "The places of the elements that are not zero (true), one row of indices each.",
      .inputs = {"input: T"},
      .outputs = {"index: int64"},
      .types = {{"T", kPlainTypes}},
      .infer = [](InferContext& c) -> Status {
        const Shape& x = c.shape(0);
        c.set_shape(0, {c.new_symbol("where"), x.has_rank() ? Dim(x.rank()) : Dim::unknown()});
        return {};
      },
      .gradient = not_differentiable,
      .body = kernel(where_kernel),
      .renamed = {{"input", "condition"}},
  });
}

}  // namespace

void define_logical_ops(OpRegistry& ops) {
  define_less_and_kin(ops);
  define_equal_and_kin(ops);
  define_logical_and_and_kin(ops);
  define_bitwise_and_and_kin(ops);
  define_left_shift_and_kin(ops);
  define_population_count(ops);
  define_select_v2(ops);
  define_select(ops);
  define_where(ops);
}

}  // namespace graven::engine
