#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "graven/ir/structural_ops.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/windows.h"
#include "graven/ops/convolution_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/sizes.h"

namespace graven::engine {
namespace {

// Pools of n spatial axes, or of any number of them (0), which the input says.
template <int n, typename Paddings>
struct PoolParameters {
  Tensor input;
  Window ksize, strides;
  Paddings padding;
  std::conditional_t<n == 0, std::optional<std::string>, std::string> data_format =
      default_format();
  static auto default_format() {
    if constexpr (n == 0) {
      return std::optional<std::string>();
    } else {
      return std::string(n == 1 ? "NWC" : "NHWC");
    }
  }
  static constexpr auto fields() {
    using P = PoolParameters;
    return std::tuple(
        required_field(
            "input", &P::input, "T",
            n == 1   ? "Sequences, [batch, width, channels]."
            : n == 2 ? "Images, [batch, height, width, channels]."
                     : "Sequences, images or volumes, [batch, depth, height, width, channels]."),
        required_field("ksize", &P::ksize, kWindowDoc),
        required_field("strides", &P::strides, kWindowDoc),
        required_field("padding", &P::padding,
                       std::is_same_v<Paddings, Padding> ? kPaddingDoc : "\"SAME\" or \"VALID\"."),
        field("data_format", &P::data_format,
              n == 1 ? "\"NWC\" or \"NCW\"."
              : n == 2
                  ? "\"NHWC\" or \"NCHW\"."
                  : "\"NWC\", \"NCW\", \"NHWC\", \"NCHW\" or \"NDHWC\"; None: channels are last."));
  }
};

// One call, whatever its signature.
struct PoolCall {
  bool is_max;
  const Tensor& input;
  const Window &ksize, &strides;
  const Padding& padding;
};

struct ImageWindows {
  std::vector<int64_t> ksize = {}, strides = {}, paddings = {};
  std::string data_format = {};
};

Tensor pool_images(FunctionContext& c, const PoolCall& p, const Tensor& images,
                   const ImageWindows& w, std::string_view name) {
  const std::string& padding = p.padding.kind;
  if (!p.is_max) return c(kAvgPool, {images}, {w.ksize, w.strides, padding, w.data_format}, name);
  return c(kMaxPool, {images}, {w.ksize, w.strides, padding, w.paddings, w.data_format}, name);
}

Tensor pool2d(FunctionContext& c, const PoolCall& p, const std::string& text) {
  const DataFormat format = data_format(text, 2);
  return pool_images(c, p, p.input,
                     {.ksize = window_sizes(c, p.ksize, format, "ksize"),
                      .strides = window_sizes(c, p.strides, format, "strides"),
                      .paddings = explicit_paddings(p.padding),
                      .data_format = text},
                     c.name());
}

// Sequences are images of one row.
Tensor pool1d(FunctionContext& c, const PoolCall& p, const std::string& text) {
  if (text != "NWC" && text != "NCW") {
    return c.fail(
        value_error("`data_format` must be 'NWC' or 'NCW'. Received: data_format=", text));
  }
  const DataFormat format = data_format(text, 1);
  ImageWindows w{.ksize = window_sizes(c, p.ksize, format, "ksize"),
                 .strides = window_sizes(c, p.strides, format, "strides"),
                 .paddings = explicit_paddings(p.padding),
                 .data_format = text == "NWC" ? "NHWC" : "NCHW"};
  w.ksize.insert(w.ksize.begin(), 1);
  w.strides.insert(w.strides.begin(), 1);
  if (!w.paddings.empty()) w.paddings.insert(w.paddings.begin(), 2, 0);
  const int64_t row = text == "NWC" ? 1 : 2;
  const Tensor images = c(kExpandDims, {p.input, c.scalar(row)});
  return c(kSqueeze, {pool_images(c, p, images, w, c.name())}, {.squeeze_dims = {row}});
}

// Volumes are pooled over height and width, then over depth. Windows are boxes: their largest
// element is that of their planes', and their mean the mean of their planes'.
Tensor pool3d(FunctionContext& c, const PoolCall& p, const std::string& text) {
  if (text != "NDHWC") {
    return c.fail(Status(Code::kUnimplemented,
                         str_cat("Graven pools volumes in the data format NDHWC only, not ", text),
                         ErrorKind::kNotImplementedError));
  }
  if (!p.padding.sizes.empty()) {
    return c.fail(value_error("Explicit padding is not supported with an input tensor of rank 5."));
  }
  const DataFormat format = data_format(text, 3);
  const auto ksize = window_sizes(c, p.ksize, format, "ksize");
  const auto strides = window_sizes(c, p.strides, format, "strides");
  const SizeList whole = c.sizes(p.input);
  if (!c.status().ok()) return {};
  const Size flat[] = {multiply(c, whole[0], whole[1]), whole[2], whole[3], whole[4]};
  const Tensor planes = pool_images(c, p, c(kReshape, {c.wide(p.input), vector_of(c, flat)}),
                                    {.ksize = {ksize[0], ksize[2], ksize[3], ksize[4]},
                                     .strides = {strides[0], strides[2], strides[3], strides[4]},
                                     .data_format = "NHWC"},
                                    {});
  const SizeList plane = c.sizes(planes);
  if (!c.status().ok()) return {};
  const Size rows[] = {whole[0], whole[1], multiply(c, plane[1], plane[2]), plane[3]};
  const Tensor y = pool_images(
      c, p, c(kReshape, {planes, vector_of(c, rows)}),
      {.ksize = {1, ksize[1], 1, 1}, .strides = {1, strides[1], 1, 1}, .data_format = "NHWC"}, {});
  const SizeList pooled = c.sizes(y);
  if (!c.status().ok()) return {};
  const Size sizes[] = {whole[0], pooled[1], plane[1], plane[2], plane[3]};
  return c(kReshape, {c.cast(y, p.input.dtype()), vector_of(c, sizes)}, {}, c.name());
}

Tensor pool(FunctionContext& c, const PoolCall& p, const std::optional<std::string>& text) {
  const auto rank = c.rank_if_known(p.input);
  if (rank && (*rank < 3 || *rank > 5)) {
    return c.fail(value_error("`input.shape.rank` must be 3, 4 or 5. Received: input.shape=",
                              p.input.shape().to_text(), " of rank ", *rank, "."));
  }
  if (rank == 5) return pool3d(c, p, text.value_or("NDHWC"));
  // Without a rank, the format says it.
  if (rank ? rank == 3 : text && text->size() == 3) return pool1d(c, p, text.value_or("NWC"));
  return pool2d(c, p, text.value_or("NHWC"));
}

const Padding& as_padding(const Padding& padding) { return padding; }
Padding as_padding(const std::string& kind) { return {.kind = kind}; }

template <int n, typename Paddings>
void define_pool(FunctionRegistry& functions, bool is_max, std::string name, std::string scope) {
  functions.define({
      .names = std::move(name),
      .scope = std::move(scope),
      .types = {{"T", is_max ? kRealTypes : kFloatTypes}},
      .summary = is_max ? "The largest element of each window. Padding takes no part."
                        : "The mean of each window. Padding is not counted.",
      .returns = "The input with an element for each window.",
      .raises = {{"ValueError", "A list has another length, or the input another rank."},
                 {"InvalidArgumentError", "The sizes do not fit, or data_format is another."},
                 {"NotImplementedError", "The input is a volume whose channels come second."}},
      .source = is_max ? "OpDef \"MaxPool\"" : "OpDef \"AvgPool\"",
      .body = [is_max](FunctionContext& c, const PoolParameters<n, Paddings>& p) -> Outputs {
        const auto& padding = as_padding(p.padding);
        const PoolCall pooling = {is_max, p.input, p.ksize, p.strides, padding};
        if constexpr (n == 0) {
          return pool(c, pooling, p.data_format);
        } else {
          return n == 1 ? pool1d(c, pooling, p.data_format) : pool2d(c, pooling, p.data_format);
        }
      },
  });
}

}  // namespace

void define_pooling(FunctionRegistry& functions) {
  define_pool<1, Padding>(functions, true, "nn.max_pool1d", "MaxPool1d");
  define_pool<2, Padding>(functions, true, "nn.max_pool2d", "MaxPool2d");
  define_pool<0, Padding>(functions, true, "nn.max_pool", "MaxPool2d");
  define_pool<1, std::string>(functions, false, "nn.avg_pool1d", "AvgPool1D");
  define_pool<2, std::string>(functions, false, "nn.avg_pool2d", "AvgPool2D");
  define_pool<0, std::string>(functions, false, "nn.avg_pool", "AvgPool");
}

}  // namespace graven::engine
