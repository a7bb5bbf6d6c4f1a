#include <doctest/doctest.h>
#include <graven/graven.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>
#include <string>

using graven::DType;
using graven::Shape;
using graven::Tensor;
namespace debugging = graven::debugging;

namespace {

// What print writes.
std::string printed(const std::vector<graven::Printable>& inputs,
                    graven::PrintOptions options = {}) {
  std::string path = std::filesystem::temp_directory_path() / "graven_debug_ops_test.txt";
  std::filesystem::remove(path);
  options.output_stream = "file://" + path;
  graven::print(inputs, options);
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  return text.str();
}

}  // namespace

TEST_CASE("print writes texts, numbers as Python does, and the elements of tensors") {
  CHECK(printed({"loss:", Tensor{1.5, 2.0}}) == "loss: [1.5 2]\n");
  CHECK(printed({1, 0.5, 3.0, true}) == "1 0.5 3.0 True\n");
  CHECK(printed({"{}", Tensor(3)}) == "{} 3\n");
  CHECK(printed({Tensor("a")}) == "a\n");
  CHECK(printed({Tensor(1), Tensor(2)}, {.sep = ",", .end = ";"}) == "1,2;");
  CHECK(printed({graven::range(9)}, {.summarize = 1}) == "[0 ... 8]\n");
  CHECK(printed({graven::Variable(4.0)}) == "4\n");
  CHECK_THROWS_AS(graven::print({"x"}, {.output_stream = "nowhere"}), graven::Error);
}

TEST_CASE("a traced print writes with every call") {
  std::string path = std::filesystem::temp_directory_path() / "graven_traced_print_test.txt";
  std::filesystem::remove(path);
  auto f = graven::function([&](const Tensor& x) {
    graven::print({"x is", x}, {.output_stream = "file://" + path});
    return x;
  });
  f(Tensor(1));
  f(Tensor(2));
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  CHECK(text.str() == "x is 1\nx is 2\n");
}

TEST_CASE("comparisons that hold say nothing, others show the elements") {
  Tensor x = {1, 2};
  debugging::assert_equal(x, {1, 2});
  debugging::assert_none_equal(x, 3);
  debugging::assert_less(x, 3);
  debugging::assert_less_equal(x, 2);
  debugging::assert_greater(x, 0);
  debugging::assert_greater_equal(x, 1);
  debugging::assert_positive(x);
  debugging::assert_negative(-x);
  debugging::assert_non_negative({0, 1});
  debugging::assert_non_positive({0, -1});
  CHECK_THROWS_WITH_AS(
      debugging::assert_equal(x, {1, 3}, "labels"),
      doctest::Contains("labels\nCondition x == y did not hold.\nIndices of first 1 "
                        "different values:\n[[1]]\nCorresponding x values:\n"
                        "[2]\nCorresponding y values:\n[3]\nFirst 2 elements "
                        "of x:\n[1 2]\nFirst 2 elements of y:\n[1 3]"),
      graven::Error);
  CHECK_THROWS_WITH_AS(debugging::assert_positive({1, 0}),
                       doctest::Contains("Condition x > 0 did not hold element-wise:"),
                       graven::Error);
  try {
    debugging::assert_less(x, 2);
    FAIL("it does not hold");
  } catch (const graven::Error& error) {
    CHECK(error.code() == graven::Code::kInvalidArgument);
    CHECK(std::string(error.where().file_name()).ends_with("debug_ops_test.cc"));
  }
}

TEST_CASE("a traced check fails when it runs") {
  auto f = graven::function([](const Tensor& x) {
    debugging::assert_positive(x, "rates");
    graven::Assert(x < 10, {"too large", x});
    return x + 1;
  });
  CHECK(f(Tensor(1)).item<int32_t>() == 2);
  CHECK_THROWS_WITH_AS(f(Tensor(-1)), doctest::Contains("rates"), graven::Error);
  CHECK_THROWS_WITH_AS(f(Tensor(-1)), doctest::Contains("debug_ops_test.cc"), graven::Error);
  CHECK_THROWS_WITH_AS(f(Tensor(10)), doctest::Contains("too large"), graven::Error);
  CHECK(f.experimental_get_tracing_count() == 1);
}

TEST_CASE("assert_near knows the precision of the dtype") {
  debugging::assert_near(1.0, 1.0 + 1e-7);
  CHECK_THROWS_AS(debugging::assert_near(1.0, 1.0001), graven::Error);
  debugging::assert_near(1.0, 1.05, 0.1);
  CHECK_THROWS_AS(debugging::assert_near(graven::cast(1.0, DType::kFloat64),
                                         graven::cast(Tensor(1.0f + 1e-6f), DType::kFloat64)),
                  graven::Error);
}

TEST_CASE("assert_near wants less than the tolerances, of floats") {
  CHECK_THROWS_WITH_AS(debugging::assert_near(1.0, 1.5, 0, 0.5),
                       doctest::Contains("x and y not equal to tolerance rtol = 0.0, atol = 0.5"),
                       graven::Error);
  CHECK_THROWS_AS(debugging::assert_near(1.0, 1.0, 0, 0), graven::Error);
  CHECK_THROWS_WITH_AS(debugging::assert_near(1, 1),
                       doctest::Contains("assert_near needs floats, not int32"), graven::Error);
}

TEST_CASE("assert_all_finite gives its argument") {
  Tensor x = {1.0, 2.0};
  CHECK(debugging::assert_all_finite(x, "weights").to_vector<float>() == std::vector<float>{1, 2});
  float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH_AS(debugging::assert_all_finite({1.0f, nan}, "weights"),
                       doctest::Contains("weights"), graven::Error);
  auto f =
      graven::function([](const Tensor& x) { return debugging::assert_all_finite(x, "weights"); });
  CHECK_THROWS_WITH_AS(f(Tensor{1.0f, nan}), doctest::Contains("weights"), graven::Error);
}

TEST_CASE("ranks and dtypes are checked at once") {
  Tensor x = {{1, 2}};
  debugging::assert_rank(x, 2);
  debugging::assert_rank_at_least(x, 1);
  debugging::assert_type(x, DType::kInt32);
  debugging::assert_integer(x);
  debugging::assert_rank_in(x, {1, 2});
  CHECK(debugging::assert_scalar(3).item<int32_t>() == 3);
  CHECK(debugging::assert_same_float_dtype({}) == DType::kFloat32);
  CHECK(debugging::assert_same_float_dtype({Tensor(1.0)}, DType::kFloat32) == DType::kFloat32);
  CHECK_THROWS_WITH_AS(debugging::assert_rank(x, 1, "rows"),
                       doctest::Contains("rows.  Tensor  must have rank 1.  Received rank 2, "
                                         "shape (1, 2)"),
                       graven::Error);
  CHECK_THROWS_WITH_AS(debugging::assert_rank_at_least(x, 3), doctest::Contains("at least 3"),
                       graven::Error);
  CHECK_THROWS_WITH_AS(debugging::assert_rank_in(x, {0, 1}),
                       doctest::Contains("must have rank in (0, 1).  Received rank 2"),
                       graven::Error);
  CHECK_THROWS_WITH_AS(debugging::assert_same_float_dtype({Tensor(1.0), x}),
                       doctest::Contains("type=tf.int32, must be of the same type (tf.float32)"),
                       graven::Error);
  CHECK_THROWS_WITH_AS(debugging::assert_same_float_dtype({x}),
                       doctest::Contains("Expected floating point type, got tf.int32"),
                       graven::Error);
  CHECK_THROWS_WITH_AS(debugging::assert_scalar(x),
                       doctest::Contains("Expected scalar shape, saw shape: (1, 2)"),
                       graven::Error);
  CHECK_THROWS_WITH_AS(debugging::assert_type(x, DType::kFloat32),
                       doctest::Contains("must be of type tf.float32; got tf.int32"),
                       graven::Error);
  CHECK_THROWS_WITH_AS(debugging::assert_integer(1.0),
                       doctest::Contains("Expected \"x\" to be integer type."), graven::Error);
}

TEST_CASE("an unknown rank is checked when it runs") {
  auto f = graven::function([](const Tensor& x) {
    debugging::assert_rank(x, 1);
    debugging::assert_rank_in(x, {0, 1});
    return x;
  });
  auto concrete = f.get_concrete_function(graven::TensorSpec{Shape::unknown_rank(), DType::kInt32});
  CHECK(concrete(Tensor{1, 2}).shape() == Shape{2});
  CHECK_THROWS_WITH_AS(concrete(Tensor(1)), doctest::Contains("must have rank] [1]"),
                       graven::Error);
}

namespace {

// Checks while it lives.
struct Checked {
  Checked() { debugging::enable_check_numerics(); }
  ~Checked() { debugging::disable_check_numerics(); }
};

std::string error_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const graven::Error& error) {
    CHECK(error.code() == graven::engine::Code::kInvalidArgument);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("enable_check_numerics names the op, the values and the lines that made NaN") {
  const Tensor x{1.0f, -1.0f};
  auto f = graven::function([](const Tensor& x) { return graven::math::log(x) + 1; });
  CHECK(std::isnan(f(x).to_vector<float>()[1]));
  {
    const Checked checked;
    const std::string eager = error_of([&] { graven::math::log(x); });
    CHECK(eager.find("output 0 of eagerly-executing op \"Log\"") != std::string::npos);
    CHECK(eager.find("# of +NaN elements: 1") != std::string::npos);
    const std::string traced = error_of([&] { f(x); });
    CHECK(traced.find("output 0 of graph op \"Log\"") != std::string::npos);
    CHECK(traced.find("debug_ops_test.cc (L") != std::string::npos);
    CHECK(f(Tensor{1.0f}).to_vector<float>()[0] == 1);
  }
  CHECK(std::isnan(f(x).to_vector<float>()[1]));
  CHECK(std::isnan(graven::math::log(x).to_vector<float>()[1]));
}

TEST_CASE("enable_check_numerics looks into staged ifs and loops, and their gradients") {
  auto f = graven::function([](Tensor x) {
    graven::State<Tensor> y = x, i = 0;
    while (graven::staged(i < 2)) {
      if (graven::staged(y > 0)) {
        y = graven::sqrt(y);
      } else {
        y = graven::math::log(y);
      }
      i = i + 1;
    }
    return Tensor(y);
  });
  auto gradient = [&](float at) {
    graven::GradientTape tape;
    Tensor x(at);
    tape.watch(x);
    return tape.gradient(f(x), x);
  };
  CHECK(std::isnan(f(Tensor(-1.0f)).item<float>()));
  const Checked checked;
  CHECK(f(Tensor(16.0f)).item<float>() == 2);
  CHECK(error_of([&] { f(Tensor(-1.0f)); }).find("graph op \"Log\"") != std::string::npos);
  CHECK(gradient(16).item<float>() > 0);
  CHECK(error_of([&] { gradient(0); }).find("Infinity or NaN") != std::string::npos);
}
