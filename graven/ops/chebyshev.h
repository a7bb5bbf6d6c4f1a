#pragma once
#include <cstddef>
#include <span>

namespace graven::engine {

// The sum of c[k] T_k(s) for s in [-1, 1], by Clenshaw's recurrence: of doubles, or of Scalars in
// bodies of ops. Fewer coefficients of a series that converges fast are one for floats.
template <typename S>
S chebyshev(S s, std::span<const double> c) {
  S twice = s + s, next = s * 0.0, sum = next + c.back();
  for (size_t k = c.size() - 2; k > 0; --k) {
    S above = sum;
    sum = twice * sum - next + c[k];
    next = above;
  }
  return s * sum - next + c[0];
}

}  // namespace graven::engine
