#include "graven/kernels/fft_plan.h"

#include <algorithm>
#include <cmath>
#include <list>
#include <numbers>
#include <utility>

#include "graven/base/mutex.h"
#include "graven/kernels/fft_lines.h"
#include "graven/kernels/scratch_block.h"

namespace graven::engine {
namespace {

constexpr int64_t kMostInPasses = 1 << 10;
constexpr int64_t kMaxCachedBytes = 64 << 20;

// exp(-pi i k / n).
std::complex<double> half_root(int64_t k, int64_t n) {
  return std::polar(1.0, -std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
}

// exp(-2 pi i k / n) for any k in [0, n), as a product of two numbers of tables of about sqrt(n).
class RootsOfUnity {
 public:
  explicit RootsOfUnity(int64_t n)
      : step_(static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(n))))) {
    for (int64_t k = 0; k < n; k += step_) coarse_.push_back(half_root(2 * k, n));
    for (int64_t k = 0; k < step_; ++k) fine_.push_back(half_root(2 * k, n));
  }
  std::complex<double> operator[](int64_t k) const {
    return coarse_[static_cast<size_t>(k / step_)] * fine_[static_cast<size_t>(k % step_)];
  }

 private:
  int64_t step_;
  std::vector<std::complex<double>> coarse_, fine_;
};

// The radices of a length, without the primes above the largest radix; false if there are such.
bool factorise(int64_t n, std::vector<int64_t>& radices) {
  for (; n % 8 == 0; n /= 8) radices.push_back(8);
  if (n % 2 == 0) {
    // 8 times 2 is better done as 4 times 4.
    if (n % 4 != 0 && !radices.empty()) {
      radices.back() = 4;
      radices.push_back(4);
    } else {
      radices.push_back(n % 4 == 0 ? 4 : 2);
    }
    while (n % 2 == 0) n /= 2;
  }
  for (int64_t p = 3; p <= kLargestFftRadix && p <= n; p += 2) {
    for (; n % p == 0; n /= p) radices.push_back(p);
  }
  return n == 1;
}

int64_t lines_with_padding(int64_t lines) {
  const int64_t most = kFftLines<float>;
  return (lines + most - 1) / most * most;
}

// Two factors of about the same size, such that few lanes stay empty.
std::pair<int64_t, int64_t> factors_of(int64_t n) {
  const auto root = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  int64_t best = 0, least_work = 0;
  for (int64_t factor = root; factor > 0; --factor) {
    if (n % factor != 0) continue;
    const int64_t work = lines_with_padding(factor) * lines_with_padding(n / factor);
    if (best == 0 || (work < least_work && factor > root / 4)) best = factor, least_work = work;
  }
  return {best, n / best};
}

// A product of 2, 3 and 5; a long one has factors that fill all lanes.
int64_t next_length_of_circle(int64_t n) {
  const int64_t step = n > kMostInPasses ? kFftLines<float> * kFftLines<float> : 1;
  for (n = (n + step - 1) / step * step;; n += step) {
    int64_t rest = n;
    for (int64_t p : {2, 3, 5}) {
      while (rest % p == 0) rest /= p;
    }
    if (rest == 1) return n;
  }
}

template <typename Real>
std::complex<Real> rounded(const std::complex<double>& x) {
  return {static_cast<Real>(x.real()), static_cast<Real>(x.imag())};
}

template <typename Real>
class Maker {
 public:
  using Plan = FftPlan<Real>;
  using Table = typename Plan::Table;

  // False if there is no memory.
  bool make(Plan& plan, int64_t length) {
    plan.length = length;
    plan.half_turns = table(length / 2 + 1);
    if (!plan.half_turns) return false;
    for (int64_t k = 0; 2 * k <= length; ++k) {
      plan.half_turns.get()[k] = rounded<Real>(half_root(k, length));
    }
    std::vector<int64_t> radices;
    if (!factorise(length, radices)) return make_chirp(plan);
    return length > kMostInPasses ? make_matrix(plan) : make_passes(plan, radices);
  }

  bool make_passes(Plan& plan, const std::vector<int64_t>& radices) {
    int64_t before = 1, size = 0;
    for (const int64_t radix : radices) {
      const int64_t behind = plan.length / before / radix;
      plan.passes.push_back({radix, before, behind, size});
      size += behind * (radix - 1) + radix;
      before *= radix;
    }
    plan.twiddles = table(size);
    if (!plan.twiddles) return false;
    for (const FftPass& pass : plan.passes) {
      auto* twiddle = plan.twiddles.get() + pass.twiddles;
      const int64_t n = pass.radix * pass.behind;
      for (int64_t i = 0; i < pass.behind; ++i) {
        for (int64_t j = 1; j < pass.radix; ++j)
          *twiddle++ = rounded<Real>(half_root(2 * i * j, n));
      }
      for (int64_t j = 0; j < pass.radix; ++j) {
        *twiddle++ = rounded<Real>(half_root(2 * j, pass.radix));
      }
    }
    return true;
  }

 private:
  bool make_matrix(Plan& plan) {
    const auto [rows, columns] = factors_of(plan.length);
    plan.of_columns = of_passes(rows);
    plan.of_rows = of_passes(columns);
    plan.turns = table(plan.length);
    if (!plan.of_columns || !plan.of_rows || !plan.turns) return false;
    const RootsOfUnity roots(plan.length);
    for (int64_t k = 0; k < rows; ++k) {
      for (int64_t c = 0; c < columns; ++c) {
        plan.turns.get()[k * columns + c] = rounded<Real>(roots[k * c]);
      }
    }
    return true;
  }

  typename Plan::Plan of_passes(int64_t length) {
    auto plan = std::make_shared<Plan>();
    plan->length = length;
    std::vector<int64_t> radices;
    factorise(length, radices);
    return make_passes(*plan, radices) ? plan : nullptr;
  }

  bool make_chirp(Plan& plan) {
    const int64_t n = plan.length, size = next_length_of_circle(2 * n - 1);
    plan.circle = Plan::create(size);
    plan.chirp = table(n);
    plan.filter = table(size);
    const auto exact = FftPlan<double>::create(size);
    const ScratchBlock memory(static_cast<size_t>(size) * 2 * sizeof(std::complex<double>));
    auto* wrapped = static_cast<std::complex<double>*>(memory.get());
    if (!plan.circle || !plan.chirp || !plan.filter || !exact || !wrapped) return false;
    std::fill_n(wrapped, size, std::complex<double>());
    int64_t square = 0;  // of k, modulo 2 n
    for (int64_t k = 0; k < n; ++k) {
      const std::complex<double> root = half_root(square, n);
      plan.chirp.get()[k] = rounded<Real>(root);
      wrapped[k] = std::conj(root);
      if (k > 0) wrapped[size - k] = wrapped[k];
      square = (square + 2 * k + 1) % (2 * n);
    }
    if (!transform_line(*exact, wrapped, wrapped + size)) return false;
    for (int64_t k = 0; k < size; ++k) {
      plan.filter.get()[k] = rounded<Real>(wrapped[size + k] / static_cast<double>(size));
    }
    return true;
  }

  // Null if there is no memory.
  static Table table(int64_t count) {
    auto block =
        std::make_shared<ScratchBlock>(static_cast<size_t>(count) * sizeof(std::complex<Real>));
    auto* first = static_cast<std::complex<Real>*>(block->get());
    return first ? Table(std::move(block), first) : nullptr;
  }
};

template <typename Real>
class Cache {
 public:
  using Plan = typename FftPlan<Real>::Plan;

  static Cache& shared() {
    static Cache* cache = new Cache();
    return *cache;
  }

  Plan get(int64_t length) {
    {
      MutexLock lock(mutex_);
      const auto found = find(length);
      if (found != plans_.end()) {
        plans_.splice(plans_.begin(), plans_, found);
        return plans_.front();
      }
    }
    // Made with no lock held: two threads may both do it, and the first to finish stays.
    auto made = FftPlan<Real>::create(length);
    if (!made) return made;
    MutexLock lock(mutex_);
    if (const auto found = find(length); found != plans_.end()) return *found;
    plans_.push_front(made);
    bytes_ += made->bytes();
    while (bytes_ > kMaxCachedBytes) {
      bytes_ -= plans_.back()->bytes();
      plans_.pop_back();
    }
    return made;
  }

 private:
  using Plans = std::list<Plan>;

  typename Plans::iterator find(int64_t length) REQUIRES(mutex_) {
    return std::find_if(plans_.begin(), plans_.end(),
                        [&](const auto& plan) { return plan->length == length; });
  }

  Mutex mutex_;
  Plans plans_ GUARDED_BY(mutex_);  // most recently used first
  int64_t bytes_ GUARDED_BY(mutex_) = 0;
};

}  // namespace

template <typename Real>
int64_t FftPlan<Real>::bytes() const {
  int64_t numbers = 2 * length;  // the twiddles, or turns, or the chirp; and half turns
  if (circle) numbers += circle->length;
  const auto with_parts = numbers * static_cast<int64_t>(sizeof(Complex));
  return circle ? with_parts + circle->bytes() : with_parts;
}

template <typename Real>
typename FftPlan<Real>::Plan FftPlan<Real>::create(int64_t length) {
  auto plan = std::make_shared<FftPlan>();
  return Maker<Real>().make(*plan, length) ? plan : nullptr;
}

template <typename Real>
typename FftPlan<Real>::Plan FftPlan<Real>::cached(int64_t length) {
  return Cache<Real>::shared().get(length);
}

template struct FftPlan<float>;
template struct FftPlan<double>;

}  // namespace graven::engine
