#include "graven/kernels/matmul.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/time.h>

#include <algorithm>
#include <atomic>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "graven/base/thread_pool.h"
#include "graven/kernels/blocked_matmul.h"
#include "graven/kernels/matmul_pieces.h"
#include "graven/kernels/narrow_product.h"
#include "graven/kernels/onednn.h"
#include "graven/kernels/panels_testing.h"
#include "graven/tensor/allocator.h"

namespace graven::engine {
namespace {

template <typename T>
constexpr bool kIsComplex = false;
template <typename R>
constexpr bool kIsComplex<std::complex<R>> = true;

// The type in which the naive loops below add up: exact for integers (they wrap around), wider
// than the kernel's for floats.
template <typename T>
struct WideOf {
  using Type = std::conditional_t<std::is_integral_v<T>, uint64_t,
                                  std::conditional_t<sizeof(T) == 8, long double, double>>;
};
template <typename R>
struct WideOf<std::complex<R>> {
  using Type = std::complex<typename WideOf<R>::Type>;
};
template <typename T>
using Wide = typename WideOf<T>::Type;

template <typename T>
Wide<T> widen(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return static_cast<float>(value);
  } else {
    return static_cast<Wide<T>>(value);
  }
}

template <typename T>
std::vector<T> random_elements(size_t count, std::mt19937& random) {
  std::vector<T> elements(count);
  std::uniform_real_distribution<float> real(-1, 1);
  for (T& element : elements) {
    if constexpr (std::is_integral_v<T>) {
      element = static_cast<T>(random() * uint64_t{0x123456789abcdef});
    } else if constexpr (kIsComplex<T>) {
      element = T(real(random), real(random));
    } else {
      element = T(real(random));
    }
  }
  return elements;
}

// Half the distance between neighbours of 1 in the type, and of the type in which it is summed.
template <typename T>
double rounding() {
  if constexpr (std::is_same_v<T, Half>) return 0x1p-11;
  if constexpr (std::is_same_v<T, BFloat16>) return 0x1p-8;
  if constexpr (kIsComplex<T>) return rounding<typename T::value_type>();
  if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::epsilon() / 2;
  return 0;
}
template <typename T>
double rounding_of_sums() {
  return dtype_size(kDTypeOf<T>) == 2 ? 0x1p-24 : rounding<T>();
}

template <typename T>
struct Product {
  std::vector<T> a, b, c;
  std::vector<int64_t> a_offsets, b_offsets;
  MatMulArguments arguments;

  Product(int64_t m, int64_t n, int64_t k, std::vector<int64_t> a_matrices,
          std::vector<int64_t> b_matrices, int seed = 1) {
    std::mt19937 random(seed);
    int64_t count_a = 0, count_b = 0;
    for (int64_t i : a_matrices) {
      a_offsets.push_back(i * m * k);
      count_a = std::max(count_a, i + 1);
    }
    for (int64_t i : b_matrices) {
      b_offsets.push_back(i * k * n);
      count_b = std::max(count_b, i + 1);
    }
    a = random_elements<T>(count_a * m * k, random);
    b = random_elements<T>(count_b * k * n, random);
    c.resize(a_offsets.size() * m * n);
    if (!c.empty()) std::memset(static_cast<void*>(c.data()), 0x5a, c.size() * sizeof(T));
    arguments = {.dtype = kDTypeOf<T>,
                 .m = m,
                 .n = n,
                 .k = k,
                 .a = a.data(),
                 .b = b.data(),
                 .c = c.data(),
                 .a_offsets = a_offsets,
                 .b_offsets = b_offsets};
  }
  Product(const Product&) = delete;

  // The largest distance from the naive result, in units of what rounding may cost.
  double error() const {
    const MatMulArguments& p = arguments;
    double worst = 0;
    for (size_t i = 0; i < a_offsets.size(); ++i) {
      for (int64_t row = 0; row < p.m; ++row) {
        for (int64_t column = 0; column < p.n; ++column) {
          Wide<T> sum{};
          double magnitude = 0;
          for (int64_t q = 0; q < p.k; ++q) {
            Wide<T> x = widen(a[a_offsets[i] + (p.transpose_a ? q * p.m + row : row * p.k + q)]);
            Wide<T> y =
                widen(b[b_offsets[i] + (p.transpose_b ? column * p.k + q : q * p.n + column)]);
            if constexpr (kIsComplex<T>) {
              if (p.conjugate_a) x = std::conj(x);
              if (p.conjugate_b) y = std::conj(y);
              magnitude += static_cast<double>(std::abs(x) * std::abs(y));
            } else if constexpr (!std::is_integral_v<T>) {
              magnitude += static_cast<double>(std::abs(x * y));
            }
            if constexpr (kIsComplex<T>) {  // without the detours of operator* for infinities
              sum += Wide<T>(x.real() * y.real() - x.imag() * y.imag(),
                             x.real() * y.imag() + x.imag() * y.real());
            } else {
              sum += x * y;
            }
          }
          const T got = c[(i * p.m + row) * p.n + column];
          if constexpr (std::is_integral_v<T>) {
            if (got != static_cast<T>(sum)) return std::numeric_limits<double>::infinity();
          } else {
            const auto distance = static_cast<double>(std::abs(widen(got) - sum));
            const double allowed = (static_cast<double>(p.k) + 4) * rounding_of_sums<T>() *
                                       magnitude * (kIsComplex<T> ? 2 : 1) +
                                   2 * rounding<T>() * (magnitude > 1 ? magnitude : 1);
            if (!(distance / allowed <= worst)) worst = distance / allowed;
          }
        }
      }
    }
    return worst;
  }
};

template <typename T>
void check_all_forms() {
  const int64_t shapes[][3] = {{1, 1, 1},     {1, 7, 3},    {5, 1, 9},    {4, 4, 4},
                               {3, 17, 33},   {17, 3, 2},   {31, 50, 67}, {9, 49, 300},
                               {130, 241, 2}, {300, 1, 517}};
  for (const auto& shape : shapes) {
    for (int form = 0; form < 16; ++form) {
      const bool conjugate = form & 12;
      if (conjugate && !kIsComplex<T>) continue;
      Product<T> product(shape[0], shape[1], shape[2], {0, 1, 0}, {0, 0, 1}, form + 1);
      product.arguments.transpose_a = form & 1;
      product.arguments.transpose_b = form & 2;
      product.arguments.conjugate_a = form & 4;
      product.arguments.conjugate_b = form & 8;
      PanelLog log(product.c.data(), 3 * shape[0], shape[1], sizeof(T));
      product.arguments.done = log.done();
      CAPTURE(dtype_name(kDTypeOf<T>));
      CAPTURE(shape[0]);
      CAPTURE(shape[1]);
      CAPTURE(shape[2]);
      CAPTURE(form);
      REQUIRE(matmul(product.arguments).ok());
      CHECK(product.error() <= 1);
      CHECK(log.error() == "");
    }
  }
}

TEST_CASE("products of floats, transposed or not, are those of naive loops, told once") {
  check_all_forms<float>();
  check_all_forms<double>();
  check_all_forms<Half>();
  check_all_forms<BFloat16>();
}

TEST_CASE("products of integers wrap around in their own dtype") {
  check_all_forms<int8_t>();
  check_all_forms<uint8_t>();
  check_all_forms<int16_t>();
  check_all_forms<uint16_t>();
  check_all_forms<int32_t>();
  check_all_forms<uint32_t>();
  check_all_forms<int64_t>();
  check_all_forms<uint64_t>();
}

TEST_CASE("products of complex numbers conjugate either side") {
  check_all_forms<std::complex<float>>();
  check_all_forms<std::complex<double>>();
}

TEST_CASE("the engine's own kernel computes float32 too") {
  for (int form = 0; form < 4; ++form) {
    const int64_t m = 61, n = 103, k = 517;
    Product<float> product(m, n, k, {0}, {0});
    product.arguments.transpose_a = form & 1;
    product.arguments.transpose_b = form & 2;
    ProductBlock block{.dtype = DType::kFloat32,
                       .rows = m,
                       .columns = n,
                       .depth = k,
                       .a = product.a.data(),
                       .a_row_stride = form & 1 ? 1 : k,
                       .a_depth_stride = form & 1 ? m : 1,
                       .b = product.b.data(),
                       .b_depth_stride = form & 2 ? 1 : n,
                       .b_column_stride = form & 2 ? k : 1,
                       .c = product.c.data(),
                       .c_stride = n};
    const size_t bytes = product_block_scratch(block.dtype, m, n, k);
    void* scratch = Allocator::host().allocate(bytes);
    REQUIRE(scratch);
    multiply_block(block, scratch);
    Allocator::host().free(scratch, bytes);
    CHECK(product.error() <= 1);
  }
}

TEST_CASE("products of few rows have the bits of the engine's usual kernel") {
  std::vector<float> scratch(256 << 10);
  const auto address = reinterpret_cast<uintptr_t>(scratch.data());
  void* const aligned = scratch.data() + (64 - address % 64) % 64 / sizeof(float);
  for (int64_t m : {1, 2, 3, 4, 7, 8, 9, 15, 16, 21, 40}) {
    for (int64_t n : {16, 17, 31, 33, 48, 63, 70, 100}) {
      for (int64_t k : {1, 5, 300}) {
        for (int form = 0; form < 4; ++form) {
          const bool transpose_a = form & 1, transpose_b = form & 2;
          CAPTURE(m);
          CAPTURE(n);
          CAPTURE(k);
          CAPTURE(form);
          REQUIRE(is_narrow_product(DType::kFloat32, transpose_b, m, n, k) ==
                  (!transpose_b || m > 8));
          Product<float> product(m, n, k, {0}, {0});
          ProductBlock block{.dtype = DType::kFloat32,
                             .rows = m,
                             .columns = n,
                             .depth = k,
                             .a = product.a.data(),
                             .a_row_stride = transpose_a ? 1 : k,
                             .a_depth_stride = transpose_a ? m : 1,
                             .b = product.b.data(),
                             .b_depth_stride = transpose_b ? 1 : n,
                             .b_column_stride = transpose_b ? k : 1,
                             .c = product.c.data(),
                             .c_stride = n};
          REQUIRE(narrow_product_scratch(transpose_b, m, k) < scratch.size() * sizeof(float));
          multiply_narrow_block(block, aligned);
          std::vector<float> usual(product.c.size());
          block.c = usual.data();
          REQUIRE(product_block_scratch(block.dtype, m, n, k) < scratch.size() * sizeof(float));
          multiply_block(block, aligned);
          CHECK(product.c == usual);
        }
      }
    }
  }
}

TEST_CASE("products of few rows are cut anywhere") {
  for (int form = 0; form < 4; ++form) {
    for (int64_t m : {15, 16, 64}) {
      for (int64_t n : {100, 200, 530, 1009}) {
        Product<float> product(m, n, 500, {0}, {0}, form + 1);
        product.arguments.transpose_a = form & 1;
        product.arguments.transpose_b = form & 2;
        PanelLog log(product.c.data(), m, n, sizeof(float));
        product.arguments.done = log.done();
        CAPTURE(form);
        CAPTURE(m);
        CAPTURE(n);
        REQUIRE(matmul(product.arguments).ok());
        CHECK(product.error() <= 1);
        CHECK(log.error() == "");
      }
    }
  }
}

TEST_CASE("a large matrix with few rows before it is cut along the depth") {
  for (int form = 0; form < 4; ++form) {
    Product<float> product(form + 1, 300, 1100, {0}, {0});
    product.arguments.transpose_a = form & 1;
    PanelLog log(product.c.data(), form + 1, 300, sizeof(float));
    product.arguments.done = log.done();
    REQUIRE(matmul(product.arguments).ok());
    CHECK(product.error() <= 1);
    CHECK(log.error() == "");
  }
}

TEST_CASE("inputs whose rows collide in the caches are copied where that pays") {
  for (int form = 0; form < 4; ++form) {
    for (int64_t m : {8, 64, 512}) {
      Product<float> product(m, 512, 70, {0, 1}, {1, 0}, form + 1);
      product.arguments.transpose_a = form & 1;
      product.arguments.transpose_b = form & 2;
      PanelLog log(product.c.data(), 2 * m, 512, sizeof(float));
      product.arguments.done = log.done();
      CAPTURE(form);
      CAPTURE(m);
      REQUIRE(matmul(product.arguments).ok());
      CHECK(product.error() <= 1);
      CHECK(log.error() == "");
    }
  }
}

TEST_CASE("the pieces of a product cover it once") {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const int64_t m = 1 + random() % (i % 2 ? 40 : 3000), n = 1 + random() % (i % 3 ? 3000 : 20);
    const int64_t k = 1 + random() % 2000, batch = i % 5 ? 1 : 1 + random() % 100;
    const int64_t limit = i % 7 ? 4000 : 96;
    const ProductPieces pieces =
        cut_product(m, n, k, batch, {0.01, 0.1, 0.1, 16, 48, limit, limit});
    std::vector<std::atomic<int>> covered(static_cast<size_t>(batch * m));
    std::vector<std::atomic<int>> told_of(static_cast<size_t>(batch * m));
    auto told = [&](const Panel& panel) {
      for (int64_t r = panel.row; r < panel.row + panel.rows; ++r) {
        told_of[static_cast<size_t>(r)] += static_cast<int>(panel.columns);
      }
    };
    const PanelDone done(told);
    const bool all =
        for_each_piece(pieces, batch, &done, [&](int64_t product, int64_t row, int64_t column) {
          const int64_t columns = std::min(pieces.columns, n - column);
          for (int64_t r = row; r < std::min(m, row + pieces.rows); ++r) {
            covered[product * m + r] += static_cast<int>(columns);
          }
          return true;
        });
    CHECK(all);
    CHECK(pieces.rows <= limit);
    CHECK(pieces.columns <= limit);
    for (const std::atomic<int>& columns : covered) REQUIRE(columns == n);
    for (const std::atomic<int>& columns : told_of) REQUIRE(columns == n);
  }
}

TEST_CASE("matrices that broadcast over a batch are found by their offsets") {
  Product<float> one_b(5, 6, 7, {0, 1, 2, 3}, {0, 0, 0, 0});
  REQUIRE(matmul(one_b.arguments).ok());
  CHECK(one_b.error() <= 1);
  Product<double> one_a(5, 6, 7, {0, 0, 0}, {2, 1, 0});
  REQUIRE(matmul(one_a.arguments).ok());
  CHECK(one_a.error() <= 1);
  std::vector<int64_t> many(1000);
  for (int64_t i = 0; i < 1000; ++i) many[i] = i;
  Product<int32_t> small(3, 2, 4, many, many);
  REQUIRE(matmul(small.arguments).ok());
  CHECK(small.error() <= 1);
}

TEST_CASE("a product over nothing is zero, and told of") {
  for (int64_t rows : {3, 5000}) {
    Product<float> product(rows, 5, 0, {0, 0}, {0, 0});
    PanelLog log(product.c.data(), 2 * rows, 5, sizeof(float));
    product.arguments.done = log.done();
    REQUIRE(matmul(product.arguments).ok());
    CHECK(std::ranges::all_of(product.c, [](float x) { return x == 0; }));
    CHECK(log.error() == "");
    CHECK((log.num_panels > 1) == (rows > 3));
  }
}

TEST_CASE("a product without rows, columns or matrices does nothing") {
  CHECK(matmul(Product<float>(0, 5, 3, {0}, {0}).arguments).ok());
  CHECK(matmul(Product<double>(5, 0, 3, {0}, {0}).arguments).ok());
  CHECK(matmul(Product<double>(5, 4, 3, {}, {}).arguments).ok());
}

TEST_CASE("each element is told of once, whatever computes it and however it is cut") {
  auto check = [](auto zero, int64_t m, int64_t n, int64_t k, std::vector<int64_t> of_a,
                  std::vector<int64_t> of_b, int least_panels) {
    using T = decltype(zero);
    Product<T> product(m, n, k, of_a, of_b);
    PanelLog log(product.c.data(), static_cast<int64_t>(of_a.size()) * m, n, sizeof(T));
    product.arguments.done = log.done();
    CAPTURE(dtype_name(kDTypeOf<T>));
    CAPTURE(m);
    CAPTURE(n);
    CAPTURE(k);
    REQUIRE(matmul(product.arguments).ok());
    CHECK(log.error() == "");
    CHECK(log.num_panels >= least_panels);
  };
  std::vector<int64_t> many(1000), same(1000, 0);
  for (int64_t i = 0; i < 1000; ++i) many[i] = i;
  check(0.0f, 300, 401, 302, {0}, {0}, 2);  // oneDNN, in pieces
  check(0.0f, 8, 3000, 600, {0}, {0}, 2);   // few rows
  check(0.0f, 70, 40, 50, {0, 1, 2, 3}, {3, 2, 1, 0}, 1);
  check(0.0f, 64, 64, 64, {0, 1, 2, 3}, {0, 0, 0, 0}, 1);  // one tall product
  check(0.0f, 3, 2, 4, many, many, 1);                     // many small ones
  check(0.0f, 20, 30, 4, many, same, 2);
  check(0.0, 300, 401, 302, {0}, {0}, 2);       // blocked
  check(0.0, 3000, 1, 302, {0, 0}, {0, 1}, 2);  // rows times a vector
  check(int64_t{0}, 30, 1, 70, {0}, {0}, 1);
  check(Half(), 200, 101, 302, {0, 1}, {0, 1}, 2);
  check(std::complex<float>(), 100, 101, 102, {0}, {0}, 2);
}

TEST_CASE("nothing is told of blocks for which there was no memory") {
  Product<double> product(500, 400, 300, {0}, {0});
  PanelLog log(product.c.data(), 500, 400, sizeof(double));
  product.arguments.done = log.done();
  const int64_t limit = Allocator::host().limit();
  Allocator::host().set_limit(0);
  CHECK(matmul(product.arguments).code() == Code::kResourceExhausted);
  Allocator::host().set_limit(limit);
  CHECK(log.num_panels == 0);
}

TEST_CASE("bool is refused by name") {
  MatMulArguments arguments = Product<float>(2, 2, 2, {0}, {0}).arguments;
  arguments.dtype = DType::kBool;
  CHECK(matmul(arguments).message() == "[MatMul] takes a dtype of numbers, but got bool");
}

template <typename T>
void check_bits(int64_t m, int64_t n, int64_t k, size_t batch, bool transpose_a = false) {
  std::vector<int64_t> matrices(batch);
  for (size_t i = 0; i < batch; ++i) matrices[i] = static_cast<int64_t>(i);
  Product<T> product(m, n, k, matrices, matrices);
  product.arguments.transpose_a = transpose_a;
  std::vector<T> first;
  for (int threads : {1, 2, 3}) {
    ThreadPool::shared().set_num_threads(threads);
    REQUIRE(matmul(product.arguments).ok());
    if (first.empty()) first = product.c;
    CHECK(std::memcmp(first.data(), product.c.data(), first.size() * sizeof(T)) == 0);
  }
  ThreadPool::shared().set_num_threads(0);
}

TEST_CASE("any number of threads gives the same bits") {
  check_bits<float>(300, 301, 302, 1);
  check_bits<float>(1, 1000, 768, 1);
  check_bits<float>(3, 1000, 768, 1);
  check_bits<float>(2000, 10, 300, 1);
  check_bits<float>(128, 512, 512, 1);
  check_bits<float>(512, 1024, 300, 1, /*transpose_a=*/true);
  check_bits<float>(70, 40, 50, 30);
  check_bits<double>(300, 301, 302, 1);
  check_bits<std::complex<float>>(100, 101, 102, 3);
  check_bits<Half>(200, 101, 302, 1);
}

TEST_CASE("a product allocates nothing from the system in steady state") {
  Product<double> product(500, 400, 300, {0}, {0});
  REQUIRE(matmul(product.arguments).ok());
  const int64_t before = Allocator::host().stats().num_system_allocations;
  for (int i = 0; i < 5; ++i) REQUIRE(matmul(product.arguments).ok());
  CHECK(Allocator::host().stats().num_system_allocations <= before + 1);
}

TEST_CASE("no memory for the blocks is a ResourceExhaustedError") {
  Product<double> product(50, 40, 30, {0}, {0});
  const int64_t limit = Allocator::host().limit();
  Allocator::host().set_limit(0);
  const Status status = matmul(product.arguments);
  Allocator::host().set_limit(limit);
  CHECK(status.code() == Code::kResourceExhausted);
}

TEST_CASE("oneDNN is there, or the reason is told") {
  if (onednn_is_available()) {
    CHECK(onednn_unavailable_reason().empty());
  } else {
    CHECK(onednn_unavailable_reason().find("libgraven_onednn.so") != std::string::npos);
  }
}

// A Ctrl-C, or a profiler's timer, during a product corrupted the heap.
TEST_CASE("signals in the middle of products do no harm") {
  constexpr int64_t n = 700;
  struct sigaction handler = {}, before = {};
  handler.sa_handler = [](int) {};
  sigaction(SIGALRM, &handler, &before);
  itimerval every_millisecond = {{0, 1000}, {0, 1000}}, never = {};
  setitimer(ITIMER_REAL, &every_millisecond, nullptr);
  std::vector<float> a(n * n, 1.0f), c(n * n);
  const int64_t zero[] = {0};
  bool is_right = true;
  for (int repeat = 0; repeat < 20 && is_right; ++repeat) {
    MatMulArguments product = {};
    product.dtype = DType::kFloat32;
    product.m = product.n = product.k = n;
    product.a = product.b = a.data();
    product.c = c.data();
    product.a_offsets = product.b_offsets = zero;
    is_right =
        matmul(product).ok() && std::all_of(c.begin(), c.end(), [](float x) { return x == n; });
    std::vector<std::vector<char>> blocks;  // a heap that was overwritten aborts here
    for (int i = 1; i < 64; ++i) blocks.emplace_back(1000 * i);
  }
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  CHECK(is_right);
}

}  // namespace
}  // namespace graven::engine
