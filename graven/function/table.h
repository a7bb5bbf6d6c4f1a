#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/inline_vector.h"
#include "graven/base/ref.h"

namespace graven::engine {

class Entry;

// A call's arguments as a row of words, written straight from the arguments by a front end: tags,
// dtypes, sizes, literals by value, objects by address. Two calls whose rows are equal have equal
// types, so the row finds the entry without making types. Every element begins with a tag that
// says how many words follow.
using KeyWords = InlineVector<uint64_t, 96>;

// Watches that an object whose address is in a row still lives; a front end clears `alive`.
class GRAVEN_API LifeGuard : public RefCounted {
 public:
  std::atomic<bool> alive{true};
};

// From rows to entries. Look-ups take no lock, allocate nothing, and may run on any number of
// threads while one thread at a time changes the table: a change publishes a new table, and the
// old one is freed when no thread's slot names it.
class GRAVEN_API DispatchTable {
 public:
  DispatchTable();
  ~DispatchTable();
  DispatchTable(const DispatchTable&) = delete;

  // Null on a miss. The entry lives as long as the Function.
  Entry* find(std::span<const uint64_t> row) const;

  // Remembers that a row leads to an entry while all guards live. At most kMaxRows are kept; the
  // oldest goes first.
  void insert(std::span<const uint64_t> row, Entry* entry, std::vector<Ref<LifeGuard>> guards);
  void clear();
  int64_t bytes() const;

  static constexpr size_t kMaxRows = 1024;

 private:
  struct Table;
  struct Retired;
  // Tables that nobody reads any more. What they hold takes the front end's lock to go, so they are
  // destroyed under no lock of ours.
  using Unused = std::vector<std::unique_ptr<const Table>>;
  Unused publish(Table* next);
  std::atomic<const Table*> table_;
  mutable std::mutex mutex_;  // one writer
};

}  // namespace graven::engine
