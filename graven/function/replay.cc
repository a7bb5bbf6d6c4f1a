#include "graven/function/replay.h"

#include <algorithm>
#include <memory>
#include <set>
#include <unordered_set>

#include "graven/base/strings.h"
#include "graven/function/function.h"
#include "graven/function/same_graph.h"
#include "graven/ir/bodies.h"
#include "graven/ir/body.h"
#include "graven/ir/custom_gradient.h"
#include "graven/ir/frame.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

// Captures of equal constants, which a run makes anew, are the same.
bool same_outside(const Node* a, const Node* b) {
  return a == b || (&a->op() == kConst.op && &b->op() == kConst.op &&
                    same_attributes(a->attrs(), b->attrs()));
}

// Says where a node was made while its copy is added.
class PlaceOf final : public LocationSource {
 public:
  Ref<Location> current() override { return location; }
  Ref<Location> location;
};

// Sets what the current frame gives new nodes, and restores it.
class FrameOfCopies {
 public:
  explicit FrameOfCopies(Frame& frame)
      : frame_(frame),
        locations_(frame.locations),
        device_(frame.device),
        control_inputs_(frame.graph_builder()->control_inputs),
        name_scope_(std::exchange(frame.name_scope, {})) {
    frame.locations = &place;
  }
  ~FrameOfCopies() {
    frame_.locations = locations_;
    frame_.device = device_;
    frame_.graph_builder()->control_inputs = control_inputs_;
    frame_.name_scope = name_scope_;
  }
  FrameOfCopies(const FrameOfCopies&) = delete;
  PlaceOf place;

 private:
  Frame& frame_;
  LocationSource* locations_;
  std::string device_;
  std::vector<Node*> control_inputs_;
  std::string name_scope_;
};

// What the user said of a shape beyond what follows from the inputs.
Status promise(const OutputType& type, const Tensor& copy) {
  if (!type.is_promised) return {};
  Shape shape = type.shape;
  for (int i = 0; i < shape.rank(); ++i) {
    if (!shape[i].is_number()) shape.set(i, Dim::unknown());
  }
  return static_cast<SymbolicTensor*>(copy.get())->set_shape(shape);
}

}  // namespace

// --- Path.

int Path::index_of(const Node* node) const {
  const auto at = index_.find(node);
  return at == index_.end() ? -1 : at->second;
}

std::optional<PathValue> Path::find(const Tensor& tensor) const {
  if (!tensor.is_symbolic()) return std::nullopt;
  const OutputRef output = symbolic(tensor).output();
  const int index = index_of(output.node);
  if (index < 0) return std::nullopt;
  return PathValue{index, output.index};
}

Tensor Path::tensor_of(OutputRef output) const {
  if (originals_) {
    const auto at = originals_->find({output.node, output.index});
    if (at != originals_->end()) return at->second;
  }
  return symbolic_tensor(graph_, output);
}

Tensor Path::tensor(PathValue value) const {
  return tensor_of({nodes_[static_cast<size_t>(value.node)], value.output});
}

bool Path::same_node(const Path& other, int i, int j,
                     FunctionRef<bool(OutputRef, OutputRef)> same_input,
                     FunctionRef<bool(const Node*, const Node*)> same_control) const {
  const Node &a = *nodes_[static_cast<size_t>(i)], &b = *other.nodes_[static_cast<size_t>(j)];
  return same_kind(a, b) && std::ranges::equal(a.inputs(), b.inputs(), same_input) &&
         std::ranges::equal(a.control_inputs(), b.control_inputs(), same_control);
}

int Path::first_difference(const Path& other, int end) const {
  auto same = [&](const Node* a, const Node* b) {
    const int i = index_of(a), j = other.index_of(b);
    return i == j && (i >= 0 || same_outside(a, b));
  };
  auto same_input = [&](OutputRef a, OutputRef b) {
    return a.index == b.index && same(a.node, b.node);
  };
  for (int i = 0; i < end; ++i) {
    const bool is_there = i < size() && i < other.size();
    if (!is_there || !same_node(other, i, i, same_input, same)) return i;
  }
  return -1;
}

std::optional<std::vector<Path::Pair>> Path::same_from(int start, const Path& other,
                                                       int other_start, int num_common) const {
  const int count = size() - start;
  if (count != other.size() - other_start) return std::nullopt;
  std::vector<Pair> pairs;
  auto same_control = [&](const Node* a, const Node* b) {
    const int i = index_of(a), j = other.index_of(b);
    if (i >= start && j >= other_start) return i - start == j - other_start;
    return i == j && i < num_common && (i >= 0 || a == b);
  };
  auto same_input = [&](OutputRef a, OutputRef b) {
    const int i = index_of(a.node), j = other.index_of(b.node);
    const bool is_after = i >= start, is_other_after = j >= other_start;
    if (is_after || is_other_after) {
      return is_after && is_other_after && a.index == b.index && i - start == j - other_start;
    }
    const bool is_same =
        a.index == b.index && i == j && i < num_common && (i >= 0 || same_outside(a.node, b.node));
    if (is_same) return true;
    if (a.node->output(a.index).dtype != b.node->output(b.index).dtype) return false;
    pairs.emplace_back(tensor_of(a), other.tensor_of(b));
    return true;
  };
  for (int i = 0; i < count; ++i) {
    if (!same_node(other, start + i, other_start + i, same_input, same_control)) {
      return std::nullopt;
    }
  }
  return pairs;
}

int Path::same_kinds_before(int end, int start, const Path& other, int other_end,
                            int other_start) const {
  int count = 0;
  while (end - count > start && other_end - count > other_start &&
         same_kind(*nodes_[static_cast<size_t>(end - count - 1)],
                   *other.nodes_[static_cast<size_t>(other_end - count - 1)])) {
    ++count;
  }
  return count;
}

std::vector<PathValue> Path::reads_before(int start, int end) const {
  std::set<PathValue> found;
  for (int i = start; i < end; ++i) {
    for (OutputRef input : nodes_[static_cast<size_t>(i)]->inputs()) {
      const int index = index_of(input.node);
      if (index >= 0 && index < start) found.insert({index, input.index});
    }
  }
  return {found.begin(), found.end()};
}

Status Path::write(int start, int end) {
  Frame& frame = Frame::current();
  GraphBuilder* builder = frame.graph_builder();
  FrameOfCopies copies(frame);
  for (int i = start; i < end; ++i) {
    const Node& node = *nodes_[static_cast<size_t>(i)];
    InlineVector<Tensor, 4> inputs;
    for (OutputRef input : node.inputs()) {
      ASSIGN_OR_RETURN(Tensor tensor, written(tensor_of(input)));
      inputs.push_back(std::move(tensor));
    }
    builder->control_inputs.clear();
    for (const Node* before : node.control_inputs()) {
      const int index = index_of(before);
      Node* copy =
          index < 0 ? const_cast<Node*>(before) : written_[static_cast<size_t>(index)].node;
      // In another graph it has run already.
      if (copy && &copy->graph() == builder->graph()) builder->control_inputs.push_back(copy);
    }
    frame.device = node.device();
    copies.place.location = node.location();
    Written& made = written_[static_cast<size_t>(i)];
    ASSIGN_OR_RETURN(made.outputs,
                     builder->GraphBuilder::apply(node.op(), inputs, node.attrs(), node.name()));
    made.node = builder->graph()->nodes().back();
    for (const auto& [name, value] : node.extra_attributes()) {
      builder->graph()->set_attribute(made.node, name, value);
    }
    if (node.custom_gradient()) {
      builder->graph()->set_custom_gradient(made.node, node.custom_gradient());
    }
    for (int output = 0; output < node.num_outputs(); ++output) {
      RETURN_IF_ERROR(promise(node.output(output), made.outputs[static_cast<size_t>(output)]));
    }
  }
  return {};
}

Result<Tensor> Path::written(const Tensor& tensor) const {
  const std::optional<PathValue> value = find(tensor);
  if (!value) return tensor;
  const Tensors& outputs = written_[static_cast<size_t>(value->node)].outputs;
  const auto index = static_cast<size_t>(value->output);
  if (index >= outputs.size() || !outputs[index]) {
    return internal_error("The value ", symbolic(tensor).node().name(),
                          " of a run is needed where that run was not written");
  }
  return outputs[index];
}

std::string Path::node_text(int i) const {
  if (i < 0 || i >= size()) return "no operation";
  const Node& node = *nodes_[static_cast<size_t>(i)];
  const auto frames = node.location() ? node.location()->frames() : std::vector<SourceFrame>();
  if (frames.empty()) return std::string(node.op().name());
  return str_cat(node.op().name(), " (", frames.back().file, ", line ", frames.back().line, ")");
}

void Path::bind(PathValue value, Tensor tensor) {
  Written& made = written_[static_cast<size_t>(value.node)];
  const auto count = static_cast<size_t>(nodes_[static_cast<size_t>(value.node)]->num_outputs());
  while (made.outputs.size() < count) made.outputs.push_back({});
  made.outputs[static_cast<size_t>(value.output)] = std::move(tensor);
}

void Path::adopt(const Path& other, int end) {
  std::copy_n(other.written_.begin(), end, written_.begin());
}

void Path::forget(int start, int end) {
  std::fill(written_.begin() + start, written_.begin() + end, Written());
}

// --- Replay.

void Replay::Noting::note(const Tensor& tensor) {
  if (!tensor.is_symbolic() || symbolic(tensor).graph().get() != graph_) return;
  const OutputRef output = symbolic(tensor).output();
  tensors->try_emplace({output.node, output.index}, tensor);
}

void Replay::Noting::on_op(const Op&, AttrsRef, std::span<const Tensor> inputs,
                           const Tensors& outputs) {
  for (const Tensor& input : inputs) note(input);
  for (const Tensor& output : outputs) note(output);
}

void Replay::Noting::on_step(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                             const BackwardRef&) {
  for (const Tensor& input : inputs) note(input);
  for (const Tensor& output : outputs) note(output);
}

Result<std::unique_ptr<Replay>> Replay::create() {
  Frame& frame = Frame::current();
  if (!frame.is_graph()) return internal_error("A replay needs a graph");
  return std::unique_ptr<Replay>(new Replay(frame));
}

Replay::Replay(Frame& frame) : graph_(frame.graph_builder()->graph_ref()), frame_(frame.id()) {
  if (!frame.listeners.empty()) {
    listener_ = std::make_unique<Noting>(graph_.get());
    frame.listeners.push_back(listener_.get());
  }
  start_run();
}

Replay::~Replay() { finish(); }

bool Replay::is_current() const { return Frame::current().graph() == graph_.get(); }

void Replay::start_run() {
  first_id_ = graph_->id_bound();
  const VariableCreation* creation = VariableCreation::current();
  num_created_ = creation ? creation->created().size() : 0;
}

std::vector<Node*> Replay::nodes_since(int id) const {
  std::unordered_set<const Node*> inputs;
  for (const Node* input : graph_->inputs()) {
    if (input->id() >= id) inputs.insert(input);
  }
  std::vector<Node*> found;
  for (size_t i = graph_->nodes().size(); i > 0 && graph_->nodes()[i - 1]->id() >= id; --i) {
    if (!inputs.contains(graph_->nodes()[i - 1])) found.push_back(graph_->nodes()[i - 1]);
  }
  std::ranges::reverse(found);
  return found;
}

int Replay::num_nodes() const { return static_cast<int>(nodes_since(first_id_).size()); }

bool Replay::has_created_variables() const {
  const VariableCreation* creation = VariableCreation::current();
  return creation && creation->created().size() > num_created_;
}

void Replay::take(const std::unordered_set<const Node*>& nodes) {
  std::vector<Node*> order;
  for (Node* node : graph_->nodes()) (nodes.contains(node) ? taken_ : order).push_back(node);
  graph_->set_order(std::move(order));
}

Result<Ref<Path>> Replay::end_run(int num_kept) {
  auto path = make_ref<Path>();
  path->graph_ = graph_;
  if (listener_) path->originals_ = listener_->tensors;
  path->nodes_ = nodes_since(first_id_);
  path->written_.resize(path->nodes_.size());
  std::unordered_set<const Node*> taken;
  for (int i = 0; i < path->size(); ++i) {
    Node* node = path->nodes_[static_cast<size_t>(i)];
    path->index_.emplace(node, i);
    if (i >= num_kept) {
      taken.insert(node);
      continue;
    }
    Path::Written& kept = path->written_[static_cast<size_t>(i)];
    kept.node = node;
    for (int o = 0; o < node->num_outputs(); ++o) {
      kept.outputs.push_back(path->tensor_of({node, o}));
    }
  }
  take(taken);
  if (has_created_variables()) {
    return value_error(
        "A variable is created again when the function is run again for another way through its "
        "conditions on tensors: create it once, when it is not there yet");
  }
  return path;
}

void Replay::drop_run() {
  std::unordered_set<const Node*> kept;
  std::vector<const Node*> pending;
  const VariableCreation* creation = VariableCreation::current();
  for (const CreatedVariable& variable :
       creation ? creation->created() : std::span<const CreatedVariable>()) {
    const Tensor& initial = variable.initial_value;
    if (!initial || !initial.is_symbolic() || symbolic(initial).graph() != graph_) continue;
    pending.push_back(&symbolic(initial).node());
  }
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    if (!kept.insert(node).second) continue;
    for (OutputRef input : node->inputs()) pending.push_back(input.node);
    for (const Node* before : node->control_inputs()) pending.push_back(before);
  }
  // No Path has them, so they go for good: an op of a later run that reads one is an error.
  std::vector<Node*> dropped = nodes_since(first_id_);
  std::erase_if(dropped, [&](const Node* node) { return kept.contains(node); });
  graph_->remove(dropped);
}

void Replay::finish() {
  if (std::exchange(is_finished_, true)) return;
  if (Frame* frame = listener_ ? Frame::find(frame_) : nullptr) {
    for (size_t i = 0; i < frame->listeners.size(); ++i) {
      if (frame->listeners[i] == listener_.get()) {
        frame->listeners.erase(frame->listeners.begin() + i);
        break;
      }
    }
  }
  graph_->remove(taken_);
}

}  // namespace graven::engine
