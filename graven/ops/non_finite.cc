#include "graven/ops/non_finite.h"

#include <cmath>
#include <complex>
#include <type_traits>

namespace graven::engine {

NonFinite count_non_finite(const Tensor& x) {
  NonFinite found;
  visit_plain(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_integral_v<T> && !std::is_same_v<T, std::complex<float>> &&
                  !std::is_same_v<T, std::complex<double>>) {
      using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
      for (const T& element : x.data<T>()) {
        const auto value = static_cast<Wide>(element);
        if (std::isfinite(value)) continue;
        found.num_nan += std::isnan(value);
        found.num_plus += std::isinf(value) && value > 0;
        found.num_minus += std::isinf(value) && value < 0;
      }
    }
  });
  return found;
}

}  // namespace graven::engine
