#include "graven/kernels/extrema.h"

#include <algorithm>
#include <concepts>

#include "graven/tensor/half.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graven/kernels/extrema.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "graven/kernels/short_floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace graven::engine {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <bool kLargest, typename V>
V better(V a, V b) {
  return kLargest ? hn::Max(a, b) : hn::Min(a, b);
}

// No lane of integers.
template <typename V>
auto is_nan(V v) {
  if constexpr (std::floating_point<hn::TFromV<V>>) {
    return hn::IsNaN(v);
  } else {
    return hn::Ne(v, v);
  }
}

// The first place in a row, of at least one vector, where `is_it` holds for a lane; 0 if nowhere.
template <typename D, typename T, typename F>
int64_t first_where(D d, const T* row, int64_t n, const F& is_it) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < n; i += lanes) {
    // The last vector lies over the one before it, in which nothing was found.
    const int64_t at = std::min(i, n - lanes);
    const auto found = is_it(hn::LoadU(d, row + at));
    if (const intptr_t lane = hn::FindFirstTrue(d, found); lane >= 0) return at + lane;
  }
  return 0;
}

// The best lane, in all lanes.
template <bool kLargest, typename D, typename V>
V best_of_lanes(D d, V v) {
  using T = hn::TFromD<D>;
  if constexpr (sizeof(T) >= 4) {
    return kLargest ? hn::MaxOfLanes(d, v) : hn::MinOfLanes(d, v);
  } else {  // Highway has it for some of these on some processors only
    HWY_ALIGN T lanes[hn::MaxLanes(d)];
    hn::Store(v, d, lanes);
    T* end = lanes + hn::Lanes(d);
    return hn::Set(d, kLargest ? *std::max_element(lanes, end) : *std::min_element(lanes, end));
  }
}

// Of at least one vector: first the extremum, then its place.
template <bool kLargest, typename T>
int64_t find_in_row(const T* row, int64_t n) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto first = hn::LoadU(d, row), second = first;
  auto nan = is_nan(first);
  int64_t i = lanes;
  const auto add = [&](auto& best, int64_t at) HWY_ATTR {
    const auto next = hn::LoadU(d, row + at);
    nan = hn::Or(nan, is_nan(next));
    best = better<kLargest>(best, next);
  };
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    add(first, i);
    add(second, i + lanes);
  }
  for (; i < n; i += lanes) add(first, std::min(i, n - lanes));
  if (!hn::AllFalse(d, nan)) {
    return first_where(d, row, n, [](auto x) HWY_ATTR { return is_nan(x); });
  }
  const auto wanted = best_of_lanes<kLargest>(d, better<kLargest>(first, second));
  return first_where(d, row, n, [&](auto x) HWY_ATTR { return hn::Eq(x, wanted); });
}

// Rows of less than two vectors are compared side by side, so many at a time: alone, a row's lanes
// hardly begin before they are compared with each other. Rows do not wait for each other.
constexpr int64_t kRowsAtOnce = 8;

template <bool kLargest, typename T>
void find_side_by_side(const T* rows, int64_t n, int64_t* places) {
  T best[kRowsAtOnce];
  int64_t at[kRowsAtOnce];
  for (int64_t row = 0; row < kRowsAtOnce; ++row) {
    best[row] = rows[row * n];
    at[row] = 0;
  }
  for (int64_t i = 1; i < n; ++i) {
    for (int64_t row = 0; row < kRowsAtOnce; ++row) {
      const T next = rows[row * n + i];
      const bool wins = beats<kLargest>(next, best[row]);
      best[row] = wins ? next : best[row];
      at[row] = wins ? i : at[row];
    }
  }
  std::copy_n(at, kRowsAtOnce, places);
}

template <bool kLargest, typename T>
void find(const T* rows, int64_t num_rows, int64_t n, int64_t* places) {
  int64_t row = 0;
  if (n >= 2 * static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()))) {
    for (; row < num_rows; ++row) places[row] = find_in_row<kLargest>(rows + row * n, n);
    return;
  }
  for (; row + kRowsAtOnce <= num_rows; row += kRowsAtOnce) {
    find_side_by_side<kLargest>(rows + row * n, n, places + row);
  }
  for (; row < num_rows; ++row) {
    int64_t at = 0;
    for (int64_t i = 1; i < n; ++i) {
      if (beats<kLargest>(rows[row * n + i], rows[row * n + at])) at = i;
    }
    places[row] = at;
  }
}

template <typename T>
void find_of(bool largest, const void* rows, int64_t num_rows, int64_t n, int64_t* places) {
  const auto* elements = static_cast<const T*>(rows);
  largest ? find<true>(elements, num_rows, n, places) : find<false>(elements, num_rows, n, places);
}

// A piece of a row at a time, as floats.
template <bool kLargest, typename T>
void find_of_short_floats(const void* rows, int64_t num_rows, int64_t n, int64_t* places) {
  constexpr int64_t kPiece = 1024;
  float floats[kPiece];
  const auto* from = static_cast<const T*>(rows);
  for (int64_t row = 0; row < num_rows; ++row, from += n) {
    float best = 0;
    for (int64_t i = 0; i < n; i += kPiece) {
      const int64_t count = std::min(kPiece, n - i);
      promote_run(from + i, count, floats);
      int64_t at = 0;
      find<kLargest>(floats, 1, count, &at);
      if (i > 0 && !beats<kLargest>(floats[at], best)) continue;
      best = floats[at];
      places[row] = i + at;
    }
  }
}

template <typename T>
void find_of_short_floats(bool largest, const void* rows, int64_t num_rows, int64_t n,
                          int64_t* places) {
  largest ? find_of_short_floats<true, T>(rows, num_rows, n, places)
          : find_of_short_floats<false, T>(rows, num_rows, n, places);
}

void find_extrema(DType dtype, bool largest, const void* rows, int64_t num_rows, int64_t n,
                  int64_t* places) {
  switch (dtype) {
    case DType::kBool:
    case DType::kUInt8:
      return find_of<uint8_t>(largest, rows, num_rows, n, places);
    case DType::kUInt16:
      return find_of<uint16_t>(largest, rows, num_rows, n, places);
    case DType::kUInt32:
      return find_of<uint32_t>(largest, rows, num_rows, n, places);
    case DType::kUInt64:
      return find_of<uint64_t>(largest, rows, num_rows, n, places);
    case DType::kInt8:
      return find_of<int8_t>(largest, rows, num_rows, n, places);
    case DType::kInt16:
      return find_of<int16_t>(largest, rows, num_rows, n, places);
    case DType::kInt32:
      return find_of<int32_t>(largest, rows, num_rows, n, places);
    case DType::kInt64:
      return find_of<int64_t>(largest, rows, num_rows, n, places);
    case DType::kHalf:
      return find_of_short_floats<Half>(largest, rows, num_rows, n, places);
    case DType::kBFloat16:
      return find_of_short_floats<BFloat16>(largest, rows, num_rows, n, places);
    case DType::kFloat64:
      return find_of<double>(largest, rows, num_rows, n, places);
    default:
      return find_of<float>(largest, rows, num_rows, n, places);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace graven::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graven::engine {
HWY_EXPORT(find_extrema);

void find_extrema_of_rows(DType dtype, bool largest, const void* rows, int64_t num_rows,
                          int64_t columns, int64_t* places) {
  HWY_DYNAMIC_DISPATCH(find_extrema)(dtype, largest, rows, num_rows, columns, places);
}

}  // namespace graven::engine
#endif  // HWY_ONCE
