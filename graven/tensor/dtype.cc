#include "graven/tensor/dtype.h"

namespace graven::engine {
namespace {

struct DTypeInfo {
  DType type;
  std::string_view name, op_def_name;
};

constexpr DTypeInfo kInfos[] = {
    {DType::kFloat32, "float32", "float"},
    {DType::kFloat64, "float64", "double"},
    {DType::kInt32, "int32", "int32"},
    {DType::kUInt8, "uint8", "uint8"},
    {DType::kInt16, "int16", "int16"},
    {DType::kInt8, "int8", "int8"},
    {DType::kString, "string", "string"},
    {DType::kComplex64, "complex64", "complex64"},
    {DType::kInt64, "int64", "int64"},
    {DType::kBool, "bool", "bool"},
    {DType::kBFloat16, "bfloat16", "bfloat16"},
    {DType::kUInt16, "uint16", "uint16"},
    {DType::kComplex128, "complex128", "complex128"},
    {DType::kHalf, "float16", "half"},
    {DType::kResource, "resource", "resource"},
    {DType::kVariant, "variant", "variant"},
    {DType::kUInt32, "uint32", "uint32"},
    {DType::kUInt64, "uint64", "uint64"},
};

struct InfoTable {
  DTypeInfo at[kNumDTypes];
  constexpr InfoTable() : at{} {
    for (auto& info : at) info = {DType::kInvalid, "invalid", "invalid"};
    for (const auto& info : kInfos) at[static_cast<int>(info.type)] = info;
  }
};
constexpr InfoTable kTable;

}  // namespace

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
