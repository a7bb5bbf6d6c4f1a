#include "graven/kernels/epilogue.h"

#include <algorithm>
#include <complex>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graven/kernels/epilogue.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "graven/kernels/short_floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace graven::engine {
namespace HWY_NAMESPACE {
namespace {

template <typename T>
constexpr bool kIsShortFloat = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

template <typename T>
HWY_INLINE T add(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));  // wraps around
  } else {
    return x + y;
  }
}

template <typename T>
HWY_INLINE T relu_of(T x) {
  if constexpr (std::is_arithmetic_v<T>) {
    return x < 0 ? T() : x;
  } else {
    return x;
  }
}

template <typename T>
HWY_INLINE void finish_row(T* row, int64_t columns, const T* bias, bool relu) {
  if (bias && relu) {
    for (int64_t j = 0; j < columns; ++j) row[j] = relu_of(add(row[j], bias[j]));
  } else if (bias) {
    for (int64_t j = 0; j < columns; ++j) row[j] = add(row[j], bias[j]);
  } else {
    for (int64_t j = 0; j < columns; ++j) row[j] = relu_of(row[j]);
  }
}

// Rounding does not change a sign, so relu may come before it.
template <typename T>
HWY_INLINE void finish_short_row(T* row, int64_t columns, const T* bias, bool relu) {
  constexpr int64_t kRun = 256;
  float sums[kRun], biases[kRun];
  for (int64_t first = 0; first < columns; first += kRun) {
    const int64_t count = std::min(kRun, columns - first);
    promote_run(row + first, count, sums);
    if (bias) promote_run(bias + first, count, biases);
    finish_row<float>(sums, count, bias ? biases : nullptr, relu);
    demote_run(sums, count, row + first);
  }
}

template <typename T>
void epilogue(T* row, int64_t stride, int64_t rows, int64_t columns, const T* bias, bool relu) {
  for (int64_t i = 0; i < rows; ++i, row += stride) {
    if constexpr (kIsShortFloat<T>) {
      finish_short_row(row, columns, bias, relu);
    } else {
      finish_row(row, columns, bias, relu);
    }
  }
}

void epilogue_of_target(DType dtype, void* rows, int64_t stride, int64_t num_rows, int64_t columns,
                        const void* bias, bool relu) {
  visit_plain(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, bool>) {
      epilogue(static_cast<T*>(rows), stride, num_rows, columns, static_cast<const T*>(bias), relu);
    }
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace graven::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graven::engine {
HWY_EXPORT(epilogue_of_target);

void apply_epilogue(DType dtype, void* rows, int64_t stride, int64_t num_rows, int64_t columns,
                    const void* bias, bool relu) {
  if (!bias && !relu) return;
  HWY_DYNAMIC_DISPATCH(epilogue_of_target)(dtype, rows, stride, num_rows, columns, bias, relu);
}

}  // namespace graven::engine
#endif  // HWY_ONCE
