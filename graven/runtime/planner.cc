// Makes a Program of a graph, in parts: the nodes that are needed (needed_nodes.h), the step of
// each (make_step.h), slots and dependencies of steps (here), and memory planning (plan_memory.h).
// Steps come in the order of the nodes.
#include <algorithm>
#include <map>

#include "graven/ir/same_input.h"
#include "graven/ir/structural_ops.h"
#include "graven/runtime/copy_step.h"
#include "graven/runtime/make_step.h"
#include "graven/runtime/needed_nodes.h"
#include "graven/runtime/placement.h"
#include "graven/runtime/plan_memory.h"
#include "graven/runtime/program.h"

namespace graven::engine {

class Planner {
 public:
  explicit Planner(Ref<Graph> graph) : graph_(std::move(graph)) {}

  Result<Ref<Program>> plan() {
    program_ = Ref<Program>(new Program());
    program_->graph_ = graph_;
    ASSIGN_OR_RETURN(nodes_, needed_nodes_in_order(*graph_));
    infos_.resize(graph_->id_bound());
    assign_leading_slots();
    find_readers();
    for (const Node* node : nodes_) RETURN_IF_ERROR(add_step(node));
    for (OutputRef output : graph_->outputs()) program_->outputs_.push_back(slot_of(output));
    program_->num_slots_ = next_slot_;
    plan_memory(steps_, program_->outputs_, program_->num_inputs_, first_made_, next_slot_);
    program_->is_kept_ = kept_slots(steps_, next_slot_);
    for (auto& step : steps_) {
      program_->cost_ += step->cost;
      program_->may_block_ |= step->may_block();
      program_->steps_.push_back(std::move(step));
    }
    return program_;
  }

 private:
  struct Info {
    NodeKind kind = NodeKind::kStep;
    std::vector<int> slots;
    std::vector<bool> is_read;  // outputs that a step reads or the graph returns
    int step = -1;
    // Of nodes that become no steps: the steps that they wait for.
    std::vector<int> waits_for;
  };
  Info& info(const Node* node) { return infos_[node->id()]; }

  OutputRef resolved(OutputRef output) {
    while (info(output.node).kind == NodeKind::kAlias) {
      output = output.node->inputs()[static_cast<size_t>(same_input(*output.node))];
    }
    return output;
  }
  int slot_of(OutputRef output) {
    const OutputRef source = resolved(output);
    return info(source.node).slots[source.index];
  }

  void assign_leading_slots() {
    std::vector<bool> is_input(graph_->id_bound());
    for (const Node* node : graph_->inputs()) is_input[node->id()] = true;
    for (const Node* node : nodes_) {
      Info& about = info(node);
      about.kind = kind_of_node(*node, is_input[node->id()]);
      // tf.identity on another device is a copy to it.
      if (about.kind == NodeKind::kAlias && !device_of(*node).is_host()) {
        about.kind = NodeKind::kStep;
      }
      about.slots.resize(node->num_outputs(), -1);
      about.is_read.resize(node->num_outputs(), false);
    }
    for (Node* node : graph_->inputs()) {
      if (&node->op() == kPlaceholder.op) {
        const Shape& given = node->attrs().as<PlaceholderAttrs>().shape;
        if (!is_subshape(given, node->output(0).shape)) {
          program_->checked_inputs_.emplace_back(next_slot_, node->output(0).shape);
        }
      }
      info(node).slots[0] = next_slot_++;
    }
    program_->num_inputs_ = next_slot_;
    for (const Node* node : nodes_) {
      if (info(node).kind != NodeKind::kConstant) continue;
      info(node).slots[0] = next_slot_++;
      program_->constants_.push_back(node->attrs().as<ConstAttrs>().value);
    }
    first_made_ = next_slot_;
  }

  void find_readers() {
    auto read = [&](OutputRef output) {
      const OutputRef source = resolved(output);
      info(source.node).is_read[source.index] = true;
    };
    for (OutputRef output : graph_->outputs()) read(output);
    for (const Node* node : nodes_) {
      if (info(node).kind != NodeKind::kStep) continue;
      for (OutputRef input : node->inputs()) read(input);
    }
  }

  Status add_step(const Node* node) {
    Info& about = info(node);
    std::vector<int> waits_for;
    auto wait_for = [&](const Node* before) {
      const Info& other = info(before);
      if (other.step >= 0) waits_for.push_back(other.step);
      waits_for.insert(waits_for.end(), other.waits_for.begin(), other.waits_for.end());
    };
    if (about.kind == NodeKind::kInput) return {};
    for (OutputRef input : node->inputs()) wait_for(input.node);
    for (const Node* before : node->control_inputs()) wait_for(before);
    std::ranges::sort(waits_for);
    const auto rest = std::ranges::unique(waits_for);
    waits_for.erase(rest.begin(), rest.end());
    if (about.kind != NodeKind::kStep) {
      about.waits_for = std::move(waits_for);
      return {};
    }
    ASSIGN_OR_RETURN(auto step, make_step(*node));
    step->waits_for = std::move(waits_for);
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      step->inputs.push_back(slot_on_device(*step, *node, static_cast<int>(i)));
    }
    for (int i = 0; i < node->num_outputs(); ++i) {
      if (!about.is_read[i]) continue;
      step->outputs[i].slot = about.slots[i] = next_slot_++;
    }
    about.step = static_cast<int>(steps_.size());
    steps_.push_back(std::move(step));
    return {};
  }

  // The slot that holds an input where the step can read it, by a copy if need be. Inputs of the
  // Program and constants are on the host.
  int slot_on_device(Step& step, const Node& reader, int i) {
    const OutputRef input = reader.inputs()[static_cast<size_t>(i)];
    const int slot = slot_of(input);
    if (!has_other_devices()) return slot;
    const Info& from = info(resolved(input).node);
    const DType dtype = input.node->output(input.index).dtype;
    Queue* host = &Queue::host();
    Queue* here = from.step >= 0 ? steps_[static_cast<size_t>(from.step)]->queue : host;
    const int count = static_cast<int>(reader.inputs().size());
    Queue* wanted = is_host_input(reader.op(), i, count, dtype) ? host : step.queue;
    if (here == wanted || !is_plain(dtype)) return slot;
    auto [copy, is_new] = copies_.try_emplace({slot, wanted}, static_cast<int>(steps_.size()));
    if (is_new) {
      auto made = std::make_unique<CopyStep>(reader);
      made->queue = wanted;
      made->inputs.push_back(slot);
      made->outputs.push_back({next_slot_++, dtype, input.node->output(input.index).shape, false});
      if (from.step >= 0) made->waits_for.push_back(from.step);
      steps_.push_back(std::move(made));
    }
    step.waits_for.push_back(copy->second);
    return steps_[static_cast<size_t>(copy->second)]->outputs[0].slot;
  }

  Ref<Graph> graph_;
  Ref<Program> program_;
  std::map<std::pair<int, Queue*>, int> copies_;  // of a slot on another device: the step
  std::vector<Info> infos_;                       // by id
  std::vector<Node*> nodes_;                      // needed ones, in order
  std::vector<std::unique_ptr<Step>> steps_;
  int next_slot_ = 0, first_made_ = 0;
};

Result<Ref<Program>> plan_program(Ref<Graph> graph) { return Planner(std::move(graph)).plan(); }

}  // namespace graven::engine
