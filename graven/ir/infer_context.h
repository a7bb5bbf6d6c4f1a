#pragma once
#include <optional>
#include <span>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/inline_vector.h"
#include "graven/base/status.h"
#include "graven/ir/attributes.h"
#include "graven/ir/op.h"
#include "graven/tensor/symbol_table.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// The type of a value behind a handle or in a variant, as far as it is known: the value of a
// variable, or one component of an element of a list or a dataset.
struct HeldType {
  DType dtype = DType::kInvalid;
  Shape shape = Shape::unknown_rank();
};
struct HandleData {
  std::vector<HeldType> components;

  HandleData() = default;
  explicit HandleData(std::vector<HeldType> held) : components(std::move(held)) {}
  // For a handle or variant of one value.
  HandleData(DType dtype, Shape shape) : components{{dtype, std::move(shape)}} {}
  // The type of the value if there is one; an unknown type otherwise.
  HeldType value() const { return components.size() == 1 ? components[0] : HeldType(); }
};

// What an eager handle holds; none for other tensors, and for kinds that do not tell.
GRAVEN_API std::optional<HandleData> handle_data_of(const Tensor& eager);

// The sizes that an integer tensor of rank 0 to 2 holds, as far as they are known: numbers, terms
// or unknown. Shape arithmetic in a program (`tf.shape(x)[0] * 2`) carries them from Shape to
// Reshape. Values below zero are unknown here.
using SymbolicValue = InlineVector<Dim, 6>;

// The argument of an op's `infer`: it gives the inputs and takes the shapes of the outputs. The
// same function serves eager calls, where all shapes and values are numbers, and graphs, where
// sizes may be symbols or unknown. An error is about shapes, and its text does not name the op (the
// caller puts "[MatMul] " in front).
class GRAVEN_API InferContext {
 public:
  InferContext(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
               const TypeBindings& types, int num_outputs, SymbolTable* symbols);

  const Op& op() const { return op_; }
  template <typename A>
  const A& attrs() const {
    return attrs_.as<A>();
  }
  AttrsRef raw_attrs() const { return attrs_; }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(shapes_.size()); }
  const Shape& shape(int input) const { return inputs_[input].shape(); }
  DType dtype(int input) const { return inputs_[input].dtype(); }
  // The dtype that a type attribute of the op is bound to.
  DType type(std::string_view name) const;

  // The value of an input if it is known now: an eager tensor, a constant of the graph, a small
  // captured one; else an empty tensor.
  Tensor value(int input) const;
  // The sizes that an integer input holds, none if not even their number is known, or, in a graph,
  // if there are more of them than a shape may have.
  std::optional<SymbolicValue> sizes(int input) const;
  std::optional<HandleData> handle_data(int input) const;
  // False in an eager call: there is no need for set_sizes.
  bool is_graph() const { return symbols_ != nullptr; }

  void set_shape(int output, Shape shape) { shapes_[output] = std::move(shape); }
  void set_sizes(int output, SymbolicValue sizes);
  void set_handle_data(int output, HandleData data);

  // Arithmetic on Dims of this graph, or on numbers.
  Dim add(Dim a, Dim b) const;
  Dim subtract(Dim a, Dim b) const;
  Dim multiply(Dim a, Dim b) const;
  Dim floor_div(Dim a, Dim b) const;
  Dim ceil_div(Dim a, Dim b) const;
  Dim max(Dim a, Dim b) const;
  Dim new_symbol(std::string name) const;  // unknown, eagerly
  // A Dim of another graph in this one's terms, for calls: `of` maps its symbols to Dims here.
  // Unknown, eagerly.
  Dim substitute(const SymbolTable& from, Dim dim, FunctionRef<Dim(int64_t symbol)> of) const;
  // The size of two dimensions that broadcast, or an error that names the shapes.
  Result<Shape> broadcast(const Shape& a, const Shape& b) const;
  // Merges two Dims of one dimension: the better known one, or an error if they differ.
  Result<Dim> merge(Dim a, Dim b) const;

  // --- Results, for builders.
  std::span<Shape> shapes() { return {shapes_.data(), shapes_.size()}; }
  struct Extra {
    int output;
    std::optional<SymbolicValue> sizes;
    std::optional<HandleData> handle_data;
  };
  std::span<const Extra> extras() const { return extras_; }

 private:
  const Op& op_;
  AttrsRef attrs_;
  std::span<const Tensor> inputs_;
  const TypeBindings& types_;
  SymbolTable* symbols_;
  InlineVector<Shape, 2> shapes_;
  std::vector<Extra> extras_;
};

// Runs the rule of the context's op, which has one, and checks that no output has more than
// kMaxRank dimensions.
GRAVEN_API Status infer_outputs(InferContext& c);

// --- Rules that many ops share.
GRAVEN_API Status same_as_input(InferContext& c);     // output 0 is like input 0
GRAVEN_API Status same_shapes(InferContext& c);       // all inputs and output 0 have one shape
GRAVEN_API Status broadcast_inputs(InferContext& c);  // the broadcast of all inputs
GRAVEN_API Status scalar_output(InferContext& c);     // all outputs are scalars
GRAVEN_API Status no_outputs(InferContext& c);
GRAVEN_API Status unknown_outputs(InferContext& c);  // unknown rank
GRAVEN_API Status reduction_shape(InferContext& c);  // input 0 without the axes of input 1

// The axes of an integer value as positive numbers, each in [0, rank); errors name the axis.
GRAVEN_API Result<InlineVector<int, 6>> normalized_axes(const Tensor& axes, int rank);
GRAVEN_API Result<int> normalized_axis(int64_t axis, int rank);

}  // namespace graven::engine
