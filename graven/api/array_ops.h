#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
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
// One vector of `depth` elements for each index: 1 at the index, 0 elsewhere; or these values, of
// which a number takes the dtype of the other one. A TypeError if they have not the dtype, if one
// is given.
GRAVEN_API Tensor one_hot(const Operand& indices, const Operand& depth, int64_t axis = -1,
                          DType dtype = DType::kFloat32);
GRAVEN_API Tensor one_hot(const Operand& indices, const Operand& depth, const Operand& on_value,
                          const Operand& off_value, int64_t axis = -1,
                          DType dtype = DType::kInvalid);
// Matrices of ones on the diagonal and zeros elsewhere, [batch..., num_rows, num_columns]; square
// without num_columns.
GRAVEN_API Tensor eye(const Operand& num_rows, DType dtype = DType::kFloat32);
GRAVEN_API Tensor eye(const Operand& num_rows, const Operand& num_columns,
                      const Sizes& batch_shape = {}, DType dtype = DType::kFloat32);

// x itself if it has the dtype; floats are cut off on the way to integers.
GRAVEN_API Tensor cast(const Operand& x, DType dtype);
// The same, of values outside the dtype's range its nearest bound that the dtype of x holds too;
// infinities become finite. Of complex numbers real dtypes take the real part. A TypeError for bool
// and string.
GRAVEN_API Tensor saturate_cast(const Operand& value, DType dtype);
// The tensors themselves; what comes after them comes after all of them.
GRAVEN_API std::vector<Tensor> identity_n(const std::vector<Tensor>& input,
                                          Here location = Here::current());

// --- Shapes and movement.
// The sizes, a vector of int32 or int64.
GRAVEN_API Tensor shape(const Operand& input, DType out_type = DType::kInt32);
// One after another along an axis that they have; shapes agree in the others.
GRAVEN_API Tensor concat(const std::vector<Tensor>& values, int axis,
                         Here location = Here::current());
// Side by side along a new axis; all of one shape.
GRAVEN_API Tensor stack(const std::vector<Tensor>& values, int axis = 0,
                        Here location = Here::current());
// Each element, or slice along an axis, several times: as often as repeats says, a scalar, or a
// number for each. Without an axis of the flattened input.
GRAVEN_API Tensor repeat(const Operand& input, const Operand& repeats);
GRAVEN_API Tensor repeat(const Operand& input, const Operand& repeats, int axis);
// Bits of strided_slice, for entry i of begin, end and strides: the dimension from its beginning,
// to its end, all that are left, a new one of size 1, or only the element at begin.
struct SliceMasks {
  int64_t begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_axis_mask = 0;
};
// x[begin:end:strides]; without strides of every element.
GRAVEN_API Tensor strided_slice(const Operand& input, const Sizes& begin, const Sizes& end,
                                const std::optional<Sizes>& strides = std::nullopt,
                                const SliceMasks& masks = {});
// Slices of params at the indices, along an axis; of a variable's rows the gradient is
// IndexedSlices.
GRAVEN_API Tensor gather(const Operand& params, const Operand& indices, int axis = 0,
                         int64_t batch_dims = 0);
GRAVEN_API Tensor gather(const Variable& params, const Operand& indices);
// Slices of params, each at the place that the last axis of the indices gives: [..., depth] gives
// indices.shape[:-1] + params.shape[depth:]. The first batch_dims axes belong together.
// InvalidArgument for an index that is not there; a ValueError if batch_dims is negative, or not
// less than both ranks.
GRAVEN_API Tensor gather_nd(const Operand& params, const Operand& indices, int batch_dims = 0);
// The slices of a tensor where the mask holds, whose shape is that of the tensor from the axis on:
// [d0, ...] with a mask [d0] gives [count, ...]. A ValueError for a scalar mask, or another shape.
GRAVEN_API Tensor boolean_mask(const Operand& tensor, const Operand& mask, int axis = 0);
// x where the condition holds, else y; or the places where it holds, int64 of shape [count, rank].
GRAVEN_API Tensor where(const Operand& condition, const Operand& x, const Operand& y);
GRAVEN_API Tensor where(const Operand& condition);

// --- Grids.
// num values from start to stop, both among them, at equal distances; of tensors along a new axis.
// Floats. InvalidArgument for a negative number, a ValueError while a function is traced.
GRAVEN_API Tensor linspace(const Operand& start, const Operand& stop, const Operand& num,
                           int axis = 0);
// The coordinates of a grid over vectors, one tensor for each; "xy" exchanges the first two axes.
GRAVEN_API std::vector<Tensor> meshgrid(const std::vector<Tensor>& vectors,
                                        std::string_view indexing = "xy",
                                        Here location = Here::current());
// True at the first lengths[i] places of row i, [..., maxlen]; without maxlen of the largest.
GRAVEN_API Tensor sequence_mask(const Operand& lengths, DType dtype = DType::kBool);
GRAVEN_API Tensor sequence_mask(const Operand& lengths, const Operand& maxlen,
                                DType dtype = DType::kBool);

// --- Order.
// Sorted along an axis; "ASCENDING" or "DESCENDING", else a ValueError. NaN of floats is smallest.
GRAVEN_API Tensor sort(const Operand& values, int axis = -1,
                       std::string_view direction = "ASCENDING");
// The indices that sort, int32; equal elements keep their order.
GRAVEN_API Tensor argsort(const Operand& values, int axis = -1,
                          std::string_view direction = "ASCENDING");

namespace dtypes {
using graven::cast;
using graven::saturate_cast;
}  // namespace dtypes

namespace linalg {
using graven::eye;
}  // namespace linalg

namespace math {
// The k largest elements of each row, and their indices; largest first, and of equal ones that of
// the smaller index. InvalidArgument for a k that the rows are too short for.
struct TopK {
  Tensor values, indices;
};
GRAVEN_API TopK top_k(const Operand& input, const Operand& k = 1, bool sorted = true,
                      DType index_type = DType::kInt32);
}  // namespace math
namespace nn {
using graven::math::top_k;
}  // namespace nn

}  // namespace graven
