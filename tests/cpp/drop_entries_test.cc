// Entries that a Function drops while other threads call them.
#include <doctest/doctest.h>
#include <graven/graven.h>

#include <atomic>
#include <thread>
#include <vector>

using graven::Tensor;
using graven::engine::Entry;
using graven::engine::Ref;

namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kDrops = 50'000;
#else
constexpr int kDrops = 1'000'000;
#endif
constexpr int kThreads = 16, kLiteralsOfThread = 4, kLiterals = kThreads * kLiteralsOfThread;

std::vector<uint64_t> row_of(const Tensor& x, int64_t n) {
  graven::KeyWriter key(/*equal_as_numbers=*/false);
  key.add_tensor(x);
  key.add_integer(n);
  return {key.row().begin(), key.row().end()};
}

}  // namespace

TEST_CASE("a dropped entry is traced again by the next call, and its hits stay counted") {
  auto f = graven::function([](const Tensor& x) { return x + 1; });
  for (int call = 0; call < 3; ++call) CHECK(f(2).item<int32_t>() == 3);
  Ref<Entry> entry = f.engine_function()->entries()[0];
  CHECK(f.engine_function()->drop(*entry));
  CHECK_FALSE(f.engine_function()->drop(*entry));
  CHECK(entry->is_unique());
  CHECK(f.cache_info().entries == 0);
  CHECK(f.cache_info().evictions == 1);
  CHECK(f.cache_info().hits == 2);
  CHECK(f(2).item<int32_t>() == 3);
  CHECK(f.cache_info().traces == 2);
}

TEST_CASE("a ConcreteFunction outlives its place in the cache") {
  auto f = graven::function([](const Tensor& x) { return x * 3; });
  auto concrete = f.get_concrete_function(graven::TensorSpec{{graven::Dim::unknown()}});
  CHECK(f.engine_function()->drop(*concrete.entry()));
  Tensor x = Tensor::of(std::vector<float>{1, 2}, graven::Shape{2});
  CHECK(concrete(x).to_vector<float>() == std::vector<float>{3, 6});
}

TEST_CASE("a function may drop what it is just running, and what it is just tracing") {
  graven::engine::Function* self = nullptr;
  auto drop_all = [&] {
    for (const auto& entry : self->entries()) self->drop(*entry);
  };
  auto f = graven::function([&](const Tensor& x) {
    drop_all();
    return x + 1;
  });
  self = f.engine_function().get();
  for (int round = 0; round < 3; ++round) {
    CHECK(f(1.0).item<float>() == 2);
    CHECK(f(1).item<int32_t>() == 2);
  }
}

TEST_CASE("a gradient is right although the entry that the tape recorded was dropped") {
  auto cube = graven::function([](const Tensor& x) { return x * x * x; });
  for (int round = 0; round < 2; ++round) {
    Tensor x = 2.0;
    graven::GradientTape tape;
    tape.watch(x);
    Tensor y = cube(x);
    CHECK(cube.engine_function()->drop(*cube.engine_function()->entries()[0]));
    CHECK(tape.gradient(y, x).item<float>() == 12);
  }
}

TEST_CASE("entries are dropped and put back while 16 threads call them") {
  std::atomic<int> wrong{0}, traces{0};
  std::atomic<bool> go{false};
  auto f = graven::function([&](const Tensor& x, int64_t n) {
    ++traces;
    return x + n;
  });
  Tensor x = 1;
  graven::engine::Function& function = *f.engine_function();
  auto entry_of = [&](int64_t n) { return f.get_concrete_function(x, n).entry(); };
  std::vector<Ref<Entry>> ready;
  for (int64_t n = 0; n < kLiterals; ++n) ready.push_back(entry_of(n));

  // Each thread calls them all, and drops those that are its own: 99 of 100 times it puts the
  // ready one back, once it lets a call trace it again.
  auto work = [&](int thread) {
    while (!go) std::this_thread::yield();
    for (int i = 0; i < kDrops / kThreads; ++i) {
      const int64_t own = thread * kLiteralsOfThread + i % kLiteralsOfThread;
      const bool is_dropped = function.drop(*ready[own]);
      const bool is_back = is_dropped && i % 100 && function.put_back(ready[own], row_of(x, own));
      const int64_t n = (thread + i) % kLiterals;
      wrong += f(x, n).item<int32_t>() != 1 + n;
      if (!is_back) {
        wrong += f(x, own).item<int32_t>() != 1 + own;
        ready[own] = entry_of(own);
      }
    }
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) threads.emplace_back(work, thread);
  go = true;
  for (std::thread& thread : threads) thread.join();

  CHECK(wrong == 0);
  CHECK(traces >= kDrops / 100);
  // Nothing is in use any more, so that what is dropped goes.
  graven::engine::free_retired();
  for (const Ref<Entry>& entry : function.entries()) function.drop(*entry);
  for (const Ref<Entry>& entry : ready) CHECK(entry->is_unique());
  CHECK(f.cache_info().entries == 0);
}
