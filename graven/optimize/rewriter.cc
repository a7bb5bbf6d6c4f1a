#include "graven/optimize/rewriter.h"

#include <algorithm>
#include <unordered_map>

#include "graven/ir/structural_ops.h"

namespace graven::engine {

Rewriter::Rewriter(Graph& graph)
    : graph_(graph),
      before_(graph.nodes().begin(), graph.nodes().end()),
      is_input_(graph.id_bound(), false),
      replacement_of_(graph.id_bound(), -1) {
  order_.reserve(before_.size());
  for (const Node* node : graph.inputs()) is_input_[node->id()] = true;
}

const Rewriter::Replacement* Rewriter::find_replacement(const Node* node) const {
  size_t id = static_cast<size_t>(node->id());
  if (id >= replacement_of_.size() || replacement_of_[id] < 0) return nullptr;
  return &replacements_[replacement_of_[id]];
}

Rewriter::Replacement& Rewriter::replacement(Node* node) {
  if (static_cast<size_t>(node->id()) >= replacement_of_.size()) {
    replacement_of_.resize(graph_.id_bound(), -1);
  }
  int& at = replacement_of_[node->id()];
  if (at < 0) {
    at = static_cast<int>(replacements_.size());
    replacements_.emplace_back();
  }
  return replacements_[at];
}

OutputRef Rewriter::now(OutputRef value) const {
  // A replacement may have been replaced in turn.
  for (;;) {
    const Replacement* found = find_replacement(value.node);
    if (!found || value.index >= static_cast<int>(found->outputs.size())) return value;
    OutputRef by = found->outputs[value.index];
    if (!by) return value;
    value = by;
  }
}

void Rewriter::rewrite_controls(std::span<Node* const> before, std::vector<Node*>& after) {
  for (Node* node : before) {
    const Replacement* found = find_replacement(node);
    if (found && found->has_controls) {
      rewrite_controls(std::vector<Node*>(found->controls), after);
    } else if (std::find(after.begin(), after.end(), node) == after.end()) {
      after.push_back(node);
    }
  }
}

void Rewriter::visit(Node* node) {
  order_.push_back(node);
  if (replacements_.empty()) return;
  for (size_t i = 0; i < node->inputs().size(); ++i) {
    OutputRef old = node->inputs()[i];
    if (OutputRef by = now(old); !(by == old)) graph_.set_input_of(node, static_cast<int>(i), by);
  }
  bool waits_for_replaced =
      std::any_of(node->control_inputs().begin(), node->control_inputs().end(),
                  [&](const Node* before) { return find_replacement(before) != nullptr; });
  if (waits_for_replaced) {
    std::vector<Node*> controls;
    rewrite_controls(node->control_inputs(), controls);
    graph_.set_control_inputs(node, std::move(controls));
  }
}

Node* Rewriter::place_constant(const Node& like, Tensor value) {
  std::vector<OutputType> outputs(1);
  outputs[0].dtype = value.dtype();
  outputs[0].shape = value.shape();
  DType dtype = value.dtype();
  place(graph_.add({.op = kConst.op,
                    .attrs = ConstAttrs{std::move(value), dtype},
                    .name = graph_.unique_name(like.name()),
                    .inputs = {},
                    .outputs = std::move(outputs),
                    .device = like.device(),
                    .location = like.location()}));
  return order_.back();
}

void Rewriter::replace(OutputRef old, OutputRef by) {
  changed_ = true;
  Replacement& entry = replacement(old.node);
  if (entry.outputs.empty()) entry.outputs.resize(old.node->num_outputs());
  entry.outputs[old.index] = by;
  equate(old.node->output(old.index).shape, by.node->output(by.index).shape);
}

void Rewriter::replace_control(Node* old, std::vector<Node*> by) {
  changed_ = true;
  Replacement& entry = replacement(old);
  entry.controls = std::move(by);
  entry.has_controls = true;
}

void Rewriter::remove(Node* node) {
  changed_ = true;
  removed_.push_back(node);
  // It was visited last, and since then a few constants were placed at most.
  auto at = std::find(order_.rbegin(), order_.rend(), node);
  if (at != order_.rend()) order_.erase(std::next(at).base());
}

// The type of a replacement may name its dimensions otherwise. Symbols that were made for the old
// value (sizes that only running finds) then have no other source.
void Rewriter::equate(const Shape& old, const Shape& by) {
  if (!old.has_rank() || !by.has_rank() || old.rank() != by.rank()) return;
  for (int i = 0; i < old.rank(); ++i) {
    if (old[i] == by[i] || by[i].is_unknown()) continue;
    int64_t symbol = graph_.symbols().as_symbol(old[i]);
    if (symbol >= 0 && !graph_.symbols().is_function(symbol)) {
      equal_dims_.emplace_back(symbol, by[i]);
    }
  }
}

void Rewriter::substitute_dims() {
  SymbolTable& symbols = graph_.symbols();
  // Symbols of the graph's inputs are known from outside and stay.
  std::unordered_map<int64_t, Dim> dims;
  std::vector<bool> is_fixed(symbols.num_symbols(), false);
  for (const Node* node : graph_.inputs()) {
    for (Dim dim : node->output(0).shape.dims()) {
      if (int64_t symbol = symbols.as_symbol(dim); symbol >= 0) is_fixed[symbol] = true;
    }
  }
  for (auto [symbol, dim] : equal_dims_) {
    if (!is_fixed[symbol] && symbols.as_symbol(dim) != symbol) dims.try_emplace(symbol, dim);
  }
  if (dims.empty()) return;
  SymbolTable from;
  from.copy_from(symbols);
  auto of = [&](int64_t symbol) {
    Dim dim = symbols.dim_of(symbol);
    // A symbol's replacement may have been given up itself.
    for (size_t step = 0; step <= dims.size(); ++step) {
      auto at = dims.find(symbols.as_symbol(dim));
      if (at == dims.end()) break;
      dim = at->second;
    }
    return dim;
  };
  auto renew = [&](Dim dim) { return symbols.substitute(from, dim, of); };
  auto renew_shape = [&](Shape& shape) {
    for (int i = 0; i < shape.rank(); ++i) shape.set(i, renew(shape[i]));
  };
  for (Node* node : order_) {
    for (int i = 0; i < node->num_outputs(); ++i) {
      OutputType& type = node->output(i);
      renew_shape(type.shape);
      if (type.handle_data) {
        for (HeldType& held : type.handle_data->components) renew_shape(held.shape);
      }
      if (!type.sizes) continue;
      for (Dim& size : *type.sizes) size = renew(size);
    }
  }
}

bool Rewriter::finish() {
  changed_ |= order_.size() != before_.size();
  if (!changed_ && equal_dims_.empty()) return false;
  std::vector<OutputRef> outputs;
  for (OutputRef output : graph_.outputs()) outputs.push_back(now(output));
  graph_.set_outputs(std::move(outputs));
  std::vector<Node*> controls;
  rewrite_controls(graph_.control_outputs(), controls);
  graph_.set_control_outputs(std::move(controls));
  if (!equal_dims_.empty()) substitute_dims();
  graph_.set_order(std::move(order_));
  graph_.remove(removed_);
  return true;
}

bool is_pure(const Node& node) {
  if (!node.op().is_stateful_ever()) return true;
  Effects effects = node.op().record().effects(node.op(), node.attrs());
  return !effects.stateful && !effects.ordered && !effects.must_run && effects.reads.empty() &&
         effects.writes.empty();
}

bool is_definite(const Shape& shape) {
  return shape.has_rank() &&
         std::ranges::none_of(shape.dims(), [](Dim dim) { return dim.is_unknown(); });
}

bool surely_equal(const Shape& a, const Shape& b) {
  return is_definite(a) && b.has_rank() && a == b;
}

}  // namespace graven::engine
