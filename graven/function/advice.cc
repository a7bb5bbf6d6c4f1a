#include "graven/function/advice.h"

#include <limits>
#include <optional>
#include <variant>
#include <vector>

#include "graven/base/strings.h"
#include "graven/function/composite_type.h"
#include "graven/function/type_text.h"

namespace graven::engine {
namespace {

using Kind = TraceType::Kind;

// The name of an enumerator of DType: kFloat32, kUInt8, kBFloat16.
std::string dtype_enumerator(DType dtype) {
  if (dtype == DType::kHalf) return "kHalf";
  std::string name(dtype_name(dtype));
  size_t capitals = name.starts_with("uint") ? 2 : name.starts_with("bfloat") ? 2 : 1;
  for (size_t i = 0; i < capitals; ++i) {
    name[i] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[i])));
  }
  return "k" + name;
}

struct Speech {
  Language language;

  std::string spec(const TensorType& type) const {
    const Shape& shape = type.shape();
    const bool is_python = language == Language::kPython;
    std::vector<std::string> dims;
    for (Dim dim : shape.dims()) {
      dims.push_back(dim.is_number() ? str_cat(dim.number())
                     : is_python     ? "None"
                                     : "Dim::unknown()");
    }
    const std::string list = str_join(dims, ", ");
    if (is_python) {
      const std::string sizes = str_cat("(", list, dims.size() == 1 ? ",)" : ")");
      return str_cat("tf.TensorSpec(shape=", shape.has_rank() ? sizes : "None", ", dtype=tf.",
                     dtype_name(type.dtype()), ")");
    }
    return str_cat("TensorSpec{",
                   shape.has_rank() ? str_cat("Shape{", list, "}") : "Shape::unknown_rank()",
                   ", DType::", dtype_enumerator(type.dtype()), "}");
  }
  std::string signature(const std::vector<std::string>& specs) const {
    const std::string list = str_join(specs, ", ");
    return language == Language::kPython ? str_cat("input_signature=[", list, "]")
                                         : str_cat(".input_signature = {{", list, "}}");
  }
  std::string reduce_retracing() const {
    return language == Language::kPython ? "reduce_retracing=True" : ".reduce_retracing = true";
  }
  std::string cast(const std::string& path, DType dtype) const {
    return language == Language::kPython
               ? str_cat("tf.cast(", path, ", tf.", dtype_name(dtype), ")")
               : str_cat("graven::cast(", path, ", DType::", dtype_enumerator(dtype), ")");
  }
};

const Literal* literal_of(const TraceType& type) {
  return type.kind() == Kind::kLiteral ? &static_cast<const LiteralType&>(type).literal() : nullptr;
}

// The dtype that a Python value gets as a tensor; none for None and objects.
std::optional<DType> dtype_of(const Literal& literal) {
  if (std::holds_alternative<bool>(literal)) return DType::kBool;
  if (const auto* number = std::get_if<int64_t>(&literal)) {
    const bool is_short = *number >= std::numeric_limits<int32_t>::min() &&
                          *number <= std::numeric_limits<int32_t>::max();
    return is_short ? DType::kInt32 : DType::kInt64;
  }
  if (std::holds_alternative<double>(literal)) return DType::kFloat32;
  if (std::holds_alternative<std::complex<double>>(literal)) return DType::kComplex128;
  if (std::holds_alternative<std::string>(literal)) return DType::kString;
  if (std::holds_alternative<Bytes>(literal)) return DType::kString;
  return std::nullopt;
}

// The type of a tensor that could stand for both leaves; null if there is none.
Ref<const TensorType> tensor_for_both(const TraceType& now, const TraceType& before) {
  if (now.kind() == Kind::kTensor && before.kind() == Kind::kTensor) {
    TraceTypeRef common = now.common_supertype(before);
    return Ref<const TensorType>(static_cast<const TensorType*>(common.get()));
  }
  const Literal *a = literal_of(now), *b = literal_of(before);
  auto of_literal = [](const Literal& literal) -> Ref<const TensorType> {
    auto dtype = dtype_of(literal);
    return dtype ? make_ref<TensorType>(Shape(), *dtype) : nullptr;
  };
  if (a && b) {
    auto first = dtype_of(*a), second = dtype_of(*b);
    if (!first || !second) return nullptr;
    if (*first == *second) return of_literal(*a);
    const bool has_text = *first == DType::kString || *second == DType::kString;
    const bool has_bool = *first == DType::kBool || *second == DType::kBool;
    if (has_text || has_bool) return nullptr;
    const bool has_float = *first == DType::kFloat32 || *second == DType::kFloat32;
    return make_ref<TensorType>(Shape(), has_float ? DType::kFloat32 : DType::kInt64);
  }
  if (a && before.kind() == Kind::kTensor && dtype_of(*a)) {
    return Ref<const TensorType>(static_cast<const TensorType*>(&before));
  }
  if (b && now.kind() == Kind::kTensor && dtype_of(*b)) {
    return Ref<const TensorType>(static_cast<const TensorType*>(&now));
  }
  return nullptr;
}

// The spec of what could stand for both leaves; none if there is none.
std::optional<std::string> spec_for_both(const TraceType& now, const TraceType& before,
                                         Speech speech) {
  if (auto tensor = tensor_for_both(now, before)) return speech.spec(*tensor);
  if (now.kind() != Kind::kForeign || before.kind() != Kind::kForeign) return std::nullopt;
  const TraceTypeRef common = now.common_supertype(before);
  const auto* composite = dynamic_cast<const CompositeType*>(common.get());
  const std::string code = composite ? composite->spec_code() : "";
  return code.empty() ? std::nullopt : std::optional(code);
}

// The specs of an input_signature for both calls; none if an argument is no tensor, and could not
// be one.
std::optional<std::vector<std::string>> specs_for_both(const FunctionType& call,
                                                       const FunctionType& entry, Speech speech) {
  std::vector<std::string> specs;
  for (size_t i = 0; i < call.parameters.size(); ++i) {
    const Parameter &now = call.parameters[i], &before = entry.parameters[i];
    const bool is_literal = now.type->kind() == Kind::kLiteral;
    // A literal that is the same in both calls may choose between ways to compute.
    if (now.kind == ParameterKind::kKeywordOnly || (is_literal && now.type->equals(*before.type))) {
      return std::nullopt;
    }
    auto both = spec_for_both(*now.type, *before.type, speech);
    if (!both) return std::nullopt;
    specs.push_back(std::move(*both));
  }
  return specs;
}

}  // namespace

std::string advice_for(const std::string& path, const TraceType& now, const TraceType& before,
                       const FunctionType& call, const FunctionType& entry, Language language) {
  const Speech speech{language};
  const bool are_tensors = now.kind() == Kind::kTensor && before.kind() == Kind::kTensor;
  const bool are_composites = now.kind() == Kind::kForeign && before.kind() == Kind::kForeign;
  const auto both = tensor_for_both(now, before);
  const auto spec = spec_for_both(now, before, speech);
  if (are_tensors && !both) {
    return str_cat("Give ", path, " one dtype, by ",
                   speech.cast(path, static_cast<const TensorType&>(before).dtype()),
                   " before the call.");
  }
  if (are_tensors || (are_composites && spec)) {
    const auto specs = specs_for_both(call, entry, speech);
    const std::string ready =
        specs ? speech.signature(*specs)
              : str_cat("get_concrete_function with ", *spec, " in the place of ", path);
    return str_cat("One trace serves all of these: ", ready, ", or ", speech.reduce_retracing(),
                   ".");
  }
  if (both && both->dtype() == DType::kString) {
    return str_cat(
        "Each text is a trace of its own. If the graph computes with it, pass a tensor, ",
        speech.spec(*both), ".");
  }
  if (both) {
    const bool are_literals = literal_of(now) && literal_of(before);
    return str_cat(
        are_literals ? "Each value of a plain number is a trace of its own. Pass " : "Pass ", path,
        are_literals ? " as a tensor, " : " always as a tensor, ", speech.spec(*both), ".");
  }
  if (now.kind() == Kind::kContainer && before.kind() == Kind::kContainer) {
    return str_cat(
        "Another structure is a trace of its own. Items that are alike can be one tensor "
        "with an unknown first size in the place of ",
        path, ".");
  }
  return "";
}

std::string advice_for_read_sizes(Language language) {
  return str_cat("Each number of a size that the body reads is a trace of its own. ",
                 language == Language::kPython ? "tf.shape(x)" : "graven::shape(x)",
                 " has the sizes as a tensor, which serves all of them.");
}

std::string advice_for_open_sizes() {
  return "None needed: the trace would leave the sizes open that differ, and serve others too, "
         "unless the body reads them.";
}

std::string advice_beside_open_sizes(int64_t number) {
  return str_cat("None needed for calls: trace #", number,
                 " leaves these sizes open, and serves them all. get_concrete_function does not "
                 "give it, and a spec of unknown sizes would make one trace more.");
}

std::string advice_for_watched(Language language) {
  return language == Language::kPython
             ? "A value that changes often is better an argument that is a tensor, or a "
               "tf.Variable."
             : "A value that changes often is better an argument that is a tensor, or a Variable.";
}

std::string advice_for_own_types(Language language) {
  const std::string covers =
      language == Language::kPython
          ? "is_subtype_of tells which others a trace serves, most_specific_common_supertype"
          : "is_subtype_of tells which others a trace serves, common_supertype";
  return str_cat("The TraceType of the value decides: ", covers,
                 " with which of them it has a type in common.");
}

std::string advice_for_objects(Language language) {
  return language == Language::kPython
             ? "An object is known by identity unless its class defines __eq__ and __hash__: make "
               "it once and pass it again, or pass the tensors that it holds."
             : "Pass the same object again, or the tensors that it holds.";
}

}  // namespace graven::engine
