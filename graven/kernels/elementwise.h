#pragma once
#include <span>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/kernels/block_program.h"
#include "graven/tensor/shape.h"

namespace graven::engine {

// Contiguous stored elements and their shape, which broadcasts to that of the result.
struct StridedInput {
  const void* data;
  const Shape* shape;
  // Set if the elements are read in another order: the distance in elements from one index to the
  // next along each axis of the result. `data` then points to the element read for the result's
  // first.
  const int64_t* strides = nullptr;
};

// Computes every element of the outputs, which all have the shape `shape` (fully known; the
// broadcast of the operands' shapes, checked by the caller). An output may be the memory of an
// operand of the same shape and element size. Runs on the pool, cut into chunks by shape alone.
// Allocates nothing from the system in steady state; kResourceExhausted if there is no memory to
// compute in. traps: see BlockProgram::run.
GRAVEN_API Status run_elementwise(const BlockProgram& program, std::span<const StridedInput> inputs,
                                  const Shape& shape, std::span<void* const> outputs,
                                  TrapNotes* traps = nullptr);

}  // namespace graven::engine
