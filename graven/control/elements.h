#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graven/base/status.h"
#include "graven/control/ragged_rows.h"
#include "graven/ir/value.h"
#include "graven/library/function_context.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// Nested tensors of one length, taken apart along their first axes; ragged ones along their
// outermost dimension.
class Elements {
 public:
  // A ValueError if there is no tensor, one is a scalar, or their lengths are known to differ; a
  // TypeError if a composite tensor has no rows.
  static Result<Elements> create(FunctionContext& c, const Value& elems);

  // The number of rows, an int32 scalar, and as a number if it is known.
  const Tensor& length() const { return length_; }
  std::optional<int64_t> length_if_known() const { return length_if_known_; }
  // The rows of this number, in the structure of the elements.
  Value row(Emitter& emit, const Tensor& number) const;
  const Value& structure() const { return structure_; }
  // A tensor whose first axis has their length; null if all are ragged.
  const Tensor& first_dense() const { return first_dense_; }

 private:
  // A tensor, or a ragged one, and its rows where they are cut once for all.
  struct Part {
    Tensor tensor;
    Tensors rows;
    std::optional<RaggedElements> ragged;
  };
  static Result<std::optional<int64_t>> length_of(FunctionContext& c, const Tensor& tensor,
                                                  int ragged_rank);
  Status cut(FunctionContext& c, std::span<const Tensor> tensors, std::span<const int> ranks);

  Value structure_, row_structure_;  // of tensors
  std::vector<Part> parts_;
  Tensor first_dense_;
  Tensor length_;
  std::optional<int64_t> length_if_known_;
};

// Results of one dtype and shape for each of a number of rows, which become a tensor of one more
// axis. While a graph is built they lie in a list, a variable of the loop over the rows.
class ResultRows {
 public:
  ResultRows(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)) {}
  DType dtype() const { return dtype_; }
  // What is known of the shape of a row.
  const Shape& shape() const { return shape_; }

  // Where values are computed at once: the rows, and their tensor.
  void put(int64_t number, Tensor row);
  Tensor stacked(FunctionContext& c, int64_t length) const;

  // While a graph is built: an empty list, the list with one more row, and its tensor. The shape of
  // the first row that is traced counts.
  Tensor new_list(FunctionContext& c, const Elements& elements) const;
  Tensor with_row(Emitter& emit, const Tensor& list, const Tensor& number, const Tensor& row);
  Tensor stacked(FunctionContext& c, const Elements& elements, const Tensor& list) const;

 private:
  DType dtype_;
  Shape shape_;
  std::vector<Tensor> rows_;
};

}  // namespace graven::engine
