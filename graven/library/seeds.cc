#include "graven/library/seeds.h"

#include <algorithm>
#include <atomic>
#include <random>
#include <vector>

#include "graven/base/mutex.h"
#include "graven/ir/frame.h"
#include "graven/ops/random_streams.h"

// TensorFlow gives an op without its own seed a number drawn from Python's random.Random(global
// seed); while a graph is built, the number of such ops in the graph. To draw the same numbers in
// C++, this is the same generator: the Mersenne Twister MT19937, seeded by init_by_array (Matsumoto
// and Nishimura, 2002) with the 32 bit words of the seed's magnitude.

namespace graven::engine {
namespace {

constexpr int64_t kMaxInt32 = (int64_t{1} << 31) - 1;
constexpr int64_t kDefaultGlobalSeed = 87654321;

// The seed sequence whose words are the state that init_by_array makes.
struct ArraySeed {
  using result_type = uint32_t;
  std::vector<uint32_t> key;

  template <typename Iterator>
  void generate(Iterator first, Iterator last) const {
    std::vector<uint32_t> state(static_cast<size_t>(last - first));
    const size_t n = state.size();
    auto mixed = [&](size_t i) { return state[i - 1] ^ (state[i - 1] >> 30); };
    state[0] = 19650218u;
    for (size_t i = 1; i < n; ++i) state[i] = 1812433253u * mixed(i) + static_cast<uint32_t>(i);
    size_t i = 1, j = 0;
    auto advance = [&] {
      if (++i < n) return;
      state[0] = state[n - 1];
      i = 1;
    };
    for (size_t k = std::max(n, key.size()); k > 0; --k) {
      state[i] = (state[i] ^ (mixed(i) * 1664525u)) + key[j] + static_cast<uint32_t>(j);
      advance();
      j = (j + 1) % key.size();
    }
    for (size_t k = n - 1; k > 0; --k) {
      state[i] = (state[i] ^ (mixed(i) * 1566083941u)) - static_cast<uint32_t>(i);
      advance();
    }
    state[0] = 0x80000000u;
    std::copy(state.begin(), state.end(), first);
  }
};

struct Seeds {
  Mutex mutex;
  std::optional<int64_t> global_seed GUARDED_BY(mutex);
  std::mt19937 numbers GUARDED_BY(mutex);
};

Seeds& seeds() {
  static Seeds seeds;
  return seeds;
}

std::atomic<bool> g_are_required{false};

// Python's remainder, never negative.
int64_t modulo(int64_t x, int64_t divisor) { return ((x % divisor) + divisor) % divisor; }

constinit thread_local SeedsOfRuns* t_innermost = nullptr;

}  // namespace

SeedsOfRuns::SeedsOfRuns() : outer_(t_innermost), graph_(Frame::current().graph()) {
  t_innermost = this;
}

SeedsOfRuns::~SeedsOfRuns() { t_innermost = outer_; }

int64_t SeedsOfRuns::next(Graph& graph) {
  for (SeedsOfRuns* runs = t_innermost; runs; runs = runs->outer_) {
    if (runs->graph_ != &graph) continue;
    if (runs->next_ == runs->given_.size()) runs->given_.push_back(graph.count_unseeded_op());
    return runs->given_[runs->next_++];
  }
  return graph.count_unseeded_op();
}

void start_seeds(int64_t seed) {
  uint64_t size = seed < 0 ? 0 - static_cast<uint64_t>(seed) : static_cast<uint64_t>(seed);
  ArraySeed words{{static_cast<uint32_t>(size)}};
  if (size >> 32) words.key.push_back(static_cast<uint32_t>(size >> 32));
  Seeds& all = seeds();
  MutexLock lock(all.mutex);
  all.global_seed = seed;
  all.numbers.seed(words);
  restart_random_streams();
}

void require_seeds() { g_are_required.store(true, std::memory_order_relaxed); }
bool seeds_are_required() { return g_are_required.load(std::memory_order_relaxed); }

Result<std::pair<int64_t, int64_t>> seeds_of_op(std::optional<int64_t> op_seed) {
  Seeds& all = seeds();
  MutexLock lock(all.mutex);
  if (!op_seed && !all.global_seed) {
    if (!seeds_are_required()) return std::pair<int64_t, int64_t>(0, 0);
    return Status(Code::kFailedPrecondition,
                  "Random ops require a seed to be set when determinism is enabled. Please set a "
                  "seed before running the op, e.g. by calling tf.random.set_seed(1).",
                  ErrorKind::kRuntimeError);
  }
  if (!op_seed) {
    Frame& frame = Frame::current();
    if (frame.is_graph()) {
      op_seed = SeedsOfRuns::next(*frame.graph());
    } else {  // random.Random.randint(0, 2**31 - 1)
      int64_t drawn = all.numbers();
      while (drawn > kMaxInt32) drawn = all.numbers();
      op_seed = drawn;
    }
  }
  int64_t first = modulo(all.global_seed.value_or(kDefaultGlobalSeed), kMaxInt32);
  int64_t second = modulo(*op_seed, kMaxInt32);
  if (first == 0 && second == 0) second = kMaxInt32;  // 0 and 0 would mean no seeds
  return std::pair(first, second);
}

}  // namespace graven::engine
