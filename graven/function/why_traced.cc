#include "graven/function/why_traced.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "graven/base/strings.h"
#include "graven/function/function.h"

namespace graven::engine {
namespace {

constexpr size_t kMaxText = 200;

bool is_opaque(const Literal& literal) { return std::holds_alternative<Ref<Opaque>>(literal); }

std::string text_of(const TraceType& type) {
  std::string text;
  switch (type.kind()) {
    case TraceType::Kind::kObject:
      return "an object";
    case TraceType::Kind::kForeign:
      return "a value with a TraceType of its own";
    case TraceType::Kind::kContainer: {
      const auto& container = static_cast<const ContainerType&>(type);
      constexpr std::string_view kNames[] = {"a list", "a tuple", "a named tuple",
                                             "an attrs object", "a dict"};
      return str_cat(kNames[static_cast<int>(container.container()->kind())], " of ",
                     container.items().size(), " items");
    }
    case TraceType::Kind::kLiteral:
      if (is_opaque(static_cast<const LiteralType&>(type).literal())) return "an object";
      text = literal_repr(static_cast<const LiteralType&>(type).literal());
      break;
    default:
      text = type.repr();
  }
  return text.size() > kMaxText ? text.substr(0, kMaxText) + "..." : text;
}

std::string step_text(const Container& container, size_t position) {
  const auto& keys = container.keys();
  if (keys.empty()) return str_cat("[", position, "]");
  if (is_opaque(keys[position])) return "[...]";
  std::string key = literal_repr(keys[position]);
  if (container.is_mapping()) return str_cat("[", key, "]");
  return str_cat(".", key.size() > 2 ? key.substr(1, key.size() - 2) : key);
}

// The way to a leaf; its text is made when it is needed.
struct Path {
  const Path* outer = nullptr;
  const Container* container = nullptr;
  size_t position = 0;
  const std::string* parameter = nullptr;
  std::string text() const {
    return outer ? outer->text() + step_text(*container, position) : *parameter;
  }
};

// True for types that only code of the program could compare or print.
bool is_uncertain(const TraceType& type) {
  switch (type.kind()) {
    case TraceType::Kind::kForeign:
    case TraceType::Kind::kObject:
      return true;
    case TraceType::Kind::kLiteral:
      return is_opaque(static_cast<const LiteralType&>(type).literal());
    case TraceType::Kind::kContainer:
      return std::ranges::any_of(static_cast<const ContainerType&>(type).container()->keys(),
                                 is_opaque);
    default:
      return false;
  }
}

// The leaves of a type that differ from another's.
struct Differences {
  int number = 0;
  std::string first;      // of those that surely differ
  std::string uncertain;  // the first object that only code of the program could compare

  void add(const Path& path, const TraceType& now, const TraceType& before) {
    ++number;
    if (first.empty()) first = str_cat(path.text(), ": ", text_of(now), ", was ", text_of(before));
  }

  void compare(const Path& path, const TraceType& now, const TraceType& before) {
    if (&now == &before) return;
    if (now.kind() != before.kind()) return add(path, now, before);
    if (is_uncertain(now) || is_uncertain(before)) {
      if (uncertain.empty()) uncertain = str_cat(path.text(), ": another object");
      return;
    }
    if (now.kind() != TraceType::Kind::kContainer) {
      if (!now.equals(before)) add(path, now, before);
      return;
    }
    const auto& a = static_cast<const ContainerType&>(now);
    const auto& b = static_cast<const ContainerType&>(before);
    if (a.items().size() != b.items().size() || !a.container()->is_like(*b.container())) {
      return add(path, now, before);
    }
    for (size_t i = 0; i < a.items().size(); ++i) {
      const int other = b.container()->matching_position(*a.container(), i);
      compare({&path, a.container().get(), i}, *a.items()[i], *b.items()[other]);
    }
  }
};

std::optional<Differences> compare(const FunctionType& now, const FunctionType& before) {
  if (now.parameters.size() != before.parameters.size()) return std::nullopt;
  Differences differences;
  for (size_t i = 0; i < now.parameters.size(); ++i) {
    const Parameter &a = now.parameters[i], &b = before.parameters[i];
    if (a.name != b.name || a.kind != b.kind) return std::nullopt;
    differences.compare({.parameter = &a.name}, *a.type, *b.type);
  }
  return differences;
}

}  // namespace

std::string why_traced(const FunctionType& type, std::span<const Ref<Entry>> entries) {
  if (entries.empty()) return "the first trace";
  std::optional<Differences> nearest;
  for (size_t i = entries.size(); i > 0; --i) {  // of equally near ones, the last
    auto differences = compare(type, entries[i - 1]->type());
    if (!differences) continue;
    if (!nearest || differences->number < nearest->number) nearest = std::move(differences);
  }
  if (!nearest) return "another number or other names of arguments";
  if (!nearest->first.empty()) {
    if (nearest->number == 1) return nearest->first;
    return str_cat(nearest->first, " (and ", nearest->number - 1, " more)");
  }
  if (!nearest->uncertain.empty()) return nearest->uncertain;
  return "equal arguments, in a trace that could not wait for another one";
}

}  // namespace graven::engine
