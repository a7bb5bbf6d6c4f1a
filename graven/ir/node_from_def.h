#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/body.h"
#include "graven/ir/builder.h"
#include "graven/ir/graph.h"
#include "graven/ir/graph_def.h"

namespace graven::engine {

// The functions of a GraphDef: each becomes a Body when it is first asked for. Borrows them.
class FunctionLibrary {
 public:
  // A ValueError if two have one name.
  Status add(const std::vector<FunctionDef>& functions);
  bool has(std::string_view name) const { return entries_.find(name) != entries_.end(); }
  Result<Ref<Body>> body(const std::string& name);

 private:
  struct Entry {
    const FunctionDef* function;
    Ref<Body> body;
    bool is_open;  // it is being made
  };
  std::map<std::string, Entry, std::less<>> entries_;
};
Result<Ref<Graph>> graph_of(const FunctionDef& function, FunctionLibrary& library);

struct MadeNode {
  Node* node = nullptr;  // if the op is made of others, the last of them
  Tensors outputs;
};
// Adds one node under this name to the graph of the current frame, and checks it; the inputs are
// flat. See import_graph_def.h.
Result<MadeNode> add_node(const NodeDef& def, std::string name, std::span<const Tensor> inputs,
                          std::span<Node* const> controls, FunctionLibrary& library,
                          Builder& builder);
// Sets the attributes that the node's op has not.
void set_extra_attributes(Node& node, const AttrDefs& attributes);

}  // namespace graven::engine
