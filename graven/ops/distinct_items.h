#pragma once
#include <bit>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "graven/tensor/half.h"

namespace graven::engine {

// Items in the order of their first places, each with a number: a table with open addressing, at
// most half full. At most kMaxItems.
class DistinctItems {
 public:
  static constexpr int64_t kMaxItems = std::numeric_limits<int32_t>::max();

  // The number of an item, by its hash and is_same(number), which compares it with another. -1 if
  // it is not there.
  template <typename IsSame>
  int64_t find(uint64_t hash, const IsSame& is_same) {
    return slot_of(static_cast<uint32_t>(hash), is_same).number - int64_t{1};
  }
  // The same, and puts it there.
  template <typename IsSame>
  int64_t add(uint64_t hash, const IsSame& is_same) {
    Slot& slot = slot_of(static_cast<uint32_t>(hash), is_same);
    if (slot.number > 0) return slot.number - int64_t{1};
    slot = {static_cast<uint32_t>(hash), ++size_};
    if (2 * ++used_ > slots_.size()) grow();
    return size_ - int64_t{1};
  }
  // Of an item that equals no other, not even itself.
  int64_t add_alone() { return size_++; }

 private:
  struct Slot {
    uint32_t hash = 0, number = 0;  // counted from 1; 0 where there is none
  };
  template <typename IsSame>
  Slot& slot_of(uint32_t hash, const IsSame& is_same) {
    const size_t mask = slots_.size() - 1;
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
      Slot& slot = slots_[at];
      if (slot.number == 0 || (slot.hash == hash && is_same(slot.number - int64_t{1}))) return slot;
    }
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number > 0) slot_of(slot.hash, [](int64_t) { return false; }) = slot;
    }
  }
  std::vector<Slot> slots_ = std::vector<Slot>(64);
  size_t used_ = 0;
  uint32_t size_ = 0;
};

// Mixes all bits into the lowest.
inline uint64_t mixed(uint64_t bits) {
  bits *= 0x9e3779b97f4a7c15;
  return bits ^ bits >> 32;
}

// Equal elements have equal hashes, zeros of both signs too.
template <std::integral T>
uint64_t hash_of_element(T x) {
  return mixed(static_cast<uint64_t>(x));
}

template <std::floating_point T>
uint64_t hash_of_element(T x) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  return mixed(std::bit_cast<Bits>(x == 0 ? T(0) : x));
}

inline uint64_t hash_of_element(Half x) { return hash_of_element(static_cast<float>(x)); }

inline uint64_t hash_of_element(BFloat16 x) { return hash_of_element(static_cast<float>(x)); }

inline uint64_t hash_of_element(const std::string& x) { return std::hash<std::string>()(x); }

}  // namespace graven::engine
