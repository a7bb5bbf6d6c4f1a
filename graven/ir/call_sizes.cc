#include "graven/ir/call_sizes.h"

#include <algorithm>
#include <utility>

#include "graven/base/strings.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

constinit thread_local CallSizes* t_innermost = nullptr;
constinit thread_local int t_num_open = 0;  // graphs that have open sizes

// Adds the sizes that are not read yet.
void unite(std::vector<OpenSize*>& all, std::span<OpenSize* const> more) {
  for (OpenSize* size : more) {
    if (!size->is_read && std::ranges::find(all, size) == all.end()) all.push_back(size);
  }
}

// The symbols of a Dim, those in the arguments of functions too.
std::vector<int64_t> symbols_in(const SymbolTable& table, Dim dim) {
  std::vector<int64_t> symbols;
  SymbolTable scratch;
  scratch.substitute(table, dim, [&](int64_t symbol) {
    symbols.push_back(symbol);
    return Dim(1);
  });
  return symbols;
}

const OutputType& type_of(const Tensor& x) {
  return symbolic(x).node().output(symbolic(x).output().index);
}

// A size as the handle or, if that says less, the node knows it.
Dim dim_of(const Tensor& x, int axis) {
  const Dim dim = x.shape()[axis];
  if (dim.is_number() || !x.is_symbolic()) return dim;
  const Shape& shape = type_of(x).shape;
  return shape.has_rank() && axis < shape.rank() ? shape[axis] : dim;
}

bool has_terms(const Shape& shape) {
  return std::ranges::any_of(shape.dims(), [](Dim dim) { return dim.is_term(); });
}

Tensor vector_of(const SymbolicValue& sizes, DType dtype, const Shape& shape) {
  auto made = Tensor::allocate(dtype, shape);
  if (!made.ok() || made->num_elements() != static_cast<int64_t>(sizes.size())) return {};
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (dtype == DType::kInt32) {
      made->mutable_data<int32_t>()[i] = static_cast<int32_t>(sizes[i].number());
    } else {
      made->mutable_data<int64_t>()[i] = sizes[i].number();
    }
  }
  return *made;
}

// The size that another call might have where this one has `number`: equal for equal ones, and no
// multiple of a small number.
int64_t other_number(int64_t number) { return 10007 + 2310 * number; }

bool all_numbers(const SymbolicValue& sizes) {
  return std::ranges::all_of(sizes, [](Dim dim) { return dim.is_number(); });
}

}  // namespace

CallSizes::CallSizes(Ref<Graph> graph) : graph_(std::move(graph)), outer_(t_innermost) {
  t_innermost = this;
}

CallSizes::~CallSizes() {
  t_innermost = outer_;
  if (!known_.empty()) --t_num_open;
}

CallSizes* CallSizes::current() { return t_innermost; }

bool CallSizes::any() { return t_num_open > 0; }

CallSizes* CallSizes::of(const Graph* graph) {
  for (CallSizes* at = t_innermost; at; at = at->outer_) {
    if (at->graph_.get() == graph) return at;
  }
  return nullptr;
}

void CallSizes::add(int64_t symbol, Known known) {
  if (known_.empty()) ++t_num_open;
  const auto at = static_cast<size_t>(symbol);
  if (numbers_.size() <= at) {
    numbers_.resize(at + 1, -1);
    other_numbers_.resize(at + 1, -1);
  }
  numbers_[at] = known.number;
  other_numbers_[at] = known.other_number;
  known_.try_emplace(symbol, std::move(known));
}

void CallSizes::open(Dim symbol, OpenSize& size) {
  Known known{.number = size.number, .other_number = other_number(size.number), .from = {&size}};
  if (size.caller) {
    if (const CallSizes* caller = of(size.caller)) {
      caller->add_sources(size.in_caller, known.from);
      known.outer = size.caller;
      known.in_outer = size.in_caller;
      known.other_number =
          caller->number(size.in_caller, Which::kOther).value_or(known.other_number);
    }
  }
  add(graph_->symbols().as_symbol(symbol), std::move(known));
}

std::optional<int64_t> CallSizes::number(Dim dim, Which which) const {
  const auto& numbers = which == Which::kCall ? numbers_ : other_numbers_;
  const int64_t number = graph_->symbols().evaluate(dim, numbers);
  return number < 0 ? std::nullopt : std::optional(number);
}

void CallSizes::add_sources(Dim dim, std::vector<OpenSize*>& from) const {
  if (!dim.is_term()) return;
  for (int64_t symbol : symbols_in(graph_->symbols(), dim)) {
    if (auto at = known_.find(symbol); at != known_.end()) unite(from, at->second.from);
  }
}

std::optional<int64_t> CallSizes::number(const Tensor& x, int axis) {
  refresh(x);
  const Dim dim = dim_of(x, axis);
  if (dim.is_number()) return dim.number();
  if (!any() || !dim.is_term()) return std::nullopt;
  const CallSizes* sizes = of(symbolic(x).graph().get());
  return sizes ? sizes->number(dim) : std::nullopt;
}

std::optional<int64_t> CallSizes::read(const Tensor& x, int axis) {
  const std::optional<int64_t> number = CallSizes::number(x, axis);
  if (!number || dim_of(x, axis).is_number()) return number;
  std::vector<OpenSize*> from;
  of(symbolic(x).graph().get())->add_sources(dim_of(x, axis), from);
  read(from);
  refresh(x);
  return number;
}

const Shape& CallSizes::read_shape(const Tensor& x) {
  refresh(x);
  if (any() && x.is_symbolic()) {
    for (int i = 0; i < x.shape().rank(); ++i) read(x, i);
  }
  return x.shape();
}

bool CallSizes::is_same_size(const Tensor& x, int axis, const Tensor& y, int other_axis) {
  const auto a = number(x, axis), b = number(y, other_axis);
  if (!a || !b) return !a && !b;
  const Dim dim = dim_of(x, axis), other = dim_of(y, other_axis);
  if (dim.is_number() && other.is_number()) return *a == *b;
  if (dim.is_term() && other.is_term() &&
      outermost(symbolic(x).graph().get(), dim) == outermost(symbolic(y).graph().get(), other)) {
    return true;
  }
  return *read(x, axis) == *read(y, other_axis);
}

std::pair<const Graph*, Dim> CallSizes::outermost(const Graph* graph, Dim dim) {
  const CallSizes* sizes = of(graph);
  const CallSizes* around = nullptr;
  bool all = sizes != nullptr;
  if (all) {
    for (int64_t symbol : symbols_in(graph->symbols(), dim)) {
      auto at = sizes->known_.find(symbol);
      all &= at != sizes->known_.end() && at->second.outer;
      if (!all) break;
      const CallSizes* next = of(at->second.outer);
      all &= next && (!around || around == next);
      around = next;
    }
  }
  if (!all || !around) return {graph, dim};
  const Dim outer = around->graph_->symbols().substitute(
      graph->symbols(), dim, [&](int64_t symbol) { return sizes->known_.at(symbol).in_outer; });
  if (!outer.is_term()) return {around->graph_.get(), outer};
  return outermost(around->graph_.get(), outer);
}

std::optional<SymbolicValue> CallSizes::elements(const Node& node, int output, Which which) const {
  const OutputType& type = node.output(output);
  if (auto at = elements_.find({node.name(), output}); at != elements_.end()) {
    return which == Which::kCall ? at->second.sizes : at->second.other_sizes;
  }
  if (!type.sizes) return std::nullopt;
  SymbolicValue sizes;
  for (Dim dim : *type.sizes) {
    const auto known = number(dim, which);
    sizes.push_back(known ? Dim(*known) : dim);
  }
  return sizes;
}

void CallSizes::add_sources_of_elements(const Node& node, int output,
                                        std::vector<OpenSize*>& from) const {
  if (auto at = elements_.find({node.name(), output}); at != elements_.end()) {
    unite(from, at->second.from);
    return;
  }
  for (Dim dim : *node.output(output).sizes) add_sources(dim, from);
}

Tensor CallSizes::value(const Tensor& x, std::vector<OpenSize*>& from) {
  if (!any() || !x.is_symbolic()) return {};
  const CallSizes* sizes = of(symbolic(x).graph().get());
  if (!sizes || !x.shape().is_fully_known()) return {};
  const Node& node = symbolic(x).node();
  const int output = symbolic(x).output().index;
  const auto known = sizes->elements(node, output, Which::kCall);
  if (!known || !all_numbers(*known)) return {};
  sizes->add_sources_of_elements(node, output, from);
  return vector_of(*known, x.dtype(), x.shape());
}

void CallSizes::read(std::span<OpenSize* const> sizes) {
  bool is_new = false;
  for (OpenSize* size : sizes) is_new |= !std::exchange(size->is_read, true);
  if (is_new) note_reads();
}

void CallSizes::read_all() {
  std::vector<OpenSize*> all;
  for (const CallSizes* at = t_innermost; at; at = at->outer_) {
    for (const auto& [symbol, known] : at->known_) unite(all, known.from);
  }
  read(all);
}

void CallSizes::note_reads() {
  for (CallSizes* at = t_innermost; at; at = at->outer_) {
    bool is_new = false;
    for (auto& [symbol, known] : at->known_) {
      if (known.is_read) continue;
      known.is_read = std::ranges::all_of(known.from, &OpenSize::is_read);
      is_new |= known.is_read;
    }
    if (is_new) at->rewrite();
  }
}

// Puts numbers in the place of symbols that were read.
void CallSizes::rewrite() {
  SymbolTable& table = graph_->symbols();
  SymbolTable before;  // substituting adds terms
  before.copy_from(table);
  auto now = [&](Dim dim) {
    return table.substitute(before, dim, [&](int64_t symbol) {
      auto at = known_.find(symbol);
      const bool is_read = at != known_.end() && at->second.is_read;
      return is_read ? Dim(at->second.number) : table.dim_of(symbol);
    });
  };
  auto change = [&](Shape& shape) {
    for (int i = 0; i < shape.rank(); ++i) {
      if (shape[i].is_term()) shape.set(i, now(shape[i]));
    }
  };
  for (Node* node : graph_->nodes()) {
    for (int i = 0; i < node->num_outputs(); ++i) {
      OutputType& type = node->output(i);
      change(type.shape);
      if (type.sizes) {
        for (Dim& dim : *type.sizes) dim = now(dim);
      }
      if (!type.handle_data) continue;
      for (HeldType& held : type.handle_data->components) change(held.shape);
    }
    if (&node->op() != kPlaceholder.op) continue;
    PlaceholderAttrs attrs = node->attrs().as<PlaceholderAttrs>();
    attrs.shape = node->output(0).shape;
    for (int i = 0; i < attrs.shape.rank(); ++i) {
      if (attrs.shape[i].is_term()) attrs.shape.set(i, Dim::unknown());
    }
    graph_->set_attrs(node, attrs);
  }
}

void CallSizes::refresh(const Tensor& x) {
  if (!x.is_symbolic() || !has_terms(x.shape())) return;
  OutputType& type = symbolic(x).node().output(symbolic(x).output().index);
  if (type.shape == x.shape()) return;
  // Only the handle changes; a promise of the program that contradicts stays.
  const Shape now = type.shape;
  const bool is_promised = type.is_promised;
  const Status status = static_cast<SymbolicTensor*>(x.get())->set_shape(now);
  (void)status;
  type.shape = now;
  type.is_promised = is_promised;
}

void CallSizes::link(const Graph& inner, Dim symbol, const Graph& outer, int64_t outer_symbol) {
  if (!any()) return;
  CallSizes *own = of(&inner), *around = of(&outer);
  if (!own || !around) return;
  auto at = around->known_.find(outer_symbol);
  if (at == around->known_.end()) return;
  Known known = at->second;
  known.outer = &outer;
  known.in_outer = around->graph_->symbols().dim_of(outer_symbol);
  own->add(inner.symbols().as_symbol(symbol), std::move(known));
}

std::optional<int64_t> CallSizes::number_read(const Graph& graph, int64_t symbol) {
  if (!any()) return std::nullopt;
  const CallSizes* sizes = of(&graph);
  if (!sizes) return std::nullopt;
  auto at = sizes->known_.find(symbol);
  if (at == sizes->known_.end() || !at->second.is_read) return std::nullopt;
  return at->second.number;
}

void CallSizes::know(const Tensor& result, int axis, const Tensor& x, int other_axis) {
  const auto number = CallSizes::number(x, other_axis);
  const Dim dim = dim_of(x, other_axis);
  if (!number || dim.is_number() || !result || !result.is_symbolic()) return;
  if (!result.shape().has_rank() || result.rank() <= axis) return;
  CallSizes *own = of(symbolic(result).graph().get()), *sizes = of(symbolic(x).graph().get());
  if (!own || own->number(dim_of(result, axis))) return;
  const int64_t symbol = own->graph_->symbols().as_symbol(dim_of(result, axis));
  if (symbol < 0 || own->graph_->symbols().is_function(symbol)) return;
  Known known{.number = *number,
              .other_number = sizes->number(dim, Which::kOther).value_or(*number),
              .from = {}};
  sizes->add_sources(dim, known.from);
  own->add(symbol, std::move(known));
}

CallSizes::Numbered CallSizes::numbered(std::span<const Tensor> inputs, Which which) const {
  Numbered made{make_ref<Graph>("call"), {}, {}};
  std::unordered_map<int64_t, Dim> unknown;  // symbols without numbers keep their places
  auto size_of = [&](Dim dim) {
    if (!dim.is_term()) return dim;
    if (const auto known = number(dim, which)) {
      add_sources(dim, made.from);
      return Dim(*known);
    }
    auto [at, is_new] = unknown.try_emplace(dim.word());
    if (is_new) at->second = made.graph->symbols().new_symbol("");
    return at->second;
  };
  auto shape_of = [&](Shape shape) {
    for (int i = 0; i < shape.rank(); ++i) shape.set(i, size_of(shape[i]));
    return shape;
  };
  for (const Tensor& input : inputs) {
    if (!input.is_symbolic() || &symbolic(input).node().op() == kConst.op) {
      made.inputs.push_back(input);
      continue;
    }
    const Node& node = symbolic(input).node();
    const int index = symbolic(input).output().index;
    const OutputType& type = node.output(index);
    std::vector<OutputType> output(1);
    output[0].dtype = type.dtype;
    output[0].shape = shape_of(input.shape());
    if (auto elements = this->elements(node, index, which)) {
      add_sources_of_elements(node, index, made.from);
      for (Dim& dim : *elements) dim = size_of(dim);
      output[0].sizes = std::make_unique<SymbolicValue>(*elements);
    }
    if (type.handle_data) {
      output[0].handle_data = std::make_unique<HandleData>(*type.handle_data);
      for (HeldType& held : output[0].handle_data->components) held.shape = shape_of(held.shape);
    }
    Node* stands_for =
        made.graph->add({.op = kPlaceholder.op,
                         .attrs = PlaceholderAttrs{type.dtype, Shape::unknown_rank()},
                         .name = str_cat("input_", made.inputs.size()),
                         .inputs = {},
                         .outputs = std::move(output)});
    made.inputs.push_back(symbolic_tensor(made.graph, {stands_for, 0}));
  }
  return made;
}

Result<bool> CallSizes::infer_for_call(Graph& graph, const Op& op, std::span<const Tensor> inputs,
                                       AttrsRef attrs, const TypeBindings& types,
                                       const std::string& node_name,
                                       const std::vector<OutputType>& outputs) {
  CallSizes* const sizes = of(&graph);
  if (!sizes || sizes->known_.empty() || !op.record().infer) return false;
  const Numbered call = sizes->numbered(inputs, Which::kCall);
  if (call.from.empty()) return false;
  const auto num_outputs = static_cast<int>(outputs.size());
  InferContext exact(op, attrs, call.inputs, types, num_outputs, &call.graph->symbols());
  if (Status status = infer_outputs(exact); !status.ok()) {
    read(call.from);
    return status.with_prefix(str_cat("[", op.name(), "] ")).as_kind(ErrorKind::kValueError);
  }
  const Numbered other_call = sizes->numbered(inputs, Which::kOther);
  InferContext other(op, attrs, other_call.inputs, types, num_outputs,
                     &other_call.graph->symbols());
  bool must_read = !infer_outputs(other).ok();
  // What the symbols do not tell.
  std::vector<std::pair<int64_t, Known>> found;  // by symbol
  for (size_t i = 0; i < outputs.size() && !must_read; ++i) {
    const Shape &open = outputs[i].shape, &shape = exact.shapes()[i], &next = other.shapes()[i];
    if (!shape.has_rank()) continue;
    must_read = !open.has_rank() || !next.has_rank() || open.rank() != shape.rank() ||
                next.rank() != shape.rank();
    for (int d = 0; d < shape.rank() && !must_read; ++d) {
      if (!shape[d].is_number()) continue;
      const auto number = sizes->number(open[d]);
      if (number == shape[d].number()) continue;
      const int64_t symbol = graph.symbols().as_symbol(open[d]);
      must_read =
          number || symbol < 0 || graph.symbols().is_function(symbol) || !next[d].is_number();
      if (must_read) break;
      found.emplace_back(
          symbol,
          Known{.number = shape[d].number(), .other_number = next[d].number(), .from = call.from});
    }
  }
  if (must_read) {
    read(call.from);
    for (const Tensor& input : inputs) refresh(input);
    return true;
  }
  for (auto& [symbol, known] : found) {
    if (!sizes->known_.contains(symbol)) sizes->add(symbol, std::move(known));
  }
  auto numbers_of = [](const SymbolicValue& given) {
    SymbolicValue numbers;
    for (Dim dim : given) numbers.push_back(dim.is_number() ? dim : Dim::unknown());
    return numbers;
  };
  for (const InferContext::Extra& extra : exact.extras()) {
    if (!extra.sizes) continue;
    const OutputType& open = outputs[static_cast<size_t>(extra.output)];
    bool says_more = false;
    for (size_t k = 0; k < extra.sizes->size(); ++k) {
      if (!(*extra.sizes)[k].is_number()) continue;
      const bool is_there = open.sizes && open.sizes->size() == extra.sizes->size();
      says_more |= !is_there || !sizes->number((*open.sizes)[k]);
    }
    if (!says_more) continue;
    Elements elements{numbers_of(*extra.sizes), {}, call.from};
    for (const InferContext::Extra& next : other.extras()) {
      if (next.sizes && next.output == extra.output) elements.other_sizes = numbers_of(*next.sizes);
    }
    sizes->elements_[{node_name, extra.output}] = std::move(elements);
  }
  return false;
}

}  // namespace graven::engine
