#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "graven/base/export.h"

namespace graven::engine {

// How often the traces of a cache were called lately: those that are there, and by the hashes of
// their keys also those that went or were not kept. All counts are halved every so many calls, so
// that a trace that was popular once is worth nothing in the end.
//
// This is TinyLFU (Einziger, Friedman, Manes 2017): a count-min sketch with ageing, which the
// newcomer's key is looked up in. The counts of traces that are there come from their hit counters,
// which are read when values are compared, so a hit does nothing for it. One thread at a time.
class GRAVEN_API Frequencies {
 public:
  // A trace that is there: what was read of its hit counter, and when.
  struct OfEntry {
    int64_t hits_seen = 0;
    double calls = 0;
    uint64_t epoch = 0;
  };
  // Calls between two halvings, for each trace that there is room for.
  static constexpr int64_t kCallsForEach = 16;

  // The calls of an entry lately, whose counter says `hits` now.
  double read(OfEntry& entry, int64_t hits);
  // A newcomer has as many calls as its key had, and the one that it was made for.
  void begin(OfEntry& entry, int64_t hits, double calls_before);

  // The calls of a key lately. At least the calls that were noted; more, if keys meet in all rows.
  double estimate(uint64_t key) const;
  // Says that the key had at least so many calls.
  void note(uint64_t key, double calls);

  // Counts the calls that `read` and `begin` saw, and halves all counts when it is time.
  void age(int64_t num_entries);
  int64_t bytes() const;

 private:
  static constexpr int kRows = 4;
  double halved(double calls, uint64_t epoch) const;
  size_t cell(int row, uint64_t key) const;
  void grow(size_t num_columns);
  uint64_t epoch_ = 0;
  int64_t calls_ = 0;         // since the last halving
  size_t num_columns_ = 0;    // a power of two, or none before the first note
  std::vector<float> cells_;  // row by row
};

}  // namespace graven::engine
