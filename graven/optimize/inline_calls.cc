#include "graven/optimize/inline_calls.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "graven/base/strings.h"
#include "graven/ir/bodies.h"
#include "graven/ir/body.h"
#include "graven/ir/structural_ops.h"
#include "graven/optimize/rewriter.h"

namespace graven::engine {
namespace {

// Bodies of up to this many nodes are copied to each call.
constexpr size_t kSmallBody = 64;
// Nodes that waited for a call wait for at most this many nodes of it; more are gathered in a NoOp.
constexpr size_t kMaxControlsOfCall = 4;
// Calls in calls stay from here on: each adds its name to those of all nodes within.
constexpr size_t kMaxDepth = 256;

class Inliner {
 public:
  Inliner(Graph& graph, int max_nodes)
      : graph_(graph),
        rewriter_(graph),
        num_nodes_(graph.nodes().size()),
        max_nodes_(static_cast<size_t>(max_nodes)) {
    for (const Node* node : graph.nodes()) {
      if (Ref<Body> called = called_body(*node)) ++num_calls_[called.get()];
    }
  }

  bool run() {
    if (num_calls_.empty()) return false;
    for (Node* node : rewriter_.nodes()) {
      visit(node);
      finish_bodies();
    }
    return rewriter_.finish();
  }

 private:
  // The graph's nodes and Dims for a body's own nodes and symbols.
  struct Scope {
    const Graph& callee;
    std::vector<OutputRef> inputs;  // of nodes that are inputs, by id
    std::vector<Node*> nodes;       // the copies of the others, by id
    std::unordered_map<int64_t, Dim> symbols;
  };

  // A body that is being inlined: the copies of its nodes, of which the first few have been
  // visited, and the NoOp that gathers them, or null.
  struct Open {
    const Body* body;
    std::vector<Node*> copies;
    Node* done;
    size_t next = 0;
  };

  void visit(Node* node) {
    rewriter_.visit(node);
    Ref<Body> called = called_body(*node);
    if (called && should_inline(*node, *called) && narrow_inputs(*node, *called->graph())) {
      inline_call(node, *called);
    }
  }

  // Visits the inlined nodes, among them calls that open more bodies. Not by recursion, because
  // calls nest deeper than a stack does.
  void finish_bodies() {
    while (!open_.empty()) {
      Open& innermost = open_.back();
      if (innermost.next < innermost.copies.size()) {
        visit(innermost.copies[innermost.next++]);
        continue;
      }
      if (innermost.done) rewriter_.visit(innermost.done);
      open_.pop_back();
    }
  }

  bool should_inline(const Node& node, const Body& called) const {
    if (open_.size() >= kMaxDepth) return false;
    // A body is not put into itself.
    if (std::ranges::find(open_, &called, &Open::body) != open_.end()) return false;
    for (const auto& [name, value] : node.extra_attributes()) {
      if (name == "_noinline" && equal(value, AttrValue(true))) return false;
    }
    const Graph& callee = *called.graph();
    size_t size = callee.nodes().size();
    // A body that does not fit its call is for the verifier to find.
    if (callee.inputs().size() != node.inputs().size() ||
        static_cast<int>(callee.outputs().size()) != node.num_outputs()) {
      return false;
    }
    if (num_nodes_ + size > max_nodes_) return false;
    auto calls = num_calls_.find(&called);
    return size <= kSmallBody || calls == num_calls_.end() || calls->second == 1;
  }

  // The trace of a body may have narrowed its inputs, and nothing checks that calls keep to it:
  // what is planned for one shape must not run on another. Inputs of the graph are narrowed as
  // well, so that the Program refuses others and the original graph runs (run_body.h). False, with
  // nothing changed, if what is passed is no such input, or is known to be of another shape.
  bool narrow_inputs(const Node& node, const Graph& callee) {
    std::vector<std::pair<OutputRef, Shape>> narrowed;
    for (size_t i = 0; i < callee.inputs().size(); ++i) {
      const Node& input = *callee.inputs()[i];
      if (&input.op() != kPlaceholder.op) continue;
      const Shape& wanted = input.output(0).shape;
      const OutputRef passed = node.inputs()[i];
      const Shape& given = passed.node->output(passed.index).shape;
      if (is_subshape(given, wanted) ||
          is_subshape(input.attrs().as<PlaceholderAttrs>().shape, wanted)) {
        continue;
      }
      auto at = std::ranges::find(narrowed, passed, &std::pair<OutputRef, Shape>::first);
      if (at == narrowed.end()) at = narrowed.insert(at, {passed, given});
      if (!graph_.is_input(passed.node) || !are_compatible(at->second, wanted)) return false;
      at->second = with_numbers_of(wanted, std::move(at->second));
    }
    for (auto& [input, shape] : narrowed) input.node->output(input.index).shape = std::move(shape);
    return true;
  }

  // Other dimensions of a callee mean nothing here.
  Shape with_numbers_of(const Shape& callee, Shape shape) {
    if (!shape.has_rank()) {
      shape = Shape();
      for (int i = 0; i < callee.rank(); ++i)
        shape.push_back(graph_.symbols().new_symbol("narrowed"));
    }
    for (int i = 0; i < shape.rank(); ++i) {
      if (callee[i].is_number()) shape.set(i, callee[i]);
    }
    return shape;
  }

  void inline_call(Node* node, const Body& body) {
    const Graph& callee = *body.graph();
    for (const Node* inner : callee.nodes()) {
      if (Ref<Body> called = called_body(*inner)) ++num_calls_[called.get()];
    }
    num_nodes_ += callee.nodes().size();
    Scope scope{callee, {}, std::vector<Node*>(callee.id_bound(), nullptr), {}};
    scope.inputs.resize(callee.id_bound());
    for (size_t i = 0; i < callee.inputs().size(); ++i) {
      scope.inputs[callee.inputs()[i]->id()] = node->inputs()[i];
      bind_symbols(scope, callee.inputs()[i]->output(0), node->inputs()[i]);
    }
    std::vector<Node*> copies;
    for (const Node* inner : callee.nodes()) {
      if (!scope.inputs[inner->id()]) copies.push_back(copy(scope, *inner, *node));
    }
    std::vector<Node*> waited_for;
    auto wait_for = [&](Node* done) {
      if (std::find(waited_for.begin(), waited_for.end(), done) == waited_for.end()) {
        waited_for.push_back(done);
      }
    };
    for (Node* done : callee.control_outputs()) {
      if (Node* made = scope.nodes[done->id()]) wait_for(made);
    }
    bool has_control_outputs = !waited_for.empty();
    for (int i = 0; i < node->num_outputs(); ++i) {
      OutputRef by = inner_value(scope, callee.outputs()[i]);
      if (!has_control_outputs) wait_for(by.node);
      rewriter_.replace({node, i}, by);
    }
    // If the body has no nodes, users of the call wait for its control inputs instead.
    if (copies.empty()) {
      for (Node* before : node->control_inputs()) wait_for(before);
    }
    // Nodes are placed when they are visited, as they may be calls themselves. From here on the
    // call is gone: visiting must not go through it.
    std::string name = str_cat(node->name(), "/done");
    std::string device = node->device();
    Ref<Location> location = node->location();
    rewriter_.remove(node);
    Node* done = nullptr;
    if (waited_for.size() > kMaxControlsOfCall) {
      done = graph_.add({.op = kNoOp.op,
                         .attrs = NoAttrs(),
                         .name = graph_.unique_name(name),
                         .inputs = {},
                         .outputs = {},
                         .control_inputs = waited_for,
                         .device = std::move(device),
                         .location = std::move(location)});
      waited_for = {done};
    }
    rewriter_.replace_control(node, std::move(waited_for));
    open_.push_back({&body, std::move(copies), done});
  }

  static OutputRef inner_value(const Scope& scope, OutputRef value) {
    if (OutputRef input = scope.inputs[value.node->id()]) return input;
    return {scope.nodes[value.node->id()], value.index};
  }

  // Binds a symbol that is a dimension of an input to the call's dimension.
  void bind_symbols(Scope& scope, const OutputType& formal, OutputRef actual) {
    const Shape& from = formal.shape;
    const Shape& to = actual.node->output(actual.index).shape;
    if (!from.has_rank() || !to.has_rank() || from.rank() != to.rank()) return;
    for (int i = 0; i < from.rank(); ++i) {
      int64_t symbol = scope.callee.symbols().as_symbol(from[i]);
      if (symbol >= 0 && !to[i].is_unknown()) scope.symbols.try_emplace(symbol, to[i]);
    }
  }

  Dim inner_dim(Scope& scope, Dim dim) {
    return graph_.symbols().substitute(scope.callee.symbols(), dim, [&](int64_t symbol) {
      auto [at, is_new] = scope.symbols.try_emplace(symbol);
      if (is_new)
        at->second = graph_.symbols().new_symbol(scope.callee.symbols().symbol_name(symbol));
      return at->second;
    });
  }
  Shape inner_shape(Scope& scope, Shape shape) {
    for (int i = 0; i < shape.rank(); ++i) shape.set(i, inner_dim(scope, shape[i]));
    return shape;
  }

  Node* copy(Scope& scope, const Node& inner, const Node& call) {
    std::vector<OutputRef> inputs;
    bool waits_for_inner = false;
    for (OutputRef input : inner.inputs()) {
      inputs.push_back(inner_value(scope, input));
      const Node* made = scope.nodes[input.node->id()];
      waits_for_inner |= made && &made->op() != kConst.op;
    }
    std::vector<Node*> controls;
    for (const Node* before : inner.control_inputs()) {
      if (Node* made = scope.nodes[before->id()]) {
        controls.push_back(made);
        waits_for_inner = true;
      }
    }
    // The first nodes wait for the control inputs of the call, and all other nodes for the first
    // ones.
    if (!waits_for_inner && &inner.op() != kConst.op) {
      for (Node* before : call.control_inputs()) {
        if (std::find(controls.begin(), controls.end(), before) == controls.end()) {
          controls.push_back(before);
        }
      }
    }
    std::vector<OutputType> outputs;
    for (int i = 0; i < inner.num_outputs(); ++i) {
      const OutputType& type = inner.output(i);
      OutputType& made = outputs.emplace_back();
      made.dtype = type.dtype;
      made.shape = inner_shape(scope, type.shape);
      made.is_promised = type.is_promised;
      if (type.sizes) {
        made.sizes = std::make_unique<SymbolicValue>();
        for (Dim size : *type.sizes) made.sizes->push_back(inner_dim(scope, size));
      }
      if (type.handle_data) {
        made.handle_data = std::make_unique<HandleData>(*type.handle_data);
        for (HeldType& held : made.handle_data->components) {
          held.shape = inner_shape(scope, held.shape);
        }
      }
    }
    Node* made = graph_.add({.op = &inner.op(),
                             .attrs = inner.attrs(),
                             .name = graph_.unique_name(str_cat(call.name(), "/", inner.name())),
                             .inputs = inputs,
                             .outputs = std::move(outputs),
                             .control_inputs = std::move(controls),
                             .device = inner.device().empty() ? call.device() : inner.device(),
                             .location = inner.location()});
    for (const auto& [name, value] : inner.extra_attributes()) {
      graph_.set_attribute(made, name, value);
    }
    scope.nodes[inner.id()] = made;
    return made;
  }

  Graph& graph_;
  Rewriter rewriter_;
  std::unordered_map<const Body*, int> num_calls_;
  std::vector<Open> open_;  // the innermost last
  size_t num_nodes_, max_nodes_;
};

}  // namespace

Result<bool> inline_calls(Graph& graph, int max_nodes) { return Inliner(graph, max_nodes).run(); }

}  // namespace graven::engine
