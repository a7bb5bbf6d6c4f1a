#pragma once
#include <string_view>
#include <vector>

#include "graven/api/arguments.h"
#include "graven/api/operand.h"
#include "graven/api/tensor.h"
#include "graven/base/export.h"

// Functions of neural networks.

namespace graven {

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

}  // namespace graven
