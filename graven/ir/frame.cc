#include "graven/ir/frame.h"

#include <algorithm>
#include <atomic>

#include "graven/ir/checking_builder.h"
#include "graven/ir/emitter.h"
#include "graven/ir/graph_builder.h"

namespace graven::engine {
namespace {

// Read at every op and call, so without a call that finds the thread's storage.
[[gnu::tls_model("initial-exec")]] constinit thread_local Frame* t_current = nullptr;
constinit thread_local CheckingBuilder* t_checking = nullptr;

class FunctionAsBackward final : public Backward {
 public:
  FunctionAsBackward(std::string name, BackwardFunction function)
      : name_(std::move(name)), function_(std::move(function)) {}
  std::string_view name() const override { return name_; }
  Result<std::vector<Gradient>> operator()(Builder& builder,
                                           std::span<const Gradient> dy) const override {
    return function_(builder, dy);
  }

 private:
  const std::string name_;
  const BackwardFunction function_;
};

}  // namespace

BackwardRef backward_of(std::string name, BackwardFunction function) {
  return std::make_shared<FunctionAsBackward>(std::move(name), std::move(function));
}

Frame& Frame::current() {
  if (t_current) return *t_current;
  static thread_local Frame bottom{Bottom{}};
  t_current = &bottom;
  return bottom;
}

Frame::Frame(GraphBuilder* builder) : builder_(builder), below_(&current()) {
  if (!builder) {
    name_scope = below_->name_scope;
    if (t_checking) listeners.push_back(t_checking);
  }
  locations = below_->locations;
  t_current = this;
}

Frame::~Frame() {
  auto remaining = listeners;
  for (Listener* listener : remaining) listener->on_frame_end();
  if (!find(id_)) return;  // the bottom frame dies with its thread
  // Graphs are built by frames on the C++ stack, so one with such a frame above it is not there: an
  // init_scope that a generator held open, closed while something is traced. The trace goes on.
  Frame* above = nullptr;
  for (Frame* frame = t_current; frame != this; frame = frame->below_) {
    if (frame->is_graph()) above = frame;
    if (above && frame->below_ == this) above = frame;
  }
  (above ? above->below_ : t_current) = below_;
}

uint64_t Frame::next_id() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

Frame* Frame::find(uint64_t id) {
  Frame* frame = t_current;
  while (frame && frame->id_ != id) frame = frame->below_;
  return frame;
}

Graph* Frame::graph() const { return builder_ ? builder_->graph() : nullptr; }

bool Frame::inside_function() {
  for (Frame* frame = &current(); frame; frame = frame->below_) {
    if (frame->is_graph()) return true;
  }
  return false;
}

CheckingBuilder* CheckingBuilder::current() { return t_checking; }

void CheckingBuilder::set(CheckingBuilder* checking, Builder& eager) {
  for (Frame* frame = &Frame::current(); frame; frame = frame->below()) {
    if (frame->is_graph()) continue;
    auto& heard = frame->listeners;
    auto* const old = std::ranges::find(heard, static_cast<Listener*>(t_checking));
    if (t_checking && old != heard.end()) heard.erase(old);
    if (checking) heard.insert(heard.begin(), checking);
    // In its place: the program may be within a gradient that goes through it.
    if (frame->recording) frame->recording.emplace(checking ? *checking : eager);
  }
  t_checking = checking;
}

void CheckingBuilder::on_op(const Op&, AttrsRef, std::span<const Tensor>, const Tensors&) {}
void CheckingBuilder::on_step(std::span<const Tensor>, std::span<const Tensor>,
                              const BackwardRef&) {}
bool CheckingBuilder::wants(std::span<const Tensor>) const { return false; }
bool CheckingBuilder::wants_higher_orders() const { return false; }
void CheckingBuilder::on_frame_end() {}
void CheckingBuilder::on_variable(const Tensor&) {}

NameScope::NameScope(std::string_view name)
    : frame_(Frame::current().id()), saved_(Frame::current().name_scope) {
  Frame& frame = Frame::current();
  if (name.empty()) {
    frame.name_scope.clear();
  } else if (name.back() == '/') {
    frame.name_scope = name;
  } else {
    std::string full = saved_ + std::string(name);
    if (Graph* graph = frame.graph()) full = graph->unique_name(full);
    frame.name_scope = full + "/";
  }
}

NameScope::~NameScope() {
  if (Frame* frame = Frame::find(frame_)) frame->name_scope = std::move(saved_);
}

Result<Tensors> RecordingBuilder::apply(const Op& op, std::span<const Tensor> inputs,
                                        AttrsRef attrs, std::string_view name) {
  // Without a gradient of its own a composite is differentiated by its parts.
  if (op.record().body.kind() == OpBody::Kind::kComposite && !op.record().gradient) {
    auto* checking = dynamic_cast<CheckingBuilder*>(&beneath_);
    if (!checking) return expand_composite(*this, op, inputs, attrs);
    RecordingBuilder parts(checking->unchecked());
    ASSIGN_OR_RETURN(Tensors outputs, expand_composite(parts, op, inputs, attrs));
    RETURN_IF_ERROR(checking->check(op, inputs, outputs));
    return outputs;
  }
  auto outputs = beneath_.apply(op, inputs, attrs, name);
  if (!outputs.ok()) return outputs;
  // A copy: a listener may leave while it is being told.
  auto listeners = Frame::current().listeners;
  for (Listener* listener : listeners) listener->on_op(op, attrs, inputs, *outputs);
  return outputs;
}

}  // namespace graven::engine
