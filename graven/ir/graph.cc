#include "graven/ir/graph.h"

#include <algorithm>
#include <cctype>

#include "graven/base/strings.h"
#include "graven/ir/bodies.h"
#include "graven/ir/body.h"
#include "graven/ir/custom_gradient.h"
#include "graven/ir/list_length.h"
#include "graven/ir/live_graphs.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

OutputType copy_of(const OutputType& type) {
  OutputType copy{type.dtype, type.shape, type.is_promised, nullptr, nullptr};
  if (type.sizes) copy.sizes = std::make_unique<SymbolicValue>(*type.sizes);
  if (type.handle_data) copy.handle_data = std::make_unique<HandleData>(*type.handle_data);
  return copy;
}

}  // namespace

void add_ref_to(const CustomGradient* gradient) { gradient->add_ref(); }
void drop_ref_of(const CustomGradient* gradient) { gradient->drop_ref(); }

AttrValue Node::attribute(std::string_view name) const {
  for (const auto& [key, value] : extra_attributes_) {
    if (key == name) return value;
  }
  const AttrValue given = attrs().get(name);
  const DType* dtype = std::get_if<DType>(&given);
  // A dtype that was not given is that of the tensors.
  if (has_value(given) && !(dtype && *dtype == DType::kInvalid)) return given;
  for (size_t p = 0; p < op_->type_params().size(); ++p) {
    if (op_->type_params()[p].name != name) continue;
    int flat = 0;
    const int in_list = list_length(*op_, inputs_.size());
    for (const ArgSpec& arg : op_->inputs()) {
      int count = arg.is_list ? in_list : 1;
      if (arg.type_param == static_cast<int>(p) && count > 0) {
        return inputs_[flat].node->output(inputs_[flat].index).dtype;
      }
      flat += count;
    }
    for (size_t i = 0; i < op_->outputs().size() && i < outputs_.size(); ++i) {
      if (op_->outputs()[i].type_param == static_cast<int>(p)) return outputs_[i].dtype;
    }
  }
  if (name == "N") {
    const auto is_of_n = [](const ArgSpec& arg) { return arg.is_list && arg.type_list_attr < 0; };
    if (std::ranges::any_of(op_->inputs(), is_of_n)) {
      return int64_t{list_length(*op_, inputs_.size())};
    }
  }
  return given;
}

std::vector<std::pair<std::string, AttrValue>> Node::attributes() const {
  std::vector<std::pair<std::string, AttrValue>> all = extra_attributes_;
  for (const AttrField& field : attrs().type().fields) {
    all.emplace_back(field.name, attribute(field.name));
  }
  for (const TypeConstraint& type : op_->type_params()) {
    if (!has_value(attrs().get(type.name))) all.emplace_back(type.name, attribute(type.name));
  }
  if (AttrValue n = attribute("N"); has_value(n) && !has_value(attrs().get("N"))) {
    all.emplace_back("N", n);
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return all;
}

Graph::Graph(std::string name) : name_(std::move(name)) { register_graph(this); }
Graph::~Graph() {
  unregister_graph(this);
  for (const Node* node : nodes_) release_bodies(*node);
}

Node* Graph::find(std::string_view name) const {
  auto at = by_name_.find(name);
  return at == by_name_.end() ? nullptr : at->second;
}

void Graph::add_input(Node* node) { inputs_.push_back(node); }

bool Graph::is_input(const Node* node) const {
  return std::find(inputs_.begin(), inputs_.end(), node) != inputs_.end();
}

Node* Graph::add(NewNode made) {
  Node& node = arena_.emplace_back();
  node.op_ = made.op;
  node.graph_ = this;
  node.attrs_ = Attrs(made.attrs);
  node.name_ = std::move(made.name);
  node.device_ = std::move(made.device);
  node.id_ = static_cast<int>(arena_.size()) - 1;
  node.inputs_.assign(made.inputs.begin(), made.inputs.end());
  node.control_inputs_ = std::move(made.control_inputs);
  node.outputs_ = std::move(made.outputs);
  node.location_ = std::move(made.location);
  nodes_.push_back(&node);
  by_name_.emplace(node.name_, &node);
  charge_bodies(node);
  return &node;
}

void Graph::charge_bodies(const Node& node) {
  for (const NodeBody& one : bodies_of(node).all) {
    if (one.body) one.body->charge_to(&node);
  }
}

void Graph::release_bodies(const Node& node) {
  for (const NodeBody& one : bodies_of(node).all) {
    if (one.body) one.body->release_from(&node);
  }
}

std::string Graph::unique_name(std::string_view wished) {
  std::string key = lower(wished);
  auto [at, is_new] = used_names_.try_emplace(key, 1);
  if (is_new) return std::string(wished);
  for (;;) {
    std::string suffix = str_cat("_", used_names_[key]++);
    if (used_names_.try_emplace(key + suffix, 1).second) return str_cat(wished, suffix);
  }
}

void Graph::set_attribute(Node* node, std::string name, AttrValue value) {
  for (auto& [key, old] : node->extra_attributes_) {
    if (key == name) {
      old = std::move(value);
      return;
    }
  }
  node->extra_attributes_.emplace_back(std::move(name), std::move(value));
}

void Graph::set_custom_gradient(Node* node, Ref<CustomGradient> gradient) {
  node->custom_gradient_ = std::move(gradient);
}

Node* Graph::capture_of(uint64_t tensor_id) const {
  auto at = capture_of_.find(tensor_id);
  return at == capture_of_.end() ? nullptr : at->second;
}

void Graph::replace_op(Node* node, const Op& op, AttrsRef attrs, std::vector<OutputRef> inputs,
                       std::vector<OutputType> more_outputs) {
  Attrs made(attrs);  // those of the node itself may be given
  release_bodies(*node);
  node->op_ = &op;
  node->attrs_ = std::move(made);
  node->inputs_ = std::move(inputs);
  for (OutputType& type : more_outputs) node->outputs_.push_back(std::move(type));
  charge_bodies(*node);
}

void Graph::set_attrs(Node* node, AttrsRef attrs) {
  Attrs made(attrs);
  release_bodies(*node);
  node->attrs_ = std::move(made);
  charge_bodies(*node);
}

void Graph::add_control_input(Node* node, Node* before) {
  auto& controls = node->control_inputs_;
  if (std::find(controls.begin(), controls.end(), before) == controls.end()) {
    controls.push_back(before);
  }
}

void Graph::set_input_of(Node* node, int i, OutputRef value) { node->inputs_[i] = value; }

void Graph::replace_uses(OutputRef old, OutputRef by) {
  for (Node* node : nodes_) {
    for (OutputRef& input : node->inputs_) {
      if (input == old) input = by;
    }
  }
  for (OutputRef& output : outputs_) {
    if (output == old) output = by;
  }
}

void Graph::replace_control_uses(Node* old, Node* by) {
  auto replace = [&](std::vector<Node*>& list) {
    auto at = std::find(list.begin(), list.end(), old);
    if (at == list.end()) return;
    if (by && std::find(list.begin(), list.end(), by) == list.end()) {
      *at = by;
    } else {
      list.erase(at);
    }
  };
  for (Node* node : nodes_) replace(node->control_inputs_);
  replace(control_outputs_);
}

void Graph::make_constant(Node* node, Tensor value) {
  std::vector<OutputType> outputs(1);
  outputs[0].dtype = value.dtype();
  outputs[0].shape = value.shape();
  release_bodies(*node);
  node->op_ = kConst.op;
  DType dtype = value.dtype();
  node->attrs_ = Attrs(AttrsRef(ConstAttrs{std::move(value), dtype}));
  node->inputs_.clear();
  node->control_inputs_.clear();
  node->outputs_ = std::move(outputs);
  node->extra_attributes_.clear();
}

void Graph::remove(std::span<Node* const> removed) {
  std::vector<bool> is_removed(arena_.size(), false);
  for (Node* node : removed) {
    is_removed[node->id()] = true;
    if (auto at = by_name_.find(node->name()); at != by_name_.end() && at->second == node) {
      by_name_.erase(at);
    }
    // The memory stays in the arena; the references of the node are dropped.
    release_bodies(*node);
    node->attrs_ = Attrs(engine::attrs_type<NoAttrs>());
    node->extra_attributes_.clear();
    node->custom_gradient_ = nullptr;
    node->inputs_.clear();
    node->control_inputs_.clear();
  }
  std::erase_if(nodes_, [&](Node* node) { return is_removed[node->id()]; });
  std::erase_if(capture_of_, [&](const auto& entry) { return is_removed[entry.second->id()]; });
}

void Graph::sort() {
  std::vector<int> waits_for(arena_.size(), 0);
  std::vector<std::vector<Node*>> users(arena_.size());
  for (Node* node : nodes_) {
    for (OutputRef input : node->inputs_) {
      users[input.node->id()].push_back(node);
      ++waits_for[node->id()];
    }
    for (Node* before : node->control_inputs_) {
      users[before->id()].push_back(node);
      ++waits_for[node->id()];
    }
  }
  auto later = [](Node* a, Node* b) { return a->id() > b->id(); };
  std::vector<Node*> ready, sorted;
  for (Node* node : nodes_) {
    if (waits_for[node->id()] == 0) ready.push_back(node);
  }
  std::make_heap(ready.begin(), ready.end(), later);
  while (!ready.empty()) {
    std::pop_heap(ready.begin(), ready.end(), later);
    Node* node = ready.back();
    ready.pop_back();
    sorted.push_back(node);
    for (Node* user : users[node->id()]) {
      if (--waits_for[user->id()] == 0) {
        ready.push_back(user);
        std::push_heap(ready.begin(), ready.end(), later);
      }
    }
  }
  nodes_ = std::move(sorted);
}

Ref<Graph> Graph::clone(std::vector<Node*>* map) const {
  auto copy = make_ref<Graph>(name_);
  copy->outer_ = outer_;
  copy->symbols_.copy_from(symbols_);
  std::vector<Node*> of(arena_.size(), nullptr);
  for (Node* node : nodes_) {
    std::vector<OutputRef> inputs;
    for (OutputRef input : node->inputs_) inputs.push_back({of[input.node->id()], input.index});
    std::vector<Node*> controls;
    for (Node* before : node->control_inputs_) controls.push_back(of[before->id()]);
    std::vector<OutputType> outputs;
    for (const OutputType& type : node->outputs_) outputs.push_back(copy_of(type));
    Node* made = copy->add({.op = node->op_,
                            .attrs = node->attrs_,
                            .name = node->name_,
                            .inputs = inputs,
                            .outputs = std::move(outputs),
                            .control_inputs = std::move(controls),
                            .device = node->device_,
                            .location = node->location_});
    made->extra_attributes_ = node->extra_attributes_;
    made->custom_gradient_ = node->custom_gradient_;
    of[node->id()] = made;
  }
  for (Node* node : inputs_) copy->inputs_.push_back(of[node->id()]);
  for (OutputRef output : outputs_) {
    copy->outputs_.push_back({of[output.node->id()], output.index});
  }
  for (Node* node : control_outputs_) copy->control_outputs_.push_back(of[node->id()]);
  copy->used_names_ = used_names_;
  for (const auto& [id, node] : capture_of_) {
    if (Node* made = of[node->id()]) copy->capture_of_.emplace(id, made);
  }
  if (map) *map = std::move(of);
  return copy;
}

std::vector<const Body*> Graph::charged_bodies() const {
  std::vector<const Body*> charged;
  for (const Node* node : nodes_) {
    for (const NodeBody& one : bodies_of(*node).all) {
      if (one.body && one.body->charge_to(node)) charged.push_back(one.body.get());
    }
  }
  return charged;
}

int64_t Graph::bytes() const { return Body::bytes_of(*this, nullptr); }

SymbolicTensor::SymbolicTensor(Ref<Graph> graph, OutputRef output)
    : TensorObject(output.node->output(output.index).dtype, output.node->output(output.index).shape,
                   true),
      graph_(std::move(graph)),
      output_(output) {}

Status SymbolicTensor::set_shape(const Shape& shape) {
  ASSIGN_OR_RETURN(Shape merged, merge_shapes(shape_, shape));
  shape_ = merged;
  OutputType& type = output_.node->output(output_.index);
  type.is_promised |= !(type.shape == merged);
  type.shape = std::move(merged);
  return {};
}

Tensor symbolic_tensor(const Ref<Graph>& graph, OutputRef output) {
  return Tensor(Ref<TensorObject>(new SymbolicTensor(graph, output)));
}

}  // namespace graven::engine
