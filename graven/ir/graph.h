#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/attributes.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/location.h"
#include "graven/ir/op.h"
#include "graven/tensor/symbol_table.h"

namespace graven::engine {

class Graph;
class Node;
class CustomGradient;
GRAVEN_API void add_ref_to(const CustomGradient* gradient);
GRAVEN_API void drop_ref_of(const CustomGradient* gradient);

// Output `index` of a node.
struct OutputRef {
  Node* node = nullptr;
  int index = 0;
  explicit operator bool() const { return node != nullptr; }
  friend bool operator==(OutputRef a, OutputRef b) = default;
};

// The type of one output of a node, as far as it is known.
struct OutputType {
  DType dtype = DType::kInvalid;
  Shape shape;
  // The shape says more than follows from the inputs: the user promised it (set_shape). The step
  // that makes the output checks it; later steps rely on it.
  bool is_promised = false;
  std::unique_ptr<SymbolicValue> sizes;     // see InferContext::sizes
  std::unique_ptr<HandleData> handle_data;  // of a resource
};

// One application of an op in a graph: typed SSA, plus control inputs for effects. Owned by the
// graph's arena. Changed only through the graph.
class GRAVEN_API Node {
 public:
  const Op& op() const { return *op_; }
  AttrsRef attrs() const { return attrs_; }
  const std::string& name() const { return name_; }
  // Position in the order of creation; unique in the graph, not dense after removals.
  int id() const { return id_; }
  Graph& graph() const { return *graph_; }

  std::span<const OutputRef> inputs() const { return inputs_; }
  std::span<Node* const> control_inputs() const { return control_inputs_; }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  const OutputType& output(int i) const { return outputs_[i]; }
  OutputType& output(int i) { return outputs_[i]; }

  const std::string& device() const { return device_; }
  const Ref<Location>& location() const { return location_; }
  // The gradient of the node in place of its op's; null for nearly all nodes.
  const Ref<CustomGradient>& custom_gradient() const { return custom_gradient_; }
  // An attribute by name: of the op's struct, a type parameter ("T"), a count ("N"), or one that
  // was set on this node only ("_user_specified_name"). monostate if there is none.
  AttrValue attribute(std::string_view name) const;
  // Attributes that were set on this node only, in the order of setting.
  std::span<const std::pair<std::string, AttrValue>> extra_attributes() const {
    return extra_attributes_;
  }
  // All of them, sorted by name.
  std::vector<std::pair<std::string, AttrValue>> attributes() const;

 private:
  friend class Graph;
  const Op* op_ = nullptr;
  Graph* graph_ = nullptr;
  Attrs attrs_{engine::attrs_type<NoAttrs>()};
  std::string name_, device_;
  int id_ = 0;
  std::vector<OutputRef> inputs_;
  std::vector<Node*> control_inputs_;
  std::vector<OutputType> outputs_;
  std::vector<std::pair<std::string, AttrValue>> extra_attributes_;
  Ref<Location> location_;
  Ref<CustomGradient> custom_gradient_;
};

// A function body: nodes in an order in which inputs come before users. Not for use by several
// threads while it is being built; constant, and free to share, once a Body holds it.
class GRAVEN_API Graph : public RefCounted {
 public:
  explicit Graph(std::string name);
  ~Graph() override;

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  // The graph in which this one was being built, null if none; not kept alive.
  Graph* outer() const { return outer_; }
  void set_outer(Graph* outer) { outer_ = outer; }
  SymbolTable& symbols() { return symbols_; }
  const SymbolTable& symbols() const { return symbols_; }

  // Nodes in order.
  std::span<Node* const> nodes() const { return nodes_; }
  Node* find(std::string_view name) const;
  // Above all ids there are, for tables by id.
  int id_bound() const { return static_cast<int>(arena_.size()); }

  // --- Inputs, in order: arguments, then captures. An input is a placeholder, or a constant that
  // stands for a captured tensor; each call feeds a value for it, and the constant's own value is
  // not used.
  std::span<Node* const> inputs() const { return inputs_; }
  void add_input(Node* node);
  bool is_input(const Node* node) const;
  void set_inputs(std::vector<Node*> inputs) { inputs_ = std::move(inputs); }
  // --- The returned values, and the nodes that must have run when the graph returns.
  std::span<const OutputRef> outputs() const { return outputs_; }
  void set_outputs(std::vector<OutputRef> outputs) { outputs_ = std::move(outputs); }
  std::span<Node* const> control_outputs() const { return control_outputs_; }
  void set_control_outputs(std::vector<Node*> nodes) { control_outputs_ = std::move(nodes); }

  // --- Building. Builders call these; they check types and infer shapes first.
  struct NewNode {
    const Op* op;
    AttrsRef attrs;
    std::string name;  // unique: see unique_name
    std::span<const OutputRef> inputs;
    std::vector<OutputType> outputs;
    std::vector<Node*> control_inputs = {};
    std::string device = {};
    Ref<Location> location = {};
  };
  Node* add(NewNode node);
  // `wished`, or wished_1, wished_2, ... (names are unique whatever their case). Marks it
  // used.
  std::string unique_name(std::string_view wished);
  // How often this was called before. The default seed of a random op comes from it.
  int64_t count_unseeded_op() { return unseeded_ops_++; }
  void set_attribute(Node* node, std::string name, AttrValue value);
  void set_custom_gradient(Node* node, Ref<CustomGradient> gradient);
  void add_control_input(Node* node, Node* before);
  // The node whose first output, such as an input, stands for an outer tensor of this id, or null.
  Node* capture_of(uint64_t tensor_id) const;
  void note_capture(uint64_t tensor_id, Node* input) { capture_of_[tensor_id] = input; }

  // --- For passes.
  // Turns the node into one of another op with other inputs, which come before it. Its name, place,
  // control inputs, extra attributes and outputs stay, so that users need not change; more outputs
  // may follow.
  void replace_op(Node* node, const Op& op, AttrsRef attrs, std::vector<OutputRef> inputs,
                  std::vector<OutputType> more_outputs);
  void set_input_of(Node* node, int i, OutputRef value);
  void set_control_inputs(Node* node, std::vector<Node*> before) {
    node->control_inputs_ = std::move(before);
  }
  void replace_uses(OutputRef old, OutputRef by);
  void replace_control_uses(Node* old, Node* by);  // by may be null: dropped
  void set_attrs(Node* node, AttrsRef attrs);
  // Turns a node of one output into the constant of this value; it keeps its name and place, and
  // waits for nothing.
  void make_constant(Node* node, Tensor value);
  // Removes nodes that nothing refers to any more.
  void remove(std::span<Node* const> nodes);
  // Puts the nodes in an order in which inputs and control inputs come first, else by id.
  void sort();
  // Puts the nodes in the given order, which is a valid one and holds each of them once.
  void set_order(std::vector<Node*> nodes) { nodes_ = std::move(nodes); }
  // A copy; symbols keep their numbers. map[node->id()] is filled with the copies if given.
  Ref<Graph> clone(std::vector<Node*>* map = nullptr) const;

  // Estimated memory: nodes, constants, and the bodies that are charged to its nodes
  // (Body::charge_to), with the contents of their slots. Each body counts once, also where bodies
  // hold each other.
  int64_t bytes() const;

 private:
  friend class Body;
  int64_t bytes_without_bodies() const;
  // The bodies that are charged to the nodes of this graph.
  std::vector<const Body*> charged_bodies() const;
  // Charges the bodies that a node holds to the node, if they have no owner; release_bodies undoes
  // it.
  static void charge_bodies(const Node& node);
  static void release_bodies(const Node& node);
  std::string name_;
  Graph* outer_ = nullptr;
  SymbolTable symbols_;
  std::deque<Node> arena_;
  std::vector<Node*> nodes_, inputs_, control_outputs_;
  std::vector<OutputRef> outputs_;
  std::unordered_map<std::string, int> used_names_;  // lower case to next suffix
  std::unordered_map<std::string_view, Node*> by_name_;
  std::unordered_map<uint64_t, Node*> capture_of_;
  int64_t unseeded_ops_ = 0;
};

// A symbolic tensor: an output of a node of a graph that is or was being built. Owns the graph.
class GRAVEN_API SymbolicTensor final : public TensorObject {
 public:
  SymbolicTensor(Ref<Graph> graph, OutputRef output);
  const Ref<Graph>& graph() const { return graph_; }
  OutputRef output() const { return output_; }
  Node& node() const { return *output_.node; }
  // For x.set_shape(...): merges the shape into the node's type.
  Status set_shape(const Shape& shape);

 private:
  Ref<Graph> graph_;
  OutputRef output_;
};

GRAVEN_API Tensor symbolic_tensor(const Ref<Graph>& graph, OutputRef output);
// The tensor's object as a symbolic one; the tensor must be symbolic.
inline const SymbolicTensor& symbolic(const Tensor& tensor) {
  return *static_cast<const SymbolicTensor*>(tensor.get());
}

}  // namespace graven::engine
