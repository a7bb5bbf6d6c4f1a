#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "graven/ir/batch_context.h"
#include "graven/ir/movement.h"
#include "graven/tensor/symbol_table.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// What a node that only moves elements does in one row, and the sizes of that row. Both are said in
// the Dims of the function that was traced for a row; here the Dims become tensors for ops that run
// for all rows.
class RowSizes {
 public:
  explicit RowSizes(BatchContext& c);

  // Arithmetic on these Dims.
  const DimArithmetic& dims() const { return dims_; }
  // The origin of the elements of an output of a row; none if the record does not say it, or a rank
  // or a value that decides about it is not known, or differs between rows.
  std::optional<Movement> movement_of(int output) const;

  // An int32 vector of sizes, behind the number of rows if that is to be in front. Empty if one of
  // them is not found in a shape of an input, or in its integers.
  Tensor vector(bool with_rows, std::span<const Dim> sizes);
  // The same for Reshape, which finds one size itself.
  Tensor vector_for_reshape(bool with_rows, std::span<const Dim> sizes);

 private:
  struct Run;
  Run longest_run(std::span<const Dim> sizes) const;
  Tensor elements(const Run& run);
  Tensor known_value(int i) const;

  BatchContext& c_;
  // Of its own, as other threads may read the function's.
  std::unique_ptr<SymbolTable> symbols_;
  DimArithmetic dims_;
  std::vector<Tensor> shapes_;  // of inputs for all rows, once one is asked for
};

}  // namespace graven::engine
