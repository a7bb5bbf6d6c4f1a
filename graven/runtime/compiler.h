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

// What a Fusion was compiled to. Never changes; any thread may run it.
class GRAVEN_API Kernel : public RefCounted {
 public:
  // The library member of a Fusion, which the kernel runs: its memory is there, `run` computes it
  // and tells `done`, if that is not null, of each rectangle.
  struct Library {
    void* result;
    double nanoseconds;  // that it takes, estimated
    FunctionRef<Status(const PanelDone* done)> run;
  };
  // Inputs and outputs hold their elements contiguously, of the sizes that the Fusion says for
  // these values of its symbols; the caller has checked that they fit together. Inputs in the
  // order of the Fusion's, outputs in the order of its outputs. library: null if it has none.
  struct Arguments {
    std::span<const void* const> inputs;
    std::span<void* const> outputs;
    std::span<const int64_t> symbols;
    Queue& queue;  // of the device that it was compiled for, where inputs and outputs are
    const Library* library = nullptr;
  };
  // Traps that hold are noted, with the numbers of members; outputs are then not to be used. Fails
  // as the library member does; kResourceExhausted if there is no memory to compute in.
  virtual Status run(const Arguments& arguments, TrapNotes& traps) const = 0;
  // Bit i: the output may be the memory of input i, which must have as many elements of the size.
  virtual uint64_t may_overwrite(int output) const = 0;
  // The output whose memory may be that of the library member's result; -1: it needs its own.
  virtual int output_of_result() const { return -1; }
  // Estimated, for one point of the space, in units of one addition; without the library member.
  virtual double cost() const = 0;
  virtual int64_t bytes() const = 0;
};

// What the body of one op was compiled to: a Fusion of one member whose sizes are not known
// before it runs. For lone nodes and eager calls.
//
// Each is given the queue of the device that it was compiled for, where operands and output are.
// kResourceExhausted if there is no memory to compute in.
class GRAVEN_API BodyKernel : public RefCounted {
 public:
  // Of an elementwise body. The operands broadcast to the shape; the output, of this shape, may be
  // the memory of one that has it too, if elements have one size. Traps as in Kernel::run.
  virtual Status map(Queue& queue, std::span<const Operand> operands, const Shape& shape,
                     void* output, TrapNotes& traps) const = 0;
  // Of a reduction, over the axes in `reduced` (bit i: axis i).
  virtual Status reduce(Queue& queue, const Operand& operand, uint64_t reduced, void* output,
                        TrapNotes& traps) const = 0;
  // Of a body over rows: all inputs and the output have rows times columns elements, of which the
  // output may be the memory of none.
  virtual Status go_by_rows(Queue& queue, int64_t rows, int64_t columns,
                            std::span<const void* const> inputs, void* output,
                            TrapNotes& traps) const = 0;
  // Estimated, for one element, in units of one addition.
  virtual double cost() const = 0;
  virtual int64_t bytes() const = 0;
};

// Makes kernels. What it can take is said by FusionLimits; anything else, and a device that it
// makes no code for, is kUnimplemented.
class GRAVEN_API Compiler {
 public:
  virtual ~Compiler() = default;
  virtual Result<Ref<const Kernel>> compile(const Fusion& fusion, const Device& device) const = 0;
  virtual Result<Ref<const BodyKernel>> compile(const RecordedBody& body,
                                                const Device& device) const = 0;
};

// The first compiler: lists of block instructions that were compiled before (kernels), for the host
// and devices that are of its kind. It takes microseconds.
GRAVEN_API const Compiler& block_compiler();

// The kernel of a body alone for a device, compiled when it is asked for the first time and then
// kept beside it. Lives as long as the body.
GRAVEN_API Result<const BodyKernel*> body_kernel(const RecordedBody& body, const Device& device);
// What such kernels take, of all bodies there are.
GRAVEN_API int64_t body_kernel_bytes();

}  // namespace graven::engine
