#pragma once
#include <cstdint>
#include <utility>
#include <vector>

namespace graven::engine {

// A set of TensorObject::ids, of which a tape adds one for each tensor that is made: an open hash
// table, so that an insertion allocates nothing but when the table grows.
class IdSet {
 public:
  // False if it was there.
  bool insert(uint64_t id) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    uint64_t& slot = slots_[index_of(id)];
    if (slot == id) return false;
    slot = id;
    ++size_;
    return true;
  }
  bool contains(uint64_t id) const { return size_ > 0 && slots_[index_of(id)] == id; }
  void clear() {
    slots_.clear();
    size_ = 0;
  }

 private:
  // The index of the id, or of the free slot for it. 0 is no id.
  size_t index_of(uint64_t id) const {
    const size_t mask = slots_.size() - 1;
    size_t i = (id * 0x9e3779b97f4a7c15u >> 20) & mask;
    while (slots_[i] != 0 && slots_[i] != id) i = (i + 1) & mask;
    return i;
  }
  void grow() {
    std::vector<uint64_t> old = std::exchange(slots_, {});
    slots_.resize(old.empty() ? 32 : 2 * old.size());
    for (uint64_t id : old) {
      if (id != 0) slots_[index_of(id)] = id;
    }
  }
  std::vector<uint64_t> slots_;  // a power of two of them, at most half of which are filled
  size_t size_ = 0;
};

}  // namespace graven::engine
