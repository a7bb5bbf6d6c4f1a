#pragma once
#include <vector>

#include "graven/ir/graph.h"

namespace graven::engine {

// Whether the node, a matrix product or a convolution, may be the library member of a Fusion: the
// op has .panels, the node has no effects, and all sizes of inputs and result are numbers or terms.
bool can_be_library_member(const Node& node);

// Which nodes of a graph are needed by one other only, as it was when this was made.
class SoleReaders {
 public:
  explicit SoleReaders(const Graph& graph);

  // The node that alone reads this one; null if there are several or none, or if something waits
  // for it or the graph returns it.
  const Node* of(const Node* node) const { return readers_[static_cast<size_t>(node->id())].node; }
  // Whether the reader alone needs the value, a product of its own shape that may be a member of
  // its Fusion.
  bool is_own_product(OutputRef value, const Node& reader) const;

 private:
  struct Reader {
    const Node* node = nullptr;
    bool is_settled = false;  // several, or needed otherwise
  };
  std::vector<Reader> readers_;  // by id
};

}  // namespace graven::engine
