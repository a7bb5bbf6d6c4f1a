#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/inline_vector.h"
#include "graven/ir/builder.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/graph.h"
#include "graven/ir/location.h"

namespace graven::engine {

class GraphBuilder;

// The derivative of a step as a whole: computes the gradients of its inputs, one each, from those
// of its outputs (none where there are none). Ops go through the builder. Constant once made.
class GRAVEN_API Backward {
 public:
  virtual ~Backward() = default;
  // The name of the step, for messages and name scopes.
  virtual std::string_view name() const = 0;
  virtual Result<std::vector<Gradient>> operator()(Builder& builder,
                                                   std::span<const Gradient> dy) const = 0;
};
using BackwardRef = std::shared_ptr<const Backward>;
// A Backward made of a function.
using BackwardFunction =
    std::function<Result<std::vector<Gradient>>(Builder& builder, std::span<const Gradient> dy)>;
GRAVEN_API BackwardRef backward_of(std::string name, BackwardFunction function);

// Is told of every op that is applied in the frame that it joined: a tape, a forward accumulator.
class GRAVEN_API Listener {
 public:
  virtual ~Listener() = default;
  // The inputs are the caller's, before any capture. Called after the op was applied.
  virtual void on_op(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                     const Tensors& outputs) = 0;
  // Called for a step with a gradient as a whole, whose ops are not reported: a call of a function,
  // a custom_gradient.
  virtual void on_step(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                       const BackwardRef& backward) = 0;
  // True if the listener would remember a step with these inputs.
  virtual bool wants(std::span<const Tensor> inputs) const = 0;
  // True if the listener may ask for gradients of gradients of these steps.
  virtual bool wants_higher_orders() const = 0;
  // The frame that the listener joined ends.
  virtual void on_frame_end() = 0;
  // A variable was read or assigned, or a Function that reads or assigns it was called.
  virtual void on_variable(const Tensor& handle) = 0;
};

// Applies through a Builder and tells the listeners of the current frame.
class GRAVEN_API RecordingBuilder final : public Builder {
 public:
  explicit RecordingBuilder(Builder& beneath) : beneath_(beneath) {}
  Result<Tensors> apply(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs,
                        std::string_view name = {}) override;
  Graph* graph() override { return beneath_.graph(); }
  Builder& unrecorded() override { return beneath_.unrecorded(); }

 private:
  Builder& beneath_;
};

// The state of building on one thread: a stack of frames, one for each graph being built, with an
// eager frame at the bottom and wherever init_scope was entered. Frames are objects on the C++
// stack of the tracing thread; the top one is current. A frame that ends takes with it those above
// it that were never left (a user's generator holds an init_scope open).
class GRAVEN_API Frame {
 public:
  // The current frame of this thread; the eager one at the bottom if no other was made.
  static Frame& current();

  // A frame for a graph, or (null) an eager one, current while it lives. An eager frame keeps
  // the name scope of the one below, a graph's starts without.
  explicit Frame(GraphBuilder* builder);
  ~Frame();
  Frame(const Frame&) = delete;

  bool is_graph() const { return builder_ != nullptr; }
  GraphBuilder* graph_builder() const { return builder_; }
  Graph* graph() const;
  Frame* below() const { return below_; }
  // A number of its own, for objects that may outlive the frame.
  uint64_t id() const { return id_; }
  // The frame of this number on the stack of this thread, or null.
  static Frame* find(uint64_t id);
  // True if this frame or one below builds a graph: inside_function.
  static bool inside_function();

  // The current name scope, "" or "a/b/".
  std::string name_scope;
  // The merged device request, as written; "" without one.
  std::string device;
  // Where the user's code is; null: unknown. Inherited from the frame below.
  LocationSource* locations = nullptr;

  // Tapes and accumulators, in the order in which they joined; they leave in any order.
  InlineVector<Listener*, 2> listeners;
  // Tells the listeners, on top of the frame's builder. The runtime makes it when it is first
  // needed, because only the runtime knows the eager builder.
  std::optional<RecordingBuilder> recording;

 private:
  struct Bottom {};
  explicit Frame(Bottom) {}
  const uint64_t id_ = next_id();
  static uint64_t next_id();
  GraphBuilder* builder_ = nullptr;
  Frame* below_ = nullptr;
};

// Enters a name scope while it lives: a name is made unique in a graph, one that ends in
// "/" is entered exactly, an empty one goes to the root. It may outlive the frame.
class GRAVEN_API NameScope {
 public:
  explicit NameScope(std::string_view name);
  ~NameScope();
  NameScope(const NameScope&) = delete;

 private:
  const uint64_t frame_;
  std::string saved_;
};

}  // namespace graven::engine
