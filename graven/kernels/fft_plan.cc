#include "graven/kernels/fft_plan.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <kissfft/kissfft.hh>
#include <list>
#include <numbers>
#include <utility>

#include "graven/base/mutex.h"
#include "graven/base/thread_pool.h"
#include "graven/kernels/scratch_block.h"

namespace graven::engine {
namespace {

using Complex = FftPlan::Complex;

constexpr int64_t kBytes = sizeof(Complex);
constexpr int64_t kMostDirect = 1 << 15;
constexpr int64_t kMaxCachedBytes = 64 << 20;

// exp(-pi i k / n).
Complex half_root(int64_t k, int64_t n) {
  return std::polar(1.0, -std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
}

bool is_smooth(int64_t n) {
  for (int64_t p : {2, 3, 5}) {
    while (n % p == 0) n /= p;
  }
  return n == 1;
}

// KissFFT's other butterflies share a buffer between threads.
class DirectPlan final : public FftPlan {
 public:
  explicit DirectPlan(int64_t length)
      : FftPlan(length, 0, length * kBytes), kiss_(static_cast<size_t>(length), false) {}

  bool transform(const Complex* from, Complex* to, Complex*) const override {
    if (length() == 1) {
      *to = *from;
    } else {
      kiss_.transform(from, to);
    }
    return true;
  }

 private:
  kissfft<double> kiss_;
};

// Element j of the input is that of row j / columns and column j % columns. The columns are
// transformed, element k of column c is turned by exp(-2 pi i c k / n), and then the rows are
// transformed: element m of row k is element m rows + k of the result.
class MatrixPlan final : public FftPlan {
 public:
  MatrixPlan(std::shared_ptr<const FftPlan> of_columns, std::shared_ptr<const FftPlan> of_rows)
      : FftPlan(of_columns->length() * of_rows->length(), of_columns->length() * of_rows->length(),
                of_columns->bytes() + of_rows->bytes()),
        of_columns_(std::move(of_columns)),
        of_rows_(std::move(of_rows)),
        roots_(length()) {}

  bool transform(const Complex* from, Complex* to, Complex* scratch) const override {
    const int64_t rows = of_columns_->length(), columns = of_rows_->length();
    return each(*of_columns_, from, columns, scratch, columns,
                [&](int64_t column, int64_t k) { return roots_[column * k]; }) &&
           each_row(*of_rows_, scratch, to, rows);
  }

 private:
  // As many neighbours as fill cache lines.
  static constexpr int64_t kNeighbours = 8;

  // Transforms all `count` columns of a matrix of that many columns into those of another, whose
  // elements are turned.
  template <typename F>
  static bool each(const FftPlan& plan, const Complex* from, int64_t count, Complex* to,
                   int64_t stride, const F& turn) {
    return in_chunks(plan, count,
                     [&](int64_t first, int64_t n, Complex* in, Complex* out, Complex* scratch) {
                       const int64_t length = plan.length();
                       for (int64_t j = 0; j < length; ++j) {
                         for (int64_t i = 0; i < n; ++i)
                           in[i * length + j] = from[j * count + first + i];
                       }
                       for (int64_t i = 0; i < n; ++i) {
                         if (!plan.transform(in + i * length, out + i * length, scratch))
                           return false;
                       }
                       for (int64_t k = 0; k < length; ++k) {
                         for (int64_t i = 0; i < n; ++i) {
                           to[k * stride + first + i] = out[i * length + k] * turn(first + i, k);
                         }
                       }
                       return true;
                     });
  }

  // Transforms all `count` rows of a matrix into the columns of another.
  static bool each_row(const FftPlan& plan, const Complex* from, Complex* to, int64_t count) {
    return in_chunks(
        plan, count, [&](int64_t first, int64_t n, Complex*, Complex* out, Complex* scratch) {
          const int64_t length = plan.length();
          for (int64_t i = 0; i < n; ++i) {
            if (!plan.transform(from + (first + i) * length, out + i * length, scratch))
              return false;
          }
          for (int64_t k = 0; k < length; ++k) {
            for (int64_t i = 0; i < n; ++i) to[k * count + first + i] = out[i * length + k];
          }
          return true;
        });
  }

  // Calls f(first, n, in, out, scratch) for neighbours that cover [0, count), on the pool.
  template <typename F>
  static bool in_chunks(const FftPlan& plan, int64_t count, const F& f) {
    std::atomic<bool> failed = false;
    ThreadPool::shared().run((count + kNeighbours - 1) / kNeighbours, [&](int64_t chunk) {
      const int64_t size = kNeighbours * plan.length();
      const ScratchBlock memory(static_cast<size_t>((2 * size + plan.scratch_size()) * kBytes));
      auto* in = static_cast<Complex*>(memory.get());
      const int64_t first = chunk * kNeighbours, n = std::min(kNeighbours, count - first);
      if (!in || !f(first, n, in, in + size, in + 2 * size)) failed = true;
    });
    return !failed;
  }

  std::shared_ptr<const FftPlan> of_columns_, of_rows_;
  RootsOfUnity roots_;
};

// With b[k] = exp(-pi i k^2 / n), and j k = (j^2 + k^2 - (k - j)^2) / 2, the transform is b[k]
// times the convolution of from[j] b[j] with the conjugate of b, which is computed in a circle of
// `size`.
class ChirpPlan final : public FftPlan {
 public:
  ChirpPlan(int64_t length, std::shared_ptr<const FftPlan> circle)
      : FftPlan(length, 2 * circle->length() + circle->scratch_size(),
                (length + circle->length()) * kBytes + circle->bytes()),
        circle_(std::move(circle)),
        tables_(static_cast<size_t>((length + circle_->length()) * kBytes)) {}

  // False if there is no memory.
  bool fill() {
    const int64_t n = length(), size = circle_->length();
    const ScratchBlock memory(static_cast<size_t>((size + circle_->scratch_size()) * kBytes));
    auto* wrapped = static_cast<Complex*>(memory.get());
    if (!wrapped || !tables_.get()) return false;
    std::fill_n(wrapped, size, Complex());
    int64_t square = 0;  // of k, modulo 2 n
    for (int64_t k = 0; k < n; ++k) {
      chirp()[k] = half_root(square, n);
      wrapped[k] = std::conj(chirp()[k]);
      if (k > 0) wrapped[size - k] = wrapped[k];
      square = (square + 2 * k + 1) % (2 * n);
    }
    if (!circle_->transform(wrapped, filter(), wrapped + size)) return false;
    const double scale = 1 / static_cast<double>(size);
    for (int64_t k = 0; k < size; ++k) filter()[k] *= scale;
    return true;
  }

  bool transform(const Complex* from, Complex* to, Complex* scratch) const override {
    const int64_t n = length(), size = circle_->length();
    Complex *a = scratch, *b = scratch + size, *inner = scratch + 2 * size;
    for (int64_t j = 0; j < n; ++j) a[j] = from[j] * chirp()[j];
    std::fill(a + n, a + size, Complex());
    if (!circle_->transform(a, b, inner)) return false;
    // The way back is a transform between two conjugates.
    for (int64_t k = 0; k < size; ++k) b[k] = std::conj(b[k] * filter()[k]);
    if (!circle_->transform(b, a, inner)) return false;
    for (int64_t k = 0; k < n; ++k) to[k] = std::conj(a[k]) * chirp()[k];
    return true;
  }

 private:
  Complex* chirp() const { return static_cast<Complex*>(tables_.get()); }
  Complex* filter() const { return chirp() + length(); }

  std::shared_ptr<const FftPlan> circle_;
  ScratchBlock tables_;  // the chirp, and the transform of its conjugate over `size`
};

// The two factors of a product of 2, 3 and 5 that are nearest to each other.
std::pair<int64_t, int64_t> factors_of(int64_t n) {
  auto factor = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  while (n % factor != 0) --factor;
  return {factor, n / factor};
}

int64_t next_smooth(int64_t n) {
  while (!is_smooth(n)) ++n;
  return n;
}

class Cache {
 public:
  static Cache& shared() {
    static Cache* cache = new Cache();
    return *cache;
  }

  std::shared_ptr<const FftPlan> get(int64_t length) {
    {
      MutexLock lock(mutex_);
      const auto found = find(length);
      if (found != plans_.end()) {
        plans_.splice(plans_.begin(), plans_, found);
        return plans_.front();
      }
    }
    // Made with no lock held: two threads may both do it, and the first to finish stays.
    auto made = FftPlan::create(length);
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
  using Plans = std::list<std::shared_ptr<const FftPlan>>;

  Plans::iterator find(int64_t length) REQUIRES(mutex_) {
    return std::find_if(plans_.begin(), plans_.end(),
                        [&](const auto& plan) { return plan->length() == length; });
  }

  Mutex mutex_;
  Plans plans_ GUARDED_BY(mutex_);  // most recently used first
  int64_t bytes_ GUARDED_BY(mutex_) = 0;
};

}  // namespace

RootsOfUnity::RootsOfUnity(int64_t n)
    : step_(static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(n))))) {
  for (int64_t k = 0; k < n; k += step_) coarse_.push_back(half_root(2 * k, n));
  for (int64_t k = 0; k < step_; ++k) fine_.push_back(half_root(2 * k, n));
}

std::shared_ptr<const FftPlan> FftPlan::create(int64_t length) {
  if (!is_smooth(length)) {
    auto circle = create(next_smooth(2 * length - 1));
    if (!circle) return nullptr;
    auto plan = std::make_shared<ChirpPlan>(length, std::move(circle));
    return plan->fill() ? plan : nullptr;
  }
  if (length <= kMostDirect) return std::make_shared<DirectPlan>(length);
  const auto [columns, rows] = factors_of(length);
  auto of_columns = create(columns), of_rows = create(rows);
  if (!of_columns || !of_rows) return nullptr;
  return std::make_shared<MatrixPlan>(std::move(of_columns), std::move(of_rows));
}

std::shared_ptr<const FftPlan> FftPlan::cached(int64_t length) {
  return Cache::shared().get(length);
}

}  // namespace graven::engine
