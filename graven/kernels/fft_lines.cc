#include "graven/kernels/fft_lines.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "graven/base/thread_pool.h"
#include "graven/kernels/scratch_block.h"
#include "graven/kernels/simd_target.h"

#ifndef GRAVEN_FFT_FUNCTIONS
#define GRAVEN_FFT_FUNCTIONS
namespace graven::engine {
namespace {

// What is compiled for each SIMD target.
template <typename T>
struct FftFunctions {
  void (*transform)(const FftBlock<T>& block);
  // to[i] = scale a[i] b[i], where a and the result may be swapped.
  void (*multiply)(const T* a, bool swap_a, const T* b, T* to, bool swap_to, T scale, int64_t n);
  // Of one line, see fft_lines.h.
  void (*from_halves)(const FftPlan<T>& plan, const T* z, T* y);
  void (*to_halves)(const FftPlan<T>& plan, const T* y, T* z);
};

// Of one of the two buffers that a block is transformed in.
template <typename T>
int64_t size_of_buffer(const FftPlan<T>& plan) {
  return (plan.working_length() + 1) * 2 * kFftLines<T>;
}

}  // namespace
}  // namespace graven::engine
#endif  // GRAVEN_FFT_FUNCTIONS

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graven/kernels/fft_lines.cc"
#include "hwy/foreach_target.h"
//
#include "graven/kernels/fft_passes-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace graven::engine::HWY_NAMESPACE {
namespace {

// Elements that are moved at a time, between lines in memory and lines in lanes: a cache line's.
constexpr int64_t kTile = 8;

// Whether the lines of a vector stand side by side.
template <class D, typename Data>
HWY_INLINE bool side_by_side(D, const FftPlaces<Data>& places, int64_t first, int64_t count) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  return count == kLanes && places.inner - first % places.inner >= kLanes;
}

// Calls f(line, address of its first element) for the lines in the lanes.
template <typename Data, typename F>
HWY_INLINE void for_each_line(const FftPlaces<Data>& places, int64_t width, int64_t first,
                              int64_t count, const F& f) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t line = first + i;
    f(i, places.data + line / places.inner * places.outer + line % places.inner * width);
  }
}

template <class D, typename T>
HWY_INLINE Pair<D> load_side_by_side(D d, const T* from) {
  Pair<D> x;
  if constexpr (hn::MaxLanes(D()) == 1) {
    x = load_pair(d, from);
  } else {
    hn::LoadInterleaved2(d, from, x.re, x.im);
  }
  return x;
}
template <class D, typename T>
HWY_INLINE void store_side_by_side(D d, Pair<D> x, T* to) {
  if constexpr (hn::MaxLanes(D()) == 1) {
    store_pair(d, x, to);
  } else {
    hn::StoreInterleaved2(x.re, x.im, d, to);
  }
}

// A square of complex numbers, row by row: exchanges rows and columns. A step exchanges those whose
// numbers differ in one bit.
template <class D>
HWY_INLINE void transpose(D d, hn::Vec<D>* rows) {
  constexpr int kRows = hn::MaxLanes(d) / 2, kBlocks = hn::MaxLanes(d) * sizeof(hn::TFromD<D>) / 16;
  int bit = 1;
  const auto each_pair = [&](auto step) HWY_ATTR {
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      if ((i & bit) == 0) step(rows[i], rows[i + bit]);
    }
    bit *= 2;
  };
  if constexpr (kRows > kBlocks) {
    each_pair([](auto& a, auto& b) HWY_ATTR {
      const hn::Repartition<uint64_t, D> whole;
      const auto x = hn::BitCast(whole, a), y = hn::BitCast(whole, b);
      a = hn::BitCast(D(), hn::InterleaveLower(whole, x, y));
      b = hn::BitCast(D(), hn::InterleaveUpper(whole, x, y));
    });
  }
  if constexpr (kBlocks > 2) {
    each_pair([](auto& a, auto& b) HWY_ATTR {
      const auto x = a, y = b;
      a = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(y), x);
      b = hn::OddEvenBlocks(y, hn::SwapAdjacentBlocks(x));
    });
  }
  if constexpr (kBlocks > 1) {
    each_pair([](auto& a, auto& b) HWY_ATTR {
      const auto x = a, y = b;
      a = hn::ConcatLowerLower(D(), y, x);
      b = hn::ConcatUpperUpper(D(), y, x);
    });
  }
}

// Copies a tile whose rows have an element of each line, to or from lines whose elements follow
// each other.
template <bool kToLines, class D, typename Data, typename T>
HWY_INLINE void transpose_tile(D d, const FftPlaces<Data>& places, int64_t first, int64_t begin,
                               T* tile) {
  constexpr int64_t kLanes = hn::MaxLanes(d), kSquare = kLanes / 2;
  Data* lines[kLanes];
  for_each_line(places, 2, first, kLanes, [&](int64_t i, Data* at) { lines[i] = at + begin * 2; });
  hn::Vec<D> square[kSquare];
  for (int64_t t = 0; t < kTile; t += kSquare) {
    for (int64_t line = 0; line < kLanes; line += kSquare) {
      T* corner = tile + t * 2 * kLanes + 2 * line;
#pragma GCC unroll 8
      for (int64_t i = 0; i < kSquare; ++i) {
        square[i] = hn::LoadU(d, kToLines ? corner + i * 2 * kLanes : lines[line + i] + 2 * t);
      }
      transpose(d, square);
#pragma GCC unroll 8
      for (int64_t i = 0; i < kSquare; ++i) {
        if constexpr (kToLines) {
          hn::StoreU(square[i], d, lines[line + i] + 2 * t);
        } else {
          hn::StoreU(square[i], d, corner + i * 2 * kLanes);
        }
      }
    }
  }
}

// Whether transpose_tile() can do it.
template <class D, typename Data>
HWY_INLINE bool is_whole_tile(D, const FftPlaces<Data>& places, int64_t count, int64_t elements) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  return kLanes > 1 && count == kLanes && places.element == 2 && elements == kTile;
}

// Calls f(j, element j of the lines) for j < n. Lanes without a line have zeros.
template <class D, typename T, typename F>
HWY_INLINE void read_complex(D d, const FftPlaces<const T>& from, int64_t first, int64_t count,
                             int64_t n, const F& f) {
  constexpr int64_t kSize = 2 * hn::MaxLanes(d);
  if (side_by_side(d, from, first, count)) {
    const T* at = from.data + first / from.inner * from.outer + first % from.inner * 2;
    for (int64_t j = 0; j < n; ++j, at += from.element) f(j, load_side_by_side(d, at));
    return;
  }
  HWY_ALIGN T tile[kTile][kSize] = {};
  for (int64_t begin = 0; begin < n; begin += kTile) {
    const int64_t end = std::min(kTile, n - begin);
    if (is_whole_tile(d, from, count, end)) {
      if constexpr (kSize > 2) transpose_tile<false>(d, from, first, begin, &tile[0][0]);
    } else {
      for_each_line(from, 2, first, count, [&](int64_t i, const T* at) HWY_ATTR {
        at += begin * from.element;
        for (int64_t t = 0; t < end; ++t, at += from.element) {
          std::memcpy(&tile[t][2 * i], at, 2 * sizeof(T));
        }
      });
    }
    for (int64_t t = 0; t < end; ++t) f(begin + t, load_side_by_side(d, tile[t]));
  }
}

// Element j of the lines is f(j).
template <class D, typename T, typename F>
HWY_INLINE void write_complex(D d, const FftPlaces<T>& to, int64_t first, int64_t count, int64_t n,
                              const F& f) {
  constexpr int64_t kSize = 2 * hn::MaxLanes(d);
  if (side_by_side(d, to, first, count)) {
    T* at = to.data + first / to.inner * to.outer + first % to.inner * 2;
    for (int64_t j = 0; j < n; ++j, at += to.element) store_side_by_side(d, f(j), at);
    return;
  }
  HWY_ALIGN T tile[kTile][kSize];
  for (int64_t begin = 0; begin < n; begin += kTile) {
    const int64_t end = std::min(kTile, n - begin);
    for (int64_t t = 0; t < end; ++t) store_side_by_side(d, f(begin + t), tile[t]);
    if (is_whole_tile(d, to, count, end)) {
      if constexpr (kSize > 2) transpose_tile<true>(d, to, first, begin, &tile[0][0]);
      continue;
    }
    for_each_line(to, 2, first, count, [&](int64_t i, T* at) HWY_ATTR {
      at += begin * to.element;
      for (int64_t t = 0; t < end; ++t, at += to.element) {
        std::memcpy(at, &tile[t][2 * i], 2 * sizeof(T));
      }
    });
  }
}

template <class D>
HWY_INLINE Pair<D> swapped(Pair<D> x) {
  return {x.im, x.re};
}
template <class D>
HWY_INLINE Pair<D> conjugate(Pair<D> x) {
  return {x.re, hn::Neg(x.im)};
}

// See fft_lines.h.
template <class D, typename T>
void from_halves(D d, const FftPlan<T>& plan, const T* z, T* y) {
  constexpr int64_t kSize = 2 * hn::MaxLanes(d);
  const int64_t half = plan.length;
  for (int64_t k = 0; 2 * k <= half; ++k) {
    const Pair<D> a = load_pair(d, z + k * kSize);
    const Pair<D> b = conjugate(load_pair(d, z + (k == 0 ? 0 : half - k) * kSize));
    const Pair<D> even = scaled(d, add(a, b), T(0.5));
    const Pair<D> odd = scaled(d, turn_back(subtract(a, b)), T(0.5));
    const Pair<D> turned = multiply(odd, same(d, plan.half_turns.get()[k]));
    store_pair(d, add(even, turned), y + k * kSize);
    store_pair(d, conjugate(subtract(even, turned)), y + (half - k) * kSize);
  }
}

// The other way round; z may be swapped.
template <class D, typename T>
void to_halves(D d, const FftPlan<T>& plan, const T* y, T* z, bool swap) {
  constexpr int64_t kSize = 2 * hn::MaxLanes(d);
  const int64_t half = plan.length;
  for (int64_t k = 0; 2 * k <= half; ++k) {
    Pair<D> a = load_pair(d, y + k * kSize), b = load_pair(d, y + (half - k) * kSize);
    if (k == 0) a.im = b.im = hn::Zero(d);
    b = conjugate(b);
    const Pair<D> even = scaled(d, add(a, b), T(0.5));
    const Pair<D> odd =
        multiply(scaled(d, subtract(a, b), T(0.5)), same(d, std::conj(plan.half_turns.get()[k])));
    // z[k] = E + i O, z[half - k] = conj(E) + i conj(O)
    const Pair<D> one = subtract(even, turn_back(odd));
    store_pair(d, swap ? swapped(one) : one, z + k * kSize);
    if (k == 0) continue;
    const Pair<D> other = subtract(conjugate(even), turn_back(conjugate(odd)));
    store_pair(d, swap ? swapped(other) : other, z + (half - k) * kSize);
  }
}

// The lines in the lanes; a is overwritten.
template <class D, typename T>
T* read_lines(D d, const FftBlock<T>& p, int64_t first, int64_t count, T* a, T* b) {
  constexpr int64_t kSize = 2 * hn::MaxLanes(d);
  const int64_t n = p.plan->length;
  switch (p.read) {
    case FftRead::kComplex:
      read_complex(d, p.from, first, count, n,
                   [&](int64_t j, Pair<D> x) HWY_ATTR { store_pair(d, x, a + j * kSize); });
      return a;
    case FftRead::kSwapped:
      read_complex(d, p.from, first, count, n, [&](int64_t j, Pair<D> x) HWY_ATTR {
        store_pair(d, swapped(x), a + j * kSize);
      });
      return a;
    case FftRead::kReal:
      std::fill_n(a, n * kSize, T(0));
      for_each_line(p.from, 1, first, count, [&](int64_t i, const T* at) HWY_ATTR {
        for (int64_t j = 0; j < n; ++j) a[j * kSize + i] = at[j * p.from.element];
      });
      return a;
    case FftRead::kSpectrum:
      read_complex(d, p.from, first, count, n / 2 + 1, [&](int64_t j, Pair<D> x) HWY_ATTR {
        if (j == 0) x.im = hn::Zero(d);
        store_pair(d, swapped(x), a + j * kSize);
        if (j > 0) store_pair(d, swapped(conjugate(x)), a + (n - j) * kSize);
      });
      return a;
    case FftRead::kSpectrumByHalves:
      read_complex(d, p.from, first, count, n + 1,
                   [&](int64_t j, Pair<D> x) HWY_ATTR { store_pair(d, x, a + j * kSize); });
      to_halves(d, *p.plan, a, b, true);
      return b;
  }
  return a;
}

// The lines that are in a.
template <class D, typename T>
void write_lines(D d, const FftBlock<T>& p, int64_t first, int64_t count, T* a, T* b) {
  constexpr int64_t kSize = 2 * hn::MaxLanes(d);
  const int64_t n = p.plan->length;
  const auto at = [&](int64_t k) HWY_ATTR { return load_pair(d, a + k * kSize); };
  switch (p.write) {
    case FftWrite::kComplex:
      if (!p.turns) return write_complex(d, p.to, first, count, n, at);
      if (count < static_cast<int64_t>(hn::MaxLanes(d))) {
        // The turns of no more lines than there are.
        HWY_ALIGN T some[kSize] = {};
        return write_complex(d, p.to, first, count, n, [&](int64_t k) HWY_ATTR {
          const auto* turns = reinterpret_cast<const T*>(p.turns + k * p.turns_of_element + first);
          std::copy_n(turns, 2 * count, some);
          return multiply(at(k), load_side_by_side(d, some));
        });
      }
      return write_complex(d, p.to, first, count, n, [&](int64_t k) HWY_ATTR {
        const auto* turns = reinterpret_cast<const T*>(p.turns + k * p.turns_of_element + first);
        return multiply(at(k), load_side_by_side(d, turns));
      });
    case FftWrite::kSwapped:
      return write_complex(d, p.to, first, count, n,
                           [&](int64_t k) HWY_ATTR { return scaled(d, swapped(at(k)), p.scale); });
    case FftWrite::kReal:
      return for_each_line(p.to, 1, first, count, [&](int64_t i, T* to) HWY_ATTR {
        const T* imaginary = a + kSize / 2 + i;
        for (int64_t k = 0; k < n; ++k) to[k * p.to.element] = imaginary[k * kSize] * p.scale;
      });
    case FftWrite::kHalfOfSpectrum:
      return write_complex(d, p.to, first, count, n / 2 + 1, at);
    case FftWrite::kSpectrumByHalves:
      from_halves(d, *p.plan, a, b);
      return write_complex(d, p.to, first, count, n + 1,
                           [&](int64_t k) HWY_ATTR { return load_pair(d, b + k * kSize); });
  }
}

template <class D, typename T>
void transform_some(D d, const FftBlock<T>& p, int64_t first, int64_t count) {
  T* a = static_cast<T*>(p.memory);
  T* b = a + size_of_buffer(*p.plan);
  T* in = read_lines(d, p, first, count, a, b);
  T* out = transform_lanes(d, *p.plan, in, in == a ? b : a);
  write_lines(d, p, first, count, out, out == a ? b : a);
}

template <typename T>
void transform(const FftBlock<T>& p) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  int64_t done = 0;
  for (; done + kLanes <= p.count; done += kLanes) {
    transform_some(d, p, p.first + done, kLanes);
  }
  // A few lines are faster one by one.
  if (p.count - done > kLanes / 4) return transform_some(d, p, p.first + done, p.count - done);
  for (; done < p.count; ++done) transform_some(one, p, p.first + done, 1);
}

template <typename T>
void multiply_lines(const T* a, bool swap_a, const T* b, T* to, bool swap_to, T scale, int64_t n) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  const auto some = [&](auto tag, int64_t i) HWY_ATTR {
    auto x = load_side_by_side(tag, a + 2 * i);
    if (swap_a) x = swapped(x);
    x = scaled(tag, multiply(x, load_side_by_side(tag, b + 2 * i)), scale);
    store_side_by_side(tag, swap_to ? swapped(x) : x, to + 2 * i);
  };
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) some(d, i);
  for (; i < n; ++i) some(one, i);
}

template <typename T>
constexpr FftFunctions<T> kFunctions = {transform<T>, multiply_lines<T>,
                                        [](const FftPlan<T>& plan, const T* z, T* y) {
                                          from_halves(hn::CappedTag<T, 1>(), plan, z, y);
                                        },
                                        [](const FftPlan<T>& plan, const T* y, T* z) {
                                          to_halves(hn::CappedTag<T, 1>(), plan, y, z, false);
                                        }};

}  // namespace

const FftFunctions<float>& float_fft() { return kFunctions<float>; }
const FftFunctions<double>& double_fft() { return kFunctions<double>; }

}  // namespace graven::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graven::engine {
namespace {

constexpr int64_t kElementsOfChunk = 1 << 13;

template <typename Real>
const FftFunctions<Real>& functions() {
  if constexpr (sizeof(Real) == sizeof(float)) {
    return GRAVEN_SIMD_DISPATCH(float_fft)();
  } else {
    return GRAVEN_SIMD_DISPATCH(double_fft)();
  }
}

template <typename Real>
void multiply(const std::complex<Real>* a, bool swap_a, const std::complex<Real>* b,
              std::complex<Real>* to, bool swap_to, Real scale, int64_t n) {
  functions<Real>().multiply(reinterpret_cast<const Real*>(a), swap_a,
                             reinterpret_cast<const Real*>(b), reinterpret_cast<Real*>(to), swap_to,
                             scale, n);
}

template <typename Real>
bool transform_matrix(const FftPlan<Real>& plan, const std::complex<Real>* from,
                      std::complex<Real>* to, std::complex<Real>* between, bool is_inverse) {
  const int64_t rows = plan.of_columns->length, columns = plan.of_rows->length;
  FftBlock<Real> first;
  first.plan = plan.of_columns.get();
  first.read = is_inverse ? FftRead::kSwapped : FftRead::kComplex;
  first.from = {reinterpret_cast<const Real*>(from), columns, 0, 2 * columns};
  first.to = {reinterpret_cast<Real*>(between), columns, 0, 2 * columns};
  first.count = columns;
  first.turns = plan.turns.get();
  first.turns_of_element = columns;
  FftBlock<Real> second;
  second.plan = plan.of_rows.get();
  second.write = is_inverse ? FftWrite::kSwapped : FftWrite::kComplex;
  second.scale = 1 / static_cast<Real>(plan.length);
  second.from = {reinterpret_cast<const Real*>(between), 1, 2 * columns, 2};
  second.to = {reinterpret_cast<Real*>(to), rows, 0, 2 * rows};
  second.count = rows;
  return transform_lines(first) && transform_lines(second);
}

template <typename Real>
bool transform_chirp(const FftPlan<Real>& plan, const std::complex<Real>* from,
                     std::complex<Real>* to, std::complex<Real>* a, bool is_inverse) {
  const int64_t n = plan.length, size = plan.circle->length;
  multiply(from, is_inverse, plan.chirp.get(), a, false, Real(1), n);
  std::fill(a + n, a + size, std::complex<Real>());
  if (!transform_line(*plan.circle, a, a)) return false;
  multiply(a, false, plan.filter.get(), a, true, Real(1), size);
  if (!transform_line(*plan.circle, a, a)) return false;
  const Real scale = is_inverse ? 1 / static_cast<Real>(n) : Real(1);
  multiply(a, true, plan.chirp.get(), to, is_inverse, scale, n);
  return true;
}

}  // namespace

template <typename Real>
bool transform_lines(const FftBlock<Real>& block) {
  const int64_t lines = kFftLines<Real>;
  const int64_t blocks =
      std::max<int64_t>(1, kElementsOfChunk / (lines * block.plan->working_length()));
  // Where this line is one of many, the other threads have lines of their own.
  const int64_t step = ThreadPool::depth() > 0 ? block.count : blocks * lines;
  std::atomic<bool> failed = false;
  ThreadPool::shared().run((block.count + step - 1) / step, [&](int64_t chunk) {
    const ScratchBlock memory(2 * static_cast<size_t>(size_of_buffer(*block.plan)) * sizeof(Real));
    if (!memory.get()) {
      failed = true;
      return;
    }
    FftBlock<Real> part = block;
    part.memory = memory.get();
    part.first = chunk * step;
    part.count = std::min(step, block.count - part.first);
    functions<Real>().transform(part);
  });
  return !failed;
}

template <typename Real>
bool transform_line(const FftPlan<Real>& plan, const std::complex<Real>* from,
                    std::complex<Real>* to, bool is_inverse) {
  if (plan.is_short()) {
    FftBlock<Real> block;
    block.plan = &plan;
    block.read = is_inverse ? FftRead::kSwapped : FftRead::kComplex;
    block.write = is_inverse ? FftWrite::kSwapped : FftWrite::kComplex;
    block.scale = 1 / static_cast<Real>(plan.length);
    block.from = {reinterpret_cast<const Real*>(from), 1, 0, 2};
    block.to = {reinterpret_cast<Real*>(to), 1, 0, 2};
    block.count = 1;
    return transform_lines(block);
  }
  const ScratchBlock memory(static_cast<size_t>(plan.working_length()) * sizeof(*to));
  auto* scratch = static_cast<std::complex<Real>*>(memory.get());
  if (!scratch) return false;
  return plan.circle ? transform_chirp(plan, from, to, scratch, is_inverse)
                     : transform_matrix(plan, from, to, scratch, is_inverse);
}

template <typename Real>
void from_halves(const FftPlan<Real>& plan, const std::complex<Real>* z, std::complex<Real>* y) {
  functions<Real>().from_halves(plan, reinterpret_cast<const Real*>(z), reinterpret_cast<Real*>(y));
}

template <typename Real>
void to_halves(const FftPlan<Real>& plan, const std::complex<Real>* y, std::complex<Real>* z) {
  functions<Real>().to_halves(plan, reinterpret_cast<const Real*>(y), reinterpret_cast<Real*>(z));
}

#define GRAVEN_INSTANTIATE(Real)                                                                   \
  template bool transform_lines(const FftBlock<Real>&);                                            \
  template bool transform_line(const FftPlan<Real>&, const std::complex<Real>*,                    \
                               std::complex<Real>*, bool);                                         \
  template void from_halves(const FftPlan<Real>&, const std::complex<Real>*, std::complex<Real>*); \
  template void to_halves(const FftPlan<Real>&, const std::complex<Real>*, std::complex<Real>*)
GRAVEN_INSTANTIATE(float);
GRAVEN_INSTANTIATE(double);
#undef GRAVEN_INSTANTIATE

}  // namespace graven::engine
#endif  // HWY_ONCE
