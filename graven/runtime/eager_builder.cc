#include "graven/runtime/eager_builder.h"

#include "graven/ir/call_sizes.h"
#include "graven/ir/checking_builder.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/out_of_scope.h"
#include "graven/runtime/run_body.h"
#include "graven/runtime/run_op.h"
#include "graven/tensor/device_queues.h"

namespace graven::engine {
namespace {

constinit thread_local int64_t t_num_effects = 0;

class EagerBuilder final : public Builder {
 public:
  Result<Tensors> apply(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs,
                        std::string_view /*name*/) override {
    for (const Tensor& input : inputs) {
      if (!input) return internal_error("[", op.name(), "] an input is missing");
      if (input.is_symbolic()) return type_error(out_of_scope_text(input, nullptr));
    }
    if (op.is_stateful_ever() && CallSizes::any()) {
      const Effects effects = op.record().effects(op, attrs);
      if (effects.must_run || effects.ordered || !effects.writes.empty()) note_eager_effect();
    }
    // With nothing reusable the inputs are only read.
    std::span<Tensor> values(const_cast<Tensor*>(inputs.data()), inputs.size());
    Tensors outputs;
    RETURN_IF_ERROR(run_op(op, attrs, values, /*reusable=*/0, /*state=*/nullptr, outputs,
                           has_other_devices() ? Frame::current().device : std::string_view()));
    return outputs;
  }

  Result<Tensors> call(const Ref<Body>& body, std::span<const Tensor> inputs,
                       std::string_view /*name*/) override {
    Result<Tensors> outputs{Tensors()};
    if (Status status = run_call(body, inputs, *outputs); !status.ok()) outputs = status;
    return outputs;
  }

 private:
  static Status run_call(const Ref<Body>& body, std::span<const Tensor> inputs, Tensors& outputs) {
    for (const Tensor& input : inputs) {
      if (!input) return internal_error("an input of a call of ", body->name(), " is missing");
      if (input.is_symbolic()) return type_error(out_of_scope_text(input, nullptr));
    }
    if (body->effects().stateful && CallSizes::any()) note_eager_effect();
    return run_body(body, inputs, outputs, /*may_hand_out_inputs=*/true);
  }
};

// In a frame that has listeners.
[[gnu::noinline]] Builder& listened_builder(Frame& frame, Builder& plain) {
  CheckingBuilder* const checking = frame.is_graph() ? nullptr : CheckingBuilder::current();
  if (checking && frame.listeners.size() == 1) return *checking;
  if (!frame.recording) frame.recording.emplace(checking ? *checking : plain);
  return *frame.recording;
}

}  // namespace

int64_t num_eager_effects() { return t_num_effects; }

void note_eager_effect() { ++t_num_effects; }

Builder& eager_builder() {
  static auto* builder = new EagerBuilder();
  return *builder;
}

Builder& current_builder() {
  Frame& frame = Frame::current();
  Builder& plain = frame.is_graph() ? *frame.graph_builder() : eager_builder();
  if (frame.listeners.empty()) return plain;
  return listened_builder(frame, plain);
}

Result<Tensors> apply(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs,
                      std::string_view name) {
  return current_builder().apply(op, inputs, attrs, name);
}

}  // namespace graven::engine
