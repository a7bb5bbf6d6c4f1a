#include <algorithm>
#include <cmath>
#include <vector>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/scaling_ops.h"
#include "graven/ops/windows.h"

namespace graven::engine {
namespace {

// Local response normalization (Krizhevsky, Sutskever, Hinton 2012): each element of a pixel is
// divided by a power of bias + alpha * the sum of squares of the channels about it.

// All inputs have one shape.
Status lrn_shape(InferContext& c) {
  const int64_t radius = c.attrs<LocalResponseAttrs>().depth_radius;
  if (radius < 0) return invalid_argument("depth_radius must be >= 0, got ", radius);
  Shape shape = unknown_sizes(4);
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (c.shape(i).has_rank() && c.shape(i).rank() != 4) {
      return invalid_argument("in must be 4-dimensional, got shape ", c.shape(i).to_message());
    }
    ASSIGN_OR_RETURN(shape, merge_shapes(shape, c.shape(i)));
  }
  c.set_shape(0, shape);
  return {};
}

// sums[i] = the sum of x over [i - radius, i + radius], as far as there are channels.
void sum_neighbours(const float* x, int64_t channels, int64_t radius, float* sums) {
  std::fill_n(sums, channels, 0.0f);
  radius = std::min(radius, channels - 1);
  for (int64_t shift = -radius; shift <= radius; ++shift) {
    const int64_t first = std::max<int64_t>(0, -shift), end = std::min(channels, channels - shift);
    for (int64_t i = first; i < end; ++i) sums[i] += x[i + shift];
  }
}

// x^-power, in which the usual powers are fast.
void negative_powers(const float* x, int64_t count, float power, float* y) {
  if (power == 1) {
    for (int64_t i = 0; i < count; ++i) y[i] = 1 / x[i];
  } else if (power == 0.5f) {
    for (int64_t i = 0; i < count; ++i) y[i] = 1 / std::sqrt(x[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) y[i] = std::pow(x[i], -power);
  }
}

// The elements of one pixel and the terms of their formulas.
struct Pixel {
  std::vector<float> x, squares, norms, factors;
  explicit Pixel(int64_t channels)
      : x(static_cast<size_t>(channels)), squares(x), norms(x), factors(x) {}

  template <typename T>
  void read(const LocalResponseAttrs& a, const T* from) {
    const auto channels = static_cast<int64_t>(x.size());
    for (int64_t i = 0; i < channels; ++i) x[i] = static_cast<float>(from[i]);
    for (int64_t i = 0; i < channels; ++i) squares[i] = x[i] * x[i];
    sum_neighbours(squares.data(), channels, a.depth_radius, norms.data());
    for (float& norm : norms) norm = a.bias + a.alpha * norm;
    negative_powers(norms.data(), channels, a.beta, factors.data());
  }
};

// Calls f(first element of the pixel, its memory) for each pixel.
template <typename F>
void for_each_pixel(const Tensor& image, const F& f) {
  if (image.num_elements() == 0) return;
  const int64_t channels = image.shape().size(3);
  for_ranges(image.num_elements() / channels, (1 << 13) / channels,
             [&](int64_t begin, int64_t end) {
               Pixel pixel(channels);
               for (int64_t i = begin; i < end; ++i) f(i * channels, pixel);
             });
}

template <typename F>
void visit_float(DType dtype, const F& f) {
  if (dtype == DType::kFloat32) return f(float());
  if (dtype == DType::kHalf) return f(Half());
  f(BFloat16());
}

Status lrn_kernel(KernelContext& c) {
  const auto& attrs = c.attrs<LocalResponseAttrs>();
  visit_float(c.input(0).dtype(), [&](auto zero) {
    using T = decltype(zero);
    for_each_pixel(c.input(0), [&](int64_t first, Pixel& pixel) {
      pixel.read(attrs, c.in<T>(0).data() + first);
      T* y = c.out<T>(0).data() + first;
      for (size_t i = 0; i < pixel.x.size(); ++i) y[i] = T(pixel.x[i] * pixel.factors[i]);
    });
  });
  return {};
}

constexpr DTypeSet kShortFloats = {DType::kHalf, DType::kBFloat16, DType::kFloat32};

void define_lrn(OpRegistry& ops) {
  ops.define(
      kLRN,
      {
          .name = "LRN",
          .python = "nn.local_response_normalization, nn.lrn",
          .summary = "Each element divided by (bias + alpha * s)^beta, where s is the sum "
                     "of squares of the channels at most depth_radius away in its pixel.",
          .inputs = {"input: T"},
          .outputs = {"output: T"},
          .types = {{"T", kShortFloats}},
          .infer = lrn_shape,
          .gradient =
              [](GradientContext& c) {
                c.set_dx(0, c(kLRNGrad, {c.dy(), c.x(0), c.y(0)}, c.attrs<LocalResponseAttrs>()));
              },
          .batch = batch_by_folding<0>,
          .body = kernel(lrn_kernel),
      });
}

// With n the norms and y the outputs: dy n^-beta - 2 alpha beta x * the sum of neighbours' dy y /
// n.
Status lrn_grad_kernel(KernelContext& c) {
  const auto& attrs = c.attrs<LocalResponseAttrs>();
  const float factor = 2 * attrs.alpha * attrs.beta;
  visit_float(c.input(0).dtype(), [&](auto zero) {
    using T = decltype(zero);
    for_each_pixel(c.input(0), [&](int64_t first, Pixel& pixel) {
      pixel.read(attrs, c.in<T>(1).data() + first);
      const T *dy = c.in<T>(0).data() + first, *y = c.in<T>(2).data() + first;
      T* dx = c.out<T>(0).data() + first;
      const size_t channels = pixel.x.size();
      std::vector<float>&parts = pixel.norms, &sums = pixel.squares;
      for (size_t i = 0; i < channels; ++i) {
        parts[i] = static_cast<float>(dy[i]) * static_cast<float>(y[i]) / parts[i];
      }
      sum_neighbours(parts.data(), static_cast<int64_t>(channels), attrs.depth_radius, sums.data());
      for (size_t i = 0; i < channels; ++i) {
        dx[i] = T(static_cast<float>(dy[i]) * pixel.factors[i] - factor * pixel.x[i] * sums[i]);
      }
    });
  });
  return {};
}

void define_lrn_grad(OpRegistry& ops) {
  ops.define(kLRNGrad, {
                           .name = "LRNGrad",
                           .summary = "The gradient of LRN.",
                           .inputs = {"input_grads: T", "input_image: T", "output_image: T"},
                           .outputs = {"output: T"},
                           .types = {{"T", kShortFloats}},
                           .infer = lrn_shape,
                           .batch = batch_by_folding<0, 1, 2>,
                           .body = kernel(lrn_grad_kernel),
                       });
}

}  // namespace

void define_local_response_ops(OpRegistry& ops) {
  define_lrn(ops);
  define_lrn_grad(ops);
}

}  // namespace graven::engine
