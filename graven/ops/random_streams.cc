#include "graven/ops/random_streams.h"

#include <atomic>
#include <list>
#include <random>
#include <unordered_map>

#include "graven/base/hash.h"
#include "graven/base/mutex.h"
#include "graven/runtime/open_run.h"

namespace graven::engine {
namespace {

// How many streams of eager calls are remembered. With a global seed each call has a seed of its
// own, so that the oldest are of no more use.
constexpr size_t kMaxEagerStreams = 4096;

// How many sizes of a trace that leaves them open have a stream of their own; the streams of others
// begin anew each time that one of these sizes comes again.
constexpr size_t kMaxSizes = 4096;

std::atomic<uint64_t> g_restarts{0};

class Stream : public RefCounted {
 public:
  PhiloxStream take(uint64_t seed, uint64_t seed2, uint64_t groups, uint64_t sizes) {
    MutexLock lock(mutex_);
    const uint64_t restarts = g_restarts.load(std::memory_order_acquire);
    if (sizes && !of_sizes_.contains(sizes) && of_sizes_.size() >= kMaxSizes) {
      of_sizes_.erase(of_sizes_.begin());
    }
    Place& place = sizes ? of_sizes_[sizes] : place_;
    if (place.restarts != restarts) place = {{0, seed2, seed}, restarts};
    PhiloxStream taken = place.at;
    place.at = place.at.skipped(groups);
    return taken;
  }

 private:
  struct Place {
    PhiloxStream at;
    uint64_t restarts = ~uint64_t{0};
  };
  Mutex mutex_;
  Place place_ GUARDED_BY(mutex_);
  std::unordered_map<uint64_t, Place> of_sizes_ GUARDED_BY(mutex_);
};

// The streams of eager calls, the least recently used forgotten first.
class EagerStreams {
 public:
  static EagerStreams& instance() {
    static auto* streams = new EagerStreams();  // lives until the process ends
    return *streams;
  }

  Ref<Stream> find(const Op& op, AttrsRef attrs, uint64_t dtypes) {
    Key key{&op, attrs.hash(), dtypes};
    MutexLock lock(mutex_);
    auto at = by_key_.find(key);
    if (at != by_key_.end()) {
      recent_.splice(recent_.begin(), recent_, at->second);
      return recent_.front().stream;
    }
    if (recent_.size() >= kMaxEagerStreams) {
      by_key_.erase(recent_.back().key);
      recent_.pop_back();
    }
    recent_.push_front({key, make_ref<Stream>()});
    by_key_.emplace(key, recent_.begin());
    return recent_.front().stream;
  }

 private:
  struct Key {
    const Op* op;
    uint64_t attrs, dtypes;
    bool operator==(const Key&) const = default;
  };
  struct HashKey {
    size_t operator()(const Key& key) const {
      return hash_combine(hash_combine(reinterpret_cast<uintptr_t>(key.op), key.attrs), key.dtypes);
    }
  };
  struct Entry {
    Key key;
    Ref<Stream> stream;
  };
  Mutex mutex_;
  std::list<Entry> recent_ GUARDED_BY(mutex_);
  std::unordered_map<Key, std::list<Entry>::iterator, HashKey> by_key_ GUARDED_BY(mutex_);
};

}  // namespace

PhiloxStream take_from_stream(const Op& op, AttrsRef attrs, uint64_t dtypes, int64_t seed,
                              int64_t seed2, Ref<RefCounted>* node_state, uint64_t groups) {
  if (seed == 0 && seed2 == 0) {
    return {0, nondeterministic_bits(), nondeterministic_bits()};
  }
  Ref<RefCounted> eager;
  if (!node_state) eager = EagerStreams::instance().find(op, attrs, dtypes);
  Ref<RefCounted>& state = node_state ? *node_state : eager;
  if (!state) state = make_ref<Stream>();
  return static_cast<Stream&>(*state).take(static_cast<uint64_t>(seed),
                                           static_cast<uint64_t>(seed2), groups,
                                           node_state ? OpenRun::hash_of_shapes() : 0);
}

void restart_random_streams() { g_restarts.fetch_add(1, std::memory_order_acq_rel); }

uint64_t nondeterministic_bits() {
  // A generator seeded by the system once, so that a draw asks the system for nothing.
  static std::atomic<uint64_t> draws{0};
  static const PhiloxStream stream = [] {
    std::random_device system;
    auto word = [&] { return uint64_t{system()} << 32 | system(); };
    return PhiloxStream{word(), word(), word()};
  }();
  PhiloxWords words = stream.group(draws.fetch_add(1, std::memory_order_relaxed));
  return words[0] | uint64_t{words[1]} << 32;
}

}  // namespace graven::engine
