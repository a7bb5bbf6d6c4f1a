#include "graven/ir/attributes.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "graven/base/overloaded.h"
#include "graven/base/strings.h"
#include "graven/ir/body.h"
#include "graven/ir/fusion.h"

namespace graven::engine {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

template <typename T, typename F>
std::string list_text(const std::vector<T>& values, F&& one) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    if (i) out += ", ";
    out += one(values[i]);
  }
  return out + "]";
}

std::string shape_text(const Shape& shape) { return shape.to_message(); }

// Dtype, shape and up to a handful of elements.
std::string tensor_text(const Tensor& tensor) {
  if (!tensor) return "none";
  std::string out = str_cat(dtype_name(tensor.dtype()), tensor.shape().to_message(), "(");
  int64_t n = tensor.num_elements(), shown = std::min<int64_t>(n, 16);
  for (int64_t i = 0; i < shown; ++i) {
    if (i) out += ", ";
    if (tensor.dtype() == DType::kString) {
      out += quoted(tensor.data<std::string>()[i]);
    } else if (is_plain(tensor.dtype())) {
      visit_plain(tensor.dtype(), [&](auto zero) {
        using T = decltype(zero);
        T value = tensor.data<T>()[i];
        if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
          out += shortest(static_cast<float>(value));
        } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
          out += shortest(value);
        } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                             std::is_same_v<T, std::complex<double>>) {
          out += str_cat(shortest(value.real()), "+", shortest(value.imag()), "i");
        } else {
          out += str_cat(value);
        }
      });
    } else {
      out += "object";
    }
  }
  if (shown < n) out += ", ...";
  return out + ")";
}

bool equal_tensors(const Tensor& a, const Tensor& b) {
  if (a == b) return true;
  if (!a || !b || a.is_symbolic() || b.is_symbolic()) return false;
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  if (is_plain(a.dtype())) return std::memcmp(a.raw_data(), b.raw_data(), a.bytes()) == 0;
  if (a.dtype() == DType::kString) {
    auto x = a.data<std::string>(), y = b.data<std::string>();
    return std::equal(x.begin(), x.end(), y.begin());
  }
  return false;
}

uint64_t hash_bytes(const void* data, size_t bytes) {
  return hash_text({static_cast<const char*>(data), bytes});
}

}  // namespace

std::string to_text(const AttrValue& value) {
  return std::visit(
      Overloaded{
          [](std::monostate) { return std::string("none"); },
          [](bool v) { return std::string(v ? "true" : "false"); },
          [](int64_t v) { return str_cat(v); },
          [](double v) {
            std::string text = shortest(v);
            return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
          },
          [](const std::string& v) { return quoted(v); },
          [](DType v) { return std::string(dtype_name(v)); },
          [](const Shape& v) { return shape_text(v); },
          [](const Tensor& v) { return tensor_text(v); },
          [](const Ref<Body>& v) { return v ? str_cat("@", v->name()) : std::string("@none"); },
          [](const std::vector<int64_t>& v) {
            return list_text(v, [](int64_t x) { return str_cat(x); });
          },
          [](const std::vector<double>& v) {
            return list_text(v, [](double x) { return to_text(AttrValue(x)); });
          },
          [](const std::vector<std::string>& v) { return list_text(v, quoted); },
          [](const std::vector<DType>& v) {
            return list_text(v, [](DType x) { return std::string(dtype_name(x)); });
          },
          [](const std::vector<Shape>& v) { return list_text(v, shape_text); },
          [](const std::vector<Ref<Body>>& v) {
            return list_text(v, [](const Ref<Body>& x) { return to_text(AttrValue(x)); });
          },
          [](const Ref<const Fusion>& v) {
            return v ? str_cat("fusion of ", v->members().size()) : std::string("@none");
          },
      },
      value);
}

uint64_t hash_of(const AttrValue& value) {
  uint64_t h = value.index();
  auto mix = [&](uint64_t word) { h = hash_combine(h, word); };
  std::visit(Overloaded{
                 [](std::monostate) {},
                 [&](bool v) { mix(v); },
                 [&](int64_t v) { mix(static_cast<uint64_t>(v)); },
                 [&](double v) { mix(std::bit_cast<uint64_t>(v)); },
                 [&](const std::string& v) { mix(hash_text(v)); },
                 [&](DType v) { mix(static_cast<uint64_t>(v)); },
                 [&](const Shape& v) {
                   mix(v.has_rank());
                   for (Dim dim : v.dims()) mix(static_cast<uint64_t>(dim.word()));
                 },
                 [&](const Tensor& v) {
                   if (!v || v.is_symbolic()) return;
                   mix(static_cast<uint64_t>(v.dtype()));
                   if (is_plain(v.dtype())) mix(hash_bytes(v.raw_data(), v.bytes()));
                 },
                 [&](const Ref<Body>& v) { mix(reinterpret_cast<uintptr_t>(v.get())); },
                 [&](const std::vector<int64_t>& v) {
                   for (auto x : v) mix(static_cast<uint64_t>(x));
                 },
                 [&](const std::vector<double>& v) {
                   for (auto x : v) mix(std::bit_cast<uint64_t>(x));
                 },
                 [&](const std::vector<std::string>& v) {
                   for (const auto& x : v) mix(hash_text(x));
                 },
                 [&](const std::vector<DType>& v) {
                   for (auto x : v) mix(static_cast<uint64_t>(x));
                 },
                 [&](const std::vector<Shape>& v) {
                   for (const auto& x : v) mix(hash_of(AttrValue(x)));
                 },
                 [&](const std::vector<Ref<Body>>& v) {
                   for (const auto& x : v) mix(reinterpret_cast<uintptr_t>(x.get()));
                 },
                 [&](const Ref<const Fusion>& v) { mix(v ? v->hash() : 0); },
             },
             value);
  return h;
}

bool equal(const AttrValue& a, const AttrValue& b) {
  if (a.index() != b.index()) return false;
  if (const auto* x = std::get_if<Tensor>(&a)) return equal_tensors(*x, std::get<Tensor>(b));
  if (const auto* x = std::get_if<Ref<const Fusion>>(&a)) {
    const auto& y = std::get<Ref<const Fusion>>(b);
    return *x == y || (*x && y && **x == *y);
  }
  auto same_bits = [](double x, double y) {
    return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y);
  };
  if (const auto* x = std::get_if<double>(&a)) return same_bits(*x, std::get<double>(b));
  if (const auto* x = std::get_if<std::vector<double>>(&a)) {
    const auto& y = std::get<std::vector<double>>(b);
    return std::equal(x->begin(), x->end(), y.begin(), y.end(), same_bits);
  }
  return a == b;
}

AttrsRef::AttrsRef() : AttrsRef(NoAttrs()) { data_ = nullptr; }

AttrValue AttrsRef::get(std::string_view name) const {
  for (const AttrField& field : type_->fields) {
    if (field.name == name) return field.get(data_);
  }
  return {};
}

Attrs::Attrs(const AttrsType& type) : type_(&type), data_(::operator new(type.size)) {
  type.construct(data_.get());
}

Attrs::Attrs(AttrsRef attrs) : type_(&attrs.type()) {
  data_.reset(::operator new(type_->size));
  if (attrs.data()) {
    type_->copy(data_.get(), attrs.data());
  } else {
    type_->construct(data_.get());
  }
}

Attrs::~Attrs() {
  if (data_) type_->destroy(data_.get());
}

Status Attrs::set(std::string_view name, AttrValue value) {
  for (const AttrField& field : type_->fields) {
    if (field.name != name) continue;
    if (field.is<double>() && std::holds_alternative<int64_t>(value)) {
      value = static_cast<double>(std::get<int64_t>(value));
    }
    if (value.index() != field.kind) {
      return invalid_argument("Attribute '", name, "' has another type than ", to_text(value));
    }
    field.set(data_.get(), std::move(value));
    return {};
  }
  return invalid_argument("There is no attribute '", name, "'");
}

}  // namespace graven::engine
