#include <algorithm>
#include <cmath>
#include <limits>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/register_ops.h"

namespace graven::engine {
namespace {

Status scan_shape(InferContext& c) {
  const Shape &x = c.shape(0), &axis = c.shape(1);
  if (axis.has_rank() && axis.rank() != 0) {
    return invalid_argument("ScanOp: axis must be a scalar, not ", axis.to_message());
  }
  if (Tensor value = c.value(1); value && x.has_rank()) {
    const int64_t given = integer_at(value, 0);
    if (given < -x.rank() || given >= x.rank()) {
      return invalid_argument("ScanOp: Expected scan axis in the range [", -x.rank(), ", ",
                              x.rank(), "), but got ", given);
    }
  }
  return same_as_input(c);
}

struct Sum {
  template <typename A>
  static A identity() {
    return A(0);
  }
  template <typename A>
  static A combine(A a, A x) {
    return a + x;
  }
};

// log(exp(a) + exp(x)).
struct LogSumExp {
  template <typename A>
  static A identity() {
    return -std::numeric_limits<A>::infinity();
  }
  template <typename A>
  static A combine(A a, A x) {
    if (a == identity<A>()) return x;
    if (x == identity<A>()) return a;
    const A distance = a == x ? A(0) : std::abs(a - x);  // NaN of NaN, which max may pass over
    return std::max(a, x) + std::log1p(std::exp(-distance));
  }
};

// Of one matrix [n, inner], the columns [first, first + count).
template <typename F, typename T>
void scan_columns(const T* x, T* y, int64_t n, int64_t inner, int64_t first, int64_t count,
                  const ScanAttrs& attrs) {
  using A = Accumulator<T>;
  constexpr int64_t kColumns = 128;
  A sums[kColumns];
  for (int64_t begin = first; begin < first + count; begin += kColumns) {
    const int64_t width = std::min(kColumns, first + count - begin);
    std::fill_n(sums, width, F::template identity<A>());
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = (attrs.reverse ? n - 1 - i : i) * inner + begin;
      for (int64_t k = 0; k < width; ++k) {
        const A next = F::template combine<A>(sums[k], static_cast<A>(x[at + k]));
        y[at + k] = static_cast<T>(attrs.exclusive ? sums[k] : next);
        sums[k] = next;
      }
    }
  }
}

// Rows [first, first + count) of n elements, some at a time: each waits for its last result.
template <typename F, typename T>
void scan_rows(const T* x, T* y, int64_t n, int64_t first, int64_t count, const ScanAttrs& attrs) {
  using A = Accumulator<T>;
  constexpr int64_t kRows = 8;
  for (int64_t begin = first; begin < first + count; begin += kRows) {
    const int64_t rows = std::min(kRows, first + count - begin);
    A sums[kRows];
    std::fill_n(sums, kRows, F::template identity<A>());
    for (int64_t i = 0; i < n; ++i) {
      int64_t at = begin * n + (attrs.reverse ? n - 1 - i : i);
      for (int64_t k = 0; k < rows; ++k, at += n) {
        const A next = F::template combine<A>(sums[k], static_cast<A>(x[at]));
        y[at] = static_cast<T>(attrs.exclusive ? sums[k] : next);
        sums[k] = next;
      }
    }
  }
}

template <typename F>
Status scan_kernel(KernelContext& c) {
  constexpr int64_t kElementsOfChunk = 1 << 15;
  const auto& attrs = c.attrs<ScanAttrs>();
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(int axis, normalized_axis(integer_at(c.input(1), 0), x.rank()));
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < axis; ++i) outer *= x.shape().size(i);
  for (int i = axis + 1; i < x.rank(); ++i) inner *= x.shape().size(i);
  const int64_t n = x.shape().size(axis);
  if (x.num_elements() == 0) return {};
  visit_plain(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    constexpr DTypeSet types = std::is_same_v<F, LogSumExp> ? kFloatTypes : kNumberTypes;
    if constexpr (types.contains(kDTypeOf<T>)) {
      const T* from = x.data<T>().data();
      T* to = c.out<T>(0).data();
      for_ranges(outer * inner, kElementsOfChunk / n, [&](int64_t begin, int64_t end) {
        if (inner == 1) return scan_rows<F>(from, to, n, begin, end - begin, attrs);
        while (begin < end) {
          const int64_t matrix = begin / inner, first = begin % inner;
          const int64_t count = std::min(end - begin, inner - first);
          scan_columns<F>(from + matrix * n * inner, to + matrix * n * inner, n, inner, first,
                          count, attrs);
          begin += count;
        }
      });
    }
  });
  return {};
}

Formula scan(const OpHandle<ScanAttrs>& op, const Formula& x, const Tensor& axis,
             const ScanAttrs& attrs) {
  return {x.emit(), x.emit()(op, {x, axis}, attrs)};
}

ScanAttrs reversed(const ScanAttrs& attrs) {
  return {.exclusive = attrs.exclusive, .reverse = !attrs.reverse};
}

constexpr const char* kDetails =
    "exclusive: each result leaves out the element at its own place. reverse: from the last "
    "element to the first.";

void define_cumsum(OpRegistry& ops) {
  ops.define(kCumsum, {
                          .name = "Cumsum",
                          .summary = "The sums of the elements up to each place along an axis.",
                          .details = kDetails,
                          .inputs = {"x: T", "axis: Tidx"},
                          .outputs = {"out: T"},
                          .types = {{"T", kNumberTypes}, {"Tidx", kIndexTypes}},
                          .infer = scan_shape,
                          .gradient =
                              [](GradientContext& c) {
                                c.set_dx(0, scan(kCumsum, Formula(c, c.dy()), c.x(1),
                                                 reversed(c.attrs<ScanAttrs>())));
                              },
                          .batch = batch_along_axis<0, 1>,
                          .body = kernel(scan_kernel<Sum>),
                          .values_for_inference = {1},
                      });
}

struct Product {
  template <typename A>
  static A identity() {
    return A(1);
  }
  template <typename A>
  static A combine(A a, A x) {
    return a * x;
  }
};

// The sum of y dy over the elements that x went into, divided by x. Where x is 0 the derivative is
// 0 here, as in TensorFlow.
void cumprod_gradient(GradientContext& c) {
  Formula x(c, c.x(0)), y(c, c.y(0));
  Formula sums =
      scan(kCumsum, conj(y) * Formula(c, c.dy()), c.x(1), reversed(c.attrs<ScanAttrs>()));
  c.set_dx(0, call(kDivNoNan, sums, conj(x)));
}

void define_cumprod(OpRegistry& ops) {
  ops.define(kCumprod,
             {
                 .name = "Cumprod",
                 .summary = "The products of the elements up to each place along an axis.",
                 .details = kDetails,
                 .inputs = {"x: T", "axis: Tidx"},
                 .outputs = {"out: T"},
                 .types = {{"T", kNumberTypes}, {"Tidx", kIndexTypes}},
                 .infer = scan_shape,
                 .gradient = cumprod_gradient,
                 .batch = batch_along_axis<0, 1>,
                 .body = kernel(scan_kernel<Product>),
                 .values_for_inference = {1},
             });
}

// The sum of dy exp(x - y) over the elements y that x went into, by logarithms, which need the
// positive and the negative dy apart.
void cumulative_logsumexp_gradient(GradientContext& c) {
  Formula x(c, c.x(0)), y(c, c.y(0)), dy(c, c.dy());
  if (!dy.tensor()) return;
  const double least = dy.dtype() == DType::kFloat64 ? std::numeric_limits<double>::lowest()
                       : dy.dtype() == DType::kHalf  ? -65504.0
                                                     : std::numeric_limits<float>::lowest();
  Formula zero = constant_like(dy, 0);
  auto part = [&](const Formula& weight) {
    Formula is_there = call(kGreater, weight, zero);
    Formula log_weight(c, c(kSelectV2, {is_there, call(kLog, weight), constant_like(dy, least)}));
    return call(
        kExp,
        scan(kCumulativeLogsumexp, log_weight - y, c.x(1), reversed(c.attrs<ScanAttrs>())) + x);
  };
  c.set_dx(0, part(dy) - part(-dy));
}

void define_cumulative_logsumexp(OpRegistry& ops) {
  ops.define(kCumulativeLogsumexp,
             {
                 .name = "CumulativeLogsumexp",
                 .summary = "The logarithms of the sums of the exponentials up to each place along "
                            "an axis.",
                 .details = kDetails,
                 .inputs = {"x: T", "axis: Tidx"},
                 .outputs = {"out: T"},
                 .types = {{"T", kFloatTypes}, {"Tidx", kIndexTypes}},
                 .infer = scan_shape,
                 .gradient = cumulative_logsumexp_gradient,
                 .batch = batch_along_axis<0, 1>,
                 .body = kernel(scan_kernel<LogSumExp>),
                 .values_for_inference = {1},
             });
}

}  // namespace

void define_scan_ops(OpRegistry& ops) {
  define_cumsum(ops);
  define_cumprod(ops);
  define_cumulative_logsumexp(ops);
}

}  // namespace graven::engine
