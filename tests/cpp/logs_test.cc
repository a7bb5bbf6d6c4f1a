// Logs, from C++, as the engine gives them to its front ends.
#include "graven/function/logs.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "graven/graven.h"

using graven::Tensor;

namespace {

std::vector<std::string>& logged() {
  static std::vector<std::string> lines;
  return lines;
}

}  // namespace

TEST_CASE("logs name the trace and its reason") {
  logged().clear();
  graven::engine::set_log_sink(
      [](graven::engine::Topic, const std::string& line) { logged().push_back(line); });
  graven::logging::set_logs("trace, captures,cache");
  CHECK(graven::logging::get_logs() == "trace,cache,captures");
  auto f = graven::function([](const Tensor& x) { return x; }, {.name = "logged"});
  f(graven::ones({1}));
  f.clear_cache();
  graven::logging::set_logs("");
  graven::engine::set_log_sink(nullptr);
  f(graven::ones({1}));
  REQUIRE(logged().size() == 3);
  CHECK(logged()[0].starts_with("logged#1: traced (x0: float32[1]) in "));
  CHECK(logged()[1] == "logged#1: captures nothing");
  CHECK(logged()[2].starts_with("logged#1: went: cleared. It had 0 hits and took "));
  CHECK_THROWS_WITH_AS(
      graven::logging::set_logs("all"),
      doctest::Contains("There is no log of all: there are trace, cache, captures"), graven::Error);
}
