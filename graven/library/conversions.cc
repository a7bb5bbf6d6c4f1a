#include "graven/library/conversions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "graven/ir/structural_ops.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/ops/math_ops.h"

namespace graven::engine {
namespace {

struct CastParameters {
  Tensor x;
  DType dtype = DType::kInvalid;
  static constexpr auto fields() {
    using P = CastParameters;
    return std::tuple(
        required_field("x", &P::x, "any", "Any dtype but string, any shape."),
        required_field("dtype", &P::dtype, "The dtype wanted; floats are cut off to integers."));
  }
};

Outputs cast_to(FunctionContext& c, const CastParameters& p) {
  if (p.x.dtype() == p.dtype) return p.x;
  if (p.x.dtype() == DType::kString || p.dtype == DType::kString) {
    return c.fail(unimplemented("Cast ", dtype_name(p.x.dtype()), " to ", dtype_name(p.dtype),
                                " is not supported"));
  }
  return c(kCast, {p.x}, {.DstT = p.dtype}, c.name());
}

// The least and the largest finite number of a real dtype; long double holds all of them.
std::pair<long double, long double> limits_of(DType dtype) {
  if (dtype == DType::kHalf) return {-65504, 65504};
  if (dtype == DType::kBFloat16) return {-0x1.fep127L, 0x1.fep127L};
  return visit_plain(dtype, [](auto zero) -> std::pair<long double, long double> {
    using Limits = std::numeric_limits<decltype(zero)>;
    if constexpr (std::is_arithmetic_v<decltype(zero)>) return {Limits::lowest(), Limits::max()};
    return {};
  });
}

// The number of bits of an integer that a floating dtype holds.
int precision_of(DType dtype) {
  switch (dtype) {
    case DType::kBFloat16:
      return 8;
    case DType::kHalf:
      return 11;
    case DType::kFloat32:
      return 24;
    default:
      return 53;
  }
}

// The number of a real dtype that is nearest to a limit of another dtype and not beyond it.
Tensor limit(FunctionContext& c, long double number, DType dtype) {
  if (is_floating(dtype)) {
    int exponent = 0;
    const int precision = precision_of(dtype);
    const long double digits = std::frexp(number, &exponent);
    number = std::ldexp(std::trunc(std::ldexp(digits, precision)), exponent - precision);
  }
  return c.constant(visit_plain(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_arithmetic_v<T>) return Tensor::scalar(static_cast<T>(number));
    return Tensor::scalar(T(static_cast<float>(number)));
  }));
}

// The elements of a real tensor, clipped to the range of another dtype.
Tensor clipped(FunctionContext& c, const Tensor& x, DType dtype) {
  if (!x || (!is_floating(x.dtype()) && x.dtype() == dtype)) return x;
  const auto [lowest, largest] = limits_of(x.dtype());
  const auto [low, high] = limits_of(dtype);
  const Tensor raised = c(kMaximum, {x, limit(c, std::max(low, lowest), x.dtype())});
  return c(kMinimum, {raised, limit(c, std::min(high, largest), x.dtype())});
}

}  // namespace

long double largest_of(DType dtype) { return limits_of(dtype).second; }

Tensor saturated(FunctionContext& c, const Tensor& x, DType dtype) {
  return c.cast(clipped(c, x, real_part_type(dtype)), dtype);
}

namespace {

struct SaturateCastParameters {
  Tensor value;
  DType dtype = DType::kInvalid;
  static constexpr auto fields() {
    using P = SaturateCastParameters;
    return std::tuple(required_field("value", &P::value, "any", "Any number, of any shape."),
                      required_field("dtype", &P::dtype, "The dtype wanted, a number's."));
  }
};

Outputs saturate_cast(FunctionContext& c, const SaturateCastParameters& p) {
  for (DType each : {p.value.dtype(), p.dtype}) {
    if (kNumberTypes.contains(each)) continue;
    return c.fail(type_error("Cannot find minimum value of tf.", dtype_name(each), "."));
  }
  Tensor x = p.value;
  const DType own = real_part_type(x.dtype()), part = real_part_type(p.dtype);
  if (is_complex(x.dtype()) && !is_complex(p.dtype)) x = c(kReal, {x}, {.Tout = own});
  if (!x || !is_complex(x.dtype())) return saturated(c, x, p.dtype);
  if (limits_of(own).second > limits_of(part).second) {
    const Tensor real = clipped(c, c(kReal, {x}, {.Tout = own}), part);
    const Tensor imag = clipped(c, c(kImag, {x}, {.Tout = own}), part);
    x = c(kComplex, {real, imag}, {.Tout = x.dtype()});
  }
  return c.cast(x, p.dtype);
}

struct IdentityParameters {
  Tensor input;
  static constexpr auto fields() {
    return std::tuple(
        required_field("input", &IdentityParameters::input, "T", "Any dtype and shape."));
  }
};

struct IdentityNParameters {
  TensorList input;
  static constexpr auto fields() {
    return std::tuple(required_field("input", &IdentityNParameters::input, "any",
                                     "Tensors of any dtypes and shapes."));
  }
};

Outputs identity_n(FunctionContext& c, const IdentityNParameters& p) {
  IdentityNAttrs attrs;
  for (const Tensor& tensor : p.input.tensors) attrs.T.push_back(tensor.dtype());
  return c.apply(*kIdentityN, p.input.tensors, attrs, c.name());
}

}  // namespace

void define_conversions(FunctionRegistry& functions) {
  functions.define({
      .names = "cast, dtypes.cast",
      .scope = "Cast",
      .summary = "Converts the elements of a tensor to another dtype.",
      .returns = "x itself if it has the dtype, else the converted elements.",
      .raises = {{"UnimplementedError", "Strings cannot be cast."}},
      .source = "OpDef \"Cast\"",
      .body = cast_to,
  });
  functions.define({
      .names = "saturate_cast, dtypes.saturate_cast",
      .scope = "saturate_cast",
      .summary = "Converts to another dtype; what it cannot hold becomes its largest or smallest "
                 "value.",
      .details =
          "The largest and smallest are those that the dtype of the value holds too, so that a "
          "float32 of 1e10 becomes the int32 2147483520. Infinities become finite. Of "
          "complex numbers real dtypes take the real part.",
      .returns = "The converted elements.",
      .raises = {{"TypeError", "One of the dtypes has no limits: bool or string."}},
      .body = saturate_cast,
  });
  functions.define({
      .names = "identity",
      .scope = "Identity",
      .summary = "Gives a tensor of the same value, which is another node in a graph.",
      .returns = "The tensor.",
      .source = "OpDef \"Identity\"",
      .body = [](FunctionContext& c,
                 const IdentityParameters& p) { return c(kIdentity, {p.input}, {}, c.name()); },
  });
  functions.define({
      .names = "stop_gradient",
      .scope = "StopGradient",
      .summary = "Gives a tensor of the same value, through which no gradient flows back.",
      .returns = "The tensor.",
      .source = "OpDef \"StopGradient\"",
      .body = [](FunctionContext& c,
                 const IdentityParameters& p) { return c(kStopGradient, {p.input}, {}, c.name()); },
  });
  functions.define({
      .names = "identity_n",
      .scope = "IdentityN",
      .results = tensor_list(),
      .summary = "Gives tensors of the same values, by one node in a graph.",
      .returns = "The tensors.",
      .source = "OpDef \"IdentityN\"",
      .body = identity_n,
  });
}

}  // namespace graven::engine
