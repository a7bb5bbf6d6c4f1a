#include "graven/function/frequency.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "graven/base/heap_bytes.h"

namespace graven::engine {
namespace {

constexpr size_t kMinColumns = 256, kMaxColumns = 4096;

// splitmix64
uint64_t mixed(uint64_t key) {
  key += 0x9e3779b97f4a7c15ULL;
  key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9ULL;
  key = (key ^ (key >> 27)) * 0x94d049bb133111ebULL;
  return key ^ (key >> 31);
}

}  // namespace

double Frequencies::halved(double calls, uint64_t epoch) const {
  return std::ldexp(calls, -static_cast<int>(std::min<uint64_t>(epoch_ - epoch, 64)));
}

double Frequencies::read(OfEntry& entry, int64_t hits) {
  const int64_t more = std::max<int64_t>(hits - entry.hits_seen, 0);
  entry.calls = halved(entry.calls, entry.epoch) + static_cast<double>(more);
  entry.epoch = epoch_;
  entry.hits_seen = hits;
  calls_ += more;
  return entry.calls;
}

void Frequencies::begin(OfEntry& entry, int64_t hits, double calls_before) {
  entry = {hits, calls_before + 1, epoch_};
  ++calls_;
}

size_t Frequencies::cell(int row, uint64_t key) const {
  const uint64_t hash = mixed(key + static_cast<uint64_t>(row) * 0xd1b54a32d192ed03ULL);
  return row * num_columns_ + (hash & (num_columns_ - 1));
}

double Frequencies::estimate(uint64_t key) const {
  if (cells_.empty()) return 0;
  float least = cells_[cell(0, key)];
  for (int row = 1; row < kRows; ++row) least = std::min(least, cells_[cell(row, key)]);
  return least;
}

void Frequencies::note(uint64_t key, double calls) {
  if (cells_.empty()) {
    num_columns_ = kMinColumns;
    cells_.assign(kRows * num_columns_, 0);
  }
  for (int row = 0; row < kRows; ++row) {
    float& value = cells_[cell(row, key)];
    value = std::max(value, static_cast<float>(calls));
  }
}

void Frequencies::age(int64_t num_entries) {
  const int64_t period = kCallsForEach * std::max<int64_t>(num_entries, 1);
  if (calls_ < period) return;
  // A long time without a look at the counters is several halvings, of which the first few say all.
  const int64_t times = std::min<int64_t>(calls_ / period, 64);
  calls_ %= period;
  epoch_ += times;
  for (float& value : cells_) {
    value = std::ldexp(value, -static_cast<int>(times));
    if (value < 1.0f / 16) value = 0;
  }
  // Of n traces as many others are called between two halvings; their keys need columns enough.
  const size_t wanted =
      std::clamp(std::bit_ceil(4 * static_cast<size_t>(num_entries)), kMinColumns, kMaxColumns);
  if (!cells_.empty() && wanted > num_columns_) grow(wanted);
}

// A key's column in the larger sketch is its old one, or that plus a multiple of the old number of
// columns: so copies of the old row keep all estimates.
void Frequencies::grow(size_t num_columns) {
  std::vector<float> grown(kRows * num_columns);
  for (int row = 0; row < kRows; ++row) {
    for (size_t i = 0; i < num_columns; ++i) {
      grown[row * num_columns + i] = cells_[row * num_columns_ + (i & (num_columns_ - 1))];
    }
  }
  cells_ = std::move(grown);
  num_columns_ = num_columns;
}

int64_t Frequencies::bytes() const { return heap_bytes(cells_); }

}  // namespace graven::engine
