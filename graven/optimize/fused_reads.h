#pragma once
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "graven/ir/graph.h"
#include "graven/ir/movement.h"
#include "graven/ir/read.h"

namespace graven::engine {

// Which movements a Fusion reads through instead of reading what they make: those whose every
// reader, of any output, is in a Fusion that can, so that they need not run at all. One that
// several Fusions would have to gather runs once, for all of them.

// What a Fusion is, for what it may read.
struct FusedReader {
  int group = -1;  // those of one group are computed in one pass
  Shape space;
  std::vector<int> reduced;  // ascending
  // Members go over rows of what they read as it lies; nothing else can be read.
  bool takes_only_rows = false;
};

class FusedReads {
 public:
  struct Source {
    OutputRef from;
    Read read;
  };
  // A node reads a value, which it would read otherwise, through its movements.
  using ReaderOf = std::function<std::optional<FusedReader>(const Node& reader)>;
  using ReadOf = std::function<std::optional<Read>(const Node& reader, OutputRef value)>;

  // `readers` says what a node reads for if it may be in a Fusion, `read` how it reads an input.
  FusedReads(Graph& graph, ReaderOf reader, ReadOf read)
      : graph_(graph), reader_(std::move(reader)), read_(std::move(read)) {}

  // Chooses anew, but none of those that were refused. Nodes come in a valid order.
  void choose(std::span<Node* const> nodes);
  void refuse(const Node* movement) { refused_[movement] = true; }
  // Whether the node is read through.
  bool is_chosen(const Node* node) const { return chosen_.contains(node); }
  // What is read instead of a value, which is read so.
  Source source_of(OutputRef value, Read read) const;

 private:
  struct Use {
    FusedReader reader;
    Read read;
  };
  // Of a node whose outputs are all reads of one input.
  struct Movements {
    int input = -1;
    std::vector<std::optional<Movement>> of_output;  // none of what nobody reads
  };
  struct Chosen {
    Movements movements;
    std::vector<Use> uses;     // of what it moves
    bool is_readable = false;  // kernels can read what it moves
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
