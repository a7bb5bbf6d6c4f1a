// The bytes that are charged to entries and listed for the process add up to what the process
// gains. A program of its own, as other tests would share what is made once.
#include <doctest/doctest.h>
#include <malloc.h>

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "graven/function/in_use.h"
#include "graven/function/process_bytes.h"
#include "graven/graven.h"
#include "graven/tensor/allocator.h"

using graven::Tensor;

namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kCountsMalloc = false;  // the sanitizer's malloc keeps no such counts
#else
constexpr bool kCountsMalloc = true;
#endif
constexpr int kEntries = 1000;

// Of the process: what malloc and the allocator of tensors have given out.
int64_t bytes_given_out() {
  graven::engine::free_retired();
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd) +
         graven::engine::Allocator::host().stats().in_use;
}

int64_t bytes_of_process() {
  int64_t total = 0;
  for (const auto& named : graven::engine::process_bytes()) total += named.bytes;
  return total;
}

// f is called with 0 to warm up, then makes an entry with each number; `bytes` are those charged.
void check_sum(const std::string& name, const std::function<void(int64_t n)>& f,
               const std::function<int64_t()>& bytes) {
  CAPTURE(name);
  f(0);
  const int64_t given_out = bytes_given_out(), charged = bytes() + bytes_of_process();
  for (int64_t n = 1; n <= kEntries; ++n) f(n);
  const int64_t gained = bytes_given_out() - given_out;
  const int64_t sum = bytes() + bytes_of_process() - charged;
  MESSAGE(name, ": ", sum / kEntries, " bytes charged for each entry, ", gained / kEntries,
          " gained");
  CHECK(sum > 0.9 * static_cast<double>(gained));
  CHECK(sum < 1.1 * static_cast<double>(gained));
}

// As many functions, and so as many locations, as there are numbers.
template <size_t number>
Tensor tanh_here(const Tensor& x) {
  return graven::tanh(x);
}
template <size_t... numbers>
constexpr auto tanh_in_places(std::index_sequence<numbers...>) {
  return std::array{&tanh_here<numbers>...};
}

int64_t bytes_named(std::string_view name) {
  int64_t total = 0;
  for (const auto& named : graven::engine::process_bytes()) {
    if (named.name == name) total += named.bytes;
  }
  return total;
}

template <typename F>
void check_bytes(const std::string& name, F body, const Tensor& x) {
  auto f = graven::function(body);
  check_sum(
      name, [&](int64_t n) { f(x, n); }, [&] { return f.cache_info().bytes; });
}

}  // namespace

TEST_CASE("what entries are charged for is what the process gains" *
          doctest::skip(!kCountsMalloc)) {
  const Tensor x = Tensor::of(std::vector<float>(24, 0.5f), graven::Shape{4, 6});
  const Tensor w = Tensor::of(std::vector<float>(36, 0.25f), graven::Shape{6, 6});
  check_bytes(
      "chain", [](const Tensor& x, int64_t n) { return graven::tanh(x * n + 1) - x * 2; }, x);
  check_bytes(
      "reduction", [](const Tensor& x, int64_t n) { return graven::reduce_sum(x * x + n); }, x);
  check_bytes(
      "rows", [](const Tensor& x, int64_t n) { return graven::nn::softmax(x * n) * 3; }, x);
  check_bytes(
      "library",
      [&](const Tensor& x, int64_t n) { return graven::nn::relu(graven::matmul(x, w) + n); }, x);
  check_bytes(
      "large constant",
      [](const Tensor& x, int64_t n) {
        return graven::reshape(x, {-1, 1}) * Tensor::of(std::vector<float>(500, 1.0f), {500}) + n;
      },
      x);
  auto inner = graven::function([](const Tensor& x, int64_t n) { return graven::tanh(x) * n; });
  auto outer =
      graven::function([&](const Tensor& x, int64_t n) { return inner(x, n) + inner(x, 7); });
  check_sum(
      "nested", [&](int64_t n) { outer(x, n); },
      [&] { return inner.cache_info().bytes + outer.cache_info().bytes; });
}

TEST_CASE("a tensor that only a trace keeps is charged to it" * doctest::skip(!kCountsMalloc)) {
  const Tensor x = Tensor::of(std::vector<float>(500, 0.5f), graven::Shape{500});
  Tensor given;
  auto f = graven::function(
      [&](const Tensor& x, int64_t n) { return x * std::exchange(given, Tensor()) + n; });
  auto call = [&](int64_t n) {
    given = Tensor::of(std::vector<float>(5000, 2.0f), graven::Shape{10, 500});
    f(x, n);
  };
  check_sum("captured tensor", call, [&] { return f.cache_info().bytes; });
  REQUIRE(f.engine_function()->entries().back()->captures().size() == 1);
  CHECK(f.engine_function()->entries().back()->bytes() > 20'000);
}

TEST_CASE("a buffer that a trace captured twice counts once") {
  const Tensor x = Tensor::of(std::vector<float>(5000, 0.5f), graven::Shape{5000});
  const Tensor y = Tensor(x.with_shape(graven::Shape{5000}));
  auto f = graven::function([&](const Tensor& z) { return x + y + z; });
  auto entry = f.get_concrete_function(1.0f).entry();
  REQUIRE(entry->captures().size() == 2);
  CHECK(entry->bytes() > 20'000);
  CHECK(entry->bytes() < 40'000);
}

TEST_CASE("locations are listed for the process" * doctest::skip(!kCountsMalloc)) {
  const Tensor x = Tensor::of(std::vector<float>(24, 0.5f), graven::Shape{4, 6});
  constexpr auto kPlaces = tanh_in_places(std::make_index_sequence<kEntries + 1>());
  auto bytes_of_locations = [] { return bytes_named("locations of C++"); };
  const int64_t before = bytes_of_locations();
  check_bytes(
      "locations",
      [&](const Tensor& x, int64_t n) { return kPlaces[static_cast<size_t>(n)](x) * n; }, x);
  CHECK(bytes_of_locations() - before > kEntries * 100);
}

TEST_CASE("gradient pairs are charged to their entry when they are made" *
          doctest::skip(!kCountsMalloc)) {
  const Tensor x = Tensor::of(std::vector<float>(24, 0.5f), graven::Shape{4, 6});
  auto f = graven::function([](const Tensor& x, int64_t n) { return graven::tanh(x) * n; });
  auto call = [&](int64_t n) {
    graven::GradientTape tape;
    tape.watch(x);
    Tensor y = f(x, n);
    tape.gradient(y, x);
  };
  check_sum("gradient pair", call, [&] { return f.cache_info().bytes; });
}

TEST_CASE("an entry's bytes grow by what is made of it later") {
  const Tensor x = Tensor::of(std::vector<float>(24, 0.5f), graven::Shape{4, 6});
  auto f = graven::function(
      [](const Tensor& x) { return std::pair(graven::tanh(x) * 2, graven::sin(x)); });
  auto entry = f.get_concrete_function(x).entry();
  const int64_t traced = entry->bytes();
  f(x);
  const int64_t with_program = entry->bytes();
  CHECK(with_program > traced + 1000);
  graven::GradientTape tape({.persistent = true});
  tape.watch(x);
  auto [y, z] = f(x);
  const int64_t with_forward_half = entry->bytes();
  CHECK(with_forward_half > with_program + 1000);
  tape.gradient(y, x);
  const int64_t with_one_half = entry->bytes();
  CHECK(with_one_half > with_forward_half);
  tape.gradient(z, x);  // a half for other outputs
  CHECK(entry->bytes() > with_one_half);
}

TEST_CASE("what a function remembers of traces that went is bounded, and goes with it") {
  constexpr std::string_view kWent = "traces that went";
  const Tensor x = Tensor::of(std::vector<float>(24, 0.5f), graven::Shape{4, 6});
  const int64_t before = bytes_named(kWent);
  {
    auto f = graven::function([](const Tensor& x, int64_t n) { return x * n; }, {.max_traces = 2});
    // Numbers of one length, as each is part of what is remembered.
    for (int64_t n = 1000; n < 1500; ++n) f(x, n);
    const int64_t full = bytes_named(kWent);
    CHECK(full > before + 1000);
    for (int64_t n = 1500; n < 3000; ++n) f(x, n);
    CHECK(std::abs(bytes_named(kWent) - full) < 500);
  }
  graven::engine::free_retired();
  CHECK(bytes_named(kWent) == before);
}

TEST_CASE("kernels of bodies are counted while they live") {
  constexpr std::string_view kKernels = "kernels of bodies";
  const Tensor x = Tensor::of(std::vector<float>(24, 0.5f), graven::Shape{4, 6});
  auto clip = [&](float above) { return graven::nn::leaky_relu(x, above); };
  // An op keeps a few dozen of its bodies, those with the attributes that came first.
  const int64_t bodies_before = bytes_named("recorded bodies");
  for (int n = 0; n < 200; ++n) clip(0.001f * static_cast<float>(n));
  const int64_t kept = bytes_named(kKernels), bodies = bytes_named("recorded bodies");
  CHECK(kept > 1000);
  CHECK(bodies > bodies_before + 1000);
  for (int n = 200; n < 400; ++n) clip(0.001f * static_cast<float>(n));
  CHECK(bytes_named(kKernels) == kept);
  CHECK(bytes_named("recorded bodies") == bodies);
}

TEST_CASE("what the process remembers of ops is counted once") {
  const Tensor x = Tensor::of(std::vector<float>(1000, 0.5f), graven::Shape{1000});
  auto gradient = [&](float alpha) {
    graven::GradientTape tape;
    tape.watch(x);
    tape.gradient(graven::nn::leaky_relu(x, alpha), x);
  };
  auto tangent = [&](float alpha) {
    graven::ForwardAccumulator accumulator(x, x);
    accumulator.jvp(graven::nn::leaky_relu(x, alpha));
  };
  auto check = [](std::string_view name, auto&& call) {
    CAPTURE(name);
    const int64_t before = bytes_named(name);
    call(0.7011f);
    const int64_t after = bytes_named(name);
    CHECK(after > before);
    call(0.7011f);
    CHECK(bytes_named(name) == after);
    for (int n = 0; n < 10; ++n) call(0.702f + 0.001f * static_cast<float>(n));
    CHECK(bytes_named(name) - after > 5 * (after - before));
  };
  check("gradients asked for", gradient);
  check("tangents of ops", tangent);
}
