#include "graven/batching/movement_rule.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "graven/batching/piece_of_rows.h"
#include "graven/batching/row_sizes.h"
#include "graven/ir/movement.h"
#include "graven/ir/moving_ops.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

using Piece = Movement::Piece;
using Pieces = std::vector<const Piece*>;

Dim start_of(const Piece& piece, int index) {
  return piece.start.empty() ? Dim(0) : piece.start[static_cast<size_t>(index)];
}

// A number, false or an empty string.
Result<Tensor> zero_of(DType dtype) {
  ASSIGN_OR_RETURN(Tensor zero, Tensor::allocate(dtype, Shape()));
  if (dtype != DType::kString) std::memset(zero.mutable_raw_data(), 0, zero.bytes());
  return zero;
}

// One output of the context's node for all rows, put together from the pieces of its movement.
class MovedRows {
 public:
  MovedRows(BatchContext& c, RowSizes& sizes, const Movement& movement, int output)
      : c_(c), sizes_(sizes), movement_(movement), output_(output) {}

  Tensor make() {
    const Movement::Indices space(movement_.space.dims());
    const bool is_one = movement_.pieces.size() == 1 && movement_.pieces[0].start.empty();
    const bool is_empty = std::ranges::count(space, Dim(0)) > 0;
    Tensor y;
    if (is_one) {
      y = PieceOfRows(c_, sizes_, movement_.pieces[0], space).make();
    } else if (is_empty) {
      y = zeros(space);
    } else {
      Pieces pieces;  // those of size 0 show nothing
      for (const Piece& piece : movement_.pieces) {
        if (std::ranges::count(piece.size, Dim(0)) == 0) pieces.push_back(&piece);
      }
      y = joined(pieces, space, 0);
    }
    return y ? merged(y) : y;
  }

 private:
  // A part of a box along an index, and the pieces that lie in it; none: it is filled.
  struct Part {
    Dim start, size;
    Pieces pieces;
  };

  // The box of these pieces, which all have its size and place along the indices before this one.
  Tensor joined(const Pieces& pieces, Movement::Indices box, int index) {
    if (pieces.empty()) return filled(box);
    while (index < movement_.space.rank() && are_whole(pieces, index)) ++index;
    if (index == movement_.space.rank()) {
      if (pieces.size() > 1) return {};
      return PieceOfRows(c_, sizes_, *pieces[0], box_of(*pieces[0])).make();
    }
    const auto parts = parts_along(pieces, box[static_cast<size_t>(index)], index);
    if (!parts) return {};
    if (are_slices(*parts, index)) return packed(*parts, index);
    std::vector<Tensor> made;
    for (const Part& part : *parts) {
      box[static_cast<size_t>(index)] = part.size;
      made.push_back(joined(part.pieces, box, index + 1));
      if (!made.back()) return {};
    }
    if (made.size() == 1) return made[0];
    made.push_back(c_.constant(Tensor::scalar(static_cast<int32_t>(index + 1))));
    const Tensors joined = c_.apply(*kConcatV2.op, made, NoAttrs());
    return joined.empty() ? Tensor() : joined[0];
  }

  // Its own sizes: two that must be equal, which ConcatV2 and Pack check, may be different Dims.
  Movement::Indices box_of(const Piece& piece) const {
    return piece.start.empty() ? Movement::Indices(movement_.space.dims()) : piece.size;
  }
  // True if nothing lies behind the pieces along an index, as all of them start at 0: what is not
  // filled is covered by one piece from its start to its end.
  bool are_whole(const Pieces& pieces, int index) const {
    return movement_.fill == Movement::kNothing &&
           std::ranges::all_of(
               pieces, [&](const Piece* piece) { return start_of(*piece, index) == Dim(0); });
  }
  // True if each part is one piece, of one place along an index that it does not read.
  bool are_slices(std::span<const Part> parts, int index) const {
    return parts.size() > 1 && movement_.fill == Movement::kNothing &&
           std::ranges::all_of(parts, [&](const Part& part) {
             return part.size == Dim(1) && part.pieces.size() == 1 &&
                    !part.pieces[0]->read.varies_with(index);
           });
  }
  // Such parts one beside another: made without the index, which is a new axis.
  Tensor packed(std::span<const Part> parts, int index) {
    std::vector<Tensor> made;
    for (const Part& part : parts) {
      const Piece& piece = *part.pieces[0];
      Piece slice{piece.input, piece.read, {}, {}, piece.offsets};
      for (Read::Axis& axis : slice.read.axes) {
        for (Read::Term& term : axis.terms) term.index -= term.index > index ? 1 : 0;
      }
      Movement::Indices box = box_of(piece);
      box.erase(box.begin() + index);
      made.push_back(PieceOfRows(c_, sizes_, slice, box).make());
      if (!made.back()) return {};
    }
    const Tensors packed = c_.apply(*kPack.op, made, PackAttrs{index + 1});
    return packed.empty() ? Tensor() : packed[0];
  }

  // The parts in order, with those between that are filled. None if they overlap, as boxes that are
  // no grid do, or if it cannot be told.
  std::optional<std::vector<Part>> parts_along(const Pieces& pieces, Dim whole, int index) const {
    const bool is_filled = movement_.fill != Movement::kNothing;
    std::vector<Part> left, parts;
    for (const Piece* piece : pieces) {
      const Dim start = start_of(*piece, index);
      const Dim size = piece->start.empty() ? whole : piece->size[static_cast<size_t>(index)];
      auto at = std::ranges::find_if(
          left, [&](const Part& part) { return part.start == start && part.size == size; });
      if (at == left.end()) at = left.insert(left.end(), {start, size, {}});
      at->pieces.push_back(piece);
    }
    Dim end = 0;
    const auto fill_to = [&](Dim start) {
      const Dim gap = sizes_.dims().subtract(start, end);
      parts.push_back({end, gap, {}});
      end = start;
      return is_filled && !gap.is_unknown();
    };
    while (!left.empty()) {
      auto next = std::ranges::find(left, end, &Part::start);
      if (next == left.end()) {
        next = std::ranges::min_element(left, {}, [](const Part& part) {
          return part.start.is_number() ? part.start.number() : INT64_MAX;
        });
        if (!fill_to(next->start)) return std::nullopt;
      }
      end = sizes_.dims().add(next->start, next->size);
      parts.push_back(std::move(*next));
      left.erase(next);
    }
    if (!(end == whole) && !fill_to(whole)) return std::nullopt;
    return parts;
  }

  Tensor filled(const Movement::Indices& box) {
    if (movement_.fill == Movement::kZeros) return zeros(box);
    const Piece value{movement_.fill, {}, {}, {}, {}};
    return PieceOfRows(c_, sizes_, value, box).make();
  }
  Tensor zeros(const Movement::Indices& box) {
    const Tensor shape = sizes_.vector(/*with_rows=*/true, box);
    auto zero = zero_of(c_.node().output(output_).dtype);
    if (!zero.ok()) c_.fail(zero.status());
    return shape && zero.ok() ? c_(kFill, {shape, c_.constant(*zero)}) : Tensor();
  }

  // Indices that are one axis of the output.
  Tensor merged(const Tensor& y) {
    if (movement_.split.empty()) return y;
    const Shape& row = c_.row_shape_of_y(output_);
    const Tensor shape = sizes_.vector_for_reshape(/*with_rows=*/true, row.dims());
    return shape ? c_(kReshape, {y, shape}) : Tensor();
  }

  BatchContext& c_;
  RowSizes& sizes_;
  const Movement& movement_;
  const int output_;
};

}  // namespace

void batch_movement(BatchContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {  // a list that differs between rows has no axis for it
    if (c.dtype(i) == DType::kVariant || c.dtype(i) == DType::kResource) return c.use_loop();
  }
  RowSizes sizes(c);
  for (int i = 0; i < c.num_outputs(); ++i) {
    const auto movement = sizes.movement_of(i);
    const Tensor y = movement ? MovedRows(c, sizes, *movement, i).make() : Tensor();
    if (!y) return c.use_loop();
    c.set_y(i, y);
  }
}

}  // namespace graven::engine
