#include "graven/autodiff/graph_gradients.h"

#include <unordered_set>

#include "graven/autodiff/differentiate.h"
#include "graven/autodiff/forward_graph.h"

namespace graven::engine {
namespace {

// The tensors of the nodes' outputs for these tensors. An outer tensor that was never captured
// stays itself: it has no path to anything.
std::vector<Tensor> tensors_of(const ForwardGraph& graph, std::span<const Tensor> outer) {
  std::vector<Tensor> inner;
  for (const Tensor& tensor : outer) {
    Tensor known = graph.tensor_of(tensor);
    inner.push_back(known ? known : tensor);
  }
  return inner;
}

}  // namespace

Result<std::vector<Gradient>> graph_gradients(const Ref<Graph>& graph,
                                              std::span<const Tensor> targets,
                                              std::span<const Tensor> sources,
                                              std::span<const Tensor> seeds,
                                              std::span<const Tensor> stop, Builder& builder) {
  if (!seeds.empty() && seeds.size() != targets.size()) {
    return value_error("There are ", seeds.size(), " grad_ys for ", targets.size(), " ys");
  }
  ASSIGN_OR_RETURN(ForwardGraph forward, ForwardGraph::in_place(graph));
  auto ys = tensors_of(forward, targets), xs = tensors_of(forward, sources);
  std::vector<Target> seeded;
  for (size_t i = 0; i < ys.size(); ++i) {
    seeded.push_back({ys[i], {}});
    if (!seeds.empty()) seeded.back().dy.dense = seeds[i];
  }
  std::vector<uint64_t> ids;
  for (const Tensor& x : xs) ids.push_back(x.get()->id());
  // A step that makes nothing but stopped tensors is no step.
  std::unordered_set<uint64_t> stopped_ids;
  for (const Tensor& tensor : tensors_of(forward, stop)) stopped_ids.insert(tensor.get()->id());
  std::vector<TapeStepRef> steps;
  for (const TapeStepRef& step : forward.steps()) {
    TapeStep open = *step;
    for (StepTensor& y : open.outputs) {
      if (stopped_ids.contains(y.id)) y.id = 0;
    }
    steps.push_back(stopped_ids.empty() ? step : std::make_shared<const TapeStep>(std::move(open)));
  }
  return differentiate(std::move(steps), seeded, ids, builder);
}

}  // namespace graven::engine
