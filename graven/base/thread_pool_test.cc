#include "graven/base/thread_pool.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "graven/base/denormals.h"
#include "graven/base/status.h"

namespace graven::engine {
namespace {

struct Threads {
  explicit Threads(int n) { ThreadPool::shared().set_num_threads(n); }
  ~Threads() { ThreadPool::shared().set_num_threads(0); }
};

void run(int64_t num_chunks, FunctionRef<void(int64_t)> body) {
  ThreadPool::shared().run(num_chunks, body);
}

// Runs of `width` chunks, each of which starts such a run, `levels` deep.
int64_t count_leaves(int levels, int64_t width) {
  std::atomic<int64_t> leaves{0};
  run(width, [&](int64_t) { leaves += levels == 1 ? 1 : count_leaves(levels - 1, width); });
  return leaves;
}

void in_threads(int n, FunctionRef<void(int)> body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) threads.emplace_back([&, i] { body(i); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("each chunk runs once, whatever the number of threads") {
  for (int threads : {1, 2, 7}) {
    Threads wanted(threads);
    for (int64_t chunks : {0, 1, 2, 1000}) {
      std::vector<std::atomic<int>> runs(chunks);
      run(chunks, [&](int64_t i) { ++runs[i]; });
      CHECK(std::all_of(runs.begin(), runs.end(), [](auto& n) { return n == 1; }));
    }
  }
}

TEST_CASE("several threads may use the pool at once") {
  std::atomic<int64_t> total{0};
  in_threads(4, [&](int) {
    for (int repeat = 0; repeat < 200; ++repeat) run(16, [&](int64_t i) { total += i; });
  });
  CHECK(total == 4 * 200 * 120);
}

TEST_CASE("chunks may start runs of their own, three deep") {
  for (int threads : {1, 2, 4}) {
    Threads wanted(threads);
    for (int repeat = 0; repeat < 100; ++repeat) CHECK(count_leaves(3, 6) == 216);
  }
}

TEST_CASE("eight callers at once, each three deep, with the threads of three") {
  Threads wanted(3);
  const int before = ThreadPool::shared().num_workers();
  std::atomic<int64_t> leaves{0};
  in_threads(8, [&](int) {
    for (int repeat = 0; repeat < 50; ++repeat) leaves += count_leaves(3, 4);
  });
  CHECK(leaves == 8 * 50 * 64);
  CHECK(ThreadPool::shared().num_workers() <= std::max(before, 2));
}

TEST_CASE("more runs at once than the pool has places for are all done") {
  Threads wanted(2);
  std::atomic<int64_t> leaves{0};
  in_threads(20, [&](int) { leaves += count_leaves(5, 2); });
  CHECK(leaves == 20 * 32);
}

// The other caller's chunk ends only when this caller's run is over.
TEST_CASE("a caller does not wait for another caller's run") {
  Threads wanted(2);
  std::mutex mutex;
  std::condition_variable changed;
  bool is_inside = false, is_over = false;
  std::thread other([&] {
    run(2, [&](int64_t chunk) {
      std::unique_lock lock(mutex);
      is_inside = true;
      changed.notify_all();
      if (chunk == 0) changed.wait(lock, [&] { return is_over; });
    });
  });
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return is_inside; });
  }
  std::atomic<int> done{0};
  run(100, [&](int64_t) { ++done; });
  CHECK(done == 100);
  {
    std::lock_guard lock(mutex);
    is_over = true;
  }
  changed.notify_all();
  other.join();
}

// One of two chunks starts a run whose two chunks are over only when both have begun: so the thread
// that did the other chunk, and waits, comes to help. It does so though it has long been asleep.
TEST_CASE("a caller that waits for a chunk helps with the run that the chunk starts") {
  Threads wanted(2);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> has_begun{false};
  std::atomic<int> together{0};
  run(2, [&](int64_t) {
    if (std::this_thread::get_id() == caller) {
      while (!has_begun) std::this_thread::yield();
      return;
    }
    has_begun = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    run(2, [&](int64_t) {
      ++together;
      while (together < 2) std::this_thread::yield();
    });
  });
  CHECK(together == 2);
}

TEST_CASE("no error of a chunk is lost, and the first is the same for any number of threads") {
  for (int threads : {1, 2, 5}) {
    Threads wanted(threads);
    std::vector<Status> errors(300);
    run(300, [&](int64_t i) {
      if (i % 7 == 3) errors[i] = invalid_argument("chunk ", i);
    });
    CHECK(std::ranges::count_if(errors, [](const Status& s) { return !s.ok(); }) == 43);
    CHECK(std::ranges::find_if(errors, [](const Status& s) { return !s.ok(); })->message() ==
          "chunk 3");
  }
}

TEST_CASE("a thread knows how many chunks it is in") {
  Threads wanted(2);
  CHECK(ThreadPool::depth() == 0);
  std::atomic<bool> is_right{true};
  run(4, [&](int64_t) {
    if (ThreadPool::depth() != 1) is_right = false;
    run(1, [&](int64_t) {
      if (ThreadPool::depth() != 2) is_right = false;
    });
    const std::thread::id thread = std::this_thread::get_id();
    run(4, [&](int64_t) {
      const bool is_within = std::this_thread::get_id() == thread;
      if (ThreadPool::depth() < (is_within ? 2 : 1)) is_right = false;
    });
    if (ThreadPool::depth() != 1) is_right = false;
  });
  CHECK(is_right);
  CHECK(ThreadPool::depth() == 0);
}

TEST_CASE("denormals count as zero while a scope lives, and again as they did after the last one") {
  const volatile float smallest = std::numeric_limits<float>::min();
  auto has_denormals = [&] { return smallest / 2 != 0; };
  CHECK(has_denormals());
  {
    FlushDenormals outer;
    CHECK_FALSE(has_denormals());
    {
      FlushDenormals inner;
      CHECK_FALSE(has_denormals());
    }
    CHECK_FALSE(has_denormals());
  }
  CHECK(has_denormals());
}

// Work is cut by the caller alone: sums of chunks, added in order, have the bits of one thread.
TEST_CASE("nested runs give the same bits for any number of threads") {
  auto sum = [] {
    std::vector<float> rows(8);
    run(8, [&](int64_t row) {
      std::vector<float> parts(16);
      run(16, [&](int64_t part) {
        for (int64_t i = 0; i < 50; ++i) {
          parts[part] += 1.0F / static_cast<float>(1 + i + 50 * part + 800 * row);
        }
      });
      rows[row] = std::accumulate(parts.begin(), parts.end(), 0.0F);
    });
    return std::accumulate(rows.begin(), rows.end(), 0.0F);
  };
  float alone = 0;
  {
    Threads wanted(1);
    alone = sum();
  }
  for (int threads : {2, 3, 6}) {
    Threads wanted(threads);
    for (int repeat = 0; repeat < 20; ++repeat) CHECK(sum() == alone);
  }
}

}  // namespace graven::engine
