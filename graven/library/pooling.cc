#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "graven/ir/structural_ops.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/windows.h"
#include "graven/ops/convolution_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/sizes.h"
#include "graven/ops/space_ops.h"

namespace graven::engine {
namespace {

// Pools over n spatial axes; n = 0: as many as the input has.
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
      return std::string(n == 1 ? "NWC" : n == 2 ? "NHWC" : "NDHWC");
    }
  }
  static constexpr auto fields() {
    using P = PoolParameters;
    return std::tuple(
        required_field(
            "input", &P::input, "T",
            n == 1   ? "Sequences, [batch, width, channels]."
            : n == 2 ? "Images, [batch, height, width, channels]."
            : n == 3 ? "Volumes, [batch, depth, height, width, channels]."
                     : "Sequences, images or volumes, [batch, depth, height, width, channels]."),
        required_field("ksize", &P::ksize, kWindowDoc),
        required_field("strides", &P::strides, kWindowDoc),
        required_field("padding", &P::padding,
                       std::is_same_v<Paddings, Padding> ? kPaddingDoc : "\"SAME\" or \"VALID\"."),
        field("data_format", &P::data_format,
              n == 1   ? "\"NWC\" or \"NCW\"."
              : n == 2 ? "\"NHWC\" or \"NCHW\"."
              : n == 3
                  ? "\"NDHWC\" or \"NCDHW\"."
                  : "\"NWC\", \"NCW\", \"NHWC\", \"NCHW\" or \"NDHWC\"; None: channels are last."));
  }
};

// A call of any of the public functions.
struct PoolCall {
  bool is_max;
  std::string_view name;  // of the node
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
                     p.name);
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
  return c(kSqueeze, {pool_images(c, p, images, w, p.name)}, {.squeeze_dims = {row}});
}

Tensor pool3d(FunctionContext& c, const PoolCall& p, const std::string& text) {
  if (!p.padding.sizes.empty()) {
    return c.fail(value_error("Explicit padding is not supported with an input tensor of rank 5."));
  }
  const DataFormat format = data_format(text, 3);
  return c(p.is_max ? kMaxPool3D : kAvgPool3D, {p.input},
           {window_sizes(c, p.ksize, format, "ksize"),
            window_sizes(c, p.strides, format, "strides"), p.padding.kind, text},
           p.name);
}

Tensor pool(FunctionContext& c, const PoolCall& p, const std::optional<std::string>& text) {
  const auto rank = c.rank_if_known(p.input);
  if (rank && (*rank < 3 || *rank > 5)) {
    return c.fail(value_error("`input.shape.rank` must be 3, 4 or 5. Received: input.shape=",
                              p.input.shape().to_text(), " of rank ", *rank, "."));
  }
  if (rank == 5) return pool3d(c, p, text.value_or("NDHWC"));
  // If the rank is unknown, the data format tells it.
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
                 {"InvalidArgumentError", "The sizes do not fit, or data_format is another."}},
      .source = str_cat("OpDef \"", is_max ? "Max" : "Avg", n == 3 ? "Pool3D\"" : "Pool\""),
      .body = [is_max](FunctionContext& c, const PoolParameters<n, Paddings>& p) -> Outputs {
        const auto& padding = as_padding(p.padding);
        const PoolCall pooling = {is_max, c.name(), p.input, p.ksize, p.strides, padding};
        if constexpr (n == 0) {
          return pool(c, pooling, p.data_format);
        } else {
          const auto pool = n == 1 ? pool1d : n == 2 ? pool2d : pool3d;
          return pool(c, pooling, p.data_format);
        }
      },
  });
}

struct AnyPoolParameters {
  Tensor input;
  Window window_shape;
  std::string pooling_type;
  Window strides;
  std::string padding = "VALID";
  std::optional<std::string> data_format;
  Window dilations;
  static constexpr auto fields() {
    using P = AnyPoolParameters;
    return std::tuple(
        required_field("input", &P::input, "T", "[batch, one to three spatial axes, channels]."),
        required_field("window_shape", &P::window_shape, "A size for each spatial axis."),
        required_field("pooling_type", &P::pooling_type, "\"MAX\" or \"AVG\"."),
        field("strides", &P::strides, "One for each spatial axis; None means 1."),
        field("padding", &P::padding, "\"SAME\", or \"VALID\", which dilations need."),
        field("data_format", &P::data_format,
              "\"NC...\": channels are second; None and others: they are last."),
        field("dilations", &P::dilations,
              "The distances of neighbours in a window; None means 1."));
  }
};

// One number per spatial axis, 1 by default.
Result<std::vector<int64_t>> one_for_each(std::string_view what, const Window& given, size_t n) {
  if (given.sizes.empty()) return std::vector<int64_t>(n, 1);
  if (given.sizes.size() == 1 || given.sizes.size() == n) {
    std::vector<int64_t> sizes(n, given.sizes[0]);
    std::ranges::copy(given.sizes, sizes.begin());
    for (int64_t size : sizes) {
      if (size < 1) return value_error("all values of `", what, "` must be positive");
    }
    return sizes;
  }
  return value_error("`len(", what, ")` should be ", n, ". Received: length ", given.sizes.size());
}

// Applies f to the image cut into several, each of the pixels that are `rates` apart, and joins the
// results into one image.
Tensor with_space_to_batch(FunctionContext& c, const Tensor& x, std::span<const int64_t> rates,
                           bool channels_second,
                           FunctionRef<Tensor(const Tensor& x, std::string_view name)> f) {
  const SizeList sizes = c.sizes(x);
  if (!c.status().ok()) return {};
  std::vector<int64_t> block(rates.begin(), rates.end());
  if (channels_second) block.insert(block.begin(), 1);
  SizeList margins;
  for (size_t i = 0; i < block.size(); ++i) {
    const Size& size = sizes[i + 1];
    margins.push_back(0);
    if (size.is_number()) {
      margins.push_back((block[i] - size.number() % block[i]) % block[i]);
    } else {
      margins.push_back(Size(c(kFloorMod, {c(kNeg, {size.tensor(c)}), c.scalar(block[i])})));
    }
  }
  const int64_t pairs[] = {-1, 2};
  const Tensor blocks = c.vector(block, "block_shape");
  const Tensor extra = c(kReshape, {vector_of(c, margins), c.vector(pairs)});
  const Tensor y = f(c(kSpaceToBatchND, {x, blocks, extra}), {});
  return c(kBatchToSpaceND, {y, blocks, extra}, {}, c.name());
}

Outputs any_pool(FunctionContext& c, const AnyPoolParameters& p) {
  const size_t n = p.window_shape.sizes.size();
  if (n < 1 || n > 3) {
    return c.fail(value_error("`len(window_shape)` must be 1, 2, or 3. Received: length ", n));
  }
  if (p.padding != "SAME" && p.padding != "VALID") {
    return c.fail(
        value_error("`padding` must be either 'VALID' or 'SAME'. Received: padding=", p.padding));
  }
  if (p.pooling_type != "MAX" && p.pooling_type != "AVG") {
    return c.fail(value_error("`pooling_type` must be 'AVG' or 'MAX'. Received: ", p.pooling_type));
  }
  const auto rank = c.rank_if_known(p.input);
  if (rank && *rank != static_cast<int>(n) + 2) {
    return c.fail(value_error("Shape ", p.input.shape().to_text(), " must have rank ", n + 2));
  }
  const auto strides = one_for_each("strides", p.strides, n);
  const auto rates = one_for_each("dilation_rate", p.dilations, n);
  for (const auto* list : {&strides, &rates}) {
    if (!list->ok()) return c.fail(list->status());
  }
  for (size_t i = 0; i < n; ++i) {
    if ((*strides)[i] <= p.window_shape.sizes[i]) continue;
    return c.fail(value_error("`strides` > `window_shape` not supported. Received: strides=[",
                              str_join(*strides, ", "), "]"));
  }
  const auto is_one = [](int64_t number) { return number == 1; };
  const bool is_dense = std::ranges::all_of(*rates, is_one);
  if (!is_dense && (p.padding != "VALID" || !std::ranges::all_of(*strides, is_one))) {
    return c.fail(value_error(
        "strides > 1 not supported in conjunction with dilation_rate > 1, nor padding other than ",
        "VALID: pooling with 'SAME' padding is not implemented for `dilation_rate` > 1"));
  }
  if (!std::ranges::all_of(*rates, [](int64_t rate) { return std::in_range<int32_t>(rate); })) {
    return c.fail(value_error("`dilation_rate` must fit into int32. Received: [",
                              str_join(*rates, ", "), "]"));
  }
  const bool second = p.data_format && p.data_format->starts_with("NC");
  static constexpr std::string_view kFormats[][2] = {
      {"NWC", "NCW"}, {"NHWC", "NCHW"}, {"NDHWC", "NCDHW"}};
  Window window;
  for (int64_t stride : *strides) window.sizes.push_back(stride);
  const auto pool = [&](const Tensor& x, std::string_view name) {
    return (n == 1   ? pool1d
            : n == 2 ? pool2d
                     : pool3d)(
        c, {p.pooling_type == "MAX", name, x, p.window_shape, window, {.kind = p.padding}},
        std::string(kFormats[n - 1][second]));
  };
  if (is_dense) return pool(p.input, c.name());
  return with_space_to_batch(c, p.input, *rates, second, pool);
}

struct PoolWithArgmaxParameters {
  Tensor input;
  Window ksize, strides;
  std::string padding, data_format = "NHWC";
  DType output_dtype = DType::kInt64;
  bool include_batch_in_index = false;
  static constexpr auto fields() {
    using P = PoolWithArgmaxParameters;
    return std::tuple(
        required_field("input", &P::input, "T", "Images, [batch, height, width, channels]."),
        required_field("ksize", &P::ksize, kWindowDoc),
        required_field("strides", &P::strides, kWindowDoc),
        required_field("padding", &P::padding, "\"SAME\" or \"VALID\"."),
        field("data_format", &P::data_format, "\"NHWC\"."),
        field("output_dtype", &P::output_dtype, "Of the places: int32 or int64."),
        field("include_batch_in_index", &P::include_batch_in_index,
              "Count the places from the first image on, not in each."));
  }
};

Outputs max_pool_with_argmax(FunctionContext& c, const PoolWithArgmaxParameters& p) {
  if (p.data_format != "NHWC") {
    return c.fail(value_error("`data_format` values other than 'NHWC' are not supported. ",
                              "Received: data_format=", p.data_format));
  }
  const DataFormat format = data_format(p.data_format, 2);
  return c.apply(
      kMaxPoolWithArgmax, {p.input},
      {window_sizes(c, p.ksize, format, "ksize"), window_sizes(c, p.strides, format, "strides"),
       p.output_dtype, p.padding, p.include_batch_in_index},
      c.name());
}

}  // namespace

void define_pooling(FunctionRegistry& functions) {
  define_pool<1, Padding>(functions, true, "nn.max_pool1d", "MaxPool1d");
  define_pool<2, Padding>(functions, true, "nn.max_pool2d", "MaxPool2d");
  define_pool<3, std::string>(functions, true, "nn.max_pool3d", "MaxPool3D");
  define_pool<0, Padding>(functions, true, "nn.max_pool", "MaxPool2d");
  define_pool<1, std::string>(functions, false, "nn.avg_pool1d", "AvgPool1D");
  define_pool<2, std::string>(functions, false, "nn.avg_pool2d", "AvgPool2D");
  define_pool<3, std::string>(functions, false, "nn.avg_pool3d", "AvgPool3D");
  define_pool<0, std::string>(functions, false, "nn.avg_pool", "AvgPool");
  functions.define({
      .names = "nn.pool",
      .scope = "pool",
      .types = {{"T", kFloatTypes}},
      .summary = "The largest element or the mean of each window, of one to three dimensions.",
      .details = "Padding takes no part.",
      .returns = "The input with an element for each window.",
      .raises = {{"ValueError", "Lengths or arguments do not go together."},
                 {"InvalidArgumentError", "The sizes do not fit."}},
      .source = "OpDefs \"MaxPool\", \"AvgPool\", \"MaxPool3D\" and \"AvgPool3D\"",
      .body = any_pool,
  });
  functions.define({
      .names = "nn.max_pool_with_argmax",
      .scope = "MaxPoolWithArgmax",
      .types = {{"T", kRealTypes}, {"output_dtype", kIndexTypes}},
      .results = named_tuple("MaxPoolWithArgmax", {"output", "argmax"}),
      .summary = "The largest element of each window, and its place among those of its image.",
      .returns = "Both with an element for each window.",
      .raises = {{"ValueError", "data_format or output_dtype is another."},
                 {"InvalidArgumentError", "The sizes do not fit."}},
      .source = "OpDef \"MaxPoolWithArgmax\"",
      .body = max_pool_with_argmax,
  });
}

}  // namespace graven::engine
