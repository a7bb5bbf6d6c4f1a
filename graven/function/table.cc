#include "graven/function/table.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "graven/base/hash.h"

namespace graven::engine {
namespace {

uint64_t hash_row(std::span<const uint64_t> row) {
  uint64_t h = row.size();
  for (uint64_t word : row) h = (std::rotl(h, 23) ^ word) * 0x9e3779b97f4a7c15ULL;
  return h ^ (h >> 29);
}

// What a thread is reading. Slots are made once per thread and never freed, only handed on, so
// that a writer may look at all of them.
struct ReaderSlot {
  std::atomic<const void*> reading{nullptr};
  std::atomic<bool> taken{true};
  ReaderSlot* next = nullptr;
};
std::atomic<ReaderSlot*> g_slots{nullptr};

ReaderSlot* take_slot() {
  for (ReaderSlot* slot = g_slots.load(std::memory_order_acquire); slot; slot = slot->next) {
    bool free = false;
    if (slot->taken.compare_exchange_strong(free, true)) return slot;
  }
  auto* slot = new ReaderSlot();
  slot->next = g_slots.load(std::memory_order_relaxed);
  while (!g_slots.compare_exchange_weak(slot->next, slot)) {
  }
  return slot;
}

struct SlotOfThread {
  ReaderSlot* slot = take_slot();
  ~SlotOfThread() { slot->taken.store(false); }
};

// After the table was replaced: who reads it has announced that before it was, in a slot that was
// in the list before.
bool is_being_read(const void* table) {
  for (ReaderSlot* slot = g_slots.load(std::memory_order_seq_cst); slot; slot = slot->next) {
    if (slot->reading.load(std::memory_order_seq_cst) == table) return true;
  }
  return false;
}

}  // namespace

// Open addressing over rows, oldest row first in `rows`.
struct DispatchTable::Table {
  struct Row {
    uint64_t hash;
    std::vector<uint64_t> words;
    Entry* entry;
    std::vector<Ref<LifeGuard>> guards;
    bool is_alive() const {
      return std::all_of(guards.begin(), guards.end(), [](const Ref<LifeGuard>& guard) {
        return guard->alive.load(std::memory_order_acquire);
      });
    }
  };
  std::vector<std::shared_ptr<const Row>> rows;
  std::vector<std::pair<uint64_t, const Row*>> slots;  // size a power of two, null: free

  void index() {
    slots.assign(std::bit_ceil(std::max<size_t>(8, rows.size() * 2)), {0, nullptr});
    size_t mask = slots.size() - 1;
    for (const auto& row : rows) {
      size_t i = row->hash & mask;
      while (slots[i].second) i = (i + 1) & mask;
      slots[i] = {row->hash, row.get()};
    }
  }
  const Row* find(uint64_t hash, std::span<const uint64_t> words) const {
    size_t mask = slots.size() - 1;
    for (size_t i = hash & mask; slots[i].second; i = (i + 1) & mask) {
      if (slots[i].first != hash) continue;
      const Row& row = *slots[i].second;
      if (std::ranges::equal(row.words, words) && row.is_alive()) return &row;
    }
    return nullptr;
  }
};

struct DispatchTable::Retired {
  std::mutex mutex;
  Unused tables;  // GUARDED_BY(mutex)
  static Retired& list() {
    static auto* list = new Retired();
    return *list;
  }
};

DispatchTable::DispatchTable() {
  auto* empty = new Table();
  empty->index();
  table_.store(empty);
}

// Nobody calls a Function that is being destroyed.
DispatchTable::~DispatchTable() { delete table_.load(); }

Entry* DispatchTable::find(std::span<const uint64_t> words) const {
  static thread_local SlotOfThread own;
  std::atomic<const void*>& reading = own.slot->reading;
  const Table* table = table_.load(std::memory_order_acquire);
  for (;;) {
    reading.store(table, std::memory_order_seq_cst);
    const Table* now = table_.load(std::memory_order_seq_cst);
    if (now == table) break;
    table = now;
  }
  const Table::Row* row = table->find(hash_row(words), words);
  Entry* entry = row ? row->entry : nullptr;
  reading.store(nullptr, std::memory_order_release);
  return entry;
}

void DispatchTable::insert(std::span<const uint64_t> words, Entry* entry,
                           std::vector<Ref<LifeGuard>> guards) {
  Unused unused;  // goes after the lock
  std::lock_guard lock(mutex_);
  const Table* old = table_.load();
  uint64_t hash = hash_row(words);
  auto* next = new Table();
  for (const auto& row : old->rows) {
    bool is_same = row->hash == hash && std::ranges::equal(row->words, words);
    if (row->is_alive() && !is_same) next->rows.push_back(row);
  }
  if (next->rows.size() >= kMaxRows) next->rows.erase(next->rows.begin());
  next->rows.push_back(std::make_shared<const Table::Row>(Table::Row{
      hash, std::vector<uint64_t>(words.begin(), words.end()), entry, std::move(guards)}));
  next->index();
  unused = publish(next);
}

void DispatchTable::clear() {
  Unused unused;  // goes after the lock
  std::lock_guard lock(mutex_);
  auto* empty = new Table();
  empty->index();
  unused = publish(empty);
}

DispatchTable::Unused DispatchTable::publish(Table* next) {
  const Table* old = table_.exchange(next, std::memory_order_seq_cst);
  Retired& retired = Retired::list();
  std::lock_guard lock(retired.mutex);
  retired.tables.emplace_back(old);
  auto first = std::partition(retired.tables.begin(), retired.tables.end(),
                              [](const auto& table) { return is_being_read(table.get()); });
  Unused unused(std::make_move_iterator(first), std::make_move_iterator(retired.tables.end()));
  retired.tables.erase(first, retired.tables.end());
  return unused;
}

int64_t DispatchTable::bytes() const {
  std::lock_guard lock(mutex_);
  int64_t total = 0;
  for (const auto& row : table_.load()->rows) {
    total += static_cast<int64_t>(sizeof(Table::Row) + row->words.size() * 8 + 32);
  }
  return total;
}

}  // namespace graven::engine
