#pragma once
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace graven::engine {

// The largest prime factor of a length that is transformed in passes.
inline constexpr int64_t kLargestFftRadix = 127;

// One pass over a line (fft_passes-inl.h): its elements are combined `radix` at a time. The product
// of the radices before this pass is `before`, of those behind it `behind`.
struct FftPass {
  int64_t radix, before, behind;
  int64_t twiddles;  // where those of this pass begin
};

// How discrete Fourier transforms of one length are computed. Three ways, of which a plan has one:
//
// - passes, for lengths of up to about a thousand without large prime factors;
// - longer ones of these as a matrix, whose columns and rows are transformed (Bailey, "FFTs in
//   external or hierarchical memory", 1990);
// - all others as a convolution with a chirp, by transforms of such a length (Bluestein, "A linear
//   filtering approach to the computation of the discrete Fourier transform", 1970).
//
// All numbers here are computed in double and then rounded to Real.
template <typename Real>
struct FftPlan {
  using Complex = std::complex<Real>;
  using Table = std::shared_ptr<Complex>;
  using Plan = std::shared_ptr<const FftPlan>;

  int64_t length = 0;

  std::vector<FftPass> passes;
  // Of each pass, for i in [0, behind), exp(-2 pi i j / (radix behind)) for j in [1, radix); then,
  // for odd radices, exp(-2 pi j / radix) for j in [0, radix).
  Table twiddles;

  // Element j of a line is that of row j / columns and column j % columns; element k of column c is
  // turned by exp(-2 pi i c k / length), which is turns[k columns + c].
  Plan of_columns, of_rows;
  Table turns;

  // With b[k] = exp(-pi i k^2 / length), and j k = (j^2 + k^2 - (k - j)^2) / 2, the transform is
  // b[k] times the convolution of x[j] b[j] with the conjugate of b, computed in a circle. The
  // filter is the transform of this conjugate, divided by the length of the circle.
  Plan circle;
  Table chirp, filter;

  // exp(-pi i k / length) for 2 k <= length: see from_halves().
  Table half_turns;

  // Whether many lines are transformed at once, each in a lane.
  bool is_short() const { return of_columns == nullptr && (!circle || circle->is_short()); }
  // How many numbers a line has while it is transformed.
  int64_t working_length() const { return circle ? circle->length : length; }
  // The memory of the tables.
  int64_t bytes() const;

  // Null if there is no memory.
  static Plan create(int64_t length);
  // The same, of those kept or newly made: the last ones used are kept, up to a number of bytes.
  static Plan cached(int64_t length);
};

extern template struct FftPlan<float>;
extern template struct FftPlan<double>;

}  // namespace graven::engine
