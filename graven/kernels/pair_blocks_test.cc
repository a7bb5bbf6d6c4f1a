#include <doctest/doctest.h>

#include <memory>
#include <type_traits>

#include "graven/base/strings.h"
#include "graven/kernels/block_program.h"
#include "graven/kernels/testing.h"

namespace graven::engine {
namespace {

// Sums, differences and products of three inputs and of each other, at random: some are read once,
// some often, some by nobody, and two are outputs. Inputs may be one element.
template <typename T>
void check_random_arithmetic(uint64_t seed) {
  const std::vector<uint32_t> random = random_values<uint32_t>(100, seed);
  constexpr uint16_t kInputs = 3, kNodes = 20;
  constexpr Instruction kChoices[] = {Instruction::kAdd, Instruction::kSub, Instruction::kMul};
  Expression expression;
  for (uint16_t i = 0; i < kInputs; ++i) {
    expression.add_input(kDTypeOf<T>);
    expression.add_node({Instruction::kInput, kDTypeOf<T>, i, 0, 0});
  }
  std::vector<ExprNode> nodes(kInputs);
  std::vector<uint16_t> ids = {0, 1, 2};
  for (uint16_t n = kInputs; n < kNodes; ++n) {
    // Mostly of the last ones, so that chains come about.
    auto operand = [&](uint32_t r) {
      const uint32_t back = r % 4 != 0 ? 1 + r / 4 % 3 : 1 + r / 4 % n;
      return static_cast<uint16_t>(n - std::min<uint32_t>(back, n));
    };
    const uint16_t a = operand(random[3 * n]), b = operand(random[3 * n + 1]);
    nodes.push_back({kChoices[random[3 * n + 2] % 3], kDTypeOf<T>, a, b, 0});
    // The same node twice is one.
    ids.push_back(expression.add_node({nodes[n].instruction, kDTypeOf<T>, ids[a], ids[b], 0}));
  }
  const uint16_t middle = kInputs + static_cast<uint16_t>(random[99] % (kNodes - kInputs));
  expression.add_output({kDTypeOf<T>, ids[kNodes - 1]});
  expression.add_output({kDTypeOf<T>, ids[middle]});
  auto program = compile(expression);

  // The first output may take the memory of an input that the last step reads.
  constexpr int64_t kCount = 531;
  std::vector<T> inputs[kInputs], outputs[2] = {std::vector<T>(kCount), std::vector<T>(kCount)};
  for (uint16_t i = 0; i < kInputs; ++i) inputs[i] = random_values<T>(kCount, 10 * seed + i);
  const std::vector<T> kept[] = {inputs[0], inputs[1], inputs[2]};
  std::vector<std::byte> memory(program->scratch_bytes() + 64);
  void* scratch = memory.data();
  size_t space = memory.size();
  std::align(64, program->scratch_bytes(), scratch, space);
  const void* from[] = {inputs[0].data(), inputs[1].data(), inputs[2].data()};
  const bool scalars[kInputs] = {false, seed % 3 == 0, seed % 4 < 2};
  void* to[] = {seed % 2 == 0 ? outputs[0].data() : inputs[0].data(), outputs[1].data()};
  program->run(kCount, from, scalars, to, scratch);
  const std::vector<T>& last = seed % 2 == 0 ? outputs[0] : inputs[0];

  using Bits = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;
  for (size_t k = 0; k < kCount; ++k) {
    T values[kNodes];
    for (uint16_t i = 0; i < kInputs; ++i) values[i] = kept[i][scalars[i] ? 0 : k];
    for (uint16_t n = kInputs; n < kNodes; ++n) {
      const Bits a = static_cast<Bits>(values[nodes[n].a]);
      const Bits b = static_cast<Bits>(values[nodes[n].b]);
      values[n] = static_cast<T>(nodes[n].instruction == Instruction::kAdd   ? a + b
                                 : nodes[n].instruction == Instruction::kSub ? a - b
                                                                             : a * b);
    }
    INFO("element ", k, " of seed ", seed, " for ", std::string(dtype_name(kDTypeOf<T>)));
    REQUIRE(same(last[k], values[kNodes - 1]));
    REQUIRE(same(outputs[1][k], values[middle]));
  }
}

TEST_CASE("sums, differences and products share loops, and give the bits of loops of their own") {
  for_each_target([] {
    for (uint64_t seed = 1; seed <= 60; ++seed) {
      check_random_arithmetic<float>(seed);
      check_random_arithmetic<double>(seed);
      check_random_arithmetic<int32_t>(seed);
      check_random_arithmetic<int64_t>(seed);
      check_random_arithmetic<int16_t>(seed);
    }
  });
}

}  // namespace
}  // namespace graven::engine
