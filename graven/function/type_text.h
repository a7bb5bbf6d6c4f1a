#pragma once
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graven/base/export.h"
#include "graven/function/generalizer.h"
#include "graven/function/trace_type.h"

// Types of arguments, in words that are the same in each run. Nothing here compares or prints an
// object of the program, which is named by its class; but the type of a composite tensor prints
// itself, which may run code of the program.
namespace graven::engine {

// The way to a leaf of an argument; its text is made when it is needed.
struct ArgumentPath {
  const ArgumentPath* outer = nullptr;
  const Container* container = nullptr;
  size_t position = 0;
  const std::string* parameter = nullptr;
  std::string text() const;  // "x[1]['mask']"
};

// "float32[2, None]", "variable float32[3]", "3", "an object of class models.Config", "a list of 2
// items", "SparseTensorSpec(TensorShape([2, 3]), tf.float32)". At most 200 characters or so.
GRAVEN_API std::string type_text(const TraceType& type);

// As the front end prints the type of a composite tensor; empty for other types.
std::string spec_text(const TraceType& type);

// The parameters, with what containers hold: "(x: float32[2, None], n: [3, {'k': None}])".
GRAVEN_API std::string signature_text(const FunctionType& type);

// "x.shape[0], y.shape[1]": sizes of arguments of this type.
std::string sizes_text(const FunctionType& type, std::span<const ArgumentSize> sizes);

// The paths of all leaves and containers of the arguments and their type_text of any length, in
// order.
using Leaves = std::vector<std::pair<std::string, std::string>>;
GRAVEN_API Leaves leaves_of(const FunctionType& type);

// The text of a signature as Python prints it, without the result, with "float32[2, None]" for each
// "TensorSpec(shape=(2, None), dtype=tf.float32, name=None)". Text that is not of this form stays.
std::string with_short_types(std::string_view text);

// True for types that only code of the program could compare or print.
bool is_uncertain(const TraceType& type);

}  // namespace graven::engine
