#include <doctest/doctest.h>
#include <graven/graven.h>

#include <cmath>

using graven::DType;
using graven::Shape;
using graven::Tensor;
using graven::Variable;
namespace nn = graven::nn;

namespace {

std::vector<float> floats(const Tensor& x) { return x.to_vector<float>(); }
std::vector<int32_t> ints(const Tensor& x) { return x.to_vector<int32_t>(); }

}  // namespace

TEST_CASE("printed functions take tensors, variables and numbers") {
  CHECK(graven::sqrt(Tensor(9.0)).item<float>() == 3);
  CHECK(graven::maximum(Tensor{1.0, 5.0}, 3).to_vector<float>() == std::vector<float>{3, 5});
  CHECK(graven::pow(2, Tensor(3.0)).item<float>() == 8);
  CHECK(graven::exp(Variable(0.0)).item<float>() == 1);
}

TEST_CASE("printed functions have all their public names") {
  CHECK(graven::math::sqrt(4.0).item<float>() == 2);
  CHECK(graven::math::rsqrt(4.0).item<float>() == 0.5f);
  CHECK(graven::math::floormod(-7, 3).item<int32_t>() == 2);
  CHECK(graven::math::mod(-7, 3).item<int32_t>() == 2);
  CHECK(nn::tanh(0.0).item<float>() == 0);
}

TEST_CASE("printed functions name the user's line") {
  CHECK_THROWS_WITH_AS(graven::maximum(Tensor({1.0, 2.0}), Tensor({1.0, 2.0, 3.0})),
                       doctest::Contains("ops_test.cc"), graven::Error);
}

TEST_CASE("reductions take all axes, one, some or those of a tensor") {
  Tensor x = {{1.0, 2.0}, {3.0, 4.0}};
  CHECK(graven::reduce_sum(x).item<float>() == 10);
  CHECK(floats(graven::reduce_sum(x, 0)) == std::vector<float>{4, 6});
  CHECK(floats(graven::reduce_mean(x, -1)) == std::vector<float>{1.5f, 3.5f});
  CHECK(graven::reduce_max(x, {0, 1}).item<float>() == 4);
  CHECK(floats(graven::reduce_min(x, Tensor(1))) == std::vector<float>{1, 3});
  CHECK(graven::reduce_prod(x, 1, /*keepdims=*/true).shape() == Shape{2, 1});
  CHECK(graven::reduce_any(x > 3).item<bool>());
  CHECK_FALSE(graven::reduce_all(x > 3).item<bool>());
}

TEST_CASE("an axis that is not there is an error") {
  CHECK_THROWS_AS(graven::reduce_sum(Tensor({1.0, 2.0}), 1), graven::Error);
}

TEST_CASE("matrices are multiplied, transposed, and in batches") {
  Tensor a = {{1.0, 2.0}, {3.0, 4.0}}, b = {{1.0, 0.0}, {1.0, 1.0}};
  CHECK(floats(graven::matmul(a, b)) == std::vector<float>{3, 2, 7, 4});
  CHECK(floats(graven::matmul(a, b, true)) == std::vector<float>{4, 3, 6, 4});
  CHECK(floats(graven::matmul(a, b, false, true)) == std::vector<float>{1, 3, 3, 7});
  Tensor batch = graven::stack({a, b});
  CHECK(graven::matmul(batch, batch).shape() == Shape{2, 2, 2});
  CHECK_THROWS_AS(graven::matmul(a, b, true, false, true), graven::Error);
}

TEST_CASE("elements move") {
  Tensor x = {{1, 2, 3}, {4, 5, 6}};
  CHECK(ints(graven::transpose(x)) == std::vector<int32_t>{1, 4, 2, 5, 3, 6});
  CHECK(graven::reshape(x, {3, -1}).shape() == Shape{3, 2});
  CHECK(graven::expand_dims(x, 0).shape() == Shape{1, 2, 3});
  CHECK(graven::squeeze(graven::expand_dims(x, 0)).shape() == Shape{2, 3});
  CHECK(ints(graven::concat({x, x}, 0)).size() == 12);
  CHECK(ints(graven::stack({1, 2, 3})) == std::vector<int32_t>{1, 2, 3});
  CHECK(ints(graven::unstack(x)[1]) == std::vector<int32_t>{4, 5, 6});
  CHECK(ints(graven::split(x, 3, 1)[2]) == std::vector<int32_t>{3, 6});
  CHECK(ints(graven::slice(x, {0, 1}, {2, 1})) == std::vector<int32_t>{2, 5});
  CHECK(ints(graven::gather(x, {1, 0}, 1)) == std::vector<int32_t>{2, 1, 5, 4});
  CHECK(ints(graven::shape(x)) == std::vector<int32_t>{2, 3});
}

TEST_CASE("tensors are made of rules") {
  CHECK(floats(graven::zeros({2})) == std::vector<float>{0, 0});
  CHECK(graven::ones({2, 2}, DType::kInt64).to_vector<int64_t>() ==
        std::vector<int64_t>{1, 1, 1, 1});
  CHECK(ints(graven::fill({3}, 7)) == std::vector<int32_t>{7, 7, 7});
  CHECK(ints(graven::range(3)) == std::vector<int32_t>{0, 1, 2});
  CHECK(floats(graven::range(1, 2, 0.5)) == std::vector<float>{1, 1.5f});
  CHECK(floats(graven::one_hot({1, 0}, 2)) == std::vector<float>{0, 1, 1, 0});
  CHECK(floats(graven::zeros_like(Tensor{1.0, 2.0})) == std::vector<float>{0, 0});
}

TEST_CASE("choices and comparisons") {
  Tensor x = {1.0, -2.0};
  CHECK(floats(graven::where(x > 0, x, 0)) == std::vector<float>{1, 0});
  CHECK(graven::where(x > 0).to_vector<int64_t>() == std::vector<int64_t>{0});
  CHECK(graven::equal(x, 1).to_vector<bool>() == std::vector<bool>{true, false});
  CHECK(graven::argmax(x).item<int64_t>() == 0);
  CHECK(graven::argmin(x, 0, DType::kInt32).item<int32_t>() == 1);
  CHECK(ints(graven::cast(x, DType::kInt32)) == std::vector<int32_t>{1, -2});
  CHECK(floats(graven::clip_by_value(x, -1, 0.5)) == std::vector<float>{0.5f, -1});
}

TEST_CASE("networks: convolution, pooling, activation and loss") {
  Tensor image = graven::reshape(graven::cast(graven::range(16), DType::kFloat32), {1, 4, 4, 1});
  Tensor sum = nn::conv2d(image, graven::ones({2, 2, 1, 1}), 2, "VALID");
  CHECK(floats(sum) == std::vector<float>{10, 18, 42, 50});
  CHECK(floats(nn::max_pool2d(image, 2, 2, "VALID")) == std::vector<float>{5, 7, 13, 15});
  CHECK(floats(nn::avg_pool2d(image, {2, 2}, 2, "VALID"))[0] == 2.5f);
  CHECK(floats(nn::relu(Tensor{-1.0, 2.0})) == std::vector<float>{0, 2});
  CHECK(floats(nn::bias_add(Tensor{{1.0, 2.0}}, Tensor{10.0, 20.0})) == std::vector<float>{11, 22});
  CHECK(floats(nn::softmax(Tensor{0.0, 0.0})) == std::vector<float>{0.5f, 0.5f});
  Tensor loss = nn::sparse_softmax_cross_entropy_with_logits(Tensor{1}, Tensor{{0.0, 0.0}});
  CHECK(loss.item<float>() == doctest::Approx(std::log(2.0)));
}

TEST_CASE("random numbers are those of the seed") {
  Tensor a = graven::random::stateless_uniform({1000}, {1, 2}, -3, 5);
  Tensor b = graven::random::stateless_uniform({1000}, {1, 2}, -3, 5);
  Tensor c = graven::random::stateless_uniform({1000}, {1, 3}, -3, 5);
  CHECK(floats(a) == floats(b));
  CHECK(floats(a) != floats(c));
  CHECK(graven::reduce_min(a).item<float>() >= -3);
  CHECK(graven::reduce_max(a).item<float>() < 5);
  CHECK(graven::reduce_mean(graven::random::stateless_normal({1000}, {1, 2})).item<float>() ==
        doctest::Approx(0).epsilon(0.2));
  CHECK_THROWS_WITH_AS(graven::random::stateless_uniform({1}, {1}),
                       doctest::Contains("seed must have shape [2]"), graven::Error);
}
