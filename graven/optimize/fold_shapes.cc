#include "graven/optimize/fold_shapes.h"

#include <algorithm>
#include <limits>
#include <vector>

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

bool may_hold_sizes(const OutputType& type) {
  return kIndexTypes.contains(type.dtype) && type.shape.has_rank() && type.shape.rank() <= 1;
}

// Finds the values that were computed of known elements alone. Inference may know a value without
// knowing all that it was computed of: element 1 of the vector [x // y, 3], or the vector without
// elements [x // y][1:]. If such a value became a constant, x // y would not be computed any more,
// and would not refuse a zero.
class KnownValues {
 public:
  KnownValues(const Rewriter& rewriter, int id_bound)
      : rewriter_(rewriter), reads_known_(id_bound, false) {}

  // Whether all the elements that inference may have from inputs are such values. The nodes are
  // visited in order. Of the other inputs it reads the shape at most.
  bool visit(const Node& node) {
    const bool reads_known = std::ranges::all_of(node.inputs(), [&](OutputRef input) {
      return !may_hold_sizes(type_of(input)) || is_known(input);
    });
    reads_known_[static_cast<size_t>(node.id())] = reads_known;
    return reads_known;
  }

 private:
  static const OutputType& type_of(OutputRef output) { return output.node->output(output.index); }
  bool is_known(OutputRef output) const {
    if (&output.node->op() == kConst.op || rewriter_.is_input(output.node)) return true;
    const auto& sizes = type_of(output).sizes;
    return sizes && std::ranges::none_of(*sizes, &Dim::is_unknown) &&
           reads_known_[static_cast<size_t>(output.node->id())];
  }

  const Rewriter& rewriter_;
  std::vector<bool> reads_known_;  // by id of the node
};

}  // namespace

bool fold_shapes(Graph& graph) {
  Rewriter rewriter(graph);
  KnownValues known(rewriter, graph.id_bound());
  for (Node* node : rewriter.nodes()) {
    rewriter.visit(node);
    const bool reads_known = known.visit(*node);
    if (&node->op() == kConst.op || rewriter.is_input(node) || !node->control_inputs().empty() ||
        !reads_known) {
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
        node->output(i).sizes.reset();  // It has no users any more: not to be found again.
      }
    }
  }
  return rewriter.finish();
}

}  // namespace graven::engine
