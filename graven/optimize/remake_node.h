#pragma once
#include <span>
#include <vector>

#include "graven/ir/bodies.h"
#include "graven/ir/graph.h"
#include "graven/optimize/rewriter.h"

namespace graven::engine {

// The parts of a node that runs bodies, to be changed by a pass, which then makes the node anew of
// them. Bodies themselves never change: other nodes may hold them.
struct NodeParts {
  std::vector<Ref<Graph>> graphs;  // copies of the bodies' graphs, in the order of the bodies
  std::vector<OutputRef> inputs;   // of the bodies, those that all of them take
  // For each output of the node, which of the new outputs it is; -1 if nothing uses it.
  std::vector<int> output_of;
};

// True for the nodes that passes over bodies change: branches and loops, whose bodies all take the
// same inputs. `bodies` are the node's.
bool has_common_inputs(const NodeBodies& bodies);

// The parts of a node as they are.
NodeParts parts_of(const Node& node, const NodeBodies& bodies);

// Keeps these inputs in all graphs and among the inputs of the node. Nothing uses the others.
void keep_inputs(NodeParts& parts, const std::vector<bool>& is_kept);

// Puts a node of these parts in the place of a visited one, whose outputs may have been replaced
// already. `more` are the types of outputs beyond those that parts.output_of names. Returns the new
// node.
Node* remake_node(Rewriter& rewriter, Node* node, const NodeBodies& bodies, NodeParts parts,
                  std::vector<OutputType> more = {});

// Which outputs of a node are read, by nodes or as outputs of the graph.
class UsedOutputs {
 public:
  explicit UsedOutputs(const Graph& graph);
  bool is_used(const Node& node, int output) const;

 private:
  std::vector<std::vector<bool>> of_;  // by id
};

// For each input of a graph, whether these of its outputs, or what must run, needs it.
std::vector<bool> needed_inputs(const Graph& graph, const std::vector<bool>& outputs);

// A copy, as types own what they hold.
OutputType copy_of(const OutputType& type);

// Marks further inputs as kept: those whose shapes alone say what a size is that the rest of the
// graph names. `outputs` as above.
void keep_sources_of_sizes(const Graph& graph, const std::vector<bool>& outputs,
                           std::vector<bool>& is_kept);

}  // namespace graven::engine
