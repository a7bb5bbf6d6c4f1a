#pragma once
#include <cstdint>

#include "graven/expr/expression.h"

namespace graven::engine {

// A reduction of elementwise values: acc = identity; for each element acc = combine(acc,
// prepare(inputs...)); result = finish(acc, count). Each part is an expression:
//   prepare: the inputs -> one value of the accumulator's dtype (may fuse a chain; it alone traps)
//   combine: (acc, value) -> acc; associative and commutative up to rounding
//   finish:  (acc, number of elements as float64) -> the stored result
// identity: bits of the accumulator (two words for complex).
struct ReductionParts {
  Expression prepare, combine, finish;
  DType accumulator;
  uint64_t identity[2] = {0, 0};
};

}  // namespace graven::engine
