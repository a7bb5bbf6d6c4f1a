#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "graven/ir/op.h"

namespace graven::engine {

// Lists of numbers have one for each axis, in the order of data_format ("NHWC" or "NCHW"); filters
// are [height, width, in channels, out channels] in both. padding is "SAME", "VALID" or
// "EXPLICIT", with [before, after] of each axis in explicit_paddings.

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

}  // namespace graven::engine
