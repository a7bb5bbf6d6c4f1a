#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graven/base/export.h"

namespace graven::engine {

// What a cache may hold at most.
struct CacheBudget {
  std::optional<int64_t> max_traces;
  // Of the bytes that go with entries: not tensors that they captured, which the program holds too
  // as a rule.
  std::optional<int64_t> max_bytes;
  bool is_limited() const { return max_traces || max_bytes; }
};

// An entry that could go.
struct Candidate {
  double calls = 0;  // lately (Frequencies); of a newcomer before the call that made it
  double price = 0;  // binary logarithm of the milliseconds to rebuild it, per byte
  int64_t bytes = 0;
  bool is_newcomer = false;
  // In use by a running call, held by the program, or called by a live graph: it stays.
  bool is_held = false;
};

// The positions of the candidates that go, so that `traces` entries and `bytes` bytes less are
// there: those of the lowest value, which is calls times milliseconds to rebuild per byte. The
// newcomer stays only if it is worth clearly more than each that goes for it (by a quarter and one
// call), so that types that are called equally often do not push each other out: it ran, and is
// not kept. May free less than it was asked for, if the rest is held.
GRAVEN_API std::vector<size_t> choose_evictions(std::span<const Candidate> candidates,
                                                int64_t traces, int64_t bytes);

// The price of an entry, coarse: traces of one function differ in what they cost mostly by noise
// (a garbage collection, another program) and by what the first one had to do for all. Theirs is
// the usual price of the function's traces, unless it differs by more than 16 times, and, if it is
// higher, by a time that no noise takes.
class GRAVEN_API UsualPrice {
 public:
  static double of(double milliseconds, int64_t bytes);
  void note(double price);                 // of the next trace
  double price() const { return usual_; }  // the mean of late ones, without the first
  // The price of a trace that was noted with `price`.
  double coarse(double price, double milliseconds, bool is_first) const;

 private:
  double usual_ = 0;
  int64_t noted_ = 0;
};

}  // namespace graven::engine
