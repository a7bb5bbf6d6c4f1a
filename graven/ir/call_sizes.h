#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "graven/base/export.h"
#include "graven/ir/graph.h"
#include "graven/ir/open_size.h"

namespace graven::engine {

// The numbers behind the symbols of one graph while it is traced for a call. A trace that leaves
// sizes open is built over symbols, so that it serves other sizes; but code that asks for a size as
// a number gets the call's. The size counts as read then: it becomes that number in all graphs that
// are being built, and nothing has to be run again. Nodes that were made before, over the symbol,
// are right for the number too.
//
// So that errors, ranks and sizes of results are those of an exact trace, shape inference runs
// again, with the numbers, for each op whose inputs have open sizes; and so that the trace serves
// other sizes, once more with other numbers, the same for sizes that are equal in the call: an op
// that would refuse those, because it adds a tensor of 3 rows or splits in two, reads its sizes.
//
// An object belongs to the graph that is built in the current frame; they form a stack on the
// thread that traces, one for each graph that is traced around this one.
class GRAVEN_API CallSizes {
 public:
  explicit CallSizes(Ref<Graph> graph);
  ~CallSizes();
  CallSizes(const CallSizes&) = delete;
  // That of the innermost graph; null if nothing is traced.
  static CallSizes* current();
  // True if some graph that this thread traces has open sizes.
  static bool any();

  // Leaves a dimension of an argument open, whose Dim is a symbol. `size` outlives this.
  void open(Dim symbol, OpenSize& size);

  // --- Reading. A tensor of a graph that is not traced any more has no open sizes.

  // The number of a dimension; none if even the call does not know it. It does not count as a read.
  static std::optional<int64_t> number(const Tensor& x, int axis);
  // The same as a read.
  static std::optional<int64_t> read(const Tensor& x, int axis);
  // Reads all sizes, and returns the shape with these numbers.
  static const Shape& read_shape(const Tensor& x);
  // Whether two sizes are the same number. They are read unless that follows from the symbols.
  // Sizes that even the call does not know are alike.
  static bool is_same_size(const Tensor& x, int axis, const Tensor& y, int other_axis);
  // The elements of an integer tensor that holds sizes, as numbers; empty if the call does not know
  // them all. The sizes that they come from are added to `from`.
  static Tensor value(const Tensor& x, std::vector<OpenSize*>& from);
  static void read(std::span<OpenSize* const> sizes);
  // Reads all sizes that are open: for code that runs later, and may ask for any of them then.
  static void read_all();
  // Says that a size of a result, which the symbols do not tell, is that of a tensor of the same
  // graph or one around it.
  static void know(const Tensor& result, int axis, const Tensor& x, int other_axis);
  // Brings the shape of a tensor that code of the program holds up to date.
  static void refresh(const Tensor& x);

  // --- For the GraphBuilder.

  // A symbol of a body stands for a symbol of the graph around it.
  static void link(const Graph& inner, Dim symbol, const Graph& outer, int64_t outer_symbol);
  // The number of a symbol that was read.
  static std::optional<int64_t> number_read(const Graph& graph, int64_t symbol);
  // Infers the types of a node again, with the numbers of the call: an error where an exact trace
  // would have one. Returns true if sizes had to be read, because the symbols say less than the
  // numbers: then the inputs are up to date, and the types are to be inferred again.
  static Result<bool> infer_for_call(Graph& graph, const Op& op, std::span<const Tensor> inputs,
                                     AttrsRef attrs, const TypeBindings& types,
                                     const std::string& node_name,
                                     const std::vector<OutputType>& outputs);

 private:
  // A symbol whose number the call knows.
  struct Known {
    int64_t number = 0;
    int64_t other_number = 0;     // that another call might have
    std::vector<OpenSize*> from;  // all of these are read when the symbol is
    bool is_read = false;
    const Graph* outer = nullptr;  // the graph around this one, in which it is `in_outer`
    Dim in_outer = Dim::unknown();
  };
  struct Elements {
    SymbolicValue sizes, other_sizes;
    std::vector<OpenSize*> from;
  };
  enum class Which { kCall, kOther };
  // The inputs of an op with numbers in the place of symbols, as tensors of a graph of their own.
  struct Numbered {
    Ref<Graph> graph;
    std::vector<Tensor> inputs;
    std::vector<OpenSize*> from;
  };
  static CallSizes* of(const Graph* graph);
  static void note_reads();
  void add(int64_t symbol, Known known);
  std::optional<int64_t> number(Dim dim, Which which = Which::kCall) const;
  Numbered numbered(std::span<const Tensor> inputs, Which which) const;
  void add_sources(Dim dim, std::vector<OpenSize*>& from) const;
  void rewrite();
  // What a Dim is in the outermost graph that knows it.
  static std::pair<const Graph*, Dim> outermost(const Graph* graph, Dim dim);
  std::optional<SymbolicValue> elements(const Node& node, int output, Which which) const;
  // Of an output that has elements.
  void add_sources_of_elements(const Node& node, int output, std::vector<OpenSize*>& from) const;

  const Ref<Graph> graph_;
  CallSizes* const outer_;
  std::map<int64_t, Known> known_;                // by symbol
  std::vector<int64_t> numbers_, other_numbers_;  // the same, for SymbolTable::evaluate
  // Elements of which the symbols do not tell, by name of the node and output.
  std::map<std::pair<std::string, int>, Elements> elements_;
};

}  // namespace graven::engine
