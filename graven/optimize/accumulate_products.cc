#include "graven/optimize/accumulate_products.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "graven/ir/cost.h"
#include "graven/ir/structural_ops.h"
#include "graven/optimize/library_groups.h"
#include "graven/optimize/rewriter.h"

namespace graven::engine {
namespace {

// Smaller parts wait for each other in a cache.
constexpr double kMinBytes = 16 << 10;

class ProductAccumulator {
 public:
  explicit ProductAccumulator(Graph& graph) : graph_(graph), rewriter_(graph), readers_(graph) {
    links_behind_.resize(static_cast<size_t>(graph.id_bound()));
    position_.resize(links_behind_.size(), -1);
  }

  Result<bool> run() {
    for (Node* node : rewriter_.nodes()) {
      position_[id_of(node)] = num_nodes_++;
      if (is_large_sum(*node)) cut(node);
    }
    for (Node* node : rewriter_.nodes()) {
      rewriter_.visit(node);
      for (const Link& link : links_behind_[id_of(node)]) place(link);
    }
    return rewriter_.finish();
  }

 private:
  // Adds the inputs of a sum from `begin` to `end` to what was added before them.
  struct Link {
    Node* sum;
    size_t begin, end;
  };

  static size_t id_of(const Node* node) { return static_cast<size_t>(node->id()); }

  // Shorter dtypes are rounded once, at the end of the sum.
  bool is_large_sum(const Node& node) const {
    if (&node.op() != kAddN.op || rewriter_.is_input(&node)) return false;
    const OutputType& type = node.output(0);
    const bool is_chain_equal = (type.dtype == DType::kFloat32 || type.dtype == DType::kFloat64) &&
                                !type.is_promised && is_definite(type.shape) &&
                                std::ranges::all_of(node.inputs(), [&](OutputRef input) {
                                  return input.node->output(input.index).shape == type.shape;
                                });
    return is_chain_equal &&
           guessed_elements(type.shape) * static_cast<double>(dtype_size(type.dtype)) >= kMinBytes;
  }

  // Cuts the inputs of a sum behind each product that is computed later than those before it.
  void cut(Node* sum) {
    const auto inputs = sum->inputs();
    int latest = position_[id_of(inputs[0].node)];
    size_t begin = 0;
    for (size_t i = 1; i + 1 < inputs.size(); ++i) {
      const int position = position_[id_of(inputs[i].node)];
      if (position > latest && readers_.is_own_product(inputs[i], *sum)) {
        links_behind_[id_of(inputs[i].node)].push_back({sum, begin, i + 1});
        begin = i + 1;
      }
      latest = std::max(latest, position);
    }
  }

  // Adds the node of a link behind its last input. The sum reads it, and what is left.
  void place(const Link& link) {
    Node* sum = link.sum;
    // The links before it have each put one input in the place of several.
    const size_t added = link.end - link.begin + (link.begin > 0 ? 1 : 0);
    const std::vector<OutputRef> inputs(sum->inputs().begin(), sum->inputs().end());
    const OutputType& type = sum->output(0);
    std::vector<OutputType> outputs(1);
    outputs[0].dtype = type.dtype;
    outputs[0].shape = type.shape;
    const auto cut = inputs.begin() + static_cast<std::ptrdiff_t>(added);
    Node* node = graph_.add({.op = &sum->op(),
                             .attrs = sum->attrs(),
                             .name = graph_.unique_name(sum->name()),
                             .inputs = {inputs.begin(), cut},
                             .outputs = std::move(outputs),
                             .device = sum->device(),
                             .location = sum->location()});
    rewriter_.place(node);
    std::vector<OutputRef> left = {{node, 0}};
    left.insert(left.end(), cut, inputs.end());
    graph_.replace_op(sum, sum->op(), sum->attrs(), std::move(left), {});
  }

  Graph& graph_;
  Rewriter rewriter_;
  SoleReaders readers_;
  int num_nodes_ = 0;
  std::vector<int> position_;                    // by id
  std::vector<std::vector<Link>> links_behind_;  // by id of the last input
};

}  // namespace

Result<bool> accumulate_products(Graph& graph) { return ProductAccumulator(graph).run(); }

}  // namespace graven::engine
