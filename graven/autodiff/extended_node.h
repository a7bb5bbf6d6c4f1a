#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "graven/base/status.h"
#include "graven/ir/attributes.h"
#include "graven/ir/builder.h"
#include "graven/ir/frame.h"
#include "graven/ir/op.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// A node that runs bodies (calls, branches, loops), made ready for its gradient: a node of the same
// kind over the forward halves of its bodies' gradient pairs. Behind its own outputs it gives what
// the backward halves need.
struct ExtendedNode {
  ExtendedNode(const Op& op, Attrs attrs) : op(&op), attrs(std::move(attrs)) {}
  const Op* op;
  Attrs attrs;
  std::vector<Tensor> more_inputs;  // behind the node's own: lists that a loop fills
  // The gradient of the extended node, which took these inputs and gave these outputs. Listeners
  // may be told of fewer outputs, the first ones.
  std::function<BackwardRef(std::span<const Tensor> inputs, std::span<const Tensor> outputs)>
      backward;
};

// The builder makes the further inputs. recompute: that of the node (ir/recompute.h), or 0. An
// error if a body has no gradient pair.
Result<ExtendedNode> extend_node(const Op& op, AttrsRef attrs, Builder& builder, int64_t recompute);

// --- One for each way to run bodies, a file each.
Result<ExtendedNode> extend_call(const Op& op, AttrsRef attrs);
Result<ExtendedNode> extend_branches(const Op& op, AttrsRef attrs);
Result<ExtendedNode> extend_loop(const Op& op, AttrsRef attrs, Builder& builder, int64_t recompute);

}  // namespace graven::engine
