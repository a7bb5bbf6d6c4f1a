#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/body.h"
#include "graven/ir/emitter.h"
#include "graven/ir/graph.h"
#include "graven/ir/infer_context.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// A value of a function that runs for many rows at once: one tensor for all rows, or the rows' own
// tensors along an axis in front, if it is batched. A list of tensors is one list for all rows in
// either case: if it is batched, each of its elements has the axis in front.
struct BatchedTensor {
  Tensor tensor;
  bool is_batched = false;
};

// The argument of a record's `.batch`: one node of a function, which the rule computes for all rows
// at once. The rule applies ops as an Emitter, so it serves values that are computed at once and
// graphs, and tapes see the ops.
class GRAVEN_API BatchContext : public Emitter {
 public:
  using Emitter::Emitter;

  // The node as it was traced for one row: its shapes are those of a row.
  virtual const Node& node() const = 0;
  const Op& op() const { return node().op(); }
  AttrsRef raw_attrs() const { return node().attrs(); }
  template <typename A>
  const A& attrs() const {
    return node().attrs().as<A>();
  }
  int num_inputs() const { return static_cast<int>(node().inputs().size()); }
  int num_outputs() const { return node().num_outputs(); }

  virtual const BatchedTensor& input(int i) const = 0;
  // An input as it is: with the axis of the rows in front if it is batched.
  const Tensor& x(int i) const { return input(i).tensor; }
  bool is_batched(int i) const { return input(i).is_batched; }
  bool any_batched() const;
  // True if one of these inputs is batched.
  bool any_batched(std::initializer_list<int> inputs) const;
  DType dtype(int i) const;
  // What is known of an input's shape in one row, and of an output's.
  Shape row_shape(int i) const;
  const Shape& row_shape_of_y(int i) const;
  // The number of its axes in one row, if that is known.
  std::optional<int> rank(int i) const;
  // The value of an input that is the same for all rows, if it is known now; else an empty tensor.
  Tensor value(int i) const;
  // The integers of such a value, if it is known.
  std::optional<std::vector<int64_t>> integers(int i) const;

  // The number of rows: an int32 scalar, as a vector of one element, and if it is known.
  virtual const Tensor& num_rows() const = 0;
  Tensor num_rows_as_vector(DType dtype = DType::kInt32);
  std::optional<int64_t> num_rows_if_known() const;

  // An input with the axis of the rows in any case. Empty, after use_loop, for a list whose
  // elements have a shape that is not known.
  Tensor repeated(int i);
  Tensor repeated(const BatchedTensor& x);
  // An input with axes of size 1 behind that of the rows, so that a row has this rank. One that is
  // the same for all rows is not changed: it broadcasts. Empty, after use_loop, if the rank is not
  // known or above `rank`.
  Tensor aligned(int i, int rank);

  // Output i, in any order. All of them must be set, unless the rule gives up.
  virtual void set_y(int i, Tensor y, bool is_batched = true) = 0;
  // There is no rule for this case: the node is run in a loop over the rows.
  virtual void use_loop() = 0;
  virtual bool uses_loop() const = 0;

  // Runs a body of the node for all rows, or for some of them, inline: what it applies goes to this
  // builder. The inputs are those of the body.
  virtual Result<std::vector<BatchedTensor>> run_body(Builder& builder, const Body& body,
                                                      std::span<const BatchedTensor> inputs,
                                                      const Tensor& num_rows) = 0;
  // Applies an op that runs bodies, so that its gradient is there.
  virtual Tensors apply_bodies(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs) = 0;
};

// A value with the axis of the rows, whose number is an int32 scalar. Empty for a list whose
// elements have a shape that is not known.
GRAVEN_API Tensor repeat_for_rows(Emitter& emit, const BatchedTensor& x, const Tensor& num_rows);
// What a variant holds, as far as it is known.
GRAVEN_API HeldType held_in(const Tensor& variant);

// --- Rules that many ops share.

// The op looks at each element alone, or at none: Identity. It has one shape for input and output.
GRAVEN_API void batch_any_shape(BatchContext& c);
// Inputs broadcast to the shape of the outputs.
GRAVEN_API void batch_broadcasting(BatchContext& c);
// The op works on the last axes of its inputs and takes any axes before them, the same for all
// inputs.
GRAVEN_API void batch_leading_axes(BatchContext& c);

}  // namespace graven::engine
