#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "graven/ir/op.h"

namespace graven::engine {

// Lists of numbers have one for each axis, in the order of data_format ("NHWC" or "NCHW"; "NDHWC"
// or "NCDHW" of volumes); filters are [height, width, in channels, out channels] in both, with a
// depth before the height for volumes. padding is "SAME", "VALID" or "EXPLICIT", with [before,
// after] of each axis in explicit_paddings.

// --- convolution_ops.cc.
struct ConvolutionAttrs {
  std::vector<int64_t> strides = {};
  bool use_cudnn_on_gpu = true;  // of no effect
  std::string padding = {};
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  std::vector<int64_t> dilations = {1, 1, 1, 1};
  static constexpr auto fields() {
    return std::tuple(required_field("strides", &ConvolutionAttrs::strides),
                      field("use_cudnn_on_gpu", &ConvolutionAttrs::use_cudnn_on_gpu),
                      required_field("padding", &ConvolutionAttrs::padding),
                      field("explicit_paddings", &ConvolutionAttrs::explicit_paddings),
                      field("data_format", &ConvolutionAttrs::data_format),
                      field("dilations", &ConvolutionAttrs::dilations));
  }
};
GRAVEN_API inline OpHandle<ConvolutionAttrs> kConv2D,  // input, filter -> output
    kConv2DBackpropInput,   // input_sizes, filter, out_backprop -> output
    kConv2DBackpropFilter;  // input, filter_sizes, out_backprop -> output

// Of volumes.
struct VolumeConvolutionAttrs {
  std::vector<int64_t> strides = {};
  std::string padding = {};
  std::string data_format = "NDHWC";
  std::vector<int64_t> dilations = {1, 1, 1, 1, 1};
  static constexpr auto fields() {
    return std::tuple(required_field("strides", &VolumeConvolutionAttrs::strides),
                      required_field("padding", &VolumeConvolutionAttrs::padding),
                      field("data_format", &VolumeConvolutionAttrs::data_format),
                      field("dilations", &VolumeConvolutionAttrs::dilations));
  }
};
GRAVEN_API inline OpHandle<VolumeConvolutionAttrs> kConv3D,  // input, filter -> output
    kConv3DBackpropInputV2,   // input_sizes, filter, out_backprop -> output
    kConv3DBackpropFilterV2;  // input, filter_sizes, out_backprop -> output

struct DepthwiseConvolutionAttrs {
  std::vector<int64_t> strides = {};
  std::string padding = {};
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  std::vector<int64_t> dilations = {1, 1, 1, 1};
  static constexpr auto fields() {
    return std::tuple(required_field("strides", &DepthwiseConvolutionAttrs::strides),
                      required_field("padding", &DepthwiseConvolutionAttrs::padding),
                      field("explicit_paddings", &DepthwiseConvolutionAttrs::explicit_paddings),
                      field("data_format", &DepthwiseConvolutionAttrs::data_format),
                      field("dilations", &DepthwiseConvolutionAttrs::dilations));
  }
};
GRAVEN_API inline OpHandle<DepthwiseConvolutionAttrs> kDepthwiseConv2dNative,
    kDepthwiseConv2dNativeBackpropInput, kDepthwiseConv2dNativeBackpropFilter;

// --- pooling_ops.cc.
struct MaxPoolAttrs {
  std::vector<int64_t> ksize = {}, strides = {};
  std::string padding = {};
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  static constexpr auto fields() {
    return std::tuple(required_field("ksize", &MaxPoolAttrs::ksize),
                      required_field("strides", &MaxPoolAttrs::strides),
                      required_field("padding", &MaxPoolAttrs::padding),
                      field("explicit_paddings", &MaxPoolAttrs::explicit_paddings),
                      field("data_format", &MaxPoolAttrs::data_format));
  }
};
GRAVEN_API inline OpHandle<MaxPoolAttrs> kMaxPool;      // input -> output
GRAVEN_API inline OpHandle<MaxPoolAttrs> kMaxPoolGrad;  // orig_input, orig_output, grad -> output

struct PoolAttrs {
  std::vector<int64_t> ksize = {}, strides = {};
  std::string padding = {};
  std::string data_format = "NHWC";
  static constexpr auto fields() {
    return std::tuple(required_field("ksize", &PoolAttrs::ksize),
                      required_field("strides", &PoolAttrs::strides),
                      required_field("padding", &PoolAttrs::padding),
                      field("data_format", &PoolAttrs::data_format));
  }
};
GRAVEN_API inline OpHandle<PoolAttrs> kMaxPoolGradGrad;  // orig_input, orig_output, grad -> output
GRAVEN_API inline OpHandle<PoolAttrs> kAvgPool;          // value -> output
GRAVEN_API inline OpHandle<PoolAttrs> kAvgPoolGrad;      // orig_input_shape, grad -> output

// Of volumes.
struct VolumePoolAttrs {
  std::vector<int64_t> ksize = {}, strides = {};
  std::string padding = {};
  std::string data_format = "NDHWC";
  static constexpr auto fields() {
    return std::tuple(required_field("ksize", &VolumePoolAttrs::ksize),
                      required_field("strides", &VolumePoolAttrs::strides),
                      required_field("padding", &VolumePoolAttrs::padding),
                      field("data_format", &VolumePoolAttrs::data_format));
  }
};
GRAVEN_API inline OpHandle<VolumePoolAttrs> kMaxPool3D, kAvgPool3D;  // input -> output
GRAVEN_API inline OpHandle<VolumePoolAttrs> kMaxPool3DGrad,  // orig_input, orig_output, grad ->
    kMaxPool3DGradGrad;                                      // output
GRAVEN_API inline OpHandle<VolumePoolAttrs> kAvgPool3DGrad;  // orig_input_shape, grad -> output

// --- argmax_pooling_ops.cc.
struct PoolWithArgmaxAttrs {
  std::vector<int64_t> ksize = {}, strides = {};
  DType Targmax = DType::kInt64;
  std::string padding = {};
  bool include_batch_in_index = false;
  static constexpr auto fields() {
    using A = PoolWithArgmaxAttrs;
    return std::tuple(required_field("ksize", &A::ksize), required_field("strides", &A::strides),
                      field("Targmax", &A::Targmax), required_field("padding", &A::padding),
                      field("include_batch_in_index", &A::include_batch_in_index));
  }
};
GRAVEN_API inline OpHandle<PoolWithArgmaxAttrs> kMaxPoolWithArgmax;  // input -> output, argmax

struct PoolGradWithArgmaxAttrs {
  std::vector<int64_t> ksize = {}, strides = {};
  std::string padding = {};
  bool include_batch_in_index = false;
  static constexpr auto fields() {
    using A = PoolGradWithArgmaxAttrs;
    return std::tuple(required_field("ksize", &A::ksize), required_field("strides", &A::strides),
                      required_field("padding", &A::padding),
                      field("include_batch_in_index", &A::include_batch_in_index));
  }
};
GRAVEN_API inline OpHandle<PoolGradWithArgmaxAttrs>
    kMaxPoolGradWithArgmax;  // input, grad, argmax -> output

}  // namespace graven::engine
