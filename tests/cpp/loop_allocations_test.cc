// Loops over tensors in steady state: an iteration takes no memory, neither from the allocator of
// tensors nor from operator new. A program of its own, as it counts the calls of its operator new.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <tuple>
#include <vector>

#include "graven/graven.h"
#include "graven/tensor/allocator.h"

using graven::DType;
using graven::Tensor;
using graven::TensorArray;
using graven::Variable;
using graven::while_loop;

namespace {

std::atomic<int64_t> g_news{0};

void* counted(void* block) {
  g_news.fetch_add(1, std::memory_order_relaxed);
  if (!block) std::abort();
  return block;
}

struct Counts {
  int64_t news = 0, buffers = 0;
};

// What a call of f that runs this many iterations takes.
template <typename F>
Counts counts_of(const F& f, int iterations) {
  const Tensor n = iterations;
  for (int i = 0; i < 2; ++i) f(n);  // traced, and the memory that is kept has come
  const auto buffers = [] { return graven::engine::Allocator::host().stats().num_allocations; };
  const Counts before{g_news, buffers()};
  f(n);
  return {g_news - before.news, buffers() - before.buffers};
}

// The memory that 1000 more iterations take.
template <typename F>
Counts taken_by_thousand(F body) {
  const auto f = graven::function(body);
  const Counts few = counts_of(f, 1000), many = counts_of(f, 2000);
  return {many.news - few.news, many.buffers - few.buffers};
}

#define CHECK_TAKES_NOTHING(...)                         \
  do {                                                   \
    const Counts taken = taken_by_thousand(__VA_ARGS__); \
    CHECK(taken.news == 0);                              \
    CHECK(taken.buffers == 0);                           \
  } while (false)

Tensor wave(int rows, int columns) {
  const Tensor x = graven::range(rows * columns);
  return graven::reshape(graven::sin(graven::cast(x, DType::kFloat32)), {rows, columns});
}

// f applied to x, n times.
template <typename F>
Tensor repeated(const Tensor& n, const Tensor& x, F f) {
  return std::get<1>(while_loop([&](Tensor i, Tensor) { return i < n; },
                                [&](Tensor i, Tensor x) { return std::tuple(i + 1, f(i, x)); },
                                std::tuple(0, x)));
}

}  // namespace

void* operator new(size_t size) { return counted(std::malloc(size)); }
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return counted(std::malloc(size));
}
void* operator new(size_t size, std::align_val_t alignment) {
  const auto align = static_cast<size_t>(alignment);
  return counted(std::aligned_alloc(align, (size + align - 1) / align * align));
}
void* operator new(size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return operator new(size, alignment);
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, size_t, std::align_val_t) noexcept { std::free(block); }

TEST_CASE("an array of as many elements as the loop has iterations") {
  CHECK_TAKES_NOTHING([](Tensor n) {
    const TensorArray array(DType::kFloat32, n);
    const Tensor x = wave(1, 64);
    return std::get<1>(while_loop([&](Tensor i, TensorArray) { return i < n; },
                                  [&](Tensor i, TensorArray a) {
                                    return std::tuple(
                                        i + 1, a.write(i, x + graven::cast(i, DType::kFloat32)));
                                  },
                                  std::tuple(0, array)))
        .stack();
  });
}

TEST_CASE("an array that grows takes memory whenever its room has doubled") {
  const Counts taken = taken_by_thousand([](Tensor n) {
    const TensorArray array(DType::kFloat32, 0, {.dynamic_size = true});
    const Tensor x = wave(1, 64);
    return std::get<1>(while_loop([&](Tensor i, TensorArray) { return i < n; },
                                  [&](Tensor i, TensorArray a) {
                                    return std::tuple(
                                        i + 1, a.write(i, x + graven::cast(i, DType::kFloat32)));
                                  },
                                  std::tuple(0, array)))
        .stack();
  });
  CHECK(taken.buffers <= 1);
  CHECK(taken.news <= 1);
}

TEST_CASE("a product") {
  const Tensor x = wave(1, 64), w = wave(64, 64) * 0.1, b = wave(1, 64);
  CHECK_TAKES_NOTHING([=](Tensor n) {
    return repeated(n, x, [&](Tensor, Tensor x) { return graven::tanh(graven::matmul(x, w) + b); });
  });
}

TEST_CASE("elementwise, with and without the counter") {
  const Tensor x = wave(1, 64), y = wave(8, 1);
  CHECK_TAKES_NOTHING(
      [=](Tensor n) { return repeated(n, x, [&](Tensor, Tensor x) { return graven::tanh(x); }); });
  CHECK_TAKES_NOTHING([=](Tensor n) {
    return repeated(n, x, [&](Tensor i, Tensor x) {
      return graven::reduce_sum(x * y + graven::cast(i, DType::kFloat32), {0}, true) * 0.1;
    });
  });
}

TEST_CASE("ops with kernels of their own, and views") {
  const Tensor x = wave(4, 16);
  CHECK_TAKES_NOTHING([=](Tensor n) {
    return repeated(n, x, [&](Tensor, Tensor x) {
      const Tensor y = graven::cumsum(graven::reverse(x, {1}), 1) * 0.1;
      return graven::slice(graven::reshape(graven::concat({y, x}, 0), {8, 16}), {2, 0}, {4, 16});
    });
  });
}

TEST_CASE("integers of several variables that change places") {
  CHECK_TAKES_NOTHING([](Tensor n) {
    const auto [i, x, y] = while_loop(
        [&](Tensor i, Tensor, Tensor) { return i < n; },
        [](Tensor i, Tensor x, Tensor y) { return std::tuple(i + 1, y, graven::cumsum(x) % 7); },
        std::tuple(0, graven::range(5), graven::range(5) + 1));
    return x + y;
  });
}

TEST_CASE("reading and writing arrays whose elements are there") {
  CHECK_TAKES_NOTHING([](Tensor n) {
    const TensorArray rows = TensorArray(DType::kFloat32, 0).unstack(wave(4, 64));
    return std::get<1>(while_loop([&](Tensor i, TensorArray) { return i < n; },
                                  [&](Tensor i, TensorArray a) {
                                    const Tensor x = a.read(i % 4);
                                    return std::tuple(i + 1, a.write((i + 1) % 4, x * 1.01));
                                  },
                                  std::tuple(0, rows)))
        .stack();
  });
}

TEST_CASE("variables") {
  const Variable v(wave(1, 64)), sum(graven::zeros({1, 64}));
  CHECK_TAKES_NOTHING([=](Tensor n) {
    return repeated(n, wave(1, 64), [&](Tensor, Tensor x) {
      sum.assign_add(x);
      v.assign(graven::tanh(v + x));
      return x * 0.5 + v;
    });
  });
}

TEST_CASE("a branch on a tensor") {
  const Tensor x = wave(1, 64);
  CHECK_TAKES_NOTHING([=](Tensor n) {
    return repeated(n, x, [](Tensor i, Tensor x) -> Tensor {
      return graven::cond(
          graven::equal(i % 2, 0), [&] { return graven::cumsum(x, 1) * 0.1; },
          [&] { return graven::tanh(x); });
    });
  });
}

TEST_CASE("a loop within a loop") {
  const Tensor x = wave(1, 64), y = wave(1, 64) * 2;
  CHECK_TAKES_NOTHING([=](Tensor n) {
    return repeated(n, x, [&](Tensor, Tensor x) {
      return repeated(3, x + y, [](Tensor, Tensor x) { return graven::cumsum(x, 1) * 0.1; });
    });
  });
}

TEST_CASE("a condition on tensors") {
  const Tensor x = wave(1, 64);
  CHECK_TAKES_NOTHING([=](Tensor n) {
    const Tensor end = graven::cast(n, DType::kFloat32);
    return std::get<1>(
        while_loop([&](Tensor steps, Tensor) { return graven::reduce_max(steps) < end; },
                   [](Tensor steps, Tensor x) { return std::tuple(steps + 1, graven::tanh(x)); },
                   std::tuple(graven::zeros({4}), x)));
  });
}

TEST_CASE("an LSTM, of a known number of rows and of another") {
  const Tensor w = wave(16, 64) * 0.1, u = wave(16, 64) * 0.1, b = wave(1, 64);
  const auto f = graven::function(
      [=](Tensor n, Tensor x) {
        const auto step = [&](Tensor i, Tensor h, Tensor c) {
          const Tensor gates = graven::matmul(x, w) + graven::matmul(h, u) + b;
          const std::vector<Tensor> all = graven::split(gates, 4, 1);
          c = graven::sigmoid(all[1]) * c + graven::sigmoid(all[0]) * graven::tanh(all[2]);
          return std::tuple(i + 1, graven::sigmoid(all[3]) * graven::tanh(c) + x * 0.1, c);
        };
        return std::get<1>(
            while_loop([&](Tensor i, Tensor, Tensor) { return i < n; }, step, std::tuple(0, x, x)));
      },
      {.reduce_retracing = true});
  for (const int rows : {2, 3, 4}) {
    const Tensor x = wave(rows, 16);
    const auto with_rows = [&](Tensor n) { return f(n, x); };
    const Counts few = counts_of(with_rows, 1000), many = counts_of(with_rows, 2000);
    CHECK(many.news - few.news == 0);
    CHECK(many.buffers - few.buffers == 0);
  }
  CHECK(f.experimental_get_tracing_count() == 2);
}

TEST_CASE("the gradient of a loop takes what it keeps") {
  const Tensor x = wave(1, 64), w = wave(64, 64) * 0.1;
  const Counts taken = taken_by_thousand([=](Tensor n) {
    graven::GradientTape tape;
    tape.watch(x);
    const Tensor y =
        repeated(n, x, [&](Tensor, Tensor x) { return graven::tanh(graven::matmul(x, w)); });
    return tape.gradient(y, x);
  });
  // The value of each iteration, and its object.
  CHECK(taken.buffers <= 1100);
  CHECK(taken.news <= 2100);
}
