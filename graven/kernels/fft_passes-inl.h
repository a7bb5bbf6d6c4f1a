// The passes of a Fourier transform over many lines at once, one in each lane of a vector: in each,
// every `radix` elements become their transform, turned, at the places that leave the last result
// in order (Stockham; C. Van Loan, "Computational Frameworks for the Fast Fourier Transform", 1992,
// 1.7). Element j of the lines is a vector of real parts at 2 N j and one of imaginary parts behind
// it. The operations on a line do not depend on the number of lanes.
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <utility>

#include "graven/kernels/fft_plan.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace graven::engine::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
struct Pair {
  hn::Vec<D> re, im;
};

template <class D>
HWY_INLINE Pair<D> load_pair(D d, const hn::TFromD<D>* from) {
  return {hn::LoadU(d, from), hn::LoadU(d, from + hn::MaxLanes(d))};
}
template <class D>
HWY_INLINE void store_pair(D d, Pair<D> x, hn::TFromD<D>* to) {
  hn::StoreU(x.re, d, to);
  hn::StoreU(x.im, d, to + hn::MaxLanes(d));
}
template <class D>
HWY_INLINE Pair<D> add(Pair<D> a, Pair<D> b) {
  return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}
template <class D>
HWY_INLINE Pair<D> subtract(Pair<D> a, Pair<D> b) {
  return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}
template <class D>
HWY_INLINE Pair<D> multiply(Pair<D> a, Pair<D> b) {
  return {hn::NegMulAdd(a.im, b.im, hn::Mul(a.re, b.re)),
          hn::MulAdd(a.re, b.im, hn::Mul(a.im, b.re))};
}
// By -i.
template <class D>
HWY_INLINE Pair<D> turn_back(Pair<D> a) {
  return {a.im, hn::Neg(a.re)};
}
template <class D, typename T>
HWY_INLINE Pair<D> scaled(D d, Pair<D> a, T factor) {
  return {hn::Mul(a.re, hn::Set(d, factor)), hn::Mul(a.im, hn::Set(d, factor))};
}
// The same number in all lanes.
template <class D, typename T>
HWY_INLINE Pair<D> same(D d, const std::complex<T>& x) {
  return {hn::Set(d, x.real()), hn::Set(d, x.imag())};
}

// --- Transforms of a few elements, in place.

template <class D>
HWY_INLINE void transform_2(Pair<D>& a, Pair<D>& b) {
  const Pair<D> sum = add(a, b);
  b = subtract(a, b);
  a = sum;
}

template <class D>
HWY_INLINE void transform_4(Pair<D>& a, Pair<D>& b, Pair<D>& c, Pair<D>& d) {
  const Pair<D> ac = add(a, c), a_c = subtract(a, c);
  const Pair<D> bd = add(b, d), b_d = turn_back(subtract(b, d));
  a = add(ac, bd);
  b = add(a_c, b_d);
  c = subtract(ac, bd);
  d = subtract(a_c, b_d);
}

template <class D>
HWY_INLINE void transform_8(D d, Pair<D>* x) {
  constexpr auto kDiagonal = static_cast<hn::TFromD<D>>(std::numbers::sqrt2 / 2);
  transform_4(x[0], x[2], x[4], x[6]);
  transform_4(x[1], x[3], x[5], x[7]);
  const Pair<D> b = turn_back(x[5]);
  const Pair<D> a = scaled(d, add(x[3], turn_back(x[3])), kDiagonal);
  const Pair<D> c = scaled(d, subtract(turn_back(x[7]), x[7]), kDiagonal);
  const Pair<D> even[] = {x[0], x[2], x[4], x[6]}, odd[] = {x[1], a, b, c};
  for (int k = 0; k < 4; ++k) {
    x[k] = add(even[k], odd[k]);
    x[k + 4] = subtract(even[k], odd[k]);
  }
}

// With s = x[j] + x[radix - j] and d = x[j] - x[radix - j], elements k and radix - k are
//   x[0] + sum over j of s cos(2 pi j k / radix) -+ i d sin(2 pi j k / radix).
// roots[j] is exp(-2 pi i j / radix). from and to do not overlap.
template <class D, typename T>
HWY_INLINE void transform_odd(D d, int64_t radix, const std::complex<T>* roots, Pair<D>* from,
                              Pair<D>* to) {
  const int64_t half = radix / 2;
  to[0] = from[0];
#pragma GCC unroll 8
  for (int64_t j = 1; j <= half; ++j) {
    transform_2(from[j], from[radix - j]);
    to[0] = add(to[0], from[j]);
  }
#pragma GCC unroll 8
  for (int64_t k = 1; k <= half; ++k) {
    Pair<D> even = from[0], odd{hn::Zero(d), hn::Zero(d)};
    int64_t at = 0;
#pragma GCC unroll 8
    for (int64_t j = 1; j <= half; ++j) {
      at += k;
      if (at >= radix) at -= radix;
      const auto cosine = hn::Set(d, roots[at].real()), sine = hn::Set(d, roots[at].imag());
      const Pair<D>&s = from[j], &t = from[radix - j];
      even = {hn::MulAdd(s.re, cosine, even.re), hn::MulAdd(s.im, cosine, even.im)};
      odd = {hn::NegMulAdd(t.im, sine, odd.re), hn::MulAdd(t.re, sine, odd.im)};
    }
    to[k] = add(even, odd);
    to[radix - k] = subtract(even, odd);
  }
}

// --- Passes.

template <int kRadix, class D, typename T>
HWY_INLINE void transform_few(D d, const std::complex<T>* roots, Pair<D>* x) {
  if constexpr (kRadix == 2) {
    transform_2(x[0], x[1]);
  } else if constexpr (kRadix == 4) {
    transform_4(x[0], x[1], x[2], x[3]);
  } else if constexpr (kRadix == 8) {
    transform_8(d, x);
  } else {
    Pair<D> from[kRadix];
    for (int j = 0; j < kRadix; ++j) from[j] = x[j];
    transform_odd(d, kRadix, roots, from, x);
  }
}

// Stores the results of one place; those of the first one are not turned.
template <class D, typename T>
HWY_INLINE void store_turned(D d, int64_t radix, bool turns, const std::complex<T>* twiddles,
                             const Pair<D>* x, T* to, int64_t distance) {
  store_pair(d, x[0], to);
#pragma GCC unroll 8
  for (int64_t j = 1; j < radix; ++j) {
    store_pair(d, turns ? multiply(x[j], same(d, twiddles[j - 1])) : x[j], to + j * distance);
  }
}

template <int kRadix, class D, typename T>
void run_pass(D d, const FftPass& pass, const std::complex<T>* twiddles, const T* from, T* to) {
  constexpr int64_t kSize = 2 * hn::MaxLanes(d);
  const int64_t row = pass.before * kSize, distance = pass.behind * row;
  const std::complex<T>* roots = twiddles + pass.behind * (kRadix - 1);
  const auto run_row = [&](int64_t i, bool turns) HWY_ATTR {
    const T* in = from + i * row;
    T* out = to + i * kRadix * row;
    for (int64_t q = 0; q < row; q += kSize) {
      Pair<D> x[kRadix];
#pragma GCC unroll 16
      for (int j = 0; j < kRadix; ++j) x[j] = load_pair(d, in + q + j * distance);
      transform_few<kRadix>(d, roots, x);
      store_turned(d, kRadix, turns, twiddles + i * (kRadix - 1), x, out + q, row);
    }
  };
  run_row(0, false);
  for (int64_t i = 1; i < pass.behind; ++i) run_row(i, true);
}

// Of any odd radix.
template <class D, typename T>
void run_large_pass(D d, const FftPass& pass, const std::complex<T>* twiddles, const T* from,
                    T* to) {
  constexpr int64_t kSize = 2 * hn::MaxLanes(d);
  const int64_t radix = pass.radix, row = pass.before * kSize, distance = pass.behind * row;
  const std::complex<T>* roots = twiddles + pass.behind * (radix - 1);
  Pair<D> x[kLargestFftRadix], y[kLargestFftRadix];
  for (int64_t i = 0; i < pass.behind; ++i) {
    for (int64_t q = 0; q < row; q += kSize) {
      for (int64_t j = 0; j < radix; ++j) x[j] = load_pair(d, from + i * row + q + j * distance);
      transform_odd(d, radix, roots, x, y);
      store_turned(d, radix, i > 0, twiddles + i * (radix - 1), y, to + i * radix * row + q, row);
    }
  }
}

// The transform of `from`, which is in `from` or in `to`; the other one is overwritten.
template <class D, typename T>
T* run_passes(D d, const FftPlan<T>& plan, T* from, T* to) {
  for (const FftPass& pass : plan.passes) {
    const std::complex<T>* twiddles = plan.twiddles.get() + pass.twiddles;
    switch (pass.radix) {
      case 2:
        run_pass<2>(d, pass, twiddles, from, to);
        break;
      case 3:
        run_pass<3>(d, pass, twiddles, from, to);
        break;
      case 4:
        run_pass<4>(d, pass, twiddles, from, to);
        break;
      case 5:
        run_pass<5>(d, pass, twiddles, from, to);
        break;
      case 7:
        run_pass<7>(d, pass, twiddles, from, to);
        break;
      case 8:
        run_pass<8>(d, pass, twiddles, from, to);
        break;
      case 11:
        run_pass<11>(d, pass, twiddles, from, to);
        break;
      case 13:
        run_pass<13>(d, pass, twiddles, from, to);
        break;
      default:
        run_large_pass(d, pass, twiddles, from, to);
    }
    std::swap(from, to);
  }
  return from;
}

// The same for any plan that is short; from and to have the working length of it.
template <class D, typename T>
T* transform_lanes(D d, const FftPlan<T>& plan, T* from, T* to) {
  if (!plan.circle) return run_passes(d, plan, from, to);
  constexpr int64_t kSize = 2 * hn::MaxLanes(d);
  const int64_t n = plan.length, size = plan.circle->length;
  const std::complex<T>*chirp = plan.chirp.get(), *filter = plan.filter.get();
  for (int64_t j = 0; j < n; ++j) {
    store_pair(d, multiply(load_pair(d, from + j * kSize), same(d, chirp[j])), from + j * kSize);
  }
  for (int64_t j = n * kSize; j < size * kSize; ++j) from[j] = 0;
  T* a = run_passes(d, *plan.circle, from, to);
  // The way back is a transform between two exchanges of real and imaginary parts.
  for (int64_t k = 0; k < size; ++k) {
    const Pair<D> y = multiply(load_pair(d, a + k * kSize), same(d, filter[k]));
    store_pair(d, {y.im, y.re}, a + k * kSize);
  }
  T* b = run_passes(d, *plan.circle, a, a == from ? to : from);
  for (int64_t k = 0; k < n; ++k) {
    const Pair<D> y = load_pair(d, b + k * kSize);
    store_pair(d, multiply({y.im, y.re}, same(d, chirp[k])), b + k * kSize);
  }
  return b;
}

}  // namespace
}  // namespace graven::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
