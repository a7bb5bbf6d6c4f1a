#include "graven/kernels/fft.h"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

#include "graven/base/thread_pool.h"

namespace graven::engine {
namespace {

using Complex = std::complex<double>;

std::vector<Complex> random_numbers(int64_t count) {
  std::mt19937_64 generator(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Complex> made(static_cast<size_t>(count));
  for (Complex& x : made) x = {uniform(generator), uniform(generator)};
  return made;
}

// Some elements of a spectrum, by the definition.
Complex element(const std::vector<Complex>& x, int64_t k) {
  const auto n = static_cast<int64_t>(x.size());
  std::complex<long double> sum = 0;
  for (int64_t j = 0; j < n; ++j) {
    const long double turn = -2 * std::numbers::pi_v<long double> *
                             static_cast<long double>(j * k % n) / static_cast<long double>(n);
    sum += std::complex<long double>(x[j]) * std::polar(1.0L, turn);
  }
  return Complex(sum);
}

std::vector<Complex> transformed(FftKind kind, const std::vector<Complex>& x) {
  std::vector<Complex> y(x.size());
  const auto n = static_cast<int64_t>(x.size());
  FftArguments p{.kind = kind, .is_double = true, .from = x.data(), .to = y.data()};
  p.length = p.from_size = n;
  REQUIRE(fft(p).ok());
  return y;
}

}  // namespace

TEST_CASE("transforms of all kinds of lengths are exact to the last digits") {
  // Small and large primes, products of 2, 3 and 5, those that are cut into a matrix, and others.
  for (int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 15, 30, 64, 77, 97, 1009, 1024, 65536, 39366, 50021}) {
    CAPTURE(n);
    const auto x = random_numbers(n), y = transformed(FftKind::kForward, x);
    const double size = std::sqrt(static_cast<double>(n));
    for (int64_t k : {int64_t{0}, int64_t{1} % n, n / 3, n / 2, n - 1}) {
      CHECK(std::abs(y[k] - element(x, k)) < 4e-15 * size);
    }
    const auto back = transformed(FftKind::kInverse, y);
    for (int64_t j = 0; j < n; ++j) CHECK_MESSAGE(std::abs(back[j] - x[j]) < 1e-14, j);
  }
}

TEST_CASE("a line has the same bits alone and among others") {
  for (int64_t n : {8, 77, 211, 1000, 2048}) {
    CAPTURE(n);
    const int64_t lines = 19;
    const auto x = random_numbers(n * lines);
    for (const int64_t inner : {int64_t{1}, lines}) {
      std::vector<Complex> all(x.size());
      FftArguments p{.is_double = true, .from = x.data(), .to = all.data()};
      p.length = p.from_size = n;
      p.inner = inner;
      p.outer = lines / inner;
      REQUIRE(fft(p).ok());
      for (int64_t line : {int64_t{0}, int64_t{15}, lines - 1}) {
        const auto first = inner == 1 ? line * n : line;
        std::vector<Complex> one(static_cast<size_t>(n));
        for (int64_t j = 0; j < n; ++j) one[j] = x[first + j * inner];
        const auto y = transformed(FftKind::kForward, one);
        for (int64_t k = 0; k < n; ++k) CHECK(all[first + k * inner] == y[k]);
      }
    }
  }
}

TEST_CASE("any number of threads gives the same bits") {
  const auto x = random_numbers(1 << 17);
  ThreadPool& pool = ThreadPool::shared();
  const int before = pool.wanted_threads();
  pool.set_num_threads(1);
  const auto one = transformed(FftKind::kForward, x);
  pool.set_num_threads(4);
  CHECK(transformed(FftKind::kForward, x) == one);
  pool.set_num_threads(before);
}

TEST_CASE("a length larger than the kept plans is transformed, too") {
  const int64_t n = 3'000'017;  // a prime whose tables are larger than what is kept
  std::vector<Complex> x(n);
  x[1] = 1;
  const auto y = transformed(FftKind::kForward, x);
  const double turn = -2 * std::numbers::pi / static_cast<double>(n);
  for (int64_t k : {int64_t{0}, n / 4, n - 1}) {
    CHECK(std::abs(y[k] - std::polar(1.0, turn * static_cast<double>(k))) < 1e-12);
  }
}

}  // namespace graven::engine
