#include "graven/autodiff/forward_graph.h"

#include <algorithm>
#include <cstdint>
#include <variant>

#include "graven/autodiff/call_gradient.h"
#include "graven/autodiff/custom_gradient.h"
#include "graven/autodiff/expand_composites.h"
#include "graven/base/heap_bytes.h"
#include "graven/ir/bodies.h"
#include "graven/ir/emitter.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/recompute.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

std::vector<Tensor> input_tensors(const Ref<Graph>& graph, const Node& node) {
  std::vector<Tensor> inputs;
  for (OutputRef input : node.inputs()) inputs.push_back(symbolic_tensor(graph, input));
  return inputs;
}

}  // namespace

Result<ForwardGraph> ForwardGraph::create(const Body& body, std::string name) {
  ForwardGraph forward;
  forward.original_ = body.graph();
  std::vector<Node*> copies;
  forward.graph_ = body.graph()->clone(&copies);
  forward.graph_->set_name(std::move(name));
  for (const Node* node : body.graph()->nodes()) {
    for (int i = 0; i < node->num_outputs(); ++i) {
      forward.copy_of_[{node->id(), i}] = {copies[node->id()], i};
    }
  }
  RETURN_IF_ERROR(forward.expand_composites());
  RETURN_IF_ERROR(forward.extend_nodes());
  for (Node* node : forward.graph_->nodes()) forward.add_tensors(node);
  for (Node* node : forward.graph_->inputs()) {
    forward.inputs_.push_back(forward.tensor_at({node, 0}));
  }
  for (OutputRef output : forward.graph_->outputs()) {
    Tensor tensor = forward.tensor_at(output);
    forward.number_of_output_.emplace(tensor.get()->id(),
                                      static_cast<int>(forward.outputs_.size()));
    forward.outputs_.push_back(std::move(tensor));
  }
  forward.make_steps();
  return forward;
}

Result<ForwardGraph> ForwardGraph::in_place(const Ref<Graph>& graph) {
  ForwardGraph forward;
  forward.graph_ = graph;
  RETURN_IF_ERROR(forward.add_parts());
  RETURN_IF_ERROR(forward.extend_nodes());
  for (Node* node : graph->nodes()) forward.add_tensors(node);
  forward.make_steps();
  return forward;
}

// Adds the parts of composites that have no gradient of their own; their outputs equal the op's.
Status ForwardGraph::add_parts() {
  GraphBuilder builder(graph_);
  for (size_t n = 0; n < graph_->nodes().size(); ++n) {
    Node* node = graph_->nodes()[n];
    if (!is_differentiated_by_parts(*node)) continue;
    size_t first = graph_->nodes().size();
    ASSIGN_OR_RETURN(
        Tensors outputs,
        expand_composite(builder, node->op(), input_tensors(graph_, *node), node->attrs()));
    Parts& parts = parts_of_[node];
    for (size_t i = first; i < graph_->nodes().size(); ++i) {
      parts.nodes.push_back(graph_->nodes()[i]);
    }
    for (const Tensor& output : outputs) parts.outputs.push_back(symbolic(output).output());
  }
  return {};
}

Status ForwardGraph::expand_composites() {
  return engine::expand_composites(graph_, [this](OutputRef node, OutputRef part) {
    for (auto& [original, copy] : copy_of_) {
      if (copy == node) copy = part;
    }
  });
}

Status ForwardGraph::extend_nodes() {
  GraphBuilder builder(graph_);
  Frame frame(&builder);
  // Calls that no gradient can reach stay as they are. In a graph that is being built any tensor
  // may be a source; otherwise inputs are.
  int last = 0;
  for (const Node* node : graph_->nodes()) last = std::max(last, node->id());
  std::vector<bool> is_reached(static_cast<size_t>(last) + 1, !original_);
  for (Node* node : graph_->inputs()) is_reached[node->id()] = true;
  std::vector<Node*> to_extend;
  for (Node* node : graph_->nodes()) {
    if (node->op().record().gradient == not_differentiable) continue;
    for (OutputRef input : node->inputs()) {
      bool flows = propagates(input.node->output(input.index).dtype);
      if (flows && is_reached[input.node->id()]) is_reached[node->id()] = true;
    }
    const NodeBodies bodies = bodies_of(*node);
    if (bodies.empty() || bodies.run == BodyRun::kAsTheOpLikes || !is_reached[node->id()]) continue;
    to_extend.push_back(node);
  }
  const size_t num_nodes = graph_->nodes().size();
  for (Node* node : to_extend) RETURN_IF_ERROR(extend(node, builder));
  if (graph_->nodes().size() != num_nodes) graph_->sort();
  return {};
}

Status ForwardGraph::extend(Node* node, GraphBuilder& builder) {
  std::vector<Tensor> inputs = input_tensors(graph_, *node);
  const AttrValue noted = node->attribute(kRecompute);
  const auto* recompute = std::get_if<int64_t>(&noted);
  auto extended = extend_node(node->op(), node->attrs(), builder, recompute ? *recompute : 0);
  // Another thread, or this one where less of the stack is used, may have room for it.
  if (extended.status().code() == Code::kResourceExhausted) return extended.status();
  if (!extended.ok()) {  // an error only if a gradient has to pass here
    backward_of_failed_[node] = extended.status();
    return {};
  }
  if (!(AttrsRef(extended->attrs) == node->attrs())) {
    inputs.insert(inputs.end(), extended->more_inputs.begin(), extended->more_inputs.end());
    ASSIGN_OR_RETURN(auto types,
                     builder.output_types(*extended->op, inputs, extended->attrs, node->name()));
    types.erase(types.begin(), types.begin() + node->num_outputs());
    std::vector<OutputRef> all;
    for (const Tensor& input : inputs) all.push_back(symbolic(input).output());
    graph_->replace_op(node, *extended->op, extended->attrs, std::move(all), std::move(types));
  }
  extended_.emplace(node, std::move(*extended));
  return {};
}

void ForwardGraph::add_tensors(Node* node) {
  auto id = static_cast<size_t>(node->id());
  if (tensors_.size() <= id) tensors_.resize(id + 1);
  for (int i = 0; i < node->num_outputs(); ++i) {
    tensors_[id].push_back(symbolic_tensor(graph_, {node, i}));
  }
}

void ForwardGraph::make_steps() {
  std::vector<bool> is_done(tensors_.size(), false);
  for (Node* node : graph_->nodes()) make_step_of(node, is_done);
}

void ForwardGraph::make_step_of(Node* node, std::vector<bool>& is_done) {
  if (is_done[node->id()] || node->inputs().empty() || node->num_outputs() == 0) return;
  is_done[node->id()] = true;
  std::vector<Tensor> inputs;
  for (OutputRef input : node->inputs()) inputs.push_back(tensor_at(input));
  const std::vector<Tensor>& outputs = tensors_[node->id()];
  BackwardRef backward;
  if (auto parts = parts_of_.find(node); parts != parts_of_.end()) {
    // The composite as a step whose outputs are those of its parts, which come before it.
    for (Node* part : parts->second.nodes) make_step_of(part, is_done);
    inputs.clear();
    for (OutputRef output : parts->second.outputs) inputs.push_back(tensor_at(output));
    backward = backward_of(
        node->name(), [](Builder&, std::span<const Gradient> dy) -> Result<std::vector<Gradient>> {
          return std::vector<Gradient>(dy.begin(), dy.end());
        });
  } else if (node->custom_gradient()) {
    backward = backward_of_custom_node(*node, outputs);
  } else if (auto extended = extended_.find(node); extended != extended_.end()) {
    backward = extended->second.backward(inputs, outputs);
  } else if (auto failed = backward_of_failed_.find(node); failed != backward_of_failed_.end()) {
    backward = backward_that_fails(node->name(), failed->second);
  } else if (!bodies_of(*node).empty() || node->op().record().gradient == not_differentiable) {
    return;
  }
  steps_.push_back(make_step(node->op(), node->attrs(), inputs, outputs, std::move(backward)));
}

Tensor ForwardGraph::tensor_of(const Tensor& outer) const {
  if (outer.is_symbolic()) {
    const SymbolicTensor& tensor = symbolic(outer);
    if (tensor.graph() == graph_) return tensor_at(tensor.output());
    if (tensor.graph() == original_) {
      auto at = copy_of_.find({tensor.node().id(), tensor.output().index});
      return at == copy_of_.end() ? Tensor() : tensor_at(at->second);
    }
  }
  uint64_t id = outer.get()->known_id();
  Node* input = id == 0 ? nullptr : graph_->capture_of(id);
  return input ? tensor_at({input, 0}) : Tensor();
}

Status ForwardGraph::note_use(const Tensor& outer, const Tensor& tensor) {
  const bool is_of_original = outer.is_symbolic() && symbolic(outer).graph() == original_;
  if (!is_of_original || is_frozen_) return {};
  GraphBuilder builder(graph_);
  Frame frame(&builder);
  ASSIGN_OR_RETURN(Node* const node, note_stand_in(builder, outer, tensor));
  if (node != &symbolic(tensor).node()) add_tensors(node);
  return {};
}

Result<Tensor> ForwardGraph::size_of(const Op& op, const Tensor& tensor, AttrsRef attrs) {
  const DType dtype = &op == kShape.op ? attrs.as<ShapeAttrs>().out_type : DType::kInt32;
  const std::tuple key(tensor.get()->id(), &op, dtype);
  if (auto at = size_of_.find(key); at != size_of_.end()) return at->second;
  if (is_frozen_) return Tensor();
  GraphBuilder builder(graph_);
  Frame frame(&builder);
  ASSIGN_OR_RETURN(Tensors size, builder.apply(op, {&tensor, 1}, attrs));
  add_tensors(&symbolic(size[0]).node());
  return size_of_[key] = tensor_at(symbolic(size[0]).output());
}

int ForwardGraph::tie_number() {
  if (tie_number_ >= 0 || is_frozen_) return tie_number_;
  GraphBuilder builder(graph_);
  Frame frame(&builder);
  Node& node = symbolic(builder.add_constant(Tensor::scalar(0.0f), "tie")).node();
  add_tensors(&node);
  return tie_number_ = output_number(tensor_at({&node, 0}));
}

int ForwardGraph::output_number(const Tensor& tensor) {
  auto at = number_of_output_.find(tensor.get()->id());
  if (at != number_of_output_.end()) return at->second;
  if (is_frozen_) return -1;
  auto number = static_cast<int>(outputs_.size());
  outputs_.push_back(tensor);
  number_of_output_.emplace(tensor.get()->id(), number);
  std::vector<OutputRef> outputs(graph_->outputs().begin(), graph_->outputs().end());
  outputs.push_back(symbolic(tensor).output());
  graph_->set_outputs(std::move(outputs));
  return number;
}

int64_t ForwardGraph::bytes_without_graph() const {
  ByteCount count;
  auto bytes_of = [&](const Tensor& tensor) {
    return tensor && count.is_first(tensor.get()) ? bytes_of_object<SymbolicTensor>() : 0;
  };
  int64_t total = heap_bytes(copy_of_) + heap_bytes(tensors_) + heap_bytes(inputs_) +
                  heap_bytes(outputs_) + heap_bytes(steps_) + heap_bytes(parts_of_) +
                  heap_bytes(number_of_output_) + heap_bytes(size_of_) + heap_bytes(extended_) +
                  heap_bytes(backward_of_failed_);
  for (const auto& tensors : tensors_) {
    total += heap_bytes(tensors);
    for (const Tensor& tensor : tensors) total += bytes_of(tensor);
  }
  for (const auto& [of, tensor] : size_of_) total += bytes_of(tensor);
  for (const TapeStepRef& step : steps_) {
    total += bytes_of_shared<TapeStep>() + heap_bytes(step->node_name) + heap_bytes(step->inputs) +
             heap_bytes(step->outputs);
    if (step->attrs) {
      total += bytes_of_block(std::max<size_t>(AttrsRef(*step->attrs).type().size, 1));
    }
  }
  return total;
}

}  // namespace graven::engine
