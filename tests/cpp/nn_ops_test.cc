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
using Floats = std::vector<float>;

// 1, 2, 3, ... in this shape.
Tensor counted(const Shape& shape) {
  std::vector<float> numbers(static_cast<size_t>(shape.num_elements()));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i + 1);
  return Tensor::of(numbers, shape);
}

}  // namespace

TEST_CASE("convolutions and pools take explicit paddings") {
  Tensor image = counted(Shape{1, 2, 2, 1}), ones = graven::ones({2, 2, 1, 1});
  Tensor same = nn::conv2d(image, ones, 1, {{0, 0}, {0, 1}, {0, 1}, {0, 0}});
  CHECK(floats(same) == floats(nn::conv2d(image, ones, 1, "SAME")));
  CHECK(floats(nn::max_pool2d(image, 2, 1, {{0, 0}, {1, 0}, {1, 0}, {0, 0}})) ==
        Floats{1, 2, 3, 4});
  CHECK(floats(nn::max_pool(image, 2, 2, "VALID")) == Floats{4});
  CHECK(floats(nn::avg_pool(image, {2, 1}, 1, "VALID")) == Floats{2, 3});
  CHECK_THROWS_WITH_AS(nn::avg_pool(Tensor{1.0}, 2, 1, "VALID"),
                       doctest::Contains("must be 3, 4 or 5"), graven::Error);
  CHECK_THROWS_WITH_AS(nn::conv2d(image, ones, {1, 2, 3}, "SAME"),
                       doctest::Contains("strides should be of length 1, 2 or 4"), graven::Error);
  CHECK_THROWS_WITH_AS(nn::conv2d(image, ones, 1, "SAME", "NWHC"),
                       doctest::Contains("data_format must be"), graven::Error);
}

TEST_CASE("convolutions of rows, of single channels, and the transposed one") {
  Tensor row = counted(Shape{1, 4, 1}), ones = graven::ones({2, 1, 1});
  CHECK(floats(nn::conv1d(row, ones, 1, "VALID")) == Floats{3, 5, 7});
  CHECK(floats(nn::conv1d(row, ones, 2, "VALID")) == Floats{3, 7});
  Tensor image = counted(Shape{1, 2, 2, 2}), each = graven::ones({2, 2, 2, 1});
  CHECK(floats(nn::depthwise_conv2d(image, each, 1, "VALID")) == Floats{16, 20});
  Tensor up = nn::conv2d_transpose(counted(Shape{1, 1, 2, 1}), graven::ones({1, 2, 1, 1}),
                                   {1, 1, 4, 1}, {1, 2}, "VALID");
  CHECK(floats(up) == Floats{1, 1, 2, 2});
}

TEST_CASE("pools of sequences, in both formats") {
  Tensor row = counted(Shape{1, 4, 1}), turned = counted(Shape{1, 1, 4});
  CHECK(floats(nn::max_pool1d(row, 2, 2, "VALID")) == Floats{2, 4});
  CHECK(floats(nn::avg_pool1d(row, 2, {1, 2, 1}, "VALID")) == Floats{1.5f, 3.5f});
  CHECK(floats(nn::max_pool1d(turned, 2, 1, "VALID", "NCW")) == Floats{2, 3, 4});
  CHECK(floats(nn::max_pool1d(row, 2, 2, {{0, 0}, {1, 1}, {0, 0}})) == Floats{1, 3, 4});
  CHECK_THROWS_WITH_AS(nn::avg_pool1d(row, {1, 2}, 1, "VALID"),
                       doctest::Contains("ksize should be of length 1, 1 or 3"), graven::Error);
}

TEST_CASE("activations") {
  CHECK(nn::gelu(Tensor{1.0, -1.0}).to_vector<float>()[0] == doctest::Approx(0.8413447));
  CHECK(nn::gelu(1.0, /*approximate=*/true).item<float>() == doctest::Approx(0.8411920));
  CHECK(nn::silu(1.0).item<float>() == doctest::Approx(0.7310586));
  CHECK(nn::swish(1.0, 2.0).item<float>() == doctest::Approx(0.8807971));
  CHECK_THROWS_WITH_AS(nn::gelu(1), doctest::Contains("must be a floating point"), graven::Error);
}

TEST_CASE("softmax along an axis") {
  Tensor x = {{0.0, 1.0}, {0.0, 1.0}};
  CHECK(floats(nn::softmax(x, 0)) == Floats{0.5f, 0.5f, 0.5f, 0.5f});
  CHECK(floats(nn::log_softmax(x, -2))[0] == doctest::Approx(-std::log(2.0)));
  CHECK(floats(graven::math::softmax(x, 1)) == floats(nn::softmax(x)));
  CHECK_THROWS_WITH_AS(nn::softmax(x, 2), doctest::Contains("must be in the range [-2, 2)"),
                       graven::Error);
}

TEST_CASE("cross entropies agree") {
  Tensor logits = {{1.0, 2.0, 3.0}, {3.0, 2.0, 1.0}}, labels = {2, 0};
  Floats expected = floats(-graven::gather(nn::log_softmax(Tensor{1.0, 2.0, 3.0}), {2, 2}));
  Floats sparse = floats(nn::sparse_softmax_cross_entropy_with_logits(labels, logits));
  Floats dense = floats(nn::softmax_cross_entropy_with_logits(graven::one_hot(labels, 3), logits));
  for (int i : {0, 1}) {
    CHECK(sparse[i] == doctest::Approx(expected[i]));
    CHECK(dense[i] == doctest::Approx(expected[i]));
  }
  // Of more rows, or of one, and along another axis.
  Tensor cube = graven::reshape(logits, {1, 2, 3});
  Tensor more = nn::sparse_softmax_cross_entropy_with_logits(Tensor{{2, 0}}, cube);
  CHECK(more.shape() == Shape{1, 2});
  CHECK(floats(more) == sparse);
  CHECK(nn::sparse_softmax_cross_entropy_with_logits(2, Tensor{1.0, 2.0, 3.0}).item<float>() ==
        sparse[0]);
  Tensor turned = graven::transpose(logits);
  CHECK(floats(nn::softmax_cross_entropy_with_logits(graven::one_hot(labels, 3, {}, {}, 0), turned,
                                                     0)) == dense);
  CHECK(nn::softmax_cross_entropy_with_logits(graven::one_hot(Tensor{{2, 0}}, 3), cube).shape() ==
        Shape{1, 2});
  // The other axes keep their order.
  Tensor classes_first = graven::reshape(graven::transpose(logits), {3, 1, 2});
  Tensor kept = nn::softmax_cross_entropy_with_logits(graven::one_hot(Tensor{{2, 0}}, 3, {}, {}, 0),
                                                      classes_first, 0);
  CHECK(kept.shape() == Shape{1, 2});
  CHECK(floats(kept) == dense);
  CHECK_THROWS_WITH_AS(nn::sparse_softmax_cross_entropy_with_logits(Tensor{{1}}, logits),
                       doctest::Contains("`labels.shape.rank` must equal"), graven::Error);
  CHECK_THROWS_WITH_AS(nn::sparse_softmax_cross_entropy_with_logits({1, 2, 0}, logits),
                       doctest::Contains("except for the last dimension"), graven::Error);
}

TEST_CASE("losses of independent classes and of counts") {
  Floats losses = floats(
      nn::sigmoid_cross_entropy_with_logits(Tensor{0.0, 1.0, 1.0}, Tensor{0.0, -100.0, 100.0}));
  CHECK(losses[0] == doctest::Approx(std::log(2.0)));
  CHECK(losses[1] == 100);
  CHECK(losses[2] == 0);
  Tensor labels = {0.0, 1.0, 1.0}, logits = {0.0, -3.0, 3.0};
  Floats weighted = floats(nn::weighted_cross_entropy_with_logits(labels, logits, 2.0));
  Floats plain = floats(nn::sigmoid_cross_entropy_with_logits(labels, logits));
  for (int i : {0, 1, 2}) CHECK(weighted[i] == doctest::Approx((i == 0 ? 1 : 2) * plain[i]));
  CHECK(nn::log_poisson_loss(2.0, 0.0).item<float>() == 1);
  CHECK_THROWS_WITH_AS(nn::sigmoid_cross_entropy_with_logits(Tensor{0.0}, Tensor{0.0, 1.0}),
                       doctest::Contains("must have the same shape"), graven::Error);
}

TEST_CASE("moments and batch normalisation") {
  Tensor x = {{1.0, 10.0}, {3.0, 30.0}};
  auto [mean, variance] = nn::moments(x, 0);
  CHECK(floats(mean) == Floats{2, 20});
  CHECK(floats(variance) == Floats{1, 100});
  CHECK(nn::moments(x, {0, 1}, /*keepdims=*/true).mean.shape() == Shape{1, 1});
  CHECK(nn::moments(x, {}).mean.shape() == Shape{});
  CHECK(floats(nn::moments(x, {0}).variance) == Floats{1, 100});
  CHECK(floats(nn::batch_normalization(x, mean, variance, Tensor(), Tensor(), 0)) ==
        Floats{-1, -1, 1, 1});
  CHECK(floats(nn::batch_normalization(x, mean, variance, 1.0, Tensor{2.0, 4.0}, 0)) ==
        Floats{-1, -3, 3, 5});
}

TEST_CASE("dropout keeps the mean, and rows of a noise shape together") {
  Tensor x = graven::ones({1000, 2});
  Tensor dropped = nn::dropout(x, 0.5, {}, 7);
  CHECK(graven::reduce_mean(dropped).item<float>() == doctest::Approx(1).epsilon(0.1));
  CHECK(graven::reduce_all(graven::equal(dropped, 0) | graven::equal(dropped, 2)).item<bool>());
  Tensor rows = nn::dropout(x, Tensor(0.5f), {-1, 1});
  CHECK(graven::reduce_all(graven::equal(graven::slice(rows, {0, 0}, {-1, 1}),
                                         graven::slice(rows, {0, 1}, {-1, 1})))
            .item<bool>());
  CHECK(floats(nn::dropout(Tensor{1.0}, 0)) == Floats{1});
  CHECK_THROWS_WITH_AS(nn::dropout(x, 1.0), doctest::Contains("range [0, 1)"), graven::Error);
}

TEST_CASE("the gradient of an embedding of a variable is IndexedSlices") {
  Variable table(Tensor{{1.0, 2.0}, {3.0, 4.0}});
  graven::GradientTape tape;
  Tensor rows = nn::embedding_lookup(table, {1, 1});
  CHECK(floats(rows) == Floats{3, 4, 3, 4});
  CHECK(tape.sparse_gradient({rows}, {table})[0].is_slices());
}
