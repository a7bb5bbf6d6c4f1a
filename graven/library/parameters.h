#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/inline_vector.h"
#include "graven/base/ref.h"
#include "graven/ir/callable.h"
#include "graven/ir/value.h"
#include "graven/tensor/dtype.h"
#include "graven/tensor/shape.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// --- The kinds of parameters of public functions: plain data, which the binder of a front end
// fills in before the body runs. Other kinds are Tensor (any tensor-like argument, converted; empty
// for None and for a default number), DType (kInvalid for None), Shape, bool, int64_t, double,
// std::string, std::optional of the last four (none for None), Ref<Callable> (a function of the
// program; null for None), and Value (anything, containers taken apart).

// Integers as a program may give them: numbers, or a tensor that holds them at run time. Neither is
// None.
struct Integers {
  std::optional<InlineVector<int64_t, 6>> numbers = {};
  bool is_scalar = false;  // numbers: one, which was no list
  Tensor tensor = {};
  bool is_none() const { return !numbers && !tensor; }
};
// Axes of a tensor, of which negative ones count from the end.
struct Axes : Integers {};
// The sizes of a shape, or numbers, one for each axis.
struct Sizes : Integers {};
// Sizes, some of which may be None, stored as -1: the size of another tensor, which the body knows.
struct OpenSizes : Integers {};

// The axes that two tensors are joined over: so many last axes of the first and first ones of the
// second, or lists of them; or a tensor that holds either.
struct AxisPairs {
  std::optional<int64_t> count = {};
  std::vector<int64_t> first = {}, second = {};
  Tensor tensor = {};
};

// A number as the program gives it, without a dtype yet; or a tensor-like argument.
struct Number {
  std::optional<double> number = {};
  Tensor tensor = {};
  bool is_list = false;  // the tensor was a list, which is no number in arithmetic
};
// "euclidean", or 2.
using NumberOrText = std::variant<double, std::string>;

// One number for all spatial axes, one for each, or one for each axis in the order of the data
// format. None: empty.
struct Window {
  InlineVector<int64_t, 6> sizes = {};
};

// How far windows go beyond the edges: "SAME", "VALID", or "EXPLICIT" with {before, after} of each
// axis in the order of the data format.
struct Padding {
  std::string kind = {};
  InlineVector<int64_t, 10> sizes = {};
};

// A tensor-like argument, or a variable that is not read: its handle and the dtype of its value.
struct TensorOrVariable {
  Tensor tensor = {}, handle = {};
  DType dtype = DType::kInvalid;
};

// Several tensor-like arguments. For a single one that is no list, is_list is false.
struct TensorList {
  std::vector<Tensor> tensors = {};
  bool is_list = true;
};

// Functions of a program, each with the value that it goes with, which is None if there is none:
// the branches of switch_case with their numbers, of case with their predicates.
struct Choices {
  struct Choice {
    Value key;
    Ref<Callable> function;
  };
  std::vector<Choice> all = {};
};

// Shapes, dtypes or both in the structure of other values; leaves are types of tensors, or None.
struct ShapeStructure {
  Value value = {};
};

// The default number of a tensor. The tensor is left empty if its argument is not given, or is that
// very number.
using DefaultNumber = std::variant<std::monostate, int64_t, double>;
inline bool is_default(const DefaultNumber& number, double value) {
  if (const auto* integer = std::get_if<int64_t>(&number)) {
    return static_cast<double>(*integer) == value;
  }
  const auto* real = std::get_if<double>(&number);
  return real && *real == value;
}

// A member of a struct of parameters, by its kind: front ends fill it by std::visit.
using ParameterRef =
    std::variant<Tensor*, TensorOrVariable*, TensorList*, Axes*, Sizes*, OpenSizes*, AxisPairs*,
                 Number*, NumberOrText*, Window*, Padding*, DType*, Shape*, bool*, int64_t*,
                 double*, std::string*, std::optional<bool>*, std::optional<int64_t>*,
                 std::optional<double>*, std::optional<std::string>*, Ref<Callable>*, Choices*,
                 Value*, ShapeStructure*>;

// --- Parameters are an aggregate with defaults, whose fields() names every member in the order of
// the public signature:
//
//   struct MomentsParameters {
//     Tensor x;
//     Axes axes;
//     bool keepdims = false;
//     static constexpr auto fields() {
//       using P = MomentsParameters;
//       return std::tuple(required_field("x", &P::x, "T", "The values."),
//                         required_field("axes", &P::axes, "The axes to go over."),
//                         ignored_field("shift", "TensorFlow does not read it either."),
//                         field("keepdims", &P::keepdims, "Keep the axes, with size 1."));
//     }
//   };
//
// A tensor names its dtype as OpDefs do: "int32", or a type parameter of the record, "T". Tensors
// with the same parameter have one dtype, and numbers beside them take it: eagerly from tensors
// before and behind them, in graphs from tensors before them. The last text is for documentation.
// More words around the name:
//
//   "any"            of a dtype of its own, as is each tensor of a list
//   "mutual T"       takes the dtype of a tensor behind it in graphs, too
//   "like T"         takes T where it can; else it keeps its own dtype, which the body refuses
//   "common T"       values of a list that holds no tensor have the dtype of the whole list
//   "T or None"      empty for None where it must be given, and for None alone where there is a
//                    default number; of a list, each of its tensors
//   "each T"         takes T where an argument says that; else it has a dtype of its own
//   "sole T"         of what may be a variable: a list of one is its item, a longer one is refused
//   "own T"          of a dtype of its own in Python; in C++, where only literals do, one takes T

enum class ParameterRole : uint8_t {
  kRequired,
  kOptional,
  kVariadic,  // the positional arguments from here on, as a list; others are given by name
  kIgnored,   // accepted without effect; Python only
  kRefused,   // an error unless it is None or False; Python only
};

struct ParameterField {
  std::string_view name;
  ParameterRole role;
  std::string_view type;  // of tensors
  DefaultNumber default_number;
  std::string_view doc;
  ParameterRef (*ref)(void* parameters);  // null for kIgnored and kRefused
};

struct ParametersType;

// Memory of one struct of parameters, with its defaults.
class GRAVEN_API ParameterValues {
 public:
  explicit ParameterValues(const ParametersType& type);
  ~ParameterValues();
  ParameterValues(const ParameterValues&) = delete;
  void* get() { return data_; }

 private:
  const ParametersType& type_;
  void* data_;
  alignas(std::max_align_t) std::byte inline_[512];
};

// How to handle a struct of parameters without knowing its type.
struct ParametersType {
  size_t size;
  void (*construct)(void* parameters);
  void (*destroy)(void* parameters);
  std::span<const ParameterField> fields;
};

template <typename P, typename T>
struct ParameterOf {
  std::string_view name;
  ParameterRole role;
  T P::*member;
  std::string_view type, doc;
  DefaultNumber default_number = {};
};
template <typename P, typename T>
constexpr ParameterOf<P, T> required_field(std::string_view name, T P::*member,
                                           std::string_view doc) {
  return {name, ParameterRole::kRequired, member, {}, doc};
}
template <typename P, typename T>
constexpr ParameterOf<P, T> required_field(std::string_view name, T P::*member,
                                           std::string_view type, std::string_view doc) {
  return {name, ParameterRole::kRequired, member, type, doc};
}
template <typename P, typename T>
constexpr ParameterOf<P, T> field(std::string_view name, T P::*member, std::string_view doc) {
  return {name, ParameterRole::kOptional, member, {}, doc};
}
template <typename P, typename T>
constexpr ParameterOf<P, T> field(std::string_view name, T P::*member, std::string_view type,
                                  std::string_view doc) {
  return {name, ParameterRole::kOptional, member, type, doc};
}
template <typename P, typename T, typename Number>
requires std::is_arithmetic_v<Number>
constexpr ParameterOf<P, T> field(std::string_view name, T P::*member, std::string_view type,
                                  Number number, std::string_view doc) {
  using Stored = std::conditional_t<std::is_integral_v<Number>, int64_t, double>;
  return {name, ParameterRole::kOptional, member, type, doc, static_cast<Stored>(number)};
}
template <typename P>
constexpr ParameterOf<P, TensorList> variadic_field(std::string_view name, TensorList P::*member,
                                                    std::string_view type, std::string_view doc) {
  return {name, ParameterRole::kVariadic, member, type, doc};
}
struct UnusedField {
  std::string_view name;
  ParameterRole role;
  std::string_view doc;
};
constexpr UnusedField ignored_field(std::string_view name, std::string_view doc) {
  return {name, ParameterRole::kIgnored, doc};
}
constexpr UnusedField refused_field(std::string_view name, std::string_view doc) {
  return {name, ParameterRole::kRefused, doc};
}
// The place of `name` in the signature, if it is not the last parameter.
struct NameField {};
constexpr NameField name_field() { return {}; }

// --- Internals.

namespace parameters_internal {

template <typename P, size_t i>
constexpr ParameterField make_field() {
  constexpr auto spec = std::get<i>(P::fields());
  using Spec = std::remove_cvref_t<decltype(spec)>;
  if constexpr (std::is_same_v<Spec, NameField>) {
    return {"name", ParameterRole::kOptional, {}, {}, {}, nullptr};
  } else if constexpr (std::is_same_v<Spec, UnusedField>) {
    return {spec.name, spec.role, {}, {}, spec.doc, nullptr};
  } else {
    return {spec.name,
            spec.role,
            spec.type,
            spec.default_number,
            spec.doc,
            [](void* p) -> ParameterRef {
              constexpr auto kMember = std::get<i>(P::fields()).member;
              return &(static_cast<P*>(p)->*kMember);
            }};
  }
}

template <typename P, size_t... i>
const ParametersType& make_type(std::index_sequence<i...>) {
  static const std::array<ParameterField, sizeof...(i)> fields = {make_field<P, i>()...};
  static const ParametersType type = {sizeof(P), [](void* p) { new (p) P(); },
                                      [](void* p) { static_cast<P*>(p)->~P(); }, fields};
  return type;
}

}  // namespace parameters_internal

template <typename P>
const ParametersType& parameters_type() {
  static const ParametersType& type = parameters_internal::make_type<P>(
      std::make_index_sequence<std::tuple_size_v<decltype(P::fields())>>());
  return type;
}

}  // namespace graven::engine
