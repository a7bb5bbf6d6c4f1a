#pragma once
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "graven/ir/batch_context.h"
#include "graven/ops/sizes.h"

namespace graven::engine {

// Parts of rules for many rows at once (OpRecord::batch), and rules that several families share,
// beside those of ir/batch_context.h. Where an input that has no place for the axis of the rows is
// batched, the op runs in a loop.

// True if one of these inputs is batched; then the rule has given up.
bool gives_up_if_batched(BatchContext& c, std::initializer_list<int> inputs);

// Integers that are the same for all rows, an axis or axes, for tensors with one more axis in
// front. Those that count from the end stay.
Tensor shifted_axes(BatchContext& c, int input);
inline int64_t shifted_axis(int64_t axis) { return axis < 0 ? axis : axis + 1; }
// An integer vector with one more element in front: a number, or the number of rows.
Tensor with_front(BatchContext& c, int input, int64_t front);
Tensor with_rows_in_front(BatchContext& c, int input);
// A matrix of integers with one more row in front, of these two numbers.
Tensor with_front_row(BatchContext& c, int input, int32_t first, int32_t second);
// The sizes of a row of an input, as an int32 vector.
Tensor row_sizes(BatchContext& c, int input);

// The axis `from` of x, which has this rank, at the place `to`.
Tensor moved_axis(BatchContext& c, const Tensor& x, int rank, int from, int to);
// x [n,b,...] as [n * b,...], and back, where b is the first size of a row of input `like`. Empty,
// after use_loop, if a rank is not known.
Tensor folded(BatchContext& c, const Tensor& x);
Tensor unfolded(BatchContext& c, const Tensor& x, int like);
// 0, 1, ... for the rows, [n,1,...] with `rank` axes behind the first.
Tensor row_numbers(BatchContext& c, DType dtype, int rank);

// Applies the op of the node with its attributes; all outputs are batched.
void apply_to_rows(BatchContext& c, std::span<const Tensor> inputs);
void apply_to_rows(BatchContext& c, std::span<const Tensor> inputs, AttrsRef attrs);

// --- Rules.

// The op takes any axes in front of those that it works on, the same for the inputs of these
// numbers; its other inputs are the same for all rows.
void batch_data(BatchContext& c, std::initializer_list<int> data);
template <int... data>
void batch_data_inputs(BatchContext& c) {
  batch_data(c, {data...});
}
// The first axis of these inputs and of all outputs counts items that the op treats apart: rows and
// items become one axis.
void batch_folding(BatchContext& c, std::initializer_list<int> data);
template <int... data>
void batch_by_folding(BatchContext& c) {
  batch_folding(c, {data...});
}
// The same, for an op whose input `sizes` holds the sizes of an input or output, as a vector.
void batch_folding_sizes(BatchContext& c, int sizes, int data);
template <int sizes, int data>
void batch_by_folding_sizes(BatchContext& c) {
  batch_folding_sizes(c, sizes, data);
}
// Input `axis` holds an axis, or axes, of input `data`.
void batch_along(BatchContext& c, int data, int axis);
template <int data, int axis>
void batch_along_axis(BatchContext& c) {
  batch_along(c, data, axis);
}
// Input 0 has its rows behind its other axes, as axes that the op does not look at: its first axes
// count. Other inputs are the same for all rows.
void batch_rows_behind(BatchContext& c);
// All inputs get the shape of the output.
void batch_broadcast_to_output(BatchContext& c);
// Random numbers of the shape that input `shape` holds: one draw for all rows.
void batch_draw(BatchContext& c, int shape);
template <int shape>
void batch_random(BatchContext& c) {
  batch_draw(c, shape);
}

}  // namespace graven::engine
