#include "graven/api/nn_ops.h"

#include "graven/api/apply.h"
#include "graven/api/array_ops.h"
#include "graven/api/compose.h"
#include "graven/ops/convolution_ops.h"
#include "graven/ops/nn_ops.h"

namespace graven {

using internal::apply;
using internal::at;

namespace nn {
namespace {

// Four numbers in the order of the data format.
std::vector<int64_t> four(const Window& window, std::string_view data_format, const char* what,
                          const Here& location) {
  const std::vector<int64_t>& sizes = window.sizes();
  if (sizes.size() == 4) return sizes;
  if (sizes.size() != 1 && sizes.size() != 2) {
    throw_error(engine::value_error("`", what, "` should be 1, 2 or 4 numbers, got ", sizes.size()),
                location);
  }
  int64_t height = sizes.front(), width = sizes.back();
  if (data_format == "NCHW") return {1, 1, height, width};
  return {1, height, width, 1};
}

}  // namespace

Tensor conv2d(const Operand& input, const Operand& filters, const Window& strides,
              std::string_view padding, std::string_view data_format, const Window& dilations) {
  engine::ConvolutionAttrs attrs;
  attrs.strides = four(strides, data_format, "strides", input.location());
  attrs.padding = padding;
  attrs.data_format = data_format;
  attrs.dilations = four(dilations, data_format, "dilations", input.location());
  return apply(engine::kConv2D, {input, filters}, attrs);
}

Tensor max_pool2d(const Operand& input, const Window& ksize, const Window& strides,
                  std::string_view padding, std::string_view data_format) {
  engine::MaxPoolAttrs attrs;
  attrs.ksize = four(ksize, data_format, "ksize", input.location());
  attrs.strides = four(strides, data_format, "strides", input.location());
  attrs.padding = padding;
  attrs.data_format = data_format;
  return apply(engine::kMaxPool, {input}, attrs, "MaxPool2d");
}

Tensor avg_pool2d(const Operand& input, const Window& ksize, const Window& strides,
                  std::string_view padding, std::string_view data_format) {
  engine::PoolAttrs attrs;
  attrs.ksize = four(ksize, data_format, "ksize", input.location());
  attrs.strides = four(strides, data_format, "strides", input.location());
  attrs.padding = padding;
  attrs.data_format = data_format;
  return apply(engine::kAvgPool, {input}, attrs, "AvgPool2D");
}

Tensor bias_add(const Operand& value, const Operand& bias, std::string_view data_format) {
  return apply(engine::kBiasAdd, {value, bias}, {.data_format = std::string(data_format)});
}

Tensor relu(const Operand& features) { return apply(engine::kRelu, {features}); }
Tensor softmax(const Operand& logits) { return apply(engine::kSoftmax, {logits}); }
Tensor log_softmax(const Operand& logits) { return apply(engine::kLogSoftmax, {logits}); }

Tensor sparse_softmax_cross_entropy_with_logits(const Operand& labels, const Operand& logits) {
  const Here& location = logits.location();
  Tensor x = logits.as_tensor();
  bool is_short = x.dtype() == DType::kHalf || x.dtype() == DType::kBFloat16;
  Tensor wide = is_short ? cast(at(x, location), DType::kFloat32) : x;
  if (wide.shape().has_rank() && wide.rank() != 2) {
    throw_error(engine::value_error("`logits` must have the shape [n, classes], not ",
                                    wide.shape().to_text()),
                location);
  }
  Tensor loss = apply(engine::kSparseSoftmaxCrossEntropyWithLogits, {at(wide, location), labels});
  return is_short ? cast(at(loss, location), x.dtype()) : loss;
}

}  // namespace nn

}  // namespace graven
