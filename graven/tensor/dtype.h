#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "graven/base/export.h"
#include "graven/tensor/half.h"

namespace graven::engine {

// Element types, with TensorFlow's names and numbers (types.proto), so that files need no
// translation. bool is one byte, 0 or 1. string elements are std::string, resource and variant
// elements are Ref<Resource>.
enum class DType : uint8_t {
  kInvalid = 0,
  kFloat32 = 1,
  kFloat64 = 2,
  kInt32 = 3,
  kUInt8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kComplex64 = 8,
  kInt64 = 9,
  kBool = 10,
  kBFloat16 = 14,
  kUInt16 = 17,
  kComplex128 = 18,
  kHalf = 19,
  kResource = 20,
  kVariant = 21,
  kUInt32 = 22,
  kUInt64 = 23,
};
inline constexpr int kNumDTypes = 24;

// A set of dtypes, one bit each.
class DTypeSet {
 public:
  constexpr DTypeSet() = default;
  constexpr DTypeSet(std::initializer_list<DType> types) {
    for (DType type : types) bits_ |= 1u << static_cast<int>(type);
  }
  constexpr bool contains(DType type) const { return bits_ >> static_cast<int>(type) & 1; }
  friend constexpr DTypeSet operator|(DTypeSet a, DTypeSet b) {
    DTypeSet both;
    both.bits_ = a.bits_ | b.bits_;
    return both;
  }
  friend constexpr bool operator==(DTypeSet a, DTypeSet b) = default;

 private:
  uint32_t bits_ = 0;
};

inline constexpr DTypeSet kFloatTypes = {DType::kHalf, DType::kBFloat16, DType::kFloat32,
                                         DType::kFloat64};
inline constexpr DTypeSet kComplexTypes = {DType::kComplex64, DType::kComplex128};
inline constexpr DTypeSet kSignedIntTypes = {DType::kInt8, DType::kInt16, DType::kInt32,
                                             DType::kInt64};
inline constexpr DTypeSet kUnsignedIntTypes = {DType::kUInt8, DType::kUInt16, DType::kUInt32,
                                               DType::kUInt64};
inline constexpr DTypeSet kIntTypes = kSignedIntTypes | kUnsignedIntTypes;
inline constexpr DTypeSet kRealTypes = kFloatTypes | kIntTypes;
inline constexpr DTypeSet kNumberTypes = kRealTypes | kComplexTypes;
inline constexpr DTypeSet kBoolType = {DType::kBool};
inline constexpr DTypeSet kIndexTypes = {DType::kInt32, DType::kInt64};
inline constexpr DTypeSet kDifferentiableTypes = kFloatTypes | kComplexTypes;
inline constexpr DTypeSet kObjectTypes = {DType::kString, DType::kResource, DType::kVariant};
inline constexpr DTypeSet kPlainTypes = kNumberTypes | kBoolType;  // elements are plain bytes
inline constexpr DTypeSet kAllTypes = kPlainTypes | kObjectTypes;

// Bytes of one element in memory.
constexpr size_t dtype_size(DType type) {
  switch (type) {
    case DType::kInvalid:
      return 0;
    case DType::kBool:
    case DType::kInt8:
    case DType::kUInt8:
      return 1;
    case DType::kHalf:
    case DType::kBFloat16:
    case DType::kInt16:
    case DType::kUInt16:
      return 2;
    case DType::kFloat32:
    case DType::kInt32:
    case DType::kUInt32:
      return 4;
    case DType::kFloat64:
    case DType::kInt64:
    case DType::kUInt64:
    case DType::kComplex64:
      return 8;
    case DType::kComplex128:
      return 16;
    case DType::kString:
      return sizeof(std::string);
    case DType::kResource:
    case DType::kVariant:
      return sizeof(void*);  // Ref<Resource>
  }
  return 0;
}
// TensorFlow's name: "float32", "bfloat16", ...; "invalid" for kInvalid.
GRAVEN_API std::string_view dtype_name(DType type);
// The names in OpDefs, and in messages about them: "float", "double", "half", "int32", ...
GRAVEN_API std::string_view dtype_op_def_name(DType type);
// The dtype of a name of either kind, or none.
GRAVEN_API std::optional<DType> dtype_from_name(std::string_view name);

constexpr bool is_complex(DType type) { return kComplexTypes.contains(type); }
constexpr bool is_floating(DType type) { return kFloatTypes.contains(type); }
constexpr bool is_integer(DType type) { return kIntTypes.contains(type); }
constexpr bool is_plain(DType type) { return kPlainTypes.contains(type); }
// The dtype of the real and imaginary parts of a complex dtype; others are their own.
constexpr DType real_part_type(DType type) {
  return type == DType::kComplex64    ? DType::kFloat32
         : type == DType::kComplex128 ? DType::kFloat64
                                      : type;
}

// The dtype of a C++ element type.
template <typename T>
inline constexpr DType kDTypeOf = DType::kInvalid;
template <>
inline constexpr DType kDTypeOf<float> = DType::kFloat32;
template <>
inline constexpr DType kDTypeOf<double> = DType::kFloat64;
template <>
inline constexpr DType kDTypeOf<int8_t> = DType::kInt8;
template <>
inline constexpr DType kDTypeOf<int16_t> = DType::kInt16;
template <>
inline constexpr DType kDTypeOf<int32_t> = DType::kInt32;
template <>
inline constexpr DType kDTypeOf<int64_t> = DType::kInt64;
template <>
inline constexpr DType kDTypeOf<uint8_t> = DType::kUInt8;
template <>
inline constexpr DType kDTypeOf<uint16_t> = DType::kUInt16;
template <>
inline constexpr DType kDTypeOf<uint32_t> = DType::kUInt32;
template <>
inline constexpr DType kDTypeOf<uint64_t> = DType::kUInt64;
template <>
inline constexpr DType kDTypeOf<bool> = DType::kBool;
template <>
inline constexpr DType kDTypeOf<Half> = DType::kHalf;
template <>
inline constexpr DType kDTypeOf<BFloat16> = DType::kBFloat16;
template <>
inline constexpr DType kDTypeOf<std::complex<float>> = DType::kComplex64;
template <>
inline constexpr DType kDTypeOf<std::complex<double>> = DType::kComplex128;
template <>
inline constexpr DType kDTypeOf<std::string> = DType::kString;

// Calls f with a value-initialised element of the plain dtype: visit_plain(type, [&](auto zero)
// { using T = decltype(zero); ... }). The dtype must be plain.
template <typename F>
auto visit_plain(DType type, F&& f) {
  switch (type) {
    case DType::kFloat32:
      return f(float{});
    case DType::kFloat64:
      return f(double{});
    case DType::kInt32:
      return f(int32_t{});
    case DType::kInt64:
      return f(int64_t{});
    case DType::kUInt8:
      return f(uint8_t{});
    case DType::kInt8:
      return f(int8_t{});
    case DType::kInt16:
      return f(int16_t{});
    case DType::kUInt16:
      return f(uint16_t{});
    case DType::kUInt32:
      return f(uint32_t{});
    case DType::kUInt64:
      return f(uint64_t{});
    case DType::kHalf:
      return f(Half{});
    case DType::kBFloat16:
      return f(BFloat16{});
    case DType::kComplex64:
      return f(std::complex<float>{});
    case DType::kComplex128:
      return f(std::complex<double>{});
    default:
      return f(bool{});
  }
}

// Calls f with a value of an unsigned integer type of the dtype's size, or std::complex<double> for
// 16 bytes: for code that moves elements without reading their values.
template <typename F>
auto visit_element_size(size_t size, F&& f) {
  switch (size) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    case 8:
      return f(uint64_t{});
    default:
      return f(std::complex<double>{});
  }
}

}  // namespace graven::engine
