#include "graven/optimize/unify_sizes.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graven/ir/body.h"
#include "graven/ir/same_input.h"
#include "graven/optimize/remake_node.h"
#include "graven/optimize/rewriter.h"

namespace graven::engine {
namespace {

// What symbols of a graph stand for: other symbols of it, or numbers.
using Sizes = std::unordered_map<int64_t, Dim>;

const Shape& shape_of_input(const Graph& graph, size_t i) {
  return graph.inputs()[i]->output(0).shape;
}

// The Dim with what its symbols stand for in their places.
Dim substituted(Graph& graph, const SymbolTable& from, Dim dim, const Sizes& sizes) {
  SymbolTable& symbols = graph.symbols();
  return symbols.substitute(from, dim, [&](int64_t symbol) {
    const auto at = sizes.find(symbol);
    return at == sizes.end() ? symbols.dim_of(symbol) : at->second;
  });
}

void substitute_all(Graph& graph, const Sizes& sizes) {
  SymbolTable from;
  from.copy_from(graph.symbols());
  auto renew = [&](Dim& dim) { dim = substituted(graph, from, dim, sizes); };
  auto renew_shape = [&](Shape& shape) {
    for (int d = 0; d < shape.rank(); ++d) {
      Dim dim = shape[d];
      renew(dim);
      shape.set(d, dim);
    }
  };
  for (Node* node : graph.nodes()) {
    for (int i = 0; i < node->num_outputs(); ++i) {
      OutputType& type = node->output(i);
      renew_shape(type.shape);
      if (type.handle_data) {
        for (HeldType& held : type.handle_data->components) renew_shape(held.shape);
      }
      if (!type.sizes) continue;
      for (Dim& size : *type.sizes) renew(size);
    }
  }
}

// An unknown size of an input of a graph.
struct Unknown {
  size_t input;
  int axis;
  int64_t symbol;
  Dim in_caller;
};

std::vector<Unknown> unknown_sizes(const Graph& graph, const Node& node) {
  std::vector<Unknown> found;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Shape& inner = shape_of_input(graph, i);
    const OutputRef given = node.inputs()[i];
    const Shape& outer = given.node->output(given.index).shape;
    if (!inner.has_rank() || !outer.has_rank() || inner.rank() != outer.rank()) continue;
    for (int d = 0; d < inner.rank(); ++d) {
      const int64_t symbol = graph.symbols().as_symbol(inner[d]);
      if (symbol < 0 || graph.symbols().is_function(symbol) || outer[d].is_unknown()) continue;
      found.push_back({i, d, symbol, outer[d]});
    }
  }
  return found;
}

// What the unknown sizes stand for, given that those of `keeps` stay as they are on entry.
Sizes sizes_of(Graph& graph, std::span<const Unknown> unknown, const std::vector<bool>& keeps) {
  Sizes sizes;
  std::map<uint64_t, Dim> first;  // by the Dim of the caller
  for (size_t u = 0; u < unknown.size(); ++u) {
    if (!keeps[u] || sizes.contains(unknown[u].symbol)) continue;
    const Dim outer = unknown[u].in_caller, own = graph.symbols().dim_of(unknown[u].symbol);
    sizes[unknown[u].symbol] =
        outer.is_number()
            ? outer
            : first.try_emplace(static_cast<uint64_t>(outer.word()), own).first->second;
  }
  std::erase_if(sizes, [&](const auto& entry) {
    return graph.symbols().as_symbol(entry.second) == entry.first;
  });
  return sizes;
}

// Which of the unknown sizes of the body each iteration keeps, if all of these are kept before it.
std::vector<bool> kept_sizes(Graph& body, std::span<const Unknown> unknown) {
  std::vector<bool> keeps(unknown.size(), true);
  SymbolTable from;
  from.copy_from(body.symbols());
  for (bool is_done = false; !is_done;) {
    is_done = true;
    const Sizes sizes = sizes_of(body, unknown, keeps);
    for (size_t u = 0; u < unknown.size(); ++u) {
      const auto [input, axis, symbol, in_caller] = unknown[u];
      if (!keeps[u] || returns_input(body, static_cast<int>(input))) continue;
      const OutputRef output = body.outputs()[input];
      const Shape& after = output.node->output(output.index).shape;
      const Dim before = body.symbols().dim_of(symbol);
      const bool is_kept =
          after.has_rank() && after.rank() > axis && !after[axis].is_unknown() &&
          substituted(body, from, after[axis], sizes) == substituted(body, from, before, sizes);
      if (is_kept) continue;
      // The symbol may be the size of another input too.
      for (size_t other = 0; other < unknown.size(); ++other) {
        if (unknown[other].symbol == symbol) keeps[other] = false;
      }
      is_done = false;
    }
  }
  return keeps;
}

// The sizes of the condition, whose inputs are the body's.
Sizes sizes_of_condition(Graph& condition, const Node& node, std::span<const Unknown> unknown,
                         const std::vector<bool>& keeps) {
  const std::vector<Unknown> own = unknown_sizes(condition, node);
  std::vector<bool> keeps_own;
  for (const Unknown& one : own) {
    bool is_kept = false;
    for (size_t u = 0; u < unknown.size(); ++u) {
      is_kept |= keeps[u] && unknown[u].input == one.input && unknown[u].axis == one.axis;
    }
    keeps_own.push_back(is_kept);
  }
  return sizes_of(condition, own, keeps_own);
}

void unify(Rewriter& rewriter, Node* node, const NodeBodies& bodies) {
  const Graph& body = *bodies.all[1].body->graph();
  const std::vector<Unknown> unknown = unknown_sizes(body, *node);
  if (unknown.empty()) return;
  NodeParts parts = parts_of(*node, bodies);
  const std::vector<bool> keeps = kept_sizes(*parts.graphs[1], unknown);
  const Sizes of_body = sizes_of(*parts.graphs[1], unknown, keeps);
  if (of_body.empty()) return;
  substitute_all(*parts.graphs[1], of_body);
  substitute_all(*parts.graphs[0], sizes_of_condition(*parts.graphs[0], *node, unknown, keeps));
  remake_node(rewriter, node, bodies, std::move(parts));
}

}  // namespace

bool unify_sizes(Graph& graph) {
  Rewriter rewriter(graph);
  for (Node* node : rewriter.nodes()) {
    rewriter.visit(node);
    const NodeBodies bodies = bodies_of(*node);
    if (bodies.empty() || bodies.run != BodyRun::kWhile || !has_common_inputs(bodies)) continue;
    unify(rewriter, node, bodies);
  }
  return rewriter.finish();
}

}  // namespace graven::engine
