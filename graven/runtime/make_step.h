#pragma once
#include <memory>
#include <span>

#include "graven/base/status.h"
#include "graven/ir/graph.h"
#include "graven/runtime/step.h"

namespace graven::engine {

// What becomes of a node in a Program.
enum class NodeKind {
  kInput,
  kConstant,
  kNothing,  // computes nothing: who waits for it waits for what it waits for
  kAlias,    // its output is an input of it, under the same shape
  kStep,
};
NodeKind kind_of_node(const Node& node, bool is_input);

// The input that output 0 is (Identity, a Reshape to the same shape), or -1.
int same_input(const Node& node);

// Whether inference needs only what the graph knows for certain, to give numbers: shapes that are
// numbers, and constants. From symbols it must be asked when it runs, as its checks then count.
bool follows_from_numbers(const Op& op, std::span<const OutputRef> inputs);

// The step of a node of the kind kStep, with its outputs, but without slots.
Result<std::unique_ptr<Step>> make_step(const Node& node);

}  // namespace graven::engine
