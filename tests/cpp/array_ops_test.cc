#include <doctest/doctest.h>
#include <graven/graven.h>

#include <complex>
#include <limits>

#include "error_of.h"

using graven::DType;
using graven::Shape;
using graven::Tensor;
using graven::Variable;

namespace {

std::vector<float> floats(const Tensor& x) { return x.to_vector<float>(); }
std::vector<int32_t> ints(const Tensor& x) { return x.to_vector<int32_t>(); }
using Ints = std::vector<int32_t>;
using Floats = std::vector<float>;

}  // namespace

TEST_CASE("eye is square, or has columns and a batch") {
  CHECK(floats(graven::eye(2)) == Floats{1, 0, 0, 1});
  CHECK(ints(graven::eye(1, 3, {}, DType::kInt32)) == Ints{1, 0, 0});
  CHECK(graven::linalg::eye(2, 3, {4, 1}).shape() == Shape{4, 1, 2, 3});
}

TEST_CASE("one_hot takes other values than 1 and 0") {
  CHECK(ints(graven::one_hot({1, 0}, 2, 5, -1)) == Ints{-1, 5, 5, -1});
  CHECK(floats(graven::one_hot({0}, 2, 0.5, 0.0)) == Floats{0.5f, 0});
  CHECK(graven::one_hot({0}, Tensor(2), true, false, /*axis=*/0).to_vector<bool>() ==
        std::vector<bool>{true, false});
  CHECK(graven::one_hot({0}, 2, 3, 0, -1, DType::kInt64).to_vector<int64_t>() ==
        std::vector<int64_t>{3, 0});
  CHECK_THROWS_WITH_AS(graven::one_hot({0}, 2, Tensor(1), Tensor(0.5)),
                       doctest::Contains("dtype float32 of off_value does not match dtype int32"),
                       graven::Error);
}

TEST_CASE("pad with a constant and with mirrors") {
  Tensor x = {1, 2, 3};
  CHECK(ints(graven::pad(x, {{1, 2}})) == Ints{0, 1, 2, 3, 0, 0});
  CHECK(ints(graven::pad(x, {{1, 0}}, "CONSTANT", 7)) == Ints{7, 1, 2, 3});
  CHECK(ints(graven::pad(x, {{2, 1}}, "REFLECT")) == Ints{3, 2, 1, 2, 3, 2});
  CHECK(ints(graven::pad(x, {{2, 1}}, "SYMMETRIC")) == Ints{2, 1, 1, 2, 3, 3});
  CHECK(graven::pad(Tensor{{1, 2}}, {{1, 1}, {0, 1}}).shape() == Shape{3, 3});
  CHECK_THROWS_WITH_AS(graven::pad(x, {{1, 1}}, "WRAP"),
                       doctest::Contains("Received `mode` = WRAP"), graven::Error);
}

TEST_CASE("tile, repeat and reverse") {
  Tensor x = {{1, 2}, {3, 4}};
  CHECK(ints(graven::tile(x, {1, 2})) == Ints{1, 2, 1, 2, 3, 4, 3, 4});
  CHECK(ints(graven::repeat(x, 2)) == Ints{1, 1, 2, 2, 3, 3, 4, 4});
  CHECK(ints(graven::repeat(x, {1, 2}, 0)) == Ints{1, 2, 3, 4, 3, 4});
  CHECK(ints(graven::repeat(x, 2, -1)) == Ints{1, 1, 2, 2, 3, 3, 4, 4});
  CHECK(ints(graven::reverse(x, {0})) == Ints{3, 4, 1, 2});
  CHECK(ints(graven::reverse(x, {0, -1})) == Ints{4, 3, 2, 1});
  CHECK_THROWS_WITH_AS(graven::repeat(x, {1, 2, 3}, 0), doctest::Contains("are incompatible"),
                       graven::Error);
}

TEST_CASE("split takes a number of parts, or their sizes") {
  Tensor x = {1, 2, 3, 4};
  CHECK(graven::split(x, 2).size() == 2);
  auto parts = graven::split(x, {1, -1}, 0);
  REQUIRE(parts.size() == 2);
  CHECK(ints(parts[0]) == Ints{1});
  CHECK(ints(parts[1]) == Ints{2, 3, 4});
}

TEST_CASE("boolean_mask takes slices where the mask holds") {
  Tensor x = {{1, 2}, {3, 4}, {5, 6}};
  CHECK(ints(graven::boolean_mask(x, {true, false, true})) == Ints{1, 2, 5, 6});
  CHECK(ints(graven::boolean_mask(x, {false, true}, 1)) == Ints{2, 4, 6});
  CHECK(ints(graven::boolean_mask(x, x > 2)) == Ints{3, 4, 5, 6});
  CHECK_THROWS_WITH_AS(graven::boolean_mask(x, true), doctest::Contains("cannot be scalar"),
                       graven::Error);
  CHECK_THROWS_WITH_AS(graven::boolean_mask(x, {true, false}), doctest::Contains("incompatible"),
                       graven::Error);
}

// -1 stood for the masked sizes, of which nothing is left where the others hold 0.
TEST_CASE("boolean_mask takes empty slices too") {
  CHECK(graven::boolean_mask(graven::zeros({3, 0}), {true, false, true}).shape() == Shape{2, 0});
}

TEST_CASE("boolean_mask counts a negative axis from an end that is known when it runs") {
  auto f = graven::function([](const Tensor& x) {
    return graven::boolean_mask(x, {false, true}, /*axis=*/-1);
  });
  auto concrete = f.get_concrete_function(graven::TensorSpec{Shape::unknown_rank(), DType::kInt32});
  CHECK(ints(concrete(Tensor{{1, 2}, {3, 4}})) == Ints{2, 4});
  CHECK(ints(concrete(Tensor{1, 2})) == Ints{2});
}

TEST_CASE("gather_nd takes slices, in batches too") {
  Tensor x = {{1, 2}, {3, 4}};
  CHECK(ints(graven::gather_nd(x, Tensor{{0, 0}, {1, 1}})) == Ints{1, 4});
  CHECK(ints(graven::gather_nd(x, Tensor{{1}})) == Ints{3, 4});
  CHECK(ints(graven::gather_nd(x, Tensor{{1}, {0}}, /*batch_dims=*/1)) == Ints{2, 3});
}

TEST_CASE("gather_nd takes no batch_dims below zero or beyond the ranks") {
  Tensor x = {{1, 2}, {3, 4}}, places = {{1}, {0}};
  CHECK_THROWS_WITH_AS(graven::gather_nd(x, places, -1),
                       doctest::Contains("tf.gather_nd does not allow negative batch_dims."),
                       graven::Error);
  CHECK_THROWS_WITH_AS(graven::gather_nd(x, places, 2),
                       doctest::Contains("must be less than rank(`indices`) = 2"), graven::Error);
  CHECK_THROWS_WITH_AS(graven::gather_nd(Tensor{1, 2}, places, 1),
                       doctest::Contains("must be less than rank(`params`) = 1"), graven::Error);
}

TEST_CASE("strided_slice with masks and negative strides") {
  Tensor x = {0, 1, 2, 3, 4};
  CHECK(ints(graven::strided_slice(x, {1}, {4})) == Ints{1, 2, 3});
  CHECK(ints(graven::strided_slice(x, {4}, {0}, {.strides = {-2}})) == Ints{4, 2});
  CHECK(ints(graven::strided_slice(x, {0}, {2}, {.end_mask = 1})) == Ints{0, 1, 2, 3, 4});
  Tensor one = graven::strided_slice(x, {3}, {4}, {.shrink_axis_mask = 1});
  CHECK(one.shape() == Shape{});
  CHECK(one.item<int32_t>() == 3);
}

TEST_CASE("ensure_shape checks, and identity_n gives what it took") {
  CHECK(graven::ensure_shape(Tensor{1, 2}, Shape{2}).shape() == Shape{2});
  CHECK_THROWS_AS(graven::ensure_shape(Tensor{1, 2}, Shape{3}), graven::Error);
  auto same = graven::identity_n({Tensor{1}, Tensor{2.0}});
  CHECK(same[1].item<float>() == 2);
}

TEST_CASE("saturate_cast stops at the bounds of both dtypes") {
  Tensor x = {-1.0, 300.0, 7.0};
  CHECK(graven::saturate_cast(x, DType::kUInt8).to_vector<uint8_t>() ==
        std::vector<uint8_t>{0, 255, 7});
  Tensor big = Tensor::of(std::vector<uint64_t>{std::numeric_limits<uint64_t>::max()}, {1});
  CHECK(graven::saturate_cast(big, DType::kInt64).item<int64_t>() ==
        std::numeric_limits<int64_t>::max());
  CHECK_THROWS_WITH_AS(graven::saturate_cast("a", DType::kInt32),
                       doctest::Contains("Cannot find minimum value of tf.string."), graven::Error);
  CHECK_THROWS_AS(graven::saturate_cast(1.0, DType::kBool), graven::Error);
}

// The limits of int32 as float32 were 2^31, which the cast took for -2^31.
TEST_CASE("saturate_cast stops at integers that the floats of its input hold") {
  auto saturated = [](double x, DType from, DType to) {
    return graven::cast(graven::saturate_cast(graven::cast(Tensor(x), from), to), DType::kInt64)
        .item<int64_t>();
  };
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  for (double big : {1e10, 1e30}) {
    CHECK(saturated(big, DType::kFloat32, DType::kInt32) == 2147483520);
    CHECK(saturated(big, DType::kFloat64, DType::kInt32) == 2147483647);
    CHECK(saturated(big, DType::kBFloat16, DType::kInt32) == 2139095040);
    CHECK(saturated(big, DType::kHalf, DType::kInt32) == 65504);
    CHECK(saturated(big, DType::kFloat32, DType::kUInt32) == 4294967040);
    CHECK(saturated(big, DType::kBFloat16, DType::kUInt8) == 255);
  }
  for (DType from : {DType::kFloat32, DType::kFloat64, DType::kBFloat16}) {
    CHECK(saturated(-1e30, from, DType::kInt32) == std::numeric_limits<int32_t>::min());
    CHECK(saturated(-1e30, from, DType::kInt64) == kLeast);
    CHECK(saturated(-1e30, from, DType::kUInt64) == 0);
  }
  CHECK(saturated(-1e30, DType::kHalf, DType::kInt64) == -65504);
  CHECK(saturated(1e30, DType::kBFloat16, DType::kInt64) == -(kLeast >> 8) * 255);
  CHECK(saturated(1e30, DType::kFloat32, DType::kInt64) == -(kLeast >> 24) * ((1 << 24) - 1));
  CHECK(saturated(1e30, DType::kFloat64, DType::kInt64) ==
        -(kLeast >> 53) * ((int64_t{1} << 53) - 1));
}

TEST_CASE("saturate_cast between floats makes infinities finite") {
  Tensor x = {1e30, -1e30, -std::numeric_limits<double>::infinity()};
  auto as_floats = [&](DType from, DType to) {
    return floats(graven::cast(graven::saturate_cast(graven::cast(x, from), to), DType::kFloat32));
  };
  const float most = std::numeric_limits<float>::max();
  CHECK(as_floats(DType::kFloat32, DType::kFloat32) == Floats{1e30f, -1e30f, -most});
  CHECK(as_floats(DType::kFloat64, DType::kHalf) == Floats{65504, -65504, -65504});
  // bfloat16 has no 65504.
  CHECK(as_floats(DType::kBFloat16, DType::kHalf) == Floats{65280, -65280, -65280});
  CHECK(as_floats(DType::kHalf, DType::kFloat64) == Floats{65504, -65504, -65504});
}

TEST_CASE("saturate_cast clips the parts of complex numbers") {
  Tensor z = Tensor::of(std::vector<std::complex<double>>{{1e300, 1}, {-2, -1e300}}, Shape{2});
  const float most = std::numeric_limits<float>::max();
  CHECK(graven::saturate_cast(z, DType::kComplex64).to_vector<std::complex<float>>() ==
        std::vector<std::complex<float>>{{most, 1}, {-2, -most}});
  CHECK(ints(graven::saturate_cast(z, DType::kInt32)) == Ints{2147483647, -2});
  CHECK(graven::saturate_cast(Tensor{1, 2}, DType::kComplex64).dtype() == DType::kComplex64);
}

TEST_CASE("linspace holds both ends, and tensors get a new axis") {
  CHECK(floats(graven::linspace(0.0, 1.0, 5)) == Floats{0, 0.25f, 0.5f, 0.75f, 1});
  CHECK(floats(graven::linspace(3.0, 9.0, 1)) == Floats{3});
  CHECK(graven::linspace(3.0, 9.0, 0).shape() == Shape{0});
  Tensor rows = graven::linspace(Tensor{0.0, 1.0}, Tensor{2.0, 3.0}, 3, /*axis=*/1);
  CHECK(floats(rows) == Floats{0, 1, 2, 1, 2, 3});
  CHECK_THROWS_WITH_AS(graven::linspace(0.0, 1.0, -1), doctest::Contains("Requires num >= 0"),
                       graven::Error);
}

TEST_CASE("a negative number of linspace is a ValueError in a trace") {
  auto f = graven::function([](const Tensor& x) { return graven::linspace(x, 1.0, -1); });
  const graven::Error error = error_of([&] { f(Tensor(0.0)); });
  CHECK(error.kind() == graven::ErrorKind::kValueError);
  CHECK(contains(error.message(), "Requires num >= 0: -1"));
  CHECK(error_of([] { graven::linspace(0.0, 1.0, -1); }).code() == graven::Code::kInvalidArgument);
}

TEST_CASE("meshgrid in both orders") {
  Tensor x = {1, 2, 3}, y = {4, 5};
  auto grids = graven::meshgrid({x, y});
  CHECK(grids[0].shape() == Shape{2, 3});
  CHECK(ints(grids[1]) == Ints{4, 4, 4, 5, 5, 5});
  CHECK(ints(graven::meshgrid({x, y}, "ij")[0]) == Ints{1, 1, 2, 2, 3, 3});
  CHECK(graven::meshgrid({}).empty());
}

TEST_CASE("sequence_mask up to the largest length, or a given one") {
  CHECK(graven::sequence_mask({1, 2}).to_vector<bool>() ==
        std::vector<bool>{true, false, true, true});
  CHECK(ints(graven::sequence_mask({1, 0}, 2, DType::kInt32)) == Ints{1, 0, 0, 0});
}

TEST_CASE("sort, argsort and top_k") {
  Tensor x = {{3, 1, 2}, {6, 5, 4}};
  CHECK(ints(graven::sort(x)) == Ints{1, 2, 3, 4, 5, 6});
  CHECK(ints(graven::sort(x, 0, "DESCENDING")) == Ints{6, 5, 4, 3, 1, 2});
  CHECK(ints(graven::argsort(x)) == Ints{1, 2, 0, 2, 1, 0});
  CHECK(floats(graven::sort(Tensor{2.0, -1.0})) == Floats{-1, 2});
  auto [values, indices] = graven::math::top_k(x, 2);
  CHECK(ints(values) == Ints{3, 2, 6, 5});
  CHECK(ints(indices) == Ints{0, 2, 0, 1});
  CHECK_THROWS_WITH_AS(graven::sort(x, 2), doctest::Contains("axis must be in [-2, 2)"),
                       graven::Error);
  CHECK_THROWS_WITH_AS(graven::sort(x, 0, "UP"), doctest::Contains("direction=UP"), graven::Error);
}

TEST_CASE("movement that is made of several ops is traced with unknown sizes") {
  auto f = graven::function([](const Tensor& x) {
    return graven::boolean_mask(graven::repeat(x, 2, 0), graven::sequence_mask(3, 2 * 3));
  });
  auto concrete =
      f.get_concrete_function(graven::TensorSpec{Shape{graven::Dim::unknown()}, DType::kInt32});
  CHECK(ints(concrete(Tensor{1, 2, 3})) == Ints{1, 1, 2});
}

TEST_CASE("axes of tensors of unknown rank are found when a function runs") {
  const Tensor x = {{3, 1, 2}, {6, 5, 4}};
  auto check = [&](auto body) {
    auto f = graven::function([&](const Tensor& x) { return body(x); });
    auto concrete =
        f.get_concrete_function(graven::TensorSpec{Shape::unknown_rank(), DType::kInt32});
    Tensor eager = body(x), traced = concrete(x);
    CHECK(traced.shape() == eager.shape());
    CHECK(traced.dtype() == eager.dtype());
    CHECK(traced.to_string() == eager.to_string());
  };
  check([](const Tensor& x) { return graven::transpose(x); });
  for (int axis : {-2, -1, 0, 1}) {
    CAPTURE(axis);
    check([=](const Tensor& x) { return graven::sort(x, axis); });
    check([=](const Tensor& x) { return graven::argsort(x, axis, "DESCENDING"); });
    check([=](const Tensor& x) { return graven::repeat(x, 2, axis); });
    check([=](const Tensor& x) {
      return graven::linspace(graven::cast(x, DType::kFloat32), 0.0, 3, axis);
    });
    check([=](const Tensor& x) {
      return graven::nn::softmax(graven::cast(x, DType::kFloat32), axis);
    });
    check([=](const Tensor& x) {
      const Tensor logits = graven::cast(x, DType::kFloat32);
      return graven::nn::softmax_cross_entropy_with_logits(logits / 7, logits, axis);
    });
    check([=](const Tensor& x) { return graven::tensordot(x, x, {{axis}, {axis}}); });
  }
  check([](const Tensor& x) { return graven::repeat(x, {1, 2}, -2); });
  check([](const Tensor& x) { return graven::tensordot(x, x, 2); });
  check([](const Tensor& x) { return graven::tensordot(x, x, 0); });
}
