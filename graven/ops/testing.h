#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "graven/ir/emitter.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/op.h"
#include "graven/runtime/eager_builder.h"
#include "graven/tensor/tensor.h"

// Helpers of this room's tests.
namespace graven::engine {

template <typename T>
Tensor tensor_of(const Shape& shape, const std::vector<T>& values) {
  Tensor made = *Tensor::allocate(kDTypeOf<T>, shape);
  REQUIRE(made.num_elements() == static_cast<int64_t>(values.size()));
  std::copy(values.begin(), values.end(), made.mutable_data<T>().begin());
  return made;
}
template <typename T>
Tensor vector_of(const std::vector<T>& values) {
  return tensor_of<T>({Dim(static_cast<int64_t>(values.size()))}, values);
}
template <typename T>
std::vector<T> values_of(const Tensor& x) {
  REQUIRE(x);
  REQUIRE(dtype_name(x.dtype()) == dtype_name(kDTypeOf<T>));
  auto data = x.data<T>();
  return {data.begin(), data.end()};
}

// Uniform in [-1, 1), the same for the same seed.
template <typename T = double>
Tensor random_tensor(const Shape& shape, uint64_t seed = 1) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Tensor made = *Tensor::allocate(kDTypeOf<T>, shape);
  for (T& x : made.mutable_data<T>()) x = static_cast<T>(uniform(generator));
  return made;
}

// All outputs; fails the test if the op fails.
template <typename A>
Tensors run_all(const OpHandle<A>& op, std::initializer_list<Tensor> inputs,
                const std::type_identity_t<A>& attrs = {}) {
  auto outputs = eager_builder().apply(*op, {inputs.begin(), inputs.size()}, attrs);
  REQUIRE_MESSAGE(outputs.ok(), outputs.status().message());
  return *outputs;
}
// The first one.
template <typename A>
Tensor run(const OpHandle<A>& op, std::initializer_list<Tensor> inputs,
           const std::type_identity_t<A>& attrs = {}) {
  return run_all(op, inputs, attrs)[0];
}
template <typename A>
std::string error_of(const OpHandle<A>& op, std::initializer_list<Tensor> inputs,
                     const std::type_identity_t<A>& attrs = {}) {
  auto outputs = eager_builder().apply(*op, {inputs.begin(), inputs.size()}, attrs);
  return outputs.ok() ? "" : outputs.status().message();
}

template <typename T>
double number(T x) {
  if constexpr (std::is_arithmetic_v<T>) return static_cast<double>(x);
  if constexpr (!std::is_arithmetic_v<T>) return static_cast<float>(x);
}

inline void check_near(const Tensor& got, const Tensor& expected, double tolerance = 1e-12) {
  REQUIRE(got.shape().to_text() == expected.shape().to_text());
  REQUIRE(dtype_name(got.dtype()) == dtype_name(expected.dtype()));
  visit_plain(got.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!is_complex(kDTypeOf<T>)) {
      auto a = got.data<T>(), b = expected.data<T>();
      for (size_t i = 0; i < a.size(); ++i) {
        const double x = number(a[i]), y = number(b[i]);
        INFO("element ", i, " is ", x, " instead of ", y);
        if (std::isnan(y)) {
          CHECK(std::isnan(x));
        } else if (x != y) {
          CHECK(std::abs(x - y) <= tolerance * std::max(1.0, std::abs(y)));
        }
      }
    }
  });
}

// A graph, and ops applied to its placeholders.
struct Trace {
  Ref<Graph> graph{new Graph("test")};
  GraphBuilder builder{graph};
  Emitter emit{builder};

  Tensor placeholder(DType dtype, const Shape& shape) {
    return builder.add_placeholder(dtype, shape, "x");
  }
  Tensor constant(const Tensor& value) { return builder.add_constant(value); }
  std::string symbols(const Tensor& x) {
    std::string text;
    for (Dim dim : x.shape().dims()) text += graph->symbols().to_text(dim) + " ";
    return text;
  }
};

}  // namespace graven::engine
