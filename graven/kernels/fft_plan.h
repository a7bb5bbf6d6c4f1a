#pragma once
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace graven::engine {

// How discrete Fourier transforms of one length are computed, in double. Three ways: KissFFT for
// lengths of up to 2^15 that are products of 2, 3 and 5; longer ones of these as a matrix, whose
// columns and rows are transformed (Bailey, "FFTs in external or hierarchical memory", 1990), on
// the thread pool; all others as a convolution with a chirp by transforms of such a length
// (Bluestein, "A linear filtering approach to the computation of the discrete Fourier transform",
// 1970).
class FftPlan {
 public:
  using Complex = std::complex<double>;

  virtual ~FftPlan() = default;
  int64_t length() const { return length_; }
  // How many complex numbers of scratch memory a transform needs.
  int64_t scratch_size() const { return scratch_size_; }
  // The memory that the plan keeps.
  int64_t bytes() const { return bytes_; }

  // to[k] = sum over j of from[j] exp(-2 pi i j k / length). The three do not overlap. False if
  // there was no memory. Any thread may call it.
  virtual bool transform(const Complex* from, Complex* to, Complex* scratch) const = 0;

  // Null if there is no memory.
  static std::shared_ptr<const FftPlan> create(int64_t length);
  // The same, of those kept or newly made: the last ones used are kept, up to a number of bytes.
  static std::shared_ptr<const FftPlan> cached(int64_t length);

 protected:
  FftPlan(int64_t length, int64_t scratch_size, int64_t bytes)
      : length_(length), scratch_size_(scratch_size), bytes_(bytes) {}

 private:
  int64_t length_, scratch_size_, bytes_;
};

// exp(-2 pi i k / n) for any k in [0, n), as a product of two numbers of tables of about sqrt(n).
class RootsOfUnity {
 public:
  explicit RootsOfUnity(int64_t n);
  FftPlan::Complex operator[](int64_t k) const {
    return coarse_[static_cast<size_t>(k / step_)] * fine_[static_cast<size_t>(k % step_)];
  }
  int64_t size() const { return static_cast<int64_t>(coarse_.size() + fine_.size()); }

 private:
  int64_t step_;
  std::vector<FftPlan::Complex> coarse_, fine_;
};

}  // namespace graven::engine
