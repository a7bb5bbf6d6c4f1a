#pragma once
#include <string_view>

#include "graven/base/status.h"
#include "graven/ir/infer_context.h"
#include "graven/kernels/convolution.h"
#include "graven/ops/windows.h"
#include "graven/tensor/dtype.h"
#include "graven/tensor/shape.h"

namespace graven::engine {

// Helpers of the ops that pool images.

// The shape of pooled images, in the format of the images.
Result<Shape> pooled_shape(InferContext& c, const Windows& windows, const Shape& image);

// The arguments of the kernels, for shapes with channels last.
Pooling pooling_of(const Windows& windows, DType dtype, const Shape& image, const Shape& out);

// An error that names the input if its shape is another one.
Status check_shape(std::string_view what, const Shape& expected, const Shape& got);

}  // namespace graven::engine
