#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <typeinfo>
#include <variant>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/hash.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/tensor/dtype.h"
#include "graven/tensor/shape.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

class Body;
GRAVEN_API void add_ref_to(const Body* body);
GRAVEN_API void drop_ref_of(const Body* body);
class Fusion;
GRAVEN_API void add_ref_to(const Fusion* fusion);
GRAVEN_API void drop_ref_of(const Fusion* fusion);

// Any value of an attribute: the kinds of TensorFlow's AttrValue, and a Fusion, which only
// optimised copies of graphs hold. A function attribute is the Body itself.
using AttrValue =
    std::variant<std::monostate, bool, int64_t, double, std::string, DType, Shape, Tensor,
                 Ref<Body>, std::vector<int64_t>, std::vector<double>, std::vector<std::string>,
                 std::vector<DType>, std::vector<Shape>, std::vector<Ref<Body>>, Ref<const Fusion>>;
GRAVEN_API std::string to_text(const AttrValue& value);
GRAVEN_API uint64_t hash_of(const AttrValue& value);
GRAVEN_API bool equal(const AttrValue& a, const AttrValue& b);  // by bits; tensors by value

// False where there is no attribute of the name that was asked for.
inline bool has_value(const AttrValue& value) {
  return !std::holds_alternative<std::monostate>(value);
}

namespace attributes_internal {
template <typename T, size_t i = 0>
constexpr size_t kind_of();
}  // namespace attributes_internal

// One attribute of an op: a member of its attributes struct.
struct AttrField {
  std::string_view name;
  size_t kind;  // index of its type in AttrValue; is<T>() asks for it
  // Whether its values are of this type of AttrValue.
  template <typename T>
  bool is() const {
    return kind == attributes_internal::kind_of<T>();
  }
  AttrValue (*get)(const void* attrs);
  // The value is of the field's kind.
  void (*set)(void* attrs, AttrValue value);
  bool is_required = false;
};

// How to handle a struct of attributes without knowing its type. One per struct and shared object:
// the Python extension and programs of users have their own.
struct AttrsType {
  const std::type_info* cpp_type;
  size_t size, alignment;
  void (*construct)(void* attrs);
  void (*copy)(void* to, const void* from);
  void (*destroy)(void* attrs);
  bool (*equal)(const void* a, const void* b);
  uint64_t (*hash)(const void* attrs);
  std::span<const AttrField> fields;
  friend bool operator==(const AttrsType& a, const AttrsType& b) {
    return &a == &b || *a.cpp_type == *b.cpp_type;
  }
};

// A struct of attributes is an aggregate with defaults, whose fields() names every member:
//
//   struct SumAttrs {
//     bool keep_dims = false;
//     static constexpr auto fields() { return std::tuple(field("keep_dims", &SumAttrs::keep_dims));
//     }
//   };
//
// Members have a type of AttrValue, or float (kept as double there). Equality, hash, text and
// the keywords of Python come from the fields.
template <typename Attrs, typename T>
struct FieldOf {
  std::string_view name;
  T Attrs::*member;
  bool is_required = false;
};
template <typename Attrs, typename T>
constexpr FieldOf<Attrs, T> field(std::string_view name, T Attrs::*member) {
  return {name, member};
}
// A member whose attribute has no default in the OpDef: Python callers must give it.
template <typename Attrs, typename T>
constexpr FieldOf<Attrs, T> required_field(std::string_view name, T Attrs::*member) {
  return {name, member, true};
}

struct NoAttrs {
  static constexpr auto fields() { return std::tuple(); }
};

// A borrowed struct of attributes: two words. Valid while the struct lives.
class GRAVEN_API AttrsRef {
 public:
  AttrsRef();  // NoAttrs
  template <typename A>
  requires requires { A::fields(); }
  AttrsRef(const A& attrs);
  AttrsRef(const AttrsType* type, const void* data) : type_(type), data_(data) {}

  template <typename Attrs>
  const Attrs& as() const {
    return *static_cast<const Attrs*>(data_);
  }
  const AttrsType& type() const { return *type_; }
  const void* data() const { return data_; }
  // The value of an attribute, or monostate if the struct has none of that name.
  AttrValue get(std::string_view name) const;
  uint64_t hash() const { return type_->hash(data_); }
  friend bool operator==(AttrsRef a, AttrsRef b) {
    return *a.type_ == *b.type_ && a.type_->equal(a.data_, b.data_);
  }

 private:
  const AttrsType* type_;
  const void* data_;
};

// An owned struct of attributes, whose type is known at run time only.
class GRAVEN_API Attrs {
 public:
  explicit Attrs(const AttrsType& type);  // defaults
  explicit Attrs(AttrsRef attrs);
  Attrs(const Attrs& other) : Attrs(AttrsRef(other)) {}
  Attrs(Attrs&& other) noexcept = default;
  Attrs& operator=(Attrs other) noexcept {
    std::swap(type_, other.type_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~Attrs();
  operator AttrsRef() const { return {type_, data_.get()}; }
  // kInvalidArgument if there is no such attribute, or it is of another kind.
  Status set(std::string_view name, AttrValue value);

 private:
  struct Free {
    void operator()(void* memory) const { ::operator delete(memory); }
  };
  const AttrsType* type_;
  std::unique_ptr<void, Free> data_;
};

// --- Internals.

namespace attributes_internal {

template <typename T>
struct Stored {
  using type = T;
};
template <>
struct Stored<float> {
  using type = double;
};

template <typename T, size_t i>
constexpr size_t kind_of() {
  using S = typename Stored<T>::type;
  if constexpr (std::is_same_v<std::variant_alternative_t<i, AttrValue>, S>) {
    return i;
  } else {
    return kind_of<T, i + 1>();
  }
}

template <typename A, size_t... i>
const AttrsType& make_type(std::index_sequence<i...>) {
  static const std::array<AttrField, sizeof...(i)> fields = {AttrField{
      std::get<i>(A::fields()).name,
      kind_of<std::remove_cvref_t<decltype(std::declval<A>().*std::get<i>(A::fields()).member)>>(),
      [](const void* attrs) {
        const auto& value = static_cast<const A*>(attrs)->*std::get<i>(A::fields()).member;
        using S = typename Stored<std::remove_cvref_t<decltype(value)>>::type;
        return AttrValue(std::in_place_type<S>, static_cast<S>(value));
      },
      [](void* attrs, AttrValue value) {
        auto& member = static_cast<A*>(attrs)->*std::get<i>(A::fields()).member;
        using M = std::remove_cvref_t<decltype(member)>;
        member = static_cast<M>(std::get<typename Stored<M>::type>(std::move(value)));
      },
      std::get<i>(A::fields()).is_required}...};
  static const AttrsType type = {
      &typeid(A),
      sizeof(A),
      alignof(A),
      [](void* attrs) { new (attrs) A(); },
      [](void* to, const void* from) { new (to) A(*static_cast<const A*>(from)); },
      [](void* attrs) { static_cast<A*>(attrs)->~A(); },
      []([[maybe_unused]] const void* a, [[maybe_unused]] const void* b) {
        return (true && ... && equal(fields[i].get(a), fields[i].get(b)));
      },
      [](const void* attrs) {
        uint64_t h = 0;
        ((h = hash_combine(h, hash_of(fields[i].get(attrs)))), ...);
        (void)attrs;
        return h;
      },
      fields};
  return type;
}

}  // namespace attributes_internal

template <typename A>
const AttrsType& attrs_type() {
  static const AttrsType& type = attributes_internal::make_type<A>(
      std::make_index_sequence<std::tuple_size_v<decltype(A::fields())>>());
  return type;
}

template <typename A>
requires requires { A::fields(); }
AttrsRef::AttrsRef(const A& attrs) : type_(&attrs_type<A>()), data_(&attrs) {}

}  // namespace graven::engine
