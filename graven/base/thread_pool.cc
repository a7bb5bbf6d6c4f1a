#include "graven/base/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <xmmintrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace graven::engine {
namespace {

constexpr uint32_t kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;

int cores_of_process() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) return 1;
  return CPU_COUNT(&cores);
}

}  // namespace

FlushDenormals::FlushDenormals() : saved_(_mm_getcsr()) {
  uint32_t wanted = saved_ | kFlushToZero | kDenormalsAreZero;
  if (wanted != saved_) _mm_setcsr(wanted);
}

FlushDenormals::~FlushDenormals() {
  if (_mm_getcsr() != saved_) _mm_setcsr(saved_);
}

namespace {

// Workers look for work for a while before they sleep: to wake a thread takes as long as a small
// kernel. A worker that found work within kLongestSpin looks that long again; each time it does
// not, it looks half as long. Likewise the caller looks for the last helper to leave.
constexpr auto kLongestSpin = std::chrono::microseconds(100);
constexpr auto kShortestSpin = std::chrono::microseconds(5);

using Clock = std::chrono::steady_clock;

// Asks until it holds, or the time is over. The clock is read seldom.
template <typename Predicate>
bool spin(Clock::time_point until, Predicate holds) {
  for (;;) {
    for (int i = 0; i < 32; ++i) {
      if (holds()) return true;
      _mm_pause();
    }
    if (Clock::now() >= until) return false;
  }
}

// The gate of a run, in one word: how many workers are inside, how many more may enter, and
// nothing else, as a closed gate has no places left.
constexpr uint32_t kPlace = 1 << 16;
constexpr uint32_t kInside = kPlace - 1;
constexpr int64_t kMostThreads = 4096;

}  // namespace

// One run at a time is shared with the workers. It opens the gate with a place for each helper
// that it wants, and closes it when the chunks are claimed. A worker reads `body` only while it is
// inside, and the run that owns `body` returns only when nobody is.
struct ThreadPool::State {
  std::mutex run_mutex;                              // held by the run that workers help with
  int workers = 0;                                   // GUARDED_BY(run_mutex)
  const FunctionRef<void(int64_t)>* body = nullptr;  // guarded by the gate, as num_chunks
  int64_t num_chunks = 0;
  // Each on a cache line of its own: chunks are claimed while others look at the gate.
  alignas(64) std::atomic<int64_t> next{0};
  alignas(64) std::atomic<uint32_t> gate{0};
  alignas(64) std::atomic<uint32_t> generation{0};  // of runs, those that opened the gate
  std::atomic<int> wanted_threads{0};

  // For those that sleep. A flag is set before the sleeper looks once more, and is read after
  // what the sleeper waits for is done, so one of the two sees the other.
  std::mutex mutex;
  std::condition_variable wake, left;
  std::atomic<int> sleepers{0};
  std::atomic<bool> caller_sleeps{false};

  void claim(const FunctionRef<void(int64_t)>& work, int64_t count) {
    for (;;) {
      int64_t chunk = next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= count) return;
      work(chunk);
    }
  }

  bool enter() {
    uint32_t now = gate.load(std::memory_order_relaxed);
    while (now >= kPlace) {
      if (gate.compare_exchange_weak(now, now - kPlace + 1, std::memory_order_acquire)) return true;
    }
    return false;
  }

  void leave() {
    uint32_t before = gate.fetch_sub(1);
    if (before != 1 || !caller_sleeps.load()) return;
    std::lock_guard lock(mutex);
    left.notify_one();
  }

  void worker() {
    // Signals are for the threads of the program.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    FlushDenormals flush;
    Clock::duration patience = kLongestSpin;
    uint32_t seen = 0;
    for (;;) {
      const Clock::time_point idle_since = Clock::now();
      auto is_new = [&] { return generation.load() != seen; };
      if (!spin(idle_since + patience, is_new)) {
        std::unique_lock lock(mutex);
        ++sleepers;
        wake.wait(lock, is_new);
        --sleepers;
      }
      patience = Clock::now() - idle_since < kLongestSpin
                     ? Clock::duration(kLongestSpin)
                     : std::max<Clock::duration>(patience / 2, kShortestSpin);
      seen = generation.load();
      if (!enter()) continue;
      claim(*body, num_chunks);
      leave();
    }
  }

  // False if the system gives no more threads; then those that there are do the work.
  bool start_worker() {
    pthread_attr_t detached;
    if (pthread_attr_init(&detached) != 0) return false;
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    auto body_of_thread = [](void* state) -> void* {
      static_cast<State*>(state)->worker();
      return nullptr;
    };
    pthread_t thread;
    bool is_started = pthread_create(&thread, &detached, body_of_thread, this) == 0;
    pthread_attr_destroy(&detached);
    return is_started;
  }

  // With run_mutex held.
  void open(int64_t helpers, int64_t chunks, const FunctionRef<void(int64_t)>& work) {
    while (workers < helpers && start_worker()) ++workers;
    helpers = std::min<int64_t>(helpers, workers);
    body = &work;
    num_chunks = chunks;
    next.store(0, std::memory_order_relaxed);
    gate.store(static_cast<uint32_t>(helpers) * kPlace, std::memory_order_release);
    generation.fetch_add(1);
    if (sleepers.load() == 0) return;
    std::lock_guard lock(mutex);
    if (helpers == 1) {
      wake.notify_one();
    } else {
      wake.notify_all();
    }
  }

  void close() {
    gate.fetch_and(kInside);
    auto is_empty = [&] { return gate.load() == 0; };
    if (is_empty() || spin(Clock::now() + kLongestSpin, is_empty)) return;
    std::unique_lock lock(mutex);
    caller_sleeps = true;
    left.wait(lock, is_empty);
    caller_sleeps = false;
  }
};

namespace {
std::atomic<void*> g_state_of_shared{nullptr};
}  // namespace

ThreadPool& ThreadPool::shared() {
  static ThreadPool* pool = [] {
    auto* made = new ThreadPool();
    g_state_of_shared = &made->state_;
    // The child of a fork has none of the threads and perhaps a held lock: it gets a new state.
    pthread_atfork(nullptr, nullptr, [] {
      auto** state = static_cast<State**>(g_state_of_shared.load());
      int wanted = (*state)->wanted_threads.load();
      *state = new State();
      (*state)->wanted_threads = wanted;
    });
    return made;
  }();
  return *pool;
}

ThreadPool::ThreadPool() : state_(new State()) {}

void ThreadPool::set_num_threads(int num_threads) { state_->wanted_threads = num_threads; }

int ThreadPool::wanted_threads() const {
  return state_->wanted_threads.load(std::memory_order_relaxed);
}

int ThreadPool::num_threads() const {
  static const int cores = cores_of_process();
  int wanted = wanted_threads();
  return wanted > 0 ? wanted : cores;
}

void ThreadPool::run(int64_t num_chunks, FunctionRef<void(int64_t)> body) {
  FlushDenormals flush;
  int64_t helpers = std::min<int64_t>({num_threads(), num_chunks, kMostThreads}) - 1;
  State& s = *state_;
  std::unique_lock running(s.run_mutex, std::defer_lock);
  if (helpers <= 0 || !running.try_lock()) {
    for (int64_t i = 0; i < num_chunks; ++i) body(i);
    return;
  }
  s.open(helpers, num_chunks, body);
  s.claim(body, num_chunks);
  s.close();
}

}  // namespace graven::engine
