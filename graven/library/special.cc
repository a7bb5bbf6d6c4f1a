#include <numbers>

#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/reductions.h"
#include "graven/ops/math_ops.h"

namespace graven::engine {
namespace {

struct ElementsParameters {
  Tensor x;
  static constexpr auto fields() {
    return std::tuple(required_field("x", &ElementsParameters::x, "T", "float32 or float64."));
  }
};

Outputs lbeta(FunctionContext& c, const ElementsParameters& p) {
  const Axes last = {{.numbers = {{-1}}}};
  const Formula sum_of_logs = reduce(c, kSum, call(kLgamma, c(p.x)), last);
  return sum_of_logs - call(kLgamma, reduce(c, kSum, p.x, last));
}

}  // namespace

void define_special(FunctionRegistry& functions) {
  functions.define({
      .names = "math.lbeta",
      .scope = "lbeta",
      .types = {{"T", kWideFloats}},
      .summary = "The logarithm of the beta function: the sum of lgamma(x) over the last axis, "
                 "less the lgamma of the sum.",
      .returns = "The shape of x without the last axis; -inf where it is empty.",
      .raises = {{"InvalidArgumentError", "x has no axis."}},
      .body = lbeta,
  });
  functions.define({
      .names = "math.erfcinv",
      .scope = "erfcinv",
      .types = {{"T", kWideFloats}},
      .summary = "The x with erfc(x) = y, for y in [0, 2].",
      .returns = "A tensor of the shape of x.",
      .raises = {{"TypeError", "The elements are no floats."}},
      .body = [](FunctionContext& c, const ElementsParameters& p) -> Outputs {
        if (p.x && !is_floating(p.x.dtype())) {
          return c.fail(type_error("erfcinv takes no ", dtype_name(p.x.dtype())));
        }
        return -((std::numbers::sqrt2 / 2) * call(kNdtri, 0.5 * c(p.x)));
      },
  });
}

}  // namespace graven::engine
