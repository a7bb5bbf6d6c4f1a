// Short rows with inputs of one element for each row give the bits of such inputs repeated.
#include <doctest/doctest.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <span>
#include <vector>

#include "graven/kernels/block_program.h"
#include "graven/kernels/testing.h"
#include "graven/kernels/trap_notes.h"

namespace graven::engine {
namespace {

using Read = ShortRows::Read;

// At and beside multiples of the lanes of vectors, and the longest that there are.
constexpr int64_t kColumns[] = {16, 17, 20, 24, 31, 32, 33, 64, 100, 160, 511, 512};
constexpr int64_t kRows[] = {1, 2, 5, 40};

// An input as it is stored, and how it is read.
struct Input {
  DType dtype;
  Read read;
  std::vector<std::byte> elements;
};

template <typename T>
Input input(Read read, const std::vector<T>& elements) {
  Input made{kDTypeOf<T>, read, std::vector<std::byte>(elements.size() * sizeof(T))};
  std::memcpy(made.elements.data(), elements.data(), made.elements.size());
  return made;
}

// The elements of an input for each element of the rows.
std::vector<std::byte> repeated(const Input& input, int64_t rows, int64_t columns) {
  const size_t size = dtype_size(input.dtype);
  std::vector<std::byte> all(static_cast<size_t>(rows * columns) * size);
  for (int64_t i = 0; i < rows * columns; ++i) {
    const int64_t from = input.read == Read::kOne      ? 0
                         : input.read == Read::kPerRow ? i / columns
                                                       : i;
    std::copy_n(input.elements.begin() + from * size, size, all.begin() + i * size);
  }
  return all;
}

struct Run {
  std::vector<std::byte> out;
  const Trap* trap;
};

// One output, with elements of this size, and a canary behind it.
Run run(const BlockProgram& program, std::span<const Input> inputs, int64_t rows, int64_t columns,
        size_t size, bool repeats) {
  constexpr std::byte kCanary{0x5a};
  std::vector<std::byte> scratch(program.scratch_bytes() + 64);
  void* aligned = scratch.data();
  size_t space = scratch.size();
  std::align(64, program.scratch_bytes(), aligned, space);
  std::vector<std::vector<std::byte>> blocks;
  std::vector<const void*> pointers;
  std::vector<Read> reads;
  for (const Input& input : inputs) {
    blocks.push_back(repeats ? repeated(input, rows, columns) : input.elements);
    pointers.push_back(blocks.back().data());
    reads.push_back(input.read);
  }
  std::vector<std::byte> out(static_cast<size_t>(rows * columns) * size + 64, kCanary);
  void* outputs[] = {out.data()};
  TrapNotes traps;
  if (repeats) {
    const bool scalars[8] = {};
    program.run(rows * columns, pointers.data(), scalars, outputs, aligned, &traps);
  } else {
    program.run_short_rows({rows, columns, pointers.data(), reads.data(), outputs}, aligned,
                           &traps);
  }
  CHECK(std::all_of(out.end() - 64, out.end(), [](std::byte b) { return b == kCanary; }));
  return {std::move(out), traps.first()};
}

void check_same(const BlockProgram& program, std::span<const Input> inputs, int64_t rows,
                int64_t columns, size_t size) {
  const Run right = run(program, inputs, rows, columns, size, /*repeats=*/true);
  const Run got = run(program, inputs, rows, columns, size, /*repeats=*/false);
  INFO(rows, " rows of ", columns);
  REQUIRE(got.out == right.out);
  REQUIRE(got.trap == right.trap);
}

template <typename T>
void check_instruction(Instruction instruction) {
  const auto program = compile(of_instruction(instruction, 2, kDTypeOf<T>, kDTypeOf<T>));
  INFO(instruction_name(instruction), " of ", dtype_name(kDTypeOf<T>));
  for (int64_t rows : kRows) {
    for (int64_t columns : kColumns) {
      const auto n = static_cast<size_t>(rows * columns);
      const Input elements = input(Read::kElements, random_values<T>(n, 1));
      const Input per_row = input(Read::kPerRow, random_values<T>(static_cast<size_t>(rows), 2));
      for (const auto& inputs : {std::vector{elements, per_row}, std::vector{per_row, elements}}) {
        check_same(*program, inputs, rows, columns, sizeof(T));
      }
    }
  }
}

}  // namespace

TEST_CASE("an instruction with one element for each row, on every target") {
  for_each_target([] {
    for (Instruction instruction : {Instruction::kAdd, Instruction::kSub, Instruction::kMul,
                                    Instruction::kDiv, Instruction::kMax}) {
      check_instruction<float>(instruction);
      check_instruction<double>(instruction);
      check_instruction<int32_t>(instruction);
      check_instruction<int8_t>(instruction);
    }
  });
}

TEST_CASE("inputs of all kinds together, stored halves and complex numbers among them") {
  const auto program = compile(
      record({DType::kFloat32, DType::kHalf, DType::kComplex64, DType::kFloat32, DType::kFloat32},
             [](auto& x) {
               trap_if(x[4] == 0, "zero");
               const auto half = cast(x[1], DType::kFloat32);
               return make_complex((x[0] - x[4]) * half + x[3], imag(x[2]) * x[0] - x[3] / x[4]);
             }));
  for (int64_t rows : kRows) {
    for (int64_t columns : kColumns) {
      const auto n = static_cast<size_t>(rows * columns), per_row = static_cast<size_t>(rows);
      std::vector<Half> halves;
      std::vector<std::complex<float>> numbers;
      for (size_t r = 0; r < per_row; ++r) {
        halves.emplace_back(static_cast<float>(r) - 1.5f);
        numbers.emplace_back(static_cast<float>(r), 2.5f - static_cast<float>(r));
      }
      auto divisors = random_values<float>(per_row, 3);
      std::vector<Input> inputs = {input(Read::kElements, random_values<float>(n, 4)),
                                   input(Read::kPerRow, halves), input(Read::kPerRow, numbers),
                                   input(Read::kOne, std::vector{1.25f}),
                                   input(Read::kPerRow, divisors)};
      check_same(*program, inputs, rows, columns, 8);
      divisors.back() = 0;
      inputs[4] = input(Read::kPerRow, divisors);
      check_same(*program, inputs, rows, columns, 8);
      CHECK(run(*program, inputs, rows, columns, 8, /*repeats=*/false).trap);
    }
  }
}

TEST_CASE("halves that are computed as they are stored, by one for each row") {
  const auto program = compile(record({DType::kHalf, DType::kHalf}, [](auto& x) {
    return cast(cast(x[0], DType::kFloat32) + cast(x[1], DType::kFloat32), DType::kHalf);
  }));
  for (int64_t columns : kColumns) {
    std::vector<Half> elements, per_row;
    for (int64_t i = 0; i < 5 * columns; ++i) elements.emplace_back(static_cast<float>(i) / 3);
    for (int64_t r = 0; r < 5; ++r) per_row.emplace_back(static_cast<float>(r) / 7);
    const std::vector<Input> inputs = {input(Read::kElements, elements),
                                       input(Read::kPerRow, per_row)};
    check_same(*program, inputs, 5, columns, 2);
  }
}

}  // namespace graven::engine
