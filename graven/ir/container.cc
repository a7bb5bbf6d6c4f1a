#include "graven/ir/container.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "graven/base/heap_bytes.h"
#include "graven/base/strings.h"

namespace graven::engine {
namespace {

// Positions of keys in sorted order; an error if Python would not sort them.
Result<std::vector<uint32_t>> sorted_order(const std::vector<Literal>& keys) {
  std::vector<uint32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  auto all_are = [&](auto has) { return std::ranges::all_of(keys, has); };
  auto sort_by = [&](auto less) {
    std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) { return less(keys[a], keys[b]); });
  };
  if (all_are([](const Literal& k) { return std::holds_alternative<std::string>(k); })) {
    sort_by([](const Literal& a, const Literal& b) {
      return std::get<std::string>(a) < std::get<std::string>(b);
    });
    return order;
  }
  if (all_are([](const Literal& k) { return std::holds_alternative<Bytes>(k); })) {
    sort_by([](const Literal& a, const Literal& b) {
      return std::get<Bytes>(a).data < std::get<Bytes>(b).data;
    });
    return order;
  }
  if (all_are([](const Literal& k) {
        auto n = literal_as_number(k);
        return n && n->imag() == 0;
      })) {
    sort_by([](const Literal& a, const Literal& b) {
      return literal_as_number(a)->real() < literal_as_number(b)->real();
    });
    return order;
  }
  // Keys of the front end's own kinds come already in the order that it sorted them into.
  if (all_are([](const Literal& k) { return std::holds_alternative<Ref<Opaque>>(k); })) {
    return order;
  }
  if (keys.size() <= 1) return order;
  return type_error("The keys of a dict cannot be sorted: they mix kinds such as ",
                    literal_repr(keys[0]), " and ", literal_repr(keys.back()));
}

}  // namespace

Container::Container(ContainerKind kind, std::string class_name, std::vector<Literal> keys,
                     Ref<Opaque> maker, std::vector<uint32_t> order)
    : kind_(kind),
      class_name_(std::move(class_name)),
      keys_(std::move(keys)),
      maker_(std::move(maker)),
      order_(std::move(order)) {}

Ref<const Container> Container::list() {
  return Ref<const Container>(new Container(ContainerKind::kList, "List", {}, nullptr, {}));
}

Ref<const Container> Container::tuple() {
  return Ref<const Container>(new Container(ContainerKind::kTuple, "Tuple", {}, nullptr, {}));
}

Ref<const Container> Container::of_fields(ContainerKind kind, std::string class_name,
                                          std::vector<Literal> names, Ref<Opaque> maker) {
  return Ref<const Container>(
      new Container(kind, std::move(class_name), std::move(names), std::move(maker), {}));
}

Result<Ref<const Container>> Container::dict(std::vector<Literal> keys, Ref<Opaque> maker) {
  ASSIGN_OR_RETURN(std::vector<uint32_t> order, sorted_order(keys));
  if (std::ranges::is_sorted(order)) order.clear();
  return Ref<const Container>(new Container(ContainerKind::kDict, "Dict", std::move(keys),
                                            std::move(maker), std::move(order)));
}

bool Container::is_like(const Container& other) const {
  if (kind_ != other.kind_ || keys_.size() != other.keys_.size()) return false;
  if (!is_mapping()) return class_name_ == other.class_name_ && keys_ == other.keys_;
  for (size_t i = 0; i < keys_.size(); ++i) {
    if (other.matching_position(*this, i) < 0) return false;
  }
  return true;
}

int Container::matching_position(const Container& other, size_t position) const {
  if (!is_mapping() || !other.is_mapping()) return static_cast<int>(position);
  auto at = std::ranges::find_if(keys_, [&](const Literal& key) {
    return literals_equal_as_numbers(key, other.keys_[position]);
  });
  return at == keys_.end() ? -1 : static_cast<int>(at - keys_.begin());
}

std::string Container::to_text(std::span<const std::string> items) const {
  std::string out = class_name_ + "[";
  for (size_t i = 0; i < items.size(); ++i) {
    if (i) out += ", ";
    out += keys_.empty() ? items[i] : str_cat("[", literal_repr(keys_[i]), ", ", items[i], "]");
  }
  return out + "]";
}

int64_t Container::num_bytes() const {
  int64_t total = bytes_of_object<Container>() + heap_bytes(class_name_) + heap_bytes(keys_) +
                  heap_bytes(order_);
  for (const Literal& key : keys_) total += heap_bytes_of(key);
  return total;
}

}  // namespace graven::engine
