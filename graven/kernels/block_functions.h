#pragma once
#include <cstddef>
#include <cstdint>

#include "graven/expr/expression.h"

namespace graven::engine {

// The compiled loops behind instructions. Each *_blocks.cc holds one family and is compiled once
// per SIMD target (SSE4.2, AVX2, AVX-512) through Highway's foreach_target; a look-up returns the
// loop for the running CPU.
//
// A loop computes out[i] from a[i], b[i], c[i] for i < n. Operands need no alignment; out may be
// one of the operands if their elements are of one size. An element's result depends neither on
// its position nor on n.
using BlockFunction = void (*)(void* out, const void* a, const void* b, const void* c, int64_t n);

// The loop of an instruction that is not a leaf, for operands and result of the given types;
// null if there is none.
BlockFunction block_function(Instruction instruction, DType operand_type, DType result_type);

// The same for n of 1, in less time.
BlockFunction function_of_one(Instruction instruction, DType operand_type, DType result_type);
BlockFunction copy_function_of_one(size_t element_size);

// Two instructions in one loop, where the second reads the result of the first; null if there is
// none. a and b are the operands of the first one, c the other operand of the second.
enum class PairForm {
  kLeft,   // (a first b) second c
  kRight,  // c second (a first b)
  kBoth,   // (a first b) second (a first b)
};
BlockFunction pair_function(Instruction first, Instruction second, PairForm form, DType type);

// The same as block_function where b is one element; null if there is none.
BlockFunction by_one_function(Instruction instruction, DType type);

// The same over `rows` rows of at least kFewestColumnsByRow `columns`, where b has one element for
// each row; null if there is none.
inline constexpr int64_t kFewestColumnsByRow = 16;
using ByRowFunction = void (*)(void* out, const void* a, const void* b, int64_t rows,
                               int64_t columns);
ByRowFunction by_row_function(Instruction instruction, DType type);

// The same for operands and a result that are stored halves; null if there is none, or no hardware
// for them.
BlockFunction half_function(Instruction instruction);

// Copies n elements.
BlockFunction copy_function(size_t element_size);
// Converts stored elements to the computing type: part 1 is the imaginary part. Null where both are
// the same.
BlockFunction load_function(DType stored, int part);
// The other way round; a is the value, or real part, b the imaginary part. Null for plain copies.
BlockFunction store_function(DType stored);
// n copies of the element that a points to.
BlockFunction splat_function(size_t element_size);
// Each of `rows` elements of 1, 2, 4, 8 or 16 bytes `columns` times.
using SpreadFunction = void (*)(void* out, const void* values, int64_t rows, int64_t columns);
SpreadFunction spread_function(size_t element_size);

// Makes the bool at out true if one of n bools is; else leaves it as it is.
BlockFunction any_function();

// How values are combined in the order of reduction_order.h, by one instruction.
//
// Values to combine column by column: `rows` rows of each of `segments` segments. The caller makes
// sure that these are the segments of reduction_order.h.
struct ColumnValues {
  const std::byte* values;
  int64_t row_bytes, segment_bytes;  // from one row or segment to the next
  int64_t segments, rows, columns;
  int64_t accumulator_bytes;  // from the accumulators of one segment to those of the next
};
struct ReductionFunctions {
  // Row order: out[r] is the result of row r, of at most kRowSegment values, which follow each
  // other. May read no further than the last row.
  void (*rows)(void* out, const void* values, int64_t rows, int64_t columns, const void* identity);
  // Row order: combines value i into lane (first + i) mod L of the kRowOrderLaneBytes.
  void (*lanes)(void* lanes, int64_t first, const void* values, int64_t n);
  // Column order: combines row after row into the accumulators of its segment.
  void (*columns)(void* accumulators, const ColumnValues& values);
};
// For sums, minima and maxima of floats, int32 and int64, products of floats, sums of complex
// numbers, "and" and "or" of bools; null for others.
const ReductionFunctions* reduction_functions(Instruction instruction, DType accumulator);
// The products of complex numbers of this dtype, as they are stored.
BlockFunction complex_product_function(DType dtype);

// --- The families, in block_function's order of asking.
BlockFunction arithmetic_function(Instruction instruction, DType type);
BlockFunction comparison_function(Instruction instruction, DType operand_type);
BlockFunction select_function(size_t element_size);
BlockFunction conversion_function(DType from, DType to);
BlockFunction rounding_function(Instruction instruction);
BlockFunction math_function(Instruction instruction, DType type);
// Of one element.
BlockFunction arithmetic_function_of_one(Instruction instruction, DType type);
BlockFunction comparison_function_of_one(Instruction instruction, DType operand_type);
BlockFunction select_function_of_one(size_t element_size);

}  // namespace graven::engine
