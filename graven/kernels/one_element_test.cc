#include "graven/kernels/one_element.h"

#include <doctest/doctest.h>

#include <array>

#include "graven/kernels/elementwise.h"
#include "graven/kernels/testing.h"
#include "graven/kernels/trap_notes.h"

namespace graven::engine {
namespace {

using Outputs = std::vector<Scalar>;

template <typename Body>
Expression record_all(std::initializer_list<DType> dtypes, Body body) {
  Recorder recorder;
  std::vector<Scalar> x;
  for (DType dtype : dtypes) x.push_back(recorder.input(dtype));
  for (Scalar output : body(x)) recorder.output(output);
  return *recorder.finish();
}

// Results over tensors of one element, in memory of their own or that of the inputs.
template <typename T, size_t N>
std::array<T, N> of_tensors(const BlockProgram& program, std::array<T, N> x, bool in_place,
                            TrapNotes* traps = nullptr) {
  REQUIRE(program.of_one());
  const Shape scalar({});
  std::vector<StridedInput> inputs;
  std::array<T, N> made{};
  std::vector<void*> outputs;
  for (size_t i = 0; i < N; ++i) inputs.push_back({&x[i], &scalar});
  for (size_t i = 0; i < N; ++i) outputs.push_back(in_place ? &x[i] : &made[i]);
  REQUIRE(run_elementwise(program, inputs, scalar, outputs, traps).ok());
  return in_place ? x : made;
}

TEST_CASE("one element of several outputs is right in place, too") {
  constexpr DType kFloat = DType::kFloat32;
  const auto program = compile(record_all({kFloat, kFloat, kFloat}, [](auto& x) -> Outputs {
    const Scalar sum = x[0] + x[1];
    return {x[2], sum * x[2] + 0.5f, sum};  // an input, the last step, an earlier one
  }));
  const std::array<float, 3> expected = {4, 20.5f, 5};
  CHECK(of_tensors<float, 3>(*program, {2, 3, 4}, /*in_place=*/false) == expected);
  CHECK(of_tensors<float, 3>(*program, {2, 3, 4}, /*in_place=*/true) == expected);
  const auto swap = compile(record_all({kFloat, kFloat}, [](auto& x) -> Outputs {
    return {x[1], x[0]};
  }));
  CHECK(of_tensors<float, 2>(*swap, {2, 3}, /*in_place=*/true) == std::array<float, 2>{3, 2});
}

TEST_CASE("traps see their conditions, whatever memory the output takes") {
  const auto ints = compile(record_all({DType::kInt32}, [](auto& x) -> Outputs {
    const Scalar next = x[0] - 1;
    trap_if(next < 0, "the result is negative");
    trap_if(x[0] == 7, "the operand is seven");
    return {next};
  }));
  auto trap_of = [&](int32_t x, int32_t expected) {
    TrapNotes traps;
    CHECK(of_tensors<int32_t, 1>(*ints, {x}, /*in_place=*/true, &traps)[0] == expected);
    return traps.first() ? std::string(traps.first()->message) : std::string();
  };
  CHECK(trap_of(1, 0) == "");
  CHECK(trap_of(0, -1) == "the result is negative");
  CHECK(trap_of(7, 6) == "the operand is seven");
  const auto flags = compile(record_all({DType::kBool}, [](auto& x) -> Outputs {
    trap_if(x[0], "the operand holds");
    return {!x[0]};
  }));
  for (uint8_t x : {0, 1}) {
    TrapNotes traps;
    CHECK(of_tensors<uint8_t, 1>(*flags, {x}, /*in_place=*/true, &traps)[0] == 1 - x);
    CHECK((traps.first() != nullptr) == (x == 1));
  }
}

TEST_CASE("one element is computed as a block is: with denormals flushed, and by the same bits") {
  const Expression expression =
      record_all({DType::kFloat32}, [](auto& x) -> Outputs { return {tanh(x[0] * 0.75f) / x[0]}; });
  const auto program = compile(expression);
  std::vector<float> x = random_values<float>(64, 5), blocks(64);
  x[0] = 1e-39f;
  x[1] = std::numeric_limits<float>::infinity();
  x[2] = std::numeric_limits<float>::quiet_NaN();
  x[3] = -0.0f;
  const Shape many({64}), one({1});
  void* whole = blocks.data();
  REQUIRE(
      run_elementwise(*program, std::array{StridedInput{x.data(), &many}}, many, {&whole, 1}).ok());
  for (size_t i = 0; i < x.size(); ++i) {
    float made = 0;
    void* output = &made;
    REQUIRE(
        run_elementwise(*program, std::array{StridedInput{&x[i], &one}}, one, {&output, 1}).ok());
    CHECK(std::memcmp(&made, &blocks[i], sizeof(made)) == 0);
  }
}

TEST_CASE("a few elements are computed one after the other, in place and beside single ones") {
  const auto program = compile(
      record_all({DType::kFloat32, DType::kFloat32}, [](auto& x) { return Outputs{x[0] - x[1]}; }));
  REQUIRE(program->of_one());
  const int64_t most = program->of_one()->most_elements();
  CHECK(most > 1);
  const Shape single({});
  const float y = 2.5f;
  for (int64_t n = 1; n <= most + 1; ++n) {
    const auto count = static_cast<size_t>(n);
    const std::vector<float> x = random_values<float>(count, 7);
    const Shape shape({n});
    for (bool in_place : {false, true}) {
      std::vector<float> from = x, made(count);
      void* output = in_place ? from.data() : made.data();
      const std::array inputs = {StridedInput{from.data(), &shape}, StridedInput{&y, &single}};
      REQUIRE(run_elementwise(*program, inputs, shape, {&output, 1}).ok());
      for (size_t i = 0; i < count; ++i) CHECK(static_cast<float*>(output)[i] == x[i] - y);
    }
  }
}

TEST_CASE("each of a few elements may trap") {
  const auto program = compile(record_all({DType::kInt32}, [](auto& x) {
    trap_if(x[0] == 7, "an operand is seven");
    return Outputs{x[0] - 1};
  }));
  REQUIRE(program->of_one());
  REQUIRE(program->of_one()->most_elements() >= 3);
  const Shape shape({3});
  for (size_t place = 0; place < 4; ++place) {
    std::array<int32_t, 3> x = {1, 2, 3}, made{};
    if (place < 3) x[place] = 7;
    void* output = made.data();
    TrapNotes traps;
    REQUIRE(run_elementwise(*program, std::array{StridedInput{x.data(), &shape}}, shape,
                            {&output, 1}, &traps)
                .ok());
    CHECK((traps.first() != nullptr) == (place < 3));
    CHECK(made == std::array<int32_t, 3>{x[0] - 1, x[1] - 1, x[2] - 1});
  }
}

TEST_CASE("a few elements that do not lie one after the other are right, too") {
  const auto program = compile(
      record_all({DType::kFloat32, DType::kFloat32}, [](auto& x) { return Outputs{x[0] - x[1]}; }));
  const std::array<float, 4> x = {1, 2, 3, 4};
  const std::array<float, 2> y = {10, 20};
  const Shape square({2, 2}), row({2});
  std::array<float, 4> made{};
  void* output = made.data();
  REQUIRE(run_elementwise(*program,
                          std::array{StridedInput{x.data(), &square}, StridedInput{y.data(), &row}},
                          square, {&output, 1})
              .ok());
  CHECK(made == std::array<float, 4>{-9, -18, -7, -16});
}

TEST_CASE("halves, complex numbers and long expressions are left to blocks") {
  CHECK(!compile(record({DType::kHalf}, [](auto& x) { return x[0] + x[0]; }))->of_one());
  CHECK(!compile(record({DType::kComplex64}, [](auto& x) { return x[0] + x[0]; }))->of_one());
  auto chain = [](int length) {
    return compile(record({DType::kFloat32},
                          [&](auto& x) {
                            Scalar y = x[0];
                            for (int i = 0; i < length; ++i) y = y * x[0] + 1.5f;
                            return y;
                          }))
        ->of_one();
  };
  CHECK(chain(5));
  CHECK(!chain(50));
}

}  // namespace
}  // namespace graven::engine
