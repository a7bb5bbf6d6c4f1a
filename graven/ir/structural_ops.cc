#include "graven/ir/structural_ops.h"

#include <algorithm>

namespace graven::engine {

const OpHandle<CallAttrs>& call_op(const Body& body) {
  return body.effects().stateful ? kStatefulPartitionedCall : kPartitionedCall;
}

CallAttrs call_attrs(const Ref<Body>& body) {
  CallAttrs attrs;
  attrs.f = body;
  for (const Node* input : body->graph()->inputs()) attrs.Tin.push_back(input->output(0).dtype);
  for (OutputRef output : body->graph()->outputs()) {
    attrs.Tout.push_back(output.node->output(output.index).dtype);
  }
  return attrs;
}

const Op& op_for_bodies(const Op& op, std::span<const Ref<Body>> bodies) {
  const std::pair<const Op*, const Op*> kPairs[] = {
      {kStatefulPartitionedCall.op, kPartitionedCall.op},
      {kIf.op, kStatelessIf.op},
      {kCase.op, kStatelessCase.op},
      {kWhile.op, kStatelessWhile.op}};
  const bool is_stateful =
      std::ranges::any_of(bodies, [](const Ref<Body>& body) { return body->effects().stateful; });
  for (const auto& [stateful, stateless] : kPairs) {
    if (&op == stateful || &op == stateless) return is_stateful ? *stateful : *stateless;
  }
  return op;
}

}  // namespace graven::engine
