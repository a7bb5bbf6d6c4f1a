#include <doctest/doctest.h>
#include <graven/graven.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "error_of.h"

using graven::Code;
using graven::Error;
using graven::ErrorKind;
using graven::Tensor;
using graven::Variable;

// What is refused eagerly as an InvalidArgumentError is refused while tracing as a ValueError, a
// wrong dtype as a TypeError, where inference finds it; what only the values show is found when
// the trace runs. Each message names the op, what must hold and what came.

namespace {

struct Bad {
  const char* name;
  std::function<Tensor(const Tensor& f)> apply;  // f: float32 ones of shape [2, 3]
  Code code;
  const char* message;
  ErrorKind traced;
  const char* traced_message;
};

constexpr int64_t kHuge = int64_t{1} << 40;

const std::vector<Bad>& table() {
  static const auto* rows = new std::vector<Bad>{
      {"a wrong dtype", [](const Tensor& f) { return f + Tensor(1); }, Code::kInvalidArgument,
       "cannot compute AddV2 as input #1(zero-based) was expected to be a float tensor but is a "
       "int32 tensor",
       ErrorKind::kTypeError, "Input 'y' of 'AddV2' Op has type int32 that does not match type"},
      {"a dtype that the op does not take", [](const Tensor& f) { return graven::sqrt(f > 0); },
       Code::kInvalidArgument, "Value for attr 'T' of bool is not in the list of allowed values",
       ErrorKind::kTypeError, "Value for attr 'T' of bool is not in the list of allowed values"},
      {"a wrong rank",
       [](const Tensor& f) {
         return graven::matmul(f, {1.0, 2.0});
       },
       Code::kInvalidArgument, "ndims must be >= 2", ErrorKind::kValueError, "ndims must be >= 2"},
      {"wrong shapes", [](const Tensor& f) { return graven::matmul(f, f); }, Code::kInvalidArgument,
       "[MatMul] Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]", ErrorKind::kValueError,
       "[MatMul] Dimensions must be equal, but are 3 and 2"},
      {"a wrong axis", [](const Tensor& f) { return graven::reduce_sum(f, 2); },
       Code::kInvalidArgument,
       "[Sum] Invalid reduction dimension: axis 2 is out of valid range [-2, 2)",
       ErrorKind::kValueError, "axis 2 is out of valid range [-2, 2)"},
      {"an axis twice",
       [](const Tensor& f) {
         return graven::transpose(f, {0, 0});
       },
       Code::kInvalidArgument, "[Transpose] 1 is missing from {0,0}.", ErrorKind::kOpError,
       "[Transpose] 1 is missing from {0,0}."},
      {"a wrong attribute",
       [](const Tensor& f) {
         return graven::nn::conv2d(graven::reshape(f, {1, 2, 3, 1}), graven::ones({1, 1, 1, 1}), 0,
                                   "SAME");
       },
       Code::kInvalidArgument, "[Conv2D] Stride must be > 0, but got 0", ErrorKind::kValueError,
       "[Conv2D] Stride must be > 0, but got 0"},
      {"an empty list", [](const Tensor&) { return graven::concat({}, 0); }, Code::kInvalidArgument,
       "[ConcatV2] ConcatV2 needs at least one value", ErrorKind::kValueError,
       "[ConcatV2] ConcatV2 needs at least one value"},
      {"more elements than can be counted",
       [](const Tensor&) {
         return graven::fill({kHuge, kHuge}, 1.0);
       },
       Code::kInvalidArgument,
       "[Fill] A shape of [1099511627776,1099511627776] has more elements than an int64",
       ErrorKind::kOpError, "has more elements than an int64"},
      {"more memory than there is", [](const Tensor&) { return graven::ones({kHuge * 32}); },
       Code::kResourceExhausted, "[Fill] Out of memory when allocating a tensor of 35184372088832",
       ErrorKind::kOpError, "[Fill] Out of memory"},
      {"strings beyond memory", [](const Tensor&) { return graven::fill({kHuge}, "a"); },
       Code::kResourceExhausted, "[Fill] Out of memory", ErrorKind::kOpError,
       "[Fill] Out of memory"},
      {"a size below zero", [](const Tensor&) { return graven::fill({-1}, 1.0); },
       Code::kInvalidArgument, "[Fill] Dimension -1 must be >= 0", ErrorKind::kValueError,
       "[Fill] Dimension -1 must be >= 0"},
      {"an index out of range", [](const Tensor& f) { return graven::gather(f, {2}); },
       Code::kInvalidArgument, "[GatherV2] indices[0] = 2 is not in [0, 2)", ErrorKind::kOpError,
       "[GatherV2] indices[0] = 2 is not in [0, 2)"},
      {"NaN as an index",
       [](const Tensor& f) {
         const Tensor nan = Tensor(std::nanf("")) + graven::reduce_sum(f) * 0.0;
         return graven::gather(f, graven::cast(nan, graven::DType::kInt32));
       },
       Code::kInvalidArgument, "is not in [0, 2)", ErrorKind::kOpError, "is not in [0, 2)"},
      {"a range to NaN", [](const Tensor&) { return graven::range(std::nanf("")); },
       Code::kInvalidArgument, "[Range] Requires ((limit - start) / delta) to be a size, got nan",
       ErrorKind::kValueError, "got nan"},
  };
  return *rows;
}

}  // namespace

TEST_CASE("bad input is refused eagerly, in words") {
  for (const Bad& row : table()) {
    INFO(std::string(row.name));
    const Tensor f = graven::ones({2, 3});
    const Error error = error_of([&] { row.apply(f); });
    INFO(std::string(error.what()));
    CHECK(error.code() == row.code);
    CHECK(error.kind() == ErrorKind::kOpError);
    CHECK(contains(error.message(), row.message));
    CHECK(contains(error.what(), __FILE__));
  }
}

TEST_CASE("bad input is refused in a trace, in words") {
  for (const Bad& row : table()) {
    INFO(std::string(row.name));
    auto traced = graven::function([&](const Tensor& f) { return row.apply(f); });
    const Error error = error_of([&] { traced(graven::ones({2, 3})); });
    INFO(std::string(error.what()));
    CHECK(error.kind() == row.traced);
    CHECK(contains(error.message(), row.traced_message));
    CHECK(contains(error.what(), __FILE__));
    const bool has_run = row.traced == ErrorKind::kOpError;
    CHECK(contains(error.what(), "Graph execution error") == has_run);
    CHECK(traced.experimental_get_tracing_count() == (has_run ? 1 : 0));
  }
}

TEST_CASE("a variable may go before the functions that use it") {
  Variable v(1.0);
  auto f = graven::function([&] { return v + 1; });
  CHECK(f().item<float>() == 2);
  v = Variable();  // the trace keeps the value
  CHECK(f().item<float>() == 2);
}

TEST_CASE("a child of a fork computes, with new traces and old ones") {
  const Tensor a = graven::ones({200, 200});
  auto f = graven::function([](const Tensor& x) { return graven::reduce_sum(x * 2 + x); });
  const float expected = f(a).item<float>();
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(60);  // a child that hangs ends with a signal
    auto g = graven::function([](const Tensor& x) { return graven::matmul(x, x); });
    const bool good = f(a).item<float>() == expected &&
                      graven::reduce_sum(g(a)).item<float>() == 200.0f * 200 * 200;
    _exit(good ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("what needs a tensor says so where there is none") {
  const Tensor none, x = {1.0, 2.0};
  const std::vector<std::function<void()>> calls = {
      [&] { x + none; },
      [&] { none.shape(); },
      [&] { none.dtype(); },
      [&] { none.num_elements(); },
      [&] { graven::reduce_sum(none); },
      [&] { graven::math::reduce_variance(none); },
      [&] { graven::nn::softmax(none); },
      [&] { graven::saturate_cast(none, graven::DType::kInt32); },
      [&] {
        graven::stack({none, x});
      },
      [&] { graven::boolean_mask(x, none); },
      [&] { graven::debugging::assert_rank(none, 1); },
      [&] { graven::GradientTape().gradient(none, x); },
      [&] { graven::function([](const Tensor& a) { return a * 2.0; })(none); },
  };
  for (const auto& call : calls) {
    const std::string text = error_of(call).what();
    CHECK(contains(text, "no tensor (None)"));
    CHECK(contains(text, "bad_input_test.cc"));
  }
  CHECK(!none.is_symbolic());
}

TEST_CASE("a variable that was never made says so") {
  const Variable none;
  const std::vector<std::function<void()>> calls = {
      [&] { none.dtype(); },     [&] { none.shape(); }, [&] { none.name(); },
      [&] { none.trainable(); }, [&] { none.value(); }, [&] { none + 1.0; },
  };
  for (const auto& call : calls)
    CHECK(contains(error_of(call).what(), "There is no variable here"));
}

TEST_CASE("a tensor of a trace has no number of elements") {
  auto f = graven::function([](const Tensor& x) {
    x.num_elements();
    return x;
  });
  CHECK(contains(error_of([&] { f(Tensor{1, 2}); }).what(), "Cannot convert a symbolic tf.Tensor"));
}
