#include "graven/function/type_text.h"

#include <algorithm>
#include <variant>

#include "graven/base/strings.h"
#include "graven/function/class_name.h"
#include "graven/function/composite_type.h"

namespace graven::engine {
namespace {

constexpr size_t kMaxText = 200, kMaxSignature = 400;

bool is_opaque(const Literal& literal) { return std::holds_alternative<Ref<Opaque>>(literal); }

std::string of_class(std::string_view what, const RefCounted* object) {
  const auto* named = dynamic_cast<const HasClassName*>(object);
  return named ? str_cat(what, " of class ", named->class_name()) : std::string(what);
}

std::string tensor_text(DType dtype, const Shape& shape) {
  std::vector<std::string> dims;
  for (Dim dim : shape.dims()) dims.push_back(dim.is_number() ? str_cat(dim.number()) : "None");
  return str_cat(dtype_name(dtype), "[", shape.has_rank() ? str_join(dims, ", ") : "...", "]");
}

std::string key_text(const Literal& key) { return is_opaque(key) ? "..." : literal_repr(key); }

// The name of a field stands in quotes as a literal.
std::string field_text(const Literal& name) {
  const std::string quoted = key_text(name);
  return quoted.size() > 2 && !is_opaque(name) ? quoted.substr(1, quoted.size() - 2) : quoted;
}

std::string step_text(const Container& container, size_t position) {
  const auto& keys = container.keys();
  if (keys.empty()) return str_cat("[", position, "]");
  if (container.is_mapping()) return str_cat("[", key_text(keys[position]), "]");
  return str_cat(".", field_text(keys[position]));
}

// type_text of any length.
std::string whole_text(const TraceType& type) {
  switch (type.kind()) {
    case TraceType::Kind::kTensor: {
      const auto& tensor = static_cast<const TensorType&>(type);
      return tensor_text(tensor.dtype(), tensor.shape());
    }
    case TraceType::Kind::kVariable: {
      const auto& variable = static_cast<const VariableType&>(type);
      return str_cat(variable.trainable() ? "variable " : "untrainable variable ",
                     tensor_text(variable.dtype(), variable.shape()));
    }
    case TraceType::Kind::kLiteral: {
      const Literal& literal = static_cast<const LiteralType&>(type).literal();
      const auto* object = std::get_if<Ref<Opaque>>(&literal);
      return object ? of_class("an object", object->get()) : literal_repr(literal);
    }
    case TraceType::Kind::kContainer: {
      const auto& container = static_cast<const ContainerType&>(type);
      constexpr std::string_view kNames[] = {"a list", "a tuple", "a named tuple",
                                             "an attrs object", "a dict"};
      return str_cat(kNames[static_cast<int>(container.container()->kind())], " of ",
                     container.items().size(), " items");
    }
    case TraceType::Kind::kObject:
      return of_class("an object", static_cast<const ObjectType&>(type).object().get());
    case TraceType::Kind::kForeign:
      break;
  }
  const std::string spec = spec_text(type);
  return spec.empty() ? of_class("a value with a TraceType", &type) : with_short_types(spec);
}

// With what containers hold.
std::string nested_text(const TraceType& type) {
  if (type.kind() != TraceType::Kind::kContainer) return type_text(type);
  const auto& all = static_cast<const ContainerType&>(type);
  const Container& container = *all.container();
  std::vector<std::string> items;
  for (size_t i = 0; i < all.items().size(); ++i) {
    std::string item = nested_text(*all.items()[i]);
    if (!container.keys().empty()) {
      const Literal& key = container.keys()[i];
      item = container.is_mapping() ? str_cat(key_text(key), ": ", item)
                                    : str_cat(field_text(key), "=", item);
    }
    items.push_back(std::move(item));
  }
  const std::string inside = str_join(items, ", ");
  if (container.is_mapping()) return str_cat("{", inside, "}");
  if (container.kind() == ContainerKind::kList) return str_cat("[", inside, "]");
  return str_cat("(", inside, items.size() == 1 && container.keys().empty() ? ",)" : ")");
}

void add_leaves(const ArgumentPath& path, const TraceType& type, Leaves& leaves) {
  leaves.emplace_back(path.text(), whole_text(type));
  if (type.kind() != TraceType::Kind::kContainer) return;
  const auto& all = static_cast<const ContainerType&>(type);
  for (size_t i = 0; i < all.items().size(); ++i) {
    const size_t at = all.container()->position(i);  // in whatever order a dict was filled
    add_leaves({&path, all.container().get(), at}, *all.items()[at], leaves);
  }
}

}  // namespace

std::string ArgumentPath::text() const {
  return outer ? outer->text() + step_text(*container, position) : *parameter;
}

bool is_uncertain(const TraceType& type) {
  switch (type.kind()) {
    case TraceType::Kind::kForeign: {
      const auto* composite = dynamic_cast<const CompositeType*>(&type);
      return !composite || !composite->is_spec();
    }
    case TraceType::Kind::kObject:
      return true;
    case TraceType::Kind::kLiteral:
      return is_opaque(static_cast<const LiteralType&>(type).literal());
    case TraceType::Kind::kContainer:
      return std::ranges::any_of(static_cast<const ContainerType&>(type).container()->keys(),
                                 is_opaque);
    default:
      return false;
  }
}

std::string spec_text(const TraceType& type) {
  const auto* composite = dynamic_cast<const CompositeType*>(&type);
  return composite ? composite->spec_text() : "";
}

std::string type_text(const TraceType& type) { return shortened(whole_text(type), kMaxText); }

std::string with_short_types(std::string_view text) {
  constexpr std::string_view kBegin = "TensorSpec(shape=", kDtype = ", dtype=tf.",
                             kName = ", name=";
  std::string out;
  if (auto result = text.rfind(") -> "); result != text.npos) text = text.substr(0, result + 1);
  for (;;) {
    const size_t at = text.find(kBegin);
    const size_t dtype = at == text.npos ? at : text.find(kDtype, at);
    const size_t name = dtype == text.npos ? dtype : text.find(kName, dtype);
    const size_t end = name == text.npos ? name : text.find(')', name);
    if (end == text.npos) break;
    std::string_view shape = text.substr(at + kBegin.size(), dtype - at - kBegin.size());
    if (shape.starts_with('(')) shape = shape.substr(1, shape.size() - 2);
    if (shape.ends_with(',')) shape.remove_suffix(1);
    out += text.substr(0, at);
    out += text.substr(dtype + kDtype.size(), name - dtype - kDtype.size());
    out += str_cat("[", shape, "]");
    text = text.substr(end + 1);
  }
  out += text;
  return out;
}

std::string signature_text(const FunctionType& type) {
  std::vector<std::string> parameters;
  for (const Parameter& p : type.parameters) {
    parameters.push_back(str_cat(p.name, ": ", p.type ? nested_text(*p.type) : "..."));
  }
  return shortened(str_cat("(", str_join(parameters, ", "), ")"), kMaxSignature);
}

Leaves leaves_of(const FunctionType& type) {
  Leaves leaves;
  for (const Parameter& p : type.parameters) add_leaves({.parameter = &p.name}, *p.type, leaves);
  return leaves;
}

std::string sizes_text(const FunctionType& type, std::span<const ArgumentSize> sizes) {
  std::string text;
  uint32_t first = 0;  // tensor of the parameter
  for (const Parameter& parameter : type.parameters) {
    std::vector<Shape> shapes;
    parameter.type->add_shapes(shapes);
    const auto end = first + static_cast<uint32_t>(shapes.size());
    for (ArgumentSize at : sizes) {
      if (at.tensor < first || at.tensor >= end) continue;
      const std::string part =
          shapes.size() == 1 ? "" : str_cat("'s tensor ", at.tensor - first, ": ");
      text += str_cat(text.empty() ? "" : ", ", parameter.name, part, ".shape[", at.dimension, "]");
    }
    first = end;
  }
  return text;
}

}  // namespace graven::engine
