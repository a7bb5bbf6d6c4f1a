#pragma once
#include <cstdint>
#include <string_view>

#include "graven/library/function_context.h"
#include "graven/library/parameters.h"
#include "graven/ops/sizes.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// Helpers of functions of images. An image is [height, width, channels]; a batch has one axis
// before these.

inline constexpr std::string_view kImageDoc =
    "An image, [height, width, channels], or a batch of them.";

// Checks that x has at least three axes and that the last three are not empty: now if the shape is
// known, else at run time. Returns false after an error.
bool check_image(FunctionContext& c, const Tensor& x);
// The same for x that has 3 or 4 axes.
bool check_image_or_batch(FunctionContext& c, const Tensor& x);

// Checks that a >= b: numbers now, with a ValueError, tensors at run time.
void require_at_least(FunctionContext& c, const Size& a, const Size& b, const char* message);

// An integer that a program gives as a number or as a tensor.
Size size_of(FunctionContext& c, const Number& number, std::string_view name);

// The axis of the height. An x of unknown rank counts as one image.
int64_t height_axis(FunctionContext& c, const Tensor& x);
struct ImageSizes {
  Size height, width;
};
ImageSizes image_sizes(FunctionContext& c, const Tensor& x);

// A part of an image, and an image with zeros around it; neither checks its sizes.
Tensor cropped(FunctionContext& c, const Tensor& x, const ImageSizes& offset,
               const ImageSizes& target);
// The same inside an image of zeros of the target's size.
Tensor placed(FunctionContext& c, const Tensor& x, const ImageSizes& offset,
              const ImageSizes& target);

// tf.image.pad_to_bounding_box, with its checks.
Tensor padded_to_box(FunctionContext& c, const Tensor& x, const ImageSizes& offset,
                     const ImageSizes& target);

// The order of axes that swaps height and width.
Tensor transposed_axes(FunctionContext& c, const Tensor& x);

// tf.image.convert_image_dtype.
Tensor converted_image(FunctionContext& c, const Tensor& x, DType dtype, bool saturate = false,
                       std::string_view name = {});

// tf.image.adjust_brightness and kin.
Tensor with_brightness(FunctionContext& c, const Tensor& x, const Tensor& delta);
Tensor with_contrast(FunctionContext& c, const Tensor& x, const Tensor& factor);
Tensor with_hue(FunctionContext& c, const Tensor& x, const Tensor& delta,
                std::string_view name = {});
Tensor with_saturation(FunctionContext& c, const Tensor& x, const Tensor& factor,
                       std::string_view name = {});

}  // namespace graven::engine
