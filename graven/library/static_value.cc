#include "graven/library/static_value.h"

#include <map>
#include <utility>
#include <vector>

#include "graven/ir/call_sizes.h"
#include "graven/ir/graph.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/structural_ops.h"
#include "graven/runtime/eager_builder.h"

namespace graven::engine {
namespace {

// Limits of the elements of a value and of the length of a chain of ops.
constexpr int64_t kMaxElements = 1 << 12;
constexpr int kMaxDepth = 64;

class StaticValues {
 public:
  explicit StaticValues(Ref<Graph> graph) : graph_(std::move(graph)) {}

  // The open sizes of which values were computed.
  std::span<OpenSize* const> sizes() const { return sizes_; }

  Tensor of(OutputRef output, int depth) {
    const auto [found, is_new] = values_.try_emplace({output.node->id(), output.index});
    if (is_new) found->second = find(output, depth);
    return found->second;
  }

 private:
  Tensor find(OutputRef output, int depth) {
    const Tensor inputs[] = {symbolic_tensor(graph_, output)};
    const TypeBindings no_types = {};
    const InferContext known(*kIdentity.op, NoAttrs(), inputs, no_types, 1, nullptr);
    if (Tensor value = known.value(0)) return value;
    if (Tensor value = CallSizes::value(inputs[0], sizes_)) return value;
    const Node& node = *output.node;
    const auto count = node.output(output.index).shape.checked_num_elements();
    if (depth == 0 || !count || *count > kMaxElements || node.op().is_stateful_ever() ||
        node.op().record().body.kind() == OpBody::Kind::kNone) {
      return {};
    }
    return computed(node, output.index, depth);
  }

  Tensor computed(const Node& node, int index, int depth) {
    Tensors inputs;
    for (OutputRef input : node.inputs()) {
      inputs.push_back(of(input, depth - 1));
      if (!inputs.back()) return {};
    }
    auto outputs = eager_builder().apply(node.op(), {inputs.data(), inputs.size()}, node.attrs());
    return outputs.ok() ? (*outputs)[index] : Tensor();
  }

  const Ref<Graph> graph_;
  std::map<std::pair<int, int>, Tensor> values_;
  std::vector<OpenSize*> sizes_;
};

}  // namespace

Tensor static_value(const Tensor& x) {
  if (!x || !x.is_symbolic()) return x;
  const SymbolicTensor& tensor = symbolic(x);
  StaticValues values(tensor.graph());
  Tensor value = values.of(tensor.output(), kMaxDepth);
  if (value) CallSizes::read(values.sizes());
  return value;
}

}  // namespace graven::engine
