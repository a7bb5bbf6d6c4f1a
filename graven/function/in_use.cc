#include "graven/function/in_use.h"

#include <algorithm>
#include <vector>

#include "graven/base/inline_vector.h"
#include "graven/base/mutex.h"
#include "graven/function/function.h"

namespace graven::engine {
namespace {

std::atomic<ReaderSlot*> g_slots{nullptr};
// Read at every call, so without a call that finds the thread's storage.
[[gnu::tls_model("initial-exec")]] constinit thread_local ReaderSlot* t_slot = nullptr;

ReaderSlot* take_slot() {
  for (ReaderSlot* slot = g_slots.load(std::memory_order_acquire); slot; slot = slot->next) {
    bool is_taken = false;
    if (slot->is_taken.compare_exchange_strong(is_taken, true)) return slot;
  }
  static std::atomic<uint32_t> count{0};
  auto* slot = new ReaderSlot();
  slot->number = ++count;
  slot->next = g_slots.load(std::memory_order_relaxed);
  while (!g_slots.compare_exchange_weak(slot->next, slot)) {
  }
  return slot;
}

struct ReturnsSlot {
  ~ReturnsSlot() {
    if (ReaderSlot* slot = std::exchange(t_slot, nullptr)) slot->is_taken.store(false);
  }
};

template <typename Visit>
void for_each_slot(Visit&& visit) {
  // A thread whose slot is not in the list yet sees the change that comes before this.
  for (ReaderSlot* slot = g_slots.load(std::memory_order_seq_cst); slot; slot = slot->next) {
    visit(*slot);
  }
}

struct Retired {
  const void* object;
  void (*free)(const void* object);
  const Entry* entry;  // the object as an entry, or null
  struct Blocker {
    const ReaderSlot* slot;
    uint64_t announcement;
  };
  InlineVector<Blocker, 4> blockers;  // threads that were looking something up, and may have it

  bool is_blocked() {
    while (!blockers.empty()) {
      const auto& [slot, announcement] = blockers.back();
      if (slot->announcements.load(std::memory_order_acquire) == announcement) return true;
      blockers.pop_back();
    }
    return false;
  }
};

// Call it after all earlier look-ups have ended: a reader that found the entry has announced it by
// then.
bool is_announced(const Entry* entry) {
  bool found = false;
  for_each_slot([&](const ReaderSlot& slot) {
    for (const auto& place : slot.entries) {
      found |= place.load(std::memory_order_acquire) == entry;
    }
  });
  return found;
}

struct Waiting {
  Mutex mutex;
  std::vector<Retired> list GUARDED_BY(mutex);
  size_t look_at GUARDED_BY(mutex) = 64;  // size at which all are looked at again
  std::atomic<bool> is_empty{true};
  static Waiting& global() {
    static auto* waiting = new Waiting();
    return *waiting;
  }
};

void retire(Retired retired) {
  for_each_slot([&](const ReaderSlot& slot) {
    uint64_t announcement = slot.announcements.load(std::memory_order_seq_cst);
    if (announcement % 2) retired.blockers.push_back({&slot, announcement});
  });
  // A look-up is over in no time, unless its thread does not run.
  for (int attempt = 0; attempt < 64 && retired.is_blocked(); ++attempt) {
  }
  if (!retired.is_blocked() && !(retired.entry && is_announced(retired.entry))) {
    retired.free(retired.object);
    return;
  }
  Waiting& waiting = Waiting::global();
  bool is_time = false;
  {
    MutexLock lock(waiting.mutex);
    waiting.list.push_back(std::move(retired));
    waiting.is_empty.store(false);
    is_time = waiting.list.size() >= waiting.look_at;
  }
  if (is_time) free_retired();
}

}  // namespace

ReaderSlot& ReaderSlot::own() {
  if (!t_slot) {
    static thread_local ReturnsSlot returns;
    (void)&returns;
    t_slot = take_slot();
  }
  return *t_slot;
}

EntryInUse Reading::use(Entry* entry) {
  EntryInUse in_use;
  in_use.entry_ = entry;
  for (auto& place : slot_.entries) {
    if (place.load(std::memory_order_relaxed)) continue;
    // A writer that sees the end of the look-up sees this too.
    place.store(entry, std::memory_order_relaxed);
    in_use.announced_ = &place;
    return in_use;
  }
  entry->add_ref();
  return in_use;
}

void EntryInUse::end() {
  if (!announced_) {
    entry_->drop_ref();
    return;
  }
  // Read before the announcement ends, because the entry may be freed after it. An entry that is
  // retired between the two is freed with the next retired one.
  const bool is_retired = entry_->is_retired();
  announced_->store(nullptr, std::memory_order_release);
  if (is_retired) free_retired();
}

void retire(const void* object, void (*free)(const void* object)) {
  retire(Retired{object, free, nullptr, {}});
}

void retire(Ref<Entry> entry) {
  entry->is_retired_.store(true, std::memory_order_seq_cst);
  const Entry* object = entry.release();
  retire(Retired{object,
                 [](const void* retired) { static_cast<const Entry*>(retired)->drop_ref(); },
                 object,
                 {}});
}

std::vector<const Entry*> announced_entries() {
  std::vector<const Entry*> announced;
  for_each_slot([&](const ReaderSlot& slot) {
    for (const auto& place : slot.entries) {
      if (const Entry* entry = place.load(std::memory_order_acquire)) announced.push_back(entry);
    }
  });
  std::ranges::sort(announced);
  return announced;
}

void free_retired() {
  Waiting& waiting = Waiting::global();
  if (waiting.is_empty.load()) return;
  std::vector<Retired> freed;
  {
    MutexLock lock(waiting.mutex);
    std::vector<const Entry*> announced;
    auto is_kept = [&](Retired& retired) {
      if (retired.is_blocked()) return true;
      return retired.entry && std::ranges::binary_search(announced, retired.entry);
    };
    // Blockers first, then announcements: in this order nothing is missed.
    std::vector<Retired>& list = waiting.list;
    auto first_unblocked = std::ranges::partition(list, [](Retired& r) { return r.is_blocked(); });
    announced = announced_entries();
    auto first_freed = std::ranges::partition(first_unblocked, is_kept);
    freed.assign(std::make_move_iterator(first_freed.begin()),
                 std::make_move_iterator(first_freed.end()));
    list.erase(first_freed.begin(), list.end());
    waiting.look_at = std::max<size_t>(64, 2 * list.size());
    waiting.is_empty.store(list.empty());
  }
  for (const Retired& retired : freed) retired.free(retired.object);
}

}  // namespace graven::engine
