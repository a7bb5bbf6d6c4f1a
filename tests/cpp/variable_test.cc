#include <doctest/doctest.h>
#include <graven/graven.h>

using graven::DType;
using graven::Shape;
using graven::Tensor;
using graven::Variable;

TEST_CASE("a variable keeps its value, and copies are the same variable") {
  Variable v(1.0);
  Variable same = v;
  same.assign_add(2.0);
  CHECK(v.value().item<float>() == 3);
  CHECK(v.is_same(same));
  CHECK(v.name() == "Variable:0");
  CHECK(v.trainable());
  CHECK(v.repr() == "<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=3.0>");
}

TEST_CASE("assignments chain in order") {
  Variable v(1.0);
  v.assign(2.0).assign_add(3.0).assign_sub(0.5);
  CHECK(v.value().item<float>() == 4.5f);
}

TEST_CASE("what was read is a snapshot") {
  Variable v({1.0, 2.0});
  Tensor before = v;
  v.assign({3.0, 4.0});
  CHECK(before.to_vector<float>() == std::vector<float>{1, 2});
  CHECK(v.value().to_vector<float>() == std::vector<float>{3, 4});
}

TEST_CASE("operators act on the value of a variable") {
  Variable v(3.0);
  CHECK((v * v + 1).item<float>() == 10);
  CHECK((2 - v).item<float>() == -1);
}

TEST_CASE("a value of another shape is refused with both shapes") {
  Variable v({1.0, 2.0}, {.name = "weights"});
  CHECK_THROWS_WITH_AS(v.assign({1.0, 2.0, 3.0}),
                       doctest::Contains("Cannot assign value to variable ' weights:0': Shape "
                                         "mismatch. The variable shape (2,), and the assigned "
                                         "value shape (3,)"),
                       graven::Error);
}

TEST_CASE("a tensor of another dtype is refused") {
  Variable v(1.0);
  try {
    v.assign(Tensor(1));
    FAIL("no error");
  } catch (const graven::Error& error) {
    CHECK(error.kind() == graven::ErrorKind::kValueError);
    CHECK(error.message().find("has dtype int32") != std::string::npos);
  }
}

TEST_CASE("a declared shape may be more general than the value's") {
  Variable v({1.0}, {.shape = Shape{graven::Dim::unknown()}});
  v.assign({1.0, 2.0, 3.0});
  CHECK(v.value().shape() == Shape{3});
  CHECK(v.shape() == Shape{graven::Dim::unknown()});
  CHECK_THROWS_WITH_AS(Variable({1.0, 2.0}, {.shape = Shape{3}}),
                       doctest::Contains("is not compatible with the explicitly supplied"),
                       graven::Error);
}

TEST_CASE("rows of a variable are read and changed by index") {
  Variable v({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}});
  CHECK(v.sparse_read({2, 0}).to_vector<float>() == std::vector<float>{5, 6, 1, 2});
  v.scatter_add({.values = Tensor({{10.0, 20.0}}), .indices = Tensor({1}), .dense_shape = {}});
  CHECK(v.value().to_vector<float>() == std::vector<float>{1, 2, 13, 24, 5, 6});
}

TEST_CASE("a name scope stands in front of a variable's name") {
  graven::NameScope scope("encoder");
  CHECK(Variable(1.0, {.name = "w"}).name() == "encoder/w:0");
}

TEST_CASE("a function that makes its variable on the first call traces twice") {
  Variable kept;
  int runs = 0;
  auto f = graven::function([&](const Tensor& x) {
    ++runs;
    if (kept.is_none()) kept = Variable(2.0);
    return kept * x;
  });
  CHECK(f(3.0).item<float>() == 6);
  CHECK(runs == 2);
  CHECK(f.experimental_get_tracing_count() == 2);
  kept.assign(10.0);
  CHECK(f(3.0).item<float>() == 30);
  CHECK(f.experimental_get_tracing_count() == 2);
}

TEST_CASE("making a variable in every trace is the singleton error") {
  auto f = graven::function([](const Tensor& x) { return Variable(1.0) + x; });
  CHECK_THROWS_WITH_AS(f(1.0), doctest::Contains("only supports singleton tf.Variables"),
                       graven::Error);
}

TEST_CASE("a variable on a non-first call is an error") {
  Variable kept;
  auto f = graven::function([&](const Tensor& x) {
    if (x.dtype() == DType::kFloat32 && kept.is_none()) kept = Variable(0.0);
    return x;
  });
  CHECK(f(1).item<int32_t>() == 1);
  CHECK_THROWS_WITH_AS(f(1.0), doctest::Contains("non-first call"), graven::Error);
}

TEST_CASE("an initial value may depend on the arguments of the first call") {
  Variable kept;
  auto f = graven::function([&](const Tensor& x) {
    if (kept.is_none()) kept = Variable(x * 2);
    return kept + x;
  });
  CHECK(f(3.0).item<float>() == 9);
  CHECK(f(1.0).item<float>() == 7);
}

TEST_CASE("a variable made in an init scope has its value at once") {
  Variable kept;
  auto f = graven::function([&] {
    if (kept.is_none()) {
      graven::InitScope scope;
      kept = Variable(4.0);
      CHECK(kept.value().item<float>() == 4);
    }
    return kept.value();
  });
  CHECK(f().item<float>() == 4);
}

TEST_CASE("assignments in a function happen in program order") {
  Variable v(1.0);
  auto f = graven::function(graven::captures(v), [&](const Tensor& x) {
    Tensor before = v;
    v.assign(x);
    Tensor between = v * 10;
    v.assign_add(x);
    return std::tuple(before, between, v.value());
  });
  auto [before, between, after] = f(2.0);
  CHECK(before.item<float>() == 1);
  CHECK(between.item<float>() == 20);
  CHECK(after.item<float>() == 4);
  CHECK(v.value().item<float>() == 4);
}

TEST_CASE("two variables of one type share a trace, the same one twice has its own") {
  auto f = graven::function([](const Variable& a, const Variable& b) {
    a.assign_add(1.0);
    return b + 0.0;
  });
  Variable u(0.0), v(10.0), w(20.0);
  CHECK(f(u, v).item<float>() == 10);
  CHECK(f(u, w).item<float>() == 20);
  CHECK(f.experimental_get_tracing_count() == 1);
  CHECK(f(u, u).item<float>() == 3);
  CHECK(f.experimental_get_tracing_count() == 2);
}

TEST_CASE("rows are multiplied, divided and bounded") {
  Variable v(Tensor{{8.0, 8.0}, {8.0, 8.0}});
  auto rows = [](double x, double y) {
    return graven::IndexedSlices{Tensor{{x, y}}, Tensor{1}, Tensor()};
  };
  v.scatter_mul(rows(2, 4)).scatter_div(rows(4, 1));
  CHECK(v.value().to_vector<float>() == std::vector<float>{8, 8, 4, 32});
  v.scatter_min(rows(9, 9)).scatter_max(rows(5, 5));
  CHECK(v.read_value().to_vector<float>() == std::vector<float>{8, 8, 5, 9});
  CHECK_THROWS_WITH_AS(v.scatter_mul({Tensor{{1, 2}}, Tensor{1}, Tensor()}),
                       doctest::Contains("incompatible type conversion"), graven::Error);
}

TEST_CASE("slices are changed and read by their places") {
  Variable v(Tensor{{1, 2}, {3, 4}});
  v.scatter_nd_update(Tensor{{0, 1}}, Tensor{9}).scatter_nd_add(Tensor{{1}}, Tensor{{10, 20}});
  CHECK(v.value().to_vector<int32_t>() == std::vector<int32_t>{1, 9, 13, 24});
  v.scatter_nd_sub(Tensor{{0, 0}}, Tensor{1});
  v.scatter_nd_min(Tensor{{1, 1}}, Tensor{5}).scatter_nd_max(Tensor{{1, 0}}, Tensor{50});
  CHECK(v.gather_nd(Tensor{{0, 0}, {1, 0}, {1, 1}}).to_vector<int32_t>() ==
        std::vector<int32_t>{0, 50, 5});
  CHECK_THROWS_AS(v.scatter_nd_update(Tensor{{5, 5}}, Tensor{1}), graven::Error);
}

TEST_CASE("a constraint is kept for whoever changes the variable") {
  Variable v(-1.0, {.constraint = [](const Tensor& x) { return graven::maximum(x, 0); }});
  REQUIRE(v.constraint());
  CHECK(v.assign(v.constraint()(v)).value().item<float>() == 0);
  CHECK_FALSE(Variable(1.0).constraint());
}
