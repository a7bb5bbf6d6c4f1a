#pragma once
#include <cstdint>

#include "graven/expr/expression.h"

namespace graven::engine {

// The compiled loops behind instructions. Each *_blocks.cc holds one family and is compiled once
// per SIMD target (SSE4.2, AVX2, AVX-512) through Highway's foreach_target; what a look-up gives
// is the loop for the CPU that runs.
//
// A loop computes out[i] from a[i], b[i], c[i] for i < n. Operands need no alignment; out may be
// one of the operands if their elements are of one size. An element's result depends neither on
// its position nor on n.
using BlockFunction = void (*)(void* out, const void* a, const void* b, const void* c, int64_t n);

// The loop of an instruction that is not a leaf, for operands and result of the given types;
// null if there is none.
BlockFunction block_function(Instruction instruction, DType operand_type, DType result_type);

// The same for an integer division whose b has n times the same element, or null if that is no
// quicker.
BlockFunction one_divisor_function(Instruction instruction, DType type);

// n elements as they are.
BlockFunction copy_function(size_t element_size);
// Elements as they are stored to elements as they are computed: part 1 is the imaginary part.
// Null where both are the same.
BlockFunction load_function(DType stored, int part);
// The other way round; a is the value, or real part, b the imaginary part. Null for plain copies.
BlockFunction store_function(DType stored);
// n copies of the element that a points to.
BlockFunction splat_function(size_t element_size);

// Makes the bool at out true if one of n bools is; else leaves it as it is.
BlockFunction any_function();

// Combines n values into one in the order of a binary tree: the upper half (from the largest power
// of two below n on) is combined into the lower, until one is left. For kAdd, kMul, kMin, kMax,
// kAnd and kOr; null for others.
using FoldFunction = void (*)(void* out, const void* values, int64_t n);
FoldFunction fold_function(Instruction instruction, DType type);

// --- The families, in block_function's order of asking.
BlockFunction arithmetic_function(Instruction instruction, DType type);
BlockFunction comparison_function(Instruction instruction, DType operand_type);
BlockFunction select_function(size_t element_size);
BlockFunction conversion_function(DType from, DType to);
BlockFunction rounding_function(Instruction instruction);
BlockFunction math_function(Instruction instruction, DType type);

}  // namespace graven::engine
