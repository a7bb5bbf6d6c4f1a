#pragma once
#include <span>
#include <string_view>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/attributes.h"
#include "graven/ir/op.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// One application of an op on values: what an eager call and a step of a Program share. Checks
// types and shapes; errors of these, and kInvalidArgument ones of kernels, begin with "[Op] ".
//
// reusable: bit i says that input i has no other use, so that its elements may be overwritten
// (if its handle, which `inputs` then gives up, owns them). Other inputs are left as they are,
// and all are after an error of types or shapes. state: see KernelContext. device: the name of the
// one that is asked for, "" for none (placement.h); inputs are copied to where it runs.
GRAVEN_API Status run_op(const Op& op, AttrsRef attrs, std::span<Tensor> inputs, uint64_t reusable,
                         Ref<RefCounted>* state, Tensors& outputs, std::string_view device = {});

// Work that is expected to take longer lets others run (LetOthersRun): to give the lock of an
// interpreter away costs microseconds beside a busy thread (DESIGN 4).
constexpr double kLongNanoseconds = 50'000;

// --- Internals, shared with the planner and the executor.

// An estimate of what an op takes that runs as blocks, by the cost of its expression. That of any
// other is in its record: see ir/cost.h.
inline double nanoseconds_of_blocks(double elements, double cost) {
  return 60 + elements * cost * 0.1;
}

class BodyKernel;
class TrapNotes;
struct Trap;

// The same for types that are checked already. shapes: those of the outputs where the caller
// knows them to be right (then they are fully known), else null, and the record finds them.
struct OutputTypes {
  const TypeBindings& bindings;
  std::span<const DType> dtypes;
  const Shape* shapes = nullptr;
};
// All on the device of the queue.
Status run_typed_op(Queue& queue, const Op& op, AttrsRef attrs, std::span<Tensor> inputs,
                    const OutputTypes& types, uint64_t reusable, Ref<RefCounted>* state,
                    Tensors& outputs);

// The shapes of the outputs of an op on these values.
Status infer_shapes(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                    const TypeBindings& bindings, std::span<Shape> shapes);

// A tensor over the memory of `from`, which gives it up; empty if that memory is not for it. The
// shape may be that of `from` itself.
Tensor take_memory(Tensor& from, DType dtype, const Shape& shape);

// Computes an elementwise body of the given shape from operands that broadcast to it. The output
// takes the memory of a reusable operand, whose handle is then empty. If a trap is noted, the
// output is not to be used.
Status run_map(Queue& queue, const BodyKernel& kernel, std::span<Tensor* const> operands,
               uint64_t reusable, DType dtype, const Shape& shape, Tensor& output,
               TrapNotes& traps);

// The error of a trap that held, without the op's name.
Status trapped(const Trap& trap);

// "[Op] " in front, once.
Status with_op_name(const Op& op, Status status);

}  // namespace graven::engine
