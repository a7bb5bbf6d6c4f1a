#include "graven/function/trace_chain.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "graven/base/stack.h"
#include "graven/base/strings.h"
#include "graven/ir/frame.h"

namespace graven::engine {
namespace {

constinit thread_local const TraceLink* t_innermost = nullptr;

// Repetitions of up to so many links are looked for.
constexpr size_t kMaxPeriod = 64;
// So many lines of the user's are listed.
constexpr size_t kMaxLines = 16;
constexpr std::string_view kSeePage = "See docs/errors/recursion.md";

Ref<Location> current_location() {
  LocationSource* source = Frame::current().locations;
  return source ? source->current() : Ref<Location>();
}

struct Link {
  const void* function;
  const std::string* name;
};

// Links that follow each other, and how often they do so.
struct Repetition {
  std::span<const Link> links;
  size_t times;
};

Repetition longest_repetition(std::span<const Link> chain) {
  Repetition longest{chain.first(1), 1};
  for (size_t period = 1; period <= std::min(kMaxPeriod, chain.size() / 2); ++period) {
    auto is_again = [&](size_t at) {
      return std::ranges::equal(chain.first(period), chain.subspan(at, period), {}, &Link::function,
                                &Link::function);
    };
    size_t times = 1;
    while ((times + 1) * period <= chain.size() && is_again(times * period)) ++times;
    const bool is_longer = times * period > longest.times * longest.links.size();
    if (times > 1 && is_longer) longest = {chain.first(period), times};
  }
  return longest;
}

std::string joined(std::span<const Link> links) {
  std::string text;
  for (const Link& link : links) text += str_cat(text.empty() ? "" : " -> ", *link.name);
  return text;
}

// "f -> g -> h (repeated 37 times: g -> h)"
std::string folded(std::span<const Link> chain) {
  std::string text;
  while (!chain.empty()) {
    const Repetition next = longest_repetition(chain);
    text += str_cat(text.empty() ? "" : " -> ", joined(next.links));
    if (next.times > 1) {
      text += str_cat(" (repeated ", next.times, " times");
      text += next.links.size() > 1 ? str_cat(": ", joined(next.links), ")") : std::string(")");
    }
    chain = chain.subspan(next.links.size() * next.times);
  }
  return text;
}

// "f, called at a.py:12 in g: return f(x)"; empty if the place is not known.
std::string line_of(const std::string& name, const Ref<Location>& called_at) {
  if (!called_at) return "";
  const std::vector<SourceFrame> frames = called_at->frames();
  if (frames.empty()) return "";
  const SourceFrame& frame = frames.back();
  std::string text =
      str_cat(name, ", called at ", frame.file, ":", frame.line, " in ", frame.function);
  return frame.text.empty() ? text : str_cat(text, ": ", frame.text);
}

}  // namespace

TraceLink::TraceLink(const void* function, const std::string& name, const FunctionType& type)
    : function_(function),
      name_(name),
      type_(type),
      outer_(t_innermost),
      called_at_(outer_ ? current_location() : Ref<Location>()) {
  t_innermost = this;
}

TraceLink::~TraceLink() { t_innermost = outer_; }

Status TraceLink::check() const {
  int same = 0;
  for (const TraceLink* link = outer_; link; link = link->outer_) {
    same += link->function_ == function_ && link->type_.equals(type_);
  }
  if (same <= kMaxSelfTraces) return {};
  return error(str_cat("The function ", name_, " traces itself without end, with arguments of the ",
                       "same types: ", name_, type_.signature()));
}

Status TraceLink::error(const std::string& why) const {
  std::vector<Link> chain;
  std::vector<std::string> lines;
  for (const TraceLink* link = this; link; link = link->outer_) {
    chain.push_back({link->function_, &link->name_});
    if (lines.size() >= kMaxLines) continue;
    std::string line = line_of(link->name_, link->called_at_);
    if (!line.empty() && std::ranges::find(lines, line) == lines.end()) {
      lines.push_back(std::move(line));
    }
  }
  std::ranges::reverse(chain);
  std::ranges::reverse(lines);
  std::string text =
      str_cat(why, ". ", chain.size(), " traces go on inside each other: ", folded(chain));
  for (const std::string& line : lines) text += str_cat("\n  ", line);
  text += str_cat(lines.empty() ? ". " : "\n", kSeePage);
  return Status(Code::kResourceExhausted, std::move(text), ErrorKind::kRecursionError);
}

Status trace_too_deep() {
  const std::string why =
      str_cat(Stack::shortage(), ": functions that call each other are traced too deep");
  if (t_innermost) return t_innermost->error(why);
  return Status(Code::kResourceExhausted, str_cat(why, ". ", kSeePage), ErrorKind::kRecursionError);
}

}  // namespace graven::engine
