#pragma once
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/function_ref.h"
#include "graven/base/mutex.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/function/budget.h"
#include "graven/function/cache_info.h"
#include "graven/function/frequency.h"
#include "graven/function/index.h"
#include "graven/function/miss.h"
#include "graven/ir/location.h"

namespace graven::engine {

// What a cache knows of an entry besides the trace itself.
struct EntryAccount {
  std::chrono::steady_clock::time_point made_at = std::chrono::steady_clock::now();
  int64_t number = 0;  // among the traces of its Function, from 1
  Miss miss;           // why it was made
  Ref<Location> called_at;
  uint64_t key = 0;       // a hash of the arguments that it was made for; 0: has none
  bool is_first = false;  // of its Function
  // The rest is guarded by the locks of the cache, the index and the process's budget.
  double price = 0;   // UsualPrice::of its trace, once it is measured
  int64_t bytes = 0;  // that budgets count, when they were counted last
  bool is_settled = false;
  Frequencies::OfEntry calls, calls_in_process;
};

// The entries of one Function within its budget, and the history of those that went.
//
// After the first run of a trace (its Program is part of its bytes, and is made by then) the front
// end settles it: its bytes are counted, and while the cache is over its budget the entries of the
// lowest value go, the new one included. Bytes that entries gain later (gradient pairs) are seen
// when the entry's turn comes: each settling counts two others again. So a trace costs two or three
// walks over graphs, and a look at all counters only where a budget is exceeded; a hit costs
// nothing. An entry that is in use, held by the program, or called by a live graph stays, and the
// budget is exceeded as long as too many do.
//
// Owned by its Function, and for moments by threads that look at all caches of the process
// (process_budget.h). Any thread; no lock may be held, because what goes is destroyed here.
class GRAVEN_API Cache {
 public:
  static std::shared_ptr<Cache> create(std::string name, CacheBudget budget);
  Cache(std::string name, CacheBudget budget);
  ~Cache();
  Cache(const Cache&) = delete;

  Index& index() { return index_; }
  const std::string& name() const { return name_; }

  // After the first run of an entry; the reference is given up, as an entry that is held stays.
  // Returns a report for the log, or nothing: the first time that a trace of which one knows that
  // it went for a budget is made again.
  std::optional<std::string> settle(Ref<Entry> traced);
  // Lets one entry go. False if it is not there any more.
  bool drop(const Entry& entry, std::string why);
  // Lets all entries go but those whose variables have no values yet.
  void clear();

  CacheInfo info() const;
  ProcessCacheInfo::Function row() const;
  std::atomic<int64_t> traces{0}, misses{0};

  // --- For explanations (explain.h).

  // Notes a trace that was made, before it is inserted, or one that failed.
  void note_traced(const Entry& entry);
  void note_failed(const Status& status);
  std::vector<CacheEvent> events() const { return history_->events(); }
  // The last trace of the arguments of this key that went for a budget.
  std::optional<GoneTrace> gone_for_budget(uint64_t key) const { return history_->find(key); }
  // A lasting fact of the Function, for its explanation, such as a size that its traces depend on:
  // "pinned: dimension 0 of x, read at model.py:12". Kept once, also by clear().
  void add_fact(std::string fact);
  std::vector<std::string> facts() const;

  // --- For the budget of the process.

  // The bytes that budgets count, of entries and of the index.
  int64_t counted_bytes() const;
  // Counts the bytes of the entries whose turn it is again.
  void count_some(int number);
  // Each entry with its serial number and its price, which can be compared with those of other
  // Functions. The locks of the cache are held meanwhile.
  using Visit = FunctionRef<void(EntryAccount& account, int64_t hits, uint64_t serial, double price,
                                 bool is_held)>;
  void for_each_candidate(Visit visit);
  // Lets entries go, by serial numbers, unless they are held by now.
  void evict(std::span<const uint64_t> serials, const std::string& why);
  uint64_t number_in_process = 0;
  std::atomic<int64_t> bytes_in_process{0};  // the part of the process's sum
  std::atomic<bool> has_reported_for_process{false};

 private:
  int64_t count(const Ref<Entry>& entry);
  // Chooses what goes, by serial numbers; `serial` is the newcomer's.
  std::vector<uint64_t> choose(uint64_t serial, double calls_before, std::string& why)
      REQUIRES(mutex_);
  std::string report() const;
  // The hits of all entries, or -1: it is counted so rarely that its walk costs each trace the
  // same.
  int64_t hits_now_and_then();

  const std::string name_;
  const CacheBudget budget_;
  const std::shared_ptr<History> history_ = std::make_shared<History>(name_);
  Index index_;
  mutable Mutex mutex_;
  Frequencies frequencies_ GUARDED_BY(mutex_);
  UsualPrice usual_ GUARDED_BY(mutex_);
  uint64_t counted_last_ GUARDED_BY(mutex_) = 0;  // the serial number whose turn it was
  int64_t rest_ GUARDED_BY(mutex_) = 0;  // settlings without a look, after one that found nothing
  bool has_reported_ GUARDED_BY(mutex_) = false;
  std::vector<std::string> facts_ GUARDED_BY(mutex_);
  std::atomic<int64_t> events_without_hits_{0};  // so many more, as counting takes a walk
};

}  // namespace graven::engine
