#pragma once
#include <type_traits>

#include "graven/tensor/half.h"

namespace graven::engine {

// x + y in the arithmetic of stored elements: integers wrap around, half and bfloat16 add in
// float32.
template <typename T>
T add_elements(T x, T y) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return T(static_cast<float>(x) + static_cast<float>(y));
  } else if constexpr (std::is_same_v<T, bool>) {
    return x || y;
  } else if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(x) + static_cast<U>(y)));
  } else {
    return x + y;
  }
}

}  // namespace graven::engine
