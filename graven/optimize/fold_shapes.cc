#include "graven/optimize/fold_shapes.h"

#include <limits>

#include "graven/ir/structural_ops.h"
#include "graven/optimize/rewriter.h"

namespace graven::engine {
namespace {

// The value of an output if it is known, else empty.
Tensor known_value(const OutputType& type) {
  if (!type.sizes || !kIndexTypes.contains(type.dtype)) return {};
  auto count = type.shape.checked_num_elements();
  if (!count || type.shape.rank() > 1 || *count != static_cast<int64_t>(type.sizes->size())) {
    return {};
  }
  int64_t largest = type.dtype == DType::kInt32 ? std::numeric_limits<int32_t>::max()
                                                : std::numeric_limits<int64_t>::max();
  for (Dim dim : *type.sizes) {
    if (!dim.is_number() || dim.number() > largest) return {};
  }
  auto made = Tensor::allocate(type.dtype, type.shape);
  if (!made.ok()) return {};
  for (size_t i = 0; i < type.sizes->size(); ++i) {
    int64_t size = (*type.sizes)[i].number();
    if (type.dtype == DType::kInt32) {
      made->mutable_data<int32_t>()[i] = static_cast<int32_t>(size);
    } else {
      made->mutable_data<int64_t>()[i] = size;
    }
  }
  return *made;
}

}  // namespace

bool fold_shapes(Graph& graph) {
  Rewriter rewriter(graph);
  for (Node* node : rewriter.nodes()) {
    rewriter.visit(node);
    if (&node->op() == kConst.op || rewriter.is_input(node) || !node->control_inputs().empty()) {
      continue;
    }
    for (int i = 0; i < node->num_outputs(); ++i) {
      Tensor value = known_value(node->output(i));
      if (!value || !is_pure(*node)) continue;
      if (node->num_outputs() == 1) {
        graph.make_constant(node, std::move(value));
        rewriter.set_changed();
      } else {
        rewriter.replace({node, i}, {rewriter.place_constant(*node, std::move(value)), 0});
        node->output(i).sizes.reset();  // Nobody uses it any more: not to be found again.
      }
    }
  }
  return rewriter.finish();
}

}  // namespace graven::engine
