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

// What differentiates a step as a whole: the gradients of its inputs, one each, from those of its
// outputs (none where there are none). Ops go through the builder. Constant once made.
class GRAVEN_API Backward {
 public:
  virtual ~Backward() = default;
  // Of the step, for messages and name scopes.
  virtual std::string_view name() const = 0;
  virtual Result<std::vector<Gradient>> operator()(Builder& builder,
                                                   std::span<const Gradient> dy) const = 0;
};
using BackwardRef = std::shared_ptr<const Backward>;
// The same as a function.
using BackwardFunction =
    std::function<Result<std::vector<Gradient>>(Builder& builder, std::span<const Gradient> dy)>;
GRAVEN_API BackwardRef backward_of(std::string name, BackwardFunction function);

// Hears of every op that is applied in the frame it joined: a tape, a forward accumulator.
class GRAVEN_API Listener {
 public:
  virtual ~Listener() = default;
  // Inputs are what the caller gave, before any capture. Called after the op was applied.
  virtual void on_op(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                     const Tensors& outputs) = 0;
  // Hears of a step that is no op to it, but has a gradient as a whole: a call of a function, a
  // custom_gradient.
  virtual void on_step(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                       const BackwardRef& backward) = 0;
  // True if it would remember a step with these inputs.
  virtual bool wants(std::span<const Tensor> inputs) const = 0;
  // True if it may ask for gradients of gradients of what it hears.
  virtual bool wants_higher_orders() const = 0;
  // The frame that it joined ends.
  virtual void on_frame_end() = 0;
  // A variable was read or assigned, or a Function that does so was called.
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

// The state of building on one thread: a stack of frames, one for each graph being built, with
// an eager frame at the bottom and wherever init_scope was entered. Frames are objects on the C++
// stack of whoever traces; the top one is current. When a frame ends, those above it that were
// never left (a generator of the user's holds an init_scope open) leave the stack with it.
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
  // A number of its own, for what outlives the frame perhaps.
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
  // What tells them, over the frame's builder: made by the runtime when it is first needed, as it
  // knows the eager one.
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
