// Combining values in the order that reduction_order.h states, for the instructions that
// reductions are made of.
//
// Deviations from the letter of that order do not change a bit. The lanes need not start at the
// identity: combining it with the result once does the same, as it only makes 0 of -0 and of a
// denormal. Lanes without a value hold the identity, or are left out.
//
// Minima and maxima of floats are taken by one machine instruction, and again by combine() in the
// few cases where that is not the same.
//
// Rows are halved in vectors of up to 64 bytes until 16 bytes are left of each. So many of these as
// there are results in 16 bytes are then folded together: the lower halves of two of them make one
// vector, the upper halves another, both are combined, and so on.
#include <algorithm>
#include <cstring>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graven/kernels/reduction_blocks.cc"
#include "hwy/foreach_target.h"
//
#include "graven/kernels/block_functions.h"
#include "graven/kernels/reduction_order.h"
#include "graven/kernels/simd_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace graven::engine::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kNarrowBytes = 16;
template <typename T>
using Narrow = hn::FixedTag<T, kNarrowBytes / sizeof(T)>;
template <typename T, size_t kBytes = 32>
using Wide = hn::CappedTag<T, kBytes / sizeof(T)>;
constexpr int kWidestBytes = 64;
template <class D>
inline constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(D()));
template <typename T>
inline constexpr int64_t kSize = static_cast<int64_t>(sizeof(T));

template <Instruction kInstruction, class D, class V = hn::Vec<D>>
HWY_INLINE V combine(D, V a, V b) {
  using T = hn::TFromD<D>;
  if constexpr (kInstruction == Instruction::kAdd) {
    return hn::Add(a, b);
  } else if constexpr (kInstruction == Instruction::kAnd) {
    return hn::And(a, b);
  } else if constexpr (kInstruction == Instruction::kOr) {
    return hn::Or(a, b);
  } else if constexpr (kInstruction == Instruction::kMul) {
    return hn::Mul(a, b);
  } else if constexpr (std::is_floating_point_v<T>) {
    // As the block instructions do: NaN if one of them is, b if they are equal.
    const auto wins = kInstruction == Instruction::kMax ? hn::Gt(a, b) : hn::Lt(a, b);
    return hn::IfThenElse(hn::Or(wins, hn::IsNaN(a)), a, b);
  } else {
    return kInstruction == Instruction::kMax ? hn::Max(a, b) : hn::Min(a, b);
  }
}

// How a run of values is combined: by combine(), whatever they are.
template <Instruction kInstruction, class D>
struct AnyValues {
  using V = hn::Vec<D>;
  HWY_INLINE V note(V values) { return values; }
  HWY_INLINE V load(const hn::TFromD<D>* from) { return hn::LoadU(D(), from); }
  // Of vectors of any length.
  template <class E, class W = hn::Vec<E>>
  HWY_INLINE W combined(E e, W a, W b) const {
    return combine<kInstruction>(e, a, b);
  }
  HWY_INLINE V operator()(V a, V b) const { return combined(D(), a, b); }
  template <class R>
  HWY_INLINE bool is_right(R, hn::Vec<R>) const {
    return true;
  }
};

// Or by the machine's minimum or maximum of floats, which does the same unless a value is NaN or
// the result a denormal: it makes a zero of that.
template <Instruction kInstruction, class D>
struct Numbers {
  using V = hn::Vec<D>;
  HWY_INLINE Numbers() : nans(hn::FirstN(D(), 0)) {}
  HWY_INLINE V note(V values) {
    nans = hn::Or(nans, hn::IsNaN(values));
    return values;
  }
  HWY_INLINE V load(const hn::TFromD<D>* from) { return note(hn::LoadU(D(), from)); }
  template <class E, class W = hn::Vec<E>>
  HWY_INLINE W combined(E, W a, W b) const {
    return kInstruction == Instruction::kMax ? hn::Max(a, b) : hn::Min(a, b);
  }
  HWY_INLINE V operator()(V a, V b) const { return combined(D(), a, b); }
  template <class R>
  HWY_INLINE bool is_right(R d, hn::Vec<R> results) const {
    return hn::AllFalse(D(), nans) && hn::AllFalse(d, hn::Eq(results, hn::Zero(d)));
  }
  hn::Mask<D> nans;
};

// Calls body(how), which combines all values so, until it says that this was right.
template <Instruction kInstruction, class D, typename Body>
HWY_INLINE void combine_by(const Body& body) {
  constexpr bool kIsChoice = kInstruction == Instruction::kMin || kInstruction == Instruction::kMax;
  if constexpr (kIsChoice && hwy::IsFloat<hn::TFromD<D>>()) {
    if (HWY_LIKELY(body(Numbers<kInstruction, D>()))) return;
  }
  body(AnyValues<kInstruction, D>());
}

// Of complex numbers, whose parts are neighbours, as a body that multiplies them is recorded: the
// product of each two parts is rounded.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V complex_product(D d, V a, V b) {
  const V by_real = hn::Mul(hn::DupEven(a), b);
  const V by_imaginary = hn::Mul(hn::DupOdd(a), hn::Reverse2(d, b));
  return hn::OddEven(hn::Add(by_real, by_imaginary), hn::Sub(by_real, by_imaginary));
}

template <typename T>
void complex_products(void* out, const void* a, const void* b, const void*, int64_t n) {
  constexpr Wide<T> d;
  constexpr int64_t kStep = kLanes<Wide<T>>;
  T* to = static_cast<T*>(out);
  const T *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
  n *= 2;
  for (; n >= kStep; n -= kStep, to += kStep, x += kStep, y += kStep) {
    hn::StoreU(complex_product(d, hn::LoadU(d, x), hn::LoadU(d, y)), d, to);
  }
  if (n == 0) return;
  alignas(64) T some_x[kStep] = {}, some_y[kStep] = {};
  std::memcpy(some_x, x, n * sizeof(T));
  std::memcpy(some_y, y, n * sizeof(T));
  hn::Store(complex_product(d, hn::Load(d, some_x), hn::Load(d, some_y)), d, some_x);
  std::memcpy(to, some_x, n * sizeof(T));
}

template <typename T, class D>
HWY_INLINE hn::Vec<D> repeated(D d, const T* identity, int parts) {
  alignas(64) T elements[kLanes<D>];
  for (int64_t i = 0; i < kLanes<D>; ++i) elements[i] = identity[i % parts];
  return hn::Load(d, elements);
}

// --- Rows. Numbers of elements are those of T here: a complex number is two.

// The values that are the same for all rows of one call.
template <typename T, class D>
struct RowShape {
  RowShape(int64_t length, const T* identity, int parts)
      : length(length),
        rest(length % kLanes<D>),
        mask(hn::FirstN(D(), static_cast<size_t>(rest))),
        identities(repeated(D(), identity, parts)) {}
  HWY_INLINE hn::Vec<D> rest_of(const T* tail) const {
    return hn::IfThenElse(mask, hn::LoadU(D(), tail), identities);
  }
  int64_t length;
  int64_t rest;  // elements of the last vector, if it is not a whole one
  hn::Mask<D> mask;
  hn::Vec<D> identities;
};

// The lower and the upper half of a vector, until 16 bytes are left.
template <typename T, class D, class How>
HWY_INLINE hn::Vec<Narrow<T>> halve(const How& how, D, hn::Vec<D> v) {
  if constexpr (kLanes < D >> kLanes<Narrow<T>>) {
    constexpr hn::Half<D> half;
    return halve<T>(how, half, how.combined(half, hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  } else {
    return v;
  }
}

// Calls body(0), body(1), ... as constants: an array that it indexes stays in registers.
template <int kCount, typename Body>
HWY_INLINE void unrolled(const Body& body) {
  if constexpr (kCount == 1) {
    body(std::integral_constant<int, 0>());
  } else {
    unrolled<kCount - 1>(body);
    body(std::integral_constant<int, kCount - 1>());
  }
}

// The lower and the upper half of some vectors, until one is left.
template <class How, class V, int kCount>
HWY_INLINE V halve_all(How& how, const V (&v)[kCount]) {
  if constexpr (kCount == 1) {
    return v[0];
  } else {
    V halves[kCount / 2];
    unrolled<kCount / 2>([&](auto i) HWY_ATTR { halves[i] = how(v[i], v[i + kCount / 2]); });
    return halve_all(how, halves);
  }
}

// Lanes of kBytes bytes, of which half are at least used. tail: where the last `rest` elements can
// be read as a whole vector.
template <Instruction kInstruction, typename T, int kBytes, class D, class How>
HWY_INLINE hn::Vec<Narrow<T>> reduce_row(How& how, const RowShape<T, D>& shape, const T* row,
                                         const T* tail) {
  constexpr D d;
  constexpr int kVectors = kBytes / (kLanes<D> * sizeof(T));
  if constexpr (kVectors == 1) {
    return halve<T>(how, d, shape.rest == 0 ? how.load(row) : how.note(shape.rest_of(tail)));
  }
  constexpr int64_t kPass = kVectors * kLanes<D>;
  hn::Vec<D> v[kVectors];
  int64_t left = shape.length;
  if (left >= kPass) {
    unrolled<kVectors>([&](auto i) HWY_ATTR { v[i] = how.load(row + i * kLanes<D>); });
    for (left -= kPass, row += kPass; left >= kPass; left -= kPass, row += kPass) {
      unrolled<kVectors>([&](auto i) HWY_ATTR { v[i] = how(v[i], how.load(row + i * kLanes<D>)); });
    }
    if (left > 0) {
      unrolled<kVectors>([&](auto i) HWY_ATTR {
        if ((i + 1) * kLanes<D> <= left) {
          v[i] = how(v[i], how.load(row + i * kLanes<D>));
        } else if (i * kLanes<D> < left) {
          v[i] = how(v[i], how.note(shape.rest_of(tail)));
        }
      });
    }
  } else {
    unrolled<kVectors>([&](auto i) HWY_ATTR {
      if ((i + 1) * kLanes<D> <= left) {
        v[i] = how.load(row + i * kLanes<D>);
      } else if (i * kLanes<D> < left) {
        v[i] = how.note(shape.rest_of(tail));
      } else {
        v[i] = shape.identities;
      }
    });
  }
  return halve<T>(how, d, halve_all(how, v));
}

template <size_t kBytes>
using UnsignedOf = std::conditional_t<
    kBytes == 1, uint8_t,
    std::conditional_t<kBytes == 2, uint16_t, std::conditional_t<kBytes == 4, uint32_t, uint64_t>>>;

// kCount vectors, which hold groups of kGroup lanes, to one of groups of kParts, in v[0].
template <typename T, int kGroup, int kParts, int kCount, class How>
HWY_INLINE void fold_groups(const How& how, hn::Vec<Narrow<T>>* v) {
  if constexpr (kGroup > kParts) {
    constexpr Narrow<T> d;
    using HalfWord = UnsignedOf<kGroup / 2 * sizeof(T)>;
    constexpr Narrow<HalfWord> halves;
    for (int i = 0; i < kCount / 2; ++i) {
      const auto a = hn::BitCast(halves, v[2 * i]), b = hn::BitCast(halves, v[2 * i + 1]);
      v[i] = how.combined(d, hn::BitCast(d, hn::ConcatEven(halves, b, a)),
                          hn::BitCast(d, hn::ConcatOdd(halves, b, a)));
    }
    fold_groups<T, kGroup / 2, kParts, kCount / 2>(how, v);
  }
}

// The results in a vector, combined with the identity and written.
template <Instruction kInstruction, typename T, class V = hn::Vec<Narrow<T>>>
HWY_INLINE void write_results(T* out, V v, V identities, int64_t count) {
  constexpr Narrow<T> d;
  v = combine<kInstruction>(d, identities, v);
  if (count == kLanes<Narrow<T>>) return hn::StoreU(v, d, out);
  alignas(16) T results[kLanes<Narrow<T>>];
  hn::Store(v, d, results);
  std::memcpy(out, results, count * sizeof(T));
}

// Rows whose lanes take kBytes, or longer ones if these are all that there are.
template <Instruction kInstruction, typename T, int kParts, int kBytes>
void reduce_rows(T* out, const T* values, int64_t rows, int64_t length, const T* identity) {
  using D = std::conditional_t<kBytes == kNarrowBytes, Narrow<T>,
                               Wide<T, std::min(kBytes, kWidestBytes)>>;
  constexpr int64_t kRows = kLanes<Narrow<T>> / kParts;
  const RowShape<T, D> shape(length, identity, kParts);
  const auto identities = repeated(Narrow<T>(), identity, kParts);
  const T* end = values + rows * length;
  alignas(64) T padded[kLanes<D>] = {};
  for (int64_t first = 0; first < rows; first += kRows) {
    const int64_t count = std::min(kRows, rows - first);
    const T* row = values + first * length;
    hn::Vec<Narrow<T>> v[kRows];
    const bool is_inside = end - (row + count * length - shape.rest) >= kLanes<D>;
    combine_by<kInstruction, D>([&](auto how) HWY_ATTR {
      if (kBytes <= 32 && kRows <= 4 && count == kRows && is_inside) {
        for (int64_t r = 0; r < kRows; ++r) {
          const T* from = row + r * length;
          v[r] = reduce_row<kInstruction, T, kBytes>(how, shape, from, from + length - shape.rest);
        }
      } else {
        for (int64_t r = count; r < kRows; ++r) v[r] = identities;
#pragma GCC unroll 1
        for (int64_t r = 0; r < count; ++r) {
          const T* from = row + r * length;
          const T* tail = from + length - shape.rest;
          if (!is_inside) tail = std::copy_n(tail, shape.rest, padded) - shape.rest;
          v[r] = reduce_row<kInstruction, T, kBytes>(how, shape, from, tail);
        }
      }
      fold_groups<T, kLanes<Narrow<T>>, kParts, kRows>(how, v);
      return how.is_right(Narrow<T>(), v[0]);
    });
    write_results<kInstruction, T>(out + first * kParts, v[0], identities, count * kParts);
  }
}

// Rows of kLength elements, a power of two that takes at most 8 bytes: several in a vector.
template <Instruction kInstruction, typename T, int kLength>
void reduce_short_rows(T* out, const T* values, int64_t rows, const T* identity) {
  constexpr Narrow<T> d;
  constexpr int64_t kRows = kLanes<Narrow<T>>;
  const auto identities = repeated(d, identity, 1);
  alignas(64) T padded[kRows * kLength] = {};
  for (int64_t first = 0; first < rows; first += kRows) {
    const int64_t count = std::min(kRows, rows - first);
    const T* from = values + first * kLength;
    if (count < kRows) {
      std::memcpy(padded, from, count * kLength * sizeof(T));
      from = padded;
    }
    hn::Vec<Narrow<T>> v[kLength];
    for (int64_t i = 0; i < kLength; ++i) v[i] = hn::LoadU(d, from + i * kRows);
    fold_groups<T, kLength, 1, kLength>(AnyValues<kInstruction, Narrow<T>>(), v);
    write_results<kInstruction, T>(out + first, v[0], identities, count);
  }
}

template <Instruction kInstruction, typename T, int kParts>
void rows(void* results, const void* elements, int64_t rows, int64_t columns,
          const void* identity_bits) {
  T* out = static_cast<T*>(results);
  const T* values = static_cast<const T*>(elements);
  const int64_t length = columns * kParts;
  T identity[kParts];
  std::memcpy(identity, identity_bits, sizeof(identity));
  if constexpr (kParts == 1 && sizeof(T) <= 4) {
    if (length == 2) return reduce_short_rows<kInstruction, T, 2>(out, values, rows, identity);
  }
  if constexpr (kParts == 1 && sizeof(T) <= 2) {
    if (length == 4) return reduce_short_rows<kInstruction, T, 4>(out, values, rows, identity);
  }
  if constexpr (kParts == 1 && sizeof(T) == 1) {
    if (length == 8) return reduce_short_rows<kInstruction, T, 8>(out, values, rows, identity);
  }
  if (columns <= 1) {
    constexpr Narrow<T> d;
    const auto identities = repeated(d, identity, kParts);
    for (int64_t i = 0; i < rows * length; i += kLanes<Narrow<T>>) {
      const int64_t count = std::min(kLanes<Narrow<T>>, rows * length - i);
      alignas(16) T padded[kLanes<Narrow<T>>] = {};
      std::memcpy(padded, values + i, count * sizeof(T));
      write_results<kInstruction, T>(out + i, hn::Load(d, padded), identities, count);
    }
    return;
  }
  const int64_t bytes = length * kSize<T>;
  if (bytes <= 16) {
    reduce_rows<kInstruction, T, kParts, 16>(out, values, rows, length, identity);
  } else if (bytes <= 32) {
    reduce_rows<kInstruction, T, kParts, 32>(out, values, rows, length, identity);
  } else if (bytes <= 64) {
    reduce_rows<kInstruction, T, kParts, 64>(out, values, rows, length, identity);
  } else if (bytes <= 128) {
    reduce_rows<kInstruction, T, kParts, 128>(out, values, rows, length, identity);
  } else {
    reduce_rows<kInstruction, T, kParts, 256>(out, values, rows, length, identity);
  }
}

// to[i] = combine(to[i], values[i]), i < n.
template <Instruction kInstruction, typename T>
HWY_INLINE void combine_run(T* to, const T* values, int64_t n) {
  constexpr Wide<T> d;
  constexpr int64_t kStep = kLanes<Wide<T>>;
  for (; n >= kStep; n -= kStep, to += kStep, values += kStep) {
    hn::StoreU(combine<kInstruction>(d, hn::LoadU(d, to), hn::LoadU(d, values)), d, to);
  }
  if (n == 0) return;
  alignas(64) T a[kStep] = {}, b[kStep] = {};
  std::memcpy(a, to, n * sizeof(T));
  std::memcpy(b, values, n * sizeof(T));
  hn::Store(combine<kInstruction>(d, hn::Load(d, a), hn::Load(d, b)), d, a);
  std::memcpy(to, a, n * sizeof(T));
}

template <Instruction kInstruction, typename T, int kParts>
void lanes(void* accumulators, int64_t first, const void* elements, int64_t n) {
  using D = Wide<T, kWidestBytes>;
  constexpr D d;
  constexpr int64_t kPass = kRowOrderLaneBytes / kSize<T>, kStep = kLanes<D>;
  constexpr int kVectors = static_cast<int>(std::min(kPass / kStep, int64_t{8}));  // in registers
  T* to = static_cast<T*>(accumulators);
  const T* values = static_cast<const T*>(elements);
  first *= kParts;
  n *= kParts;
  if (first > 0) {
    const int64_t count = std::min(n, kPass - first);
    combine_run<kInstruction>(to + first, values, count);
    values += count;
    n -= count;
  }
  const int64_t whole = n / kPass * kPass;
  if (whole > 0) {
    for (int64_t part = 0; part < kPass; part += kVectors * kStep) {
      hn::Vec<D> v[kVectors];
      combine_by<kInstruction, D>([&](auto how) HWY_ATTR {
        for (int i = 0; i < kVectors; ++i) v[i] = how.load(to + part + i * kStep);
        for (const T* from = values + part; from < values + whole; from += kPass) {
          for (int i = 0; i < kVectors; ++i) v[i] = how(v[i], how.load(from + i * kStep));
        }
        bool is_right = true;
        for (int i = 0; i < kVectors; ++i) is_right &= how.is_right(d, v[i]);
        return is_right;
      });
      for (int i = 0; i < kVectors; ++i) hn::StoreU(v[i], d, to + part + i * kStep);
    }
  }
  combine_run<kInstruction>(to, values + whole, n - whole);
}

// --- Columns.

// A few columns, at most kVectors vectors of them, in kSegments segments side by side: the
// additions of one wait for each other.
template <Instruction kInstruction, typename T, int kVectors, int kSegments>
HWY_INLINE void few_columns(std::byte* accumulators, const ColumnValues& x, int64_t first_segment,
                            int64_t columns, const std::byte* end) {
  constexpr Wide<T> d;
  constexpr int64_t kStep = kLanes<Wide<T>>, kBytes = kVectors * kStep * kSize<T>;
  const int64_t bytes = columns * kSize<T>;
  alignas(64) T padded[kVectors * kStep] = {};
  hn::Vec<Wide<T>> v[kSegments][kVectors];
  const std::byte* from = x.values + first_segment * x.segment_bytes;
  for (int s = 0; s < kSegments; ++s) {
    std::memcpy(padded, accumulators + (first_segment + s) * x.accumulator_bytes, bytes);
    for (int i = 0; i < kVectors; ++i) v[s][i] = hn::Load(d, padded + i * kStep);
  }
  // Rows that can be read as whole vectors.
  const int64_t room = end - (from + (kSegments - 1) * x.segment_bytes) - kBytes;
  const int64_t safe = room < 0 ? 0 : x.row_bytes == 0 ? x.rows : room / x.row_bytes + 1;
  int64_t row = 0;
  for (; row < std::min(safe, x.rows); ++row, from += x.row_bytes) {
    for (int s = 0; s < kSegments; ++s) {
      const T* at = reinterpret_cast<const T*>(from + s * x.segment_bytes);
      for (int i = 0; i < kVectors; ++i) {
        v[s][i] = combine<kInstruction>(d, v[s][i], hn::LoadU(d, at + i * kStep));
      }
    }
  }
#pragma GCC unroll 1
  for (; row < x.rows; ++row, from += x.row_bytes) {
    for (int s = 0; s < kSegments; ++s) {
      std::memcpy(padded, from + s * x.segment_bytes, bytes);
      for (int i = 0; i < kVectors; ++i) {
        v[s][i] = combine<kInstruction>(d, v[s][i], hn::Load(d, padded + i * kStep));
      }
    }
  }
  for (int s = 0; s < kSegments; ++s) {
    for (int i = 0; i < kVectors; ++i) hn::Store(v[s][i], d, padded + i * kStep);
    std::memcpy(accumulators + (first_segment + s) * x.accumulator_bytes, padded, bytes);
  }
}

template <Instruction kInstruction, typename T, int kVectors>
void few_columns(std::byte* accumulators, const ColumnValues& x, int64_t columns,
                 const std::byte* end) {
  constexpr int kTogether = 8 / kVectors;
  int64_t segment = 0;
  for (; segment + kTogether <= x.segments; segment += kTogether) {
    few_columns<kInstruction, T, kVectors, kTogether>(accumulators, x, segment, columns, end);
  }
  if constexpr (kTogether > 1) {
    for (; segment < x.segments; ++segment) {
      few_columns<kInstruction, T, kVectors, 1>(accumulators, x, segment, columns, end);
    }
  }
}

// Whole vectors of columns, kRows rows at a time, so that accumulators are read and written once
// for all of these.
template <Instruction kInstruction, typename T, int kRows>
HWY_INLINE void add_rows(T* to, const std::byte* from, int64_t row_bytes, int64_t columns) {
  constexpr Wide<T> d;
  for (int64_t i = 0; i < columns; i += kLanes<Wide<T>>) {
    auto v = hn::LoadU(d, to + i);
    for (int64_t r = 0; r < kRows; ++r) {
      const T* row = reinterpret_cast<const T*>(from + r * row_bytes);
      v = combine<kInstruction>(d, v, hn::LoadU(d, row + i));
    }
    hn::StoreU(v, d, to + i);
  }
}

// Many columns of one segment. The last of them, which are no whole vector, have accumulators of
// their own meanwhile.
template <Instruction kInstruction, typename T>
void many_columns(T* to, const std::byte* from, const ColumnValues& x, int64_t columns,
                  const std::byte* end) {
  constexpr int64_t kStep = kLanes<Wide<T>>, kRows = 8;
  const int64_t whole = columns / kStep * kStep, rest = columns - whole;
  alignas(64) T last[kStep] = {}, padded[kStep] = {};
  std::copy_n(to + whole, rest, last);
  const std::byte* from_last = from + whole * kSize<T>;
  int64_t row = 0;
  for (; row + kRows <= x.rows; row += kRows) {
    const int64_t offset = row * x.row_bytes;
    if (end - (from_last + offset + (kRows - 1) * x.row_bytes) < kStep * kSize<T>) break;
    add_rows<kInstruction, T, kRows>(to, from + offset, x.row_bytes, whole);
    if (rest > 0) {
      add_rows<kInstruction, T, kRows>(last, from_last + offset, x.row_bytes, kStep);
    }
  }
  for (; row < x.rows; ++row) {
    const int64_t offset = row * x.row_bytes;
    add_rows<kInstruction, T, 1>(to, from + offset, 0, whole);
    std::memcpy(padded, from_last + offset, rest * sizeof(T));
    add_rows<kInstruction, T, 1>(last, reinterpret_cast<const std::byte*>(padded), 0, kStep);
  }
  std::copy_n(last, rest, to + whole);
}

template <Instruction kInstruction, typename T, int kParts>
void columns(void* results, const ColumnValues& x) {
  std::byte* accumulators = static_cast<std::byte*>(results);
  constexpr int64_t kStep = kLanes<Wide<T>>;
  const int64_t columns = x.columns * kParts;
  if (x.rows == 0 || columns == 0 || x.segments == 0) return;
  const std::byte* end = x.values + (x.segments - 1) * x.segment_bytes +
                         (x.rows - 1) * x.row_bytes + columns * kSize<T>;
  if (columns <= kStep) return few_columns<kInstruction, T, 1>(accumulators, x, columns, end);
  if (columns <= 2 * kStep) return few_columns<kInstruction, T, 2>(accumulators, x, columns, end);
  for (int64_t segment = 0; segment < x.segments; ++segment) {
    many_columns<kInstruction>(reinterpret_cast<T*>(accumulators + segment * x.accumulator_bytes),
                               x.values + segment * x.segment_bytes, x, columns, end);
  }
}

template <Instruction kInstruction, typename T, int kParts = 1>
constexpr ReductionFunctions kFunctions = {rows<kInstruction, T, kParts>,
                                           lanes<kInstruction, T, kParts>,
                                           columns<kInstruction, T, kParts>};

template <typename T>
const ReductionFunctions* of(Instruction instruction) {
  switch (instruction) {
    case Instruction::kAdd:
      return &kFunctions<Instruction::kAdd, T>;
    case Instruction::kMul:
      if constexpr (std::is_floating_point_v<T>) return &kFunctions<Instruction::kMul, T>;
      return nullptr;
    case Instruction::kMin:
      return &kFunctions<Instruction::kMin, T>;
    case Instruction::kMax:
      return &kFunctions<Instruction::kMax, T>;
    default:
      return nullptr;
  }
}

const ReductionFunctions* find(Instruction instruction, DType accumulator) {
  const bool is_sum = instruction == Instruction::kAdd;
  switch (accumulator) {
    case DType::kFloat32:
      return of<float>(instruction);
    case DType::kFloat64:
      return of<double>(instruction);
    case DType::kInt32:
      return of<int32_t>(instruction);
    case DType::kInt64:
      return of<int64_t>(instruction);
    case DType::kComplex64:
      return is_sum ? &kFunctions<Instruction::kAdd, float, 2> : nullptr;
    case DType::kComplex128:
      return is_sum ? &kFunctions<Instruction::kAdd, double, 2> : nullptr;
    case DType::kBool:
      if (instruction == Instruction::kAnd) return &kFunctions<Instruction::kAnd, uint8_t>;
      if (instruction == Instruction::kOr) return &kFunctions<Instruction::kOr, uint8_t>;
      return nullptr;
    default:
      return nullptr;
  }
}

BlockFunction find_complex_product(DType dtype) {
  return dtype == DType::kComplex64 ? complex_products<float> : complex_products<double>;
}

}  // namespace
}  // namespace graven::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graven::engine {
const ReductionFunctions* reduction_functions(Instruction instruction, DType accumulator) {
  return GRAVEN_SIMD_DISPATCH(find)(instruction, accumulator);
}
BlockFunction complex_product_function(DType dtype) {
  return GRAVEN_SIMD_DISPATCH(find_complex_product)(dtype);
}
}  // namespace graven::engine
#endif
