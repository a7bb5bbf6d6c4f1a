#include "graven/function/cache.h"

#include <algorithm>

#include "graven/base/heap_bytes.h"
#include "graven/base/strings.h"
#include "graven/function/function.h"
#include "graven/function/logs.h"
#include "graven/function/process_budget.h"

namespace graven::engine {
namespace {

constexpr size_t kMaxFailure = 200;  // characters kept of an error

double coarse_price(const UsualPrice& usual, const EntryAccount& account, double milliseconds) {
  // What has not run yet costs about what others do.
  const double price = account.is_settled ? account.price : usual.price();
  return usual.coarse(price, milliseconds, account.is_first);
}

}  // namespace

std::shared_ptr<Cache> Cache::create(std::string name, CacheBudget budget) {
  auto cache = std::make_shared<Cache>(std::move(name), budget);
  register_cache(cache);
  return cache;
}

Cache::Cache(std::string name, CacheBudget budget)
    : name_(std::move(name)), budget_(budget), index_(history_) {}

Cache::~Cache() { forget_cache(*this); }

int64_t Cache::count(const Ref<Entry>& entry) {
  ByteCount count;
  entry->captured_bytes();  // so that they are not counted again
  const int64_t bytes = entry->bytes();
  index_.count_bytes(*entry, bytes);
  return bytes;
}

void Cache::count_some(int number) {
  std::vector<Ref<Entry>> turn;
  {
    MutexLock lock(mutex_);
    turn = index_.next_entries(counted_last_, number);
  }
  for (const Ref<Entry>& entry : turn) count(entry);
}

int64_t Cache::counted_bytes() const {
  MutexLock lock(mutex_);
  return index_.counted_bytes() + frequencies_.bytes();
}

std::optional<std::string> Cache::settle(Ref<Entry> traced) {
  {
    MutexLock lock(mutex_);
    if (traced->account_.is_settled) return std::nullopt;  // it was kept instead of a new one
  }
  const int64_t bytes = count(traced);
  count_some(2);
  const uint64_t serial = index_.serial_of(*traced), key = traced->account_.key;
  const bool is_made_again = history_->has(key);
  std::vector<uint64_t> gone;
  std::string why;
  bool is_to_report = false;
  double before = 0;
  {
    MutexLock lock(mutex_);
    EntryAccount& account = traced->account_;
    account.price = UsualPrice::of(traced->trace_milliseconds(), bytes);
    usual_.note(account.price);
    account.is_settled = true;
    before = key ? frequencies_.estimate(key) : 0;
    frequencies_.begin(account.calls, traced->hits(), before);
    is_to_report = is_made_again && !has_reported_ && budget_.is_limited();
    has_reported_ |= is_to_report;
  }
  traced = nullptr;  // the last reference, if the entry went meanwhile: under no lock
  {
    MutexLock lock(mutex_);
    gone = choose(serial, before, why);
  }
  evict(gone, why);
  std::optional<std::string> of_process = settle_in_process(*this, serial, key, is_made_again);
  return is_to_report ? report() : of_process;
}

std::vector<uint64_t> Cache::choose(uint64_t serial, double calls_before, std::string& why) {
  if (!budget_.is_limited()) return {};
  const auto size = static_cast<int64_t>(index_.size());
  const int64_t traces = budget_.max_traces ? size - *budget_.max_traces : 0;
  const int64_t bytes =
      budget_.max_bytes ? index_.counted_bytes() + frequencies_.bytes() - *budget_.max_bytes : 0;
  if (traces <= 0 && bytes <= 0) {
    frequencies_.age(size);
    return {};
  }
  if (rest_ > 0) {
    --rest_;
    return {};
  }
  why = traces > 0 ? str_cat("max_traces=", *budget_.max_traces)
                   : str_cat("max_bytes=", *budget_.max_bytes);
  std::vector<Candidate> candidates;
  std::vector<uint64_t> serials;
  Frequencies* const frequencies = &frequencies_;
  const UsualPrice* const usual = &usual_;
  index_.for_each([&](Entry& entry, uint64_t number, bool is_held) {
    EntryAccount& account = entry.account_;
    const double calls = frequencies->read(account.calls, entry.hits());
    const bool is_new = number == serial;
    candidates.push_back({.calls = is_new ? calls_before : calls,
                          .price = coarse_price(*usual, account, entry.trace_milliseconds()),
                          .bytes = account.bytes,
                          .is_newcomer = is_new,
                          .is_held = is_held});
    serials.push_back(number);
  });
  std::vector<uint64_t> gone;
  for (size_t i : choose_evictions(candidates, traces, bytes)) gone.push_back(serials[i]);
  frequencies_.age(size);
  if (gone.empty()) rest_ = size / 8;
  return gone;
}

void Cache::evict(std::span<const uint64_t> serials, const std::string& why) {
  if (serials.empty()) return;
  std::vector<Ref<Entry>> gone = index_.remove_unheld(serials);
  if (budget_.is_limited()) {
    MutexLock lock(mutex_);
    for (const Ref<Entry>& entry : gone) {
      EntryAccount& account = entry->account_;
      const double calls = frequencies_.read(account.calls, entry->hits());
      if (account.key) frequencies_.note(account.key, calls);
    }
  }
  for (Ref<Entry>& entry : gone) {
    history_->add(*entry, why, entry->account_.key);
    retire(std::move(entry));
  }
}

bool Cache::drop(const Entry& entry, std::string why) {
  Ref<Entry> dropped = index_.remove(entry);
  if (!dropped) return false;
  history_->add(*dropped, std::move(why));
  retire(std::move(dropped));
  return true;
}

void Cache::clear() {
  for (const Ref<Entry>& entry : index_.entries()) {
    if (!entry->is_needed_to_initialize()) drop(*entry, "cleared");
  }
}

int64_t Cache::hits_now_and_then() {
  if (events_without_hits_.fetch_sub(1, std::memory_order_relaxed) > 0) return -1;
  int64_t hits = index_.hits_of_removed();
  const std::vector<Ref<Entry>> entries = index_.entries();
  for (const Ref<Entry>& entry : entries) hits += entry->hits();
  events_without_hits_.store(static_cast<int64_t>(entries.size()) / 32, std::memory_order_relaxed);
  return hits;
}

void Cache::note_traced(const Entry& entry) {
  history_->note(
      {CacheEvent::Kind::kTraced, entry.number(), seconds_since_1970(), hits_now_and_then(), ""});
  if (is_logged(Topic::kTrace)) log_traced(name_, entry);
  if (is_logged(Topic::kCaptures)) log_captures(name_, entry);
}

void Cache::note_failed(const Status& status) {
  std::string text = status.message().substr(0, status.message().find('\n'));
  if (text.size() > kMaxFailure) text = text.substr(0, kMaxFailure) + "...";
  if (text.empty()) text = "an error without a message";
  if (is_logged(Topic::kTrace)) log_failed(name_, text);
  history_->note(
      {CacheEvent::Kind::kFailed, 0, seconds_since_1970(), hits_now_and_then(), std::move(text)});
}

void Cache::add_fact(std::string fact) {
  MutexLock lock(mutex_);
  if (std::ranges::find(facts_, fact) == facts_.end()) facts_.push_back(std::move(fact));
}

std::vector<std::string> Cache::facts() const {
  MutexLock lock(mutex_);
  return facts_;
}

std::string Cache::report() const {
  return str_cat(
      "Traces of ", name_, " that went for ",
      budget_.max_traces ? str_cat("max_traces=", *budget_.max_traces)
                         : str_cat("max_bytes=", *budget_.max_bytes),
      " are made again: it is called with more types of arguments than there is room for, and "
      "each such call costs a trace. Raise the budget, or make traces that serve many types: "
      "give an input_signature with unknown sizes, or reduce_retracing=True. This is said once; "
      "cache_info() lists what went. See docs/cache.md");
}

void Cache::for_each_candidate(Visit visit) {
  MutexLock lock(mutex_);
  const UsualPrice* const usual = &usual_;
  index_.for_each([&](Entry& entry, uint64_t serial, bool is_held) {
    EntryAccount& account = entry.account_;
    visit(account, entry.hits(), serial, coarse_price(*usual, account, entry.trace_milliseconds()),
          is_held);
  });
}

ProcessCacheInfo::Function Cache::row() const {
  ProcessCacheInfo::Function row;
  row.name = name_;
  ByteCount shared;  // what entries share counts once
  for (const Ref<Entry>& entry : index_.entries()) {
    const int64_t captured = entry->captured_bytes();
    row.captured_bytes += captured;
    row.bytes += captured + entry->bytes();
    row.hits += entry->hits();
    ++row.entries;
  }
  row.hits += index_.hits_of_removed();
  row.bytes += index_.bytes();
  {
    MutexLock lock(mutex_);
    row.bytes += frequencies_.bytes();
  }
  row.traces = traces.load();
  row.misses = misses.load();
  row.evictions = index_.num_removed();
  return row;
}

CacheInfo Cache::info() const {
  CacheInfo info;
  const auto now = std::chrono::steady_clock::now();
  const std::vector<Ref<Entry>> entries = index_.entries();
  for (const Ref<Entry>& entry : entries) {
    const std::chrono::duration<double> age = now - entry->account_.made_at;
    info.signatures.push_back({.signature = entry->signature_text(false),  // may run user code
                               .hits = entry->hits(),
                               .trace_ms = entry->trace_milliseconds(),
                               .age_seconds = age.count(),
                               .why_traced = entry->account_.miss.text});
    info.hits += info.signatures.back().hits;
  }
  {
    ByteCount shared;  // what entries share counts once
    for (size_t i = 0; i < entries.size(); ++i) {
      TraceInfo& trace = info.signatures[i];
      trace.captured_bytes = entries[i]->captured_bytes();
      trace.bytes = trace.captured_bytes + entries[i]->bytes();
      info.bytes += trace.bytes;
      info.captured_bytes += trace.captured_bytes;
    }
  }
  info.entries = static_cast<int64_t>(entries.size());
  info.hits += index_.hits_of_removed();
  info.bytes += index_.bytes();
  {
    MutexLock lock(mutex_);
    info.bytes += frequencies_.bytes();
  }
  info.traces = traces.load();
  info.misses = misses.load();
  info.evictions = index_.num_removed();
  info.budget = budget_;
  info.gone = history_->list();
  return info;
}

}  // namespace graven::engine
