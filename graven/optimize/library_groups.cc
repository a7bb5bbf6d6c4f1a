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

SoleReaders::SoleReaders(const Graph& graph) {
  readers_.resize(static_cast<size_t>(graph.id_bound()));
  auto settle = [&](const Node* node) {
    readers_[static_cast<size_t>(node->id())] = {nullptr, true};
  };
  for (const Node* node : graph.nodes()) {
    for (OutputRef input : node->inputs()) {
      Reader& reader = readers_[static_cast<size_t>(input.node->id())];
      if (reader.is_settled || reader.node == node) continue;
      reader.node ? settle(input.node) : void(reader.node = node);
    }
    for (const Node* before : node->control_inputs()) settle(before);
  }
  for (OutputRef output : graph.outputs()) settle(output.node);
  for (const Node* node : graph.control_outputs()) settle(node);
}

bool SoleReaders::is_own_product(OutputRef value, const Node& reader) const {
  return of(value.node) == &reader && can_be_library_member(*value.node) &&
         value.node->output(0).shape == reader.output(0).shape;
}

}  // namespace graven::engine
