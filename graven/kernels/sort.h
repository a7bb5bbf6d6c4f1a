#pragma once
#include <cstdint>
#include <span>

#include "graven/base/export.h"

namespace graven::engine {

// A key of 64 bits and where it stood, compared in this order.
struct alignas(16) KeyAndPlace {
  uint64_t place;
  uint64_t key;
  friend bool operator<(const KeyAndPlace& a, const KeyAndPlace& b) {
    return a.key != b.key ? a.key < b.key : a.place < b.place;
  }
};

// Sorts in ascending order, long spans by Highway's vectorised quicksort. Equal words cannot be
// told apart, so the result does not depend on the method. Allocates nothing.
GRAVEN_API void sort_ascending(std::span<uint64_t> words);
GRAVEN_API void sort_ascending(std::span<KeyAndPlace> pairs);

}  // namespace graven::engine
