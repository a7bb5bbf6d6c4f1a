// Gradients of ops against differences of their values, first and second order. A complex number
// counts as its two parts; the gradient is dL/d(real) + i dL/d(imag), as TensorFlow has it.
#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "graven/autodiff/tape.h"
#include "graven/ir/op.h"
#include "graven/ir/structural_ops.h"
#include "graven/runtime/eager_builder.h"

namespace graven::engine {

inline constexpr DType kReals = DType::kFloat64, kComplexes = DType::kComplex128;

inline Tensor random_tensor(DType dtype, const Shape& shape, double low, double high) {
  static std::mt19937_64 generator(7);
  Tensor made = *Tensor::allocate(dtype, shape);
  std::uniform_real_distribution<double> uniform(low, high);
  auto* to = static_cast<double*>(made.mutable_raw_data());
  int64_t parts = made.num_elements() * (is_complex(dtype) ? 2 : 1);
  for (int64_t i = 0; i < parts; ++i) to[i] = uniform(generator);
  return made;
}

inline Tensor ints(const std::vector<int32_t>& values) { return Tensor::vector<int32_t>(values); }

// All parts of a float64 or complex128 tensor.
inline std::span<double> parts(const Tensor& x) {
  return {static_cast<double*>(x.mutable_raw_data()),
          static_cast<size_t>(x.num_elements() * (is_complex(x.dtype()) ? 2 : 1))};
}

inline Tensor copy(const Tensor& x) {
  Tensor made = *Tensor::allocate(x.dtype(), x.shape());
  std::copy_n(parts(x).begin(), parts(x).size(), parts(made).begin());
  return made;
}

// The tensor that slices stand for, zeros included.
inline Tensor dense(const IndexedSlices& slices) {
  Tensor rows = Tensor::scalar(slices.dense_shape.data<int32_t>()[0]);
  auto sum = apply(*kUnsortedSegmentSum, std::vector<Tensor>{slices.values, slices.indices, rows},
                   AttrsRef());
  REQUIRE_MESSAGE(sum.ok(), sum.status().message());
  return (*sum)[0];
}

inline bool is_differentiated(const Tensor& x) {
  return x.dtype() == DType::kFloat64 || x.dtype() == DType::kComplex128;
}

// An op with attributes and inputs. It is differentiated in its float64 and complex128 inputs.
struct Case {
  const Op& op;
  Attrs attrs;
  std::vector<Tensor> inputs;

  std::vector<Tensor> sources() const {
    std::vector<Tensor> x;
    for (const Tensor& input : inputs) {
      if (is_differentiated(input)) x.push_back(input);
    }
    return x;
  }
  Tensor value(const std::vector<Tensor>& x) const {
    std::vector<Tensor> all = inputs;
    size_t next = 0;
    for (Tensor& input : all) {
      if (is_differentiated(input)) input = x[next++];
    }
    auto y = apply(op, all, attrs);
    REQUIRE_MESSAGE(y.ok(), op.name(), ": ", y.status().message());
    return (*y)[0];
  }
  // The gradients of sum(weights * value), by the tape.
  std::vector<Tensor> gradient(const std::vector<Tensor>& x, const Tensor& weights) const {
    Tape tape(/*persistent=*/false);
    tape.start();
    for (const Tensor& input : x) tape.watch(input);
    Tensor y = value(x);
    auto result = tape.gradient({&y, 1}, x, {&weights, 1}, current_builder());
    REQUIRE_MESSAGE(result.ok(), op.name(), ": ", result.status().message());
    std::vector<Tensor> dx;
    for (size_t i = 0; i < x.size(); ++i) {
      const Gradient& gradient = (*result)[i];
      dx.push_back(gradient.is_slices() ? dense(gradient.slices) : gradient.dense);
      if (dx.back()) REQUIRE(dx.back().shape() == x[i].shape());
    }
    return dx;
  }
};

inline double weighted_sum(const Tensor& weights, const Tensor& y) {
  double sum = 0;
  for (size_t i = 0; i < parts(y).size(); ++i) sum += parts(weights)[i] * parts(y)[i];
  return sum;
}

// The gradient by differences of `loss`, compared with dx; an absent dx stands for zeros.
template <typename Loss>
void compare(const Case& c, const std::vector<Tensor>& dx, const Loss& loss,
             std::string_view what) {
  constexpr double kDelta = 1e-5;
  std::vector<Tensor> x = c.sources();
  for (size_t k = 0; k < x.size(); ++k) {
    for (size_t i = 0; i < parts(x[k]).size(); ++i) {
      std::vector<Tensor> moved = x;
      moved[k] = copy(x[k]);
      parts(moved[k])[i] += kDelta;
      double above = loss(moved);
      moved[k] = copy(x[k]);
      parts(moved[k])[i] -= kDelta;
      double expected = (above - loss(moved)) / (2 * kDelta);
      double got = dx[k] ? parts(dx[k])[i] : 0;
      INFO(what, " of ", c.op.name(), " in input ", k, ", part ", i, ", at ", parts(x[k])[i]);
      CHECK(got == doctest::Approx(expected).epsilon(2e-6));
    }
  }
}

// Checks the gradients of an op of all orders up to the second, for random incoming gradients.
template <typename A>
void check(const OpHandle<A>& op, std::vector<Tensor> inputs,
           const std::type_identity_t<A>& attrs = {}) {
  Case c{*op, Attrs(AttrsRef(attrs)), std::move(inputs)};
  std::vector<Tensor> x = c.sources();
  Tensor y = c.value(x);
  Tensor weights = random_tensor(y.dtype(), y.shape(), 0.5, 1.5);
  std::vector<Tensor> dx = c.gradient(x, weights);
  compare(
      c, dx, [&](const std::vector<Tensor>& at) { return weighted_sum(weights, c.value(at)); },
      "the gradient");

  // The second order: the gradients of the gradients.
  std::vector<Tensor> seeds;
  for (const Tensor& input : x) {
    seeds.push_back(random_tensor(input.dtype(), input.shape(), 0.5, 1.5));
  }
  Tape outer(/*persistent=*/true);
  outer.start();
  for (const Tensor& input : x) outer.watch(input);
  std::vector<Tensor> first = c.gradient(x, weights), targets, target_seeds;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!first[i]) continue;
    targets.push_back(first[i]);
    target_seeds.push_back(seeds[i]);
  }
  auto second = outer.gradient(targets, x, target_seeds, current_builder());
  outer.stop();
  REQUIRE_MESSAGE(second.ok(), op.op->name(), ": ", second.status().message());
  std::vector<Tensor> ddx;
  for (const Gradient& gradient : *second) {
    ddx.push_back(gradient.is_slices() ? dense(gradient.slices) : gradient.dense);
  }
  compare(
      c, ddx,
      [&](const std::vector<Tensor>& at) {
        std::vector<Tensor> moved = c.gradient(at, weights);
        double sum = 0;
        for (size_t i = 0; i < moved.size(); ++i) {
          if (moved[i]) sum += weighted_sum(seeds[i], moved[i]);
        }
        return sum;
      },
      "the second gradient");
}

}  // namespace graven::engine
