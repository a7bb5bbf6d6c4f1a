#include "graven/function/miss.h"

#include <algorithm>
#include <optional>

#include "graven/base/heap_bytes.h"
#include "graven/base/strings.h"
#include "graven/function/advice.h"
#include "graven/function/class_name.h"
#include "graven/function/function.h"
#include "graven/function/type_text.h"

namespace graven::engine {
namespace {

constexpr size_t kMaxText = 200;

// As Python prints the type, for texts that programs read.
std::string long_text(const TraceType& type) {
  const bool has_spec =
      type.kind() == TraceType::Kind::kTensor || type.kind() == TraceType::Kind::kVariable;
  if (has_spec) return type.repr();
  const std::string spec = spec_text(type);
  return spec.empty() ? type_text(type) : spec;
}

bool are_tensors_of_one_dtype(const TraceType& a, const TraceType& b) {
  return a.kind() == TraceType::Kind::kTensor && b.kind() == TraceType::Kind::kTensor &&
         static_cast<const TensorType&>(a).dtype() == static_cast<const TensorType&>(b).dtype();
}

bool differ_in_sizes(const TraceType& a, const TraceType& b) {
  if (!are_tensors_of_one_dtype(a, b)) return false;
  const Shape &x = static_cast<const TensorType&>(a).shape(),
              &y = static_cast<const TensorType&>(b).shape();
  return x.has_rank() && y.has_rank() && x.rank() == y.rank();
}

// As far as the objects know it: HasDifference.
std::optional<std::string> difference_of_objects(const TraceType& now, const TraceType& before) {
  if (now.kind() != TraceType::Kind::kObject || before.kind() != TraceType::Kind::kObject) {
    return std::nullopt;
  }
  const Opaque& object = *static_cast<const ObjectType&>(now).object();
  const auto* known = dynamic_cast<const HasDifference*>(&object);
  return known ? known->difference_from(*static_cast<const ObjectType&>(before).object())
               : std::nullopt;
}

// The leaves of a type that differ from another's.
struct Differences {
  int number = 0;
  bool is_of_sizes = true;  // all of them are
  // The first of those that surely differ.
  std::string path;
  const TraceType *now = nullptr, *before = nullptr;
  // The first object that only code of the program could compare, and how it differs, if known.
  std::string uncertain, how;
  const TraceType *object_now = nullptr, *object_before = nullptr;

  void add(const ArgumentPath& at, const TraceType& a, const TraceType& b) {
    is_of_sizes = is_of_sizes && differ_in_sizes(a, b);
    if (++number > 1) return;
    path = at.text();
    now = &a;
    before = &b;
  }

  void compare(const ArgumentPath& at, const TraceType& a, const TraceType& b) {
    if (&a == &b) return;
    if (a.kind() != b.kind()) return add(at, a, b);
    if (is_uncertain(a) || is_uncertain(b)) {
      const std::optional<std::string> difference = difference_of_objects(a, b);
      if (!uncertain.empty() || (difference && difference->empty())) return;
      uncertain = at.text();
      how = difference.value_or("");
      object_now = &a;
      object_before = &b;
      return;
    }
    if (a.kind() != TraceType::Kind::kContainer) {
      if (!a.is_subtype_of(b)) add(at, a, b);
      return;
    }
    const auto& mine = static_cast<const ContainerType&>(a);
    const auto& theirs = static_cast<const ContainerType&>(b);
    if (mine.items().size() != theirs.items().size() ||
        !mine.container()->is_like(*theirs.container())) {
      return add(at, a, b);
    }
    for (size_t i = 0; i < mine.items().size(); ++i) {
      const int other = theirs.container()->matching_position(*mine.container(), i);
      if (other < 0) return add(at, a, b);  // a key whose == says something else each time
      compare({&at, mine.container().get(), i}, *mine.items()[i], *theirs.items()[other]);
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

int64_t heap_bytes_of(const Miss& miss) {
  return heap_bytes(miss.text) + heap_bytes(miss.path) + heap_bytes(miss.now) +
         heap_bytes(miss.before) + heap_bytes(miss.advice);
}

Miss explain_miss(const FunctionType& type, std::span<const Ref<Entry>> entries,
                  Language language) {
  if (entries.empty()) return {.cause = Miss::Cause::kFirst, .text = "the first trace"};
  std::optional<Differences> nearest;
  const Entry* entry = nullptr;
  for (size_t i = entries.size(); i > 0; --i) {  // of equally near ones, the last
    auto differences = compare(type, entries[i - 1]->type());
    if (!differences) continue;
    if (!nearest || differences->number < nearest->number) {
      nearest = std::move(differences);
      entry = entries[i - 1].get();
    }
  }
  if (!nearest) {
    return {.cause = Miss::Cause::kParameters,
            .text = "another number or other names of arguments",
            .advice =
                "Each number of arguments is a trace of its own: pass one list or dict of "
                "always the same items, or one tensor."};
  }
  Miss miss{.nearest = entry->number()};
  if (nearest->number > 0) {
    miss.cause = Miss::Cause::kDiffers;
    miss.path = nearest->path;
    miss.num_more = nearest->number - 1;
    miss.is_of_sizes = nearest->is_of_sizes && nearest->uncertain.empty();
    miss.is_of_shapes = are_tensors_of_one_dtype(*nearest->now, *nearest->before);
    miss.text =
        str_cat(miss.path, ": ", long_text(*nearest->now), ", was ", long_text(*nearest->before));
    if (miss.num_more > 0) miss.text += str_cat(" (and ", miss.num_more, " more)");
    miss.now = type_text(*nearest->now);
    miss.before = type_text(*nearest->before);
    miss.advice =
        advice_for(miss.path, *nearest->now, *nearest->before, type, entry->type(), language);
    return miss;
  }
  if (!nearest->uncertain.empty()) {
    const bool is_known = !nearest->how.empty();
    miss.cause = is_known ? Miss::Cause::kOther : Miss::Cause::kObject;
    miss.path = nearest->uncertain;
    miss.text = str_cat(miss.path, ": ", is_known ? nearest->how : "another object");
    miss.now = type_text(*nearest->object_now);
    miss.before = type_text(*nearest->object_before);
    const bool has_type = nearest->object_now->kind() == TraceType::Kind::kForeign;
    miss.advice = is_known   ? advice_for_watched(language)
                  : has_type ? advice_for_own_types(language)
                             : advice_for_objects(language);
    return miss;
  }
  if (entry->has_open_sizes()) {
    miss.text =
        "get_concrete_function makes a trace of the sizes that its arguments have; the one that "
        "leaves sizes open is for calls";
    return miss;
  }
  miss.cause = Miss::Cause::kUnfinished;
  miss.text = "equal arguments, in a trace that could not wait for another one";
  return miss;
}

}  // namespace graven::engine
