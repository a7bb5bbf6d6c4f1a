#pragma once
#include <optional>
#include <span>

#include "graven/base/inline_vector.h"
#include "graven/batching/row_sizes.h"
#include "graven/ir/batch_context.h"
#include "graven/ir/movement.h"

namespace graven::engine {

// One piece of a movement for all rows, as ops on the input that it shows. movement_rule.h has the
// steps; each of them looks at the axes of the tensor that the one before has made.
class PieceOfRows {
 public:
  // `box` holds the size of each index, without that of the rows. All arguments outlive the object.
  PieceOfRows(BatchContext& c, RowSizes& sizes, const Movement::Piece& piece,
              std::span<const Dim> box);

  // The tensor [rows, box...]. Empty if these steps cannot make it.
  Tensor make();

 private:
  // An index of the space, with that of the rows in front.
  static constexpr int kRows = 0;
  struct Axis {
    InlineVector<int, 2> indices = {};  // that count it, the fastest last; none: its size is 1
    Dim size = 1;
    bool may_be_one = false;                          // when it runs, and then it broadcasts
    const Movement::RunTimeOffset* offset = nullptr;  // the one element of it that is read
    bool is_one() const { return indices.empty() && !offset; }
  };

  bool cut();
  bool look_up();
  bool split();
  bool turn();
  bool fit();
  void squeeze(std::span<const int> axes);

  const Movement::RunTimeOffset* offset_along(int axis) const;
  // Counts an axis by the indices of a read. None if these do not count elements in a row.
  struct Count;
  std::optional<Count> count_of(const Read::Axis& axis) const;
  Dim size_of(int index) const { return box_[static_cast<size_t>(index - 1)]; }
  int place_of(int index) const;  // of the axis that the index alone counts; -1: none

  BatchContext& c_;
  RowSizes& sizes_;
  const Movement::Piece& piece_;
  std::span<const Dim> box_;
  Tensor tensor_;
  InlineVector<Axis, 6> axes_;  // of the tensor
};

}  // namespace graven::engine
