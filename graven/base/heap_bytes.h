#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/inline_vector.h"

// Heap memory that objects of the standard library hold beside themselves, as glibc's malloc counts
// it. So the bytes that are charged to the entries of a cache add up to the memory that the process
// gained. Heap memory of the elements is not included; the caller adds it.
namespace graven::engine {

// A block of `bytes` bytes: with its header, in units of 16 bytes.
constexpr int64_t bytes_of_block(size_t bytes) {
  return bytes == 0 ? 0 : static_cast<int64_t>(std::max<size_t>(32, (bytes + 8 + 15) / 16 * 16));
}
template <typename T>
constexpr int64_t bytes_of_object() {
  return bytes_of_block(sizeof(T));
}
// An object made by std::make_shared: two counts and a vtable stand before it.
template <typename T>
constexpr int64_t bytes_of_shared() {
  return bytes_of_block(sizeof(T) + 16);
}

template <typename T>
int64_t heap_bytes(const std::vector<T>& vector) {
  return bytes_of_block(vector.capacity() * sizeof(T));
}
inline int64_t heap_bytes(const std::vector<bool>& vector) {
  return bytes_of_block((vector.capacity() + 7) / 8);
}
inline int64_t heap_bytes(const std::string& text) {
  constexpr size_t kInside = 15;
  return text.capacity() > kInside ? bytes_of_block(text.capacity() + 1) : 0;
}
// Its capacity beyond N is at least its size.
template <typename T, size_t N>
int64_t heap_bytes(const InlineVector<T, N>& vector) {
  return vector.size() > N ? bytes_of_block(vector.size() * sizeof(T)) : 0;
}
template <typename K, typename V, typename H, typename E>
int64_t heap_bytes(const std::unordered_map<K, V, H, E>& map) {
  struct Node {
    void* next;
    size_t hash;
    std::pair<const K, V> value;
  };
  // One bucket stands inside the map.
  const size_t buckets = map.bucket_count() > 1 ? map.bucket_count() : 0;
  return bytes_of_block(buckets * sizeof(void*)) +
         static_cast<int64_t>(map.size()) * bytes_of_block(sizeof(Node));
}
// Nodes of trees have three links and a colour.
template <typename K, typename V, typename C>
int64_t heap_bytes(const std::map<K, V, C>& map) {
  return static_cast<int64_t>(map.size()) * bytes_of_block(32 + sizeof(std::pair<const K, V>));
}
template <typename K, typename C>
int64_t heap_bytes(const std::set<K, C>& set) {
  return static_cast<int64_t>(set.size()) * bytes_of_block(32 + sizeof(K));
}
// Pieces of 512 bytes, or of one element, and a table of them; there is always one.
template <typename T>
int64_t heap_bytes(const std::deque<T>& deque) {
  const size_t in_piece = sizeof(T) < 512 ? 512 / sizeof(T) : 1;
  const size_t pieces = deque.size() / in_piece + 1;
  return static_cast<int64_t>(pieces) * bytes_of_block(in_piece * sizeof(T)) +
         bytes_of_block(std::max<size_t>(8, pieces + 2) * sizeof(void*));
}

// One count of bytes, on this thread, while it lives: an object that is reached in several ways (a
// constant of a graph and of its copies, a fused group and its step) counts once. A count within
// another is part of it.
class GRAVEN_API ByteCount {
 public:
  ByteCount();
  ~ByteCount();
  ByteCount(const ByteCount&) = delete;
  // Whether the object is met for the first time.
  bool is_first(const void* object);

 private:
  ByteCount* outermost_;
  std::unordered_set<const void*> seen_;
};

}  // namespace graven::engine
