#include <doctest/doctest.h>
#include <graven/graven.h>

#include <atomic>
#include <stdexcept>
#include <thread>

using graven::Shape;
using graven::Tensor;
using graven::Variable;

namespace {

constexpr int kThreads = 16;

// Runs body(i) on as many threads at once.
template <typename F>
void on_threads(F&& body) {
  std::atomic<bool> go{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      while (!go) std::this_thread::yield();
      body(i);
    });
  }
  go = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("16 threads with the same new type cause one trace") {
  std::atomic<int> traces{0}, wrong{0};
  auto f = graven::function([&](const Tensor& x) {
    ++traces;
    std::this_thread::yield();
    return x * 2 + 1;
  });
  on_threads([&](int i) {
    for (int call = 0; call < 50; ++call) {
      float x = static_cast<float>(i * 100 + call);
      wrong += f(x).item<float>() != x * 2 + 1;
    }
  });
  CHECK(wrong == 0);
  CHECK(traces == 1);
  CHECK(f.cache_info().signatures[0].hits <= kThreads * 50);
}

TEST_CASE("16 threads with types of their own trace side by side") {
  std::atomic<int> wrong{0};
  auto f = graven::function([](const Tensor& x, int64_t n) { return x + n; },
                            {.reduce_retracing = false});
  on_threads([&](int i) {
    for (int round = 0; round < 5; ++round) {
      for (int64_t n = 0; n < 4; ++n) {
        Tensor x = Tensor::of(std::vector<float>(i % 4 + 1, 1.0f), Shape{i % 4 + 1});
        wrong += f(x, n).to_vector<float>()[0] != static_cast<float>(1 + n);
      }
    }
  });
  CHECK(wrong == 0);
  CHECK(f.experimental_get_tracing_count() == 16);
}

TEST_CASE("16 threads that make the first call make one variable") {
  std::atomic<int> made{0}, wrong{0};
  Variable kept;
  auto f = graven::function([&](const Tensor& x) {
    if (kept.is_none()) {
      kept = Variable(3.0);
      ++made;
    }
    return kept * x;
  });
  on_threads([&](int i) {
    auto x = static_cast<float>(i);
    wrong += f(x).item<float>() != 3 * x;
  });
  CHECK(wrong == 0);
  CHECK(made == 1);
}

TEST_CASE("no addition of 16 threads to one variable is lost") {
  Variable sum(0.0);
  auto add = graven::function(graven::captures(sum), [&](const Tensor& x) { sum.assign_add(x); });
  on_threads([&](int) {
    for (int call = 0; call < 100; ++call) add(1.0);
  });
  CHECK(sum.value().item<float>() == kThreads * 100);
}

TEST_CASE("a trace that fails on one thread is tried again by another") {
  std::atomic<int> attempts{0}, caught{0}, wrong{0};
  auto f = graven::function([&](const Tensor& x) {
    if (attempts++ == 0) throw std::runtime_error("the first attempt");
    return x + 1;
  });
  on_threads([&](int) {
    try {
      wrong += f(1.0).item<float>() != 2;
    } catch (const std::runtime_error&) {
      ++caught;
    }
  });
  CHECK(caught == 1);
  CHECK(wrong == 0);
  CHECK(f.experimental_get_tracing_count() == 1);
}

TEST_CASE("each thread has a tape of its own") {
  std::atomic<int> wrong{0};
  auto cube = graven::function([](const Tensor& x) { return x * x * x; });
  on_threads([&](int i) {
    Tensor x = static_cast<float>(i);
    graven::GradientTape tape;
    tape.watch(x);
    wrong += tape.gradient(cube(x), x).item<float>() != static_cast<float>(3 * i * i);
  });
  CHECK(wrong == 0);
}
