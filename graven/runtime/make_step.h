#pragma once
#include <memory>

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

// The step of a node of the kind kStep, with its outputs, but without slots.
Result<std::unique_ptr<Step>> make_step(const Node& node);

}  // namespace graven::engine
