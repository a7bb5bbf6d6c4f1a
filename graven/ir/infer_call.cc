#include "graven/ir/infer_call.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graven/base/heap_bytes.h"
#include "graven/base/mutex.h"
#include "graven/base/stack.h"
#include "graven/ir/bodies.h"
#include "graven/ir/body.h"
#include "graven/ir/emitter.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/in_caller.h"
#include "graven/ir/static_shape.h"
#include "graven/ir/structural_ops.h"
#include "graven/tensor/tensor_bytes.h"

namespace graven::engine {
namespace {

// Arguments of up to this many elements are looked at, and so many sets of them are kept.
constexpr int64_t kMaxElements = 128;
constexpr size_t kMaxKept = 16;

// What a call knows of an argument beyond what the body knows.
struct Known {
  Tensor value;                         // empty: unknown
  Shape shape = Shape::unknown_rank();  // sizes that are not numbers are unknown
  friend bool operator==(const Known& a, const Known& b) {
    if (a.value && b.value) return equal(AttrValue(a.value), AttrValue(b.value));
    return !a.value && !b.value && a.shape == b.shape;
  }
};
using KnownArguments = std::vector<Known>;

// The results of inferring a body with what calls know, in Body::kOutputTypes: graphs of the same
// inputs and outputs, used for their types only. Any thread may use it.
class OutputTypesFound final : public RefCounted {
 public:
  std::optional<Ref<Graph>> find(const KnownArguments& arguments) const {
    MutexLock lock(mutex_);
    for (const auto& [known, graph] : found_) {
      if (known == arguments) return graph;
    }
    return std::nullopt;
  }
  // Null where inference failed.
  void add(KnownArguments arguments, Ref<Graph> graph) {
    MutexLock lock(mutex_);
    if (found_.size() >= kMaxKept) found_.erase(found_.begin());
    found_.emplace_back(std::move(arguments), std::move(graph));
  }
  int64_t bytes() const {
    ByteCount count;
    MutexLock lock(mutex_);
    int64_t total = bytes_of_object<OutputTypesFound>() + heap_bytes(found_);
    for (const auto& [arguments, graph] : found_) {
      total += heap_bytes(arguments);
      for (const Known& known : arguments) total += bytes_of_tensor(known.value, count);
      if (graph) total += graph->bytes();
    }
    return total;
  }

 private:
  mutable Mutex mutex_;
  std::vector<std::pair<KnownArguments, Ref<Graph>>> found_ GUARDED_BY(mutex_);  // the oldest first
};

// The bodies that are being inferred on this thread.
thread_local std::vector<const Body*> t_inferred;

// Removes all but inputs and the types of outputs: a graph that is kept with a body may not hold
// bodies, one of which could be that body.
void keep_types(Graph& graph) {
  std::vector<Node*> computed(graph.nodes().begin(), graph.nodes().end());
  std::erase_if(computed, [&](Node* node) { return std::ranges::count(graph.inputs(), node) > 0; });
  std::vector<OutputRef> outputs(graph.outputs().begin(), graph.outputs().end());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OutputRef output = outputs[i];
    if (std::ranges::count(computed, output.node) == 0) continue;
    std::vector<OutputType> types;
    types.push_back(std::move(output.node->output(output.index)));
    const PlaceholderAttrs attrs{.dtype = types[0].dtype};
    Node* stand_in = graph.add({.op = kPlaceholder.op,
                                .attrs = attrs,
                                .name = graph.unique_name(output.node->name()),
                                .inputs = {},
                                .outputs = std::move(types)});
    std::ranges::replace(outputs, output, OutputRef{stand_in, 0});
  }
  graph.set_outputs(std::move(outputs));
  graph.remove(computed);
}

// Adds the nodes that the outputs need to a new graph, in which some inputs are constants, or have
// the shapes that the caller knows.
Result<Ref<Graph>> infer_again(const Graph& body, const KnownArguments& arguments) {
  auto graph = make_ref<Graph>(body.name());
  GraphBuilder builder(graph);
  Frame frame(&builder);
  frame.locations = nullptr;
  std::vector<bool> is_needed(static_cast<size_t>(body.id_bound()), false);
  for (OutputRef output : body.outputs()) is_needed[output.node->id()] = true;
  for (const Node* node : std::views::reverse(body.nodes())) {
    if (!is_needed[node->id()]) continue;
    for (OutputRef input : node->inputs()) is_needed[input.node->id()] = true;
  }
  std::vector<Tensors> values(static_cast<size_t>(body.id_bound()));
  std::vector<Node*> inputs;
  for (size_t i = 0; i < body.inputs().size(); ++i) {
    Node* input = body.inputs()[i];
    Tensor made;
    if (arguments[i].value) {
      made = builder.add_constant(arguments[i].value);
    } else if (&input->op() == kConst.op) {
      made = builder.add_constant(input->attrs().as<ConstAttrs>().value);
    } else {
      // The graph is read only, also by a handle that owns it.
      Ref<Graph> source(const_cast<Graph*>(&body));
      made = builder.add_placeholder_like(symbolic_tensor(source, {input, 0}), input->name());
      RETURN_IF_ERROR(const_cast<SymbolicTensor&>(symbolic(made)).set_shape(arguments[i].shape));
    }
    inputs.push_back(&symbolic(made).node());
    values[input->id()] = {made};
  }
  for (const Node* node : body.nodes()) {
    if (!is_needed[node->id()] || !values[node->id()].empty()) continue;
    std::vector<Tensor> operands;
    for (OutputRef input : node->inputs()) {
      operands.push_back(values[input.node->id()][input.index]);
    }
    Tensors made;
    if (&node->op() == kConst.op) {
      made = {builder.add_constant(node->attrs().as<ConstAttrs>().value)};
    } else {
      ASSIGN_OR_RETURN(made, builder.apply(node->op(), operands, node->attrs()));
    }
    // A shape that the body's graph was promised (set_shape) holds here too.
    for (int i = 0; i < node->num_outputs(); ++i) {
      const Shape told = static_shape(node->output(i).shape);
      RETURN_IF_ERROR(
          const_cast<SymbolicTensor&>(symbolic(made[static_cast<size_t>(i)])).set_shape(told));
    }
    values[node->id()] = std::move(made);
  }
  std::vector<OutputRef> outputs;
  for (OutputRef output : body.outputs()) {
    outputs.push_back(symbolic(values[output.node->id()][output.index]).output());
  }
  graph->set_inputs(std::move(inputs));
  graph->set_outputs(std::move(outputs));
  keep_types(*graph);
  return graph;
}

// The same, kept with the body. Null on failure: then a run gives the error.
Ref<Graph> inferred_with(const Body& body, KnownArguments arguments) {
  auto found = const_cast<Body&>(body).get_or_make<OutputTypesFound>(
      Body::kOutputTypes,
      []() -> Result<Ref<OutputTypesFound>> { return make_ref<OutputTypesFound>(); });
  if (!found.ok() || Stack::is_short()) return {};
  if (auto known = (*found)->find(arguments)) return *known;
  t_inferred.push_back(&body);
  auto made = infer_again(*body.graph(), arguments);
  t_inferred.pop_back();
  Ref<Graph> graph = made.ok() ? *made : Ref<Graph>();
  (*found)->add(std::move(arguments), graph);
  return graph;
}

bool is_known(const Shape& shape, const InCaller& in_caller) {
  return shape.has_rank() &&
         std::ranges::all_of(shape.dims(), [&](Dim dim) { return in_caller.is_known(dim); });
}

// What the caller knows of arguments and the body does not; empty if that is nothing.
KnownArguments known_arguments(const InferContext& c, const Graph& graph) {
  KnownArguments arguments(static_cast<size_t>(c.num_inputs()));
  bool any = false;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const Node& input = *graph.inputs()[static_cast<size_t>(i)];
    if (&input.op() == kConst.op) continue;  // a capture, whose value the trace knew already
    Known& known = arguments[static_cast<size_t>(i)];
    if (!input.output(0).shape.has_rank()) known.shape = static_shape(c.shape(i));
    if (kIndexTypes.contains(c.dtype(i))) {
      const Tensor value = c.value(i);
      if (value && value.num_elements() <= kMaxElements) known.value = value;
    }
    any |= known.value || known.shape.has_rank();
  }
  return any ? arguments : KnownArguments();
}

}  // namespace

Status infer_call(InferContext& c) {
  Ref<Body> body = called_body(c.op(), c.raw_attrs());
  if (!body) return internal_error("a call without a function");
  Ref<Graph> graph = body->graph();
  if (static_cast<int>(graph->inputs().size()) != c.num_inputs() ||
      static_cast<int>(graph->outputs().size()) != c.num_outputs()) {
    return invalid_argument("The function ", body->name(), " has ", graph->inputs().size(),
                            " inputs and ", graph->outputs().size(), " outputs, the call ",
                            c.num_inputs(), " and ", c.num_outputs());
  }
  if (!c.is_graph()) return unknown_outputs(c);
  {
    InCaller in_caller(c, *graph, body->name());
    const bool all_known = std::ranges::all_of(graph->outputs(), [&](OutputRef output) {
      return is_known(output.node->output(output.index).shape, in_caller);
    });
    if (!all_known && std::ranges::find(t_inferred, body.get()) == t_inferred.end()) {
      if (KnownArguments arguments = known_arguments(c, *graph); !arguments.empty()) {
        if (Ref<Graph> again = inferred_with(*body, std::move(arguments))) graph = again;
      }
    }
  }
  InCaller in_caller(c, *graph, body->name());
  for (int i = 0; i < c.num_outputs(); ++i) {
    OutputRef output = graph->outputs()[static_cast<size_t>(i)];
    const OutputType& type = output.node->output(output.index);
    c.set_shape(i, in_caller(type.shape));
    if (type.sizes) {
      SymbolicValue sizes;
      for (Dim dim : *type.sizes) sizes.push_back(in_caller(dim));
      c.set_sizes(i, std::move(sizes));
    }
    if (type.handle_data) {
      HandleData data = *type.handle_data;
      for (HeldType& held : data.components) held.shape = in_caller(held.shape);
      c.set_handle_data(i, std::move(data));
    }
  }
  return {};
}

}  // namespace graven::engine
