#include "graven/kernels/scalar_loop.h"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <type_traits>

#include "graven/base/strings.h"
#include "graven/kernels/block_functions.h"
#include "graven/kernels/testing.h"

namespace graven::engine {
namespace {

using Cell = ScalarLoop::Cell;

// The variables of a loop after its run, which must end without a trap.
template <typename T, size_t N>
std::array<T, N> after(const Expression& condition, const Expression& body,
                       std::vector<int> changed, std::array<T, N> values) {
  const auto loop = ScalarLoop::compile(condition, body, changed);
  REQUIRE(loop);
  std::vector<Cell> cells(loop->num_cells());
  for (size_t i = 0; i < N; ++i) std::memcpy(&cells[i], &values[i], sizeof(T));
  loop->prepare(cells);
  const Trap* trap = nullptr;
  REQUIRE((loop->run(cells, 1000, &trap) == ScalarLoop::End::kConditionFailed));
  for (size_t i = 0; i < N; ++i) std::memcpy(&values[i], &cells[i], sizeof(T));
  return values;
}

Expression record_all(std::vector<DType> dtypes,
                      const std::function<std::vector<Scalar>(const std::vector<Scalar>&)>& body) {
  Recorder recorder;
  std::vector<Scalar> x;
  for (DType dtype : dtypes) x.push_back(recorder.input(dtype));
  for (Scalar output : body(x)) recorder.output(output);
  return *recorder.finish();
}

TEST_CASE("variables of a scalar loop change places, follow each other and agree") {
  const std::vector<DType> ints(4, DType::kInt32);
  const Expression few =
      record_all(ints, [](auto& v) -> std::vector<Scalar> { return {v[0] < 5}; });
  using Values = std::array<int32_t, 4>;
  const Expression swap = record_all(ints, [](auto& v) -> std::vector<Scalar> {
    return {v[0] + 1, v[2], v[1], v[3] + v[1]};
  });
  CHECK(after(few, swap, {0, 1, 2, 3}, Values{0, 10, 20, 0}) == Values{5, 20, 10, 70});
  const Expression fibonacci = record_all(ints, [](auto& v) -> std::vector<Scalar> {
    const Scalar next = v[1] + v[2];
    return {v[0] + 1, v[2], next, next};
  });
  CHECK(after(few, fibonacci, {0, 1, 2, 3}, Values{0, 0, 1, 7}) == Values{5, 5, 8, 8});
  // The old values of variables that have their next ones are read later.
  const Expression late = record_all(ints, [](auto& v) -> std::vector<Scalar> {
    const Scalar next = v[0] + 1, doubled = v[1] * 2, sum = doubled + v[0];
    return {next, doubled, sum + v[1], v[0] - v[3]};
  });
  CHECK(after(few, late, {0, 1, 2, 3}, Values{0, 1, 0, 1}) == Values{5, 32, 52, 1});
}

// Bodies of random nodes: some are read often, some by nobody; divisions are by constants, which
// may be powers of two; a variable's next value may be any node or another variable.
constexpr uint16_t kVariables = 4, kConstants = 4, kNodes = 16;
struct RandomBody {
  Expression expression;
  std::vector<ExprNode> nodes;  // with operands by number, in place of those that were merged
  std::array<uint16_t, kVariables> next;
};

template <typename T>
RandomBody random_body(uint64_t seed, std::array<T, kConstants> constants) {
  constexpr DType kType = kDTypeOf<T>;
  constexpr Instruction kChoices[] = {Instruction::kAdd,      Instruction::kSub,
                                      Instruction::kMul,      Instruction::kFloorDiv,
                                      Instruction::kFloorMod, Instruction::kMax};
  const std::vector<uint32_t> random = random_values<uint32_t>(100, seed);
  RandomBody made;
  std::vector<uint16_t> ids;
  for (uint16_t i = 0; i < kVariables; ++i) {
    made.expression.add_input(kType);
    ids.push_back(made.expression.add_node({Instruction::kInput, kType, i, 0, 0}));
  }
  for (T constant : constants) {
    uint64_t bits = 0;
    std::memcpy(&bits, &constant, sizeof(T));
    ids.push_back(made.expression.add_constant(kType, bits));
  }
  made.nodes.resize(ids.size());
  for (size_t n = ids.size(); n < kNodes; ++n) {
    const Instruction instruction = kChoices[random[3 * n] / 7 % 6];
    const bool divides =
        instruction == Instruction::kFloorDiv || instruction == Instruction::kFloorMod;
    const auto a = static_cast<uint16_t>(random[3 * n + 1] / 7 % n);
    const uint32_t r = random[3 * n + 2] / 7;
    const auto b = static_cast<uint16_t>(divides ? kVariables + r % kConstants : r % n);
    made.nodes.push_back({instruction, kType, a, b, 0});
    ids.push_back(made.expression.add_node({instruction, kType, ids[a], ids[b], 0}));
  }
  for (uint16_t i = 0; i < kVariables; ++i) {
    made.next[i] = static_cast<uint16_t>(random[60 + i] / 7 % kNodes);
    made.expression.add_output({kType, ids[made.next[i]]});
  }
  return made;
}

template <typename T>
T computed(Instruction instruction, T a, T b) {
  T result;
  block_function(instruction, kDTypeOf<T>, kDTypeOf<T>)(&result, &a, &b, nullptr, 1);
  return result;
}

template <typename T>
void check_random_loop(uint64_t seed) {
  constexpr T kHighestPower = T{1} << (sizeof(T) * 8 - 2);
  const std::array<T, kConstants> constants = {
      static_cast<T>(seed % 3 == 0 ? 7 : 8), static_cast<T>(seed % 5 == 0 ? 1 : -2),
      seed % 7 == 0 ? kHighestPower : T{2}, static_cast<T>(seed % 11)};
  const RandomBody body = random_body<T>(seed, constants);
  const std::vector<T> start = random_values<T>(kVariables, seed + 1);
  std::array<T, kVariables + 1> values{}, expected;  // the last one counts
  std::ranges::copy(start, values.begin());
  expected = values;
  for (int i = 0; i < 5; ++i) {
    std::array<T, kNodes> results;
    std::copy_n(expected.begin(), kVariables, results.begin());
    std::ranges::copy(constants, results.begin() + kVariables);
    for (size_t n = kVariables + kConstants; n < kNodes; ++n) {
      const ExprNode& node = body.nodes[n];
      results[n] = computed<T>(node.instruction, results[node.a], results[node.b]);
    }
    for (size_t v = 0; v < kVariables; ++v) expected[v] = results[body.next[v]];
  }
  expected.back() = 5;

  Expression counted = body.expression;
  const uint16_t input = counted.add_input(kDTypeOf<T>);
  const uint16_t count = counted.add_node({Instruction::kInput, kDTypeOf<T>, input, 0, 0});
  const uint16_t one = counted.add_constant(kDTypeOf<T>, 1);
  counted.add_output(
      {kDTypeOf<T>, counted.add_node({Instruction::kAdd, kDTypeOf<T>, count, one, 0})});
  const Expression condition =
      record_all(std::vector<DType>(kVariables + 1, kDTypeOf<T>),
                 [](auto& v) -> std::vector<Scalar> { return {v[kVariables] < 5}; });
  CHECK(after(condition, counted, {0, 1, 2, 3, 4}, values) == expected);
}

TEST_CASE_TEMPLATE("a scalar loop computes what its instructions do", T, int32_t, int64_t, int8_t,
                   uint16_t) {
  for_each_target([&] {
    for (uint64_t seed = 0; seed < 300; ++seed) {
      INFO("seed ", seed);
      check_random_loop<T>(seed);
    }
  });
}

TEST_CASE("the trap of a variable that has its next value is that of the old one") {
  const std::vector<DType> bools(2, DType::kBool);
  const Expression condition =
      record_all(bools, [](auto& v) -> std::vector<Scalar> { return {v[0] | !v[0]}; });
  const Expression body = record_all(bools, [](auto& v) -> std::vector<Scalar> {
    trap_if(v[0], "it holds");
    return {!v[0], v[0]};
  });
  const auto loop = ScalarLoop::compile(condition, body, std::vector<int>{0, 1});
  REQUIRE(loop);
  std::vector<Cell> cells(loop->num_cells());
  loop->prepare(cells);
  const Trap* trap = nullptr;
  CHECK((loop->run(cells, 1, &trap) == ScalarLoop::End::kMoreToCome));
  CHECK((loop->run(cells, 1, &trap) == ScalarLoop::End::kTrapped));
  CHECK(trap->message == "it holds");
}

// Every instruction on one element gives what it gives within a block.
template <typename T>
void check_one(Instruction instruction, DType result) {
  const BlockFunction block = block_function(instruction, kDTypeOf<T>, result);
  const BlockFunction one = function_of_one(instruction, kDTypeOf<T>, result);
  REQUIRE((block != nullptr) == (one != nullptr));
  if (!block) return;
  constexpr size_t kCount = 37;
  const bool is_select = instruction == Instruction::kSelect;
  std::vector<Stored<T>> a = random_values<T>(kCount, 1), b = random_values<T>(kCount, 2),
                         c = random_values<T>(kCount, 3);
  if constexpr (!std::is_same_v<T, bool>) {
    a[0] = b[1] = b[2] = 0;
    b[3] = static_cast<T>(-1);
    a[3] = std::numeric_limits<T>::lowest();
  }
  const std::vector<uint8_t> choice = random_values<bool>(kCount, 4);
  const size_t size = dtype_size(result);
  std::vector<std::byte> expected(kCount * size), made(kCount * size);
  const void* first = is_select ? static_cast<const void*>(choice.data()) : a.data();
  block(expected.data(), first, is_select ? a.data() : b.data(), is_select ? b.data() : c.data(),
        kCount);
  for (size_t i = 0; i < kCount; ++i) {
    const void* x = is_select ? static_cast<const void*>(&choice[i]) : &a[i];
    one(&made[i * size], x, is_select ? &a[i] : &b[i], is_select ? &b[i] : &c[i], 1);
  }
  INFO(std::string(instruction_name(instruction)));
  CHECK(std::memcmp(made.data(), expected.data(), made.size()) == 0);
}

TEST_CASE_TEMPLATE("an instruction on one element gives what it gives within a block", T, bool,
                   int8_t, uint8_t, int32_t, uint32_t, int64_t, uint64_t, float, double) {
  for_each_target([] {
    for (int i = 0; i < kNumInstructions; ++i) {
      const auto instruction = static_cast<Instruction>(i);
      if (num_operands(instruction) == 0) continue;
      const bool is_condition =
          Instruction::kEqual <= instruction && instruction <= Instruction::kIsFinite;
      check_one<T>(instruction, is_condition ? DType::kBool : kDTypeOf<T>);
    }
  });
}

}  // namespace
}  // namespace graven::engine
