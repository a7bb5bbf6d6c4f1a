// Budgets of caches, from C++.
#include <doctest/doctest.h>
#include <graven/graven.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

using graven::Tensor;

namespace {

auto double_within(graven::FunctionOptions options) {
  options.reduce_retracing = false;  // a trace for each size
  return graven::function([](const Tensor& x) { return x * 2.0f; }, std::move(options));
}

Tensor ones(int64_t n) { return Tensor::of(std::vector<float>(n, 1.0f), graven::Shape{n}); }

}  // namespace

TEST_CASE("max_traces bounds the traces of a function, and results stay right") {
  auto f = double_within({.max_traces = 4});
  for (int64_t n = 1; n <= 500; ++n) {
    CHECK(f(ones(n)).to_vector<float>() == std::vector<float>(n, 2.0f));
    CHECK(f.cache_info().entries <= 4);
  }
  const graven::CacheInfo info = f.cache_info();
  CHECK(info.traces == 500);
  CHECK(info.evictions == 496);
  CHECK(info.gone.size() == 64);
  CHECK(info.gone.back().why == "max_traces=4");
  CHECK(info.signatures.front().why_traced == "the first trace");
}

TEST_CASE("max_bytes bounds the bytes of a function") {
  auto f = double_within({.max_bytes = 100'000});
  for (int64_t n = 1; n <= 300; ++n) f(ones(n));
  const graven::CacheInfo info = f.cache_info();
  CHECK(info.bytes <= 100'000);
  CHECK(info.entries > 2);
}

TEST_CASE("a budget smaller than one trace runs each call and keeps none") {
  auto f = double_within({.max_bytes = 1});
  for (int round = 0; round < 2; ++round) {
    for (int64_t n = 1; n <= 3; ++n) {
      CHECK(f(ones(n)).to_vector<float>() == std::vector<float>(n, 2.0f));
    }
  }
  const graven::CacheInfo info = f.cache_info();
  CHECK(info.entries == 0);
  CHECK(info.traces == 6);
  CHECK(info.hits == 0);
}

TEST_CASE("a concrete function that the program holds stays in the cache") {
  auto f = double_within({.max_traces = 1});
  {
    auto concrete = f.get_concrete_function(graven::TensorSpec{{7}});
    for (int64_t n = 1; n <= 5; ++n) f(ones(n));
    CHECK(f.cache_info().signatures.front().signature.find("shape=(7,)") != std::string::npos);
  }
  for (int64_t n = 1; n <= 5; ++n) f(ones(n));
  CHECK(f.cache_info().entries == 1);
}

TEST_CASE("clear_cache drops all traces and keeps the counts") {
  auto f = double_within({});
  for (int64_t n = 1; n <= 3; ++n) f(ones(n));
  f.clear_cache();
  const graven::CacheInfo info = f.cache_info();
  CHECK(info.entries == 0);
  CHECK(info.traces == 3);
  CHECK(info.gone.size() == 3);
  CHECK(info.gone[0].why == "cleared");
  CHECK(info.to_text().find("3 traces gone") != std::string::npos);
  CHECK(f(ones(1)).to_vector<float>() == std::vector<float>{2});
}

TEST_CASE("a trace that clears the cache of its own function is kept") {
  const std::function<void()>* clear = nullptr;
  auto f = graven::function([&](const Tensor& x) {
    (*clear)();
    return x + 1.0f;
  });
  const std::function<void()> clear_f = [&] { f.clear_cache(); };
  clear = &clear_f;
  for (int64_t n = 1; n <= 3; ++n) {
    CHECK(f(ones(n)).to_vector<float>() == std::vector<float>(n, 2.0f));
    CHECK(f.cache_info().entries == 1);
  }
}

TEST_CASE("threads that call, trace and clear see right results within the budget") {
  auto f = double_within({.max_traces = 3});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      for (int k = 0; k < 300; ++k) {
        const int64_t n = (k + thread) % 7 + 1;
        wrong += f(ones(n)).to_vector<float>() != std::vector<float>(n, 2.0f);
        if (thread == 0 && k % 50 == 0) f.clear_cache();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  f(ones(100));
  CHECK(f.cache_info().entries <= 3);
}

TEST_CASE("budgets must be positive") {
  CHECK_THROWS_WITH_AS(double_within({.max_traces = 0}),
                       doctest::Contains("max_traces must be positive, not 0"), graven::Error);
  CHECK_THROWS_WITH_AS(double_within({.max_bytes = -1}),
                       doctest::Contains("max_bytes must be positive, not -1"), graven::Error);
  CHECK_THROWS_WITH_AS(graven::config::set_trace_cache_bytes(0),
                       doctest::Contains("must be positive, not 0"), graven::Error);
}

TEST_CASE("the process has a budget for all functions") {
  const int64_t before = graven::config::get_trace_cache_bytes();
  CHECK(before == graven::config::get_memory_limit() / 4);
  auto f = double_within({.name = "listed_in_the_process"});
  f(ones(1));
  auto held = graven::config::trace_cache_info();
  CHECK(held.functions.back().name == "listed_in_the_process");
  CHECK(held.functions.back().bytes == f.cache_info().bytes);
  CHECK(held.to_text().find("listed_in_the_process") != std::string::npos);
  graven::config::set_trace_cache_bytes(held.bytes - held.captured_bytes + 50'000);
  for (int64_t n = 1; n <= 100; ++n) f(ones(n));
  held = graven::config::trace_cache_info();
  CHECK(held.bytes - held.captured_bytes <= held.limit);
  CHECK(f.cache_info().entries < 50);
  graven::config::set_trace_cache_bytes(before);
}
