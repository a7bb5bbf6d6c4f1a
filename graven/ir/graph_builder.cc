#include "graven/ir/graph_builder.h"

#include "graven/base/strings.h"
#include "graven/ir/call_sizes.h"
#include "graven/ir/emitter.h"
#include "graven/ir/frame.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/live_graphs.h"
#include "graven/ir/out_of_scope.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

// Captured tensors of up to this many elements are visible to shape inference.
constexpr int64_t kMaxVisibleElements = 128;

// Each unknown dimension becomes a symbol of its own.
void name_unknown_dims(SymbolTable& symbols, std::string_view name, Shape& shape) {
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i].is_unknown()) shape.set(i, symbols.new_symbol(str_cat(name, ".", i)));
  }
}

std::string scoped(std::string_view name) {
  if (!name.empty() && name.back() == '/') return std::string(name.substr(0, name.size() - 1));
  return Frame::current().name_scope + std::string(name);
}

Ref<Location> current_location() {
  LocationSource* source = Frame::current().locations;
  return source ? source->current() : Ref<Location>();
}

// An error if the graph has dropped the node of the tensor.
Status check_is_there(const Tensor& tensor) {
  const SymbolicTensor& symbol = symbolic(tensor);
  const Graph& graph = *symbol.graph();
  const bool has_dropped_any = graph.nodes().size() != static_cast<size_t>(graph.id_bound());
  if (!has_dropped_any || graph.find(symbol.node().name()) == &symbol.node()) return {};
  return Status(
      Code::kInvalidArgument,
      str_cat(symbol.node().name(),
              " is out of scope: it was made in a run of a function that was dropped, because the "
              "function was run again, for another way through its conditions or for what "
              "TensorFlow refuses; what a function keeps in objects must not be its tensors"),
      ErrorKind::kInaccessibleTensorError);
}

// True if the tensor's graph is being built inside `graph`, or was built inside of one that is gone
// while `graph` is traced: its values never reach it.
bool is_inside(const Graph& inner, const Graph* graph) {
  switch (nesting_of(inner, graph)) {
    case Nesting::kApart:
      return false;
    case Nesting::kInside:
      return true;
    case Nesting::kUnknown:
      return Frame::current().graph() == graph;
  }
  return false;
}

}  // namespace

Result<Tensors> GraphBuilder::apply(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs,
                                    std::string_view name) {
  const OpRecord& record = op.record();
  // A composite without inference of its own is its parts; the others are expanded by the
  // optimiser, on its copy.
  if (record.body.kind() == OpBody::Kind::kComposite && !record.infer) {
    return expand_composite(*this, op, inputs, attrs);
  }
  TypeBindings types;
  RETURN_IF_ERROR(op.bind_types(inputs, attrs, /*eager=*/false, types));
  if (name.empty()) name = record.default_node_name.empty() ? op.name() : record.default_node_name;
  // The name of a scope that was opened for this op is unique already.
  std::string node_name = scoped(name);
  if (name.back() != '/' || graph_->find(node_name)) node_name = graph_->unique_name(node_name);

  InlineVector<Tensor, 4> inner;
  InlineVector<OutputRef, 4> refs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].is_symbolic() && symbolic(inputs[i]).graph().get() == graph_.get()) {
      RETURN_IF_ERROR(check_is_there(inputs[i]));
      if (CallSizes::any()) CallSizes::refresh(inputs[i]);
      inner.push_back(inputs[i]);
    } else {
      std::string operand =
          str_cat(node_name, "/",
                  op.flat_input_name(static_cast<int>(i), static_cast<int>(inputs.size())), "/");
      ASSIGN_OR_RETURN(Tensor captured, capture(inputs[i], operand));
      inner.push_back(std::move(captured));
    }
    refs.push_back(symbolic(inner.back()).output());
  }

  ASSIGN_OR_RETURN(auto outputs, typed_outputs(op, inner, attrs, types, node_name));
  Node* node = graph_->add({.op = &op,
                            .attrs = attrs,
                            .name = std::move(node_name),
                            .inputs = refs,
                            .outputs = std::move(outputs),
                            .control_inputs = control_inputs,
                            .device = Frame::current().device,
                            .location = current_location()});
  Tensors result;
  for (int i = 0; i < node->num_outputs(); ++i) {
    result.push_back(symbolic_tensor(graph_, {node, i}));
  }
  return result;
}

Result<std::vector<OutputType>> GraphBuilder::output_types(const Op& op,
                                                           std::span<const Tensor> inputs,
                                                           AttrsRef attrs,
                                                           std::string_view node_name) {
  TypeBindings types;
  RETURN_IF_ERROR(op.bind_types(inputs, attrs, /*eager=*/false, types));
  return typed_outputs(op, inputs, attrs, types, node_name);
}

Result<std::vector<OutputType>> GraphBuilder::typed_outputs(const Op& op,
                                                            std::span<const Tensor> inputs,
                                                            AttrsRef attrs,
                                                            const TypeBindings& types,
                                                            std::string_view node_name) {
  int num_inputs = static_cast<int>(inputs.size());
  InlineVector<DType, 4> dtypes;
  op.output_dtypes(types, attrs, num_inputs, dtypes);
  InferContext infer(op, attrs, inputs, types, static_cast<int>(dtypes.size()), &graph_->symbols());
  if (op.record().infer) {
    if (Status status = infer_outputs(infer); !status.ok()) {
      return status.with_prefix(str_cat("[", op.name(), "] ")).as_kind(ErrorKind::kValueError);
    }
  }
  std::vector<OutputType> outputs(dtypes.size());
  for (size_t i = 0; i < dtypes.size(); ++i) {
    outputs[i].dtype = dtypes[i];
    outputs[i].shape = infer.shapes()[i];
    name_unknown_dims(graph_->symbols(), node_name, outputs[i].shape);
  }
  for (const InferContext::Extra& extra : infer.extras()) {
    OutputType& output = outputs[extra.output];
    if (extra.sizes) output.sizes = std::make_unique<SymbolicValue>(*extra.sizes);
    if (extra.handle_data) output.handle_data = std::make_unique<HandleData>(*extra.handle_data);
  }
  if (!CallSizes::any()) return outputs;
  ASSIGN_OR_RETURN(bool has_read, CallSizes::infer_for_call(*graph_, op, inputs, attrs, types,
                                                            std::string(node_name), outputs));
  return has_read ? typed_outputs(op, inputs, attrs, types, node_name) : std::move(outputs);
}

Tensor GraphBuilder::add_placeholder(DType dtype, const Shape& shape, std::string_view name,
                                     std::optional<HandleData> handle_data) {
  Shape own = shape;
  for (int i = 0; i < own.rank(); ++i) {
    // Terms of another graph mean nothing here.
    if (!own[i].is_number()) own.set(i, Dim::unknown());
  }
  return add_input(dtype, std::move(own), name, std::move(handle_data));
}

Tensor GraphBuilder::add_input(DType dtype, Shape shape, std::string_view name,
                               std::optional<HandleData> handle_data) {
  std::string node_name = graph_->unique_name(name);
  PlaceholderAttrs attrs{dtype, shape};
  for (int i = 0; i < shape.rank(); ++i) {
    if (!shape[i].is_number()) attrs.shape.set(i, Dim::unknown());
  }
  std::vector<OutputType> outputs(1);
  outputs[0].dtype = dtype;
  outputs[0].shape = std::move(shape);
  name_unknown_dims(graph_->symbols(), node_name, outputs[0].shape);
  if (handle_data) outputs[0].handle_data = std::make_unique<HandleData>(*handle_data);
  Node* node = graph_->add({.op = kPlaceholder.op,
                            .attrs = attrs,
                            .name = std::move(node_name),
                            .inputs = {},
                            .outputs = std::move(outputs),
                            .location = current_location()});
  graph_->add_input(node);
  return symbolic_tensor(graph_, {node, 0});
}

Dim GraphBuilder::inner_dim(const Graph& outer, Dim dim) {
  if (!dim.is_term()) return dim;
  const Graph* around = graph_->outer();
  if (around && around != &outer) {
    for (Frame* frame = &Frame::current(); frame; frame = frame->below()) {
      if (frame->graph() != around) continue;
      return inner_dim(*around, frame->graph_builder()->inner_dim(outer, dim));
    }
  }
  return graph_->symbols().substitute(outer.symbols(), dim, [&](int64_t symbol) {
    if (auto number = CallSizes::number_read(outer, symbol)) return Dim(*number);
    auto [at, is_new] = symbol_of_.try_emplace({&outer, symbol});
    if (is_new) {
      at->second = graph_->symbols().new_symbol(outer.symbols().symbol_name(symbol));
      CallSizes::link(*graph_, at->second, outer, symbol);
    }
    return at->second;
  });
}

Tensor GraphBuilder::add_placeholder_like(const Tensor& outer, std::string_view name) {
  if (!outer.is_symbolic()) {
    return add_placeholder(outer.dtype(), outer.shape(), name, handle_data_of(outer));
  }
  const SymbolicTensor& source = symbolic(outer);
  const Graph& graph = *source.graph();
  const OutputType& type = source.node().output(source.output().index);
  auto inner_shape = [&](Shape shape) {
    for (int i = 0; i < shape.rank(); ++i) shape.set(i, inner_dim(graph, shape[i]));
    return shape;
  };
  std::optional<HandleData> data;
  if (type.handle_data) {
    data = *type.handle_data;
    for (HeldType& held : data->components) held.shape = inner_shape(held.shape);
  }
  Tensor made = add_input(type.dtype, inner_shape(type.shape), name, data);
  if (type.sizes) {
    auto& sizes = symbolic(made).node().output(0).sizes;
    sizes = std::make_unique<SymbolicValue>();
    for (Dim dim : *type.sizes) sizes->push_back(inner_dim(graph, dim));
  }
  return made;
}

Tensor GraphBuilder::add_constant(const Tensor& value, std::string_view name) {
  std::vector<OutputType> outputs(1);
  outputs[0].dtype = value.dtype();
  outputs[0].shape = value.shape();
  Node* node = graph_->add({.op = kConst.op,
                            .attrs = ConstAttrs{value, value.dtype()},
                            .name = graph_->unique_name(scoped(name)),
                            .inputs = {},
                            .outputs = std::move(outputs),
                            .device = Frame::current().device,
                            .location = current_location()});
  return symbolic_tensor(graph_, {node, 0});
}

Result<Tensor> GraphBuilder::capture(const Tensor& external, std::string_view name) {
  if (external.is_symbolic() && symbolic(external).graph().get() == graph_.get()) return external;
  if (auto at = capture_of_.find(external.get()); at != capture_of_.end()) {
    return captures_[at->second].internal;
  }
  Tensor internal;
  if (external.is_symbolic()) {
    const SymbolicTensor& outer = symbolic(external);
    RETURN_IF_ERROR(check_is_there(external));
    // Inside of this graph, or beside it in the same one: another branch.
    const Graph* around = graph_->outer();
    if (is_inside(*outer.graph(), graph_.get()) || (around && outer.graph()->outer() == around)) {
      return Status(Code::kInvalidArgument, out_of_scope_text(external, graph_.get()),
                    ErrorKind::kInaccessibleTensorError);
    }
    internal = add_placeholder_like(external, scoped(name));
  } else if ((is_plain(external.dtype()) || external.dtype() == DType::kString) &&
             external.num_elements() <= kMaxVisibleElements) {
    internal = add_constant(external, name);
    graph_->add_input(&symbolic(internal).node());
  } else {
    internal = add_placeholder_like(external, scoped(name));
  }
  bind_capture(external, internal);
  return internal;
}

void GraphBuilder::bind_capture(const Tensor& external, Tensor internal) {
  capture_of_[external.get()] = static_cast<int>(captures_.size());
  graph_->note_capture(external.get()->id(), &symbolic(internal).node());
  captures_.push_back({external, std::move(internal)});
}

}  // namespace graven::engine
