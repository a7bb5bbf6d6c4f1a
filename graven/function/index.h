#pragma once
#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/function_ref.h"
#include "graven/base/mutex.h"
#include "graven/base/ref.h"
#include "graven/function/in_use.h"
#include "graven/function/key.h"

namespace graven::engine {

class Entry;
class History;
class Index;
class LifeGuard;

// Tells an index, while the index lives, when objects whose addresses are in its rows are gone.
class GRAVEN_API LifeListener {
 public:
  // `history` gets the entries that go with an object; may be null.
  LifeListener(Index* index, std::shared_ptr<History> history)
      : index_(index), history_(std::move(history)) {}
  void on_end(const LifeGuard& guard);
  void leave();  // the index ends

 private:
  Mutex mutex_;
  Index* index_ GUARDED_BY(mutex_);
  const std::shared_ptr<History> history_;
};

// Says whether an object whose address is in a row still lives; belongs to that row. A front end
// makes it, and ends it before another object can get the address.
class GRAVEN_API LifeGuard : public RefCounted {
 public:
  explicit LifeGuard(std::shared_ptr<LifeListener> listener = nullptr)
      : listener_(std::move(listener)) {}
  bool is_alive() const { return is_alive_.load(std::memory_order_acquire); }
  // The object is gone: removes rows and entries, and may destroy this. No lock may be held.
  void end();

 private:
  std::atomic<bool> is_alive_{true};
  const std::shared_ptr<LifeListener> listener_;
};

// The entries of a Function, and the rows that lead to them; without a limit.
//
// All rows are in one table by their hash, those with wildcards too. To find a row with wildcards,
// the index puts the same wildcards in a call's row: rows are grouped by which of their sizes and
// shapes are wildcards, and each group costs one more probe of the table. So the cost of a look-up
// does not depend on the number of entries. A look-up takes no lock and allocates nothing for a row
// that KeyWords holds inside. Changes, one at a time, publish new objects and retire the ones that
// they replace (in_use.h); the table grows by publishing one of twice the size.
//
// Arguments that words cannot describe are found by comparing types. An exact row then remembers
// the result, for at most kMaxRemembered rows.
class GRAVEN_API Index {
 public:
  // The keys under which an entry, or the result of a comparison, is found.
  struct Key {
    // The policy of variable creation. Acts like a first word of the row.
    uint64_t context = 0;
    // None if words cannot describe the arguments.
    std::optional<std::vector<uint64_t>> row;
    // FunctionType::skeleton() of the type.
    std::optional<uint64_t> skeleton;
    // One for each address in the row.
    std::vector<Ref<LifeGuard>> guards;
  };
  static constexpr size_t kMaxRemembered = 1024;

  explicit Index(std::shared_ptr<History> history = nullptr);
  ~Index();
  Index(const Index&) = delete;

  // The entry of an equal row, else of the most specific row with wildcards that fits, else none.
  // Among equally good rows the oldest wins, and of the entries of a row the first whose watched
  // values have not changed; a row without such an entry counts as none. Any thread.
  EntryInUse find(uint64_t context, std::span<const uint64_t> row) const;

  // --- Changes, and the searches after a row found nothing. Any thread that holds no lock.

  // Adds an entry, the last in the order of making. Forgets the remembered rows of its skeleton,
  // because the new entry may be a better choice for them. False, without effect, if a guard's
  // object is gone.
  bool insert(Ref<Entry> entry, Key key);
  // Makes a row lead to an entry, until another entry of the same skeleton is inserted. Without
  // effect if an entry was inserted since next_serial() was `serial`, or if this one is not there
  // any more.
  void remember(const Entry& entry, Key key, uint64_t serial);
  // Takes an entry out, and all rows that lead to it. Null if it is not there.
  Ref<Entry> remove(const Entry& entry);
  // Removes all entries that were inserted since next_serial() was `serial`.
  std::vector<Ref<Entry>> remove_since(uint64_t serial);
  uint64_t next_serial() const;
  // Takes those of these entries out that are not held: that no running call uses, that the
  // program does not hold, whose Body no graph calls, and that are not needed to give variables
  // their first values.
  std::vector<Ref<Entry>> remove_unheld(std::span<const uint64_t> serials);

  // Calls `visit` with each entry, in the order of making, while the index is locked.
  void for_each(FunctionRef<void(Entry& entry, uint64_t serial, bool is_held)> visit) const;
  // At most so many entries: those after a serial number, which is moved on, then the first again.
  std::vector<Ref<Entry>> next_entries(uint64_t& serial, int number) const;
  // The number that for_each gives for the entry; another one once it went and was put back.
  uint64_t serial_of(const Entry& entry) const;
  // Says how many bytes of the entry budgets count. Without effect if it is not there any more.
  void count_bytes(Entry& entry, int64_t bytes);
  // The sum of these, and the bytes of rows and tables.
  int64_t counted_bytes() const;

  // In the order of making.
  std::vector<Ref<Entry>> entries() const;
  // At most so many: the last ones, in the order of making.
  std::vector<Ref<Entry>> last_entries(size_t number) const;
  // The entries that a type of this skeleton may be related to, in the order of making; all entries
  // if there is no skeleton.
  std::vector<Ref<Entry>> related(std::optional<uint64_t> skeleton) const;
  // At most so many of them, the last ones.
  std::vector<Ref<Entry>> last_related(uint64_t skeleton, size_t number) const;
  // The entries of all rows that fit a call's, also those whose watched values have changed.
  std::vector<Ref<Entry>> serving(uint64_t context, std::span<const uint64_t> row) const;
  // Those that a type of this skeleton may be related to, but only entries that have no row.
  std::vector<Ref<Entry>> related_without_row(std::optional<uint64_t> skeleton) const;
  // True if the entry is the only one without a row of its own.
  bool is_only_one_without_row(const Entry& entry) const;

  size_t size() const;
  // The bytes of rows and tables.
  int64_t bytes() const;
  // Entries that were removed one by one, by remove or by the end of an object.
  int64_t num_removed() const { return num_removed_.load(std::memory_order_relaxed); }
  // Counts a hit of an entry that was found some time ago, and may have been removed since.
  void count_hit(Entry& entry);
  int64_t hits_of_removed() const { return hits_of_removed_.load(std::memory_order_relaxed); }
  const std::shared_ptr<LifeListener>& listener() const { return listener_; }

 private:
  friend class LifeListener;
  struct Row;
  struct Table;
  struct Groups;
  struct Record {
    Ref<Entry> entry;
    std::optional<uint64_t> skeleton;
    bool has_row = false;
    InlineVector<const Row*, 2> rows = {};
  };
  // Objects that a change made unreachable. Retired after the lock is given back.
  struct Unused {
    std::vector<const Row*> rows;
    std::vector<const Table*> tables;
    std::vector<const Groups*> groups;
    std::vector<Ref<Entry>> entries;
    ~Unused();
  };
  // visit(row, is_exact) for the rows that fit a call's, the exact one first, until it is true.
  template <typename Visit>
  void for_each_row(uint64_t context, std::span<const uint64_t> row, Visit visit) const;
  Entry* look_up(uint64_t context, std::span<const uint64_t> row) const;
  int64_t bytes_of_tables() const REQUIRES(mutex_);

  void forget(const LifeGuard& guard, Unused& unused) REQUIRES(mutex_);
  void put(Row* row, Unused& unused) REQUIRES(mutex_);
  void take_out(const Row& row, Unused& unused) REQUIRES(mutex_);
  void replace(const Row& row, Row* by, Unused& unused) REQUIRES(mutex_);
  void resize(size_t num_rows, Unused& unused) REQUIRES(mutex_);
  void take_out_remembered(std::optional<uint64_t> skeleton, Unused& unused) REQUIRES(mutex_);
  void take_out_entry(uint64_t serial, Unused& unused) REQUIRES(mutex_);
  void change_group(const Row& row, int by, Unused& unused) REQUIRES(mutex_);

  std::atomic<const Table*> table_;
  std::atomic<const Groups*> groups_;
  mutable Mutex mutex_;
  size_t num_rows_ GUARDED_BY(mutex_) = 0;
  // Buckets that are not free: of rows and of removed rows.
  size_t num_used_ GUARDED_BY(mutex_) = 0;
  // By serial number, which is the order of making; the sets below hold serial numbers too.
  std::map<uint64_t, Record> records_ GUARDED_BY(mutex_);
  uint64_t next_serial_ GUARDED_BY(mutex_) = 1;
  std::unordered_map<uint64_t, std::set<uint64_t>> by_skeleton_ GUARDED_BY(mutex_);
  std::set<uint64_t> without_row_ GUARDED_BY(mutex_), without_skeleton_ GUARDED_BY(mutex_);
  std::list<const Row*> remembered_ GUARDED_BY(mutex_);  // the oldest first
  std::unordered_map<const LifeGuard*, const Row*> guarded_ GUARDED_BY(mutex_);
  std::vector<std::pair<Wildcards, size_t>> num_rows_of_groups_ GUARDED_BY(mutex_);
  int64_t row_bytes_ GUARDED_BY(mutex_) = 0;
  int64_t counted_bytes_ GUARDED_BY(mutex_) = 0;
  std::atomic<int64_t> num_removed_{0}, hits_of_removed_{0};
  const std::shared_ptr<LifeListener> listener_;
};

}  // namespace graven::engine
