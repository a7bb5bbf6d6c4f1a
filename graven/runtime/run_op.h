#pragma once
#include <span>
#include <string_view>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/attributes.h"
#include "graven/ir/op.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// One application of an op on values, shared by eager calls and steps of a Program. Checks types
// and shapes; their errors, and kInvalidArgument ones of kernels, begin with "[Op] ".
//
// reusable: bit i says that input i has no other use, so its elements may be overwritten if its
// handle owns them; `inputs` then gives up the handle. Other inputs stay as they are, and after an
// error of types or shapes all do. state: see KernelContext. device: the name of the requested
// device, "" for none (placement.h); inputs are copied to the device that the op runs on.
GRAVEN_API Status run_op(const Op& op, AttrsRef attrs, std::span<Tensor> inputs, uint64_t reusable,
                         Ref<RefCounted>* state, Tensors& outputs, std::string_view device = {});

// Work with a longer estimate lets other threads run (LetOthersRun). Not less, because giving an
// interpreter's lock away costs microseconds beside a busy thread (DESIGN 4).
constexpr double kLongNanoseconds = 50'000;

// --- Internals, shared with the planner and the executor.

// The estimated time of an op that runs as blocks, by the cost of its expression. For other ops the
// record gives it: see ir/cost.h.
inline double nanoseconds_of_blocks(double elements, double cost) {
  return 60 + elements * cost * 0.1;
}

class BodyKernel;
class TrapNotes;
struct Trap;

// The same for types that are checked already. shapes: the shapes of the outputs if the caller
// knows that they are right (then they are fully known); null: the record infers them.
struct OutputTypes {
  const TypeBindings& bindings;
  std::span<const DType> dtypes;
  const Shape* shapes = nullptr;
};
// All tensors are on the device of the queue.
Status run_typed_op(Queue& queue, const Op& op, AttrsRef attrs, std::span<Tensor> inputs,
                    const OutputTypes& types, uint64_t reusable, Ref<RefCounted>* state,
                    Tensors& outputs);

// The same for an op whose body is this kernel.
Status run_kernel(Queue& queue, const Op& op, AttrsRef attrs, KernelFunction kernel,
                  std::span<Tensor> inputs, std::span<const DType> dtypes,
                  std::span<const Shape> shapes, uint64_t reusable, Ref<RefCounted>* state,
                  Tensors& outputs);

// The error of a kernel that did not make these outputs.
Status check_made(const Op& op, std::span<const Tensor> outputs, std::span<const DType> dtypes);

// The shapes of the outputs of an op on these values.
Status infer_shapes(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                    const TypeBindings& bindings, std::span<Shape> shapes);

// A tensor over the memory of `from`, which gives it up; empty if that memory does not fit. `shape`
// may be that of `from` itself.
Tensor take_memory(Tensor& from, DType dtype, const Shape& shape);

// Computes an elementwise body of the given shape from operands that broadcast to it. An output
// that is there already is written; else it takes the memory of a reusable operand, whose handle is
// then empty, or is made. If a trap is noted, the output is not to be used.
Status run_map(Queue& queue, const BodyKernel& kernel, std::span<Tensor* const> operands,
               uint64_t reusable, DType dtype, const Shape& shape, Tensor& output,
               TrapNotes& traps);

// The error for a trap that held, without the op's name.
Status trapped(const Trap& trap);

// "[Op] " in front, once.
Status with_op_name(const Op& op, Status status);

}  // namespace graven::engine
