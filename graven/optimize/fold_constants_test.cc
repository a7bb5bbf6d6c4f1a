#include "graven/optimize/fold_constants.h"

#include <doctest/doctest.h>

#include "graven/optimize/pass_test.h"
#include "graven/runtime/eager_builder.h"

namespace graven::engine {
namespace {

std::string folded(std::string_view before, int64_t max_bytes = 1 << 20) {
  return after(before, [&](Graph& graph) { fold_constants(graph, eager_builder(), max_bytes); });
}

class CountingBuilder final : public Builder {
 public:
  Result<Tensors> apply(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs,
                        std::string_view name) override {
    ++num_runs;
    return eager_builder().apply(op, inputs, attrs, name);
  }
  int num_runs = 0;
};

TEST_CASE("what is computed of constants alone becomes a constant") {
  CHECK(folded(R"(graph f(x: float32[2]) {
  %one: float32[] = 1
  %v: float32[2] = [2, 3]
  %perm: int32[1] = [0]
  %sum: float32[2] = AddV2(%v, %one)
  %composite: float32[2] = ConjugateTranspose(%sum, %perm)
  %square: float32[2] = Square(%composite)
  %y: float32[2] = Mul(x, %square)
  return %y
})") == R"(graph f(x: float32[2]) {
  %one: float32[] = 1
  %v: float32[2] = [2, 3]
  %perm: int32[1] = [0]
  %sum: float32[2] = [3, 4]
  %composite: float32[2] = [3, 4]
  %square: float32[2] = [9, 16]
  %y: float32[2] = Mul(x, %square)
  return %y
}
)");
}

TEST_CASE("a large result that is no larger than its constants is folded") {
  // A chain of products of two large constants ran in each call.
  CHECK(folded(R"(graph f(x: float32[3]) {
  %v: float32[3] = [2, 3, 4]
  %square: float32[3] = Square(%v)
  %twice: float32[3] = AddV2(%square, %square)
  %y: float32[3] = Mul(x, %twice)
  return %y
})",
               8) == R"(graph f(x: float32[3]) {
  %v: float32[3] = [2, 3, 4]
  %square: int32[] = 0
  %twice: float32[3] = [8, 18, 32]
  %y: float32[3] = Mul(x, %twice)
  return %y
}
)");
}

TEST_CASE("a large fill is made in each call") {
  CHECK(folded(R"(graph f() {
  %dims: int32[1] = [300000]
  %value: float32[] = 2
  %y: float32[300000] = Fill(%dims, %value)
  return %y
})",
               10 << 20) == R"(graph f() {
  %dims: int32[1] = [300000]
  %value: float32[] = 2
  %y: float32[300000] = Fill(%dims, %value)
  return %y
}
)");
}

TEST_CASE("a few ones like a tensor of known shape need not wait for it") {
  CHECK(folded(R"(graph f(x: int32[2], y: float32[n], z: float32[100]) {
  %a: int32[2] = InvertPermutation(x)
  %few: int32[2] = OnesLike(%a)
  %unknown: float32[n] = OnesLike(y)
  %many: float32[100] = OnesLike(z)
  return %few, %unknown, %many
})") == R"(graph f(x: int32[2], y: float32[n], z: float32[100]) {
  %a: int32[2] = InvertPermutation(x)
  %few: int32[2] = [1, 1]
  %unknown: float32[n] = OnesLike(y)
  %many: float32[100] = OnesLike(z)
  return %few, %unknown, %many
}
)");
}

TEST_CASE("captured tensors, failing ops, waiting nodes, random numbers and prints stay") {
  constexpr std::string_view kText = R"(graph f(captured: float32[] = 2) {
  %one: float32[] = 1
  %shape: int32[1] = [2]
  %text: string[] = "t"
  %a: float32[] = Neg(captured)
  %b: int32[1] = InvertPermutation(%shape)
  %print = PrintV2(%text)
  %c: float32[] = Neg(%one) ^%print
  %d: float32[2] = RandomUniform(%shape)
  %e: float32[] = Placeholder() {dtype=float32}
  return %a, %b, %c, %d, %e ^%print
}
)";
  CHECK(folded(kText) == kText);
}

TEST_CASE("a result above the limit stays, and is not computed when its size is known") {
  constexpr std::string_view kText = R"(graph f() {
  %v: float32[3] = [1, 2, 3]
  %w: float32[3,1] = [1, 2, 3]
  %a: float32[3,3] = AddV2(%v, %w)
  return %a
}
)";
  CHECK(folded(kText, 35) == kText);
  CHECK(folded(kText, 36) != kText);
  Ref<Graph> graph = graph_of(kText);
  CountingBuilder evaluate;
  CHECK(!fold_constants(*graph, evaluate, 35));
  CHECK(evaluate.num_runs == 0);
}

TEST_CASE("a dimension that folding finds is known to the users") {
  CHECK(folded(R"(graph f(x: int32[]) {
  %v: float32[3] = [1, 2, 3]
  %a: float32[m] = Neg(%v)
  %b: float32[2*m] = Cumsum(%a, x)
  return %b
})") == R"(graph f(x: int32[]) {
  %v: float32[3] = [1, 2, 3]
  %a: float32[3] = [-1, -2, -3]
  %b: float32[6] = Cumsum(%a, x)
  return %b
}
)");
}

}  // namespace
}  // namespace graven::engine
