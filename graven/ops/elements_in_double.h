#pragma once
#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "graven/ir/kernel.h"
#include "graven/ops/elements.h"

namespace graven::engine {

// Kernels of functions of n numbers that are computed one by one, in double, whatever the dtype of
// the floats. The inputs broadcast. Each call takes tens of nanoseconds and more.
template <size_t n, typename F>
Status compute_in_double(KernelContext& c, const F& f) {
  constexpr int64_t kGrain = 1 << 10;
  const Shape& shape = c.output(0).shape();
  std::array<int64_t, n> steps;
  std::array<const Shape*, n> shapes;
  bool is_simple = true;
  for (size_t k = 0; k < n; ++k) {
    const Tensor& x = c.input(static_cast<int>(k));
    steps[k] = x.num_elements() == 1 ? 0 : 1;
    shapes[k] = &x.shape();
    is_simple = is_simple && (steps[k] == 0 || x.shape() == shape);
  }
  visit_plain(c.output(0).dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (is_floating(kDTypeOf<T>)) {
      using Wide = std::conditional_t<sizeof(T) == 8, double, float>;
      std::array<const T*, n> x;
      for (size_t k = 0; k < n; ++k) x[k] = c.in<T>(static_cast<int>(k)).data();
      T* y = c.out<T>(0).data();
      const auto compute = [&]<size_t... k>(int64_t i, const auto& at, std::index_sequence<k...>) {
        y[i] = T(static_cast<Wide>(f(static_cast<double>(static_cast<Wide>(x[k][at[k]]))...)));
      };
      constexpr auto kInputs = std::make_index_sequence<n>();
      if (is_simple) {
        for_ranges(shape.num_elements(), kGrain, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            std::array<int64_t, n> at;
            for (size_t k = 0; k < n; ++k) at[k] = i * steps[k];
            compute(i, at, kInputs);
          }
        });
      } else {
        for_each_broadcast<n>(shape, shapes,
                              [&](int64_t i, const auto& at) { compute(i, at, kInputs); });
      }
    }
  });
  return {};
}

template <double (*f)(double)>
Status unary_in_double(KernelContext& c) {
  return compute_in_double<1>(c, f);
}
template <double (*f)(double, double)>
Status binary_in_double(KernelContext& c) {
  return compute_in_double<2>(c, f);
}

}  // namespace graven::engine
