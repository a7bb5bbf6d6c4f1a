#include <numbers>
#include <optional>
#include <string>

#include "graven/ir/structural_ops.h"
#include "graven/library/define_functions.h"
#include "graven/library/fourier.h"
#include "graven/library/function.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/sizes.h"
#include "graven/ops/slice_ops.h"

// Discrete cosine transforms of the last axis, by Fourier transforms.

namespace graven::engine {
namespace {

constexpr double kPi = std::numbers::pi;

struct CosineTransformParameters {
  Tensor input;
  int64_t type = 2;
  std::optional<int64_t> n;
  int64_t axis = -1;
  std::optional<std::string> norm;
  static constexpr auto fields() {
    using P = CosineTransformParameters;
    return std::tuple(
        required_field("input", &P::input, "T", "float32 or float64, of one axis at least."),
        field("type", &P::type, "1, 2, 3 or 4."),
        field("n", &P::n,
              "How many elements are transformed: others are cut off, missing ones are zero. None: "
              "all."),
        field("axis", &P::axis, "The last axis, -1."),
        field("norm", &P::norm, "\"ortho\" makes types 2, 3 and 4 orthonormal; or None."));
  }
};

Status check(FunctionContext& c, const CosineTransformParameters& p) {
  if (p.axis != -1) {
    return Status(Code::kUnimplemented, str_cat("axis must be -1. Got: ", p.axis),
                  ErrorKind::kNotImplementedError);
  }
  if (p.n && *p.n < 1) return value_error("n should be a positive integer or None");
  if (p.type < 1 || p.type > 4) {
    return value_error("Types I, II, III and IV (I)DCT are supported.");
  }
  if (p.type == 1 && p.norm == "ortho") {
    return value_error("Normalization is not supported for the Type-I DCT.");
  }
  if (p.type == 1 && c.size_if_known(p.input, -1).value_or(2) < 2) {
    return value_error("Type-I DCT requires the dimension to be greater than one.");
  }
  if (p.norm && p.norm != "ortho") {
    return value_error("Unknown normalization. Expected None or 'ortho', got: ", *p.norm);
  }
  if (c.rank_if_known(p.input) == 0) return value_error("The input of a DCT must have an axis");
  return {};
}

// x[..., begin:end:step]; without an end, all up to the last.
Formula of_last_axis(FunctionContext& c, const Tensor& x, int64_t begin, std::optional<Size> end,
                     int64_t step) {
  const Size first[] = {0, begin}, last[] = {0, end.value_or(Size(0))}, steps[] = {1, step};
  return c(c(kStridedSlice, {x, vector_of(c, first), vector_of(c, last), vector_of(c, steps)},
             {.end_mask = end ? 0 : 2, .ellipsis_mask = 1}));
}

struct Transform {
  FunctionContext& c;
  DType dtype;
  Size n;  // the size of the axis

  Formula size() const { return c.cast(n.tensor(c), dtype); }
  // pi k / (2 n) for each place k.
  Formula angles() const {
    Formula k = c.cast(c(kRange, {c.scalar(0), n.tensor(c), c.scalar(1)}), dtype);
    return (kPi / 2) * k / size();
  }
  // Weights of the first place and of all others.
  Formula weights(const Formula& first, const Formula& others) const {
    const Tensor k = c(kRange, {c.scalar(0), n.tensor(c), c.scalar(1)});
    return c(c(kSelectV2, {c(kEqual, {k, c.scalar(0)}), first, others}));
  }
  Formula part(const OpHandle<RealPartAttrs>& op, const Tensor& complex) const {
    return c(c(op, {complex}, {dtype}));
  }

  Formula first_type(const Tensor& x) const {
    const Tensor back = of_last_axis(c, x, -2, Size(0), -1);
    const Tensor whole = c(kConcatV2, {x, back, c.scalar(-1)});
    const Size length = multiply(c, 2, subtract(c, n, 1));
    return part(kReal, half_spectrum(c, whole, length));
  }

  // 2 sum of x[j] cos(pi k (2 j + 1) / (2 n)).
  Formula second_type(const Tensor& x, bool is_orthonormal) const {
    const Tensor y = of_last_axis(c, half_spectrum(c, x, multiply(c, 2, n)), 0, n, 1);
    const Formula angle = angles();
    const Formula sum =
        2.0 * (part(kReal, y) * call(kCos, angle) + part(kImag, y) * call(kSin, angle));
    if (!is_orthonormal) return sum;
    const Formula root = 0.5 * call(kRsqrt, size());
    return sum * weights(root, std::numbers::sqrt2 * root);
  }

  Formula third_type(const Formula& x, bool is_orthonormal) const {
    const Formula root = call(kSqrt, size());
    const Formula scaled =
        2.0 * (is_orthonormal ? x * weights(root, std::numbers::sqrt2 / 2 * root) : x * size());
    const Formula angle = angles();
    const DType complex = dtype == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
    const Tensor spectrum =
        c(kComplex, {scaled * call(kCos, angle), scaled * call(kSin, angle)}, {complex});
    return of_last_axis(c, of_half_spectrum(c, spectrum, multiply(c, 2, n)), 0, n, 1);
  }

  // Every other element of the second type of twice the length.
  Formula fourth_type(const Tensor& x, bool is_orthonormal) const {
    const Transform twice{c, dtype, multiply(c, 2, n)};
    const Formula y = of_last_axis(c, twice.second_type(x, false), 1, {}, 2);
    return is_orthonormal ? (std::numbers::sqrt2 / 2) * y * call(kRsqrt, size()) : y;
  }
};

Outputs transformed(FunctionContext& c, const CosineTransformParameters& p, int64_t type) {
  if (Status status = check(c, p); !status.ok()) return c.fail(std::move(status));
  Tensor x = p.input;
  const auto known = c.size_if_known(x, -1);
  Size n = known ? Size(*known) : Size(element_of(c, c(kShape, {x}), -1));
  if (p.n) {
    x = of_last_axis(c, with_zeros(c, x, *p.n), 0, Size(*p.n), 1);
    n = *p.n;
  }
  const Transform transform{c, x ? x.dtype() : DType::kInvalid, n};
  const bool is_orthonormal = p.norm.has_value();
  switch (type) {
    case 1:
      return transform.first_type(x);
    case 2:
      return transform.second_type(x, is_orthonormal);
    case 3:
      return transform.third_type(c(x), is_orthonormal);
    default:
      return transform.fourth_type(x, is_orthonormal);
  }
}

struct MfccParameters {
  Tensor log_mel_spectrograms;
  static constexpr auto fields() {
    return std::tuple(required_field("log_mel_spectrograms", &MfccParameters::log_mel_spectrograms,
                                     "T", "float32 or float64, shape [..., mel bins]."));
  }
};

Outputs mfccs(FunctionContext& c, const MfccParameters& p) {
  const Tensor& x = p.log_mel_spectrograms;
  const auto known = c.size_if_known(x, -1);
  if (known == 0) return c.fail(value_error("num_mel_bins must be positive. Got: 0"));
  if (c.rank_if_known(x) == 0) return c.fail(value_error("The spectrograms must have an axis"));
  const Size n = known ? Size(*known) : Size(element_of(c, c(kShape, {x}), -1));
  const Transform transform{c, x ? x.dtype() : DType::kInvalid, n};
  return transform.second_type(x, false) * call(kRsqrt, 2.0 * transform.size());
}

}  // namespace

void define_cosine_transforms(FunctionRegistry& functions) {
  const std::vector<Raised> raises = {
      {"ValueError", "There is no such type, n or norm, or type 1 meets a single element."},
      {"NotImplementedError", "The axis is not -1."}};
  functions.define({
      .names = "signal.dct",
      .scope = "dct",
      .types = {{"T", kWideFloats}},
      .summary = "The discrete cosine transform of the last axis.",
      .details = "Type 2, the usual one: y[k] = 2 sum of x[j] cos(pi k (2 j + 1) / (2 n)).",
      .returns = "The transform, of the dtype and the shape of the input, with n at the end.",
      .raises = raises,
      .body = [](FunctionContext& c,
                 const CosineTransformParameters& p) { return transformed(c, p, p.type); },
  });
  functions.define({
      .names = "signal.idct",
      .scope = "idct",
      .types = {{"T", kWideFloats}},
      .summary = "Undoes dct of the same type: the whole of it with norm \"ortho\", else but for "
                 "a factor of 2 n, or of 2 (n - 1) for type 1.",
      .returns = "The elements, of the dtype and the shape of the input, with n at the end.",
      .raises = raises,
      .body =
          [](FunctionContext& c, const CosineTransformParameters& p) {
            const int64_t inverse = p.type == 2 ? 3 : p.type == 3 ? 2 : p.type;
            return transformed(c, p, inverse);
          },
  });
  functions.define({
      .names = "signal.mfccs_from_log_mel_spectrograms",
      .scope = "mfccs_from_log_mel_spectrograms",
      .types = {{"T", kWideFloats}},
      .summary = "Mel-frequency cepstral coefficients of logarithmic mel spectrograms: their "
                 "cosine transforms of type 2, times 1 / sqrt(2 bins).",
      .returns = "The coefficients, of the shape of the spectrograms.",
      .raises = {{"ValueError", "There are no bins."}},
      .body = mfccs,
  });
}

}  // namespace graven::engine
