#include "graven/tensor/dtype.h"

#include "graven/base/ref.h"

namespace graven::engine {
namespace {

struct DTypeInfo {
  DType type;
  std::string_view name, op_def_name;
  size_t size;
};

constexpr DTypeInfo kInfos[] = {
    {DType::kFloat32, "float32", "float", 4},
    {DType::kFloat64, "float64", "double", 8},
    {DType::kInt32, "int32", "int32", 4},
    {DType::kUInt8, "uint8", "uint8", 1},
    {DType::kInt16, "int16", "int16", 2},
    {DType::kInt8, "int8", "int8", 1},
    {DType::kString, "string", "string", sizeof(std::string)},
    {DType::kComplex64, "complex64", "complex64", 8},
    {DType::kInt64, "int64", "int64", 8},
    {DType::kBool, "bool", "bool", 1},
    {DType::kBFloat16, "bfloat16", "bfloat16", 2},
    {DType::kUInt16, "uint16", "uint16", 2},
    {DType::kComplex128, "complex128", "complex128", 16},
    {DType::kHalf, "float16", "half", 2},
    {DType::kResource, "resource", "resource", sizeof(Ref<RefCounted>)},
    {DType::kVariant, "variant", "variant", sizeof(Ref<RefCounted>)},
    {DType::kUInt32, "uint32", "uint32", 4},
    {DType::kUInt64, "uint64", "uint64", 8},
};

struct InfoTable {
  DTypeInfo at[kNumDTypes];
  constexpr InfoTable() : at{} {
    for (auto& info : at) info = {DType::kInvalid, "invalid", "invalid", 0};
    for (const auto& info : kInfos) at[static_cast<int>(info.type)] = info;
  }
};
constexpr InfoTable kTable;

}  // namespace

size_t dtype_size(DType type) { return kTable.at[static_cast<int>(type)].size; }
std::string_view dtype_name(DType type) { return kTable.at[static_cast<int>(type)].name; }
std::string_view dtype_op_def_name(DType type) {
  return kTable.at[static_cast<int>(type)].op_def_name;
}

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const auto& info : kInfos) {
    if (info.name == name || info.op_def_name == name) return info.type;
  }
  return std::nullopt;
}

}  // namespace graven::engine
