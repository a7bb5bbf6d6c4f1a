#include "graven/base/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <memory>

#include "graven/base/denormals.h"
#include "graven/base/mutex.h"

namespace graven::engine {
namespace {

int cores_of_process() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) return 1;
  return CPU_COUNT(&cores);
}

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

// More runs at once than this are done by their callers alone.
constexpr int kMostRuns = 32;
using Runs = uint32_t;  // a bit for each

Runs bit_of(int run) { return Runs{1} << run; }

// The runs whose chunks this thread is in, and how many chunks.
constinit thread_local Runs t_within = 0;
constinit thread_local int t_depth = 0;

struct ChunkScope {
  explicit ChunkScope(Runs within) : before(t_within) {
    t_within = within;
    ++t_depth;
  }
  ~ChunkScope() {
    t_within = before;
    --t_depth;
  }
  ChunkScope(const ChunkScope&) = delete;
  const Runs before;
};

// A run opens its gate with a place for each helper that it wants, and closes it when the chunks
// are claimed. A helper reads `body` only while it is inside, and the run that owns `body` returns
// only when no helper is inside. Then another run may take the same place in the pool, so a read
// from outside may see another run's values.
struct Run {
  alignas(64) std::atomic<uint32_t> gate{0};
  const FunctionRef<void(int64_t)>* body = nullptr;  // guarded by the gate, as num_chunks
  int64_t num_chunks = 0;
  std::atomic<Runs> within{0};  // the runs in whose chunks it was started
  // On a cache line of its own: chunks are claimed while other threads look at the gate.
  alignas(64) std::atomic<int64_t> next{0};

  // For the caller when it sleeps. The caller sets the flag before it looks once more; a thread
  // reads the flag after its chunk is done. So one of the two sees the other.
  alignas(64) std::atomic<bool> caller_sleeps{false};
  Mutex mutex;
  Condition changed;

  bool has_place() const { return gate.load() >= kPlace; }
  bool is_empty() const { return gate.load() == 0; }

  bool enter() {
    uint32_t now = gate.load(std::memory_order_relaxed);
    while (now >= kPlace) {
      if (gate.compare_exchange_weak(now, now - kPlace + 1, std::memory_order_acquire)) return true;
    }
    return false;
  }

  void leave() {
    if (gate.fetch_sub(1) == 1) wake_caller();
  }

  void wake_caller() {
    if (!caller_sleeps.load()) return;
    MutexLock lock(mutex);
    changed.notify_one();
  }

  void claim(const FunctionRef<void(int64_t)>& work, int64_t count) {
    for (;;) {
      int64_t chunk = next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= count) return;
      work(chunk);
    }
  }
};

}  // namespace

struct ThreadPool::State {
  Run runs[kMostRuns];
  // Lower half: the runs that are taken. Upper half: those of them that no chunk has started.
  alignas(64) std::atomic<uint64_t> taken{0};
  alignas(64) std::atomic<uint32_t> generation{0};  // counts the gates that were opened
  std::atomic<int> wanted_threads{0};

  Mutex start_mutex;            // held by the thread that starts workers
  std::atomic<int> workers{0};  // written under start_mutex

  // For workers that sleep, with the same order of flag and look as in Run.
  Mutex mutex;
  Condition wake;
  std::atomic<int> sleepers{0};

  Runs taken_runs() const { return static_cast<Runs>(taken.load()); }

  // The number of a free run, which this thread then owns, or -1.
  int take(bool is_outermost) {
    uint64_t now = taken.load(std::memory_order_relaxed);
    for (;;) {
      const int run = std::countr_one(static_cast<Runs>(now));
      if (run == kMostRuns) return -1;
      uint64_t wanted = now | bit_of(run);
      if (is_outermost) wanted |= uint64_t{bit_of(run)} << kMostRuns;
      if (taken.compare_exchange_weak(now, wanted)) return run;
    }
  }

  void give_back(int run) { taken.fetch_and(~(uint64_t{bit_of(run)} << kMostRuns | bit_of(run))); }

  int callers() const { return std::popcount(static_cast<Runs>(taken.load() >> kMostRuns)); }

  // Helps with one of the runs, if it has a place and was started within one of `ancestors` (any,
  // if there are none), and returns true when its chunks are claimed.
  bool help(int number, Runs ancestors) {
    Run& run = runs[number];
    auto is_wanted = [&] { return ancestors == 0 || (run.within.load() & ancestors) != 0; };
    if (!run.has_place() || !is_wanted() || !run.enter()) return false;
    const bool still_wanted = is_wanted();  // inside, it cannot change any more
    if (still_wanted) {
      ChunkScope scope(run.within.load(std::memory_order_relaxed) | bit_of(number));
      run.claim(*run.body, run.num_chunks);
    }
    run.leave();
    return still_wanted;
  }

  // Begins behind the run that was helped last, so that no caller is forgotten.
  bool help_any(int& last) {
    const Runs now = taken_runs();
    for (Runs rest = std::rotr(now, last + 1); rest != 0; rest &= rest - 1) {
      const int number = (std::countr_zero(rest) + last + 1) % kMostRuns;
      if (!help(number, 0)) continue;
      last = number;
      return true;
    }
    return false;
  }

  bool help_within(int own) {
    for (Runs rest = taken_runs() & ~bit_of(own); rest != 0; rest &= rest - 1) {
      if (help(std::countr_zero(rest), bit_of(own))) return true;
    }
    return false;
  }

  bool has_place_within(int own) const {
    for (Runs rest = taken_runs() & ~bit_of(own); rest != 0; rest &= rest - 1) {
      const Run& run = runs[std::countr_zero(rest)];
      if (run.has_place() && (run.within.load() & bit_of(own)) != 0) return true;
    }
    return false;
  }

  void worker() {
    // Signals are for the threads of the program.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    FlushDenormals flush;
    Clock::duration patience = kLongestSpin;
    int last = kMostRuns - 1;
    for (;;) {
      const uint32_t seen = generation.load();
      if (help_any(last)) continue;
      const Clock::time_point idle_since = Clock::now();
      auto is_new = [&] { return generation.load() != seen; };
      if (!spin(idle_since + patience, is_new)) {
        MutexLock lock(mutex);
        ++sleepers;
        while (!is_new()) wake.wait(mutex);
        --sleepers;
      }
      patience = Clock::now() - idle_since < kLongestSpin
                     ? Clock::duration(kLongestSpin)
                     : std::max<Clock::duration>(patience / 2, kShortestSpin);
    }
  }

  // False if the system gives no more threads; then the existing threads do the work.
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

  // As many workers as wanted, or as the system gives.
  int64_t started_workers(int64_t wanted) {
    if (workers.load(std::memory_order_relaxed) < wanted) {
      MutexLock lock(start_mutex);
      while (workers < wanted && start_worker()) ++workers;
    }
    return std::min<int64_t>(wanted, workers.load(std::memory_order_relaxed));
  }

  void open(Run& run, int64_t helpers, int64_t chunks, const FunctionRef<void(int64_t)>& work) {
    run.body = &work;
    run.num_chunks = chunks;
    run.within.store(t_within, std::memory_order_relaxed);
    run.next.store(0, std::memory_order_relaxed);
    run.gate.store(static_cast<uint32_t>(helpers) * kPlace, std::memory_order_release);
    generation.fetch_add(1);
    // Callers that wait for the chunk which starts this run may help with it.
    for (Runs rest = t_within; rest != 0; rest &= rest - 1) {
      runs[std::countr_zero(rest)].wake_caller();
    }
    if (sleepers.load() == 0) return;
    MutexLock lock(mutex);
    if (helpers == 1) {
      wake.notify_one();
    } else {
      wake.notify_all();
    }
  }

  void close(int number) {
    Run& run = runs[number];
    run.gate.fetch_and(kInside);
    if (run.is_empty()) return;
    Clock::time_point until = Clock::now() + kLongestSpin;
    for (;;) {
      const uint32_t seen = generation.load();
      if (help_within(number)) {
        until = Clock::now() + kLongestSpin;
        continue;
      }
      auto is_new = [&] { return generation.load() != seen; };
      if (!spin(until, [&] { return run.is_empty() || is_new(); })) {
        MutexLock lock(run.mutex);
        run.caller_sleeps = true;
        // In this order: a run that opens its gate counts up next, and then looks at the flag.
        auto can_help = [&] { return is_new() && has_place_within(number); };
        while (!run.is_empty() && !can_help()) run.changed.wait(run.mutex);
        run.caller_sleeps = false;
      }
      if (run.is_empty()) return;
    }
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

int ThreadPool::num_workers() const { return state_->workers.load(std::memory_order_relaxed); }

int ThreadPool::depth() { return t_depth; }

void ThreadPool::run(int64_t num_chunks, FunctionRef<void(int64_t)> body) {
  FlushDenormals flush;
  State& s = *state_;
  const int64_t threads = std::min<int64_t>(num_threads(), kMostThreads);
  const int number = threads > 1 && num_chunks > 1 ? s.take(/*is_outermost=*/t_within == 0) : -1;
  const int64_t helpers =
      number < 0 ? 0
                 : s.started_workers(std::min(threads - std::max(s.callers(), 1), num_chunks - 1));
  if (helpers <= 0) {
    ChunkScope scope(number < 0 ? t_within : t_within | bit_of(number));
    for (int64_t i = 0; i < num_chunks; ++i) body(i);
  } else {
    Run& run = s.runs[number];
    s.open(run, helpers, num_chunks, body);
    {
      ChunkScope scope(t_within | bit_of(number));
      run.claim(body, num_chunks);
    }
    s.close(number);
  }
  if (number >= 0) s.give_back(number);
}

}  // namespace graven::engine
