#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "graven/autodiff/extended_node.h"
#include "graven/autodiff/step.h"
#include "graven/base/status.h"
#include "graven/ir/body.h"
#include "graven/ir/graph.h"
#include "graven/ir/graph_builder.h"

namespace graven::engine {

// A body's graph, copied to become the forward half of its gradient pair. In the copy, nodes that
// run bodies run forward halves, and ops that are differentiated by their parts are expanded. It
// has one Tensor for each output of a node, so that gradients can be followed by tensors' ids.
class ForwardGraph {
 public:
  static Result<ForwardGraph> create(const Body& body, std::string name);
  // The same for a graph that is still being built, which is changed itself: its calls become calls
  // of forward halves, and parts of ops are added beside the ops. Its nodes stay.
  static Result<ForwardGraph> in_place(const Ref<Graph>& graph);

  const Ref<Graph>& graph() const { return graph_; }
  const std::vector<Tensor>& inputs() const { return inputs_; }
  const std::vector<Tensor>& outputs() const { return outputs_; }
  const std::vector<TapeStepRef>& steps() const { return steps_; }

  // The tensor of this graph for an outer one, which is a tensor of the body's graph, or one that
  // was captured as an input. Empty if there is none.
  Tensor tensor_of(const Tensor& outer) const;
  // Notes that a gradient of the user's has used the tensor of this graph for an outer one.
  Status note_use(const Tensor& outer, const Tensor& tensor);
  // The size of a tensor of this graph (op: kShape, or kTensorListLength or
  // kTensorListElementShape), as a tensor of the graph, one node for each. Empty if there is none
  // yet and the graph is frozen.
  Result<Tensor> size_of(const Op& op, const Tensor& tensor, AttrsRef attrs);
  // The number of the output that is this tensor. Adds the output if there is none; -1 if the graph
  // is frozen.
  int output_number(const Tensor& tensor);
  // The number of an output that is a zero and depends on nothing (see GradientPair::State::tie);
  // -1 if there is none and the graph is frozen.
  int tie_number();
  // The bytes of all members beside the graph.
  int64_t bytes_without_graph() const;
  // No node and no output is added after this.
  void freeze() { is_frozen_ = true; }

 private:
  ForwardGraph() = default;
  Tensor tensor_at(OutputRef output) const { return tensors_[output.node->id()][output.index]; }
  void add_tensors(Node* node);
  Status expand_composites();
  Status add_parts();
  Status extend_nodes();
  Status extend(Node* node, GraphBuilder& builder);
  void make_steps();
  void make_step_of(Node* node, std::vector<bool>& is_done);

  Ref<Graph> original_, graph_;
  std::map<std::pair<int, int>, OutputRef> copy_of_;  // by id and output in the original graph
  std::vector<std::vector<Tensor>> tensors_;          // by id and output
  std::vector<Tensor> inputs_, outputs_;
  std::vector<TapeStepRef> steps_;
  // In place only: the nodes of an expanded composite, and the tensors that equal its outputs.
  struct Parts {
    std::vector<Node*> nodes;
    std::vector<OutputRef> outputs;
  };
  std::unordered_map<const Node*, Parts> parts_of_;
  std::unordered_map<uint64_t, int> number_of_output_;  // by TensorObject::id
  std::map<std::tuple<uint64_t, const Op*, DType>, Tensor> size_of_;
  // Of nodes that run bodies, and the error of those whose bodies have no pair.
  std::unordered_map<const Node*, ExtendedNode> extended_;
  std::unordered_map<const Node*, Status> backward_of_failed_;
  int tie_number_ = -1;
  bool is_frozen_ = false;
};

}  // namespace graven::engine
