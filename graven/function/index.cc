#include "graven/function/index.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "graven/base/heap_bytes.h"
#include "graven/function/cache_info.h"
#include "graven/function/function.h"

namespace graven::engine {
namespace {

uint64_t hash_row(uint64_t context, std::span<const uint64_t> words) {
  uint64_t h = words.size() ^ context << 32;
  for (uint64_t word : words) h = (std::rotl(h, 23) ^ word) * 0x9e3779b97f4a7c15ULL;
  return h ^ (h >> 29);
}

}  // namespace

// Members that a look-up reads come first. A row in the table never changes; another row replaces
// it.
struct Index::Row {
  uint64_t hash;
  uint64_t context;
  uint64_t serial;                  // of the first entry
  InlineVector<Entry*, 1> entries;  // in the order of making
  InlineVector<uint64_t, 8> words;
  Wildcards wildcards;
  std::vector<Ref<LifeGuard>> guards;
  bool is_remembered;
  std::optional<uint64_t> skeleton;

  bool is_alive() const {
    return std::ranges::all_of(guards, [](const auto& guard) { return guard->is_alive(); });
  }
  // The first entry whose watched values have not changed; null if there is none.
  Entry* first_that_holds() const {
    auto entry = std::ranges::find_if(entries, [](const Entry* each) { return each->holds(); });
    return entry == entries.end() ? nullptr : *entry;
  }
  bool is(uint64_t other_hash, uint64_t other_context, std::span<const uint64_t> row) const {
    return hash == other_hash && context == other_context && std::ranges::equal(words, row);
  }
  int64_t bytes() const {
    return bytes_of_object<Row>() + heap_bytes(entries) + heap_bytes(words) + heap_bytes(guards) +
           static_cast<int64_t>(guards.size()) * bytes_of_object<LifeGuard>();
  }
};

// Open addressing. A bucket is free, holds a row, or held a row that was removed.
struct Index::Table {
  explicit Table(size_t size)
      : mask(size - 1), buckets(std::make_unique<std::atomic<const Row*>[]>(size)) {}
  const size_t mask;  // of a power of two
  const std::unique_ptr<std::atomic<const Row*>[]> buckets;

  static const Row* removed() { return reinterpret_cast<const Row*>(alignof(Row)); }

  const Row* find(uint64_t hash, uint64_t context, std::span<const uint64_t> words) const {
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
      const Row* row = buckets[i].load(std::memory_order_seq_cst);
      if (!row) return nullptr;
      if (row != removed() && row->is(hash, context, words)) {
        return row->guards.empty() || row->is_alive() ? row : nullptr;
      }
    }
  }
  std::atomic<const Row*>& bucket_of(const Row& row) const {
    size_t i = row.hash & mask;
    while (buckets[i].load(std::memory_order_relaxed) != &row) i = (i + 1) & mask;
    return buckets[i];
  }
  // A bucket for a row that is not there.
  std::atomic<const Row*>& free_bucket(uint64_t hash) const {
    size_t i = hash & mask;
    for (;; i = (i + 1) & mask) {
      const Row* row = buckets[i].load(std::memory_order_relaxed);
      if (!row || row == removed()) return buckets[i];
    }
  }
};

struct Index::Groups {
  std::vector<Wildcards> list;
};

Index::Unused::~Unused() {
  auto retire_all = [](auto& list) {
    for (const auto* object : list) {
      using Object = std::remove_pointer_t<decltype(object)>;
      retire(object, [](const void* retired) { delete static_cast<Object*>(retired); });
    }
  };
  retire_all(rows);
  retire_all(tables);
  retire_all(groups);
  for (Ref<Entry>& entry : entries) retire(std::move(entry));
}

void LifeListener::on_end(const LifeGuard& guard) {
  Index::Unused unused;
  {
    MutexLock lock(mutex_);
    if (!index_) return;
    MutexLock lock_of_index(index_->mutex_);
    index_->forget(guard, unused);
  }
  if (!history_) return;
  for (const Ref<Entry>& entry : unused.entries) history_->add(*entry, "an object of it died");
}

void LifeListener::leave() {
  MutexLock lock(mutex_);
  index_ = nullptr;
}

void LifeGuard::end() {
  is_alive_.store(false, std::memory_order_release);
  // The row that owns this may go.
  if (std::shared_ptr<LifeListener> listener = listener_) listener->on_end(*this);
}

Index::Index(std::shared_ptr<History> history)
    : table_(new Table(8)),
      groups_(new Groups()),
      listener_(std::make_shared<LifeListener>(this, std::move(history))) {}

// No thread may call a Function that is being destroyed.
Index::~Index() {
  listener_->leave();
  const Table* table = table_.load();
  for (size_t i = 0; i <= table->mask; ++i) {
    const Row* row = table->buckets[i].load();
    if (row != Table::removed()) delete row;
  }
  delete table;
  delete groups_.load();
  free_retired();
}

EntryInUse Index::find(uint64_t context, std::span<const uint64_t> words) const {
  Reading reading;
  Entry* entry = look_up(context, words);
  return entry ? reading.use(entry) : EntryInUse();
}

template <typename Visit>
void Index::for_each_row(uint64_t context, std::span<const uint64_t> words, Visit visit) const {
  const Table* table = table_.load(std::memory_order_seq_cst);
  const Row* exact = table->find(hash_row(context, words), context, words);
  if (exact && visit(*exact, /*is_exact=*/true)) return;
  const Groups* groups = groups_.load(std::memory_order_seq_cst);
  for (const Wildcards& group : groups->list) {
    KeyWords with_wildcards;
    if (!group.apply(words, with_wildcards)) continue;
    std::span<const uint64_t> wide(with_wildcards.data(), with_wildcards.size());
    const Row* row = table->find(hash_row(context, wide), context, wide);
    if (row && visit(*row, /*is_exact=*/false)) return;
  }
}

Entry* Index::look_up(uint64_t context, std::span<const uint64_t> words) const {
  struct Found {
    const Row* row;
    Entry* entry;
  };
  InlineVector<Found, 16> found;
  Entry* exact = nullptr;  // nothing is more specific
  for_each_row(context, words, [&](const Row& row, bool is_exact) {
    Entry* entry = row.first_that_holds();
    if (!entry) return false;
    if (is_exact) {
      exact = entry;
    } else {
      found.push_back({&row, entry});
    }
    return is_exact;
  });
  if (exact) return exact;
  if (found.empty()) return nullptr;
  // In the order of making, the most specific one.
  std::ranges::sort(found, {}, [](const Found& each) { return each.row->serial; });
  Found best = found.front();
  for (const Found& each : found) {
    if (each.row->wildcards.is_within(best.row->wildcards)) best = each;
  }
  return best.entry;
}

std::vector<Ref<Entry>> Index::serving(uint64_t context, std::span<const uint64_t> words) const {
  MutexLock lock(mutex_);
  std::vector<Ref<Entry>> entries;
  for_each_row(context, words, [&](const Row& row, bool) {
    for (const Entry* entry : row.entries) entries.push_back(records_.at(entry->serial_).entry);
    return false;
  });
  return entries;
}

bool Index::insert(Ref<Entry> entry, Key key) {
  Unused unused;
  MutexLock lock(mutex_);
  bool all_live = std::ranges::all_of(key.guards, [](const auto& g) { return g->is_alive(); });
  if (!all_live) return false;
  take_out_remembered(key.row ? key.skeleton : std::nullopt, unused);
  const uint64_t serial = next_serial_++;
  entry->serial_ = serial;
  entry->is_retired_.store(false, std::memory_order_seq_cst);
  records_.emplace(serial, Record{entry, key.skeleton, key.row.has_value()});
  if (key.skeleton) {
    by_skeleton_[*key.skeleton].insert(serial);
  } else {
    without_skeleton_.insert(serial);
  }
  if (!key.row) {
    without_row_.insert(serial);
    return true;
  }
  const uint64_t hash = hash_row(key.context, *key.row);
  auto row = std::make_unique<Row>();
  row->hash = hash;
  row->context = key.context;
  row->serial = serial;
  row->words = InlineVector<uint64_t, 8>(std::span<const uint64_t>(*key.row));
  row->wildcards = Wildcards::of_row(*key.row);
  row->guards = std::move(key.guards);
  row->is_remembered = false;
  row->skeleton = key.skeleton;
  if (const Row* same = table_.load()->find(hash, key.context, *key.row)) {
    // Types that words do not tell apart: specs of other names.
    row->serial = same->serial;
    row->entries = same->entries;
    row->entries.push_back(entry.get());
    replace(*same, row.release(), unused);
  } else {
    row->entries.push_back(entry.get());
    put(row.release(), unused);
  }
  return true;
}

void Index::remember(const Entry& entry, Key key, uint64_t serial) {
  Unused unused;
  MutexLock lock(mutex_);
  if (next_serial_ != serial) return;
  auto record = records_.find(entry.serial_);
  if (record == records_.end() || record->second.entry.get() != &entry) return;
  bool all_live = std::ranges::all_of(key.guards, [](const auto& g) { return g->is_alive(); });
  const uint64_t hash = hash_row(key.context, *key.row);
  if (!all_live || table_.load()->find(hash, key.context, *key.row)) return;
  if (remembered_.size() >= kMaxRemembered) take_out(*remembered_.front(), unused);
  auto row = std::make_unique<Row>();
  row->hash = hash;
  row->context = key.context;
  row->serial = entry.serial_;
  row->entries.push_back(record->second.entry.get());
  row->words = InlineVector<uint64_t, 8>(std::span<const uint64_t>(*key.row));
  row->wildcards = Wildcards::of_row(*key.row);
  row->guards = std::move(key.guards);
  row->is_remembered = true;
  row->skeleton = key.skeleton;
  put(row.release(), unused);
}

void Index::count_hit(Entry& entry) {
  MutexLock lock(mutex_);
  auto record = records_.find(entry.serial_);
  if (record != records_.end() && record->second.entry.get() == &entry) {
    entry.count_hit();
  } else {
    hits_of_removed_.fetch_add(1, std::memory_order_relaxed);
  }
}

Ref<Entry> Index::remove(const Entry& entry) {
  Unused unused;
  MutexLock lock(mutex_);
  auto record = records_.find(entry.serial_);
  if (record == records_.end() || record->second.entry.get() != &entry) return nullptr;
  Ref<Entry> removed = record->second.entry;
  take_out_entry(record->first, unused);
  return removed;
}

std::vector<Ref<Entry>> Index::remove_since(uint64_t serial) {
  std::vector<Ref<Entry>> removed;
  Unused unused;
  MutexLock lock(mutex_);
  for (;;) {
    auto record = records_.lower_bound(serial);
    if (record == records_.end()) return removed;
    removed.push_back(record->second.entry);
    take_out_entry(record->first, unused);
    num_removed_.fetch_sub(1, std::memory_order_relaxed);
  }
}

std::vector<Ref<Entry>> Index::remove_unheld(std::span<const uint64_t> serials) {
  std::vector<Ref<Entry>> removed;
  Unused unused;
  MutexLock lock(mutex_);
  const std::vector<const Entry*> announced = announced_entries();
  for (uint64_t serial : serials) {
    auto record = records_.find(serial);
    if (record == records_.end() || record->second.entry->is_held(announced)) continue;
    removed.push_back(record->second.entry);
    take_out_entry(serial, unused);
  }
  return removed;
}

void Index::for_each(FunctionRef<void(Entry& entry, uint64_t serial, bool is_held)> visit) const {
  MutexLock lock(mutex_);
  const std::vector<const Entry*> announced = announced_entries();
  for (const auto& [serial, record] : records_) {
    visit(*record.entry, serial, record.entry->is_held(announced));
  }
}

std::vector<Ref<Entry>> Index::next_entries(uint64_t& serial, int number) const {
  std::vector<Ref<Entry>> entries;
  MutexLock lock(mutex_);
  const auto most = std::min<size_t>(number, records_.size());
  while (entries.size() < most) {
    auto at = records_.upper_bound(serial);
    if (at == records_.end()) at = records_.begin();
    serial = at->first;
    entries.push_back(at->second.entry);
  }
  return entries;
}

uint64_t Index::serial_of(const Entry& entry) const {
  MutexLock lock(mutex_);
  return entry.serial_;
}

void Index::count_bytes(Entry& entry, int64_t bytes) {
  MutexLock lock(mutex_);
  auto record = records_.find(entry.serial_);
  if (record == records_.end() || record->second.entry.get() != &entry) return;
  counted_bytes_ += bytes - std::exchange(entry.account_.bytes, bytes);
}

int64_t Index::counted_bytes() const {
  MutexLock lock(mutex_);
  return counted_bytes_ + bytes_of_tables();
}

uint64_t Index::next_serial() const {
  MutexLock lock(mutex_);
  return next_serial_;
}

std::vector<Ref<Entry>> Index::entries() const {
  MutexLock lock(mutex_);
  std::vector<Ref<Entry>> entries;
  entries.reserve(records_.size());
  for (const auto& [serial, record] : records_) entries.push_back(record.entry);
  return entries;
}

std::vector<Ref<Entry>> Index::last_entries(size_t number) const {
  std::vector<Ref<Entry>> entries;
  MutexLock lock(mutex_);
  for (auto at = records_.rbegin(); at != records_.rend() && entries.size() < number; ++at) {
    entries.push_back(at->second.entry);
  }
  std::ranges::reverse(entries);
  return entries;
}

std::vector<Ref<Entry>> Index::related(std::optional<uint64_t> skeleton) const {
  if (!skeleton) return entries();
  MutexLock lock(mutex_);
  std::vector<uint64_t> serials(without_skeleton_.begin(), without_skeleton_.end());
  if (auto same = by_skeleton_.find(*skeleton); same != by_skeleton_.end()) {
    serials.insert(serials.end(), same->second.begin(), same->second.end());
  }
  std::ranges::sort(serials);
  std::vector<Ref<Entry>> entries;
  for (uint64_t serial : serials) entries.push_back(records_.at(serial).entry);
  return entries;
}

std::vector<Ref<Entry>> Index::last_related(uint64_t skeleton, size_t number) const {
  MutexLock lock(mutex_);
  std::vector<uint64_t> serials;
  auto add_last = [&](const auto& from) {
    auto at = from.rbegin();
    for (size_t i = 0; i < number && at != from.rend(); ++i, ++at) serials.push_back(*at);
  };
  add_last(without_skeleton_);
  if (auto same = by_skeleton_.find(skeleton); same != by_skeleton_.end()) add_last(same->second);
  std::ranges::sort(serials);
  std::vector<Ref<Entry>> entries;
  for (size_t i = serials.size() - std::min(serials.size(), number); i < serials.size(); ++i) {
    entries.push_back(records_.at(serials[i]).entry);
  }
  return entries;
}

std::vector<Ref<Entry>> Index::related_without_row(std::optional<uint64_t> skeleton) const {
  MutexLock lock(mutex_);
  std::vector<Ref<Entry>> entries;
  for (uint64_t serial : without_row_) {
    const Record& record = records_.at(serial);
    bool is_related = !skeleton || !record.skeleton || *skeleton == *record.skeleton;
    if (is_related) entries.push_back(record.entry);
  }
  return entries;
}

bool Index::is_only_one_without_row(const Entry& entry) const {
  MutexLock lock(mutex_);
  return without_row_.size() == 1 && *without_row_.begin() == entry.serial_;
}

size_t Index::size() const {
  MutexLock lock(mutex_);
  return records_.size();
}

int64_t Index::bytes() const {
  MutexLock lock(mutex_);
  return bytes_of_tables();
}

int64_t Index::bytes_of_tables() const {
  // Each entry that has a skeleton stands in the set of that skeleton.
  const auto in_sets = static_cast<int64_t>(records_.size() - without_skeleton_.size());
  return row_bytes_ + bytes_of_object<Table>() +
         bytes_of_block((table_.load()->mask + 1) * sizeof(void*)) + heap_bytes(records_) +
         heap_bytes(by_skeleton_) + heap_bytes(without_row_) + heap_bytes(without_skeleton_) +
         heap_bytes(guarded_) +
         static_cast<int64_t>(remembered_.size()) * bytes_of_block(3 * sizeof(void*)) +
         in_sets * bytes_of_block(32 + sizeof(uint64_t));
}

void Index::forget(const LifeGuard& guard, Unused& unused) {
  auto at = guarded_.find(&guard);
  if (at == guarded_.end()) return;
  const Row& row = *at->second;
  if (row.is_remembered) return take_out(row, unused);
  // Types that hold a dead object fit no call any more.
  const InlineVector<Entry*, 1> entries = row.entries;
  for (const Entry* entry : entries) {
    unused.entries.push_back(records_.at(entry->serial_).entry);
    take_out_entry(entry->serial_, unused);
  }
}

void Index::put(Row* row, Unused& unused) {
  if (2 * (num_used_ + 1) > table_.load()->mask + 1) resize(num_rows_ + 1, unused);
  std::atomic<const Row*>& bucket = table_.load()->free_bucket(row->hash);
  num_used_ += bucket.load(std::memory_order_relaxed) == nullptr;
  ++num_rows_;
  row_bytes_ += row->bytes();
  for (const auto& guard : row->guards) guarded_[guard.get()] = row;
  for (const Entry* entry : row->entries) records_.at(entry->serial_).rows.push_back(row);
  if (row->is_remembered) remembered_.push_back(row);
  change_group(*row, 1, unused);
  bucket.store(row, std::memory_order_seq_cst);
}

void Index::take_out(const Row& row, Unused& unused) {
  table_.load()->bucket_of(row).store(Table::removed(), std::memory_order_seq_cst);
  --num_rows_;
  row_bytes_ -= row.bytes();
  for (const auto& guard : row.guards) guarded_.erase(guard.get());
  for (const Entry* entry : row.entries) {
    auto& rows = records_.at(entry->serial_).rows;
    rows.erase(std::ranges::find(rows, &row));
  }
  if (row.is_remembered) remembered_.erase(std::ranges::find(remembered_, &row));
  change_group(row, -1, unused);
  unused.rows.push_back(&row);
  if (table_.load()->mask + 1 > 64 && 16 * num_rows_ < table_.load()->mask) {
    resize(num_rows_, unused);
    by_skeleton_.rehash(0);
    guarded_.rehash(0);
  }
}

// By a row of the same words.
void Index::replace(const Row& row, Row* by, Unused& unused) {
  for (const auto& guard : row.guards) guarded_.erase(guard.get());
  for (const auto& guard : by->guards) guarded_[guard.get()] = by;
  for (const Entry* entry : row.entries) {
    auto& rows = records_.at(entry->serial_).rows;
    rows.erase(std::ranges::find(rows, &row));
  }
  for (const Entry* entry : by->entries) records_.at(entry->serial_).rows.push_back(by);
  row_bytes_ += by->bytes() - row.bytes();
  table_.load()->bucket_of(row).store(by, std::memory_order_seq_cst);
  unused.rows.push_back(&row);
}

// Publishes a table for so many rows, a quarter full, and leaves the buckets behind that rows were
// taken out of.
void Index::resize(size_t num_rows, Unused& unused) {
  const Table* old = table_.load();
  auto* table = new Table(std::bit_ceil(std::max<size_t>(8, 4 * num_rows)));
  for (size_t i = 0; i <= old->mask; ++i) {
    const Row* row = old->buckets[i].load(std::memory_order_relaxed);
    if (!row || row == Table::removed()) continue;
    table->free_bucket(row->hash).store(row, std::memory_order_relaxed);
  }
  num_used_ = num_rows_;
  table_.store(table, std::memory_order_seq_cst);
  unused.tables.push_back(old);
}

void Index::take_out_remembered(std::optional<uint64_t> skeleton, Unused& unused) {
  for (auto at = remembered_.begin(); at != remembered_.end();) {
    const Row& row = **at++;
    if (!skeleton || !row.skeleton || *skeleton == *row.skeleton) take_out(row, unused);
  }
}

void Index::take_out_entry(uint64_t serial, Unused& unused) {
  auto at = records_.find(serial);
  Record& record = at->second;
  const InlineVector<const Row*, 2> rows = record.rows;
  for (const Row* row : rows) {
    if (row->entries.size() == 1) {
      take_out(*row, unused);
      continue;
    }
    auto rest = std::make_unique<Row>(*row);
    rest->entries.erase(std::ranges::find(rest->entries, record.entry.get()));
    rest->serial = rest->entries.front()->serial_;
    replace(*row, rest.release(), unused);
  }
  if (record.skeleton) {
    auto same = by_skeleton_.find(*record.skeleton);
    same->second.erase(serial);
    if (same->second.empty()) by_skeleton_.erase(same);
  }
  without_skeleton_.erase(serial);
  without_row_.erase(serial);
  hits_of_removed_.fetch_add(record.entry->hits(), std::memory_order_relaxed);
  num_removed_.fetch_add(1, std::memory_order_relaxed);
  counted_bytes_ -= std::exchange(record.entry->account_.bytes, 0);
  records_.erase(at);
}

void Index::change_group(const Row& row, int by, Unused& unused) {
  if (row.wildcards.empty()) return;
  auto& groups = num_rows_of_groups_;
  auto at = std::ranges::find(groups, row.wildcards, &std::pair<Wildcards, size_t>::first);
  if (at == groups.end()) at = groups.insert(at, {row.wildcards, 0});
  const bool is_new = at->second == 0;
  at->second += by;
  const bool is_over = at->second == 0;
  if (is_over) groups.erase(at);
  if (!is_new && !is_over) return;
  auto* published = new Groups();
  for (const auto& [wildcards, num_rows] : groups) published->list.push_back(wildcards);
  unused.groups.push_back(groups_.exchange(published, std::memory_order_seq_cst));
}

}  // namespace graven::engine
