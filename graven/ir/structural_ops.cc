#include "graven/ir/structural_ops.h"

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

}  // namespace graven::engine
