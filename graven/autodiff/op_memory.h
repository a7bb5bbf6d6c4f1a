#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

#include "graven/base/heap_bytes.h"
#include "graven/base/mutex.h"
#include "graven/ir/attributes.h"
#include "graven/ir/op.h"

namespace graven::engine {

// What was found out about applications of ops: a Value for an op, its attributes and a Key, which
// is all else that the Value depends on. Forgets all when it is full. Any thread may use it.
//
// The attributes are kept, so not those that own what must not live on, or whose values mean
// something else later.
template <typename Key, typename Value>
class OpMemory {
 public:
  // hash: of all three.
  std::optional<Value> find(uint64_t hash, const Op& op, AttrsRef attrs, const Key& key) {
    ReaderLock lock(mutex_);
    auto [at, end] = entries_.equal_range(hash);
    for (; at != end; ++at) {
      const Entry& entry = at->second;
      if (entry.op == &op && entry.key == key && AttrsRef(entry.attrs) == attrs) return entry.value;
    }
    return std::nullopt;
  }
  void add(uint64_t hash, const Op& op, AttrsRef attrs, Key key, Value value) {
    WriterLock lock(mutex_);
    if (entries_.size() >= kMax) entries_.clear();
    entries_.emplace(hash, Entry{&op, Attrs(attrs), std::move(key), std::move(value)});
  }
  // bytes_of(key, value): what these own.
  template <typename BytesOf>
  int64_t bytes(BytesOf bytes_of) {
    ReaderLock lock(mutex_);
    int64_t total = bytes_of_block(entries_.bucket_count() * sizeof(void*));
    for (const auto& [hash, entry] : entries_) {
      total += bytes_of_block(2 * sizeof(void*) + sizeof(Entry)) +
               bytes_of_block(std::max<size_t>(AttrsRef(entry.attrs).type().size, 1)) +
               bytes_of(entry.key, entry.value);
    }
    return total;
  }

 private:
  static constexpr size_t kMax = 4096;
  struct Entry {
    const Op* op;
    Attrs attrs;
    Key key;
    Value value;
  };

  SharedMutex mutex_;
  std::unordered_multimap<uint64_t, Entry> entries_ GUARDED_BY(mutex_);
};

}  // namespace graven::engine
