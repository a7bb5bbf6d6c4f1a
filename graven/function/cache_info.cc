#include "graven/function/cache_info.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>

#include "graven/base/heap_bytes.h"
#include "graven/base/strings.h"
#include "graven/function/function.h"
#include "graven/function/logs.h"
#include "graven/function/type_text.h"

namespace graven::engine {
namespace {

constexpr size_t kMaxText = 1000, kMaxCell = 100, kMaxGoneInTable = 8;

constinit std::atomic<int64_t> g_bytes{0};

int64_t bytes_of(const GoneTrace& gone) {
  return static_cast<int64_t>(sizeof(GoneTrace) + sizeof(uint64_t)) + heap_bytes(gone.signature) +
         heap_bytes(gone.why);
}

int64_t bytes_of(const CacheEvent& event) {
  return static_cast<int64_t>(sizeof(CacheEvent)) + heap_bytes(event.text);
}

std::string with_digits(double value, int digits) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string seconds_text(double seconds) {
  if (seconds < 120) return with_digits(seconds, 1) + " s";
  if (seconds < 7200) return with_digits(seconds / 60, 1) + " min";
  return with_digits(seconds / 3600, 1) + " h";
}

// A column of a table, which has little room: "(x: float32[2, None])" for "(x:
// TensorSpec(shape=(2, None), dtype=tf.float32, name=None)) -> ...".
std::string short_text(std::string_view text) {
  const std::string out = with_short_types(text);
  return out.size() > kMaxCell ? out.substr(0, kMaxCell - 3) + "..." : out;
}

// Columns as wide as their widest cell; numbers, all but the last columns, stand at the right.
std::string table(const std::vector<std::vector<std::string>>& rows, size_t num_numbers) {
  std::vector<size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line = " ";
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      line += " " + (i < num_numbers ? padding + row[i] : row[i] + padding) + " ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += "\n" + line;
  }
  return text;
}

std::string number_of(int64_t number, std::string_view one, std::string_view many) {
  return str_cat(number, " ", number == 1 ? one : many);
}

}  // namespace

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string milliseconds_text(double milliseconds) {
  return with_digits(milliseconds, milliseconds < 10 ? 2 : milliseconds < 100 ? 1 : 0) + " ms";
}

std::string bytes_text(int64_t bytes) {
  if (bytes < 1024) return str_cat(bytes, " B");
  auto value = static_cast<double>(bytes);
  for (const char* unit : {"KiB", "MiB", "GiB"}) {
    value /= 1024;
    if (value < 1024) return with_digits(value, 1) + " " + unit;
  }
  return with_digits(value / 1024, 1) + " TiB";
}

void History::add(const Entry& entry, std::string why, uint64_t key) {
  GoneTrace gone{.signature = entry.signature_text(false),
                 .hits = entry.hits(),
                 .time = seconds_since_1970(),
                 .why = std::move(why),
                 .number = entry.number(),
                 .trace_ms = entry.trace_milliseconds()};
  if (gone.signature.size() > kMaxText) gone.signature = gone.signature.substr(0, kMaxText) + "...";
  if (is_logged(Topic::kCache)) log_gone(function_, gone);
  note({CacheEvent::Kind::kWent, gone.number, gone.time, -1, gone.why});
  int64_t more = bytes_of(gone);
  MutexLock lock(mutex_);
  gone_.push_back(std::move(gone));
  keys_.push_back(key);
  if (gone_.size() > kMaxGone) {
    more -= bytes_of(gone_.front());
    gone_.pop_front();
    keys_.pop_front();
  }
  g_bytes.fetch_add(more, std::memory_order_relaxed);
}

void History::note(CacheEvent event) {
  int64_t more = bytes_of(event);
  MutexLock lock(mutex_);
  events_.push_back(std::move(event));
  if (events_.size() > kMaxEvents) {
    more -= bytes_of(events_.front());
    events_.pop_front();
  }
  g_bytes.fetch_add(more, std::memory_order_relaxed);
}

bool History::has(uint64_t key) const { return find(key).has_value(); }

std::optional<GoneTrace> History::find(uint64_t key) const {
  MutexLock lock(mutex_);
  const auto at = std::find(keys_.rbegin(), keys_.rend(), key);
  if (!key || at == keys_.rend()) return std::nullopt;
  return gone_[static_cast<size_t>(keys_.rend() - at) - 1];
}

std::vector<CacheEvent> History::events() const {
  MutexLock lock(mutex_);
  return {events_.begin(), events_.end()};
}

History::~History() {
  for (const GoneTrace& gone : gone_) g_bytes.fetch_sub(bytes_of(gone), std::memory_order_relaxed);
  for (const CacheEvent& event : events_) {
    g_bytes.fetch_sub(bytes_of(event), std::memory_order_relaxed);
  }
}

int64_t History::bytes_of_all() { return g_bytes.load(std::memory_order_relaxed); }

std::vector<GoneTrace> History::list() const {
  MutexLock lock(mutex_);
  return {gone_.begin(), gone_.end()};
}

std::string CacheInfo::to_text() const {
  std::string text = str_cat(number_of(entries, "trace", "traces"), " of ", traces, " ever made, ",
                             bytes_text(bytes));
  if (captured_bytes) text += str_cat(" (", bytes_text(captured_bytes), " of captured tensors)");
  text += str_cat("; ", number_of(hits, "hit", "hits"), ", ", number_of(misses, "miss", "misses"),
                  ", ", number_of(evictions, "trace", "traces"), " gone");
  if (budget.max_traces) text += str_cat("; max_traces=", *budget.max_traces);
  if (budget.max_bytes) text += str_cat("; max_bytes=", *budget.max_bytes);
  if (!signatures.empty()) {
    std::vector<std::vector<std::string>> rows = {
        {"hits", "age", "trace ms", "bytes", "signature", "why traced"}};
    for (const TraceInfo& trace : signatures) {
      rows.push_back({std::to_string(trace.hits), seconds_text(trace.age_seconds),
                      with_digits(trace.trace_ms, 2), bytes_text(trace.bytes),
                      short_text(trace.signature), short_text(trace.why_traced)});
    }
    text += table(rows, 4);
  }
  if (!gone.empty()) {
    const double now = seconds_since_1970();
    const size_t shown = std::min(gone.size(), kMaxGoneInTable);
    text += str_cat("\nGone, the last ", shown, ":");
    std::vector<std::vector<std::string>> rows = {{"hits", "gone for", "signature", "why"}};
    for (size_t i = gone.size() - shown; i < gone.size(); ++i) {
      rows.push_back({std::to_string(gone[i].hits), seconds_text(std::max(now - gone[i].time, 0.0)),
                      short_text(gone[i].signature), gone[i].why});
    }
    text += table(rows, 2);
  }
  return text;
}

std::string ProcessCacheInfo::to_text() const {
  std::string text =
      str_cat(number_of(static_cast<int64_t>(functions.size()), "Function", "Functions"), ", ",
              bytes_text(bytes), " of at most ", bytes_text(limit));
  if (captured_bytes) text += str_cat(" (", bytes_text(captured_bytes), " of captured tensors)");
  if (!functions.empty()) {
    std::vector<std::vector<std::string>> rows = {
        {"entries", "traces", "bytes", "hits", "misses", "gone", "function"}};
    for (const Function& f : functions) {
      rows.push_back({std::to_string(f.entries), std::to_string(f.traces), bytes_text(f.bytes),
                      std::to_string(f.hits), std::to_string(f.misses), std::to_string(f.evictions),
                      f.name});
    }
    text += table(rows, 6);
  }
  text += "\nBeside them:";
  std::vector<std::vector<std::string>> rows;
  for (const NamedBytes& named : beside) {
    rows.push_back({bytes_text(named.bytes), std::string(named.name)});
  }
  return text + (rows.empty() ? " nothing" : table(rows, 1));
}

}  // namespace graven::engine
