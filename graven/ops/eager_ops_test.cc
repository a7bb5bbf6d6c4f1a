// Ops computed at once, against plain C++.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <random>

#include "graven/ops/linear_algebra_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/variable_ops.h"
#include "graven/runtime/eager_builder.h"
#include "graven/runtime/variable.h"

namespace graven::engine {
namespace {

template <typename T>
Tensor tensor(const Shape& shape, const std::vector<T>& values) {
  Tensor made = *Tensor::allocate(kDTypeOf<T>, shape);
  REQUIRE(made.num_elements() == static_cast<int64_t>(values.size()));
  std::copy(values.begin(), values.end(), made.mutable_data<T>().begin());
  return made;
}
template <typename T>
Tensor vector(const std::vector<T>& values) {
  return tensor<T>({Dim(static_cast<int64_t>(values.size()))}, values);
}
template <typename T>
std::vector<T> values(const Tensor& x) {
  REQUIRE(x);
  REQUIRE(dtype_name(x.dtype()) == dtype_name(kDTypeOf<T>));
  auto data = x.data<T>();
  return {data.begin(), data.end()};
}

// The first output; fails the test if the op fails.
template <typename A>
Tensor run(const OpHandle<A>& op, std::initializer_list<Tensor> inputs,
           const std::type_identity_t<A>& attrs = {}) {
  auto outputs = eager_builder().apply(*op, {inputs.begin(), inputs.size()}, attrs);
  REQUIRE_MESSAGE(outputs.ok(), outputs.status().message());
  return outputs->empty() ? Tensor() : (*outputs)[0];
}
template <typename A>
Status status_of(const OpHandle<A>& op, std::initializer_list<Tensor> inputs,
                 const std::type_identity_t<A>& attrs = {}) {
  return eager_builder().apply(*op, {inputs.begin(), inputs.size()}, attrs).status();
}
#define CHECK_SAYS(status, phrase)                                    \
  CHECK_MESSAGE((status).message().find(phrase) != std::string::npos, \
                "message is " << (status).message())

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

void check_close(double got, double expected, double tolerance) {
  if (std::isnan(expected)) {
    CHECK(std::isnan(got));
  } else if (std::isinf(expected)) {
    CHECK(got == expected);
  } else {
    CHECK(std::abs(got - expected) <= tolerance * std::max(1.0, std::abs(expected)));
  }
}

}  // namespace

TEST_CASE("unary functions agree with the standard library, at their edges too") {
  struct Row {
    const OpHandle<NoAttrs>& op;
    std::function<double(double)> reference;
  };
  const Row rows[] = {
      {kNeg, [](double x) { return -x; }},
      {kAbs, [](double x) { return std::abs(x); }},
      {kSign, [](double x) { return std::isnan(x) ? x : (x > 0) - (x < 0); }},
      {kSquare, [](double x) { return x * x; }},
      {kSqrt, [](double x) { return std::sqrt(x); }},
      {kReciprocal, [](double x) { return 1 / x; }},
      {kExp, [](double x) { return std::exp(x); }},
      {kExpm1, [](double x) { return std::expm1(x); }},
      {kLog, [](double x) { return std::log(x); }},
      {kLog1p, [](double x) { return std::log1p(x); }},
      {kSigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {kSin, [](double x) { return std::sin(x); }},
      {kCos, [](double x) { return std::cos(x); }},
      {kTan, [](double x) { return std::tan(x); }},
      {kAsin, [](double x) { return std::asin(x); }},
      {kAcos, [](double x) { return std::acos(x); }},
      {kAtan, [](double x) { return std::atan(x); }},
      {kSinh, [](double x) { return std::sinh(x); }},
      {kCosh, [](double x) { return std::cosh(x); }},
      {kTanh, [](double x) { return std::tanh(x); }},
      {kAsinh, [](double x) { return std::asinh(x); }},
      {kAcosh, [](double x) { return std::acosh(x); }},
      {kAtanh, [](double x) { return std::atanh(x); }},
      {kErf, [](double x) { return std::erf(x); }},
      {kErfc, [](double x) { return std::erfc(x); }},
      {kLgamma, [](double x) { return std::isinf(x) ? kInfinity : std::lgamma(x); }},
      {kFloor, [](double x) { return std::floor(x); }},
      {kCeil, [](double x) { return std::ceil(x); }},
      {kRint, [](double x) { return std::nearbyint(x); }},
      {kRound, [](double x) { return std::nearbyint(x); }},
  };
  std::vector<double> x = {0.0, 0.5, -0.5, 1, -1, 1.5, 2.5, -3.25, 7, kInfinity, -kInfinity, kNaN};
  for (const Row& row : rows) {
    auto y = values<double>(run(row.op, {vector(x)}));
    for (size_t i = 0; i < x.size(); ++i) {
      INFO(row.op.op->name(), " of ", x[i], " is ", y[i]);
      check_close(y[i], row.reference(x[i]), 1e-14);
    }
    CHECK(run(row.op, {tensor<double>({0, 3}, {})}).shape() == Shape({0, 3}));
  }
}

TEST_CASE("binary functions broadcast") {
  Tensor x = tensor<double>({2, 1}, {7, -7}), y = vector<double>({2, -2, 0.5});
  CHECK(values<double>(run(kAddV2, {x, y})) == std::vector<double>{9, 5, 7.5, -5, -9, -6.5});
  CHECK(values<double>(run(kFloorDiv, {x, y})) == std::vector<double>{3, -4, 14, -4, 3, -14});
  CHECK(values<double>(run(kFloorMod, {x, y})) == std::vector<double>{1, -1, 0, 1, -1, 0});
  CHECK(values<double>(run(kTruncateMod, {x, y})) == std::vector<double>{1, 1, 0, -1, -1, -0.0});
  CHECK(values<double>(run(kTruncateDiv, {x, y})) == std::vector<double>{3, -3, 14, -3, 3, -14});
  CHECK(values<double>(run(kMaximum, {x, vector<double>({0, kNaN, 8})}))[2] == 8);
  CHECK(std::isnan(values<double>(run(kMaximum, {x, vector<double>({0, kNaN, 8})}))[4]));
  CHECK(run(kAddV2, {x, tensor<double>({1, 0}, {})}).shape() == Shape({2, 0}));
  CHECK_SAYS(status_of(kAddV2, {y, vector<double>({1, 2})}),
             "[AddV2] Incompatible shapes: [3] vs. [2]");
}

TEST_CASE("products and quotients that hide NaN do so for 0 only") {
  Tensor x = vector<double>({0, 0, 2, kInfinity}), y = vector<double>({0, kInfinity, 0, 0});
  auto product = values<double>(run(kMulNoNan, {x, y}));
  CHECK(product[0] == 0);
  CHECK(std::isnan(product[1]));  // only a y of 0 hides
  CHECK(product[2] == 0);
  CHECK(product[3] == 0);
  CHECK(values<double>(run(kDivNoNan, {x, y})) == std::vector<double>{0, 0, 0, 0});
  CHECK(values<double>(run(kXdivy, {x, vector<double>({0, 1, 4, 1})})) ==
        std::vector<double>{0, 0, 0.5, kInfinity});
  CHECK(values<double>(run(kXlogy, {x, y}))[0] == 0);
}

TEST_CASE("quotients and powers of many integers are those of each alone") {
  std::mt19937 random(7);
  constexpr int32_t kLowest = std::numeric_limits<int32_t>::min();
  std::vector<int32_t> x = {kLowest, kLowest, 0, 5, -5}, y = {-1, 1, -3, -1, kLowest}, powers(5, 0);
  for (int i = 0; i < 1000; ++i) {
    x.push_back(static_cast<int32_t>(random()) >> (random() % 32));
    y.push_back((static_cast<int32_t>(random()) >> (random() % 31)) | 1);
    powers.push_back(static_cast<int32_t>(random() % 40));
  }
  auto quotients = values<int32_t>(run(kFloorDiv, {vector(x), vector(y)}));
  auto power = values<int32_t>(run(kPow, {vector(x), vector(powers)}));
  for (size_t i = 0; i < x.size(); ++i) {
    INFO(x[i], " and ", y[i], ", ", powers[i]);
    auto exact = static_cast<int64_t>(std::floor(static_cast<double>(x[i]) / y[i]));
    CHECK(quotients[i] == static_cast<int32_t>(exact));
    uint32_t product = 1;
    for (int32_t k = 0; k < powers[i]; ++k) product *= static_cast<uint32_t>(x[i]);
    CHECK(power[i] == static_cast<int32_t>(product));
  }
}

TEST_CASE("integers: truncation, wrapping, and what is refused") {
  Tensor x = vector<int32_t>({7, -7, std::numeric_limits<int32_t>::min()});
  Tensor y = vector<int32_t>({2, 2, -1});
  CHECK(values<int32_t>(run(kTruncateDiv, {x, y}))[1] == -3);
  CHECK(values<int32_t>(run(kFloorDiv, {x, y}))[1] == -4);
  CHECK(values<int32_t>(run(kFloorMod, {x, y}))[1] == 1);
  CHECK(values<int32_t>(run(kTruncateDiv, {x, y}))[2] == std::numeric_limits<int32_t>::min());
  Tensor zero = vector<int32_t>({1, 0, 1});
  Status status = status_of(kFloorDiv, {x, zero});
  CHECK(status.code() == Code::kInvalidArgument);
  CHECK_SAYS(status, "[FloorDiv] Integer division by zero");
  CHECK(run(kFloorDiv, {vector<int32_t>({}), tensor<int32_t>({}, {0})}).num_elements() == 0);
  CHECK(values<int32_t>(run(kPow, {x, tensor<int32_t>({}, {3})}))[0] == 343);
  CHECK_SAYS(status_of(kPow, {x, y}), "negative integer powers are not allowed");
}

TEST_CASE("strings are joined and compared") {
  Tensor a = *Tensor::allocate(DType::kString, {2});
  a.mutable_data<std::string>()[0] = "x";
  a.mutable_data<std::string>()[1] = "a rather long string that no small buffer holds";
  Tensor b = Tensor::string_scalar("x");
  CHECK(run(kAdd, {a, b}).data<std::string>()[0] == "xx");
  CHECK(values<bool>(run(kEqual, {a, b})) == std::vector<bool>{true, false});
  CHECK(values<bool>(run(kNotEqual, {a, b})) == std::vector<bool>{false, true});
  Tensor condition = vector<bool>({false, true});
  CHECK(run(kSelectV2, {condition, a, b}).data<std::string>()[0] == "x");
  CHECK(run(kZerosLike, {a}).data<std::string>()[1].empty());
}

TEST_CASE("shapes that do not broadcast are unequal, or an error") {
  Tensor x = vector<float>({1, 2}), y = vector<float>({1, 2, 3});
  CHECK_SAYS(status_of(kEqual, {x, y}), "[Equal] Incompatible shapes: [2] vs. [3]");
  Tensor equal = run(kEqual, {x, y}, {.incompatible_shape_error = false});
  CHECK(equal.rank() == 0);
  CHECK(!equal.item<bool>());
  CHECK(run(kNotEqual, {x, y}, {.incompatible_shape_error = false}).item<bool>());
  CHECK(values<bool>(run(kEqual, {x, x}, {.incompatible_shape_error = false})) ==
        std::vector<bool>{true, true});
}

TEST_CASE("where gives the indices of what is not zero") {
  Tensor x = tensor<float>({2, 3}, {0, 1, 0, 2, 0, -0.0f});
  Tensor index = run(kWhere, {x});
  CHECK(index.shape() == Shape({2, 2}));
  CHECK(values<int64_t>(index) == std::vector<int64_t>{0, 1, 1, 0});
  CHECK(run(kWhere, {tensor<bool>({}, {true})}).shape() == Shape({1, 0}));
  CHECK(run(kWhere, {tensor<bool>({0, 2}, {})}).shape() == Shape({0, 2}));
}

TEST_CASE("select by rows, elements and one condition") {
  Tensor t = tensor<int32_t>({2, 2}, {1, 2, 3, 4}), e = tensor<int32_t>({2, 2}, {5, 6, 7, 8});
  CHECK(values<int32_t>(run(kSelect, {vector<bool>({false, true}), t, e})) ==
        std::vector<int32_t>{5, 6, 3, 4});
  CHECK(values<int32_t>(run(kSelectV2, {vector<bool>({false, true}), t, e})) ==
        std::vector<int32_t>{5, 2, 7, 4});
  CHECK(values<int32_t>(run(kSelect, {tensor<bool>({}, {true}), t, e})) ==
        std::vector<int32_t>{1, 2, 3, 4});
  CHECK_SAYS(status_of(kSelect, {vector<bool>({false, true, true}), t, e}), "condition must be");
}

TEST_CASE("the zeta function and its kin at known places") {
  const double pi = 3.14159265358979323846;
  auto z =
      values<double>(run(kZeta, {vector<double>({2, 4, 1, 0.5}), vector<double>({1, 1, 1, 1})}));
  check_close(z[0], pi * pi / 6, 1e-15);
  check_close(z[1], pi * pi * pi * pi / 90, 1e-15);
  check_close(z[2], kInfinity, 0);
  check_close(z[3], kNaN, 0);
  // An infinite exponent leaves the terms of 1 and more behind, an infinite shift all of them.
  auto far =
      values<double>(run(kZeta, {vector<double>({kInfinity, kInfinity, kInfinity, kInfinity, 2, 1}),
                                 vector<double>({2, 0.5, 0, -2.5, kInfinity, kNaN})}));
  CHECK(far == std::vector<double>{0, kInfinity, kInfinity, kInfinity, 0, kInfinity});
  auto p = values<double>(run(kPolygamma, {vector<double>({0, 1, 2}), vector<double>({1, 1, 1})}));
  check_close(p[0], -0.57721566490153286, 1e-14);
  check_close(p[1], pi * pi / 6, 1e-14);
  check_close(p[2], -2 * 1.2020569031595943, 1e-14);
}

TEST_CASE("casts cut towards zero, round to nearest, and take real parts") {
  CHECK(values<int32_t>(run(kCast, {vector<float>({1.9f, -1.9f})}, {.DstT = DType::kInt32})) ==
        std::vector<int32_t>{1, -1});
  CHECK(values<bool>(run(kCast, {vector<double>({0, -0.0, 1e-300, kNaN})},
                         {.DstT = DType::kBool})) == std::vector<bool>{false, false, true, true});
  CHECK(values<float>(run(kCast, {vector<std::complex<float>>({{3, 4}})},
                          {.DstT = DType::kFloat32})) == std::vector<float>{3});
}

TEST_CASE("tensors are filled, broadcast, concatenated and summed by segments") {
  Tensor filled = run(kFill, {vector<int32_t>({2, 2}), Tensor::scalar(1.5f)});
  CHECK(values<float>(filled) == std::vector<float>{1.5, 1.5, 1.5, 1.5});
  CHECK_SAYS(status_of(kFill, {vector<int32_t>({-1}), Tensor::scalar(1.5f)}), "must be >= 0");
  Tensor column = tensor<float>({2, 1}, {1, 2});
  CHECK(values<float>(run(kBroadcastTo, {column, vector<int32_t>({2, 2, 3})})) ==
        std::vector<float>{1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2});
  CHECK(values<float>(run(kConcatV2, {column, filled, Tensor::scalar(int32_t{1})})) ==
        std::vector<float>{1, 1.5, 1.5, 2, 1.5, 1.5});
  Tensor sums = run(kUnsortedSegmentSum, {tensor<float>({3, 2}, {1, 2, 3, 4, 5, 6}),
                                          vector<int32_t>({1, -1, 1}), Tensor::scalar(int32_t{3})});
  CHECK(values<float>(sums) == std::vector<float>{0, 0, 6, 8, 0, 0});
  CHECK(values<float>(run(kAddN, {column, column, column})) == std::vector<float>{3, 6});
  CHECK(values<float>(run(kSum, {filled, vector<int32_t>({0, -1})})) == std::vector<float>{6});
  CHECK(values<float>(run(kMatMul, {column, column}, {.transpose_b = true})) ==
        std::vector<float>{1, 2, 2, 4});
}

TEST_CASE("a variable is read as snapshots, and written in place if there are none") {
  Ref<Resource> resource(new Variable(DType::kFloat32, {3}, "v"));
  Tensor handle = Tensor::of_resource(resource);
  CHECK(status_of(kReadVariable, {handle}, {.dtype = DType::kFloat32}).code() ==
        Code::kFailedPrecondition);
  CHECK(!run(kVarIsInitialized, {handle}).item<bool>());
  run(kAssignVariable, {handle, vector<float>({1, 2, 3})}, {.dtype = DType::kFloat32});
  auto read = [&] { return run(kReadVariable, {handle}, {.dtype = DType::kFloat32}); };
  Tensor snapshot = read();
  run(kAssignAddVariable, {handle, vector<float>({1, 1, 1})}, {.dtype = DType::kFloat32});
  CHECK(values<float>(snapshot) == std::vector<float>{1, 2, 3});
  CHECK(values<float>(read()) == std::vector<float>{2, 3, 4});
  run(kAssignSubVariable, {handle, vector<float>({2, 2, 2})}, {.dtype = DType::kFloat32});
  CHECK(values<float>(read()) == std::vector<float>{0, 1, 2});
  Status status =
      status_of(kAssignAddVariable, {handle, Tensor::scalar(1.0f)}, {.dtype = DType::kFloat32});
  CHECK(status.code() == Code::kInvalidArgument);
  CHECK_SAYS(status_of(kAssignVariable, {handle, vector<float>({1})}, {.dtype = DType::kFloat32}),
             "Shape mismatch. The variable shape (3,), and the assigned value shape (1,)");
  CHECK(values<int32_t>(run(kVariableShape, {handle})) == std::vector<int32_t>{3});
  run(kDestroyResource, {handle});
  CHECK(!run(kVarIsInitialized, {handle}).item<bool>());
}

// An empty vector of handles was read as one, and whatever stood behind it called.
TEST_CASE("what is no handle of a variable is refused") {
  class Table final : public Resource {
    std::string_view kind() const override { return "Table"; }
  };
  auto refused = [](Tensor handle) {
    return std::string(status_of(kVarIsInitialized, {std::move(handle)}).message());
  };
  CHECK(refused(*Tensor::allocate(DType::kResource, {0})) ==
        "[VarIsInitializedOp] expected a handle of a Variable, got handles of shape [0]");
  CHECK(refused(*Tensor::allocate(DType::kResource, {2})) ==
        "[VarIsInitializedOp] expected a handle of a Variable, got handles of shape [2]");
  CHECK(refused(Tensor::of_resource(nullptr)) ==
        "[VarIsInitializedOp] expected a handle of a Variable, got an empty one");
  CHECK(refused(Tensor::of_resource(Ref<Resource>(new Table()))) ==
        "[VarIsInitializedOp] expected a handle of a Variable, got one of a Table");
}

TEST_CASE("rows of variables are gathered and scattered") {
  Ref<Resource> resource(new Variable(DType::kFloat32, {3, 2}, "v"));
  Tensor handle = Tensor::of_resource(resource);
  ReadVariableAttrs float32 = {.dtype = DType::kFloat32};
  run(kAssignVariable, {handle, tensor<float>({3, 2}, {1, 2, 3, 4, 5, 6})},
      {.dtype = DType::kFloat32});
  auto read = [&] { return values<float>(run(kReadVariable, {handle}, float32)); };
  Tensor rows = vector<int32_t>({2, 0, 2});
  CHECK(values<float>(run(kResourceGather, {handle, rows}, {.dtype = DType::kFloat32})) ==
        std::vector<float>{5, 6, 1, 2, 5, 6});
  CHECK_SAYS(status_of(kResourceGather, {handle, vector<int32_t>({3})}, {.dtype = DType::kFloat32}),
             "indices[0] = 3 is not in [0, 3)");
  run(kResourceScatterAdd, {handle, rows, tensor<float>({3, 2}, {1, 1, 1, 1, 1, 1})}, float32);
  CHECK(read() == std::vector<float>{2, 3, 3, 4, 7, 8});
  run(kResourceScatterMul, {handle, vector<int32_t>({1}), Tensor::scalar(2.0f)}, float32);
  CHECK(read() == std::vector<float>{2, 3, 6, 8, 7, 8});
  CHECK(status_of(kResourceScatterUpdate, {handle, vector<int32_t>({0, 5}), Tensor::scalar(0.0f)},
                  float32)
            .code() == Code::kInvalidArgument);
  CHECK(read()[0] == 2);  // nothing was written
  Tensor places = tensor<int32_t>({2, 2}, {0, 0, 2, 1});
  CHECK(values<float>(run(kResourceGatherNd, {handle, places}, float32)) ==
        std::vector<float>{2, 8});
  run(kResourceScatterNdUpdate, {handle, places, vector<float>({-1, -2})});
  CHECK(read() == std::vector<float>{-1, 3, 6, 8, 7, -2});
  run(kResourceScatterNdMax, {handle, places, vector<float>({0, -5})});
  CHECK(read() == std::vector<float>{0, 3, 6, 8, 7, -2});
  CHECK_SAYS(status_of(kResourceScatterNdAdd,
                       {handle, tensor<int32_t>({1, 2}, {3, 0}), vector<float>({1})}),
             "indices[0] = [3, 0] does not index into shape [3,2]");
}

}  // namespace graven::engine
