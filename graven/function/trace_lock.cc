#include "graven/function/trace_lock.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <compare>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "graven/base/files.h"
#include "graven/base/json.h"
#include "graven/base/mutex.h"
#include "graven/base/strings.h"
#include "graven/function/type_text.h"
#include "graven/tensor/dtype.h"

namespace graven::engine {
namespace {

constexpr int64_t kVersion = 1;
constexpr const char* kVersionKey = "graven_trace_lock";
constexpr size_t kMaxListed = 8;   // types in a message
constexpr size_t kMaxShown = 200;  // bytes of a type in it

struct Trace {
  Leaves arguments;
  Leaves watched;
  auto operator<=>(const Trace&) const = default;
};

struct Lock {
  std::string path;
  TraceLockMode mode;
  pid_t process = ::getpid();                     // a child made by fork writes nothing
  std::map<std::string, std::set<Trace>> traces;  // by Function
};

// Locks are there for the few programs that ask: the rest read one word for each trace.
struct Global {
  Mutex mutex;
  std::optional<Lock> lock GUARDED_BY(mutex);
  Status broken GUARDED_BY(mutex);  // why the environment's lock could not begin
  std::atomic<bool> is_on{false};
  // Functions may be traced until the process ends.
  static Global& get() {
    static auto* global = new Global();
    return *global;
  }
};

std::string shown(const std::string& type) { return shortened(type, kMaxShown); }

std::string text_of(const Leaves& leaves) {
  std::vector<std::string> parts;
  for (const auto& [path, type] : leaves) parts.push_back(str_cat(path, ": ", shown(type)));
  return str_cat("(", str_join(parts, ", "), ")");
}

Json::Object object_of(const Leaves& leaves) {
  Json::Object object;
  for (const auto& [path, text] : leaves) object.emplace_back(path, text);
  return object;
}

std::string line_of(const std::string& function, const Trace& trace) {
  Json::Object line{{"function", function}, {"arguments", object_of(trace.arguments)}};
  if (!trace.watched.empty()) line.emplace_back("watched", object_of(trace.watched));
  return Json(std::move(line)).to_text();
}

std::string content_of(const Lock& lock) {
  std::set<std::string> lines;
  for (const auto& [function, types] : lock.traces) {
    for (const Trace& trace : types) lines.insert(line_of(function, trace));
  }
  std::string content = Json(Json::Object{{kVersionKey, kVersion}}).to_text() + "\n";
  for (const std::string& line : lines) content += line + "\n";
  return content;
}

Status damaged(const std::string& path, size_t line, const std::string& why) {
  return Status(Code::kDataLoss, str_cat("The trace lock ", path, " is damaged at line ", line,
                                         ": ", why, ". Record it again with mode=\"record\""));
}

Result<Leaves> parse_leaves(const Json::Object& object) {
  Leaves leaves;
  for (const auto& [path, type] : object) {
    if (!type.text()) return invalid_argument("the type of ", path, " is no text");
    leaves.emplace_back(path, *type.text());
  }
  return leaves;
}

Result<std::pair<std::string, Trace>> parse_line(std::string_view text) {
  ASSIGN_OR_RETURN(Json line, Json::parse(text));
  const Json *function = line.find("function"), *arguments = line.find("arguments");
  if (!function || !function->text() || !arguments || !arguments->object()) {
    return invalid_argument("a trace has a \"function\", a text, and \"arguments\", an object");
  }
  Trace trace;
  ASSIGN_OR_RETURN(trace.arguments, parse_leaves(*arguments->object()));
  if (const Json* watched = line.find("watched")) {
    if (!watched->object()) return invalid_argument("\"watched\" is an object");
    ASSIGN_OR_RETURN(trace.watched, parse_leaves(*watched->object()));
  }
  return std::pair(*function->text(), std::move(trace));
}

Status check_version(const std::string& path, std::string_view line) {
  auto header = Json::parse(line);
  if (!header.ok()) return damaged(path, 1, header.status().message());
  const Json* version = header->find(kVersionKey);
  if (!version || !version->integer()) {
    return damaged(path, 1, str_cat("it must say {\"", kVersionKey, "\": ", kVersion, "}"));
  }
  if (*version->integer() == kVersion) return {};
  return Status(Code::kFailedPrecondition,
                str_cat("The trace lock ", path, " has version ", *version->integer(),
                        ", and this Graven reads version ", kVersion,
                        ". Record it again with mode=\"record\""));
}

Status read(Lock& lock) {
  ASSIGN_OR_RETURN(const std::string content, read_file(lock.path));
  std::string_view rest = content;
  size_t number = 0;
  do {
    const size_t end = rest.find('\n');
    if (end == rest.npos) return damaged(lock.path, number + 1, "its end is missing");
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (++number == 1) {
      RETURN_IF_ERROR(check_version(lock.path, line));
      continue;
    }
    auto trace = parse_line(line);
    if (!trace.ok()) return damaged(lock.path, number, trace.status().message());
    lock.traces[trace->first].insert(std::move(trace->second));
  } while (!rest.empty());
  return {};
}

Status write(const Lock& lock) {
  if (lock.mode != TraceLockMode::kRecord || lock.process != ::getpid()) return {};
  return write_file(lock.path, content_of(lock));
}

void end_at_exit() {
  if (Status status = end_trace_lock(); !status.ok()) {
    std::fprintf(stderr, "graven: trace lock: %s\n", status.message().c_str());
  }
}

Status begin(const std::string& path, TraceLockMode mode) {
  Global& global = Global::get();
  Lock begun{path, mode, ::getpid(), {}};
  if (mode == TraceLockMode::kLocked) {
    RETURN_IF_ERROR(read(begun));
  } else {
    RETURN_IF_ERROR(check_writable(path));  // now, not when the process exits
  }
  static const int kRegistered = std::atexit(end_at_exit);
  static_cast<void>(kRegistered);
  MutexLock lock(global.mutex);
  if (global.lock) {
    return Status(Code::kFailedPrecondition,
                  str_cat("There is a trace lock already, ", global.lock->path, ": end it first"));
  }
  global.lock = std::move(begun);
  global.broken = Status();
  global.is_on = true;
  return {};
}

Status begin_from_environment() {
  const char* wanted = std::getenv("GRAVEN_TRACE_LOCK");
  if (!wanted || !*wanted) return {};
  const std::string_view text = wanted;
  constexpr std::string_view kRecord = "record:", kLocked = "locked:";
  if (text.starts_with(kRecord)) {
    return begin(std::string(text.substr(kRecord.size())), TraceLockMode::kRecord);
  }
  if (text.starts_with(kLocked)) {
    return begin(std::string(text.substr(kLocked.size())), TraceLockMode::kLocked);
  }
  return value_error("GRAVEN_TRACE_LOCK must be record:PATH or locked:PATH, not ", text);
}

// Asks the environment once.
Global& ready() {
  Global& global = Global::get();
  static const bool kAsked = [&] {
    Status status = begin_from_environment();
    if (!status.ok()) {
      MutexLock lock(global.mutex);
      global.broken = std::move(status);
      global.is_on = true;
    }
    return true;
  }();
  static_cast<void>(kAsked);
  return global;
}

// Whether a list of sizes begins at the bracket: "float32[", "TensorShape([".
bool is_of_sizes(std::string_view text, size_t bracket) {
  const std::string_view before = text.substr(0, bracket);
  if (before.ends_with("TensorShape(")) return true;
  const size_t space = before.find_last_not_of("abcdefghijklmnopqrstuvwxyz0123456789");
  return dtype_from_name(before.substr(space == before.npos ? 0 : space + 1)).has_value();
}

size_t end_of_size(std::string_view text, size_t at) { return text.find_first_of(",]", at); }

// "float32[None, 2]" covers "float32[3, 2]", "RaggedTensorSpec(TensorShape([None, None]), tf.int32,
// 1, tf.int64)" one of three rows.
bool covers(std::string_view listed, std::string_view type) {
  char quote = 0;  // in which quotes a text stands
  bool is_in_sizes = false;
  size_t i = 0, j = 0;
  while (i < listed.size() && j < type.size()) {
    if (listed[i] != type[j]) return false;
    const char c = listed[i];
    if (quote) {
      if (c == '\\' && ++i < listed.size() && (++j >= type.size() || listed[i] != type[j])) {
        return false;
      }
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '[') {
      is_in_sizes = is_of_sizes(listed, i);
    } else if (c == ']') {
      is_in_sizes = false;
    }
    ++i;
    ++j;
    // Behind the bracket or the comma and a space: a size.
    if (!is_in_sizes || (c != '[' && c != ' ') || !listed.substr(i).starts_with("None")) continue;
    i = std::min(end_of_size(listed, i), listed.size());
    j = std::min(end_of_size(type, j), type.size());
  }
  return i == listed.size() && j == type.size();
}

bool covers(const Leaves& listed, const Leaves& type) {
  return std::ranges::equal(listed, type, [](const auto& a, const auto& b) {
    return a.first == b.first && covers(a.second, b.second);
  });
}

// The first watched value that is another one in a listed trace; empty if there is none. What only
// one of them has read does not count: it depends on the others.
std::string other_value(const Leaves& watched, const Leaves& listed) {
  const std::map<std::string, std::string> theirs(listed.begin(), listed.end());
  for (const auto& [name, value] : watched) {
    const auto at = theirs.find(name);
    if (at != theirs.end() && at->second != value) {
      return str_cat(name, " is ", shown(value), ", locked is ", shown(at->second));
    }
  }
  return "";
}

// The listed type that differs from this one in the fewest leaves, and the first such leaf.
std::string difference(const Leaves& leaves, const std::set<Trace>& listed) {
  const Trace* nearest = nullptr;
  size_t fewest = 0;
  std::string first;
  for (const Trace& trace : listed) {
    const Leaves& other = trace.arguments;
    std::map<std::string, std::string> theirs(other.begin(), other.end());
    std::string text;
    size_t number = 0;
    for (const auto& [path, type] : leaves) {
      const auto at = theirs.find(path);
      const bool is_same = at != theirs.end() && at->second == type;
      if (!is_same && ++number == 1) {
        text = str_cat(path, ": ", shown(type), ", locked is ",
                       at == theirs.end() ? "no such argument" : shown(at->second));
      }
      if (at != theirs.end()) theirs.erase(at);
    }
    number += theirs.size();
    if (text.empty() && !theirs.empty()) {
      text =
          str_cat(theirs.begin()->first, " is missing, locked is ", shown(theirs.begin()->second));
    }
    if (nearest && number >= fewest) continue;
    nearest = &trace;
    fewest = number;
    first = std::move(text);
  }
  if (fewest > 1) first += str_cat(" (and ", fewest - 1, " more)");
  return first;
}

Status refused(std::string text) {
  text +=
      "\nIf the trace is meant, record the lock again with mode=\"record\". See docs/explain.md";
  return Status(Code::kFailedPrecondition, std::move(text))
      .with_payload(make_ref<TraceLockRefusal>());
}

Status refusal(const Lock& lock, const std::string& function, const Leaves& leaves) {
  std::string text =
      str_cat("The trace lock ", lock.path, " has no trace ", function, text_of(leaves), ". ");
  const auto at = lock.traces.find(function);
  if (at == lock.traces.end()) {
    text += "It has none of this function";
  } else {
    text += str_cat("Nearest: ", difference(leaves, at->second), ". It has ", at->second.size(),
                    at->second.size() == 1 ? " trace" : " traces", " of this function:");
    size_t listed = 0;
    for (const Trace& other : at->second) {
      if (++listed > kMaxListed) break;
      text += str_cat("\n  ", text_of(other.arguments));
    }
    if (at->second.size() > kMaxListed) text += "\n  ...";
  }
  return refused(std::move(text));
}

Status refusal_of_value(const Lock& lock, const std::string& function, const Leaves& leaves,
                        const std::string& difference) {
  return refused(str_cat("The trace lock ", lock.path, " has no trace ", function, text_of(leaves),
                         " of this value: ", difference));
}

constinit thread_local TraceLockScope* t_scope = nullptr;

}  // namespace

Status begin_trace_lock(const std::string& path, TraceLockMode mode) {
  ready();  // the environment's lock is the first
  return begin(path, mode);
}

Status end_trace_lock() {
  Global& global = Global::get();
  std::optional<Lock> ended;
  {
    MutexLock lock(global.mutex);
    ended.swap(global.lock);
    global.broken = Status();
    global.is_on = false;
  }
  return ended ? write(*ended) : Status();
}

Status check_trace_lock(const std::string& function, const FunctionType& type,
                        const Leaves& watched) {
  Global& global = ready();
  if (!global.is_on.load(std::memory_order_acquire) || function.empty()) return {};
  const Leaves leaves = leaves_of(type);  // may run code of the program, so before the lock
  MutexLock lock(global.mutex);
  if (!global.broken.ok()) return global.broken;
  if (!global.lock || global.lock->mode != TraceLockMode::kLocked) return {};
  const auto at = global.lock->traces.find(function);
  if (at == global.lock->traces.end()) return refusal(*global.lock, function, leaves);
  std::string difference;
  for (const Trace& trace : at->second) {
    if (!covers(trace.arguments, leaves)) continue;
    const std::string other = other_value(watched, trace.watched);
    if (other.empty()) return {};
    if (difference.empty()) difference = other;
  }
  return difference.empty() ? refusal(*global.lock, function, leaves)
                            : refusal_of_value(*global.lock, function, leaves, difference);
}

void record_in_trace_lock(const std::string& function, const FunctionType& type,
                          const Leaves& watched) {
  Global& global = Global::get();
  if (!global.is_on.load(std::memory_order_acquire) || function.empty()) return;
  Leaves leaves = leaves_of(type);
  MutexLock lock(global.mutex);
  if (global.lock && global.lock->mode == TraceLockMode::kRecord) {
    global.lock->traces[function].insert({std::move(leaves), watched});
  }
}

bool has_trace_lock() { return ready().is_on.load(std::memory_order_acquire); }

TraceLockScope::TraceLockScope(const std::string& function, const FunctionType& type)
    : function_(function), type_(type), outer_(std::exchange(t_scope, this)) {}

TraceLockScope::~TraceLockScope() { t_scope = outer_; }

Status TraceLockScope::check(const Leaves& watched) {
  return t_scope ? check_trace_lock(t_scope->function_, t_scope->type_, watched) : Status();
}

}  // namespace graven::engine
