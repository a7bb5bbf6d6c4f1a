// Explanations and trace locks, from C++.
#include <doctest/doctest.h>
#include <graven/graven.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

using graven::Tensor;

namespace {

Tensor ones(int64_t n) { return Tensor::of(std::vector<float>(n, 1.0f), graven::Shape{n}); }

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string temporary(const std::string& name) {
  return (std::filesystem::temp_directory_path() / (name + std::to_string(::getpid()))).string();
}

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("explain says why each trace was made, and for which line") {
  auto f =
      graven::function([](const Tensor& x, int64_t n) { return x * static_cast<float>(n); },
                       {.name = "scaled", .parameters = {"x", "n"}, .reduce_retracing = false});
  f(ones(1), 2);
  const int line = __LINE__ + 1;
  f(ones(3), 2);
  f(ones(3), 4);
  const graven::Explanation explanation = f.explain();
  REQUIRE(explanation.functions.size() == 1);
  const auto& traces = explanation.functions[0].entries;
  REQUIRE(traces.size() == 3);
  CHECK(traces[0].miss.text == "the first trace");
  CHECK(traces[1].miss.path == "x");
  CHECK(traces[1].miss.now == "float32[3]");
  CHECK(traces[1].miss.before == "float32[1]");
  CHECK(
      traces[1].miss.advice ==
      "One trace serves all of these: get_concrete_function with TensorSpec{Shape{Dim::unknown()}, "
      "DType::kFloat32} in the place of x, or .reduce_retracing = true.");
  CHECK(traces[1].called_at.line == line);
  CHECK(has(traces[1].called_at.file, "explain_test.cc"));
  CHECK(has(traces[2].miss.advice, "TensorSpec{Shape{}, DType::kInt32}"));
  CHECK(has(explanation.to_text(), "scaled#2(x: float32[3], n: 2): 0 hits"));
  CHECK(has(explanation.to_json(), "\"path\": \"x\""));
  CHECK(has(explanation.to_html(), "scaled"));
}

TEST_CASE("explain with arguments says what a call would do, and does not do it") {
  int runs = 0;
  auto f = graven::function([&](const Tensor& x) {
    ++runs;
    return x + 1.0f;
  });
  CHECK(f.explain(ones(1)).functions[0].call->miss->text == "the first trace");
  f(ones(1));
  const auto hit = f.explain(ones(1)).functions[0].call;
  CHECK(hit->number == 1);
  CHECK_FALSE(hit->miss.has_value());
  const auto miss = f.explain(ones(2)).functions[0].call;
  REQUIRE(miss->miss.has_value());
  CHECK(miss->miss->nearest == 1);
  CHECK(miss->usual_bytes > 0);
  const auto spec = f.explain(graven::TensorSpec{graven::Shape{1}}).functions[0].call;
  CHECK(spec->number == 1);
  CHECK(runs == 1);
  CHECK(f.cache_info().hits == 0);
}

TEST_CASE("arguments that a signature refuses are not explained") {
  auto f = graven::function([](const Tensor& x) { return x; },
                            {.input_signature = {{graven::TensorSpec{graven::Shape{2}}}}});
  CHECK_THROWS_AS(f.explain(ones(3)), graven::Error);
  CHECK(f.explain(ones(2)).functions[0].call->miss.has_value());
}

TEST_CASE("all functions are explained together, as a page too") {
  auto f = graven::function([](const Tensor& x) { return x; }, {.name = "page<of>all"});
  f(ones(1));
  const std::string path = temporary("graven_explain");
  graven::write_html(graven::explain(), path);
  const std::string page = content(path);
  CHECK(page.starts_with("<!doctype html>"));
  CHECK(has(page, "page&lt;of&gt;all"));
  std::filesystem::remove(path);
  CHECK_THROWS_WITH_AS(graven::write_html(f.explain(), "/no/such/folder/f.html"),
                       doctest::Contains("cannot write /no/such/folder/f.html: No such file"),
                       graven::Error);
}

TEST_CASE("a trace lock records, and refuses what it has not") {
  const std::string path = temporary("graven_lock");
  int runs = 0;
  auto make = [&] {
    return graven::function(
        [&](const Tensor& x) {
          ++runs;
          return x;
        },
        {.name = "locked", .parameters = {"x"}, .reduce_retracing = false});
  };
  graven::trace_lock(path);
  make()(ones(2));
  graven::end_trace_lock();
  CHECK(content(path) ==
        "{\"graven_trace_lock\": 1}\n"
        "{\"function\": \"locked\", \"arguments\": {\"x\": \"float32[2]\"}}\n");

  graven::trace_lock(path, graven::TraceLockMode::kLocked);
  auto f = make();
  f(ones(2));
  CHECK_THROWS_WITH_AS(f(ones(3)), doctest::Contains("x: float32[3], locked is float32[2]"),
                       graven::TraceLockError);
  CHECK(runs == 2);
  CHECK_THROWS_AS(graven::trace_lock(path), graven::Error);
  graven::end_trace_lock();
  f(ones(3));
  std::filesystem::remove(path);
  CHECK_THROWS_AS(graven::trace_lock(path, graven::TraceLockMode::kLocked), graven::Error);
  graven::end_trace_lock();
}

TEST_CASE("a file that is no trace lock is refused, and nothing is locked") {
  const std::string path = temporary("graven_no_lock");
  const std::string header = "{\"graven_trace_lock\": 1}\n";
  const std::pair<std::string, std::string> table[] = {
      {"", "damaged at line 1: its end is missing"},
      {"no lock\n", "damaged at line 1: no JSON"},
      {"{\"graven_trace_lock\": 2}\n", "has version 2, and this Graven reads version 1"},
      {header + "{\"function\": \"f\"", "damaged at line 2: its end is missing"},
      {header + "{\"function\": \"f\"}\n", "damaged at line 2: a trace has"},
  };
  auto f = graven::function([](const Tensor& x) { return x; }, {.name = "unlocked"});
  f(ones(1));
  const int64_t traces = f.cache_info().traces;
  for (const auto& [text, message] : table) {
    std::ofstream(path) << text;
    CHECK_THROWS_WITH_AS(graven::trace_lock(path, graven::TraceLockMode::kLocked),
                         doctest::Contains(message.c_str()), graven::Error);
    f(ones(1));
    CHECK(f.cache_info().traces == traces);
  }
  f(graven::ones({1, 1}));
  CHECK(f.cache_info().traces == traces + 1);
  std::filesystem::remove(path);
}
