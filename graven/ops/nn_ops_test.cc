#include "graven/ops/nn_ops.h"

#include <functional>
#include <limits>

#include "graven/ops/testing.h"

namespace graven::engine {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// f of each row, which writes the row of the result.
Tensor by_rows(const Tensor& x, const std::function<void(std::span<const double>, double*)>& f) {
  const int64_t columns = x.shape().size(x.rank() - 1);
  Tensor y = *Tensor::allocate(DType::kFloat64, x.shape());
  for (int64_t at = 0; at < x.num_elements(); at += columns) {
    f(x.data<double>().subspan(at, columns), y.mutable_data<double>().data() + at);
  }
  return y;
}
double log_sum_exp(std::span<const double> x) {
  double most = *std::max_element(x.begin(), x.end()), sum = 0;
  for (double value : x) sum += std::exp(value - most);
  return most + std::log(sum);
}
void softmax_row(std::span<const double> x, double* y) {
  const double log_sum = log_sum_exp(x);
  for (size_t i = 0; i < x.size(); ++i) y[i] = std::exp(x[i] - log_sum);
}
void log_softmax_row(std::span<const double> x, double* y) {
  const double log_sum = log_sum_exp(x);
  for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] - log_sum;
}

Tensor scaled(const Tensor& x, double by) {
  Tensor y = *Tensor::allocate(DType::kFloat64, x.shape());
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    y.mutable_data<double>()[i] = x.data<double>()[i] * by;
  }
  return y;
}
template <typename T>
Tensor converted(const Tensor& x) {
  Tensor y = *Tensor::allocate(kDTypeOf<T>, x.shape());
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    y.mutable_data<T>()[i] = static_cast<T>(static_cast<float>(x.data<double>()[i]));
  }
  return y;
}

}  // namespace

TEST_CASE("activations and their gradients") {
  struct Row {
    const OpHandle<NoAttrs>&op, &grad;
    std::function<double(double)> value, derivative;
    bool of_outputs = false;
  };
  const double scale = 1.0507009873554805, alpha = 1.6732632423543772;
  const Row rows[] = {
      {kRelu, kReluGrad, [](double x) { return x > 0 ? x : 0; },
       [](double x) { return x > 0 ? 1.0 : 0.0; }},
      {kRelu6, kRelu6Grad, [](double x) { return std::clamp(x, 0.0, 6.0); },
       [](double x) { return x > 0 && x < 6 ? 1.0 : 0.0; }},
      {kElu, kEluGrad, [](double x) { return x < 0 ? std::expm1(x) : x; },
       [](double x) { return x < 0 ? std::exp(x) : 1; }, true},
      {kSelu, kSeluGrad, [=](double x) { return scale * (x < 0 ? alpha * std::expm1(x) : x); },
       [=](double x) { return scale * (x < 0 ? alpha * std::exp(x) : 1); }, true},
      {kSoftplus, kSoftplusGrad, [](double x) { return x > 40 ? x : std::log1p(std::exp(x)); },
       [](double x) { return 1 / (1 + std::exp(-x)); }},
      {kSoftsign, kSoftsignGrad, [](double x) { return x / (1 + std::abs(x)); },
       [](double x) { return 1 / ((1 + std::abs(x)) * (1 + std::abs(x))); }},
  };
  const std::vector<double> x = {-50, -3, -0.5, 0, 0.25, 1, 5.5, 7, 50};
  const std::vector<double> dy(x.size(), 2.0);
  for (const Row& row : rows) {
    INFO(row.op.op->name());
    std::vector<double> values, gradients;
    for (double at : x) {
      values.push_back(row.value(at));
      gradients.push_back(2 * row.derivative(at));
    }
    check_near(run(row.op, {vector_of(x)}), vector_of(values));
    check_near(run(row.grad, {vector_of(dy), vector_of(row.of_outputs ? values : x)}),
               vector_of(gradients));
    CHECK(std::isnan(run(row.op, {Tensor::scalar(std::nan(""))}).item<double>()));
  }
  check_near(run(kLeakyRelu, {vector_of<float>({-2, 3})}, {.alpha = 0.5f}),
             vector_of<float>({-1, 3}));
  check_near(run(kLeakyReluGrad, {vector_of<float>({4, 4}), vector_of<float>({-2, 3})}),
             vector_of<float>({0.8f, 4}), 1e-7);
  CHECK(values_of<uint8_t>(run(kRelu6, {vector_of<uint8_t>({0, 5, 200})})) ==
        std::vector<uint8_t>{0, 5, 6});
  CHECK(error_of(kReluGrad, {vector_of<float>({1, 2}), vector_of<float>({1})})
            .starts_with("[ReluGrad] Inputs must have the same shape"));
}

TEST_CASE("a bias is added along the last or the second axis") {
  Tensor x = tensor_of<float>({1, 2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(values_of<float>(run(kBiasAdd, {x, vector_of<float>({10, 20, 30})})) ==
        std::vector<float>{11, 22, 33, 14, 25, 36});
  CHECK(values_of<float>(run(kBiasAdd, {x, vector_of<float>({10, 20})}, {.data_format = "NCHW"})) ==
        std::vector<float>{11, 12, 13, 24, 25, 26});
  CHECK(values_of<float>(run(kBiasAddV1, {x, vector_of<float>({10, 20, 30})}))[5] == 36);
  CHECK(values_of<float>(run(kBiasAddGrad, {x})) == std::vector<float>{5, 7, 9});
  CHECK(values_of<float>(run(kBiasAddGrad, {x}, {.data_format = "NCHW"})) ==
        std::vector<float>{6, 15});
  CHECK(error_of(kBiasAdd, {x, vector_of<float>({1, 2})})
            .starts_with("[BiasAdd] Must provide as many biases as the last dimension of the "
                         "input tensor: [2] vs. [1,2,3]"));
  CHECK(error_of(kBiasAdd, {vector_of<float>({1}), vector_of<float>({1})}) ==
        "[BiasAdd] Input tensor must be at least 2D: [1]");
  CHECK(error_of(kBiasAdd, {x, tensor_of<float>({1, 1}, {1})}) ==
        "[BiasAdd] Biases must be 1D: [1,1]");
  CHECK(
      error_of(kBiasAdd, {x, vector_of<float>({1})}, {.data_format = "HWC"}).find("got \"HWC\"") !=
      std::string::npos);
}

TEST_CASE("softmax of rows, short and long, in all floating dtypes") {
  for (const Shape& shape : {Shape{7}, Shape{4, 1}, Shape{3, 2, 10}, Shape{5, 1000},
                             Shape{2, 70000}, Shape{0, 4}, Shape{3, 0}}) {
    INFO(shape.to_text());
    Tensor x = scaled(random_tensor(shape), 20);
    if (x.num_elements() == 0) {
      CHECK(run(kSoftmax, {x}).shape() == shape);
      continue;
    }
    Tensor expected = by_rows(x, softmax_row), logarithm = by_rows(x, log_softmax_row);
    check_near(run(kSoftmax, {x}), expected, 1e-14);
    check_near(run(kLogSoftmax, {x}), logarithm, 1e-13);
    check_near(run(kSoftmax, {converted<float>(x)}), converted<float>(expected), 2e-6);
    check_near(run(kLogSoftmax, {converted<float>(x)}), converted<float>(logarithm), 1e-6);
    Tensor half = scaled(x, 0.1);
    check_near(run(kSoftmax, {converted<Half>(half)}), converted<Half>(by_rows(half, softmax_row)),
               2e-3);
    check_near(run(kSoftmax, {converted<BFloat16>(half)}),
               converted<BFloat16>(by_rows(half, softmax_row)), 1e-2);
  }
  CHECK(values_of<double>(run(kSoftmax, {vector_of<double>({1000, 1000, -kInfinity})})) ==
        std::vector<double>{0.5, 0.5, 0});
  CHECK(error_of(kSoftmax, {Tensor::scalar(1.0f)})
            .starts_with("[Softmax] logits must have >= 1 dimension"));
}

TEST_CASE("cross entropy with class numbers") {
  for (int64_t columns : {1, 10, 70000}) {
    Tensor x = scaled(random_tensor({3, columns}), 5);
    std::vector<int64_t> labels = {0, columns - 1, columns / 2};
    Tensor log_softmax = by_rows(x, log_softmax_row), backprop = by_rows(x, softmax_row);
    std::vector<double> loss;
    for (int64_t row = 0; row < 3; ++row) {
      loss.push_back(-log_softmax.data<double>()[row * columns + labels[row]]);
      backprop.mutable_data<double>()[row * columns + labels[row]] -= 1;
    }
    Tensors y = run_all(kSparseSoftmaxCrossEntropyWithLogits, {x, vector_of(labels)});
    check_near(y[0], vector_of(loss));
    check_near(y[1], backprop, 1e-14);
    Tensors small =
        run_all(kSparseSoftmaxCrossEntropyWithLogits,
                {converted<Half>(x), vector_of<int32_t>({labels.begin(), labels.end()})});
    CHECK(small[0].dtype() == DType::kHalf);
    check_near(small[0], converted<Half>(vector_of(loss)), 3e-3);
  }
  Tensor x = random_tensor({2, 3});
  CHECK(error_of(kSparseSoftmaxCrossEntropyWithLogits, {x, vector_of<int32_t>({1, 5})}) ==
        "[SparseSoftmaxCrossEntropyWithLogits] Received a label value of 5 which is outside the "
        "valid range of [0, 3).  Label values: 1 5");
  CHECK(error_of(kSparseSoftmaxCrossEntropyWithLogits, {x, vector_of<int32_t>({-1, 1})})
            .find("Received a label value of -1") != std::string::npos);
  CHECK(error_of(kSparseSoftmaxCrossEntropyWithLogits, {x, vector_of<int32_t>({1})})
            .starts_with("[SparseSoftmaxCrossEntropyWithLogits] logits and labels must have the "
                         "same first dimension, got logits shape [2,3] and labels shape [1]"));
  CHECK(error_of(kSparseSoftmaxCrossEntropyWithLogits,
                 {random_tensor({2, 0}), vector_of<int32_t>({0, 0})})
            .find("Must have at least one class, but got logits shape [2,0]") != std::string::npos);
  Tensors empty = run_all(kSparseSoftmaxCrossEntropyWithLogits,
                          {random_tensor({0, 3}), vector_of<int32_t>({})});
  CHECK(empty[0].shape() == Shape{0});
}

TEST_CASE("cross entropy with distributions") {
  for (int64_t columns : {1, 10, 70000}) {
    Tensor x = scaled(random_tensor({3, columns}), 5);
    Tensor labels = by_rows(random_tensor({3, columns}, 2), softmax_row);
    Tensor log_softmax = by_rows(x, log_softmax_row), backprop = by_rows(x, softmax_row);
    std::vector<double> loss(3, 0.0);
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      loss[i / columns] -= labels.data<double>()[i] * log_softmax.data<double>()[i];
      backprop.mutable_data<double>()[i] -= labels.data<double>()[i];
    }
    Tensors y = run_all(kSoftmaxCrossEntropyWithLogits, {x, labels});
    check_near(y[0], vector_of(loss));
    check_near(y[1], backprop, 1e-14);
  }
  Tensor x = random_tensor({2, 3}), row = tensor_of<double>({1, 3}, {1, 0, 0});
  Tensors broadcast = run_all(kSoftmaxCrossEntropyWithLogits, {x, row});
  Tensors sparse = run_all(kSparseSoftmaxCrossEntropyWithLogits, {x, vector_of<int32_t>({0, 0})});
  check_near(broadcast[0], sparse[0]);
  check_near(broadcast[1], sparse[1]);
  // What has no weight costs nothing.
  Tensor with_infinity = tensor_of<double>({1, 2}, {1, -kInfinity});
  CHECK(run(kSoftmaxCrossEntropyWithLogits, {with_infinity, tensor_of<double>({1, 2}, {1, 0})})
            .item<double>() == 0);
  CHECK(error_of(kSoftmaxCrossEntropyWithLogits, {x, random_tensor({2, 4})}) ==
        "[SoftmaxCrossEntropyWithLogits] logits and labels must be broadcastable: "
        "logits_size=[2,3] labels_size=[2,4]");
  CHECK(error_of(kSoftmaxCrossEntropyWithLogits, {vector_of<double>({1}), vector_of<double>({1})})
            .find("must be either 2-dimensional, or broadcasted to be 2-dimensional") !=
        std::string::npos);
}

TEST_CASE("half the sum of squares, of few and of many elements") {
  for (int64_t n : {0, 1, 1000, 200000}) {
    Tensor x = random_tensor({n});
    double sum = 0;
    for (double value : x.data<double>()) sum += value * value;
    check_near(run(kL2Loss, {x}), Tensor::scalar(sum / 2));
  }
  CHECK(static_cast<float>(run(kL2Loss, {vector_of<Half>({Half(3.0f)})}).item<Half>()) == 4.5f);
}

TEST_CASE("a target is among the largest predictions, or not, or that cannot be said") {
  const float infinity = std::numeric_limits<float>::infinity();
  Tensor predictions = tensor_of<float>({4, 3}, {1, 2, 3, 1, 1, 1, 1, infinity, 2, 1, 2, 3});
  Tensor targets = vector_of<int32_t>({1, 2, 2, 7});
  CHECK(values_of<bool>(run(kInTopKV2, {predictions, targets, Tensor::scalar<int32_t>(2)})) ==
        std::vector<bool>{true, true, false, false});
  CHECK(values_of<bool>(run(kInTopKV2, {predictions, targets, Tensor::scalar<int32_t>(1)})) ==
        std::vector<bool>{false, true, false, false});
  CHECK(error_of(kInTopKV2, {predictions, vector_of<int32_t>({1}), Tensor::scalar<int32_t>(1)}) ==
        "[InTopKV2] First dimension of predictions 4 must match length of targets 1");
}

TEST_CASE("images are normalised by the statistics of the batch, or by given ones") {
  for (bool channels_second : {false, true}) {
    INFO(channels_second);
    const Shape shape = channels_second ? Shape{3, 2, 4, 5} : Shape{3, 4, 5, 2};
    const std::string format = channels_second ? "NCHW" : "NHWC";
    Tensor x = random_tensor<float>(shape, 1);
    auto channel = [&](int64_t i) { return channels_second ? i / 20 % 2 : i % 2; };
    double mean[2] = {}, variance[2] = {};
    for (int64_t i = 0; i < 120; ++i) mean[channel(i)] += x.data<float>()[i] / 60.0;
    for (int64_t i = 0; i < 120; ++i) {
      variance[channel(i)] += std::pow(x.data<float>()[i] - mean[channel(i)], 2) / 60;
    }
    Tensor scale = vector_of<float>({1.5f, -2}), offset = vector_of<float>({0.25f, 3});
    auto normalised = [&](const double* by_mean, const double* by_variance) {
      Tensor y = *Tensor::allocate(DType::kFloat32, shape);
      for (int64_t i = 0; i < 120; ++i) {
        const int64_t c = channel(i);
        y.mutable_data<float>()[i] =
            static_cast<float>((x.data<float>()[i] - by_mean[c]) /
                                   std::sqrt(by_variance[c] + 1e-3) * scale.data<float>()[c] +
                               offset.data<float>()[c]);
      }
      return y;
    };
    Tensor none = vector_of<float>({});
    Tensors y = run_all(kFusedBatchNormV3, {x, scale, offset, none, none},
                        {.epsilon = 1e-3f, .data_format = format});
    check_near(y[0], normalised(mean, variance), 1e-5);
    for (int c = 0; c < 2; ++c) {
      CHECK(y[1].data<float>()[c] == doctest::Approx(mean[c]).epsilon(1e-5));
      CHECK(y[2].data<float>()[c] == doctest::Approx(variance[c] * 60 / 59).epsilon(1e-5));
      CHECK(y[4].data<float>()[c] == doctest::Approx(variance[c]).epsilon(1e-5));
    }
    const double given_mean[] = {0.5, -1}, given_variance[] = {2, 0.25};
    Tensor old_mean = vector_of<float>({0.5f, -1}), old_variance = vector_of<float>({2, 0.25f});
    Tensors running =
        run_all(kFusedBatchNormV3, {x, scale, offset, old_mean, old_variance},
                {.epsilon = 1e-3f, .exponential_avg_factor = 0.25f, .data_format = format});
    check_near(running[0], y[0], 0);
    CHECK(running[1].data<float>()[1] == doctest::Approx(-0.75 + mean[1] / 4).epsilon(1e-5));
    Tensors inference = run_all(kFusedBatchNormV3, {x, scale, offset, old_mean, old_variance},
                                {.epsilon = 1e-3f, .data_format = format, .is_training = false});
    check_near(inference[0], normalised(given_mean, given_variance), 1e-5);
    CHECK(values_of<float>(inference[2]) == std::vector<float>{2, 0.25f});
  }
}

TEST_CASE("wrong normalisations say what is wrong") {
  Tensor x = random_tensor<float>({1, 4, 4, 2}), two = vector_of<float>({1, 2});
  Tensor none = vector_of<float>({});
  CHECK(error_of(kFusedBatchNormV3, {x, two, two, none, none}, {.is_training = false}) ==
        "[FusedBatchNormV3] When is_training=false, mean must have the same number of elements as "
        "the channels of x, got 0 and 2");
  CHECK(error_of(kFusedBatchNormV3, {x, vector_of<float>({1}), two, none, none}) ==
        "[FusedBatchNormV3] scale must have the same number of elements as the channels of x, got "
        "1 and 2");
  CHECK(error_of(kFusedBatchNormV3, {random_tensor<float>({2, 2}), two, two, none, none}) ==
        "[FusedBatchNormV3] input must be 4-dimensional[2,2]");
  Tensors empty =
      run_all(kFusedBatchNormV3, {random_tensor<float>({0, 4, 4, 2}), two, two, none, none});
  CHECK(std::isnan(empty[1].data<float>()[0]));
  CHECK(values_of<float>(empty[3]) == std::vector<float>{0, 0});
}

}  // namespace graven::engine
