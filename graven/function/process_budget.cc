#include "graven/function/process_budget.h"

#include <atomic>
#include <map>
#include <vector>

#include "graven/base/hash.h"
#include "graven/base/heap_bytes.h"
#include "graven/base/mutex.h"
#include "graven/base/strings.h"
#include "graven/function/cache.h"
#include "graven/function/function.h"
#include "graven/function/process_bytes.h"
#include "graven/tensor/allocator.h"

namespace graven::engine {
namespace {

struct Process {
  Mutex mutex;  // of the list; the last of all locks
  std::map<uint64_t, std::weak_ptr<Cache>> caches GUARDED_BY(mutex);  // in the order of making
  uint64_t made GUARDED_BY(mutex) = 0;
  uint64_t counted_last GUARDED_BY(mutex) = 0;  // the number of the cache whose turn it was

  std::atomic<int64_t> limit{0};  // 0: a part of the limit of tensors
  std::atomic<int64_t> bytes{0};  // of all caches, as they were counted last

  Mutex choice;  // taken before the locks of caches
  Frequencies frequencies GUARDED_BY(choice);
  int64_t rest GUARDED_BY(choice) = 0;  // settlings without a look, after one that found nothing

  // Functions may outlive static destruction.
  static Process& global() {
    static auto* process = new Process();
    return *process;
  }

  std::vector<std::shared_ptr<Cache>> live() {
    std::vector<std::shared_ptr<Cache>> list;
    MutexLock lock(mutex);
    for (const auto& [number, cache] : caches) {
      if (auto living = cache.lock()) list.push_back(std::move(living));
    }
    return list;
  }

  std::shared_ptr<Cache> next() {
    MutexLock lock(mutex);
    auto at = caches.upper_bound(counted_last);
    if (at == caches.end()) at = caches.begin();
    if (at == caches.end()) return nullptr;
    counted_last = at->first;
    return at->second.lock();
  }

  void add_up(Cache& cache) {
    const int64_t now = cache.counted_bytes();
    bytes += now - cache.bytes_in_process.exchange(now);
  }
};

std::string report(const std::string& name, int64_t limit) {
  return str_cat(
      "Traces of ", name, " that went for the budget of all Functions, ", bytes_text(limit),
      ", are made again, and each such call costs a trace. Raise it with "
      "config.set_trace_cache_bytes, or make traces that serve many types: give an input_signature "
      "with unknown sizes, or reduce_retracing=True. This is said once for a Function. "
      "config.trace_cache_info() lists which Functions hold how much. See docs/cache.md");
}

}  // namespace

void set_trace_cache_bytes(int64_t bytes) { Process::global().limit = bytes; }

int64_t trace_cache_bytes() {
  const int64_t limit = Process::global().limit.load();
  return limit ? limit : Allocator::host().limit() / 4;
}

void register_cache(const std::shared_ptr<Cache>& cache) {
  Process& process = Process::global();
  MutexLock lock(process.mutex);
  cache->number_in_process = ++process.made;
  process.caches.emplace(cache->number_in_process, cache);
}

void forget_cache(Cache& cache) {
  Process& process = Process::global();
  process.bytes -= cache.bytes_in_process.exchange(0);
  MutexLock lock(process.mutex);
  process.caches.erase(cache.number_in_process);
}

std::vector<std::shared_ptr<Cache>> live_caches() { return Process::global().live(); }

std::optional<std::string> settle_in_process(Cache& cache, uint64_t serial, uint64_t key,
                                             bool is_made_again) {
  Process& process = Process::global();
  process.add_up(cache);
  const std::shared_ptr<Cache> other = process.next();
  if (other && other.get() != &cache) {
    other->count_some(1);
    process.add_up(*other);
  }
  const int64_t limit = trace_cache_bytes();
  if (process.bytes.load() <= limit) return std::nullopt;

  // Before the locks, as the last reference to a cache may be among these.
  const std::vector<std::shared_ptr<Cache>> caches = process.live();
  for (const auto& each : caches) process.add_up(*each);
  const int64_t excess = process.bytes.load() - limit;
  if (excess <= 0) return std::nullopt;
  if (key) key = hash_combine(key, cache.number_in_process);
  std::map<Cache*, std::vector<uint64_t>> gone;
  {
    MutexLock lock(process.choice);
    if (process.rest > 0) {
      --process.rest;
      return std::nullopt;
    }
    Frequencies* const frequencies = &process.frequencies;
    const double before = key ? frequencies->estimate(key) : 0;
    struct Place {
      Cache* cache;
      uint64_t serial, key;
    };
    std::vector<Candidate> candidates;
    std::vector<Place> places;
    for (const auto& each : caches) {
      each->for_each_candidate([&](EntryAccount& account, int64_t hits, uint64_t number,
                                   double price, bool is_held) {
        const bool is_new = each.get() == &cache && number == serial;
        if (is_new) frequencies->begin(account.calls_in_process, hits, before);
        const double calls = frequencies->read(account.calls_in_process, hits);
        candidates.push_back({.calls = is_new ? before : calls,
                              .price = price,
                              .bytes = account.bytes,
                              .is_newcomer = is_new,
                              .is_held = is_held});
        places.push_back({each.get(), number,
                          account.key ? hash_combine(account.key, each->number_in_process) : 0});
      });
    }
    const std::vector<size_t> chosen = choose_evictions(candidates, 0, excess);
    for (size_t i : chosen) {
      const Place& place = places[i];
      gone[place.cache].push_back(place.serial);
      const double calls = candidates[i].calls + (candidates[i].is_newcomer ? 1 : 0);
      if (place.key) frequencies->note(place.key, calls);
    }
    frequencies->age(static_cast<int64_t>(candidates.size()));
    if (chosen.empty()) process.rest = static_cast<int64_t>(candidates.size()) / 8;
  }
  const std::string why = str_cat("set_trace_cache_bytes(", limit, ")");
  for (const auto& [each, serials] : gone) {
    each->evict(serials, why);
    process.add_up(*each);
  }
  if (!is_made_again || cache.has_reported_for_process.exchange(true)) return std::nullopt;
  return report(cache.name(), limit);
}

ProcessCacheInfo trace_cache_info() {
  ProcessCacheInfo info;
  info.limit = trace_cache_bytes();
  const std::vector<std::shared_ptr<Cache>> caches = live_caches();
  {
    ByteCount shared;  // what Functions share counts once
    for (const auto& cache : caches) {
      info.functions.push_back(cache->row());
      info.bytes += info.functions.back().bytes;
      info.captured_bytes += info.functions.back().captured_bytes;
    }
  }
  info.beside = process_bytes();
  return info;
}

}  // namespace graven::engine
