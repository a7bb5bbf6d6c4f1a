#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/attributes.h"
#include "graven/ir/op.h"
#include "graven/ir/read.h"
#include "graven/tensor/shape.h"
#include "graven/tensor/symbol_table.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

class Graph;
class Node;

// The origin of the elements of an output of an op: the result of a record's `.reads`. It is
// written over an index space: an index for each axis of the output, or several for an axis that is
// split (a Tile by m of n elements is [m,n], of which the inner index is read).
//
//   Transpose of [n,m]    over [m,n], input 0 at [i1,i0]
//   ReverseV2             over [n], input 0 at [-1 - i0]
//   Tile of [n] by 3      over [3,n] split into one axis, input 0 at [i1]
//   ConcatV2              a piece for each input, from where the one before ended
//   Pad                   filled with zeros, and input 0 as a piece in it
//   x[i] of [n,m]         over [m], input 0 at [0,i0], to whose axis 0 input 1 adds
//   Split of [2*n]        each output over [n], the second one input 1 at [i0 + n]
//
// All sizes in it are Dims of the graph, or numbers.
struct Movement {
  // An integer, the value of an input at run time, that is added to the index along an axis of the
  // tensor that is read. All elements read must lie within the tensor.
  struct RunTimeOffset {
    int axis = 0;
    int input = 0;
    int64_t element = 0;           // of that input, in row-major order
    bool counts_from_end = false;  // -1 is the last index
    // Gives the op's error if `count` elements from this index on do not lie within the size of the
    // axis. Null: such an index moves to the nearest one at which they do.
    Status (*refuse)(int64_t index, int axis, int64_t size, int64_t count) = nullptr;
  };
  using Indices = InlineVector<Dim, 6>;
  // A box of the index space, and the input that it shows. Boxes do not overlap.
  struct Piece {
    int input = 0;
    Read read;      // at indices that count from the start of the box
    Indices start;  // of the box, for each index; empty: it is the whole space
    Indices size;   // likewise
    std::vector<RunTimeOffset> offsets;
  };
  static constexpr int kNothing = -2, kZeros = -1;

  Shape space;
  InlineVector<int, 6> split;  // how many indices each axis of the output is; empty: one each
  using Pieces = InlineVector<Piece, 1>;
  Pieces pieces;
  // The elements outside all pieces: kNothing, there are none; kZeros (false, empty strings); or
  // the element of the input with this number.
  int fill = kNothing;

  // True if the whole output is one input, read at indices that are known without running anything,
  // one for each axis: the input can be read instead of the output, without a copy.
  bool is_one_read() const {
    return pieces.size() == 1 && pieces[0].start.empty() && pieces[0].offsets.empty() &&
           split.empty() && fill == kNothing;
  }
  int indices_of_axis(int axis) const { return split.empty() ? 1 : split[axis]; }
};

// The movement that is one read of an input over the whole output.
GRAVEN_API Movement one_read(const Shape& output, Read read, int input = 0);

// Arithmetic on Dims of a graph, or, without its table, on numbers. A result that no Dim can say,
// or that would be negative, is unknown.
class GRAVEN_API DimArithmetic {
 public:
  explicit DimArithmetic(SymbolTable* symbols) : symbols_(symbols) {}
  Dim add(Dim a, Dim b) const;
  Dim subtract(Dim a, Dim b) const;
  Dim multiply(Dim a, Dim b) const;

 private:
  SymbolTable* symbols_;
};

// The argument of a record's `.reads`: one application of the op that inference has accepted, and
// one of its outputs. The shapes of the output and the inputs have a known rank.
class GRAVEN_API ReadsContext : public DimArithmetic {
 public:
  // Values of inputs are empty where they are not known. All arguments outlive the context.
  ReadsContext(AttrsRef attrs, std::span<const Shape* const> inputs, std::span<const Tensor> values,
               const Shape& output, int output_index, SymbolTable* symbols)
      : DimArithmetic(symbols),
        attrs_(attrs),
        inputs_(inputs),
        values_(values),
        output_(output),
        output_index_(output_index) {}

  template <typename A>
  const A& attrs() const {
    return attrs_.as<A>();
  }
  AttrsRef raw_attrs() const { return attrs_; }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  const Shape& shape(int input) const { return *inputs_[input]; }
  const Shape& output() const { return output_; }
  int output_index() const { return output_index_; }
  // The value of an input if it is known now, else an empty tensor.
  const Tensor& value(int input) const { return values_[input]; }

 private:
  AttrsRef attrs_;
  std::span<const Shape* const> inputs_;
  std::span<const Tensor> values_;
  const Shape& output_;
  const int output_index_;
};

// The movement of an output of a node; none if its op has none, or a rank or Dim is unknown.
GRAVEN_API std::optional<Movement> movement_of(const Node& node, int output, Graph& graph);
// The same at run time, for an output of this shape.
GRAVEN_API std::optional<Movement> movement_of(const Op& op, AttrsRef attrs,
                                               std::span<const Tensor> inputs, const Shape& shape,
                                               int output);

// Composes two reads: `outer` reads a tensor of shape `middle`, whose elements are read at `inner`
// from a tensor of shape `from`. None if one read cannot say it.
GRAVEN_API std::optional<Read> compose(const Read& outer, const Shape& middle, const Read& inner,
                                       const Shape& from, const DimArithmetic& dims);

}  // namespace graven::engine
