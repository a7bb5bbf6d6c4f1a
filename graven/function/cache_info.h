#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/mutex.h"
#include "graven/function/budget.h"
#include "graven/function/process_bytes.h"

namespace graven::engine {

class Entry;

// A trace that is in the cache.
struct TraceInfo {
  std::string signature;  // "(x: TensorSpec(shape=(3,), dtype=tf.int32, name=None))"
  int64_t hits = 0;
  double trace_ms = 0;
  // What others share with it counts where it comes first.
  int64_t bytes = 0;
  // The part of `bytes` that are tensors it captured by value; budgets do not count it.
  int64_t captured_bytes = 0;
  double age_seconds = 0;  // since it was traced
  std::string why_traced;
};

// A trace that went.
struct GoneTrace {
  std::string signature;
  int64_t hits = 0;
  double time = 0;     // seconds since 1970
  std::string why;     // "max_traces=10", "cleared"
  int64_t number = 0;  // of the trace, among those of its Function from 1
  double trace_ms = 0;
};

// What happened to a Function's cache.
struct CacheEvent {
  enum class Kind : uint8_t {
    kTraced,
    kFailed,  // a trace that raised; the call was a miss
    kWent,
  };
  Kind kind = Kind::kTraced;
  int64_t number = 0;  // of the trace; 0 for one that failed
  double time = 0;     // seconds since 1970
  int64_t hits = -1;   // of all traces until then; -1: not counted
  std::string text;    // why it failed or went
};

// The contents of a Function's cache: counts, and what was and what went.
struct GRAVEN_API CacheInfo {
  int64_t entries = 0, traces = 0, bytes = 0, hits = 0, misses = 0, evictions = 0;
  int64_t captured_bytes = 0;
  CacheBudget budget;
  std::vector<TraceInfo> signatures;  // in the order of tracing
  std::vector<GoneTrace> gone;        // the last ones, the oldest first
  std::string to_text() const;        // a table
};

// The last events of a Function's cache, and the last traces that went. Any thread that holds no
// lock.
class GRAVEN_API History {
 public:
  static constexpr size_t kMaxGone = 64, kMaxEvents = 256;
  // The text of the entry's type may run code of the program. `key`: a hash of the arguments of an
  // entry that went for a budget, else 0.
  void add(const Entry& entry, std::string why, uint64_t key = 0);
  // True if one of these went for a budget.
  bool has(uint64_t key) const;
  // The last one that went for a budget; none if none did.
  std::optional<GoneTrace> find(uint64_t key) const;
  std::vector<GoneTrace> list() const;
  // Adds kTraced or kFailed.
  void note(CacheEvent event);
  std::vector<CacheEvent> events() const;
  explicit History(std::string function = "function") : function_(std::move(function)) {}
  ~History();
  History(const History&) = delete;
  // Of the process: histories are no part of the entries that a budget could free.
  static int64_t bytes_of_all();

 private:
  const std::string function_;
  mutable Mutex mutex_;
  std::deque<GoneTrace> gone_ GUARDED_BY(mutex_);
  std::deque<uint64_t> keys_ GUARDED_BY(mutex_);  // of the same
  std::deque<CacheEvent> events_ GUARDED_BY(mutex_);
};

// The caches of all Functions of the process.
struct GRAVEN_API ProcessCacheInfo {
  struct Function {
    std::string name;
    int64_t entries = 0, traces = 0, bytes = 0, captured_bytes = 0;
    int64_t hits = 0, misses = 0, evictions = 0;
  };
  int64_t limit = 0;                // set_trace_cache_bytes
  int64_t bytes = 0;                // of all Functions; what several share counts once
  int64_t captured_bytes = 0;       // the part that the limit does not count
  std::vector<Function> functions;  // in the order in which they were made
  std::vector<NamedBytes> beside;   // memory of the process beside the entries
  std::string to_text() const;      // a table
};

// "1.5 KiB"
GRAVEN_API std::string bytes_text(int64_t bytes);
// "12.30 ms"
std::string milliseconds_text(double milliseconds);
double seconds_since_1970();

}  // namespace graven::engine
