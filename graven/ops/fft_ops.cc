#include "graven/ops/fft_ops.h"

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/structural_ops.h"
#include "graven/kernels/fft.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/formulas.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/padding_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/sizes.h"

namespace graven::engine {
namespace {

// Each op transforms the last `axes` axes, one after the other.

Status check_rank(const InferContext& c, int axes) {
  const Shape& shape = c.shape(0);
  if (!shape.has_rank() || shape.rank() >= axes) return {};
  return invalid_argument("Input must have rank of at least ", axes,
                          " but got: ", shape.to_message());
}

// Transforms the lines of `to`'s shape along an axis, negative as it counts from the end.
Status transform_axis(FftKind kind, const Tensor& from, const Tensor& to, int axis,
                      int64_t length) {
  const Shape& shape = to.shape();
  const int at = axis + shape.rank();
  FftArguments p{.kind = kind,
                 .is_double = dtype_size(real_part_type(from.dtype())) == 8,
                 .from = from.raw_data(),
                 .to = to.mutable_raw_data(),
                 .length = length,
                 .from_size = from.shape().size(at)};
  for (int i = 0; i < at; ++i) p.outer *= shape.size(i);
  for (int i = at + 1; i < shape.rank(); ++i) p.inner *= shape.size(i);
  return fft(p);
}

// --- Complex to complex.

template <int axes, FftKind kind>
Status complex_kernel(KernelContext& c) {
  const Tensor &from = c.input(0), &to = c.output(0);
  for (int axis = -1; axis >= -axes; --axis) {
    RETURN_IF_ERROR(
        transform_axis(kind, axis == -1 ? from : to, to, axis, to.shape().size(axis + to.rank())));
  }
  return {};
}

// The product of the elements of a vector of sizes, as a scalar.
Formula product_as(GradientContext& c, const Tensor& sizes, DType dtype) {
  const Tensor zero = constant(c, Tensor::scalar(int32_t{0}));
  return {c, cast(c, c(kProd, {cast(c, sizes, real_part_type(dtype)), zero}), dtype)};
}

// How many elements y has along the last axes.
template <int axes>
Formula count_of_y(GradientContext& c, DType dtype) {
  const Shape& shape = c.static_shape_of_y(0);
  double product = 1;
  for (int axis = -axes; axis < 0 && shape.has_rank(); ++axis) {
    const Dim size = shape[axis + shape.rank()];
    product = size.is_number() ? product * static_cast<double>(size.number()) : -1;
    if (product < 0) break;
  }
  if (shape.has_rank() && product >= 0) return constant_like(Formula(c, c.dy()), product);
  const int32_t first[] = {-axes};
  return product_as(c, elements_between(c, c.shape_of_y(0), int32_vector(c, first)), dtype);
}

template <int axes, OpHandle<NoAttrs>& forward, OpHandle<NoAttrs>& inverse>
void define_complex(OpRegistry& ops, const std::string& suffix, const std::string& public_suffix,
                    const std::string& over) {
  const auto record = [&](std::string name, std::string python, std::string summary,
                          GradientFunction gradient, KernelFunction f) -> OpRecord {
    return {
        .name = name + suffix,
        .python = "signal." + python + public_suffix,
        .summary = summary + " over the last " + over,
        .details = "Any sizes will do; products of 2, 3 and 5 are fastest.",
        .inputs = {"input: Tcomplex"},
        .outputs = {"output: Tcomplex"},
        .types = {{"Tcomplex", kComplexTypes}},
        .infer = [](InferContext& c) -> Status {
          RETURN_IF_ERROR(check_rank(c, axes));
          return same_as_input(c);
        },
        .gradient = gradient,
        .batch = batch_leading_axes,
        .body = kernel(f),
    };
  };
  ops.define(forward, record(
                          "FFT", "fft", "The discrete Fourier transform",
                          [](GradientContext& c) {
                            Formula dy(c, c.dy());
                            c.set_dx(0, count_of_y<axes>(c, dy.dtype()) * call(inverse, dy));
                          },
                          complex_kernel<axes, FftKind::kForward>));
  ops.define(inverse, record(
                          "IFFT", "ifft", "The inverse discrete Fourier transform",
                          [](GradientContext& c) {
                            Formula dy(c, c.dy());
                            c.set_dx(0, call(forward, dy) / count_of_y<axes>(c, dy.dtype()));
                          },
                          complex_kernel<axes, FftKind::kInverse>));
}

// --- Real numbers, and the first half of their spectra.

// The size of the output's axis i, of this length: the spectrum of the last axis has half of it.
Dim size_of_spectrum(Dim length) {
  if (!length.is_number()) return Dim::unknown();
  return Dim(fft_sizes(FftKind::kReal, length.number()).to);
}

template <int axes, FftKind kind>
Status real_shape(InferContext& c) {
  RETURN_IF_ERROR(check_rank(c, axes));
  const DType real = kind == FftKind::kReal ? c.dtype(0) : c.type("Treal");
  const DType complex = kind == FftKind::kReal ? c.type("Tcomplex") : c.dtype(0);
  if (real_part_type(complex) != real) {
    return invalid_argument("Wrong types for ", kind == FftKind::kReal ? "forward" : "backward",
                            " real FFT: ", dtype_name(real), " and ", dtype_name(complex));
  }
  const Shape& lengths = c.shape(1);
  const bool is_wrong = lengths.has_rank() && (lengths.rank() != 1 ||
                                               (lengths[0].is_number() && lengths.size(0) != axes));
  if (is_wrong) return invalid_argument("fft_length must have shape [", axes, "]");
  if (const Tensor value = c.value(1)) {
    for (int i = 0; i < axes; ++i) {
      const int32_t length = value.data<int32_t>()[i];
      if (length >= 0) continue;
      return invalid_argument("fft_length[", i, "] must >= 0, but got: ", length);
    }
  }
  if (!c.shape(0).has_rank()) {
    c.set_shape(0, Shape::unknown_rank());
    return {};
  }
  Shape shape = c.shape(0);
  const auto sizes = c.sizes(1);
  for (int i = 0; i < axes; ++i) {
    const Dim length = sizes ? (*sizes)[i] : Dim::unknown();
    const bool is_spectrum = kind == FftKind::kReal && i == axes - 1;
    shape.set(shape.rank() - axes + i, is_spectrum ? size_of_spectrum(length) : length);
  }
  c.set_shape(0, shape);
  return {};
}

// An error if an axis has fewer elements than are transformed.
template <int axes, FftKind kind>
Status check_sizes(const Shape& shape, std::span<const int32_t> lengths) {
  for (int i = 0; i < axes; ++i) {
    const bool is_last = i == axes - 1;
    const int64_t needed = is_last ? fft_sizes(kind, lengths[i]).from : lengths[i];
    const int64_t size = shape.size(shape.rank() - axes + i);
    if (size >= needed) continue;
    return invalid_argument("Input dimension ", shape.rank() - axes + i,
                            " must have length of at least ", needed, " but got: ", size);
  }
  return {};
}

// x cut to the transformed lengths of all its last axes but the last one.
Result<Tensor> without_rest(const Tensor& x, std::span<const int32_t> lengths) {
  Shape shape = x.shape();
  const int first = x.rank() - static_cast<int>(lengths.size()), last = x.rank() - 1;
  for (int i = first; i < last; ++i) shape.set(i, Dim(int64_t{lengths[i - first]}));
  if (shape == x.shape()) return x;
  ASSIGN_OR_RETURN(Tensor made, Tensor::allocate(x.dtype(), shape));
  const size_t row = static_cast<size_t>(x.shape().size(last)) * dtype_size(x.dtype());
  const auto* from = static_cast<const std::byte*>(x.raw_data());
  auto* to = static_cast<std::byte*>(made.mutable_raw_data());
  const int64_t rows = row == 0 ? 0 : made.num_elements() / shape.size(last);
  for (int64_t i = 0; i < rows; ++i) {
    int64_t rest = i, place = 0, step = 1;
    for (int axis = last - 1; axis >= 0; --axis) {
      place += rest % shape.size(axis) * step;
      rest /= shape.size(axis);
      step *= x.shape().size(axis);
    }
    std::memcpy(to + static_cast<size_t>(i) * row, from + static_cast<size_t>(place) * row, row);
  }
  return made;
}

template <int axes, FftKind kind>
Status real_kernel(KernelContext& c) {
  const auto lengths = c.in<int32_t>(1);
  const Tensor& to = c.output(0);
  if (to.num_elements() == 0) return {};
  RETURN_IF_ERROR((check_sizes<axes, kind>(c.input(0).shape(), lengths)));
  ASSIGN_OR_RETURN(Tensor from, without_rest(c.input(0), lengths));
  if (kind == FftKind::kReal) {
    RETURN_IF_ERROR(transform_axis(kind, from, to, -1, lengths[axes - 1]));
    for (int axis = -2; axis >= -axes; --axis) {
      RETURN_IF_ERROR(transform_axis(FftKind::kForward, to, to, axis, lengths[axes + axis]));
    }
    return {};
  }
  for (int axis = -axes; axis < -1; ++axis) {
    ASSIGN_OR_RETURN(Tensor turned, Tensor::allocate(from.dtype(), from.shape()));
    RETURN_IF_ERROR(transform_axis(FftKind::kInverse, from, turned, axis, lengths[axes + axis]));
    from = std::move(turned);
  }
  return transform_axis(kind, from, to, -1, lengths[axes - 1]);
}

// Weights of the elements of a half spectrum: `repeated` for those that the other half repeats,
// `alone` for the first one and, if the length of the axis is even, the last one.
Formula weights_of_half(GradientContext& c, const Tensor& fft_length, double repeated, double alone,
                        DType dtype) {
  const Tensor known = known_value(fft_length);
  const Size n = known ? Size(known.data<int32_t>().back()) : Size(element_of(c, fft_length, -1));
  const auto number = [&](int32_t value) { return constant(c, Tensor::scalar(value)); };
  const Size count = add(c, quotient(c, n, 2), 1);
  Formula k(c, c(kRange, {number(0), count.tensor(c), number(1)}));
  const Tensor is_alone =
      c(kLogicalOr, {c(kEqual, {k, number(0)}), c(kEqual, {k + k, n.tensor(c)})});
  const auto weight = [&](double value) {
    return constant(c, Tensor::scalar(static_cast<float>(value)));
  };
  return {c, cast(c, c(kSelectV2, {is_alone, weight(alone), weight(repeated)}), dtype)};
}

// dx with zeros for the elements of x that were not transformed.
template <int axes>
void set_padded(GradientContext& c, const Formula& dx) {
  const Shape &x = c.static_shape_of_x(0), known = dx.tensor() ? dx.tensor().shape() : Shape();
  if (x.is_fully_known() && x == known) return c.set_dx(0, dx);
  const Tensor after = c(kSub, {c.shape_of_x(0), c(kShape, {dx})});
  c.set_dx(0, c(kPad, {dx, c(kPack, {c(kZerosLike, {after}), after}, {.axis = 1})}));
}

template <int axes, OpHandle<RealFftAttrs>& forward, OpHandle<RealInverseFftAttrs>& inverse>
void define_real(OpRegistry& ops, const std::string& suffix, const std::string& over) {
  const std::string details =
      "fft_length is how many elements of each of these axes are transformed.";
  ops.define(forward,
             {
                 .name = "RFFT" + suffix,
                 .summary = "The discrete Fourier transform of real numbers over the last " + over +
                            " The last axis of the result has its first half.",
                 .details = details,
                 .inputs = {"input: Treal", "fft_length: int32"},
                 .outputs = {"output: Tcomplex"},
                 .types = {{"Treal", kWideFloats}, {"Tcomplex", kComplexTypes}},
                 .infer = real_shape<axes, FftKind::kReal>,
                 .gradient =
                     [](GradientContext& c) {
                       Formula dy(c, c.dy());
                       const DType real = c.dtype_of_x(0);
                       const Tensor lengths = c.x(1);
                       Formula halved = dy * weights_of_half(c, lengths, 0.5, 1, dy.dtype());
                       Formula dx(c, c(inverse, {halved, lengths}, {real}));
                       set_padded<axes>(c, dx * product_as(c, lengths, real));
                     },
                 .batch = batch_data_inputs<0>,
                 .body = kernel(real_kernel<axes, FftKind::kReal>),
                 .values_for_inference = {1},
             });
  ops.define(
      inverse,
      {
          .name = "IRFFT" + suffix,
          .summary = "The inverse discrete Fourier transform to real numbers over the last " +
                     over + " The last axis of the input has the first half of a spectrum.",
          .details = details,
          .inputs = {"input: Tcomplex", "fft_length: int32"},
          .outputs = {"output: Treal"},
          .types = {{"Tcomplex", kComplexTypes}, {"Treal", kWideFloats}},
          .infer = real_shape<axes, FftKind::kRealInverse>,
          .gradient =
              [](GradientContext& c) {
                const DType complex = c.dtype_of_x(0);
                const Tensor lengths = c.x(1);
                Formula spectrum(c, c(forward, {c.dy(), lengths}, {complex}));
                Formula dx = spectrum * weights_of_half(c, lengths, 2, 1, complex);
                set_padded<axes>(c, dx / product_as(c, lengths, complex));
              },
          .batch = batch_data_inputs<0>,
          .body = kernel(real_kernel<axes, FftKind::kRealInverse>),
          .values_for_inference = {1},
      });
}

}  // namespace

void define_fft_ops(OpRegistry& ops) {
  define_complex<1, kFFT, kIFFT>(ops, "", "", "axis.");
  define_complex<2, kFFT2D, kIFFT2D>(ops, "2D", "2d", "two axes.");
  define_complex<3, kFFT3D, kIFFT3D>(ops, "3D", "3d", "three axes.");
  define_real<1, kRFFT, kIRFFT>(ops, "", "axis.");
  define_real<2, kRFFT2D, kIRFFT2D>(ops, "2D", "two axes.");
  define_real<3, kRFFT3D, kIRFFT3D>(ops, "3D", "three axes.");
}

}  // namespace graven::engine
