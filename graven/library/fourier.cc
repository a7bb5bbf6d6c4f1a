#include "graven/library/fourier.h"

#include <optional>
#include <string>
#include <utility>

#include "graven/ir/structural_ops.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/ops/fft_ops.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/padding_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/sizes.h"

// Fourier transforms of real numbers, cut or padded to the wanted lengths.

namespace graven::engine {
namespace {

constexpr std::string_view kLengthDoc =
    "How many elements of each of these axes are transformed: others are cut off, missing ones "
    "are zero. None: all that there are.";

struct ForwardParameters {
  Tensor input_tensor;
  Sizes fft_length;
  static constexpr auto fields() {
    using P = ForwardParameters;
    return std::tuple(
        required_field("input_tensor", &P::input_tensor, "Treal", "float32 or float64."),
        field("fft_length", &P::fft_length, kLengthDoc));
  }
};

struct InverseParameters {
  Tensor input_tensor;
  Sizes fft_length;
  static constexpr auto fields() {
    using P = InverseParameters;
    return std::tuple(required_field("input_tensor", &P::input_tensor, "Tcomplex",
                                     "The first half of spectra, complex64 or complex128."),
                      field("fft_length", &P::fft_length,
                            "How many elements the axes of the result have. None: as many as those "
                            "of the input, the last one twice its size less 2."));
  }
};

// The sizes of the last axes of x.
SizeList last_sizes(FunctionContext& c, const Tensor& x, int axes) {
  SizeList sizes;
  Tensor shape;
  for (int axis = -axes; axis < 0; ++axis) {
    const auto known = c.size_if_known(x, axis);
    if (!known && !shape) shape = c(kShape, {x});
    sizes.push_back(known ? Size(*known) : Size(element_of(c, shape, axis)));
  }
  return sizes;
}

// The elements of fft_length. None if their number is wrong, which is the op's error.
std::optional<SizeList> given_sizes(FunctionContext& c, const Sizes& fft_length, int axes) {
  SizeList sizes;
  if (fft_length.numbers) {
    if (fft_length.is_scalar || fft_length.numbers->size() != static_cast<size_t>(axes)) return {};
    for (int64_t number : *fft_length.numbers) sizes.emplace_back(number);
    return sizes;
  }
  const Tensor lengths = fft_length.tensor;
  if (c.rank_if_known(lengths).value_or(1) != 1) return {};
  if (c.size_if_known(lengths, 0).value_or(axes) != axes) return {};
  for (int i = 0; i < axes; ++i) sizes.emplace_back(element_of(c, lengths, i));
  return sizes;
}

// x with zeros behind the last axes, where they are shorter than the sizes.
Tensor padded(FunctionContext& c, const Tensor& x, const SizeList& needed) {
  const SizeList sizes = last_sizes(c, x, static_cast<int>(needed.size()));
  SizeList missing;
  bool is_needed = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    missing.push_back(maximum(c, subtract(c, needed[i], sizes[i]), 0));
    is_needed = is_needed || !missing.back().is_number() || missing.back().number() > 0;
  }
  if (!is_needed) return x;
  Tensor after;
  if (const auto rank = c.rank_if_known(x)) {
    SizeList all(static_cast<size_t>(*rank) - sizes.size(), Size(0));
    all.insert(all.end(), missing.begin(), missing.end());
    after = vector_of(c, all);
  } else {
    const Formula rest = c(c(kRank, {x})) - static_cast<double>(sizes.size());
    const Tensor shape = c(kReshape, {rest, c.vector({{1}})});
    after = joined(c, c(kFill, {shape, c.scalar(0)}), vector_of(c, missing));
  }
  return c(kPad, {x, c(kPack, {c(kZerosLike, {after}), after}, {.axis = 1})});
}

// Errors for an input of another dtype, or of fewer axes.
bool check_input(FunctionContext& c, const Tensor& x, DTypeSet types, std::string_view needed,
                 int axes) {
  if (x && !types.contains(x.dtype())) {
    c.fail(value_error(needed, " inputs, got: ", dtype_name(x.dtype())));
  } else if (c.rank_if_known(x).value_or(axes) < axes) {
    c.fail(value_error("Shape ", x.shape().to_text(), " must have rank at least ", axes));
  }
  return c.status().ok();
}

template <int axes>
Outputs forward(FunctionContext& c, const ForwardParameters& p, const OpHandle<RealFftAttrs>& op) {
  Tensor x = p.input_tensor;
  if (!check_input(c, x, kWideFloats, "RFFT requires tf.float32 or tf.float64", axes)) {
    return Tensor();
  }
  const DType complex = x && x.dtype() == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
  Tensor lengths;
  if (p.fft_length.is_none()) {
    lengths = vector_of(c, last_sizes(c, x, axes));
  } else {
    lengths = as_int32(c, c.tensor_of(p.fft_length, "fft_length"));
    const auto sizes = given_sizes(c, p.fft_length, axes);
    if (sizes) x = padded(c, x, *sizes);
  }
  return c(op, {x, lengths}, {complex}, c.name());
}

template <int axes>
Outputs inverse(FunctionContext& c, const InverseParameters& p,
                const OpHandle<RealInverseFftAttrs>& op) {
  Tensor x = p.input_tensor;
  if (!check_input(c, x, kComplexTypes, "IRFFT requires complex", axes)) return Tensor();
  const DType real = x && x.dtype() == DType::kComplex128 ? DType::kFloat64 : DType::kFloat32;
  Tensor lengths;
  if (p.fft_length.is_none()) {
    SizeList sizes = last_sizes(c, x, axes);
    sizes.back() = maximum(c, 0, multiply(c, 2, subtract(c, sizes.back(), 1)));
    lengths = vector_of(c, sizes);
  } else {
    lengths = as_int32(c, c.tensor_of(p.fft_length, "fft_length"));
    auto sizes = given_sizes(c, p.fft_length, axes);
    if (sizes) {
      sizes->back() = add(c, quotient(c, sizes->back(), 2), 1);
      x = padded(c, x, *sizes);
    }
  }
  return c(op, {x, lengths}, {real}, c.name());
}

}  // namespace

Tensor with_zeros(FunctionContext& c, const Tensor& x, const Size& length) {
  return padded(c, x, {length});
}

Tensor half_spectrum(FunctionContext& c, const Tensor& x, const Size& length) {
  const Size lengths[] = {length};
  const Tensor whole = padded(c, x, {length});
  const DType complex = x && x.dtype() == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
  return c(kRFFT, {whole, vector_of(c, lengths)}, {complex});
}

Tensor of_half_spectrum(FunctionContext& c, const Tensor& spectrum, const Size& length) {
  const Size lengths[] = {length};
  const Tensor whole = padded(c, spectrum, {add(c, quotient(c, length, 2), 1)});
  const DType real =
      spectrum && spectrum.dtype() == DType::kComplex128 ? DType::kFloat64 : DType::kFloat32;
  return c(kIRFFT, {whole, vector_of(c, lengths)}, {real});
}

namespace {

template <int axes>
void define(FunctionRegistry& functions, const std::string& suffix, const std::string& over,
            const OpHandle<RealFftAttrs>& forward_op,
            const OpHandle<RealInverseFftAttrs>& inverse_op) {
  functions.define({
      .names = "signal.rfft" + suffix,
      .scope = "rfft" + suffix,
      .types = {{"Treal", kWideFloats}},
      .summary = "The discrete Fourier transform of real numbers over the last " + over,
      .returns = "The first half of the spectrum, fft_length // 2 + 1 complex numbers of the last "
                 "axis: the rest are the conjugates of these.",
      .raises = {{"ValueError",
                  "The input is neither float32 nor float64, or its rank is too low."},
                 {"InvalidArgumentError", "The lengths do not fit the axes."}},
      .source = "OpDef \"" + forward_op.op->name() + "\"",
      .body = [&forward_op](FunctionContext& c,
                            const ForwardParameters& p) { return forward<axes>(c, p, forward_op); },
  });
  functions.define({
      .names = "signal.irfft" + suffix,
      .scope = "irfft" + suffix,
      .types = {{"Tcomplex", kComplexTypes}},
      .summary = "The inverse discrete Fourier transform to real numbers over the last " + over,
      .returns = "The real numbers whose spectrum has this first half.",
      .raises = {{"ValueError", "The input is not complex, or its rank is too low."},
                 {"InvalidArgumentError", "The lengths do not fit the axes."}},
      .source = "OpDef \"" + inverse_op.op->name() + "\"",
      .body = [&inverse_op](FunctionContext& c,
                            const InverseParameters& p) { return inverse<axes>(c, p, inverse_op); },
  });
}

}  // namespace

void define_fourier(FunctionRegistry& functions) {
  define<1>(functions, "", "axis.", kRFFT, kIRFFT);
  define<2>(functions, "2d", "two axes.", kRFFT2D, kIRFFT2D);
  define<3>(functions, "3d", "three axes.", kRFFT3D, kIRFFT3D);
}

}  // namespace graven::engine
