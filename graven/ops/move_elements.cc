#include "graven/ops/move_elements.h"

#include <algorithm>

#include "graven/ir/movement.h"
#include "graven/ops/elements.h"
#include "graven/ops/strided_copy.h"

namespace graven::engine {
namespace {

// The place along an axis that an input gives when it runs, for `count` elements of it.
Result<int64_t> run_time_offset(const KernelContext& c, const Movement::RunTimeOffset& offset,
                                int64_t size, int64_t count) {
  const int64_t given = integer_at(c.input(offset.input), offset.element);
  int64_t index = given + (offset.counts_from_end && given < 0 ? size : 0);
  if (index >= 0 && index <= size - count) return index;
  if (offset.refuse) return offset.refuse(given, offset.axis, size, count);
  return std::clamp<int64_t>(index, 0, std::max<int64_t>(size - count, 0));
}

Status move_piece(const KernelContext& c, const Movement& movement, const Movement::Piece& piece) {
  const Tensor &x = c.input(piece.input), &out = c.output(0);
  CopyAxes box;
  int64_t from = 0, to = 0, step = 1;
  for (int i = 0; i < movement.space.rank(); ++i) {
    box.push_back({piece.size.empty() ? movement.space.size(i) : piece.size[i].number(), 0, 0});
  }
  for (int i = movement.space.rank() - 1; i >= 0; step *= movement.space.size(i), --i) {
    box[i].to = step;
    if (!piece.start.empty()) to += piece.start[i].number() * step;
  }
  const auto strides = row_major_strides(x.shape());
  for (int k = 0; k < x.rank(); ++k) {
    const Read::Axis& axis = piece.read.axes[k];
    int64_t count = 1;
    for (const Read::Term& term : axis.terms) {
      const int64_t stride = term.coefficient.number() * strides[k];
      box[term.index].from += axis.backwards ? -stride : stride;
      count += term.coefficient.number() * (box[term.index].size - 1);
    }
    const int64_t offset = axis.offset.number();
    from += (axis.backwards ? x.shape().size(k) - 1 - offset : offset) * strides[k];
    for (const Movement::RunTimeOffset& more : piece.offsets) {
      if (more.axis != k) continue;
      ASSIGN_OR_RETURN(const int64_t index, run_time_offset(c, more, x.shape().size(k), count));
      from += index * strides[k];
    }
  }
  if (std::ranges::any_of(box, [](const CopyAxis& axis) { return axis.size == 0; })) return {};
  copy_strided(x.dtype(), box, element_at(x.dtype(), x.raw_data(), from),
               element_at(out.dtype(), out.mutable_raw_data(), to));
  return {};
}

}  // namespace

Status move_elements(KernelContext& c, AttrsRef attrs) {
  const Tensor& out = c.output(0);
  auto movement = movement_of(c.op(), attrs, c.inputs(), out.shape());
  if (!movement) return internal_error("it is not known where the elements come from");
  if (movement->fill == Movement::kZeros) {
    clear_elements(out.dtype(), out.num_elements(), out.mutable_raw_data());
  } else if (movement->fill != Movement::kNothing) {
    fill_elements(out.dtype(), c.input(movement->fill).raw_data(), out.num_elements(),
                  out.mutable_raw_data());
  }
  for (const Movement::Piece& piece : movement->pieces) {
    RETURN_IF_ERROR(move_piece(c, *movement, piece));
  }
  return {};
}

}  // namespace graven::engine
