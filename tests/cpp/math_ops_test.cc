#include <doctest/doctest.h>
#include <graven/graven.h>

#include <cmath>
#include <complex>
#include <limits>

using graven::Axes;
using graven::DType;
using graven::Shape;
using graven::Tensor;
namespace linalg = graven::linalg;
namespace math = graven::math;

namespace {

std::vector<float> floats(const Tensor& x) { return x.to_vector<float>(); }
const float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("functions have the names of Python's modules too") {
  CHECK(math::reduce_sum(Tensor{1.0, 2.0}).item<float>() == 3);
  CHECK(math::abs(-2).item<int32_t>() == 2);
  CHECK(linalg::matmul(Tensor{{2.0}}, Tensor{{3.0}}).item<float>() == 6);
}

TEST_CASE("reduce_logsumexp does not overflow, and of nothing but -inf is -inf") {
  CHECK(graven::reduce_logsumexp(Tensor{1000.0, 1000.0}).item<float>() ==
        doctest::Approx(1000 + std::log(2.0)));
  Tensor x = {{0.0, 0.0}, {-kInfinity, -kInfinity}};
  std::vector<float> rows = floats(graven::reduce_logsumexp(x, 1));
  CHECK(rows[0] == doctest::Approx(std::log(2.0)));
  CHECK(rows[1] == -kInfinity);
  CHECK(graven::reduce_logsumexp(x, 1, /*keepdims=*/true).shape() == Shape{2, 1});
}

TEST_CASE("variance and standard deviation") {
  Tensor x = {{1.0, 3.0}, {5.0, 5.0}};
  CHECK(floats(math::reduce_variance(x, 1)) == std::vector<float>{1, 0});
  CHECK(math::reduce_std(Tensor{1.0, 3.0}).item<float>() == 1);
  CHECK_THROWS_WITH_AS(math::reduce_variance(Tensor{1, 3}), doctest::Contains("real or complex"),
                       graven::Error);
}

TEST_CASE("what is reduced whole is a scalar, also of unknown rank") {
  auto f = graven::function([](const Tensor& x) {
    CHECK(graven::reduce_sum(x).shape() == Shape{});
    CHECK(math::reduce_euclidean_norm(x).shape() == Shape{});
    CHECK_FALSE(graven::reduce_sum(x, {}, /*keepdims=*/true).shape().has_rank());
    return graven::reduce_mean(x);
  });
  auto concrete = f.get_concrete_function(graven::TensorSpec{Shape::unknown_rank()});
  CHECK(concrete(Tensor{{1.0, 3.0}}).item<float>() == 2);
}

TEST_CASE("elements are counted and summed up to each place") {
  CHECK(math::count_nonzero(Tensor{{1, 0}, {2, 3}}, 0).to_vector<int64_t>() ==
        std::vector<int64_t>{2, 1});
  CHECK(math::count_nonzero(Tensor{"", "a"}).item<int64_t>() == 1);
  CHECK(math::zero_fraction(Tensor{0, 1, 0, 0}).item<float>() == 0.75f);
  CHECK(math::zero_fraction(Tensor{true, false}).item<float>() == 0.5f);
  CHECK(math::zero_fraction(Tensor{"", "a", "b", "c"}).item<float>() == 0.25f);
  CHECK(floats(graven::cumsum(Tensor{1.0, 2.0, 3.0})) == std::vector<float>{1, 3, 6});
  CHECK(floats(graven::cumsum(Tensor{1.0, 2.0, 3.0}, 0, true, true)) ==
        std::vector<float>{5, 3, 0});
  CHECK(floats(math::cumprod(Tensor{2.0, 3.0, 4.0})) == std::vector<float>{2, 6, 24});
  CHECK(floats(math::accumulate_n({Tensor{1.0}, Tensor{2.0}, Tensor{3.0}})) ==
        std::vector<float>{6});
}

TEST_CASE("quotients without NaN") {
  CHECK(floats(math::divide_no_nan(Tensor{1.0, 4.0}, Tensor{0.0, 2.0})) ==
        std::vector<float>{0, 2});
  CHECK(math::divide_no_nan(7, 2).item<double>() == 3.5);
  CHECK(graven::truediv(7, 2).item<double>() == 3.5);
}

TEST_CASE("scalar_mul takes a scalar") {
  CHECK(floats(graven::scalar_mul(2, Tensor{1.0, 2.0})) == std::vector<float>{2, 4});
  CHECK_THROWS_WITH_AS(graven::scalar_mul(Tensor{1.0, 2.0}, Tensor{1.0, 2.0}),
                       doctest::Contains("must be a 0-D value"), graven::Error);
}

TEST_CASE("parts of complex numbers, and of real ones") {
  Tensor z = graven::complex(Tensor{3.0, 0.0}, Tensor{4.0, -1.0});
  CHECK(z.dtype() == DType::kComplex64);
  CHECK(floats(math::real(z)) == std::vector<float>{3, 0});
  CHECK(floats(math::imag(z)) == std::vector<float>{4, -1});
  CHECK(floats(math::imag(math::conj(z))) == std::vector<float>{-4, 1});
  CHECK(math::angle(z).to_vector<float>()[1] == doctest::Approx(-1.5707964));
  CHECK(floats(graven::abs(z)) == std::vector<float>{5, 1});
  CHECK(floats(math::angle(Tensor{-1.0, 1.0})) == std::vector<float>{3.14159265f, 0});
  CHECK(floats(math::imag(Tensor{2.0})) == std::vector<float>{0});
}

TEST_CASE("exclusive or, log_sigmoid and l2_normalize") {
  Tensor a = {false, true, true}, b = {true, true, false};
  CHECK(math::logical_xor(a, b).to_vector<bool>() == std::vector<bool>{true, false, true});
  CHECK(math::log_sigmoid(0.0).item<float>() == doctest::Approx(-std::log(2.0)));
  std::vector<float> unit = floats(math::l2_normalize(Tensor{3.0, 4.0}));
  CHECK(unit[0] == doctest::Approx(0.6));
  CHECK(unit[1] == doctest::Approx(0.8));
  CHECK(floats(graven::nn::l2_normalize(Tensor{0.0})) == std::vector<float>{0});
}

// They were divided by the root of a complex square, and Maximum takes no complex numbers.
TEST_CASE("l2_normalize divides complex numbers by their length") {
  Tensor z = graven::complex(Tensor{3.0, 0.0}, Tensor{0.0, -4.0});
  Tensor unit = math::l2_normalize(z);
  CHECK(unit.dtype() == DType::kComplex64);
  CHECK(floats(math::real(unit))[0] == doctest::Approx(0.6));
  CHECK(floats(math::imag(unit))[1] == doctest::Approx(-0.8));
}

TEST_CASE("norms of vectors and matrices") {
  Tensor x = {{3.0, -4.0}, {0.0, 5.0}};
  CHECK(graven::norm(Tensor{3.0, 4.0}).item<float>() == 5);
  CHECK(floats(graven::norm(x, 1, 1)) == std::vector<float>{7, 5});
  CHECK(floats(graven::norm(x, kInfinity, 1)) == std::vector<float>{4, 5});
  CHECK(linalg::norm(x, "fro", {0, 1}).item<float>() == doctest::Approx(std::sqrt(50.0)));
  CHECK(graven::norm(Tensor{1.0, 1.0}, 4).item<float>() == doctest::Approx(std::pow(2, 0.25)));
  CHECK(math::real(graven::norm(graven::complex(3.0, 4.0))).item<float>() == 5);
  CHECK_THROWS_WITH_AS(graven::norm(x, -1), doctest::Contains("'ord' must be a supported"),
                       graven::Error);
  CHECK(graven::norm(x, 1, {0, 1}).item<float>() == 9);
  CHECK(graven::norm(x, kInfinity, {0, 1}).item<float>() == 7);
  CHECK(graven::norm(x, 2, {0, 1}).item<float>() == doctest::Approx(std::sqrt(45.0)));
}

TEST_CASE("tensordot contracts trailing and leading axes, or those that are named") {
  Tensor a = {{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}, b = {{1.0, 0.0}, {0.0, 1.0}, {1.0, 1.0}};
  CHECK(floats(graven::tensordot(a, b, 1)) == std::vector<float>{4, 5, 10, 11});
  CHECK(graven::tensordot(a, b, 0).shape() == Shape{2, 3, 3, 2});
  Tensor both = graven::tensordot(a, b, {{0, -1}, {1, 0}});
  CHECK(both.shape() == Shape{});
  CHECK(both.item<float>() == 1 + 3 + 5 + 6);
  CHECK_THROWS_WITH_AS(graven::tensordot(a, b, 3), doctest::Contains("not larger than"),
                       graven::Error);
  CHECK_THROWS_WITH_AS(graven::tensordot(a, b, {{2}, {0}}), doctest::Contains("has no axis 2"),
                       graven::Error);
}

TEST_CASE("matvec multiplies matrices and vectors") {
  Tensor a = {{1.0, 2.0}, {3.0, 4.0}}, b = {1.0, -1.0};
  CHECK(floats(linalg::matvec(a, b)) == std::vector<float>{-1, -1});
  CHECK(floats(linalg::matvec(a, b, /*transpose_a=*/true)) == std::vector<float>{-2, -2});
}

TEST_CASE("a function that is made of others names the user's line") {
  Tensor rows = {1.0, 2.0}, more = {1.0, 2.0, 3.0};
  auto message = [&](auto call) -> std::string {
    try {
      call();
    } catch (const graven::Error& error) {
      CHECK(std::string(error.where().file_name()).ends_with("math_ops_test.cc"));
      return error.what();
    }
    return "";
  };
  CHECK(message([&] { math::reduce_std(rows, 1); }).find("math_ops_test.cc") != std::string::npos);
  CHECK(message([&] { math::logical_xor(rows, more); }).find("math_ops_test.cc") !=
        std::string::npos);
  // The line of one call is forgotten after it.
  CHECK(message([&] { rows + more; }).find("math_ops_test.cc") != std::string::npos);
}

TEST_CASE("functions that are made of others are traced and differentiated") {
  auto f = graven::function([](const Tensor& x) { return graven::reduce_logsumexp(x); });
  Tensor x = {0.0, 0.0};
  CHECK(f(x).item<float>() == graven::reduce_logsumexp(x).item<float>());
  graven::GradientTape tape;
  tape.watch(x);
  CHECK(floats(tape.gradient(f(x), x)) == std::vector<float>{0.5f, 0.5f});
}
