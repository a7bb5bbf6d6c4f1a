#pragma once
#include <cstdint>
#include <vector>

#include "graven/api/arguments.h"
#include "graven/api/operand.h"
#include "graven/api/tensor.h"
#include "graven/base/export.h"

// Making tensors, their shapes and the movement of elements.

namespace graven {

// --- Making tensors.
// Zeros of strings are empty.
GRAVEN_API Tensor zeros(const Sizes& shape, DType dtype = DType::kFloat32,
                        Here location = Here::current());
GRAVEN_API Tensor ones(const Sizes& shape, DType dtype = DType::kFloat32,
                       Here location = Here::current());
// A scalar in every place.
GRAVEN_API Tensor fill(const Sizes& dims, const Operand& value);
// The shape and dtype of the input.
GRAVEN_API Tensor zeros_like(const Operand& input);
GRAVEN_API Tensor ones_like(const Operand& input);
// start, start + delta, ... before limit; of a variable or tensor too.
GRAVEN_API Tensor range(const Operand& start, const Operand& limit, const Operand& delta = 1);
GRAVEN_API Tensor range(const Operand& limit);
// One vector of `depth` elements for each index: 1 at the index, 0 elsewhere.
GRAVEN_API Tensor one_hot(const Operand& indices, int64_t depth, int64_t axis = -1,
                          DType dtype = DType::kFloat32);

// x itself if it has the dtype; floats are cut off on the way to integers.
GRAVEN_API Tensor cast(const Operand& x, DType dtype);

// --- Shapes and movement.
// The sizes, a vector of int32 or int64.
GRAVEN_API Tensor shape(const Operand& input, DType out_type = DType::kInt32);
// The same elements in the same order; one size may be -1: what is left.
GRAVEN_API Tensor reshape(const Operand& tensor, const Sizes& shape);
// Dimension perm[i] of the input at place i; without perm they are reversed.
GRAVEN_API Tensor transpose(const Operand& a, const std::vector<int64_t>& perm = {});
// With a dimension of size 1 at the axis.
GRAVEN_API Tensor expand_dims(const Operand& input, const Operand& axis);
// Without the dimensions of size 1, or those that are named.
GRAVEN_API Tensor squeeze(const Operand& input, const std::vector<int64_t>& axis = {});
// One after another along an axis that they have; shapes agree in the others.
GRAVEN_API Tensor concat(const std::vector<Tensor>& values, int axis,
                         Here location = Here::current());
// Side by side along a new axis; all of one shape.
GRAVEN_API Tensor stack(const std::vector<Tensor>& values, int axis = 0,
                        Here location = Here::current());
// The slices along an axis, of known size, each without it.
GRAVEN_API std::vector<Tensor> unstack(const Operand& value, int axis = 0);
// Equal parts along an axis.
GRAVEN_API std::vector<Tensor> split(const Operand& value, int64_t num_or_size_splits,
                                     int axis = 0);
// The part that begins at `begin`; a size of -1 reaches to the end.
GRAVEN_API Tensor slice(const Operand& input, const Sizes& begin, const Sizes& size);
// Slices of params at the indices, along an axis; of a variable's rows the gradient is
// IndexedSlices.
GRAVEN_API Tensor gather(const Operand& params, const Operand& indices, int axis = 0,
                         int64_t batch_dims = 0);
GRAVEN_API Tensor gather(const Variable& params, const Operand& indices);
// x where the condition holds, else y; or the places where it holds, int64 of shape [count, rank].
GRAVEN_API Tensor where(const Operand& condition, const Operand& x, const Operand& y);
GRAVEN_API Tensor where(const Operand& condition);

}  // namespace graven
