#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graven/base/status.h"
#include "graven/ir/value.h"
#include "graven/library/function_context.h"

namespace graven::engine {

// The value with tensors as leaves: numbers and texts become constants, variables are read. None
// stays None.
Value with_tensor_leaves(FunctionContext& c, Value value);
// The same; a number takes the dtype of the tensor or type in its place in `like`, if it can, and
// so does an array of numbers or truths of the program, which is no tensor yet.
Value with_tensor_leaves_like(FunctionContext& c, Value value, const Value& like);

// A tensor as what chooses a branch or ends a loop, which must be a scalar when it runs: one
// element of a higher rank will do, whether its shape is known now or not.
Tensor as_chooser(Emitter& emit, const Tensor& tensor);

// Python's truth of a value that is known now. A tensor of one element has that of the element; a
// ValueError for others, which says the name.
Result<bool> truth_of(FunctionContext& c, const Value& value, std::string_view name);

// The value with these tensors in the places of its own, in the order of collect_tensors.
Value with_tensors(Value value, std::span<const Tensor> tensors);

// What differs between two structures, in words; none if they have the same containers, None at the
// same places and tensors of the same dtypes.
std::optional<std::string> structural_difference(const Value& a, const Value& b);

// The value with the common supertypes of its own types and those of b, which does not differ.
Value with_common_types(Value value, const Value& b);

// The value with the types of `after`, nested like it, for arrays of which those say more: an
// iteration tells what the elements of a list are that was empty before.
Value with_types_learnt(Value value, const Value& after);

// Whether the composite tensors of a loop's variables, nested alike, are of the same types after an
// iteration but for their shapes: a TypeError if not, as a graph feeds their tensors alone.
Status check_composites_like(const Value& before, const Value& after);

// Whether containers nest in the same way, whatever their leaves are: a ValueError with this
// message if there are other items, a TypeError if a container is of another type and types count.
Status check_nested_like(const Value& a, const Value& b, std::string_view message,
                         bool types_count = true);

// The name of a body of the node that a function makes, after its scope: "deep_while_body".
std::string name_of_body(const FunctionContext& c, std::string_view suffix);

std::vector<Tensor> tensors_of(const Value& value);

}  // namespace graven::engine
