#include "graven/autodiff/extended_node.h"

#include <utility>

#include "graven/autodiff/call_gradient.h"
#include "graven/autodiff/gradient_pair.h"
#include "graven/ir/bodies.h"

namespace graven::engine {

Result<ExtendedNode> extend_call(const Op& op, AttrsRef attrs) {
  ASSIGN_OR_RETURN(Ref<GradientPair> pair, gradient_pair(called_body(op, attrs)));
  const Ref<Body> forward = pair->forward();
  ExtendedNode extended(op, with_bodies(op, attrs, {&forward, 1}));
  extended.backward = [pair = std::move(pair)](std::span<const Tensor> inputs,
                                               std::span<const Tensor> outputs) {
    return backward_of_call(pair, inputs, outputs);
  };
  return extended;
}

Result<ExtendedNode> extend_node(const Op& op, AttrsRef attrs, Builder& builder,
                                 int64_t recompute) {
  switch (op.record().bodies.run) {
    case BodyRun::kOnce:
      return extend_call(op, attrs);
    case BodyRun::kOneOf:
      return extend_branches(op, attrs);
    case BodyRun::kWhile:
      return extend_loop(op, attrs, builder, recompute);
    case BodyRun::kAsTheOpLikes:
      break;
  }
  return internal_error("there is no gradient pair of the bodies of ", op.name());
}

}  // namespace graven::engine
