#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "graven/api/operand.h"
#include "graven/api/tensor.h"
#include "graven/base/export.h"

// The functions of ops whose signature in TensorFlow is not that of one op; the others are printed
// from their records (graven/api/op_functions.h). Names, arguments and meaning are those of Python,
// whose documentation says more of each.

namespace graven {

// The sizes of a shape: {2, 3}, a Shape without unknown sizes, or an integer tensor of shape
// [rank].
class GRAVEN_API Sizes {
 public:
  Sizes(std::initializer_list<int64_t> sizes) : sizes_(sizes) {}
  Sizes(std::vector<int64_t> sizes) : sizes_(std::move(sizes)) {}
  Sizes(const Shape& shape);
  Sizes(const Tensor& tensor) : tensor_(tensor) {}
  // An int32 vector, int64 where a size needs it; the tensor if one was given.
  Tensor as_tensor(const std::source_location& location) const;

 private:
  std::vector<int64_t> sizes_;
  Tensor tensor_;
};

// Axes to reduce, negative ones count from the end: 1, {0, -1}, an integer tensor, or nothing for
// all of them.
class GRAVEN_API Axes {
 public:
  Axes() = default;
  Axes(int axis) : axes_{{axis}}, is_scalar_(true) {}
  Axes(std::initializer_list<int64_t> axes) : axes_(axes) {}
  Axes(std::vector<int64_t> axes) : axes_(std::move(axes)) {}
  Axes(const Tensor& tensor) : tensor_(tensor) {}
  // An int32 scalar or vector; of all axes of x if none are named.
  Tensor as_tensor(const Tensor& x, const std::source_location& location) const;

 private:
  std::optional<std::vector<int64_t>> axes_;
  bool is_scalar_ = false;
  Tensor tensor_;
};

// One number for height and width, two, or four in the order of the data format.
class Window {
 public:
  Window(int64_t size) : sizes_{size} {}
  Window(std::initializer_list<int64_t> sizes) : sizes_(sizes) {}
  const std::vector<int64_t>& sizes() const { return sizes_; }

 private:
  std::vector<int64_t> sizes_;
};

// --- Making tensors.
using Here = std::source_location;
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

// --- Reductions: x without the axes, or with size 1 there. InvalidArgument for an axis outside
// [-rank, rank). reduce_any and reduce_all take bools, the others numbers.
GRAVEN_API Tensor reduce_sum(const Operand& x, const Axes& axis = {}, bool keepdims = false);
GRAVEN_API Tensor reduce_mean(const Operand& x, const Axes& axis = {}, bool keepdims = false);
GRAVEN_API Tensor reduce_prod(const Operand& x, const Axes& axis = {}, bool keepdims = false);
GRAVEN_API Tensor reduce_max(const Operand& x, const Axes& axis = {}, bool keepdims = false);
GRAVEN_API Tensor reduce_min(const Operand& x, const Axes& axis = {}, bool keepdims = false);
GRAVEN_API Tensor reduce_any(const Operand& x, const Axes& axis = {}, bool keepdims = false);
GRAVEN_API Tensor reduce_all(const Operand& x, const Axes& axis = {}, bool keepdims = false);
// The index of the largest (smallest) element along an axis; of equal ones the first.
GRAVEN_API Tensor argmax(const Operand& input, int axis = 0, DType output_type = DType::kInt64);
GRAVEN_API Tensor argmin(const Operand& input, int axis = 0, DType output_type = DType::kInt64);

// --- Mathematics.
// Matrices, or batches of them whose leading dimensions broadcast. At most one of each pair.
GRAVEN_API Tensor matmul(const Operand& a, const Operand& b, bool transpose_a = false,
                         bool transpose_b = false, bool adjoint_a = false, bool adjoint_b = false);
// Element by element; shapes broadcast. InvalidArgument, or a TypeError while a function is traced,
// if the dtypes differ. add joins strings; divide divides integers as floats.
GRAVEN_API Tensor add(const Operand& x, const Operand& y);
GRAVEN_API Tensor divide(const Operand& x, const Operand& y);
GRAVEN_API Tensor abs(const Operand& x);
GRAVEN_API Tensor equal(const Operand& x, const Operand& y);
GRAVEN_API Tensor not_equal(const Operand& x, const Operand& y);
// Between the bounds, which broadcast to the shape of t.
GRAVEN_API Tensor clip_by_value(const Operand& t, const Operand& clip_value_min,
                                const Operand& clip_value_max);
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

namespace nn {
// input [batch, height, width, in], filters [height, width, in / groups, out]; padding "SAME" or
// "VALID".
GRAVEN_API Tensor conv2d(const Operand& input, const Operand& filters, const Window& strides,
                         std::string_view padding, std::string_view data_format = "NHWC",
                         const Window& dilations = 1);
// The largest element, or the mean, of each window of images [batch, height, width, channels].
GRAVEN_API Tensor max_pool2d(const Operand& input, const Window& ksize, const Window& strides,
                             std::string_view padding, std::string_view data_format = "NHWC");
GRAVEN_API Tensor avg_pool2d(const Operand& input, const Window& ksize, const Window& strides,
                             std::string_view padding, std::string_view data_format = "NHWC");
// A vector added to the channels.
GRAVEN_API Tensor bias_add(const Operand& value, const Operand& bias,
                           std::string_view data_format = "NHWC");
// max(x, 0), element by element.
GRAVEN_API Tensor relu(const Operand& features);
// Along the last axis.
GRAVEN_API Tensor softmax(const Operand& logits);
GRAVEN_API Tensor log_softmax(const Operand& logits);
// -log_softmax(logits) at the label: labels int32 or int64 [n], logits [n, classes].
GRAVEN_API Tensor sparse_softmax_cross_entropy_with_logits(const Operand& labels,
                                                           const Operand& logits);
}  // namespace nn

namespace random {
// Numbers that the seed alone decides, the same as TensorFlow's: uniform in [minval, maxval), or
// normal. The seed is two integers.
GRAVEN_API Tensor stateless_uniform(const Sizes& shape, const std::vector<int64_t>& seed,
                                    double minval = 0, double maxval = 1,
                                    DType dtype = DType::kFloat32, Here location = Here::current());
GRAVEN_API Tensor stateless_normal(const Sizes& shape, const std::vector<int64_t>& seed,
                                   double mean = 0, double stddev = 1,
                                   DType dtype = DType::kFloat32, Here location = Here::current());
}  // namespace random

}  // namespace graven
