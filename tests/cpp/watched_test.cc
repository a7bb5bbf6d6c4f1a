// Values of the program's that a function is told of, and that change.
#include <doctest/doctest.h>
#include <graven/graven.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "error_of.h"

using graven::Stale;
using graven::Tensor;

static_assert(graven::kIsCapture<graven::watched<double>>);
static_assert(!graven::kIsCapture<double> && !graven::kIsCapture<std::string>);

namespace {

auto scaled_by(const graven::watched<float>& rate, graven::FunctionOptions options = {}) {
  return graven::function(
      graven::captures(rate), [rate](const Tensor& x) { return x * rate.get(); },
      std::move(options));
}

}  // namespace

TEST_CASE(
    "a watched value that changes is traced again, and a value that is back finds its trace") {
  graven::watched rate(2.0f);
  auto f = scaled_by(rate);
  CHECK(f(1.0).item<float>() == 2);
  rate = 3.0f;
  CHECK(f(1.0).item<float>() == 3);
  CHECK(f.cache_info().signatures.back().why_traced.find("changed from 2 to 3") !=
        std::string::npos);
  rate = 2.0f;
  CHECK(f(1.0).item<float>() == 2);
  CHECK(f.experimental_get_tracing_count() == 2);
}

TEST_CASE("an equal value that is assigned causes nothing") {
  graven::watched<std::string> mode(std::string("twice"));
  auto f = graven::function(graven::captures(mode),
                            [&](const Tensor& x) { return mode.get() == "twice" ? x * 2.0f : x; });
  CHECK(f(1.0).item<float>() == 2);
  mode = "twice";
  CHECK(f(1.0).item<float>() == 2);
  CHECK(f.experimental_get_tracing_count() == 1);
  mode = "once";
  CHECK(f(1.0).item<float>() == 1);
}

TEST_CASE("a value that the graph does not show keeps the trace") {
  graven::watched step(0);
  int seen = -1;
  auto f = graven::function(graven::captures(step), [&](const Tensor& x) {
    seen = step.get();
    return x + 1.0f;
  });
  f(1.0);
  step = 1;
  f(1.0);
  CHECK(seen == 1);
  CHECK(f.cache_info().entries == 1);
}

TEST_CASE("a trace reads one version") {
  graven::watched rate(1.0f);
  auto f = graven::function(graven::captures(rate), [&](const Tensor& x) {
    const Tensor first = x * rate.get();
    rate = rate.get() + 1.0f;
    return first + rate.get();
  });
  CHECK(f(10.0).item<float>() == 11);
}

TEST_CASE("what an inner function watches is watched by the outer one") {
  graven::watched rate(2.0f);
  auto inner = scaled_by(rate);
  CHECK(inner(1.0).item<float>() == 2);  // a trace that the outer one finds
  auto outer = graven::function(graven::captures(inner), [=](const Tensor& x) { return inner(x); });
  CHECK(outer(1.0).item<float>() == 2);
  rate = 5.0f;
  CHECK(outer(1.0).item<float>() == 5);
}

TEST_CASE("what happens to a stale trace is an option") {
  graven::watched rate(2.0f);
  auto ignores = scaled_by(rate, {.stale = Stale::kIgnore});
  auto warns = scaled_by(rate, {.stale = Stale::kWarn});
  auto refuses = scaled_by(rate, {.name = "refuses", .stale = Stale::kError});
  for (const auto* f : {&ignores, &warns, &refuses}) CHECK((*f)(1.0).item<float>() == 2);
  rate = 3.0f;
  CHECK(ignores(1.0).item<float>() == 2);
  CHECK(warns(1.0).item<float>() == 2);
  const std::string error = error_of([&] { refuses(1.0); }).what();
  CHECK(error.find("watched_test.cc") != std::string::npos);
  CHECK(error.find("refuses: the watched value of watched_test.cc:") != std::string::npos);
  CHECK(error.find("changed from 2 to 3") != std::string::npos);
  rate = 2.0f;
  CHECK(refuses(1.0).item<float>() == 2);
}

TEST_CASE("a concrete function stays what it is") {
  graven::watched rate(2.0f);
  auto concrete = scaled_by(rate).get_concrete_function(graven::TensorSpec{{}});
  rate = 3.0f;
  CHECK(concrete(1.0).item<float>() == 2);
  auto strict =
      scaled_by(rate, {.stale = Stale::kError}).get_concrete_function(graven::TensorSpec{{}});
  rate = 4.0f;
  CHECK(contains(error_of([&] { strict(1.0); }).what(), "changed from 3 to 4"));
}

TEST_CASE("an explanation lists what is watched") {
  graven::watched rate(2.5f);
  auto f = scaled_by(rate);
  f(1.0);
  CHECK(f.explain().to_json().find("the watched value of watched_test.cc:") != std::string::npos);
}

TEST_CASE("a value is assigned while threads call") {
  graven::watched rate(1.0f);
  auto f = scaled_by(rate);
  std::atomic<bool> is_over = false;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (!is_over) {
        const float y = f(1.0).item<float>();
        wrong += y != 1 && y != 2 && y != 3;
      }
    });
  }
  for (int i = 0; i < 300; ++i) rate = static_cast<float>(i % 3 + 1);
  rate = 3.0f;
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(f(1.0).item<float>() == 3);
}
