#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "graven/base/export.h"
#include "graven/base/ref.h"

// What protects a reader that takes no lock. A thread announces in a slot of its own that it looks
// something up, and the entry that it found until the call ends. What a writer has made
// unreachable is retired: freed once every thread that was looking something up then has moved
// on, and nobody announces it.
//
// This is the scheme of hazard pointers (Michael 2004), with the announcement of a whole look-up
// in front, so that an entry's own announcement needs no fence and no second look.
namespace graven::engine {

class Entry;

// One thread's announcements. Slots are never freed, only handed on, so that a writer may look at
// all of them.
struct alignas(64) ReaderSlot {
  // That of this thread.
  GRAVEN_API static ReaderSlot& own();

  std::atomic<uint64_t> announcements{0};  // odd while the thread looks something up
  // Calls nest. One that finds no place counts a reference.
  std::array<std::atomic<const Entry*>, 5> entries{};
  uint32_t number = 0;  // from 1, of no other thread that runs now
  std::atomic<bool> is_taken{true};
  ReaderSlot* next = nullptr;
};

// An entry that may be used until this ends, even if the Function drops it meanwhile; or none.
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

// This thread looks something up while this lives: what it reaches stays. A handful of
// instructions long; not nested.
class GRAVEN_API Reading {
 public:
  Reading() : slot_(ReaderSlot::own()) {
    announcement_ = slot_.announcements.load(std::memory_order_relaxed) + 1;
    // In one order with the writer's change and its look at this: either it sees the announcement,
    // or what is read from now on shows the change.
    slot_.announcements.store(announcement_, std::memory_order_seq_cst);
  }
  ~Reading() { slot_.announcements.store(announcement_ + 1, std::memory_order_release); }
  Reading(const Reading&) = delete;

  // An entry that was reached, for longer.
  EntryInUse use(Entry* entry);

 private:
  ReaderSlot& slot_;
  uint64_t announcement_;
};

// --- For writers. No lock may be held: what goes may run a front end's code, and takes its lock.

// Lets `free(object)` be called, here or later and perhaps on another thread.
GRAVEN_API void retire(const void* object, void (*free)(const void* object));
// Lets the reference go in the same way; until then the entry says that it is retired.
GRAVEN_API void retire(Ref<Entry> entry);
// Frees what has become free. The end of a call of a retired entry does so.
GRAVEN_API void free_retired();

}  // namespace graven::engine
