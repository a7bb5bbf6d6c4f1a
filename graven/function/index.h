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
#include "graven/base/mutex.h"
#include "graven/base/ref.h"
#include "graven/function/in_use.h"
#include "graven/function/key.h"

namespace graven::engine {

class Entry;
class Index;
class LifeGuard;

// Tells an index, while there is one, of the end of objects whose addresses are in its rows.
class GRAVEN_API LifeListener {
 public:
  explicit LifeListener(Index* index) : index_(index) {}
  void on_end(const LifeGuard& guard);
  void leave();  // the index ends

 private:
  Mutex mutex_;
  Index* index_ GUARDED_BY(mutex_);
};

// Watches that an object whose address is in a row still lives; belongs to that row. A front end
// makes it, and ends it before the address can be another object's.
class GRAVEN_API LifeGuard : public RefCounted {
 public:
  explicit LifeGuard(std::shared_ptr<LifeListener> listener = nullptr)
      : listener_(std::move(listener)) {}
  bool is_alive() const { return is_alive_.load(std::memory_order_acquire); }
  // The object is gone, and with it rows and entries, and perhaps this. No lock may be held.
  void end();

 private:
  std::atomic<bool> is_alive_{true};
  const std::shared_ptr<LifeListener> listener_;
};

// The entries of a Function, and the rows that lead to them; without a limit.
//
// All rows are in one table by their hash, those with wildcards too. To find one of these, a call's
// row gets the same wildcards: rows are grouped by which of their sizes and shapes are wildcards,
// and each group costs one more look at the table. So the cost of a look-up does not depend on the
// number of entries. A look-up takes no lock and allocates nothing for a row that KeyWords holds
// inside; changes, one at a time, publish what they made and retire what they replaced (in_use.h),
// and the table grows by publishing one of twice the size.
//
// What words cannot say is found by comparing types, and then remembered by an exact row, at most
// kMaxRemembered of those.
class GRAVEN_API Index {
 public:
  // Where an entry, or what was found by comparison, is to be found.
  struct Key {
    // A word that rows begin with, as it were: the policy of variable creation.
    uint64_t context = 0;
    // None if words cannot say the arguments.
    std::optional<std::vector<uint64_t>> row;
    // FunctionType::skeleton() of the type.
    std::optional<uint64_t> skeleton;
    // For each address in the row.
    std::vector<Ref<LifeGuard>> guards;
  };
  static constexpr size_t kMaxRemembered = 1024;

  Index();
  ~Index();
  Index(const Index&) = delete;

  // The entry of an equal row, else of the most specific row with wildcards that fits, else none.
  // Of rows that are equally good the first made is taken. Any thread.
  EntryInUse find(uint64_t context, std::span<const uint64_t> row) const;

  // --- Changes, and what is asked when a row finds nothing. Any thread that holds no lock.

  // Adds an entry, the last in the order of making. What was remembered for its skeleton is
  // forgotten, as it may be a better choice. False, without effect, if a guard's object is gone.
  bool insert(Ref<Entry> entry, Key key);
  // Lets a row lead to an entry, until one of the same skeleton is inserted. Without effect if any
  // was inserted since next_serial() was this, or if the entry is not there any more.
  void remember(const Entry& entry, Key key, uint64_t serial);
  // Takes an entry out, and all rows that lead to it. Null if it is not there.
  Ref<Entry> remove(const Entry& entry);
  // All that were inserted since next_serial() was this.
  std::vector<Ref<Entry>> remove_since(uint64_t serial);
  uint64_t next_serial() const;

  // In the order of making.
  std::vector<Ref<Entry>> entries() const;
  // Those that a type of this skeleton may be related to, in the order of making: all for none.
  std::vector<Ref<Entry>> related(std::optional<uint64_t> skeleton) const;
  // Of these, what no row may be found by.
  std::vector<Ref<Entry>> related_without_row(std::optional<uint64_t> skeleton) const;
  // True for the one entry, if there is just one, that has no row of its own.
  bool is_only_one_without_row(const Entry& entry) const;

  size_t size() const;
  // Of rows and tables.
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
  // What a change made unreachable. Retired after the lock is given back.
  struct Unused {
    std::vector<const Row*> rows;
    std::vector<const Table*> tables;
    std::vector<const Groups*> groups;
    std::vector<Ref<Entry>> entries;
    ~Unused();
  };
  const Row* look_up(uint64_t context, std::span<const uint64_t> row) const;

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
  // Buckets that are not free: of rows and of removed ones.
  size_t num_used_ GUARDED_BY(mutex_) = 0;
  // By serial number, the order of making; so are the sets of them.
  std::map<uint64_t, Record> records_ GUARDED_BY(mutex_);
  uint64_t next_serial_ GUARDED_BY(mutex_) = 1;
  std::unordered_map<uint64_t, std::set<uint64_t>> by_skeleton_ GUARDED_BY(mutex_);
  std::set<uint64_t> without_row_ GUARDED_BY(mutex_), without_skeleton_ GUARDED_BY(mutex_);
  std::list<const Row*> remembered_ GUARDED_BY(mutex_);  // the oldest first
  std::unordered_map<const LifeGuard*, const Row*> guarded_ GUARDED_BY(mutex_);
  std::vector<std::pair<Wildcards, size_t>> num_rows_of_groups_ GUARDED_BY(mutex_);
  int64_t row_bytes_ GUARDED_BY(mutex_) = 0;
  std::atomic<int64_t> num_removed_{0}, hits_of_removed_{0};
  const std::shared_ptr<LifeListener> listener_ = std::make_shared<LifeListener>(this);
};

}  // namespace graven::engine
