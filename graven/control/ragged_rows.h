#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "graven/library/function_context.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// Ragged tensors as their tensors: flat values, then row splits, outer ones first. Those of a row
// are one fewer, as the outermost row splits have cut it.

// The rows of a ragged tensor of one ragged dimension or more.
class RaggedElements {
 public:
  RaggedElements(FunctionContext& c, std::span<const Tensor> tensors);
  // The tensors of the row of this number.
  std::vector<Tensor> row(Emitter& emit, const Tensor& number) const;

 private:
  // A tensor in parts along its first axis: as tensors where values are computed at once, else as a
  // list of them.
  struct Parts {
    Tensors at_once;
    Tensor list;
    Shape shape;
    DType dtype = DType::kInvalid;
    Tensor part(Emitter& emit, const Tensor& number) const;
  };
  static Parts cut(FunctionContext& c, const Tensor& tensor, const Tensor& lengths);

  Parts values_;
  std::vector<Parts> lengths_;  // of the rows of each dimension in a row
};

// Results, ragged or dense, for each of a number of rows, of which a ragged tensor is made. While a
// graph is built they lie in lists, as those of ResultRows.
class RaggedRows {
 public:
  // What is known of the values of a row, and how many row splits there will be, of which dtype.
  RaggedRows(DType dtype, Shape values, int ragged_rank, DType splits_dtype)
      : dtype_(dtype),
        values_(std::move(values)),
        ragged_rank_(ragged_rank),
        splits_dtype_(splits_dtype) {}

  // Where values are computed at once: the tensors of a row, and those of all.
  void put(int64_t number, std::span<const Tensor> row);
  std::vector<Tensor> stacked(FunctionContext& c) const;

  // While a graph is built: empty lists, as many as tensors of a row, the lists with one more row,
  // and the tensors of all.
  std::vector<Tensor> new_lists(FunctionContext& c, const Tensor& length) const;
  std::vector<Tensor> with_row(Emitter& emit, std::span<const Tensor> lists, const Tensor& number,
                               std::span<const Tensor> row);
  std::vector<Tensor> stacked(FunctionContext& c, std::span<const Tensor> lists,
                              std::optional<int64_t> length_if_known) const;
  size_t num_tensors() const { return static_cast<size_t>(ragged_rank_); }

 private:
  DType dtype_;
  Shape values_;
  int ragged_rank_;
  DType splits_dtype_;
  std::vector<std::vector<Tensor>> rows_;
};

}  // namespace graven::engine
