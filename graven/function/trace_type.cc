#include "graven/function/trace_type.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "graven/base/hash.h"
#include "graven/base/strings.h"
#include "graven/ir/graph.h"

namespace graven::engine {
namespace {

// True for a name that the graph takes as it is.
bool is_legal_op_name(std::string_view name) {
  if (name.empty()) return false;
  auto is_alnum = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (!is_alnum(name[0]) && name[0] != '.') return false;
  return std::all_of(name.begin(), name.end(), [&](char c) {
    return is_alnum(c) || std::string_view("_.\\/>-").find(c) != std::string_view::npos;
  });
}

// A shape of a type: sizes only, no symbols of some graph.
Shape without_terms(const Shape& shape) {
  if (!shape.has_rank()) return shape;
  Shape plain;
  for (Dim dim : shape.dims()) plain.push_back(dim.is_number() ? dim : Dim::unknown());
  return plain;
}

uint64_t hash_of_shape(const Shape& shape) {
  uint64_t h = shape.has_rank();
  for (Dim dim : shape.dims())
    h = hash_combine(h, static_cast<uint64_t>(dim.number_or_minus_one()));
  return h;
}

// Equal literals of whatever kinds have one hash. None if users' code compares them.
std::optional<uint64_t> hash_of_literal(const Literal& literal) {
  auto of_number = [](double number) {
    if (number != number) return uint64_t{3};
    return hash_combine(2, std::bit_cast<uint64_t>(number + 0.0));  // zeros of both signs are one
  };
  if (std::holds_alternative<None>(literal)) return 1;
  if (const auto* v = std::get_if<bool>(&literal)) return of_number(*v);
  if (const auto* v = std::get_if<int64_t>(&literal)) return of_number(static_cast<double>(*v));
  if (const auto* v = std::get_if<double>(&literal)) return of_number(*v);
  if (const auto* v = std::get_if<std::complex<double>>(&literal)) {
    if (*v != *v) return of_number(std::numeric_limits<double>::quiet_NaN());
    return v->imag() == 0 ? of_number(v->real())
                          : hash_combine(of_number(v->real()), of_number(v->imag()));
  }
  if (const auto* v = std::get_if<std::string>(&literal)) return hash_text(*v);
  if (const auto* v = std::get_if<Bytes>(&literal)) return hash_text(v->data) + 1;
  return std::nullopt;
}

}  // namespace

int TypingContext::alias_of(const Resource* variable) {
  auto at = std::find(variables.begin(), variables.end(), variable);
  if (at == variables.end()) {
    variables.push_back(variable);
    return static_cast<int>(variables.size()) - 1;
  }
  return static_cast<int>(at - variables.begin());
}

Result<TraceTypeRef> type_of(const Value& value, TypingContext& context) {
  using Kind = Value::Kind;
  switch (value.kind) {
    case Kind::kTensor:
      return TraceTypeRef(
          make_ref<TensorType>(without_terms(value.tensor.shape()), value.tensor.dtype()));
    case Kind::kVariable: {
      // A handle that is symbolic has no resource yet; it is its own alias.
      const void* identity = value.tensor.is_symbolic()
                                 ? static_cast<const void*>(value.object.get())
                                 : value.tensor.resource().get();
      int alias = context.alias_of(static_cast<const Resource*>(identity));
      const auto* type = static_cast<const VariableType*>(value.type.get());
      return TraceTypeRef(
          make_ref<VariableType>(type->shape(), type->dtype(), type->trainable(), alias, value));
    }
    case Kind::kLiteral:
      return TraceTypeRef(
          make_ref<LiteralType>(value.literal, context.literals_equal_as_numbers, value.object));
    case Kind::kObject:
      return TraceTypeRef(make_ref<ObjectType>(value.object));
    case Kind::kTyped:
      return own_type_of(value);
    case Kind::kContainer: {
      // In the order of feeding, in which aliases are numbered.
      std::vector<TraceTypeRef> types(value.items.size());
      for (size_t i = 0; i < types.size(); ++i) {
        const size_t at = value.container->position(i);
        ASSIGN_OR_RETURN(types[at], type_of(value.items[at], context));
      }
      return TraceTypeRef(make_ref<ContainerType>(value.container, std::move(types)));
    }
  }
  return internal_error("A value of no kind");
}

// --- TensorType

bool TensorType::is_subtype_of(const TraceType& other) const {
  if (other.kind() != Kind::kTensor) return false;
  const auto& t = static_cast<const TensorType&>(other);
  return dtype_ == t.dtype_ && is_subshape(shape_, t.shape_) && (!name_ || name_ == t.name_);
}

TraceTypeRef TensorType::common_supertype(const TraceType& other) const {
  if (other.kind() != Kind::kTensor) return nullptr;
  const auto& t = static_cast<const TensorType&>(other);
  if (dtype_ != t.dtype_ || name_ != t.name_) return nullptr;
  return make_ref<TensorType>(common_supershape(shape_, t.shape_), dtype_, name_);
}

bool TensorType::equals(const TraceType& other) const {
  if (other.kind() != Kind::kTensor) return false;
  const auto& t = static_cast<const TensorType&>(other);
  return dtype_ == t.dtype_ && shape_ == t.shape_ && name_ == t.name_;
}

uint64_t TensorType::hash() const {
  return hash_combine(hash_of_shape(shape_), static_cast<uint64_t>(dtype_));
}

std::optional<uint64_t> TensorType::skeleton() const {
  return hash_combine(static_cast<uint64_t>(Kind::kTensor), static_cast<uint64_t>(dtype_));
}

std::string TensorType::repr() const {
  return str_cat("TensorSpec(shape=", shape_.to_text(), ", dtype=tf.", dtype_name(dtype_),
                 ", name=", name_ ? literal_repr(*name_) : "None", ")");
}

Result<Value> TensorType::placeholder(PlaceholderContext& context) const {
  std::string wished = name_.value_or(context.name);
  Tensor tensor = context.builder.add_placeholder(
      dtype_, shape_, is_legal_op_name(wished) ? wished : "Placeholder");
  context.builder.graph()->set_attribute(&symbolic(tensor).node(), "_user_specified_name", wished);
  return Value::of_tensor(std::move(tensor));
}

Status TensorType::to_tensors(const Value& value, std::vector<Tensor>& tensors) const {
  if (value.kind != Value::Kind::kTensor && value.kind != Value::Kind::kVariable) {
    return type_error("Expected a tensor for ", repr());
  }
  tensors.push_back(value.tensor);
  return {};
}

TraceTypeRef TensorType::with_shapes(std::span<const Shape>& shapes) const {
  const Shape& shape = shapes.front();
  shapes = shapes.subspan(1);
  return make_ref<TensorType>(shape, dtype_, name_);
}

// --- VariableType

TraceTypeRef VariableType::with_shapes(std::span<const Shape>& shapes) const {
  const Shape& shape = shapes.front();
  shapes = shapes.subspan(1);
  return make_ref<VariableType>(shape, dtype_, trainable_, alias_, example_);
}

TraceTypeRef VariableType::for_keeping() const {
  return make_ref<VariableType>(shape_, dtype_, trainable_, alias_, Value());
}

bool VariableType::is_subtype_of(const TraceType& other) const {
  if (other.kind() != Kind::kVariable) return false;
  const auto& v = static_cast<const VariableType&>(other);
  return dtype_ == v.dtype_ && trainable_ == v.trainable_ && alias_ == v.alias_ &&
         is_subshape(shape_, v.shape_);
}

TraceTypeRef VariableType::common_supertype(const TraceType& other) const {
  if (other.kind() != Kind::kVariable) return nullptr;
  const auto& v = static_cast<const VariableType&>(other);
  if (dtype_ != v.dtype_ || trainable_ != v.trainable_ || alias_ != v.alias_) return nullptr;
  return make_ref<VariableType>(common_supershape(shape_, v.shape_), dtype_, trainable_, alias_,
                                example_);
}

bool VariableType::equals(const TraceType& other) const {
  if (other.kind() != Kind::kVariable) return false;
  const auto& v = static_cast<const VariableType&>(other);
  return dtype_ == v.dtype_ && trainable_ == v.trainable_ && alias_ == v.alias_ &&
         shape_ == v.shape_;
}

uint64_t VariableType::hash() const {
  uint64_t h = hash_combine(hash_of_shape(shape_), static_cast<uint64_t>(dtype_));
  return hash_combine(h, static_cast<uint64_t>(alias_) * 2 + trainable_);
}

std::optional<uint64_t> VariableType::skeleton() const {
  uint64_t h = hash_combine(static_cast<uint64_t>(Kind::kVariable), static_cast<uint64_t>(dtype_));
  return hash_combine(h, static_cast<uint64_t>(alias_) * 2 + trainable_);
}

std::string VariableType::repr() const {
  return str_cat("VariableSpec(shape=", shape_.to_text(), ", dtype=tf.", dtype_name(dtype_),
                 ", trainable=", trainable_ ? "True" : "False", ", alias_id=", alias_, ")");
}

// The body gets the variable of the tracing call; its handle becomes an input of the graph.
Result<Value> VariableType::placeholder(PlaceholderContext& context) const {
  auto [at, is_new] = context.variables.try_emplace(alias_, example_);
  if (is_new) {
    Tensor handle = context.builder.add_placeholder(DType::kResource, Shape(), context.name,
                                                    HandleData{dtype_, shape_});
    context.builder.graph()->set_attribute(&symbolic(handle).node(), "_user_specified_name",
                                           context.name);
    context.builder.bind_capture(example_.tensor, handle);
  }
  return at->second;
}

Status VariableType::to_tensors(const Value& value, std::vector<Tensor>& tensors) const {
  // An alias is fed once: its handle is there already.
  bool is_fed = std::any_of(tensors.begin(), tensors.end(), [&](const Tensor& fed) {
    if (fed == value.tensor) return true;
    return fed.dtype() == DType::kResource && !fed.is_symbolic() && !value.tensor.is_symbolic() &&
           fed.resource() == value.tensor.resource();
  });
  if (!is_fed) tensors.push_back(value.tensor);
  return {};
}

// --- LiteralType

TraceTypeRef LiteralType::common_supertype(const TraceType& other) const {
  if (!equals(other)) return nullptr;
  return TraceTypeRef(this);
}

bool LiteralType::equals(const TraceType& other) const {
  if (other.kind() != Kind::kLiteral) return false;
  const Literal& literal = static_cast<const LiteralType&>(other).literal_;
  return equal_as_numbers_ ? literals_equal_as_numbers(literal_, literal)
                           : literals_identical(literal_, literal);
}

uint64_t LiteralType::hash() const {
  // Equal numbers of different types must have one hash.
  if (const auto* v = std::get_if<std::string>(&literal_)) return hash_text(*v);
  if (const auto* v = std::get_if<Bytes>(&literal_)) return hash_text(v->data) + 1;
  if (const auto* v = std::get_if<int64_t>(&literal_)) {
    return hash_combine(2, static_cast<uint64_t>(static_cast<double>(*v)));
  }
  return 0;
}

std::optional<uint64_t> LiteralType::skeleton() const { return hash_of_literal(literal_); }

std::string LiteralType::repr() const { return str_cat("Literal[", literal_repr(literal_), "]"); }

Result<Value> LiteralType::placeholder(PlaceholderContext&) const {
  if (const auto* v = std::get_if<double>(&literal_); v && *v != *v) {
    return Value::of_literal(std::numeric_limits<double>::quiet_NaN());
  }
  if (const auto* z = std::get_if<std::complex<double>>(&literal_); z && *z != *z) {
    return Value::of_literal(std::numeric_limits<double>::quiet_NaN());
  }
  Value value = Value::of_literal(literal_);
  value.object = original_;
  return value;
}

// --- ContainerType

TraceTypeRef ContainerType::for_keeping() const {
  std::vector<TraceTypeRef> items;
  for (const TraceTypeRef& item : items_) items.push_back(item->for_keeping());
  return make_ref<ContainerType>(container_, std::move(items));
}

std::optional<std::vector<const TraceType*>> ContainerType::matching_items(
    const TraceType& other) const {
  if (other.kind() != Kind::kContainer) return std::nullopt;
  const auto& c = static_cast<const ContainerType&>(other);
  if (items_.size() != c.items_.size() || !container_->is_like(*c.container_)) return std::nullopt;
  std::vector<const TraceType*> found;
  for (size_t i = 0; i < items_.size(); ++i) {
    const int at = c.container_->matching_position(*container_, i);
    if (at < 0) return std::nullopt;  // a key whose == says something else each time
    found.push_back(c.items_[at].get());
  }
  return found;
}

bool ContainerType::is_subtype_of(const TraceType& other) const {
  auto others = matching_items(other);
  return others && std::ranges::equal(items_, *others, [](const auto& own, const auto* theirs) {
           return own->is_subtype_of(*theirs);
         });
}

TraceTypeRef ContainerType::common_supertype(const TraceType& other) const {
  auto others = matching_items(other);
  if (!others) return nullptr;
  std::vector<TraceTypeRef> items;
  for (size_t i = 0; i < items_.size(); ++i) {
    items.push_back(items_[i]->common_supertype(*(*others)[i]));
    if (!items.back()) return nullptr;
  }
  return make_ref<ContainerType>(container_, std::move(items));
}

bool ContainerType::equals(const TraceType& other) const {
  auto others = matching_items(other);
  return others && std::ranges::equal(items_, *others, [](const auto& own, const auto* theirs) {
           return own->equals(*theirs);
         });
}

// Sums, as the order of a dict's keys does not count.
uint64_t ContainerType::hash() const {
  uint64_t h = hash_combine(static_cast<uint64_t>(container_->kind()), items_.size());
  for (const TraceTypeRef& item : items_) h += item->hash();
  return h;
}

std::optional<uint64_t> ContainerType::skeleton() const {
  uint64_t h = hash_combine(static_cast<uint64_t>(Kind::kContainer), items_.size());
  h = hash_combine(h, static_cast<uint64_t>(container_->kind()));
  for (size_t i = 0; i < items_.size(); ++i) {
    std::optional<uint64_t> label =
        container_->is_mapping() ? hash_of_literal(container_->keys()[i]) : i;
    std::optional<uint64_t> item = items_[i]->skeleton();
    if (!label || !item) return std::nullopt;
    h += hash_combine(*label, *item);
  }
  return h;
}

void ContainerType::add_shapes(std::vector<Shape>& shapes) const {
  for (size_t i = 0; i < items_.size(); ++i) {
    items_[container_->position(i)]->add_shapes(shapes);
  }
}

TraceTypeRef ContainerType::with_shapes(std::span<const Shape>& shapes) const {
  std::vector<TraceTypeRef> items(items_.size());
  for (size_t i = 0; i < items_.size(); ++i) {
    const size_t at = container_->position(i);
    items[at] = items_[at]->with_shapes(shapes);
  }
  return make_ref<ContainerType>(container_, std::move(items));
}

std::string ContainerType::repr() const {
  std::vector<std::string> items;
  for (const TraceTypeRef& item : items_) items.push_back(item->repr());
  return container_->to_text(items);
}

Result<Value> ContainerType::placeholder(PlaceholderContext& context) const {
  std::vector<Value> items(items_.size());
  for (size_t i = 0; i < items.size(); ++i) {
    const size_t at = container_->position(i);
    ASSIGN_OR_RETURN(items[at], items_[at]->placeholder(context));
  }
  return Value::of_container(container_, std::move(items));
}

Status ContainerType::to_tensors(const Value& value, std::vector<Tensor>& tensors) const {
  if (!value.container || value.items.size() != items_.size()) {
    return type_error("Expected ", items_.size(), " items for ", repr(), ", got ",
                      value.items.size());
  }
  for (size_t i = 0; i < items_.size(); ++i) {
    const size_t from = value.container->position(i);
    const int at = container_->matching_position(*value.container, from);
    if (at < 0) {
      return type_error("Unexpected key ", literal_repr(value.container->keys()[from]), " for ",
                        repr());
    }
    RETURN_IF_ERROR(items_[at]->to_tensors(value.items[from], tensors));
  }
  return {};
}

// --- ObjectType

TraceTypeRef ObjectType::common_supertype(const TraceType& other) const {
  if (!equals(other)) return nullptr;
  return TraceTypeRef(this);
}

bool ObjectType::equals(const TraceType& other) const {
  if (other.kind() != Kind::kObject) return false;
  const auto& o = static_cast<const ObjectType&>(other);
  return object_->is_alive() && o.object_->is_alive() && object_->equals(*o.object_);
}

std::optional<uint64_t> ObjectType::skeleton() const {
  return hash_combine(static_cast<uint64_t>(Kind::kObject), object_->hash());
}

std::string ObjectType::repr() const { return object_->repr(); }

Result<Value> ObjectType::placeholder(PlaceholderContext&) const {
  Value value;
  value.kind = Value::Kind::kObject;
  value.object = object_;
  return value;
}

// --- FunctionType

std::string_view parameter_kind_name(ParameterKind kind) {
  constexpr std::string_view kNames[] = {"POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD",
                                         "VAR_POSITIONAL", "KEYWORD_ONLY", "VAR_KEYWORD"};
  return kNames[static_cast<int>(kind)];
}

bool operator==(const Parameter& a, const Parameter& b) {
  if (a.name != b.name || a.kind != b.kind || a.optional != b.optional) return false;
  if (!a.type || !b.type) return !a.type && !b.type;
  return a.type->equals(*b.type);
}

bool FunctionType::equals(const FunctionType& other) const {
  return parameters == other.parameters;
}

bool FunctionType::is_subtype_of(const FunctionType& other) const {
  if (parameters.size() != other.parameters.size()) return false;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter &a = parameters[i], &b = other.parameters[i];
    if (a.name != b.name || a.kind != b.kind || a.optional != b.optional) return false;
    if (!a.type->is_subtype_of(*b.type)) return false;
  }
  return true;
}

std::optional<FunctionType> FunctionType::common_supertype(const FunctionType& other) const {
  if (parameters.size() != other.parameters.size()) return std::nullopt;
  FunctionType common;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter &a = parameters[i], &b = other.parameters[i];
    if (a.name != b.name || a.kind != b.kind || a.optional != b.optional) return std::nullopt;
    TraceTypeRef type = a.type->common_supertype(*b.type);
    if (!type) return std::nullopt;
    common.parameters.push_back({a.name, a.kind, a.optional, std::move(type)});
  }
  return common;
}

uint64_t FunctionType::hash() const {
  uint64_t h = parameters.size();
  for (const Parameter& p : parameters) {
    h = hash_combine(hash_combine(h, hash_text(p.name)), p.type ? p.type->hash() : 0);
  }
  return h;
}

std::optional<uint64_t> FunctionType::skeleton() const {
  uint64_t h = parameters.size();
  for (const Parameter& p : parameters) {
    std::optional<uint64_t> type = p.type ? p.type->skeleton() : std::nullopt;
    if (!type) return std::nullopt;
    h = hash_combine(hash_combine(h, hash_text(p.name)), *type);
  }
  return h;
}

std::vector<Shape> FunctionType::shapes() const {
  std::vector<Shape> shapes;
  for (const Parameter& p : parameters) p.type->add_shapes(shapes);
  return shapes;
}

FunctionType FunctionType::with_shapes(std::span<const Shape> shapes) const {
  FunctionType type;
  for (const Parameter& p : parameters) {
    type.parameters.push_back({p.name, p.kind, p.optional, p.type->with_shapes(shapes)});
  }
  return type;
}

std::string FunctionType::signature() const {
  std::string out = "(";
  bool keyword_only = false;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& p = parameters[i];
    if (i) out += ", ";
    if (i && parameters[i - 1].kind == ParameterKind::kPositionalOnly &&
        p.kind != ParameterKind::kPositionalOnly) {
      out += "/, ";
    }
    if (p.kind == ParameterKind::kKeywordOnly && !keyword_only) {
      bool after_star = i > 0 && parameters[i - 1].kind == ParameterKind::kVarPositional;
      if (!after_star) out += "*, ";
      keyword_only = true;
    }
    if (p.kind == ParameterKind::kVarPositional) out += "*";
    if (p.kind == ParameterKind::kVarKeyword) out += "**";
    out += p.name;
    if (p.type) out += str_cat(": ", p.type->repr());
    if (p.optional) out += p.type ? " = <captured_default_value>" : "=<captured_default_value>";
  }
  if (!parameters.empty() && parameters.back().kind == ParameterKind::kPositionalOnly) out += ", /";
  out += ")";
  if (output) out += str_cat(" -> ", output->repr());
  return out;
}

TraceTypeRef type_of_output(const Value& value) {
  TypingContext context;
  auto type = type_of(value, context);
  return type.ok() ? *type : TraceTypeRef();
}

}  // namespace graven::engine
