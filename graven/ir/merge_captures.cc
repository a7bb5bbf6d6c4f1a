#include "graven/ir/merge_captures.h"

#include <unordered_map>
#include <utility>

namespace graven::engine {

std::vector<Tensor> merge_captures(std::span<OpenGraph* const> graphs) {
  std::vector<Tensor> outer;
  std::unordered_map<const TensorObject*, size_t> position_of;
  for (const OpenGraph* open : graphs) {
    for (const GraphBuilder::Capture& capture : open->captures) {
      if (position_of.try_emplace(capture.external.get(), outer.size()).second) {
        outer.push_back(capture.external);
      }
    }
  }
  for (OpenGraph* open : graphs) {
    std::vector<Node*> inputs(outer.size());
    for (const GraphBuilder::Capture& capture : open->captures) {
      inputs[position_of[capture.external.get()]] = &symbolic(capture.internal).node();
    }
    GraphBuilder builder(open->graph);
    const auto arguments = open->graph->inputs().first(static_cast<size_t>(open->num_arguments));
    std::vector<Node*> all(arguments.begin(), arguments.end());
    for (size_t i = 0; i < outer.size(); ++i) {
      if (!inputs[i]) {
        inputs[i] = &symbolic(builder.add_placeholder_like(outer[i], "unused")).node();
      }
      all.push_back(inputs[i]);
    }
    open->graph->set_inputs(std::move(all));
  }
  return outer;
}

}  // namespace graven::engine
