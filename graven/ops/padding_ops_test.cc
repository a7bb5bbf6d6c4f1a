#include "graven/ops/padding_ops.h"

#include <doctest/doctest.h>

#include <numeric>

#include "graven/ops/testing.h"

namespace graven::engine {
namespace {

using Ints = std::vector<int32_t>;
Tensor ints(const Ints& values) { return vector_of<int32_t>(values); }
Tensor matrix(const Ints& values) {
  return tensor_of<int32_t>({Dim(static_cast<int64_t>(values.size() / 2)), 2}, values);
}
bool says(const std::string& message, const char* phrase) {
  if (message.find(phrase) != std::string::npos) return true;
  MESSAGE("the message is: " << message);
  return false;
}

}  // namespace

TEST_CASE("paddings of zeros, of a value, and of mirrored elements") {
  Tensor x = tensor_of<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor paddings = matrix({0, 1, 1, 0});
  CHECK(values_of<int32_t>(run(kPad, {x, paddings})) == Ints{0, 1, 2, 3, 0, 4, 5, 6, 0, 0, 0, 0});
  CHECK(values_of<int32_t>(run(kPadV2, {x, paddings, Tensor::scalar(int32_t{9})})) ==
        Ints{9, 1, 2, 3, 9, 4, 5, 6, 9, 9, 9, 9});
  Tensor row = matrix({0, 0, 2, 2});
  CHECK(values_of<int32_t>(run(kMirrorPad, {x, row}, {.mode = "REFLECT"})) ==
        Ints{3, 2, 1, 2, 3, 2, 1, 6, 5, 4, 5, 6, 5, 4});
  CHECK(values_of<int32_t>(run(kMirrorPad, {x, row}, {.mode = "SYMMETRIC"})) ==
        Ints{2, 1, 1, 2, 3, 3, 2, 5, 4, 4, 5, 6, 6, 5});
  Tensor seven = tensor_of<int32_t>({1, 7}, {1, 1, 1, 1, 1, 1, 1});
  CHECK(values_of<int32_t>(run(kMirrorPadGrad, {seven, row}, {.mode = "REFLECT"})) ==
        Ints{2, 3, 2});
  CHECK(says(error_of(kPad, {x, matrix({0, -1, 0, 0})}), "Paddings must be non-negative: 0 -1"));
  CHECK(says(error_of(kMirrorPad, {x, matrix({2, 0, 0, 0})}, {.mode = "REFLECT"}),
             "paddings must be less than the dimension size: 2, 0 not less than 2"));
  Tensor none = tensor_of<int32_t>({0, 3}, {});
  CHECK(run(kMirrorPad, {none, row}, {.mode = "REFLECT"}).shape() == Shape({0, 7}));
  CHECK(says(error_of(kMirrorPad, {none, matrix({1, 0, 0, 0})}, {.mode = "REFLECT"}),
             "paddings must be less than the dimension size: 1, 0 not less than 0"));
  CHECK(says(error_of(kMirrorPad, {x, row}, {.mode = "WRAP"}), "REFLECT or SYMMETRIC"));
}

TEST_CASE("tiles, reversals and rolls") {
  Tensor x = tensor_of<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(values_of<int32_t>(run(kTile, {x, ints({2, 2})})) ==
        Ints{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6, 1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  CHECK(run(kTile, {x, ints({0, 2})}).shape() == Shape({0, 6}));
  CHECK(values_of<int32_t>(run(kReverseV2, {x, ints({-1})})) == Ints{3, 2, 1, 6, 5, 4});
  CHECK(values_of<int32_t>(run(kReverseV2, {x, ints({0, 1})})) == Ints{6, 5, 4, 3, 2, 1});
  CHECK(values_of<int32_t>(run(kRoll, {x, ints({1, -1}), ints({0, 1})})) == Ints{5, 6, 4, 2, 3, 1});
  CHECK(says(error_of(kReverseV2, {x, ints({0, -2})}), "axis 0 specified more than once."));
  CHECK(says(error_of(kTile, {x, ints({1})}), "vector of length 2"));
}

TEST_CASE("bits of one dtype are read as another") {
  Tensor x = vector_of<float>({1.0f, -2.0f});
  CHECK(values_of<int32_t>(run(kBitcast, {x}, {.type = DType::kInt32})) ==
        Ints{0x3F800000, -0x40000000});
  Tensor halves = run(kBitcast, {x}, {.type = DType::kUInt16});
  CHECK(halves.shape() == Shape({2, 2}));
  CHECK(run(kBitcast, {halves}, {.type = DType::kFloat32}).shape() == Shape({2}));
  CHECK(says(error_of(kBitcast, {vector_of<float>({1, 2, 3})}, {.type = DType::kInt64}),
             "the last dimension must be 2"));
}

}  // namespace graven::engine
