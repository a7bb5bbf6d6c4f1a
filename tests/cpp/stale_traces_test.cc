#include "graven/function/stale_traces.h"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "graven/function/function.h"
#include "graven/function/watch.h"

namespace graven::engine {
namespace {

// A value of the front end's that traces read.
int g_value = 0;

class ValueWatches final : public Watches {
 public:
  bool hold() override { return expected_ == g_value; }
  std::string change() override { return hold() ? "" : "the value changed"; }
  bool gradients_hold() override { return true; }
  std::unique_ptr<Retracing> begin_retrace() override { return nullptr; }
  void precede(Watches&, double) override {}
  void adopt(Watches& fresh, Retracing*) override {
    expected_ = static_cast<ValueWatches&>(fresh).expected_;
  }
  bool revert(const Status& error, Retracing*) override {
    if (error.message() == "told") return false;
    expected_ = g_value;
    return true;
  }
  int64_t bytes() const override { return 0; }

 private:
  int expected_ = g_value;
};

// Captures the tensor of the value's tens; a negative value is an error.
class ValueTracer final : public Tracer {
 public:
  Result<Value> trace(const FunctionType&, std::span<const Value>) override {
    if (g_value == -1) return value_error("told");
    if (g_value < 0) return value_error("no such value");
    const auto number = static_cast<size_t>(g_value / 10);
    while (tensors_.size() <= number) tensors_.push_back(Tensor::scalar(1.0F));
    return Value::of_tensor(tensors_[number]);
  }
  Ref<Watches> take_watches() override { return make_ref<ValueWatches>(); }

 private:
  std::vector<Tensor> tensors_;
};

struct Watching {
  Function function{{.name = "f"}, std::make_unique<ValueTracer>()};
  Result<Function::Resolved> call(int value) {
    g_value = value;
    CallRow row;
    row.is_known = true;
    return function.resolve({}, {}, Function::Purpose::kCall, row);
  }
  Ref<Entry> entry(int value) {
    auto resolved = call(value);
    REQUIRE(resolved.ok());
    return resolved->entry;
  }
};

TEST_CASE("a value that changes makes another trace, and one that comes back finds its own") {
  Watching f;
  const Ref<Entry> first = f.entry(10), second = f.entry(20);
  CHECK(first.get() != second.get());
  CHECK(f.entry(10).get() == first.get());
  CHECK(f.entry(20).get() == second.get());
  CHECK(f.function.tracing_count() == 2);
  CHECK(f.function.cache_info().signatures[1].why_traced == "the value changed");
}

TEST_CASE("a retrace with an equal graph keeps the old trace with the new value") {
  Watching f;
  const Ref<Entry> first = f.entry(10);
  CHECK(f.entry(11).get() == first.get());
  CHECK(f.function.tracing_count() == 2);
  CHECK(f.entry(11).get() == first.get());
  CHECK(f.function.tracing_count() == 2);
  CHECK(f.function.entries().size() == 1);
}

TEST_CASE("a retrace that fails leaves the old trace, unless its error is to be told") {
  Watching f;
  const Ref<Entry> first = f.entry(10);
  CHECK(f.entry(-2).get() == first.get());
  CHECK_FALSE(f.call(-1).ok());
  CHECK(f.entry(20).get() != first.get());
}

TEST_CASE("a value that counts up leaves a bounded number of traces") {
  Watching f;
  for (int value = 10; value < 1000; value += 10) f.entry(value);
  CHECK(f.function.entries().size() == 17);  // the last one, and 16 that it has left behind
  CHECK(f.function.tracing_count() == 99);
}

}  // namespace
}  // namespace graven::engine
