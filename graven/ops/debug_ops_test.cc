#include "graven/ops/debug_ops.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "graven/ops/tensor_summary.h"
#include "graven/ops/testing.h"

namespace graven::engine {
namespace {

Tensor counted(const Shape& shape) {
  std::vector<int32_t> values(static_cast<size_t>(shape.num_elements()));
  std::iota(values.begin(), values.end(), 0);
  return tensor_of<int32_t>(shape, values);
}

}  // namespace

// The expected texts are those of tf.strings.format in TensorFlow 2.21.
TEST_CASE("tensors are written as TensorFlow writes them") {
  struct Row {
    Tensor x;
    const char* expected;
    int64_t ends = 3;
  };
  Tensor half = *Tensor::allocate(DType::kHalf, {2});
  half.mutable_data<Half>()[0] = Half(0.1f);
  half.mutable_data<Half>()[1] = Half(1.5f);
  Tensor truth = *Tensor::allocate(DType::kBool, {2});
  truth.mutable_data<bool>()[0] = true;
  truth.mutable_data<bool>()[1] = false;
  const float inf = INFINITY;
  const Row rows[] = {
      {Tensor::scalar(int32_t{10}), "10"},
      {vector_of<float>({0.395097852f, 1, 2.5f, 1e10f, 1e-7f, NAN, inf, -inf, 16777217.f, 0.1f,
                         1e20f, 123456.789f, -0.0f}),
       "[0.395097852 1 2.5 1e+10 1e-07 nan inf -inf 16777216 0.1 1e+20 123456.789 -0]", 20},
      {vector_of<double>({0.1, 1.0 / 3, 1e300, 1e16, 12345678901234567.0, 1e15}),
       "[0.1 0.33333333333333331 1e+300 1e+16 12345678901234568 1e+15]", 20},
      {half, "[0.0999755859 1.5]"},
      {truth, "[1 0]"},
      {vector_of<uint8_t>({1, 200}), "[1 200]"},
      {vector_of<int8_t>({1, -100}), "[1 -100]"},
      {vector_of<uint64_t>({~uint64_t{0}}), "[18446744073709551615]"},
      {vector_of<std::complex<float>>({{1, 2}, {0, 1}}), "[? ?]"},
      {vector_of<std::string>({"a\"b\n\\", "\x01\xc3\xa9"}),
       "[\"a\\\"b\\n\\\\\" \"\\001\xc3\xa9\"]"},
      {Tensor::string_scalar("q"), "\"q\""},
      {counted({10}), "[0 1 2 ... 7 8 9]"},
      {counted({6}), "[0 1 2 3 4 5]"},
      {counted({7}), "[0 1 2 ... 4 5 6]"},
      {counted({2, 2}), "[[0 1]\n [2 3]]"},
      {counted({8, 8}),
       "[[0 1 2 ... 5 6 7]\n [8 9 10 ... 13 14 15]\n [16 17 18 ... 21 22 23]\n ...\n"
       " [40 41 42 ... 45 46 47]\n [48 49 50 ... 53 54 55]\n [56 57 58 ... 61 62 63]]"},
      {counted({2, 2, 2}), "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]"},
      {counted({2, 2, 2, 2}),
       "[[[[0 1]\n   [2 3]]\n\n  [[4 5]\n   [6 7]]]\n\n\n [[[8 9]\n   [10 11]]\n\n"
       "  [[12 13]\n   [14 15]]]]"},
      {counted({0}), "[]"},
      {counted({2, 0}), "[\n ...]"},
      {counted({0, 2}), "[]"},
      {counted({2, 10}), "[[0 1 2 3 4 5 6 7 8 9]\n [10 11 12 13 14 15 16 17 18 19]]", -1},
      {counted({3}), "[0 ... 2]", 1},
      {counted({3}), "[ ...]", 0},
  };
  for (const Row& row : rows) CHECK(summarize_ends(row.x, row.ends) == row.expected);
}

TEST_CASE("a failed assertion shows the first elements of its data") {
  Tensor no = Tensor::scalar(false);
  auto message = [&](const Tensor& data) {
    return error_of(kAssert, {no, data}, {.T = {data.dtype()}});
  };
  CHECK(message(Tensor::scalar(int32_t{10})) == "[Assert] assertion failed: [10]");
  CHECK(message(counted({10})) == "[Assert] assertion failed: [0 1 2...]");
  CHECK(message(counted({4, 4})) == "[Assert] assertion failed: [[0 1 2...]...]");
  CHECK(message(counted({2, 2, 2})) == "[Assert] assertion failed: [[[0 1][2...]]...]");
  CHECK(message(counted({2, 0})) == "[Assert] assertion failed: []");
  CHECK(error_of(kAssert, {no, Tensor::string_scalar("a\"b"), vector_of<float>({0.1f, 1.5f})},
                 {.T = {DType::kString, DType::kFloat32}}) ==
        "[Assert] assertion failed: [a\\\"b] [0.1 1.5]");
  CHECK(error_of(kAssert, {Tensor::scalar(true), counted({2})}, {.T = {DType::kInt32}}).empty());
}

TEST_CASE("numbers that are none are found") {
  auto v1 = [](const Tensor& x) { return error_of(kCheckNumerics, {x}, {.message = "here"}); };
  auto v2 = [](const Tensor& x) { return error_of(kCheckNumericsV2, {x}, {.message = "here"}); };
  Tensor both = vector_of<float>({1, NAN, -INFINITY});
  CHECK(v1(both) == "[CheckNumerics] here : Tensor had Inf and NaN values");
  CHECK(v2(both) == "[CheckNumericsV2] here : Tensor had -Inf and NaN values");
  CHECK(v2(vector_of<double>({INFINITY})) == "[CheckNumericsV2] here : Tensor had +Inf values");
  Tensor fine = vector_of<float>({1, 2});
  CHECK(values_of<float>(run(kCheckNumerics, {fine})) == std::vector<float>{1, 2});
}

TEST_CASE("strings are formatted and joined") {
  Tensor text =
      run(kStringFormat, {counted({2}), Tensor::string_scalar("s")},
          {.T = {DType::kInt32, DType::kString}, .text = "a {} b {}.", .placeholder = "{}"});
  CHECK(values_of<std::string>(text)[0] == "a [0 1] b \"s\".");
  CHECK(error_of(kStringFormat, {counted({2})}, {.T = {DType::kInt32}, .text = "%s %s"}) ==
        "[StringFormat] num placeholders in template and num inputs must match: 2 vs. 1");
  CHECK(values_of<std::string>(run(kStringJoin,
                                   {vector_of<std::string>({"a", "b"}), Tensor::string_scalar("c")},
                                   {.separator = "-"})) == std::vector<std::string>{"a-c", "b-c"});
}

TEST_CASE("an unknown stream is an error that lists the known ones") {
  CHECK(error_of(kPrintV2, {Tensor::string_scalar("x")}, {.output_stream = "nowhere"})
            .find("Unknown output stream 'nowhere'") != std::string::npos);
}

}  // namespace graven::engine
