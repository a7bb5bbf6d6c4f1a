// Long runs with ever new types and functions: resident memory stays where a fifth of the run has
// left it. tests/memory has the same from Python.
#include <doctest/doctest.h>
#include <graven/graven.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <functional>
#include <vector>

using graven::Tensor;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// A sanitizer finds leaks itself, and keeps back memory that was given back.
constexpr int64_t kCount = 500;
constexpr int64_t kHits = 10'000;
constexpr int64_t kLimit = int64_t{1} << 40;
#else
constexpr int64_t kCount = 10'000;
constexpr int64_t kHits = 1'000'000;
constexpr int64_t kLimit = int64_t{2} << 20;  // bytes
#endif
constexpr int64_t kMaxBytes = int64_t{16} << 20;

int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

// The bytes by which memory grows after the first fifth of the run.
int64_t growth(const std::function<void(int64_t)>& step, int64_t count = kCount) {
  int64_t begin = 0;
  for (int64_t n = 0; n < count; ++n) {
    if (n == count / 5) begin = resident_bytes();
    step(n);
  }
  return resident_bytes() - begin;
}

// A matmul and a convolution, whose kernels have memory of their own.
Tensor work(const Tensor& x) {
  const Tensor rows = graven::reshape(x, {-1, 3});
  const Tensor image =
      graven::nn::conv2d(graven::ones({1, 4, 4, 2}), graven::ones({2, 2, 2, 2}), 1, "SAME");
  return graven::reduce_sum(graven::matmul(rows, graven::ones({3, 3}))) + graven::reduce_sum(image);
}

}  // namespace

TEST_CASE("ten thousand shapes stay within max_bytes") {
  auto f = graven::function([](const Tensor& x) { return work(x); }, {.max_bytes = kMaxBytes});
  CHECK(growth([&](int64_t n) { f(graven::ones({n % 100 + 1, n / 100 + 1, 3})); }) <= kLimit);
}

TEST_CASE("ten thousand ranks and sizes stay within max_bytes") {
  auto f = graven::function([](const Tensor& x) { return work(x); }, {.max_bytes = kMaxBytes});
  CHECK(growth([&](int64_t n) {
          std::vector<int64_t> sizes(static_cast<size_t>(n % 8), 1);
          sizes.insert(sizes.end(), {n + 1, 3});
          f(graven::ones(graven::Shape(sizes)));
        }) <= kLimit);
}

TEST_CASE("ten thousand numbers as arguments stay within max_bytes") {
  auto f =
      graven::function([](const Tensor& x, int64_t n) { return work(x) * static_cast<double>(n); },
                       {.max_bytes = kMaxBytes});
  const Tensor x = graven::ones({2, 3});
  CHECK(growth([&](int64_t n) { f(x, n); }) <= kLimit);
}

TEST_CASE("ten thousand functions that are made and dropped leave nothing") {
  const Tensor x = graven::ones({2, 3});
  CHECK(growth([&](int64_t n) {
          auto f =
              graven::function([n](const Tensor& x) { return work(x) * static_cast<double>(n); });
          f(x);
          f(x);
        }) <= kLimit);
}

TEST_CASE("a million hits leave nothing") {
  auto f = graven::function([](const Tensor& x) { return x * 2.0f; });
  const Tensor x = graven::ones({2, 3});
  CHECK(growth([&](int64_t) { f(x); }, kHits) <= kLimit);
}
