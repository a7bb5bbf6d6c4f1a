#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/graph.h"
#include "graven/tensor/spare_memory.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

class ProgramRun;

// One step of a Program. It says which slots it reads and writes, so that scheduling and memory
// planning need not know its kind; the kinds are a file each (*_step.h). Constant once the Program
// is made; several threads may run it at once.
class GRAVEN_API Step {
 public:
  // An output, as far as it is known before the run.
  struct Output {
    int slot = -1;  // -1: it has no readers
    DType dtype = DType::kInvalid;
    Shape shape;               // as the graph says
    bool is_promised = false;  // the step must check the shape
  };
  explicit Step(const Node& node) : node(&node) {}
  virtual ~Step() = default;
  Step(const Step&) = delete;

  // Reads its inputs from the slots of the run and puts its outputs there. An error carries the
  // node.
  virtual Status run(ProgramRun& run) const = 0;
  // The ops that it computes: "AddV2", "[Mul AddV2]".
  virtual std::string text() const = 0;
  // The bytes of the step itself and the objects that belong to it, without the vectors declared
  // here.
  virtual int64_t bytes() const = 0;
  virtual bool may_block() const { return false; }
  // Whether every run gives output i the shape that the graph says and writes its elements, into
  // ProgramRun::kept where there is one.
  virtual bool writes_kept(size_t /*i*/) const { return false; }

  const Node* node;         // for errors: the node that the step was made from
  std::vector<int> inputs;  // slots that the step reads
  std::vector<Output> outputs;
  uint64_t last_use = 0;   // bit i: no later step reads input i, nor is it returned, so that it may
                           // be overwritten if its handle is unique
  std::vector<int> frees;  // slots that no step reads after this one
  std::vector<int> waits_for;     // earlier steps whose outputs, effects or memory it needs
  Queue* queue = &Queue::host();  // the queue it runs on; its inputs and outputs are on that device
  double cost = 0;                // estimate in nanoseconds
  bool keeps_outputs = false;     // all outputs are in slots that runs in turn keep (kept_slots)
};

// Places for the handles that a kernel takes. Empty between kernels.
struct KernelHandles {
  std::array<Tensor, 6> inputs;
  Tensors outputs;
};

// The slots of one run, or of several in turn (RepeatedRun): inputs first, then constants, then the
// results of steps.
class ProgramRun {
 public:
  const Tensor& value(int slot) const {
    if (slot >= first_made_) return made_[static_cast<size_t>(slot - first_made_)];
    if (slot >= first_constant_) return constants_[static_cast<size_t>(slot - first_constant_)];
    return inputs_[static_cast<size_t>(slot)];
  }
  const Tensor& input(const Step& step, size_t i) const { return value(step.inputs[i]); }
  // The handle of input i, which the step may give up: the step is its last reader, and the slot is
  // the run's own or the caller gave it up. Null otherwise.
  Tensor* last_handle(const Step& step, size_t i) {
    if (i >= 64 || !(step.last_use >> i & 1)) return nullptr;
    return own_handle(step.inputs[i]);
  }
  // The same for all inputs, as bits.
  uint64_t last_handles(const Step& step) {
    uint64_t own = step.last_use;
    for (size_t i = 0; i < step.inputs.size() && i < 64; ++i) {
      if ((own >> i & 1) && !own_handle(step.inputs[i])) own &= ~(uint64_t{1} << i);
    }
    return own;
  }
  // Gives an output its value; a promised shape is checked first.
  Status put(const Step& step, size_t output, Tensor tensor);

  // --- Of runs in turn.

  // The tensor that the last run had in the slot of an output, for the step to write again. Empty
  // if there is none without another owner. Its dtype and shape are those of the graph.
  Tensor kept(const Step& step, size_t output) {
    const int slot = step.outputs[output].slot;
    return slot >= 0 && keeps(slot) ? take_if_free(made_[static_cast<size_t>(slot - first_made_)])
                                    : Tensor();
  }
  // Where a step may put handles while it runs, which it moves out of their slots (handle) and
  // back. Null in a run that is not one of several.
  KernelHandles* lent() const { return lent_; }
  Tensor& handle(int slot) { return *handles_[static_cast<size_t>(slot)]; }

 private:
  friend class Program;
  friend class RepeatedRun;
  ProgramRun(std::span<const Tensor> inputs, std::span<Tensor> own_inputs,
             std::span<const bool> given_up, std::span<const Tensor> constants, int num_slots)
      : inputs_(inputs),
        own_inputs_(own_inputs),
        given_up_(given_up),
        constants_(constants),
        first_constant_(static_cast<int>(inputs.size())),
        first_made_(first_constant_ + static_cast<int>(constants.size())),
        made_(static_cast<size_t>(num_slots - first_made_)) {}
  bool keeps(int slot) const { return lent_ && kept_[static_cast<size_t>(slot)] != 0; }
  static Tensor take_if_free(Tensor& handle) {
    // An object whose id is remembered somewhere must stay the tensor that it was.
    const bool is_free = handle && handle.owns_its_elements() && handle.object()->known_id() == 0;
    return is_free ? std::move(handle) : Tensor();
  }
  // The slot of a step's result; null for others.
  Tensor* made(int slot) {
    return slot >= first_made_ ? &made_[static_cast<size_t>(slot - first_made_)] : nullptr;
  }
  Tensor* own_handle(int slot) {
    if (keeps(slot)) return nullptr;
    if (Tensor* handle = made(slot)) return handle;
    const auto i = static_cast<size_t>(slot);
    return i < given_up_.size() && given_up_[i] ? &own_inputs_[i] : nullptr;
  }
  void release(int slot) {
    if (keeps(slot)) return drop_if_shared(slot);
    if (Tensor* handle = own_handle(slot)) SpareMemory::keep(*handle);
  }
  // The other owner of a kept tensor may want to change it: it is kept only for a run without one.
  void drop_if_shared(int slot) {
    Tensor* handle = made(slot);
    if (handle && *handle && !handle->object()->is_unique()) *handle = Tensor();
  }

  std::span<const Tensor> inputs_;
  std::span<Tensor> own_inputs_;  // the same, if some are given up
  std::span<const bool> given_up_;
  std::span<const Tensor> constants_;
  // Of runs in turn; null otherwise.
  KernelHandles* lent_ = nullptr;
  Tensor* const* handles_ = nullptr;  // by slot
  const uint8_t* kept_ = nullptr;     // by slot: whether its tensor stays
  const int first_constant_, first_made_;
  InlineVector<Tensor, 48> made_;
};

}  // namespace graven::engine
