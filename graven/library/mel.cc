#include <string>

#include "graven/base/strings.h"
#include "graven/ir/structural_ops.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/padding_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/slice_ops.h"

namespace graven::engine {
namespace {

struct MelParameters {
  int64_t num_mel_bins = 20, num_spectrogram_bins = 129;
  Number sample_rate = {.number = 8000};
  double lower_edge_hertz = 125, upper_edge_hertz = 3800;
  DType dtype = DType::kFloat32;
  static constexpr auto fields() {
    using P = MelParameters;
    return std::tuple(
        field("num_mel_bins", &P::num_mel_bins, "How many bands there are."),
        field("num_spectrogram_bins", &P::num_spectrogram_bins,
              "How many frequencies from 0 to half the sample rate, at even distances."),
        field("sample_rate", &P::sample_rate, "Samples in a second, a number or a scalar."),
        field("lower_edge_hertz", &P::lower_edge_hertz, "Where the first band begins."),
        field("upper_edge_hertz", &P::upper_edge_hertz, "Where the last band ends."),
        field("dtype", &P::dtype, "A floating dtype."));
  }
};

Status check(const MelParameters& p) {
  if (p.num_mel_bins <= 0) {
    return value_error("num_mel_bins must be positive. Got: ", p.num_mel_bins);
  }
  if (!(p.lower_edge_hertz >= 0)) {
    return value_error("lower_edge_hertz must be non-negative. Got: ",
                       shortest(p.lower_edge_hertz));
  }
  if (!(p.lower_edge_hertz < p.upper_edge_hertz)) {
    return value_error("lower_edge_hertz ", shortest(p.lower_edge_hertz), " >= upper_edge_hertz ",
                       shortest(p.upper_edge_hertz));
  }
  if (p.sample_rate.number && !(*p.sample_rate.number > 0)) {
    return value_error("sample_rate must be positive. Got: ", shortest(*p.sample_rate.number));
  }
  if (p.sample_rate.number && !(p.upper_edge_hertz <= *p.sample_rate.number / 2)) {
    return value_error("upper_edge_hertz must not be larger than the Nyquist frequency ",
                       "(sample_rate / 2). Got ", shortest(p.upper_edge_hertz),
                       " for sample_rate: ", shortest(*p.sample_rate.number));
  }
  if (!is_floating(p.dtype)) {
    return value_error("dtype must be a floating point type. Got: ", dtype_name(p.dtype));
  }
  return {};
}

// The mel scale: 1127 log(1 + f / 700).
Formula mel_of(const Formula& hertz) {
  return 1127.0 * call(kLog, hertz / constant_like(hertz, 700) + 1.0);
}

// `count` numbers: first, first + step, ...
Formula steps(FunctionContext& c, const Formula& first, const Formula& step, int64_t begin,
              int64_t end) {
  const Tensor places = c(kRange, {c.scalar(begin), c.scalar(end), c.scalar(1)});
  return step * c.cast(places, first.dtype()) + first;
}

Outputs weights(FunctionContext& c, const MelParameters& p) {
  if (Status status = check(p); !status.ok()) return c.fail(std::move(status));
  const int64_t bins = p.num_spectrogram_bins, bands = p.num_mel_bins;
  const Formula rate = c.cast(c.tensor_of(p.sample_rate, p.dtype), p.dtype);
  const Formula zero = c(c.scalar(0.0, p.dtype));
  // The frequency 0 has a logarithm of its own, and no weight.
  const Formula distance = rate / constant_like(rate, 2.0 * static_cast<double>(bins - 1));
  const Tensor mels = mel_of(steps(c, zero, distance, 1, bins));
  const Formula places = c(c(kReshape, {mels, c.vector({{-1, 1}})}));
  const Formula low = mel_of(c(c.scalar(p.lower_edge_hertz, p.dtype)));
  const Formula high = mel_of(c(c.scalar(p.upper_edge_hertz, p.dtype)));
  const Formula width = (high - low) / constant_like(low, static_cast<double>(bands + 1));
  const Formula edges = steps(c, low, width, 0, bands + 2);
  const auto edge = [&](int64_t i) {
    return c(c(kSlice, {edges, c.vector({{i}}), c.vector({{bands}})}));
  };
  const Formula lower = edge(0), center = edge(1), upper = edge(2);
  const Formula rising = (places - lower) / (center - lower);
  const Formula falling = (upper - places) / (upper - center);
  const Tensor inner = c(kMaximum, {zero, call(kMinimum, rising, falling)});
  const Tensor paddings = c(kReshape, {c.vector({{1, 0, 0, 0}}), c.vector({{2, 2}})});
  return c(kPad, {inner, paddings}, {}, c.name());
}

}  // namespace

void define_mel(FunctionRegistry& functions) {
  functions.define({
      .names = "signal.linear_to_mel_weight_matrix",
      .scope = "linear_to_mel_weight_matrix",
      .summary = "Weights that take spectrograms to the mel scale, 1127 log(1 + f / 700): "
                 "tf.matmul(spectrograms, weights).",
      .details = "Each band is a triangle on the mel scale, from the middle of the band before to "
                 "that of the next one, and 1 in its own middle.",
      .returns = "The weights, shape [num_spectrogram_bins, num_mel_bins].",
      .raises = {{"ValueError", "A number is out of range, or the dtype not floating."}},
      .body = weights,
  });
}

}  // namespace graven::engine
