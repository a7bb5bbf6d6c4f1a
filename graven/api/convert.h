#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "graven/api/tensor.h"
#include "graven/api/tensor_spec.h"
#include "graven/api/variable.h"
#include "graven/function/key.h"
#include "graven/ir/value.h"

namespace graven {

// How arguments and results of functions cross to the engine. Specialised below for tensors,
// variables, numbers, strings, optionals, vectors, arrays, tuples, maps, and structs of the user's
// whose `members()` ties their members:
//
//   struct Point {
//     graven::Tensor x, y;
//     auto members() { return std::tie(x, y); }
//   };
//
// write_key writes a cached call's row of words (graven/function/key.h) and gathers the tensors
// that are fed; to_value and from_value are for calls that trace. The row of write_key describes
// the same value that to_value makes.
template <typename T>
struct Convert;

using engine::KeyTag;
using engine::KeyWriter;

template <>
struct Convert<Tensor> {
  static void write_key(KeyWriter& key, const Tensor& value) {
    value.is_none() ? key.add_none() : key.add_tensor(value);
  }
  static engine::Value to_value(const Tensor& value) {
    return value.is_none() ? engine::Value() : engine::Value::of_tensor(value);
  }
  static Tensor from_value(const engine::Value& value) { return value.tensor; }
};

template <>
struct GRAVEN_API Convert<Variable> {
  static void write_key(KeyWriter& key, const Variable& value);
  static engine::Value to_value(const Variable& value);
  static Variable from_value(const engine::Value& value);
};

// A stand-in for a tensor where a function is asked for a trace, never in a call.
template <>
struct Convert<TensorSpec> {
  static void write_key(KeyWriter& key, const TensorSpec& spec) {
    key.add_spec(spec.dtype, spec.shape, spec.name.has_value());
  }
  static engine::Value to_value(const TensorSpec& spec) {
    return engine::Value::of_type(spec.type());
  }
};

template <typename T>
requires std::is_arithmetic_v<T>
struct Convert<T> {
  static engine::Literal literal(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      return value;
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<int64_t>(value);
    } else {
      return static_cast<double>(value);
    }
  }
  static void write_key(KeyWriter& key, T value) {
    if constexpr (std::is_same_v<T, bool>) {
      key.add_bool(value);
    } else if constexpr (std::is_integral_v<T>) {
      key.add_integer(static_cast<int64_t>(value));
    } else {
      key.add_float(static_cast<double>(value));
    }
  }
  static engine::Value to_value(T value) { return engine::Value::of_literal(literal(value)); }
  static T from_value(const engine::Value& value) {
    if (const auto* v = std::get_if<bool>(&value.literal)) return static_cast<T>(*v);
    if (const auto* v = std::get_if<int64_t>(&value.literal)) return static_cast<T>(*v);
    return static_cast<T>(std::get<double>(value.literal));
  }
};

template <>
struct Convert<std::string> {
  static void write_key(KeyWriter& key, const std::string& value) { key.add_text(value); }
  static engine::Value to_value(const std::string& value) {
    return engine::Value::of_literal(value);
  }
  static std::string from_value(const engine::Value& value) {
    return std::get<std::string>(value.literal);
  }
};

template <typename T>
struct Convert<std::optional<T>> {
  static void write_key(KeyWriter& key, const std::optional<T>& value) {
    value ? Convert<T>::write_key(key, *value) : key.add_none();
  }
  static engine::Value to_value(const std::optional<T>& value) {
    return value ? Convert<T>::to_value(*value) : engine::Value();
  }
  static std::optional<T> from_value(const engine::Value& value) {
    bool is_none = value.kind == engine::Value::Kind::kLiteral &&
                   std::holds_alternative<engine::None>(value.literal);
    return is_none ? std::nullopt : std::optional<T>(Convert<T>::from_value(value));
  }
};

template <typename T>
struct Convert<std::vector<T>> {
  static void write_key(KeyWriter& key, const std::vector<T>& values) {
    key.begin(KeyTag::kList, values.size());
    for (const T& value : values) Convert<T>::write_key(key, value);
  }
  static engine::Value to_value(const std::vector<T>& values) {
    std::vector<engine::Value> items;
    for (const T& value : values) items.push_back(Convert<T>::to_value(value));
    return engine::Value::of_container(engine::Container::list(), std::move(items));
  }
  static std::vector<T> from_value(const engine::Value& list) {
    std::vector<T> values;
    for (const engine::Value& item : list.items) values.push_back(Convert<T>::from_value(item));
    return values;
  }
};

template <typename T>
struct Convert<std::map<std::string, T>> {
  static void write_key(KeyWriter& key, const std::map<std::string, T>& values) {
    key.begin(KeyTag::kDict, values.size());
    for (const auto& [name, value] : values) {
      key.add_text(name);
      Convert<T>::write_key(key, value);
    }
  }
  static engine::Value to_value(const std::map<std::string, T>& values) {
    std::vector<engine::Literal> names;
    std::vector<engine::Value> items;
    for (const auto& [name, value] : values) {
      names.push_back(name);
      items.push_back(Convert<T>::to_value(value));
    }
    // Texts can always be sorted.
    return engine::Value::of_container(*engine::Container::dict(std::move(names)),
                                       std::move(items));
  }
  static std::map<std::string, T> from_value(const engine::Value& dict) {
    std::map<std::string, T> values;
    for (size_t i = 0; i < dict.items.size(); ++i) {
      values.emplace(std::get<std::string>(dict.container->keys()[i]),
                     Convert<T>::from_value(dict.items[i]));
    }
    return values;
  }
};

// Tuples, pairs and arrays, and structs by their members().
namespace internal {

template <typename Tuple>
void write_key_of_parts(KeyWriter& key, const Tuple& parts) {
  key.begin(KeyTag::kTuple, std::tuple_size_v<Tuple>);
  std::apply(
      [&](const auto&... part) {
        (Convert<std::remove_cvref_t<decltype(part)>>::write_key(key, part), ...);
      },
      parts);
}

template <typename Tuple>
engine::Value parts_to_value(const Tuple& parts) {
  std::vector<engine::Value> items;
  std::apply(
      [&](const auto&... part) {
        (items.push_back(Convert<std::remove_cvref_t<decltype(part)>>::to_value(part)), ...);
      },
      parts);
  return engine::Value::of_container(engine::Container::tuple(), std::move(items));
}

template <typename Tuple, size_t... i>
void fill_parts(Tuple&& parts, const engine::Value& value, std::index_sequence<i...>) {
  ((std::get<i>(parts) =
        Convert<std::remove_cvref_t<decltype(std::get<i>(parts))>>::from_value(value.items[i])),
   ...);
}

template <typename Tuple>
struct ConvertParts {
  static void write_key(KeyWriter& key, const Tuple& value) { write_key_of_parts(key, value); }
  static engine::Value to_value(const Tuple& value) { return parts_to_value(value); }
  static Tuple from_value(const engine::Value& value) {
    Tuple made;
    fill_parts(made, value, std::make_index_sequence<std::tuple_size_v<Tuple>>());
    return made;
  }
};

// The result of a function that returns nothing.
struct Nothing {
  auto members() { return std::tuple<>(); }
};

}  // namespace internal

template <typename... T>
struct Convert<std::tuple<T...>> : internal::ConvertParts<std::tuple<T...>> {};
template <typename A, typename B>
struct Convert<std::pair<A, B>> : internal::ConvertParts<std::pair<A, B>> {};
template <typename T, size_t n>
struct Convert<std::array<T, n>> : internal::ConvertParts<std::array<T, n>> {};

template <typename T>
concept HasMembers = requires(T value) {
  value.members();
};

template <HasMembers T>
struct Convert<T> {
  // members() is not const; callers with a const value only read through its ties.
  static auto members(const T& value) { return const_cast<T&>(value).members(); }
  static void write_key(KeyWriter& key, const T& value) {
    internal::write_key_of_parts(key, members(value));
  }
  static engine::Value to_value(const T& value) { return internal::parts_to_value(members(value)); }
  static T from_value(const engine::Value& value) {
    T made;
    auto parts = made.members();
    internal::fill_parts(parts, value,
                         std::make_index_sequence<std::tuple_size_v<decltype(parts)>>());
    return made;
  }
};

}  // namespace graven
