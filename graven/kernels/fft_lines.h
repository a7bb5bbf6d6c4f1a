#pragma once
#include <complex>
#include <cstdint>

#include "graven/kernels/fft_plan.h"

namespace graven::engine {

// How the elements of a line are found in memory and made complex, and the other way round.
enum class FftRead {
  kComplex,
  kSwapped,  // real and imaginary parts exchanged, as an inverse transform needs them
  kReal,
  // The first half of a spectrum of real numbers, for an inverse transform of all of them, or of
  // half as many, see to_halves().
  kSpectrum,
  kSpectrumByHalves,
};
enum class FftWrite {
  kComplex,
  kSwapped,
  kReal,             // the imaginary parts, which are the real ones of an inverse transform
  kHalfOfSpectrum,   // the first half of the elements
  kSpectrumByHalves  // see from_halves()
};

// Where lines lie, in numbers (a complex one is two): line i begins at i / inner * outer + i %
// inner * (the size of an element).
template <typename Data>
struct FftPlaces {
  Data* data = nullptr;
  int64_t inner = 1, outer = 0;
  int64_t element = 1;  // from one element of a line to the next
};

// Lines that a plan transforms which is short.
template <typename Real>
struct FftBlock {
  const FftPlan<Real>* plan = nullptr;
  FftRead read = FftRead::kComplex;
  FftWrite write = FftWrite::kComplex;
  FftPlaces<const Real> from;
  FftPlaces<Real> to;
  int64_t first = 0, count = 0;
  Real scale = 1;  // of kSwapped and kReal
  // Element k of line i is multiplied by turns[k turns_of_element + i].
  const std::complex<Real>* turns = nullptr;
  int64_t turns_of_element = 0;
  void* memory = nullptr;  // set by transform_lines()
};
// On the thread pool; false if there is no memory.
template <typename Real>
bool transform_lines(const FftBlock<Real>& block);

// As many lines as are transformed at once at most.
template <typename Real>
inline constexpr int64_t kFftLines = 64 / sizeof(Real);

// One line whose elements follow each other, on the thread pool; the inverse is divided by the
// length. `to` may be `from`. False if there is no memory.
template <typename Real>
bool transform_line(const FftPlan<Real>& plan, const std::complex<Real>* from,
                    std::complex<Real>* to, bool is_inverse = false);

// Real numbers of even length are transformed as half as many complex ones, by a plan for these.
// With E and O the transforms of the elements at even and at odd places, and
// w = exp(-2 pi i / length),
//
//   z = E + i O,  y[k] = E[k] + w^k O[k],  y[half - k] = conj(E[k] - w^k O[k])
//
// where E and O are symmetric: E[half - k] = conj(E[k]). z and y do not overlap.
template <typename Real>
void from_halves(const FftPlan<Real>& plan, const std::complex<Real>* z, std::complex<Real>* y);
template <typename Real>
void to_halves(const FftPlan<Real>& plan, const std::complex<Real>* y, std::complex<Real>* z);

}  // namespace graven::engine
