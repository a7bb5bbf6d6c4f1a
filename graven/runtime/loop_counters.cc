#include "graven/runtime/loop_counters.h"

#include <algorithm>
#include <cstring>

#include "graven/base/heap_bytes.h"
#include "graven/ir/graph.h"
#include "graven/runtime/needed_nodes.h"
#include "graven/runtime/part_of_body.h"
#include "graven/runtime/scalar_bodies.h"

namespace graven::engine {
namespace {

// Longer expressions cost more than the steps of a body that computes them anyway.
constexpr size_t kMaxMembers = 8;

bool is_small(const OutputType& type) {
  return type.shape.has_rank() && type.shape.rank() == 0 && is_plain(type.dtype);
}

// Whether input i of a graph is read by a node that runs, or returned as another output than i.
bool is_read(const Graph& graph, size_t i) {
  const OutputRef input{graph.inputs()[i], 0};
  for (size_t o = 0; o < graph.outputs().size(); ++o) {
    if (o != i && graph.outputs()[o] == input) return true;
  }
  return std::ranges::any_of(needed_nodes(graph), [&](const Node* node) {
    return std::ranges::find(node->inputs(), input) != node->inputs().end();
  });
}

}  // namespace

std::optional<LoopCounters> LoopCounters::create(const Body& condition, const Body& body,
                                                 std::span<const int> changed) {
  const Graph& graph = *body.graph();
  const int only[] = {0};
  const auto holds = scalar_body(*condition.graph(), only);
  if (!holds || !holds->expression.traps().empty() ||
      holds->expression.outputs()[0].dtype != DType::kBool) {
    return std::nullopt;
  }
  std::vector<int> variables, others;
  std::vector<OutputRef> rest(graph.outputs().begin(), graph.outputs().end());
  for (int i : changed) {
    const auto at = static_cast<size_t>(i);
    if (!is_small(graph.inputs()[at]->output(0))) continue;
    const int one[] = {i};
    const auto next = scalar_body(graph, one);
    if (next && next->expression.traps().empty() && next->members.size() <= kMaxMembers) {
      variables.push_back(i);
      rest[at] = {graph.inputs()[at], 0};
    } else {
      others.push_back(i);
    }
  }
  if (variables.empty()) return std::nullopt;
  const auto next = scalar_body(graph, variables);
  if (!next) return std::nullopt;
  auto loop = ScalarLoop::compile(holds->expression, next->expression, variables);
  if (!loop) return std::nullopt;
  const std::vector<bool> all_inputs(rest.size(), true);
  LoopCounters made(std::move(*loop), part_of_body(body, rest, all_inputs, /*with_effects=*/true));
  for (int i : variables) {
    made.is_read_.push_back(is_read(*made.rest_->graph(), static_cast<size_t>(i)));
  }
  made.variables_ = std::move(variables);
  made.others_ = std::move(others);
  return made;
}

int64_t LoopCounters::bytes() const {
  return loop_.bytes() + heap_bytes(variables_) + heap_bytes(is_read_) + heap_bytes(others_);
}

namespace {

void load(const Tensor& value, ScalarLoop::Cell& cell) {
  std::memcpy(&cell, value.raw_data(), dtype_size(value.dtype()));
}

}  // namespace

LoopCounters::Run::Run(const LoopCounters& counters, std::span<const Tensor> values)
    : counters_(counters), cells_(counters.loop_.num_cells(), ScalarLoop::Cell{}) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].rank() == 0 && is_plain(values[i].dtype())) load(values[i], cells_[i]);
  }
  counters_.loop_.prepare({cells_.data(), cells_.size()});
}

bool LoopCounters::Run::begin_iteration(std::span<const Tensor> values) {
  for (int i : counters_.others_) {
    const auto at = static_cast<size_t>(i);
    load(values[at], cells_[at]);
  }
  const Trap* trap = nullptr;
  return counters_.loop_.run({cells_.data(), cells_.size()}, 1, &trap) ==
         ScalarLoop::End::kMoreToCome;
}

Status LoopCounters::Run::write(std::span<Tensor> values, bool all) {
  for (size_t v = 0; v < counters_.variables_.size(); ++v) {
    if (!all && !counters_.is_read_[v]) continue;
    const auto i = static_cast<size_t>(counters_.variables_[v]);
    Tensor& value = values[i];
    if (!value.object()->is_unique() || !value.owns_its_elements()) {
      ASSIGN_OR_RETURN(value, Tensor::allocate(value.dtype(), Shape()));
    }
    std::memcpy(value.mutable_raw_data(), &cells_[i], dtype_size(value.dtype()));
  }
  return {};
}

}  // namespace graven::engine
