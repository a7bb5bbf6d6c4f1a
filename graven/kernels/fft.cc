#include "graven/kernels/fft.h"

#include <algorithm>
#include <atomic>
#include <complex>
#include <memory>
#include <optional>

#include "graven/base/thread_pool.h"
#include "graven/kernels/fft_plan.h"
#include "graven/kernels/scratch_block.h"

namespace graven::engine {
namespace {

using Complex = FftPlan::Complex;

constexpr int64_t kElementsOfChunk = 1 << 14;
constexpr int64_t kNeighbours = 8;  // lines that are read together where their elements alternate

// Real numbers of even length are transformed as half as many complex ones. With E and O the
// transforms of the elements at even and at odd places, and w = exp(-2 pi i / length),
//
//   z = E + i O,  y[k] = E[k] + w^k O[k],  y[half - k] = conj(E[k] - w^k O[k])
//
// where E and O are symmetric: E[half - k] = conj(E[k]).
struct RealRoots {
  int64_t half;
  RootsOfUnity roots;
};

void from_halves(const RealRoots& real, Complex* z, Complex* y) {
  const int64_t half = real.half;
  for (int64_t k = 0; 2 * k <= half; ++k) {
    const Complex a = z[k], b = std::conj(z[k == 0 ? 0 : half - k]);
    const Complex even = 0.5 * (a + b), odd = Complex(0, -0.5) * (a - b);
    const Complex turned = real.roots[k] * odd;
    y[k] = even + turned;
    y[half - k] = std::conj(even - turned);
  }
}

// The conjugate of z, so that a transform leads to the conjugate of the elements.
void to_halves(const RealRoots& real, const Complex* y, Complex* z) {
  const int64_t half = real.half;
  for (int64_t k = 0; k < half; ++k) {
    const Complex a = k == 0 ? y[0].real() : y[k];
    const Complex b = k == 0 ? y[half].real() : std::conj(y[half - k]);
    const Complex even = 0.5 * (a + b), odd = 0.5 * (a - b) * std::conj(real.roots[k]);
    z[k] = std::conj(even + Complex(0, 1) * odd);
  }
}

// The transforms of some lines at once.
template <typename Real>
class Lines {
 public:
  Lines(const FftArguments& p, std::shared_ptr<const FftPlan> plan, const RealRoots* real)
      : p_(p), plan_(std::move(plan)), real_(real), sizes_(fft_sizes(p.kind, p.length)) {}

  // The longest that a line ever is, in complex numbers.
  int64_t line_size() const {
    return p_.length / 2 + 1 > plan_->length() ? p_.length / 2 + 1 : plan_->length();
  }
  int64_t memory_size(int64_t count) const {
    return 2 * count * line_size() + plan_->scratch_size();
  }

  // Lines `first` to first + count - 1 of a row of the outer axes.
  bool transform(int64_t outer, int64_t first, int64_t count, Complex* memory) const {
    Complex *in = memory, *out = memory + count * line_size();
    Complex* scratch = out + count * line_size();
    read(outer, first, count, in);
    for (int64_t i = 0; i < count; ++i) {
      if (!line(in + i * line_size(), out + i * line_size(), scratch)) return false;
    }
    write(outer, first, count, out);
    return true;
  }

 private:
  bool takes_reals() const { return p_.kind == FftKind::kReal; }
  bool gives_reals() const { return p_.kind == FftKind::kRealInverse; }

  // From `in` to `out`; both are overwritten.
  bool line(Complex* in, Complex* out, Complex* scratch) const {
    const int64_t n = plan_->length();
    if (gives_reals() && real_) {
      to_halves(*real_, in, out);
      std::copy_n(out, n, in);
    } else if (gives_reals()) {
      in[0] = in[0].real();
      for (int64_t k = 1; 2 * k < n; ++k) in[n - k] = in[k], in[k] = std::conj(in[k]);
    } else if (p_.kind == FftKind::kInverse) {
      for (int64_t k = 0; k < n; ++k) in[k] = std::conj(in[k]);
    }
    if (!plan_->transform(in, out, scratch)) return false;
    if (takes_reals() && real_) {
      from_halves(*real_, out, in);
      std::copy_n(in, sizes_.to, out);
    }
    return true;
  }

  void read(int64_t outer, int64_t first, int64_t count, Complex* in) const {
    const int64_t base = outer * p_.from_size * p_.inner + first, size = sizes_.from;
    if (takes_reals()) {
      auto* from = static_cast<const Real*>(p_.from) + base;
      // Two neighbours as one complex number, or each as one.
      const int64_t step = real_ ? 1 : 2;
      for (int64_t j = 0; j < size; ++j) {
        for (int64_t i = 0; i < count; ++i) {
          double* to = reinterpret_cast<double*>(in + i * line_size());
          to[j * step] = from[j * p_.inner + i];
          if (!real_) to[j * step + 1] = 0;
        }
      }
      return;
    }
    auto* from = static_cast<const std::complex<Real>*>(p_.from) + base;
    for (int64_t j = 0; j < size; ++j) {
      for (int64_t i = 0; i < count; ++i) in[i * line_size() + j] = from[j * p_.inner + i];
    }
  }

  void write(int64_t outer, int64_t first, int64_t count, const Complex* out) const {
    const int64_t base = outer * sizes_.to * p_.inner + first, size = sizes_.to;
    if (gives_reals()) {
      auto* to = static_cast<Real*>(p_.to) + base;
      // Of the conjugate: where two neighbours are one complex number, every other one is negative.
      const double scale = 1 / static_cast<double>(plan_->length());
      const int64_t step = real_ ? 1 : 2;
      for (int64_t j = 0; j < size; ++j) {
        const double sign = real_ && j % 2 == 1 ? -scale : scale;
        for (int64_t i = 0; i < count; ++i) {
          auto* from = reinterpret_cast<const double*>(out + i * line_size());
          to[j * p_.inner + i] = static_cast<Real>(from[j * step] * sign);
        }
      }
      return;
    }
    const bool is_inverse = p_.kind == FftKind::kInverse;
    const double scale = is_inverse ? 1 / static_cast<double>(size) : 1;
    const double scale_of_imaginary = is_inverse ? -scale : 1;
    auto* to = static_cast<std::complex<Real>*>(p_.to) + base;
    for (int64_t k = 0; k < size; ++k) {
      for (int64_t i = 0; i < count; ++i) {
        const Complex& y = out[i * line_size() + k];
        to[k * p_.inner + i] = {static_cast<Real>(y.real() * scale),
                                static_cast<Real>(y.imag() * scale_of_imaginary)};
      }
    }
  }

  const FftArguments& p_;
  std::shared_ptr<const FftPlan> plan_;
  const RealRoots* real_;
  FftSizes sizes_;
};

template <typename Real>
bool transform_all(const FftArguments& p, std::shared_ptr<const FftPlan> plan,
                   const RealRoots* real) {
  const Lines<Real> lines(p, std::move(plan), real);
  // A chunk is some groups of neighbours.
  const int64_t neighbours = std::min(kNeighbours, p.inner);
  const int64_t groups_of_row = (p.inner + neighbours - 1) / neighbours;
  const int64_t groups = p.outer * groups_of_row;
  const int64_t step = std::max<int64_t>(1, kElementsOfChunk / (neighbours * p.length));
  std::atomic<bool> failed = false;
  ThreadPool::shared().run((groups + step - 1) / step, [&](int64_t chunk) {
    const ScratchBlock memory(static_cast<size_t>(lines.memory_size(neighbours)) * sizeof(Complex));
    auto* complex = static_cast<Complex*>(memory.get());
    if (!complex) {
      failed = true;
      return;
    }
    for (int64_t group = chunk * step; group < std::min(groups, (chunk + 1) * step); ++group) {
      const int64_t first = group % groups_of_row * neighbours;
      const int64_t count = std::min(neighbours, p.inner - first);
      if (!lines.transform(group / groups_of_row, first, count, complex)) failed = true;
    }
  });
  return !failed;
}

}  // namespace

FftSizes fft_sizes(FftKind kind, int64_t length) {
  const int64_t first_ones = length == 0 ? 0 : length / 2 + 1;
  return {kind == FftKind::kRealInverse ? first_ones : length,
          kind == FftKind::kReal ? first_ones : length};
}

Status fft(const FftArguments& p) {
  if (p.length == 0 || p.outer == 0 || p.inner == 0) return {};
  const bool is_real = p.kind == FftKind::kReal || p.kind == FftKind::kRealInverse;
  const bool by_halves = is_real && p.length % 2 == 0;
  auto plan = FftPlan::cached(by_halves ? p.length / 2 : p.length);
  std::optional<RealRoots> real;
  if (by_halves) real.emplace(p.length / 2, RootsOfUnity(p.length));
  const RealRoots* roots = real ? &*real : nullptr;
  if (plan && (p.is_double ? transform_all<double>(p, plan, roots)
                           : transform_all<float>(p, plan, roots))) {
    return {};
  }
  return Status(Code::kResourceExhausted, "out of memory in a Fourier transform");
}

}  // namespace graven::engine
