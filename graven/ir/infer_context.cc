#include "graven/ir/infer_context.h"

#include <limits>

#include "graven/ir/graph.h"
#include "graven/ir/structural_ops.h"
#include "graven/tensor/variant.h"

namespace graven::engine {
namespace {

using Function = SymbolTable::Function;

// The integers of an eager tensor of rank 0 or 1; those below zero are unknown.
SymbolicValue sizes_of(const Tensor& value) {
  SymbolicValue sizes;
  auto add = [&](int64_t size) { sizes.push_back(size < 0 ? Dim::unknown() : Dim(size)); };
  if (value.dtype() == DType::kInt32) {
    for (int32_t size : value.data<int32_t>()) add(size);
  } else {
    for (int64_t size : value.data<int64_t>()) add(size);
  }
  return sizes;
}

bool may_hold_sizes(const Tensor& tensor) {
  return kIndexTypes.contains(tensor.dtype()) && tensor.shape().has_rank() && tensor.rank() <= 1;
}

}  // namespace

std::optional<HandleData> handle_data_of(const Tensor& eager) {
  const Resource* held = held_resource(eager);
  if (!held) return std::nullopt;
  if (auto type = held->value_type()) return HandleData(type->first, type->second);
  const auto* variant = dynamic_cast<const Variant*>(held);
  if (!variant) return std::nullopt;
  HandleData data;
  for (auto& [dtype, shape] : variant->components()) data.components.push_back({dtype, shape});
  if (data.components.empty()) return std::nullopt;
  return data;
}

InferContext::InferContext(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                           const TypeBindings& types, int num_outputs, SymbolTable* symbols)
    : op_(op), attrs_(attrs), inputs_(inputs), types_(types), symbols_(symbols) {
  for (int i = 0; i < num_outputs; ++i) shapes_.push_back(Shape());
}

DType InferContext::type(std::string_view name) const {
  for (size_t i = 0; i < op_.type_params().size(); ++i) {
    if (op_.type_params()[i].name == name) return types_[i];
  }
  return DType::kInvalid;
}

Tensor InferContext::value(int input) const {
  const Tensor& tensor = inputs_[input];
  if (!tensor.is_symbolic()) return tensor;
  const SymbolicTensor& known = symbolic(tensor);
  const Node& node = known.node();
  if (&node.op() == kConst.op) return node.attrs().as<ConstAttrs>().value;
  const auto& sizes = node.output(known.output().index).sizes;
  if (!sizes || !tensor.shape().is_fully_known()) return {};
  for (Dim dim : *sizes) {
    if (!dim.is_number()) return {};
  }
  auto made = Tensor::allocate(tensor.dtype(), tensor.shape());
  if (!made.ok() || made->num_elements() != static_cast<int64_t>(sizes->size())) return {};
  for (size_t i = 0; i < sizes->size(); ++i) {
    if (tensor.dtype() == DType::kInt32) {
      made->mutable_data<int32_t>()[i] = static_cast<int32_t>((*sizes)[i].number());
    } else {
      made->mutable_data<int64_t>()[i] = (*sizes)[i].number();
    }
  }
  return *made;
}

std::optional<SymbolicValue> InferContext::sizes(int input) const {
  const Tensor& tensor = inputs_[input];
  if (!may_hold_sizes(tensor)) return std::nullopt;
  // No shape has so many, and a list of unknown ones could fill the memory.
  const auto n = tensor.shape().checked_num_elements();
  if (is_graph() && n && *n > kMaxRank) return std::nullopt;
  if (!tensor.is_symbolic()) return sizes_of(tensor);
  const SymbolicTensor& known = symbolic(tensor);
  if (&known.node().op() == kConst.op) {
    return sizes_of(known.node().attrs().as<ConstAttrs>().value);
  }
  const auto& sizes = known.node().output(known.output().index).sizes;
  if (sizes) return *sizes;
  if (!tensor.shape().is_fully_known()) return std::nullopt;
  return SymbolicValue(static_cast<size_t>(tensor.shape().num_elements()), Dim::unknown());
}

std::optional<HandleData> InferContext::handle_data(int input) const {
  const Tensor& tensor = inputs_[input];
  if (tensor.is_symbolic()) {
    const SymbolicTensor& known = symbolic(tensor);
    const auto& data = known.node().output(known.output().index).handle_data;
    if (data) return *data;
    return std::nullopt;
  }
  return handle_data_of(tensor);
}

void InferContext::set_sizes(int output, SymbolicValue sizes) {
  if (is_graph()) extras_.push_back({output, std::move(sizes), std::nullopt});
}

void InferContext::set_handle_data(int output, HandleData data) {
  if (is_graph()) extras_.push_back({output, std::nullopt, std::move(data)});
}

// Sizes beyond int64 stay at its end, where counting elements or allocating them refuses.
Dim InferContext::add(Dim a, Dim b) const {
  if (a.is_number() && b.is_number()) {
    int64_t sum;
    bool overflows = __builtin_add_overflow(a.number(), b.number(), &sum);
    return Dim(overflows ? std::numeric_limits<int64_t>::max() : sum);
  }
  return symbols_ ? symbols_->add(a, b) : Dim::unknown();
}
Dim InferContext::subtract(Dim a, Dim b) const {
  if (a.is_number() && b.is_number() && a.number() >= b.number()) {
    return Dim(a.number() - b.number());
  }
  return symbols_ ? symbols_->subtract(a, b) : Dim::unknown();
}
Dim InferContext::multiply(Dim a, Dim b) const {
  if (a.is_number() && b.is_number()) {
    int64_t product;
    bool overflows = __builtin_mul_overflow(a.number(), b.number(), &product);
    return Dim(overflows ? std::numeric_limits<int64_t>::max() : product);
  }
  return symbols_ ? symbols_->multiply(a, b) : Dim::unknown();
}
Dim InferContext::floor_div(Dim a, Dim b) const {
  if (a.is_number() && b.is_number() && b.number() > 0) return Dim(a.number() / b.number());
  return symbols_ ? symbols_->apply(Function::kFloorDiv, a, b) : Dim::unknown();
}
Dim InferContext::ceil_div(Dim a, Dim b) const {
  if (a.is_number() && b.is_number() && b.number() > 0) {
    return Dim(a.number() / b.number() + (a.number() % b.number() != 0));
  }
  return symbols_ ? symbols_->apply(Function::kCeilDiv, a, b) : Dim::unknown();
}
Dim InferContext::max(Dim a, Dim b) const {
  if (a.is_number() && b.is_number()) return Dim(std::max(a.number(), b.number()));
  return symbols_ ? symbols_->apply(Function::kMax, a, b) : Dim::unknown();
}
Dim InferContext::new_symbol(std::string name) const {
  return symbols_ ? symbols_->new_symbol(std::move(name)) : Dim::unknown();
}

Dim InferContext::substitute(const SymbolTable& from, Dim dim,
                             FunctionRef<Dim(int64_t symbol)> of) const {
  if (!dim.is_term()) return dim;
  return symbols_ ? symbols_->substitute(from, dim, of) : Dim::unknown();
}

Result<Shape> InferContext::broadcast(const Shape& a, const Shape& b) const {
  if (a == b) return a;
  if (!a.has_rank() || !b.has_rank()) return Shape::unknown_rank();
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape out = longer;
  int offset = longer.rank() - shorter.rank();
  for (int i = 0; i < shorter.rank(); ++i) {
    Dim x = longer[offset + i], y = shorter[i];
    if (x == y || y == Dim(1)) continue;
    if (x == Dim(1)) {
      out.set(offset + i, y);
    } else if (x.is_number() && y.is_number()) {
      return invalid_argument("Incompatible shapes: ", a.to_message(), " vs. ", b.to_message());
    } else if (x.is_number() || y.is_number()) {
      // The other can only be this number or 1.
      out.set(offset + i, x.is_number() ? x : y);
    } else {
      out.set(offset + i, symbols_ ? symbols_->apply(Function::kBroadcast, x, y) : Dim::unknown());
    }
  }
  return out;
}

Result<Dim> InferContext::merge(Dim a, Dim b) const {
  if (a == b || b.is_unknown()) return a;
  if (a.is_unknown()) return b;
  if (a.is_number() && b.is_number()) {
    return invalid_argument("Dimensions must be equal, but are ", a.number(), " and ", b.number());
  }
  return a.is_number() ? a : b;
}

Status infer_outputs(InferContext& c) {
  RETURN_IF_ERROR(c.op().record().infer(c));
  for (const Shape& shape : c.shapes()) {
    if (shape.rank() <= kMaxRank) continue;
    return invalid_argument("the result would have ", shape.rank(), " dimensions, but at most ",
                            kMaxRank, " are possible");
  }
  return {};
}

Status same_as_input(InferContext& c) {
  c.set_shape(0, c.shape(0));
  return {};
}

Status same_shapes(InferContext& c) {
  Shape shape = c.shape(0);
  for (int i = 1; i < c.num_inputs(); ++i) {
    auto merged = merge_shapes(shape, c.shape(i));
    if (!merged.ok()) {
      return invalid_argument("Inputs must have the same shape, got ", c.shape(0).to_message(),
                              " and ", c.shape(i).to_message());
    }
    shape = *merged;
  }
  c.set_shape(0, shape);
  return {};
}

Status broadcast_inputs(InferContext& c) {
  if (c.num_inputs() == 0) return internal_error("broadcast of no inputs");
  Shape shape = c.shape(0);
  for (int i = 1; i < c.num_inputs(); ++i) {
    ASSIGN_OR_RETURN(shape, c.broadcast(shape, c.shape(i)));
  }
  c.set_shape(0, std::move(shape));
  return {};
}

Status scalar_output(InferContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_shape(i, Shape());
  return {};
}

Status no_outputs(InferContext&) { return {}; }

Status unknown_outputs(InferContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_shape(i, Shape::unknown_rank());
  return {};
}

Result<int> normalized_axis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    return invalid_argument("axis ", axis, " is out of valid range [", -rank, ", ", rank, ")");
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Result<InlineVector<int, 6>> normalized_axes(const Tensor& axes, int rank) {
  InlineVector<int, 6> normalized;
  for (int64_t i = 0; i < axes.num_elements(); ++i) {
    int64_t axis =
        axes.dtype() == DType::kInt32 ? axes.data<int32_t>()[i] : axes.data<int64_t>()[i];
    ASSIGN_OR_RETURN(int positive, normalized_axis(axis, rank));
    normalized.push_back(positive);
  }
  return normalized;
}

Status reduction_shape(InferContext& c) {
  AttrValue kept = c.raw_attrs().get("keep_dims");
  bool keep_dims = std::holds_alternative<bool>(kept) && std::get<bool>(kept);
  const Shape& x = c.shape(0);
  Tensor axes = c.value(1);
  if (!x.has_rank()) {
    c.set_shape(0, Shape::unknown_rank());
    return {};
  }
  if (!axes) {
    Shape out = Shape::unknown_rank();
    if (keep_dims) {
      out = Shape();
      for (int i = 0; i < x.rank(); ++i) out.push_back(Dim::unknown());
    }
    c.set_shape(0, out);
    return {};
  }
  if (axes.rank() > 1)
    return invalid_argument("axes must be a scalar or a vector, not of rank ", axes.rank());
  auto reduced = normalized_axes(axes, x.rank());
  if (!reduced.ok()) {
    return reduced.status().with_prefix("Invalid reduction dimension: ");
  }
  InlineVector<bool, 6> is_reduced(static_cast<size_t>(x.rank()), false);
  for (int axis : *reduced) {
    if (is_reduced[axis]) {
      return invalid_argument("Invalid reduction arguments: Axes contains duplicate dimension: ",
                              axis);
    }
    is_reduced[axis] = true;
  }
  Shape out;
  for (int i = 0; i < x.rank(); ++i) {
    if (!is_reduced[i]) {
      out.push_back(x[i]);
    } else if (keep_dims) {
      out.push_back(1);
    }
  }
  c.set_shape(0, std::move(out));
  return {};
}

}  // namespace graven::engine
