#include "graven/optimize/library_groups.h"

#include <algorithm>

#include "graven/ir/fusion.h"
#include "graven/optimize/rewriter.h"

namespace graven::engine {
bool can_be_library_member(const Node& node) {
  const OpRecord& record = node.op().record();
  if (!record.panels || node.num_outputs() != 1 || node.inputs().empty() || !is_pure(node)) {
    return false;
  }
  const OutputRef last = node.inputs().back();
  const DType dtype = last.node->output(last.index).dtype;
  if (record.body.kind_for(dtype, node.attrs()) != OpBody::Kind::kKernel) return false;
  const OutputType& result = node.output(0);
  if (result.is_promised || !is_definite(result.shape) || result.shape.rank() == 0 ||
      result.shape.rank() > FusionLimits::kMaxRank) {
    return false;
  }
  return std::ranges::all_of(node.inputs(), [](OutputRef input) {
    return is_definite(input.node->output(input.index).shape);
  });
}

}  // namespace graven::engine
