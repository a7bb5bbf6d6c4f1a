#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/ref.h"

// Protects readers that take no lock. A thread announces in a slot of its own that it looks
// something up, and the entry that it found until the call ends. Objects that a writer has made
// unreachable are retired: they are freed once every thread that was in a look-up at that time has
// moved on, and no thread announces them.
//
// This is the scheme of hazard pointers (Michael 2004), with the announcement of a whole look-up
// in front, so that an entry's own announcement needs no fence and no second look.
namespace graven::engine {

class Entry;

// One thread's announcements. Slots are never freed, only reused by other threads, so that a writer
// may read all of them.
struct alignas(64) ReaderSlot {
  // The slot of this thread.
  GRAVEN_API static ReaderSlot& own();

  std::atomic<uint64_t> announcements{0};  // odd while the thread looks something up
  // Calls nest. A call that finds no free place here counts a reference instead.
  std::array<std::atomic<const Entry*>, 5> entries{};
  uint32_t number = 0;  // from 1, of no other thread that runs now
  std::atomic<bool> is_taken{true};
  ReaderSlot* next = nullptr;
};

// An entry that stays usable while this lives, even if the Function drops it meanwhile; or none.
// Stays on its thread.
class GRAVEN_API EntryInUse {
 public:
  EntryInUse() = default;
  explicit EntryInUse(Ref<Entry> entry) : entry_(entry.release()) {}
  EntryInUse(EntryInUse&& other) noexcept
      : entry_(std::exchange(other.entry_, nullptr)), announced_(other.announced_) {}
  EntryInUse& operator=(EntryInUse&& other) noexcept {
    std::swap(entry_, other.entry_);
    std::swap(announced_, other.announced_);
    return *this;
  }
  ~EntryInUse() {
    if (entry_) end();
  }

  Entry* get() const { return entry_; }
  Entry* operator->() const { return entry_; }
  Entry& operator*() const { return *entry_; }
  explicit operator bool() const { return entry_ != nullptr; }

 private:
  friend class Reading;
  void end();
  Entry* entry_ = nullptr;
  std::atomic<const Entry*>* announced_ = nullptr;  // null: counted
};

// Marks a look-up of this thread: all objects that it reaches stay while this lives. A handful of
// instructions long, but where a look at watched values runs the program's code (a finalizer, that
// Python's collector calls). Such code may look up again: the outermost announces.
class GRAVEN_API Reading {
 public:
  Reading() : slot_(ReaderSlot::own()) {
    const uint64_t before = slot_.announcements.load(std::memory_order_relaxed);
    if (before % 2) return;
    announcement_ = before + 1;
    // In one order with the writer's change and its read of this slot: either the writer sees the
    // announcement, or all later reads of this thread see the change.
    slot_.announcements.store(announcement_, std::memory_order_seq_cst);
  }
  ~Reading() {
    if (announcement_) slot_.announcements.store(announcement_ + 1, std::memory_order_release);
  }
  Reading(const Reading&) = delete;

  // Keeps an entry that was reached beyond the end of the look-up.
  EntryInUse use(Entry* entry);

 private:
  ReaderSlot& slot_;
  uint64_t announcement_ = 0;  // 0: that of a look-up around this one
};

// --- For writers. No lock may be held: destroying an object may run a front end's code, which
// takes its lock.

// Calls `free(object)` once no reader uses the object: here or later, perhaps on another thread.
GRAVEN_API void retire(const void* object, void (*free)(const void* object));
// Drops the reference in the same way; until then the entry says that it is retired.
GRAVEN_API void retire(Ref<Entry> entry);
// Frees the retired objects that no reader uses any more. The end of a call of a retired entry does
// so.
GRAVEN_API void free_retired();
// The entries that calls use without counting a reference, sorted by address. A call that begins
// meanwhile may be missing.
std::vector<const Entry*> announced_entries();

}  // namespace graven::engine
