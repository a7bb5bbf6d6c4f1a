#include "graven/kernels/lapack.h"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <thread>
#include <vector>

namespace graven::engine {
namespace {

const Lapack& library() {
  auto found = lapack();
  REQUIRE_MESSAGE(found.ok(), found.status().message());
  REQUIRE((*found)->prepare_thread());
  return **found;
}

template <typename T>
std::vector<T> numbers(int n) {
  std::vector<T> x(static_cast<size_t>(n) * static_cast<size_t>(n));
  for (size_t i = 0; i < x.size(); ++i) x[i] = T(static_cast<float>(i * 37 % 101) - 50);
  return x;
}

TEST_CASE_TEMPLATE("LU factors solve systems of equations", T, float, double, std::complex<float>,
                   std::complex<double>) {
  const auto& routines = library().of<T>();
  T a[] = {2, 1, 1, 3}, b[] = {3, 5};  // columns
  int pivots[2];
  REQUIRE(routines.lu(2, a, pivots) == 0);
  REQUIRE(routines.solve_lu(Transform::kNone, 2, 1, a, pivots, b) == 0);
  CHECK(std::abs(b[0] - T(0.8f)) < 1e-6);
  CHECK(std::abs(b[1] - T(1.4f)) < 1e-6);
}

TEST_CASE_TEMPLATE("singular vectors are orthogonal, of matrices of any rank, too", T, float,
                   double) {
  constexpr int kMost = 9;
  const auto& routines = library().of<T>();
  const T most = 100 * std::numeric_limits<T>::epsilon();
  for (int n = 1; n <= kMost; ++n) {
    for (const int rank : {n, n / 2, 0}) {
      CAPTURE(n);
      CAPTURE(rank);
      std::vector<T> matrix = numbers<T>(n);
      for (int j = rank; j < n; ++j) {
        for (int i = 0; i < n; ++i) matrix[j * n + i] = rank == 0 ? T(0) : matrix[j % rank * n + i];
      }
      std::vector<T> a = matrix, s(n), u(n * n), vh(n * n);
      REQUIRE(routines.svd(Vectors::kThin, n, n, a.data(), s.data(), u.data(), vh.data()) == 0);
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          T product = 0, of_u = 0, of_v = 0;
          for (int k = 0; k < n; ++k) {
            product += u[k * n + i] * s[k] * vh[j * n + k];
            of_u += u[i * n + k] * u[j * n + k];
            of_v += vh[k * n + i] * vh[k * n + j];
          }
          CHECK(std::abs(product - matrix[j * n + i]) <= most * s[0]);
          CHECK(std::abs(of_u - T(i == j)) <= most);
          CHECK(std::abs(of_v - T(i == j)) <= most);
        }
        if (i > 0) CHECK(s[i] <= s[i - 1]);
      }
    }
  }
}

// OpenBLAS for one thread does not lock what it keeps: one thread found products of another in its
// factors.
TEST_CASE("threads that call LAPACK at once do not disturb each other") {
  constexpr int kSize = 48, kThreads = 24, kCalls = 200;
  const auto factors = [](std::vector<float> a) {
    std::vector<int> pivots(kSize);
    library().of_float.lu(kSize, a.data(), pivots.data());
    return a;
  };
  const std::vector<float> matrix = numbers<float>(kSize), expected = factors(matrix);
  std::vector<int> wrong(kThreads);
  std::vector<std::thread> threads;
  for (int& count : wrong) {
    threads.emplace_back([&] {
      for (int i = 0; i < kCalls; ++i) count += factors(matrix) != expected;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(kThreads));
}

TEST_CASE_TEMPLATE("LU factors of values that are not finite end, with pivots that exist", T, float,
                   double, std::complex<float>, std::complex<double>) {
  using R = RealOf<T>;
  for (R value : {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity(),
                  std::numeric_limits<R>::max()}) {
    for (int n : {1, 2, 5, 33, 70}) {
      std::vector<T> a(static_cast<size_t>(n) * static_cast<size_t>(n), T(value));
      std::vector<int> pivots(static_cast<size_t>(n));
      library().of<T>().lu(n, a.data(), pivots.data());
      for (int pivot : pivots) CHECK((pivot >= 1 && pivot <= n));
    }
  }
}

}  // namespace
}  // namespace graven::engine
