#include "graven/batching/batch_graph.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "graven/batching/derived_rules.h"
#include "graven/batching/row_loop.h"
#include "graven/batching/row_region.h"
#include "graven/ir/bodies.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

// A composite without a rule of its own is batched by its parts.
bool is_batched_by_parts(const Node& node) {
  const OpRecord& record = node.op().record();
  const DType last = node.inputs().empty()
                         ? DType::kInvalid
                         : node.inputs().back().node->output(node.inputs().back().index).dtype;
  return !record.batch && record.body.kind_for(last, node.attrs()) == OpBody::Kind::kComposite;
}

// The graph, or a copy in which such composites are their parts.
Result<Ref<Graph>> with_parts(const Ref<Graph>& graph) {
  bool has_composite = false;
  for (const Node* node : graph->nodes()) has_composite |= is_batched_by_parts(*node);
  if (!has_composite) return graph;
  Ref<Graph> copy = graph->clone();
  GraphBuilder builder(copy);
  Frame frame(&builder);
  frame.locations = nullptr;
  std::vector<Node*> expanded;
  for (size_t n = 0; n < copy->nodes().size(); ++n) {  // parts may be composites too
    Node* node = copy->nodes()[n];
    if (!is_batched_by_parts(*node)) continue;
    std::vector<Tensor> inputs;
    for (OutputRef input : node->inputs()) inputs.push_back(symbolic_tensor(copy, input));
    builder.control_inputs.assign(node->control_inputs().begin(), node->control_inputs().end());
    ASSIGN_OR_RETURN(Tensors parts, expand_composite(builder, node->op(), inputs, node->attrs()));
    if (parts.empty()) continue;  // it stays whole
    for (int i = 0; i < node->num_outputs(); ++i) {
      copy->replace_uses({node, i}, symbolic(parts[static_cast<size_t>(i)]).output());
    }
    copy->replace_control_uses(node, nullptr);
    expanded.push_back(node);
  }
  copy->remove(expanded);
  copy->sort();
  return copy;
}

// The nodes that outputs and effects need, by id.
std::vector<bool> needed_nodes(const Graph& graph) {
  std::vector<bool> is_needed(static_cast<size_t>(graph.id_bound()), false);
  std::vector<const Node*> to_visit;
  const auto need = [&](const Node* node) {
    if (is_needed[static_cast<size_t>(node->id())]) return;
    is_needed[static_cast<size_t>(node->id())] = true;
    to_visit.push_back(node);
  };
  for (OutputRef output : graph.outputs()) need(output.node);
  for (const Node* node : graph.control_outputs()) need(node);
  while (!to_visit.empty()) {
    const Node* node = to_visit.back();
    to_visit.pop_back();
    for (OutputRef input : node->inputs()) need(input.node);
    for (const Node* before : node->control_inputs()) need(before);
  }
  return is_needed;
}

class Batcher {
 public:
  Batcher(Builder& builder, const BatchSettings& settings)
      : builder_(builder), settings_(settings), emit_(builder) {}

  Result<std::vector<BatchedTensor>> run(const Graph& graph,
                                         std::span<const BatchedTensor> inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      values_[graph.inputs()[i]->id()] = {inputs[i]};
    }
    const std::vector<bool> is_needed = needed_nodes(graph);
    std::vector<const Node*> left;
    for (const Node* node : graph.nodes()) {
      if (!is_needed[static_cast<size_t>(node->id())] || graph.is_input(node)) continue;
      if (node->num_outputs() == 0 && !node->op().is_stateful_ever()) continue;  // NoOp
      left.push_back(node);
      for (OutputRef input : node->inputs()) readers_[input.node].push_back(node);
    }
    while (!left.empty()) {
      waiting_.clear();
      seeds_.clear();
      for (const Node* node : left) {
        if (waits(*node)) {
          waiting_.push_back(node);
          waits_.insert(node);
        } else {
          RETURN_IF_ERROR(run(*node));
        }
      }
      if (waiting_.empty()) break;
      ASSIGN_OR_RETURN(left, run_region(graph));
    }
    std::vector<BatchedTensor> outputs;
    for (OutputRef output : graph.outputs()) outputs.push_back(value_of(output));
    return outputs;
  }

 private:
  const BatchedTensor& value_of(OutputRef output) const {
    return values_.at(output.node->id())[static_cast<size_t>(output.index)];
  }

  class Context final : public BatchContext {
   public:
    Context(Batcher& batcher, const Node& node)
        : BatchContext(batcher.builder_),
          batcher_(batcher),
          node_(node),
          outputs_(static_cast<size_t>(node.num_outputs())) {}

    const Node& node() const override { return node_; }
    const BatchedTensor& input(int i) const override {
      return batcher_.value_of(node_.inputs()[static_cast<size_t>(i)]);
    }
    const Tensor& num_rows() const override { return batcher_.num_rows(); }
    void set_y(int i, Tensor y, bool is_batched) override {
      outputs_[static_cast<size_t>(i)] = {std::move(y), is_batched};
    }
    void use_loop() override { uses_loop_ = true; }
    bool uses_loop() const override { return uses_loop_; }
    Result<std::vector<BatchedTensor>> run_body(Builder& builder, const Body& body,
                                                std::span<const BatchedTensor> inputs,
                                                const Tensor& num_rows) override {
      BatchSettings settings = batcher_.settings_;
      settings.num_rows = num_rows;
      if (&builder != &batcher_.builder_) settings.apply_bodies = nullptr;
      return batch_graph(builder, body.graph(), inputs, settings);
    }
    Tensors apply_bodies(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs) override {
      if (!batcher_.settings_.apply_bodies) return apply(op, inputs, attrs);
      if (!status().ok()) return {};
      auto made = batcher_.settings_.apply_bodies(builder(), op, inputs, attrs);
      if (made.ok()) return std::move(*made);
      fail(made.status());
      return {};
    }
    std::vector<BatchedTensor> take_outputs() { return std::move(outputs_); }

   private:
    Batcher& batcher_;
    const Node& node_;
    std::vector<BatchedTensor> outputs_;
    bool uses_loop_ = false;
  };

  // In a graph a number of rows that is known is a constant there.
  const Tensor& num_rows() {
    if (num_rows_) return num_rows_;
    const bool is_value = !settings_.num_rows.is_symbolic();
    num_rows_ = is_value ? emit_.constant(settings_.num_rows) : settings_.num_rows;
    return num_rows_;
  }

  // True if the node does the same for all rows, once.
  bool runs_once(const Node& node, const BatchContext& c) const {
    if (c.any_batched() || node.custom_gradient()) return false;
    if (!node.op().is_stateful_ever()) return bodies_of(node).empty();
    const Effects effects = node.op().record().effects(node.op(), node.attrs());
    if (!bodies_of(node).empty()) return false;
    for (int i = 0; i < node.num_outputs(); ++i) {
      if (node.output(i).dtype == DType::kResource) return true;
    }
    const bool only_reads = !effects.reads.empty() && effects.writes.empty() && !effects.ordered;
    // An assignment of what all rows share. A write that gives something, such as the state of a
    // generator, gives it to each row.
    const bool only_writes = !effects.writes.empty() && !effects.ordered && node.num_outputs() == 0;
    return !effects.stateful || only_reads || only_writes;
  }

  Status run(const Node& node) {
    Context c(*this, node);
    if (runs_once(node, c)) {
      std::vector<Tensor> inputs;
      for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.x(i));
      const Tensors made = c.apply(node.op(), inputs, node.attrs());
      RETURN_IF_ERROR(c.status());
      for (size_t i = 0; i < made.size(); ++i) c.set_y(static_cast<int>(i), made[i], false);
      values_[node.id()] = c.take_outputs();
      return {};
    }
    const BatchFunction rule = batch_rule_of(node.op());
    if (rule) {
      rule(c);
    } else {
      c.use_loop();
    }
    RETURN_IF_ERROR(c.status());
    if (c.uses_loop()) {
      if (settings_.on_loop) RETURN_IF_ERROR(settings_.on_loop(node.op()));
      if (gives_rows_that_differ(node)) {
        waiting_.push_back(&node);
        waits_.insert(&node);
        seeds_.push_back(&node);
        return {};
      }
      RETURN_IF_ERROR(run_in_loop(c));
    }
    values_[node.id()] = c.take_outputs();
    return {};
  }

  // --- Nodes that run in one loop over the rows.

  // True if the node depends on one that waits for the others of its region.
  bool waits(const Node& node) const {
    const auto is_waiting = [&](const Node* other) { return waits_.contains(other); };
    return std::ranges::any_of(node.inputs(), is_waiting, &OutputRef::node) ||
           std::ranges::any_of(node.control_inputs(), is_waiting);
  }
  // True if another node reads what has no axis for the rows.
  bool gives_rows_that_differ(const Node& node) const {
    const auto readers = readers_.find(&node);
    if (readers == readers_.end()) return false;
    return std::ranges::any_of(readers->second, [&](const Node* reader) {
      return std::ranges::any_of(reader->inputs(), [&](OutputRef input) {
        return input.node == &node &&
               may_differ_between_rows(node.graph(), node.output(input.index));
      });
    });
  }

  // Runs the nodes around the seeds, and returns the others that wait.
  Result<std::vector<const Node*>> run_region(const Graph& graph) {
    const std::vector<const Node*> nodes = region_of(waiting_, seeds_);
    const std::unordered_set<const Node*> is_inside(nodes.begin(), nodes.end());
    std::vector<const Node*> left;
    std::vector<OutputRef> wanted;
    const auto want = [&](OutputRef value) {
      if (!is_inside.contains(value.node) || std::ranges::count(wanted, value)) return;
      wanted.push_back(value);
    };
    for (const Node* node : waiting_) {
      if (is_inside.contains(node)) continue;
      left.push_back(node);
      for (OutputRef input : node->inputs()) want(input);
    }
    for (OutputRef output : graph.outputs()) want(output);
    ASSIGN_OR_RETURN(const RowRegion region, make_region(nodes, wanted));
    Batcher rows(builder_, settings_);
    for (size_t i = 0; i < region.inputs.size(); ++i) {
      rows.values_[region.graph->inputs()[i]->id()] = {value_of(region.inputs[i])};
    }
    Context c(rows, *region.call);
    RETURN_IF_ERROR(run_in_loop(c));
    const std::vector<BatchedTensor> outputs = c.take_outputs();
    for (size_t i = 0; i < wanted.size(); ++i) {
      std::vector<BatchedTensor>& all = values_[wanted[i].node->id()];
      all.resize(static_cast<size_t>(wanted[i].node->num_outputs()));
      all[static_cast<size_t>(wanted[i].index)] = outputs[i];
    }
    waits_.clear();
    return left;
  }

  Builder& builder_;
  const BatchSettings& settings_;
  Emitter emit_;
  Tensor num_rows_;
  std::unordered_map<int, std::vector<BatchedTensor>> values_;  // by the id of a node
  std::unordered_map<const Node*, std::vector<const Node*>> readers_;
  // Nodes that run in a loop with others, and those that depend on them, in order.
  std::vector<const Node*> seeds_, waiting_;
  std::unordered_set<const Node*> waits_;
};

}  // namespace

Result<std::vector<BatchedTensor>> batch_graph(Builder& builder, const Ref<Graph>& graph,
                                               std::span<const BatchedTensor> inputs,
                                               const BatchSettings& settings) {
  ASSIGN_OR_RETURN(Ref<Graph> parts, with_parts(graph));
  return Batcher(builder, settings).run(*parts, inputs);
}

}  // namespace graven::engine
