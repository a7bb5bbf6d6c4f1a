#pragma once
#include "graven/ir/batch_context.h"

namespace graven::engine {

// The rule of an op that only moves elements, derived from what its record says by `.reads`: the
// movement of one row, with the rows as one more index in front, as ops on whole tensors.
//
//   Each piece of the output is an input that is
//     cut        StridedSlice   offsets, steps, directions; the one element of an axis
//                ReverseV2      whole axes backwards
//     looked up  GatherV2       an index that is found when it runs, or is another one in each row
//     split      Reshape        an axis that several indices count
//     turned     Transpose      indices in another order
//     fitted     Squeeze, ExpandDims, BroadcastTo     axes that no index reads, indices that read
//                               none; so does an input that is the same for all rows
//   joined by ConcatV2, or by Pack along an index that none of them reads, with filled boxes
//   between them, and merged (Reshape) where the output has one axis for several indices.
//
// What would change nothing is left out, so that a Transpose is one Transpose, and ConcatV2 of
// rows one ConcatV2. Gradients are those of the ops that are applied.
//
// The op runs in a loop over the rows if its movement is not known (RowSizes::movement_of), or is
// none of this: an element is read at two indices of its own (a diagonal), boxes are no grid, more
// than one element is read from an index on that is found when it runs, or a size cannot be found.
void batch_movement(BatchContext& c);

}  // namespace graven::engine
