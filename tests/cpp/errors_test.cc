#include <doctest/doctest.h>
#include <graven/graven.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "error_of.h"

using graven::Code;
using graven::Error;
using graven::ErrorKind;
using graven::Shape;
using graven::Tensor;
using graven::TensorSpec;
using graven::Variable;

namespace {

std::string line_of(int line) { return std::string(__FILE__) + ":" + std::to_string(line) + ":"; }

}  // namespace

TEST_CASE("an error names the user's line first") {
  Tensor x = {1.0, 2.0}, y = {1.0, 2.0, 3.0};
  int line = 0;
  Error error = error_of([&] {
    line = __LINE__ + 1;
    return x + y;
  });
  CHECK(std::string(error.what()).find(line_of(line)) == 0);
  CHECK(error.where().line() == static_cast<unsigned>(line));
  CHECK(error.code() == Code::kInvalidArgument);
  CHECK(contains(error.message(), "[2]"));
  CHECK(contains(error.message(), "[3]"));
}

TEST_CASE("tensors of two dtypes are not promoted") {
  Error error = error_of([] { return Tensor(1) + Tensor(1.0); });
  CHECK(contains(error.message(), "int32"));
  CHECK(contains(error.message(), "float"));
}

TEST_CASE("a fraction is no integer") {
  Error error = error_of([] { return Tensor(1) + 1.5; });
  CHECK(error.kind() == ErrorKind::kTypeError);
  CHECK(contains(error.message(), "Cannot convert 1.5 to EagerTensor of dtype int32"));
}

TEST_CASE("an integer that does not fit its dtype is refused") {
  Error error = error_of([] { return Tensor(1) + (int64_t{1} << 40); });
  CHECK(error.kind() == ErrorKind::kValueError);
  CHECK(contains(error.message(), "1099511627776"));
}

TEST_CASE("no tensor is no operand") {
  Error error = error_of([] { return Tensor() + 1; });
  CHECK(contains(error.message(), "no tensor"));
  CHECK_THROWS_AS(Variable{Tensor()}, Error);
  CHECK_THROWS_AS(Variable().value(), Error);
}

TEST_CASE("shapes that disagree are a ValueError while tracing, on the line of the op") {
  int line = 0;
  auto f = graven::function([&](const Tensor& x, const Tensor& y) {
    line = __LINE__ + 1;
    return x + y;
  });
  Error error = error_of([&] { f({1.0, 2.0}, {1.0, 2.0, 3.0}); });
  CHECK(error.kind() == ErrorKind::kValueError);
  CHECK(contains(error.what(), line_of(line)));
  CHECK(f.experimental_get_tracing_count() == 0);
}

// The size that is not known was passed on as -1, an unknown rank as that of a scalar.
TEST_CASE("a shape that is not fully known is no sizes") {
  int line = 0;
  auto f = graven::function([&](const Tensor& x) {
    line = __LINE__ + 1;
    return graven::zeros(x.shape());
  });
  for (const Shape& shape : {Shape{2, graven::Dim::unknown()}, Shape::unknown_rank()}) {
    Error error = error_of([&] { f.get_concrete_function(TensorSpec{shape}); });
    CHECK(error.kind() == ErrorKind::kValueError);
    CHECK(contains(error.message(), "The shape " + shape.to_text() + " is not fully known"));
    CHECK(contains(error.message(), "graven::shape(x)"));
    CHECK(contains(error.what(), line_of(line)));
  }
  CHECK(f(Tensor{1.0, 2.0}).shape() == Shape{2});
}

TEST_CASE("an error of a run names the line where the node was made") {
  int line = 0;
  auto f = graven::function([&](const Tensor& x, const Tensor& y) {
    line = __LINE__ + 1;
    return x + y;
  });
  TensorSpec any{Shape{graven::Dim::unknown()}};
  f.get_concrete_function(any, any);
  int call = 0;
  Error error = error_of([&] {
    call = __LINE__ + 1;
    f({1.0, 2.0}, {1.0, 2.0, 3.0});
  });
  CHECK(std::string(error.what()).find(line_of(call)) == 0);
  CHECK(contains(error.what(), "Graph execution error:"));
  CHECK(contains(error.what(), line_of(line)));
  CHECK(error.code() == Code::kInvalidArgument);
}

TEST_CASE("an exception of the body comes back as the very object") {
  struct Own : std::runtime_error {
    explicit Own(std::shared_ptr<int> tag) : std::runtime_error("own"), tag(std::move(tag)) {}
    std::shared_ptr<int> tag;
  };
  auto tag = std::make_shared<int>(7);
  const Own* thrown = nullptr;
  auto f = graven::function([&](const Tensor& x) -> Tensor {
    try {
      throw Own(tag);
    } catch (const Own& own) {
      thrown = &own;
      throw;
    }
    return x;
  });
  try {
    f(1.0);
    FAIL("no exception");
  } catch (const Own& caught) {
    CHECK(&caught == thrown);
    CHECK(caught.tag == tag);
  }
}

TEST_CASE("anything that is thrown comes through two functions") {
  auto inner = graven::function([](const Tensor& x) -> Tensor {
    if (x.shape() == Shape{}) throw 42;
    return x;
  });
  auto outer = graven::function([&](const Tensor& x) { return inner(x) * 2; });
  int caught = 0;
  try {
    outer(1.0);
  } catch (int number) {
    caught = number;
  }
  CHECK(caught == 42);
}

TEST_CASE("a trace that failed has not happened") {
  bool fails = true;
  auto f = graven::function([&](const Tensor& x) {
    if (fails) throw std::runtime_error("not yet");
    return x + 1;
  });
  CHECK_THROWS_AS(f(1.0), std::runtime_error);
  fails = false;
  CHECK(f(1.0).item<float>() == 2);
  CHECK(f.experimental_get_tracing_count() == 1);
}

TEST_CASE("a first call that failed is not the first call") {
  Variable kept;
  bool fails = true;
  auto f = graven::function([&](const Tensor& x) {
    if (fails) throw std::runtime_error("not yet");
    if (kept.is_none()) kept = Variable(5.0);
    return x + kept;
  });
  CHECK_THROWS_AS(f(1.0), std::runtime_error);
  fails = false;
  CHECK(f(1.0).item<float>() == 6);
}

TEST_CASE("a symbolic tensor has no value and no truth") {
  auto value = graven::function([](const Tensor& x) { return Tensor(x.item<float>()); });
  CHECK(error_of([&] { value(1.0); }).kind() == ErrorKind::kNotImplementedError);
  auto truth = graven::function([](const Tensor& x) { return x > 0 ? x : -x; });
  Error error = error_of([&] { truth(1.0); });
  CHECK(error.kind() == ErrorKind::kOperatorNotAllowedInGraphError);
  CHECK(contains(error.message(), "Using a symbolic `tf.Tensor` as a C++ `bool` is not allowed"));
}

TEST_CASE("a tensor that leaked out of its trace is out of scope") {
  Tensor leaked;
  auto f = graven::function([&](const Tensor& x) {
    leaked = x + 1;
    return leaked;
  });
  f(1.0);
  Error error = error_of([&] { return leaked + 1; });
  CHECK(error.kind() == ErrorKind::kTypeError);
  CHECK(contains(error.message(), "is out of scope"));
  CHECK(contains(error.message(), __FILE__));
}

TEST_CASE("a flat call checks number and dtypes") {
  auto f = graven::function([](const Tensor& x) { return x + x; }, {.name = "twice"});
  auto twice = f.get_concrete_function(Tensor("a"));
  Error dtype = error_of([&] { twice.call_flat({1}); });
  CHECK(dtype.code() == Code::kInvalidArgument);
  CHECK(contains(dtype.message(),
                 "as input #0(zero-based) was expected to be a string tensor but "
                 "is a int32 tensor"));
  Error number = error_of([&] { twice.call_flat({"a", "b"}); });
  CHECK(number.kind() == ErrorKind::kValueError);
  CHECK(error_of([&] { twice.call_flat({Tensor()}); }).kind() == ErrorKind::kTypeError);
}

TEST_CASE("a structured call checks types") {
  auto f = graven::function([](const Tensor& x, int n) { return x * n; });
  auto twice = f.get_concrete_function(TensorSpec{Shape{2}}, 2);
  CHECK(twice({1.0, 2.0}, 2).to_vector<float>() == std::vector<float>{2, 4});
  Error error = error_of([&] { twice({1.0, 2.0}, 3); });
  CHECK(error.kind() == ErrorKind::kTypeError);
  CHECK(contains(error.message(), "Can not cast Literal[3] to Literal[2]"));
  CHECK(error_of([&] { twice({1.0}, 2); }).kind() == ErrorKind::kTypeError);
}

TEST_CASE("names and signatures have one part for each parameter") {
  auto body = [](const Tensor& x) { return x; };
  CHECK_THROWS_AS(graven::function(body, {.parameters = {"x", "y"}}), Error);
  CHECK_THROWS_AS(graven::function(body, {.input_signature = std::vector<TensorSpec>{}}), Error);
}
