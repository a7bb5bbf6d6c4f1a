#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "graven/base/status.h"
#include "graven/function/composite_type.h"
#include "graven/ir/value.h"

namespace graven::engine {

// The types of rows of nested values, and of nested values that are made of rows. A signature is a
// nested value whose leaves are types that stand for values (Value::of_type).

// The ragged ranks (CompositeType::ragged_ranks) of all parts of a nested value of rows, in the
// order of its tensors. A TypeError for a composite tensor that has no rows, which says what the
// function cannot do: "map_fn can not consume".
Result<std::vector<int>> ragged_ranks_of(const Value& rows, std::string_view cannot);

// A nested value of rows as one of its rows: the same containers, and in them composite tensors of
// the types of rows, with empty tensors.
Result<Value> row_of(Value rows);
// The reverse.
Result<Value> rows_of(Value row, std::optional<int64_t> count);

// The types of a row of nested values, as open as may be: any shape of a tensor or ragged tensor.
Result<Value> signature_of_row(const Value& rows);

// A value of a signature, with empty tensors.
Result<Value> value_of(const Value& signature);
// The types of its tensors, in their order.
Result<std::vector<Ref<const TensorType>>> tensor_types_of(const Value& signature);
// The type of a leaf; null of one that has none.
const CompositeType* composite_type_of(const Value& leaf);

}  // namespace graven::engine
