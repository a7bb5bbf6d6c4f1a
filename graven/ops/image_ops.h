#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "graven/ir/op.h"

namespace graven::engine {

// Images are [batch, height, width, channels], or, where each pixel is alone, of any shape that
// ends in its channels.

// --- color_ops.cc.
GRAVEN_API inline OpHandle<NoAttrs> kRGBToHSV, kHSVToRGB;  // images -> output
GRAVEN_API inline OpHandle<NoAttrs> kAdjustContrastv2;     // images, contrast_factor -> output
GRAVEN_API inline OpHandle<NoAttrs> kAdjustHue;            // images, delta -> output
GRAVEN_API inline OpHandle<NoAttrs> kAdjustSaturation;     // images, scale -> output

// --- resize_ops.cc.
// Places of the result are places of the source by the proportion of the sizes: of their corners,
// of the centers of the corner pixels (align_corners), or of the centers of all pixels.
struct ResizeAttrs {
  bool align_corners = false, half_pixel_centers = false;
  static constexpr auto fields() {
    return std::tuple(field("align_corners", &ResizeAttrs::align_corners),
                      field("half_pixel_centers", &ResizeAttrs::half_pixel_centers));
  }
};
// images, size -> resized_images
GRAVEN_API inline OpHandle<ResizeAttrs> kResizeBilinear, kResizeBicubic, kResizeNearestNeighbor;
// grads, original_image -> output
GRAVEN_API inline OpHandle<ResizeAttrs> kResizeBilinearGrad, kResizeBicubicGrad;
GRAVEN_API inline OpHandle<ResizeAttrs> kResizeNearestNeighborGrad;  // grads, size -> output

struct ResizeAreaAttrs {
  bool align_corners = false;
  static constexpr auto fields() {
    return std::tuple(field("align_corners", &ResizeAreaAttrs::align_corners));
  }
};
GRAVEN_API inline OpHandle<ResizeAreaAttrs> kResizeArea;  // images, size -> resized_images

struct ScaleAndTranslateAttrs {
  std::string kernel_type = "lanczos3";
  bool antialias = true;
  static constexpr auto fields() {
    return std::tuple(field("kernel_type", &ScaleAndTranslateAttrs::kernel_type),
                      field("antialias", &ScaleAndTranslateAttrs::antialias));
  }
};
GRAVEN_API inline OpHandle<ScaleAndTranslateAttrs>
    kScaleAndTranslate,      // images, size, scale, translation -> resized_images
    kScaleAndTranslateGrad;  // grads, original_image, scale, translation -> output

// --- crop_and_resize_ops.cc.
struct CropAndResizeAttrs {
  std::string method = "bilinear";  // or "nearest"
  double extrapolation_value = 0;
  static constexpr auto fields() {
    return std::tuple(field("method", &CropAndResizeAttrs::method),
                      field("extrapolation_value", &CropAndResizeAttrs::extrapolation_value));
  }
};
GRAVEN_API inline OpHandle<CropAndResizeAttrs>
    kCropAndResize;  // image, boxes, box_ind, crop_size -> crops

struct CropAndResizeGradImageAttrs {
  DType T = DType::kInvalid;
  std::string method = "bilinear";
  static constexpr auto fields() {
    return std::tuple(required_field("T", &CropAndResizeGradImageAttrs::T),
                      field("method", &CropAndResizeGradImageAttrs::method));
  }
};
GRAVEN_API inline OpHandle<CropAndResizeGradImageAttrs>
    kCropAndResizeGradImage;  // grads, boxes, box_ind, image_size -> output

struct CropAndResizeGradBoxesAttrs {
  std::string method = "bilinear";  // nothing else
  static constexpr auto fields() {
    return std::tuple(field("method", &CropAndResizeGradBoxesAttrs::method));
  }
};
GRAVEN_API inline OpHandle<CropAndResizeGradBoxesAttrs>
    kCropAndResizeGradBoxes;  // grads, image, boxes, box_ind -> output

// --- patch_ops.cc.
struct ExtractImagePatchesAttrs {
  std::vector<int64_t> ksizes = {}, strides = {}, rates = {};  // 1 for batch and channels
  std::string padding = {};                                    // "SAME" or "VALID"
  static constexpr auto fields() {
    using A = ExtractImagePatchesAttrs;
    return std::tuple(required_field("ksizes", &A::ksizes), required_field("strides", &A::strides),
                      required_field("rates", &A::rates), required_field("padding", &A::padding));
  }
};
GRAVEN_API inline OpHandle<ExtractImagePatchesAttrs> kExtractImagePatches;  // images -> patches

// --- projective_ops.cc.
struct ProjectiveAttrs {
  std::string interpolation = {};
  std::string fill_mode = "CONSTANT";
  static constexpr auto fields() {
    return std::tuple(required_field("interpolation", &ProjectiveAttrs::interpolation),
                      field("fill_mode", &ProjectiveAttrs::fill_mode));
  }
};
GRAVEN_API inline OpHandle<ProjectiveAttrs>
    kImageProjectiveTransformV2,  // images, transforms, output_shape -> transformed_images
    kImageProjectiveTransformV3;  // the same, and fill_value

// --- box_ops.cc.
// boxes, scores, max_output_size, iou_threshold, score_threshold -> selected_indices
GRAVEN_API inline OpHandle<NoAttrs> kNonMaxSuppressionV3;
GRAVEN_API inline OpHandle<NoAttrs> kDrawBoundingBoxesV2;  // images, boxes, colors -> output

}  // namespace graven::engine
