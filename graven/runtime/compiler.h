#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "graven/base/export.h"
#include "graven/base/function_ref.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/fusion.h"
#include "graven/ir/kernel.h"
#include "graven/ir/recorded_body.h"
#include "graven/kernels/elementwise.h"
#include "graven/kernels/trap_notes.h"
#include "graven/tensor/device.h"

namespace graven::engine {

// The compiled form of a Fusion. Never changes; any thread may run it.
class GRAVEN_API Kernel : public RefCounted {
 public:
  // The library member of a Fusion, which the kernel runs. Its memory is allocated; `run` computes
  // it and reports each rectangle to `done`, if that is not null.
  struct Library {
    void* result;
    double nanoseconds;  // of one run, estimated
    FunctionRef<Status(const PanelDone* done)> run;
  };
  // Inputs and outputs hold their elements contiguously. Their sizes are those of the Fusion with
  // these values of its symbols; the caller has checked that they fit together. Inputs and outputs
  // are in the Fusion's order. library: null if it has none.
  struct Arguments {
    std::span<const void* const> inputs;
    std::span<void* const> outputs;
    std::span<const int64_t> symbols;
    Queue& queue;  // of the device that the kernel was compiled for, where inputs and outputs are
    const Library* library = nullptr;
  };
  // Notes the traps that hold, with the numbers of their members; then the outputs are not to be
  // used. Fails with the library member's error; kResourceExhausted if there is no memory to
  // compute in.
  virtual Status run(const Arguments& arguments, TrapNotes& traps) const = 0;
  // Bit i: the output may take the memory of input i, if that has as many elements of the same
  // size.
  virtual uint64_t may_overwrite(int output) const = 0;
  // The output that may take the memory of the library member's result; -1: the result needs its
  // own.
  virtual int output_of_result() const { return -1; }
  // Estimated, for one point of the space, in units of one addition; without the library member.
  virtual double cost() const = 0;
  virtual int64_t bytes() const = 0;
};

// The compiled form of the body of one op: a Fusion of one member whose sizes are not known before
// it runs. For lone nodes and eager calls.
//
// The queue is that of the device that the kernel was compiled for, where operands and output are.
// kResourceExhausted if there is no memory to compute in.
class GRAVEN_API BodyKernel : public RefCounted {
 public:
  // For an elementwise body. The operands broadcast to the shape. The output, of this shape, may
  // take the memory of an operand of the same shape and element size. Traps as in Kernel::run.
  virtual Status map(Queue& queue, std::span<const StridedInput> operands, const Shape& shape,
                     void* output, TrapNotes& traps) const = 0;
  // For a reduction, over the axes in `reduced` (bit i: axis i).
  virtual Status reduce(Queue& queue, const StridedInput& operand, uint64_t reduced, void* output,
                        TrapNotes& traps) const = 0;
  // For a body over rows: all inputs and the output have rows times columns elements. The output
  // may not take the memory of an input.
  virtual Status go_by_rows(Queue& queue, int64_t rows, int64_t columns,
                            std::span<const void* const> inputs, void* output,
                            TrapNotes& traps) const = 0;
  // Estimated, for one element, in units of one addition.
  virtual double cost() const = 0;
  virtual int64_t bytes() const = 0;
};

// Makes kernels. FusionLimits says which Fusions it takes; others, and devices that it makes no
// code for, are kUnimplemented.
class GRAVEN_API Compiler {
 public:
  virtual ~Compiler() = default;
  virtual Result<Ref<const Kernel>> compile(const Fusion& fusion, const Device& device) const = 0;
  virtual Result<Ref<const BodyKernel>> compile(const RecordedBody& body,
                                                const Device& device) const = 0;
};

// The first compiler: lists of block instructions that were compiled beforehand (kernels), for the
// host and devices that run host code. It takes microseconds.
GRAVEN_API const Compiler& block_compiler();

// The kernel of a body alone for a device, compiled on the first request and kept beside the body.
// Lives as long as the body.
GRAVEN_API Result<const BodyKernel*> body_kernel(const RecordedBody& body, const Device& device);
// The bytes of all such kernels.
GRAVEN_API int64_t body_kernel_bytes();

}  // namespace graven::engine
