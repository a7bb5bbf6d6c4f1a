#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/literal.h"

namespace graven::engine {

// Containers of two kinds are never equal, whatever they hold.
enum class ContainerKind : uint8_t { kList, kTuple, kNamedTuple, kAttrs, kDict };

// A container without its items: what tells containers apart, and what a front end needs to make
// one again. Immutable, so that values and their types share it.
class GRAVEN_API Container final : public RefCounted {
 public:
  static Ref<const Container> list();
  static Ref<const Container> tuple();
  // An object of a class with named fields, a named tuple or an attrs object. `maker` makes one of
  // its items.
  static Ref<const Container> of_fields(ContainerKind kind, std::string class_name,
                                        std::vector<Literal> names, Ref<Opaque> maker);
  // `maker` makes one of pairs of a key and an item. Fails if the keys cannot be sorted.
  static Result<Ref<const Container>> dict(std::vector<Literal> keys, Ref<Opaque> maker = nullptr);

  ContainerKind kind() const { return kind_; }
  // The keys of a dict in their own order, or the names of fields; a list and a tuple have none.
  const std::vector<Literal>& keys() const { return keys_; }
  // The front end's class or function that makes one; null for the front end's own kinds.
  const Ref<Opaque>& maker() const { return maker_; }
  // Items of a mapping belong to their keys, those of other containers to their positions.
  bool is_mapping() const { return kind_ == ContainerKind::kDict; }
  // The position of the i-th item in the order of tracing and feeding: that of a dict's sorted
  // keys.
  size_t position(size_t i) const { return order_.empty() ? i : order_[i]; }

  // True for containers whose items, if equal, make them equal: the order of keys does not count.
  bool is_like(const Container& other) const;
  // The position here of the item that stands in another container of this kind at `position`; -1
  // if its key is not here.
  int matching_position(const Container& other, size_t position) const;
  // "List[a, b]" or "Dict[['k', a]]", of the texts of the items.
  std::string to_text(std::span<const std::string> items) const;
  int64_t num_bytes() const;  // of memory

 private:
  Container(ContainerKind kind, std::string class_name, std::vector<Literal> keys,
            Ref<Opaque> maker, std::vector<uint32_t> order);
  ContainerKind kind_;
  std::string class_name_;
  std::vector<Literal> keys_;
  Ref<Opaque> maker_;
  std::vector<uint32_t> order_;  // positions by sorted key, if that is not the order of the items
};

}  // namespace graven::engine
