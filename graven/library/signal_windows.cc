#include <numbers>

#include "graven/ir/structural_ops.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/scalars.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/sizes.h"

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
}

}  // namespace graven::engine
