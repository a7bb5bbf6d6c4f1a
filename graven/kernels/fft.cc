#include "graven/kernels/fft.h"

#include <algorithm>
#include <atomic>
#include <complex>
#include <memory>

#include "graven/base/thread_pool.h"
#include "graven/kernels/fft_lines.h"
#include "graven/kernels/fft_plan.h"
#include "graven/kernels/scratch_block.h"

namespace graven::engine {
namespace {

constexpr int64_t kNeighbours = 8;  // lines that are read together where their elements alternate

// Fewer groups than these are transformed one after the other, each by all threads.
constexpr int64_t kFewGroups = 8;

bool takes_reals(FftKind kind) { return kind == FftKind::kReal; }
bool gives_reals(FftKind kind) { return kind == FftKind::kRealInverse; }

// Many lines at once.
template <typename Real>
bool transform_short(const FftArguments& p, const FftPlan<Real>& plan, bool by_halves) {
  const FftSizes sizes = fft_sizes(p.kind, p.length);
  FftBlock<Real> block;
  block.plan = &plan;
  const int64_t from_width = takes_reals(p.kind) ? 1 : 2, to_width = gives_reals(p.kind) ? 1 : 2;
  block.from = {static_cast<const Real*>(p.from), p.inner, p.from_size * p.inner * from_width,
                p.inner * from_width};
  block.to = {static_cast<Real*>(p.to), p.inner, sizes.to * p.inner * to_width, p.inner * to_width};
  block.count = p.outer * p.inner;
  block.scale = 1 / static_cast<Real>(plan.length);
  switch (p.kind) {
    case FftKind::kForward:
      break;
    case FftKind::kInverse:
      block.read = FftRead::kSwapped;
      block.write = FftWrite::kSwapped;
      break;
    case FftKind::kReal:
      block.read = by_halves ? FftRead::kComplex : FftRead::kReal;
      block.write = by_halves ? FftWrite::kSpectrumByHalves : FftWrite::kHalfOfSpectrum;
      if (by_halves) block.from.element = 2;
      break;
    case FftKind::kRealInverse:
      block.read = by_halves ? FftRead::kSpectrumByHalves : FftRead::kSpectrum;
      block.write = by_halves ? FftWrite::kSwapped : FftWrite::kReal;
      if (by_halves) block.to.element = 2;
      break;
  }
  return transform_lines(block);
}

// Lines one by one, each by a plan that is not short.
template <typename Real>
class LongLines {
 public:
  using Complex = std::complex<Real>;

  LongLines(const FftArguments& p, const FftPlan<Real>& plan, bool by_halves)
      : p_(p), plan_(plan), by_halves_(by_halves), sizes_(fft_sizes(p.kind, p.length)) {}

  bool run() const {
    const int64_t neighbours = std::min(kNeighbours, p_.inner);
    const int64_t groups_of_row = (p_.inner + neighbours - 1) / neighbours;
    const int64_t groups = p_.outer * groups_of_row;
    std::atomic<bool> failed = false;
    const auto transform = [&](int64_t group) {
      const int64_t first = group % groups_of_row * neighbours;
      const bool is_done = p_.inner == 1 ? line(group)
                                         : lines(group / groups_of_row, first,
                                                 std::min(neighbours, p_.inner - first));
      if (!is_done) failed = true;
    };
    if (groups < kFewGroups) {
      for (int64_t group = 0; group < groups; ++group) transform(group);
    } else {
      ThreadPool::shared().run(groups, transform);
    }
    return !failed;
  }

 private:
  // Complex lines whose elements alternate.
  bool lines(int64_t outer, int64_t first, int64_t count) const {
    const int64_t n = p_.length;
    const ScratchBlock memory(static_cast<size_t>(count * n) * sizeof(Complex));
    auto* scratch = static_cast<Complex*>(memory.get());
    if (!scratch) return false;
    auto* from = static_cast<const Complex*>(p_.from) + outer * p_.from_size * p_.inner + first;
    auto* to = static_cast<Complex*>(p_.to) + outer * n * p_.inner + first;
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = 0; i < count; ++i) scratch[i * n + j] = from[j * p_.inner + i];
    }
    for (int64_t i = 0; i < count; ++i) {
      Complex* line = scratch + i * n;
      if (!transform_line(plan_, line, line, p_.kind == FftKind::kInverse)) return false;
    }
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = 0; i < count; ++i) to[j * p_.inner + i] = scratch[i * n + j];
    }
    return true;
  }

  bool line(int64_t outer) const {
    if (takes_reals(p_.kind)) return from_reals(outer);
    if (gives_reals(p_.kind)) return to_reals(outer);
    auto* from = static_cast<const Complex*>(p_.from) + outer * p_.from_size;
    auto* to = static_cast<Complex*>(p_.to) + outer * p_.length;
    return transform_line(plan_, from, to, p_.kind == FftKind::kInverse);
  }

  bool from_reals(int64_t outer) const {
    auto* from = static_cast<const Real*>(p_.from) + outer * p_.from_size;
    auto* to = static_cast<Complex*>(p_.to) + outer * sizes_.to;
    const ScratchBlock memory(static_cast<size_t>(plan_.length) * sizeof(Complex));
    auto* scratch = static_cast<Complex*>(memory.get());
    if (!scratch) return false;
    if (by_halves_) {
      if (!transform_line(plan_, reinterpret_cast<const Complex*>(from), scratch)) return false;
      from_halves(plan_, scratch, to);
      return true;
    }
    std::copy_n(from, p_.length, scratch);
    if (!transform_line(plan_, scratch, scratch)) return false;
    std::copy_n(scratch, sizes_.to, to);
    return true;
  }

  bool to_reals(int64_t outer) const {
    auto* from = static_cast<const Complex*>(p_.from) + outer * p_.from_size;
    auto* to = static_cast<Real*>(p_.to) + outer * p_.length;
    const ScratchBlock memory(static_cast<size_t>(plan_.length) * sizeof(Complex));
    auto* scratch = static_cast<Complex*>(memory.get());
    if (!scratch) return false;
    if (by_halves_) {
      to_halves(plan_, from, scratch);
      return transform_line(plan_, scratch, reinterpret_cast<Complex*>(to), true);
    }
    const int64_t n = p_.length;
    scratch[0] = from[0].real();
    for (int64_t k = 1; 2 * k < n; ++k) {
      scratch[k] = from[k];
      scratch[n - k] = std::conj(from[k]);
    }
    if (!transform_line(plan_, scratch, scratch, true)) return false;
    for (int64_t j = 0; j < n; ++j) to[j] = scratch[j].real();
    return true;
  }

  const FftArguments& p_;
  const FftPlan<Real>& plan_;
  bool by_halves_;
  FftSizes sizes_;
};

template <typename Real>
bool transform_all(const FftArguments& p) {
  const bool by_halves = (takes_reals(p.kind) || gives_reals(p.kind)) && p.length % 2 == 0;
  const auto plan = FftPlan<Real>::cached(by_halves ? p.length / 2 : p.length);
  if (!plan) return false;
  return plan->is_short() ? transform_short(p, *plan, by_halves)
                          : LongLines<Real>(p, *plan, by_halves).run();
}

}  // namespace

FftSizes fft_sizes(FftKind kind, int64_t length) {
  const int64_t first_ones = length == 0 ? 0 : length / 2 + 1;
  return {kind == FftKind::kRealInverse ? first_ones : length,
          kind == FftKind::kReal ? first_ones : length};
}

Status fft(const FftArguments& p) {
  if (p.length == 0 || p.outer == 0 || p.inner == 0) return {};
  if (p.is_double ? transform_all<double>(p) : transform_all<float>(p)) return {};
  return Status(Code::kResourceExhausted, "out of memory in a Fourier transform");
}

}  // namespace graven::engine
