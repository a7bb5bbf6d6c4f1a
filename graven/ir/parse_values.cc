#include <algorithm>
#include <bit>
#include <complex>
#include <utility>

#include "graven/ir/graph_parser.h"

namespace graven::engine::graph_syntax {
namespace {

template <typename T>
constexpr size_t kKindOf = attributes_internal::kind_of<T>();

template <typename T>
Result<AttrValue> wrapped(Result<T> value) {
  if (!value.ok()) return value.status();
  return AttrValue(std::in_place_type<T>, std::move(*value));
}

}  // namespace

template <typename T>
Result<T> GraphParser::element() {
  if constexpr (std::is_same_v<T, bool>) {
    if (cursor_.accept_word("true")) return true;
    if (cursor_.accept_word("false")) return false;
    return cursor_.expected("true or false");
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    ASSIGN_OR_RETURN(float value, cursor_.number<float>());
    return T(value);
  } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                       std::is_same_v<T, std::complex<double>>) {
    using Part = typename T::value_type;
    ASSIGN_OR_RETURN(Part real, cursor_.number<Part>());
    bool is_minus = cursor_.accept("-");
    if (!is_minus) RETURN_IF_ERROR(cursor_.expect("+"));
    ASSIGN_OR_RETURN(Part imaginary, cursor_.number<Part>());
    RETURN_IF_ERROR(cursor_.expect("i"));
    return T(real, is_minus ? -imaginary : imaginary);
  } else {
    return cursor_.number<T>();
  }
}

// Elements up to `end`, which stays. An empty `end` means one element.
Result<Tensor> GraphParser::elements(DType dtype, const Shape& shape, std::string_view end) {
  auto count = shape.checked_num_elements();
  if (!count) return cursor_.error("the shape of a constant is not known");
  if (dtype == DType::kString) {
    std::vector<std::string> values;
    RETURN_IF_ERROR(list(end, [&]() -> Status {
      ASSIGN_OR_RETURN(values.emplace_back(), cursor_.string());
      return {};
    }));
    RETURN_IF_ERROR(must_be(*count, values.size()));
    ASSIGN_OR_RETURN(Tensor value, Tensor::allocate(dtype, shape));
    std::copy(values.begin(), values.end(), value.mutable_data<std::string>().begin());
    return value;
  }
  if (!is_plain(dtype)) {
    return cursor_.error("a constant of dtype ", dtype_name(dtype), " has no text");
  }
  if (cursor_.accept_word("hex")) return bytes(dtype, shape, *count);
  Tensor value;
  RETURN_IF_ERROR(visit_plain(dtype, [&](auto zero) -> Status {
    using T = decltype(zero);
    std::vector<T> values;
    RETURN_IF_ERROR(list(end, [&]() -> Status {
      ASSIGN_OR_RETURN(T element, this->element<T>());
      values.push_back(element);
      return {};
    }));
    RETURN_IF_ERROR(must_be(*count, values.size()));
    ASSIGN_OR_RETURN(value, Tensor::allocate(dtype, shape));
    std::copy(values.begin(), values.end(), value.mutable_data<T>().begin());
    return {};
  }));
  return value;
}

Status GraphParser::must_be(int64_t expected, size_t got) {
  if (static_cast<size_t>(expected) == got) return {};
  return cursor_.error("the type has ", expected, " elements, got ", got);
}

Result<Tensor> GraphParser::bytes(DType dtype, const Shape& shape, int64_t count) {
  ASSIGN_OR_RETURN(std::string digits, cursor_.string());
  size_t size = dtype_size(dtype);
  if (digits.size() % (2 * size) != 0) return cursor_.error("hex digits are missing");
  RETURN_IF_ERROR(must_be(count, digits.size() / (2 * size)));
  ASSIGN_OR_RETURN(Tensor value, Tensor::allocate(dtype, shape));
  auto* out = static_cast<unsigned char*>(value.mutable_raw_data());
  for (size_t i = 0; i < digits.size() / 2; ++i) {
    ASSIGN_OR_RETURN(out[i], cursor_.hex_byte(std::string_view(digits).substr(2 * i, 2)));
    if (dtype == DType::kBool && out[i] > 1) return cursor_.error("a bool is 00 or 01");
  }
  return value;
}

template <typename T, typename F>
Result<AttrValue> GraphParser::list_value(F&& one) {
  std::vector<T> values;
  RETURN_IF_ERROR(cursor_.expect("["));
  RETURN_IF_ERROR(list("]", [&]() -> Status {
    ASSIGN_OR_RETURN(T value, one());
    values.push_back(std::move(value));
    return {};
  }));
  RETURN_IF_ERROR(cursor_.expect("]"));
  return AttrValue(std::in_place_type<std::vector<T>>, std::move(values));
}

Result<double> GraphParser::double_value() {
  if (!cursor_.accept("nan(")) return cursor_.number<double>();
  ASSIGN_OR_RETURN(uint64_t bits, cursor_.number<uint64_t>());
  RETURN_IF_ERROR(cursor_.expect(")"));
  return std::bit_cast<double>(bits);
}

Result<DType> GraphParser::dtype_value() {
  if (cursor_.accept_word(dtype_name(DType::kInvalid))) return DType::kInvalid;
  return dtype();
}

Result<Tensor> GraphParser::tensor_value(Scope& scope) {
  if (cursor_.accept_word("none")) return Tensor();
  ASSIGN_OR_RETURN(DType type, dtype());
  ASSIGN_OR_RETURN(Shape shape, this->shape(scope));
  RETURN_IF_ERROR(cursor_.expect("("));
  ASSIGN_OR_RETURN(Tensor value, elements(type, shape, ")"));
  RETURN_IF_ERROR(cursor_.expect(")"));
  return value;
}

Result<Ref<Body>> GraphParser::body_value() {
  if (cursor_.accept_word("none")) return Ref<Body>();
  RETURN_IF_ERROR(cursor_.expect("@"));
  ASSIGN_OR_RETURN(std::string name, cursor_.name());
  return body(name);
}

Result<Ref<const Fusion>> GraphParser::fusion_value() {
  if (cursor_.accept_word("none")) return Ref<const Fusion>();
  RETURN_IF_ERROR(cursor_.expect("@"));
  ASSIGN_OR_RETURN(std::string name, cursor_.name());
  return fusion(name);
}

// The kind of value that stands here, by its word or its text.
Result<size_t> GraphParser::kind_of_value() {
  std::string_view word = cursor_.peek_word();
  for (size_t kind = 0; kind < std::size(kKindWords); ++kind) {
    if (!word.empty() && kKindWords[kind] == word) {
      (void)cursor_.word();
      return kind;
    }
  }
  if (cursor_.peek() == '"') return kKindOf<std::string>;
  if (word == "true" || word == "false") return kKindOf<bool>;
  if (dtype_from_name(word)) return kKindOf<DType>;
  size_t before = cursor_.at();
  std::string_view number = cursor_.take_while(
      [](char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '+'; });
  cursor_.go_to(before);
  if (number.empty()) return cursor_.expected("a value");
  return number.find_first_of(".en") == std::string_view::npos ? kKindOf<int64_t> : kKindOf<double>;
}

Result<AttrValue> GraphParser::attribute_value(Scope& scope, size_t kind) {
  switch (kind) {
    case kKindOf<std::monostate>:
      return AttrValue();
    case kKindOf<bool>:
      return wrapped(element<bool>());
    case kKindOf<int64_t>:
      return wrapped(cursor_.number<int64_t>());
    case kKindOf<double>:
      return wrapped(double_value());
    case kKindOf<std::string>:
      return wrapped(cursor_.string());
    case kKindOf<DType>:
      return wrapped(dtype_value());
    case kKindOf<Shape>:
      return wrapped(shape(scope));
    case kKindOf<Tensor>:
      return wrapped(tensor_value(scope));
    case kKindOf<Ref<Body>>:
      return wrapped(body_value());
    case kKindOf<std::vector<int64_t>>:
      return list_value<int64_t>([&] { return cursor_.number<int64_t>(); });
    case kKindOf<std::vector<double>>:
      return list_value<double>([&] { return double_value(); });
    case kKindOf<std::vector<std::string>>:
      return list_value<std::string>([&] { return cursor_.string(); });
    case kKindOf<std::vector<DType>>:
      return list_value<DType>([&] { return dtype_value(); });
    case kKindOf<std::vector<Shape>>:
      return list_value<Shape>([&] { return shape(scope); });
    case kKindOf<std::vector<Ref<Body>>>:
      return list_value<Ref<Body>>([&] { return body_value(); });
    default:
      return wrapped(fusion_value());
  }
}

Status GraphParser::attributes(Scope& scope, Draft& draft) {
  if (!cursor_.accept("{")) return {};
  for (bool first = true; !cursor_.accept("}"); first = false) {
    if (!first) RETURN_IF_ERROR(cursor_.expect(","));
    ASSIGN_OR_RETURN(std::string name, cursor_.name());
    RETURN_IF_ERROR(cursor_.expect("="));
    const auto& fields = draft.op->attrs_type().fields;
    auto field = std::find_if(fields.begin(), fields.end(),
                              [&](const AttrField& f) { return f.name == name; });
    if (field != fields.end()) {
      ASSIGN_OR_RETURN(AttrValue value, attribute_value(scope, field->kind));
      if (Status status = draft.attrs->set(name, std::move(value)); !status.ok()) {
        return cursor_.error(status.message());
      }
    } else {
      ASSIGN_OR_RETURN(size_t kind, kind_of_value());
      ASSIGN_OR_RETURN(AttrValue value, attribute_value(scope, kind));
      draft.extra.emplace_back(std::move(name), std::move(value));
    }
  }
  return {};
}

}  // namespace graven::engine::graph_syntax
