#pragma once
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "graven/ir/graph.h"
#include "graven/ir/movement.h"
#include "graven/ir/read.h"

namespace graven::engine {

// Finds the movements (transposes, slices, ...) that Fusions can read through, so that they need
// not run at all. Every reader, of any output of the movement, must be in a Fusion that can read
// through it. If several Fusions would have to gather, the movement runs once, for all of them.

// The properties of a Fusion that decide how it can read.
struct FusedReader {
  int group = -1;  // nodes of one group are computed in one pass
  Shape space;
  std::vector<int> reduced;  // ascending
  // Members go over rows that lie in order in memory; other reads are not possible.
  bool takes_only_rows = false;
};

class FusedReads {
 public:
  struct Source {
    OutputRef from;
    Read read;
  };
  // The Fusion that a node may be in, if any, and how the node reads a value.
  using ReaderOf = std::function<std::optional<FusedReader>(const Node& reader)>;
  using ReadOf = std::function<std::optional<Read>(const Node& reader, OutputRef value)>;

  // `reader` describes the Fusion of a node if it may be in one, `read` how a node reads an input.
  FusedReads(Graph& graph, ReaderOf reader, ReadOf read)
      : graph_(graph), reader_(std::move(reader)), read_(std::move(read)) {}

  // Chooses anew, without the refused movements. Nodes come in a valid order.
  void choose(std::span<Node* const> nodes);
  void refuse(const Node* movement) { refused_[movement] = true; }
  // Whether the node is read through.
  bool is_chosen(const Node* node) const { return chosen_.contains(node); }
  // The value to read in place of `value`, and how, for a reader that reads `value` by `read`.
  Source source_of(OutputRef value, Read read) const;

 private:
  struct Use {
    FusedReader reader;
    Read read;
  };
  // The movements of a node whose outputs are all reads of one input.
  struct Movements {
    int input = -1;
    std::vector<std::optional<Movement>> of_output;  // none for outputs without readers
  };
  struct Chosen {
    Movements movements;
    std::vector<Use> uses;     // uses of the node's input
    bool is_readable = false;  // kernels can read the node's input
  };
  std::optional<Movements> movements_to_read(Node* node) const;
  std::optional<Chosen> chosen_of(Node* node, Movements movements) const;
  bool add_uses(OutputRef value, const Read& inner, const OutputType& from, Chosen& chosen) const;
  void drop_unreadable(std::span<Node* const> nodes);

  Graph& graph_;
  ReaderOf reader_;
  ReadOf read_;
  std::unordered_map<const Node*, bool> refused_;
  std::unordered_map<const Node*, Chosen> chosen_;
  std::unordered_map<const Node*, std::vector<Node*>> users_;
  std::unordered_map<const Node*, bool> must_stay_;  // returned, or waited for
};

}  // namespace graven::engine
