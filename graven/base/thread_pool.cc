#include "graven/base/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <xmmintrin.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

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

// One run at a time is shared with the workers. Its chunks are claimed from `next`; a ticket
// (generation in the upper bits) keeps a late worker from claiming a chunk of a later run.
struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable wake;
  uint64_t generation = 0;                           // GUARDED_BY(mutex)
  int workers = 0;                                   // GUARDED_BY(mutex)
  const FunctionRef<void(int64_t)>* body = nullptr;  // GUARDED_BY(mutex), as the two below
  int64_t num_chunks = 0;
  int helpers_wanted = 0;
  int helpers_inside = 0;  // workers that hold `body`
  std::condition_variable left;

  std::mutex run_mutex;  // held by the run that workers help with
  std::atomic<int64_t> next{0};
  std::atomic<int> wanted_threads{0};

  void claim(const FunctionRef<void(int64_t)>& work, int64_t count) {
    for (;;) {
      int64_t chunk = next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= count) return;
      work(chunk);
    }
  }

  void worker() {
    FlushDenormals flush;
    std::unique_lock lock(mutex);
    uint64_t seen = 0;
    for (;;) {
      wake.wait(lock, [&] { return generation != seen && body != nullptr && helpers_wanted > 0; });
      seen = generation;
      --helpers_wanted;
      ++helpers_inside;
      const auto* work = body;
      int64_t count = num_chunks;
      lock.unlock();
      claim(*work, count);
      lock.lock();
      if (--helpers_inside == 0) left.notify_all();
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

int ThreadPool::num_threads() const {
  static const int cores = cores_of_process();
  int wanted = state_->wanted_threads.load(std::memory_order_relaxed);
  return wanted > 0 ? wanted : cores;
}

void ThreadPool::run(int64_t num_chunks, FunctionRef<void(int64_t)> body) {
  FlushDenormals flush;
  int64_t helpers = std::min<int64_t>(num_threads(), num_chunks) - 1;
  State& s = *state_;
  std::unique_lock running(s.run_mutex, std::defer_lock);
  if (helpers <= 0 || !running.try_lock()) {
    for (int64_t i = 0; i < num_chunks; ++i) body(i);
    return;
  }
  {
    std::lock_guard lock(s.mutex);
    while (s.workers < helpers) {
      std::thread([&s] { s.worker(); }).detach();
      ++s.workers;
    }
    s.next.store(0, std::memory_order_relaxed);
    s.body = &body;
    s.num_chunks = num_chunks;
    s.helpers_wanted = static_cast<int>(helpers);
    ++s.generation;
  }
  if (helpers == 1) {
    s.wake.notify_one();
  } else {
    s.wake.notify_all();
  }
  s.claim(body, num_chunks);
  std::unique_lock lock(s.mutex);
  s.body = nullptr;  // nobody enters any more
  s.helpers_wanted = 0;
  s.left.wait(lock, [&] { return s.helpers_inside == 0; });
}

}  // namespace graven::engine
