#include <numbers>

#include "graven/ir/structural_ops.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/scalars.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/nn_ops.h"
#include "graven/ops/padding_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/sizes.h"
#include "graven/ops/special_ops.h"

// Windows: weights of the samples of a frame.

namespace graven::engine {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr std::string_view kLengthDoc = "How many weights, an integer scalar.";
constexpr std::string_view kWeightsDoc = "A floating dtype.";

// The length. None after an error, also if windows do not have the dtype.
std::optional<Size> checked_length(FunctionContext& c, const Tensor& length, DType dtype) {
  if (!is_floating(dtype)) {
    c.fail(value_error("dtype must be a floating point type. Found ", dtype_name(dtype)));
    return std::nullopt;
  }
  return one_size(c, length, "window_length");
}

bool is_one(const Size& length) { return length.is_number() && length.number() == 1; }

// 0, 1, 2, ... below the length.
Formula places(FunctionContext& c, const Size& length, DType dtype) {
  return c.cast(c(kRange, {c.scalar(0), length.tensor(c), c.scalar(1)}), dtype);
}

struct CosineParameters {
  Tensor window_length;
  bool periodic = true;
  DType dtype = DType::kFloat32;
  static constexpr auto fields() {
    using P = CosineParameters;
    return std::tuple(
        required_field("window_length", &P::window_length, "int32", kLengthDoc),
        field("periodic", &P::periodic,
              "A window of even length that goes on as a period, for spectra; False: a symmetric "
              "one, for filters."),
        field("dtype", &P::dtype, kWeightsDoc));
  }
};

// a - (1 - a) cos(2 pi k / n); a single weight is 1.
Outputs cosine_window(FunctionContext& c, const CosineParameters& p, double a) {
  const auto length = checked_length(c, p.window_length, p.dtype);
  if (!length) return Tensor();
  const int64_t one[] = {1};
  if (is_one(*length)) return c(kOnesLike, {c.cast(c.vector(one), p.dtype)}, {}, c.name());
  const Size rest = subtract(c, *length, multiply(c, 2, quotient(c, *length, 2)));
  const Size longer = p.periodic ? subtract(c, 1, rest) : Size(0);
  const Size last = subtract(c, add(c, *length, longer), 1);
  Formula k = places(c, *length, p.dtype), n = c.cast(last.tensor(c), p.dtype);
  const Formula window = a - (1 - a) * call(kCos, 2 * kPi * k / n);
  if (length->is_number()) return window;
  const Tensor is_single = c(kEqual, {length->tensor(c), c.scalar(1)});
  return c(kSelectV2, {is_single, call(kOnesLike, window), window}, {}, c.name());
}

struct VorbisParameters {
  Tensor window_length;
  DType dtype = DType::kFloat32;
  static constexpr auto fields() {
    using P = VorbisParameters;
    return std::tuple(required_field("window_length", &P::window_length, "int32", kLengthDoc),
                      field("dtype", &P::dtype, kWeightsDoc));
  }
};

Outputs vorbis_window(FunctionContext& c, const VorbisParameters& p) {
  const auto length = checked_length(c, p.window_length, p.dtype);
  if (!length) return Tensor();
  Formula n = c.cast(length->tensor(c), p.dtype), k = places(c, *length, p.dtype);
  Formula sine = call(kSin, constant_like(n, kPi) / n * (k + 0.5));
  return c(kSin, {(kPi / 2) * call(kSquare, sine)}, {}, c.name());
}

// --- Kaiser's windows, in float32 for narrower dtypes.

struct KaiserParameters {
  Tensor window_length;
  Number beta = {.number = 12};
  DType dtype = DType::kFloat32;
  static constexpr auto fields() {
    using P = KaiserParameters;
    return std::tuple(required_field("window_length", &P::window_length, "int32", kLengthDoc),
                      field("beta", &P::beta, "How much narrower than a rectangle it is."),
                      field("dtype", &P::dtype, kWeightsDoc));
  }
};

Formula kaiser_weights(FunctionContext& c, const Size& length, const KaiserParameters& p) {
  const DType dtype = dtype_size(p.dtype) < 4 ? DType::kFloat32 : p.dtype;
  const int64_t one[] = {1};
  if (is_one(length)) return call(kOnesLike, c.cast(c.vector(one), dtype));
  const Formula half = 0.5 * (c.cast(length.tensor(c), dtype) - 1);
  const Formula place = (places(c, length, dtype) - half) / half;
  const Formula beta = c.cast(c.tensor_of(p.beta, dtype, "beta"), dtype);
  const Formula bent = beta * call(kSqrt, call(kRelu, 1 - call(kSquare, place)));
  const Formula window =
      call(kExp, bent - beta) * (call(kBesselI0e, bent) / call(kBesselI0e, beta));
  if (length.is_number()) return window;
  const Tensor is_single = c(kEqual, {length.tensor(c), c.scalar(1)});
  return c(c(kSelectV2, {is_single, call(kOnesLike, window), window}));
}

Outputs kaiser_window(FunctionContext& c, const KaiserParameters& p) {
  const auto length = checked_length(c, p.window_length, p.dtype);
  if (!length) return Tensor();
  return c.cast(kaiser_weights(c, *length, p), p.dtype);
}

Outputs kaiser_bessel_derived_window(FunctionContext& c, const KaiserParameters& p) {
  const auto length = checked_length(c, p.window_length, p.dtype);
  if (!length) return Tensor();
  const int64_t first[] = {0}, last[] = {-1};
  const Formula weights = kaiser_weights(c, add(c, quotient(c, *length, 2), 1), p);
  const Tensor sums = c(kCumsum, {weights, c.scalar(0)});
  const Formula parts = c(elements_between(c, sums, c.vector(first), c.vector(last)));
  const Formula all = c(elements_between(c, sums, c.vector(last)));
  const Tensor half = call(kSqrt, parts / all);
  return c.cast(joined(c, half, c(kReverseV2, {half, c.vector(first)})), p.dtype);
}

}  // namespace

void define_signal_windows(FunctionRegistry& functions) {
  constexpr Raised kWrong = {"ValueError", "The dtype is not floating, or the length no scalar."};
  const std::string returns = "The weights, shape [window_length].";
  functions.define({
      .names = "signal.hann_window",
      .scope = "hann_window",
      .summary = "The Hann window, 0.5 - 0.5 cos(2 pi k / n).",
      .returns = returns,
      .raises = {kWrong},
      .body = [](FunctionContext& c,
                 const CosineParameters& p) { return cosine_window(c, p, 0.5); },
  });
  functions.define({
      .names = "signal.hamming_window",
      .scope = "hamming_window",
      .summary = "The Hamming window, 0.54 - 0.46 cos(2 pi k / n).",
      .returns = returns,
      .raises = {kWrong},
      .body = [](FunctionContext& c,
                 const CosineParameters& p) { return cosine_window(c, p, 0.54); },
  });
  functions.define({
      .names = "signal.vorbis_window",
      .scope = "vorbis_window",
      .summary = "The window of Vorbis, sin(pi / 2 sin(pi (k + 0.5) / n)^2), whose squares add up "
                 "to 1 with those half a window later.",
      .returns = returns,
      .raises = {kWrong},
      .body = vorbis_window,
  });
  functions.define({
      .names = "signal.kaiser_window",
      .scope = "kaiser_window",
      .summary = "Kaiser's window, i0(beta sqrt(1 - t^2)) / i0(beta) for t from -1 to 1.",
      .returns = returns,
      .raises = {kWrong},
      .body = kaiser_window,
  });
  functions.define({
      .names = "signal.kaiser_bessel_derived_window",
      .scope = "kaiser_bessel_derived_window",
      .summary = "The window whose squares are sums of Kaiser's, which add up to 1 with those half "
                 "a window later.",
      .returns = "The weights, shape [window_length]; one less of an odd length.",
      .raises = {kWrong},
      .body = kaiser_bessel_derived_window,
  });
}

}  // namespace graven::engine
