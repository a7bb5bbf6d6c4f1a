#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "graven/api/arguments.h"
#include "graven/api/operand.h"
#include "graven/api/tensor.h"
#include "graven/base/export.h"

// Functions of neural networks whose signature is not that of one op. Images are [batch, height,
// width, channels], or [batch, channels, height, width] in the data format "NCHW"; a ValueError for
// another format, or windows of another number of sizes.

namespace graven::nn {

// Rows [batch, width, in] ("NCW": [batch, in, width]) and filters [width, in / groups, out]; the
// padding is that of images of height 1.
GRAVEN_API Tensor conv1d(const Operand& input, const Operand& filters, const Window& stride,
                         const Padding& padding, std::string_view data_format = "NWC",
                         const Window& dilations = 1);
// The gradient of conv2d: images of the output shape, to which filters [height, width, out, in]
// spread the input.
GRAVEN_API Tensor conv2d_transpose(const Operand& input, const Operand& filters,
                                   const Sizes& output_shape, const Window& strides,
                                   const Padding& padding = "SAME",
                                   std::string_view data_format = "NHWC",
                                   const Window& dilations = 1);
// Each channel by itself, with filters [height, width, in, multiplier]: in * multiplier channels.
GRAVEN_API Tensor depthwise_conv2d(const Operand& input, const Operand& filter,
                                   const Window& strides, const Padding& padding,
                                   std::string_view data_format = "NHWC",
                                   const Window& dilations = 1);
// The largest element, or the mean, of each window of images.
GRAVEN_API Tensor max_pool2d(const Operand& input, const Window& ksize, const Window& strides,
                             const Padding& padding, std::string_view data_format = "NHWC");
GRAVEN_API Tensor avg_pool2d(const Operand& input, const Window& ksize, const Window& strides,
                             std::string_view padding, std::string_view data_format = "NHWC");
// The same of sequences [batch, width, channels] ("NCW": [batch, channels, width]): one size, or
// three in the order of the data format.
GRAVEN_API Tensor max_pool1d(const Operand& input, const Window& ksize, const Window& strides,
                             const Padding& padding, std::string_view data_format = "NWC");
GRAVEN_API Tensor avg_pool1d(const Operand& input, const Window& ksize, const Window& strides,
                             std::string_view padding, std::string_view data_format = "NWC");
// The same; a NotImplementedError for what is no image.
GRAVEN_API Tensor max_pool(const Operand& input, const Window& ksize, const Window& strides,
                           const Padding& padding, std::string_view data_format = "NHWC");
GRAVEN_API Tensor avg_pool(const Operand& input, const Window& ksize, const Window& strides,
                           std::string_view padding, std::string_view data_format = "NHWC");
// A vector added to the channels.
GRAVEN_API Tensor bias_add(const Operand& value, const Operand& bias,
                           std::string_view data_format = "NHWC");

// --- Activations, element by element of floats.
// max(x, 0).
GRAVEN_API Tensor relu(const Operand& features);
// x P(X <= x) for a normal X; approximate: with a tanh. A ValueError for what is no float.
GRAVEN_API Tensor gelu(const Operand& features, bool approximate = false);
// x sigmoid(beta x).
GRAVEN_API Tensor silu(const Operand& features, double beta = 1);
GRAVEN_API Tensor swish(const Operand& features, double beta = 1);
// exp(x - max) / sum(exp(x - max)) along an axis, and its logarithm. A ValueError for an axis
// that is not there.
GRAVEN_API Tensor softmax(const Operand& logits, int axis = -1);
GRAVEN_API Tensor log_softmax(const Operand& logits, int axis = -1);

// --- Losses, one for each row.
// -sum(labels * log_softmax(logits)) along an axis; labels and logits [..., classes], floats.
GRAVEN_API Tensor softmax_cross_entropy_with_logits(const Operand& labels, const Operand& logits,
                                                    int axis = -1);
// -log_softmax(logits) at the label: labels int32 or int64 [...], logits [..., classes]. A
// ValueError if the shapes do not fit; NaN, or InvalidArgument, for a label that is not there.
GRAVEN_API Tensor sparse_softmax_cross_entropy_with_logits(const Operand& labels,
                                                           const Operand& logits);
// -labels log(sigmoid(logits)) - (1 - labels) log(1 - sigmoid(logits)), element by element. A
// ValueError if the shapes differ.
GRAVEN_API Tensor sigmoid_cross_entropy_with_logits(const Operand& labels, const Operand& logits);
// The same with the first term times pos_weight, which weighs what is true.
GRAVEN_API Tensor weighted_cross_entropy_with_logits(const Operand& labels, const Operand& logits,
                                                     const Operand& pos_weight);
// exp(log_input) - log_input * targets, element by element.
GRAVEN_API Tensor log_poisson_loss(const Operand& targets, const Operand& log_input);

// (x - mean) / sqrt(variance + variance_epsilon) * scale + offset, all of which broadcast. No
// tensor stands for no offset or scale.
GRAVEN_API Tensor batch_normalization(const Operand& x, const Operand& mean,
                                      const Operand& variance, const Operand& offset,
                                      const Operand& scale, double variance_epsilon);
// Each element is 0 with the probability rate, in [0, 1), else divided by 1 - rate; elements of
// axes of size 1 in the noise shape share their fate. Floats; a ValueError for what is none.
GRAVEN_API Tensor dropout(const Operand& x, const Operand& rate,
                          const std::optional<Sizes>& noise_shape = std::nullopt,
                          std::optional<int64_t> seed = std::nullopt);
// Rows of a table; of a variable's the gradient is IndexedSlices.
GRAVEN_API Tensor embedding_lookup(const Operand& params, const Operand& ids);
GRAVEN_API Tensor embedding_lookup(const Variable& params, const Operand& ids);

// The part of elements that are zero, false or empty, float32.
GRAVEN_API Tensor zero_fraction(const Operand& value);

}  // namespace graven::nn

namespace graven::math {
using graven::nn::log_softmax;
using graven::nn::softmax;
using graven::nn::zero_fraction;
}  // namespace graven::math
