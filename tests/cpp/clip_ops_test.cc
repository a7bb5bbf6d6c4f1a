#include <doctest/doctest.h>
#include <graven/graven.h>

#include <cmath>
#include <limits>

using graven::Tensor;

namespace {

std::vector<float> floats(const Tensor& x) { return x.to_vector<float>(); }
using Floats = std::vector<float>;

}  // namespace

TEST_CASE("clip_by_norm scales what is longer") {
  CHECK(floats(graven::clip_by_norm(Tensor{6.0, 8.0}, 5)) == Floats{3, 4});
  CHECK(floats(graven::clip_by_norm(Tensor{3.0, 4.0}, 10)) == Floats{3, 4});
  CHECK(floats(graven::clip_by_norm(Tensor{{6.0, 8.0}, {0.0, 0.0}}, 5, 1)) == Floats{3, 4, 0, 0});
  graven::IndexedSlices slices{Tensor{{6.0, 8.0}}, Tensor{2}, Tensor()};
  CHECK(floats(graven::clip_by_norm(slices, 5).values) == Floats{3, 4});
  CHECK_THROWS_WITH_AS(graven::clip_by_norm(1.0, Tensor{1.0, 2.0}),
                       doctest::Contains("are incompatible"), graven::Error);
}

TEST_CASE("the gradient of clip_by_norm at zero is no NaN") {
  Tensor x = {0.0};
  graven::GradientTape tape;
  tape.watch(x);
  CHECK(floats(tape.gradient(graven::clip_by_norm(x, 1), x)) == Floats{1});
}

TEST_CASE("clip_by_global_norm scales all by one factor") {
  std::vector<Tensor> gradients = {Tensor{3.0}, Tensor(), Tensor{0.0, 4.0}};
  CHECK(graven::linalg::global_norm(gradients).item<float>() == 5);
  auto [clipped, norm] = graven::clip_by_global_norm(gradients, 2.5);
  CHECK(norm.item<float>() == 5);
  CHECK(floats(clipped[0]) == Floats{1.5f});
  CHECK(clipped[1].is_none());
  CHECK(floats(clipped[2]) == Floats{0, 2});
  CHECK(floats(graven::clip_by_global_norm(gradients, 50).list_clipped[0]) == Floats{3});
  Tensor infinite = {std::numeric_limits<float>::infinity()};
  CHECK(
      std::isnan(graven::clip_by_global_norm({infinite}, 1).list_clipped[0].to_vector<float>()[0]));
}
