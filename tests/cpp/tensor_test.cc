#include <doctest/doctest.h>
#include <graven/graven.h>

#include <cmath>
#include <limits>

using graven::DType;
using graven::Shape;
using graven::Tensor;

TEST_CASE("numbers and lists become tensors as tf.constant makes them") {
  CHECK(Tensor(2).dtype() == DType::kInt32);
  CHECK(Tensor(2.0).dtype() == DType::kFloat32);
  CHECK(Tensor(int64_t{2}).dtype() == DType::kInt64);
  CHECK(Tensor(true).dtype() == DType::kBool);
  CHECK(Tensor("a").dtype() == DType::kString);
  CHECK(Tensor({1, 2, 3}).dtype() == DType::kInt32);
  CHECK(Tensor({1.0, 2.0}).dtype() == DType::kFloat32);
  CHECK(Tensor({1, 2.5}).dtype() == DType::kFloat32);
  CHECK(Tensor({int64_t{1} << 40, 1}).dtype() == DType::kInt64);
  CHECK(Tensor({true, false}).dtype() == DType::kBool);
  CHECK(Tensor({"a", "b"}).dtype() == DType::kString);
  CHECK(Tensor({{1, 2}, {3, 4}, {5, 6}}).shape() == Shape{3, 2});
  CHECK(Tensor({{1.0}, {2.0}}).shape() == Shape{2, 1});
  CHECK_THROWS_AS(Tensor({"a", 1}), graven::Error);
}

TEST_CASE("rows of different lengths are no tensor") {
  CHECK_THROWS_WITH_AS(Tensor({{1, 2}, {3}}), doctest::Contains("non-rectangular"), graven::Error);
}

TEST_CASE("tensors print as in Python") {
  CHECK(Tensor(2).to_string() == "tf.Tensor(2, shape=(), dtype=int32)");
  CHECK(Tensor(2.0).to_string() == "tf.Tensor(2.0, shape=(), dtype=float32)");
  CHECK(Tensor("aa").to_string() == "tf.Tensor(b'aa', shape=(), dtype=string)");
  CHECK(Tensor({1.0, 2.5}).to_string() == "tf.Tensor([1.  2.5], shape=(2,), dtype=float32)");
  CHECK(Tensor({1, -20}).to_string() == "tf.Tensor([  1 -20], shape=(2,), dtype=int32)");
  CHECK(Tensor({{1, 2}, {3, 4}}).to_string() ==
        "tf.Tensor(\n[[1 2]\n [3 4]], shape=(2, 2), dtype=int32)");
  CHECK(Tensor({true, false}).to_string() == "tf.Tensor([ True False], shape=(2,), dtype=bool)");
  CHECK(Tensor(2).repr() == "<tf.Tensor: shape=(), dtype=int32, numpy=2>");
  CHECK(Tensor({1, 2}).repr() ==
        "<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>");
}

TEST_CASE("floats print with the digits that NumPy gives them") {
  auto text = [](std::initializer_list<graven::Element> values) {
    std::string whole = Tensor(values).to_string();
    return whole.substr(10, whole.find(", shape") - 10);
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  CHECK(text({0.1, 100}) == "[  0.1 100. ]");
  CHECK(text({1e-5, 1}) == "[1.e-05 1.e+00]");
  CHECK(text({1.5e8, 2}) == "[1.5e+08 2.0e+00]");
  CHECK(text({1.0 / 3}) == "[0.33333334]");
  CHECK(text({std::nan(""), -1.5}) == "[ nan -1.5]");
  CHECK(text({kInfinity, -kInfinity, 1}) == "[ inf -inf   1.]");
}

TEST_CASE("long vectors are broken into lines and large ones abridged") {
  std::vector<int32_t> numbers(30);
  for (int i = 0; i < 30; ++i) numbers[i] = 1000 + i;
  CHECK(Tensor::of(numbers, Shape{30}).to_string() ==
        "tf.Tensor(\n[1000 1001 1002 1003 1004 1005 1006 1007 1008 1009 1010 1011 1012 1013\n"
        " 1014 1015 1016 1017 1018 1019 1020 1021 1022 1023 1024 1025 1026 1027\n"
        " 1028 1029], shape=(30,), dtype=int32)");
  std::vector<int32_t> many(2000, 7);
  CHECK(Tensor::of(many, Shape{2000}).to_string() ==
        "tf.Tensor([7 7 7 ... 7 7 7], shape=(2000,), dtype=int32)");
}

TEST_CASE("arithmetic broadcasts and numbers take the dtype of tensors") {
  Tensor x = {1.0, 2.0};
  CHECK((x + 1).to_vector<float>() == std::vector<float>{2, 3});
  CHECK((2.0 * x - x).to_vector<float>() == std::vector<float>{1, 2});
  CHECK((-x / 4).to_vector<float>() == std::vector<float>{-0.25f, -0.5f});
  CHECK((Tensor({7, -7}) % 3).to_vector<int32_t>() == std::vector<int32_t>{1, 2});
  CHECK((Tensor({{1.0, 2.0}, {3.0, 4.0}}) + x).to_vector<float>() ==
        std::vector<float>{2, 4, 4, 6});
}

TEST_CASE("integers are divided as float64, as Python's / does") {
  Tensor half = Tensor(1) / 2;
  CHECK(half.dtype() == DType::kFloat64);
  CHECK(half.item<double>() == 0.5);
}

// It was refused as an op that takes no bool.
TEST_CASE("the product of bools is bool") {
  Tensor x = {true, false};
  CHECK((x * Tensor{true, true}).to_vector<bool>() == std::vector<bool>{true, false});
  CHECK((x * true).to_vector<bool>() == std::vector<bool>{true, false});
  CHECK((false * x).to_vector<bool>() == std::vector<bool>{false, false});
  CHECK_THROWS_AS(x * 1, graven::Error);
  CHECK_THROWS_AS(x * Tensor(1), graven::Error);
}

TEST_CASE("comparisons and logic give bool") {
  Tensor x = {1.0, 2.0, 3.0};
  Tensor inside = (x > 1) & (x <= 2.5);
  CHECK(inside.to_vector<bool>() == std::vector<bool>{false, true, false});
  CHECK((~inside).to_vector<bool>() == std::vector<bool>{true, false, true});
  CHECK((inside ^ (x < 2)).to_vector<bool>() == std::vector<bool>{true, true, false});
  CHECK((Tensor(6) & 3).item<int32_t>() == 2);
}

TEST_CASE("an eager scalar is a condition, its value counts") {
  Tensor x = 0.0;
  CHECK_FALSE(static_cast<bool>(x));
  int steps = 0;
  while (x < 3) {
    x = x + 1;
    ++steps;
  }
  CHECK(steps == 3);
}

TEST_CASE("the truth of several elements is an error") {
  Tensor x = {1.0, 2.0};
  CHECK_THROWS_WITH_AS(static_cast<void>(static_cast<bool>(x)), doctest::Contains("ambiguous"),
                       graven::Error);
}

TEST_CASE("values are asked for by their own dtype") {
  CHECK_THROWS_WITH_AS(Tensor(1.0).item<int32_t>(),
                       doctest::Contains("has dtype float32, its values were asked for as int32"),
                       graven::Error);
  CHECK_THROWS_WITH_AS(Tensor({1.0, 2.0}).item<float>(), doctest::Contains("one element"),
                       graven::Error);
}

TEST_CASE("a tensor of values has as many as its shape says") {
  CHECK_THROWS_WITH_AS(Tensor::of(std::vector<float>{1, 2, 3}, Shape{2, 2}),
                       doctest::Contains("needs 4 elements, got 3"), graven::Error);
}

TEST_CASE("the repr of several lines begins on a line of its own") {
  CHECK(Tensor({{1, 2}, {3, 4}}).repr() ==
        "<tf.Tensor: shape=(2, 2), dtype=int32, numpy=\narray([[1, 2],\n       [3, 4]], "
        "dtype=int32)>");
  CHECK(Tensor::of(std::vector<int64_t>(2000, 7), Shape{2000}).repr() ==
        "<tf.Tensor: shape=(2000,), dtype=int64, numpy=array([7, 7, 7, ..., 7, 7, 7], "
        "shape=(2000,))>");
}
