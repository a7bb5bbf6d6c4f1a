// Functions that call functions, deeper than stacks are: traced, run, differentiated and freed.
#include <doctest/doctest.h>
#include <graven/graven.h>
#include <pthread.h>

#include <functional>
#include <optional>
#include <string>

#include "error_of.h"

using graven::Error;
using graven::ErrorKind;
using graven::Tensor;

namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr size_t kStack = size_t{64} << 20;  // their frames are larger
#else
constexpr size_t kStack = size_t{8} << 20;
#endif
#if defined(__SANITIZE_THREAD__)
constexpr int kDepth = 200;  // it keeps the whole stack of each lock and atomic that is made
#else
constexpr int kDepth = 1000;
#endif

// Runs the work on a thread with a stack of this size.
void on_stack(size_t bytes, std::function<void()> work) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, bytes) == 0);
  pthread_t thread;
  auto run = [](void* argument) -> void* {
    (*static_cast<std::function<void()>*>(argument))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, run, &work) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&attributes);
}

using Scalar = graven::Function<Tensor(const Tensor&)>;

// Functions of which each calls the one before; the last.
Scalar chain_of(int depth) {
  Scalar last = graven::function([](const Tensor& x) { return x * x; });
  for (int i = 1; i < depth; ++i) {
    last = graven::function([next = last](const Tensor& x) { return next(x) + 1; });
  }
  return last;
}

}  // namespace

TEST_CASE("a trace 1000 functions deep fits in 8 MiB of stack") {
  on_stack(kStack, [] {
    Scalar f = chain_of(kDepth);
    CHECK(f(2.0).item<float>() == 3 + kDepth);
    CHECK(f.experimental_get_tracing_count() == 1);
  });
}

TEST_CASE("functions nested 3000 deep one by one are run, differentiated and freed") {
  on_stack(kStack, [] {
    Tensor x = 3.0;
    std::optional<Scalar> last = graven::function([](const Tensor& x) { return x * x; });
    graven::ConcreteFunction kept = last->get_concrete_function(x);
    for (int i = 1; i < 3000; ++i) {
      last = graven::function([next = *last](const Tensor& x) { return next(x) + 1; });
      kept = last->get_concrete_function(x);  // so no trace goes deep
    }
    CHECK((*last)(x).item<float>() == 9 + 2999);
    last.reset();
    kept = graven::ConcreteFunction(chain_of(1).get_concrete_function(x));
  });
}

TEST_CASE("a gradient goes through functions 1000 deep") {
  on_stack(kStack, [] {
    Scalar f = chain_of(kDepth);
    Tensor x = 2.0;
    graven::GradientTape tape;
    tape.watch(x);
    Tensor y = f(x);
    CHECK(tape.gradient(y, x).item<float>() == 4);
  });
}

TEST_CASE("a function that traces itself is a RecursionError with the user's line") {
  std::optional<Scalar> self;
  int line = 0;
  self = graven::function(
      [&](const Tensor& x) {
        line = __LINE__ + 1;
        return (*self)(x) + 1;
      },
      {.name = "endless"});
  Error error = error_of([&] { (*self)(1.0); });
  CHECK(error.kind() == ErrorKind::kRecursionError);
  CHECK(contains(error.message(), "The function endless traces itself without end"));
  CHECK(contains(error.message(), "endless (repeated "));
  CHECK(contains(error.message(), __FILE__ + (":" + std::to_string(line))));
  CHECK(error.message().ends_with("See docs/errors/recursion.md"));
  CHECK(self->cache_info().entries == 0);
  self.reset();
}

TEST_CASE("functions that trace each other list their chain once") {
  std::optional<Scalar> f, g;
  f = graven::function([&](const Tensor& x) { return (*g)(x) + 1; }, {.name = "f"});
  g = graven::function([&](const Tensor& x) { return (*f)(x)*2; }, {.name = "g"});
  auto outer = graven::function([&](const Tensor& x) { return (*f)(x); }, {.name = "outer"});
  Error error = error_of([&] { outer(1.0); });
  CHECK(error.kind() == ErrorKind::kRecursionError);
  CHECK(contains(error.message(), "outer -> f -> g (repeated "));
  CHECK(contains(error.message(), " times: f -> g) -> f"));
}

TEST_CASE("a trace of other types each time ends with the stack, as an error") {
  std::optional<graven::Function<Tensor(const Tensor&, int64_t)>> self;
  int64_t deepest = 0;
  self = graven::function(
      [&](const Tensor& x, int64_t n) {
        deepest = n;
        return (*self)(x, n + 1);
      },
      {.name = "grows"});
  on_stack(size_t{2} << 20, [&] {
    Error error = error_of([&] { (*self)(1.0, 0); });
    CHECK(error.kind() == ErrorKind::kRecursionError);
    CHECK(contains(error.message(), "Less than 512 KiB of the "));
    CHECK(contains(error.message(), "grows (repeated "));
    CHECK(error.message().ends_with("See docs/errors/recursion.md"));
  });
  CHECK(deepest > 20);
  self.reset();
}

TEST_CASE("a small stack is enough for a function that is not deep") {
  on_stack(size_t{256} << 10, [] { CHECK(chain_of(2)(2.0).item<float>() == 5); });
}
