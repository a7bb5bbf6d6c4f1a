#pragma once
#include <memory>
#include <span>

#include "graven/base/status.h"
#include "graven/ir/graph.h"
#include "graven/runtime/step.h"

namespace graven::engine {

// The role of a node in a Program.
enum class NodeKind {
  kInput,
  kConstant,
  kNothing,  // computes nothing; nodes that wait for it wait for its control inputs instead
  kAlias,    // output 0 is one of its inputs, under the same shape
  kStep,
};
NodeKind kind_of_node(const Node& node, bool is_input);

// Whether inference gives numbers from facts of the graph alone: shapes that are numbers, and
// constants. With symbols, inference must run in the step, because its checks count then.
bool follows_from_numbers(const Op& op, std::span<const OutputRef> inputs);

// The step of a node of the kind kStep, with its outputs, but without slots.
Result<std::unique_ptr<Step>> make_step(const Node& node);

}  // namespace graven::engine
