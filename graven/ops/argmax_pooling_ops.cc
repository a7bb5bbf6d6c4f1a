#include <algorithm>
#include <atomic>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/convolution_ops.h"
#include "graven/ops/elements.h"
#include "graven/ops/pooling_windows.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/strided_copy.h"
#include "graven/tensor/add_elements.h"

namespace graven::engine {
namespace {

// Of PoolWithArgmaxAttrs and PoolGradWithArgmaxAttrs.
template <typename A>
Result<Windows> argmax_windows_of(const A& attrs) {
  if (attrs.padding == "EXPLICIT") {
    return invalid_argument("padding must be \"SAME\" or \"VALID\", got \"EXPLICIT\"");
  }
  ASSIGN_OR_RETURN(Windows windows, checked_windows({.strides = attrs.strides,
                                                     .padding = attrs.padding,
                                                     .data_format = "NHWC",
                                                     .is_pooling = true,
                                                     .ksize = attrs.ksize}));
  if (windows.depth == 1) return windows;
  return unimplemented("MaxPoolWithArgmax has no windows over channels.");
}

Status max_pool_with_argmax_shape(InferContext& c) {
  ASSIGN_OR_RETURN(Windows windows, argmax_windows_of(c.attrs<PoolWithArgmaxAttrs>()));
  ASSIGN_OR_RETURN(Shape out, pooled_shape(c, windows, c.shape(0)));
  c.set_shape(0, out);
  c.set_shape(1, out);
  return {};
}

Status max_pool_with_argmax_kernel(KernelContext& c) {
  const auto& attrs = c.attrs<PoolWithArgmaxAttrs>();
  ASSIGN_OR_RETURN(Windows windows, argmax_windows_of(attrs));
  Tensor places = c.output(1);
  if (places.dtype() != DType::kInt64) {
    ASSIGN_OR_RETURN(places, Tensor::allocate(DType::kInt64, places.shape()));
  }
  RETURN_IF_ERROR(max_pool_with_places(
      pooling_of(windows, c.input(0).dtype(), c.input(0).shape(), c.output(0).shape()),
      attrs.include_batch_in_index, c.input(0).raw_data(), c.output(0).mutable_raw_data(),
      places.mutable_data<int64_t>().data()));
  if (places.dtype() == c.output(1).dtype()) return {};
  std::ranges::transform(places.data<int64_t>(), c.out<int32_t>(1).begin(),
                         [](int64_t place) { return static_cast<int32_t>(place); });
  return {};
}

void batch_pool_with_argmax(BatchContext& c) {
  if (c.attrs<PoolWithArgmaxAttrs>().include_batch_in_index) return c.use_loop();
  batch_by_folding<0>(c);
}

void define_max_pool_with_argmax(OpRegistry& ops) {
  ops.define(kMaxPoolWithArgmax,
             {
                 .name = "MaxPoolWithArgmax",
                 .summary = "The largest element of each window, and its place among the elements "
                            "of its image, or of all images.",
                 .details = "The first of equals counts. NaN is found in the first place of a "
                            "window alone.",
                 .inputs = {"input: T"},
                 .outputs = {"output: T", "argmax: Targmax"},
                 .types = {{"T", kRealTypes}, {"Targmax", kIndexTypes}},
                 .infer = max_pool_with_argmax_shape,
                 .gradient =
                     [](GradientContext& c) {
                       const auto& a = c.attrs<PoolWithArgmaxAttrs>();
                       c.set_dx(0, c(kMaxPoolGradWithArgmax, {c.x(0), c.dy(0), c.y(1)},
                                     {a.ksize, a.strides, a.padding, a.include_batch_in_index}));
                     },
                 .batch = batch_pool_with_argmax,
                 .body = kernel(max_pool_with_argmax_kernel),
             });
}

Status max_pool_grad_with_argmax_shape(InferContext& c) {
  ASSIGN_OR_RETURN(Windows windows, argmax_windows_of(c.attrs<PoolGradWithArgmaxAttrs>()));
  ASSIGN_OR_RETURN(Shape out, pooled_shape(c, windows, c.shape(0)));
  RETURN_IF_ERROR(check_shape("grad", out, c.shape(1)));
  RETURN_IF_ERROR(check_shape("argmax", out, c.shape(2)));
  c.set_shape(0, c.shape(0).has_rank() ? c.shape(0) : unknown_sizes(4));
  return {};
}

// Adds the gradients in order: several windows may have one place. Images are apart.
Status max_pool_grad_with_argmax_kernel(KernelContext& c) {
  const Tensor &grad = c.input(1), &argmax = c.input(2), &output = c.output(0);
  const int64_t batch = output.shape().size(0), all = output.num_elements();
  const int64_t of_image = all / std::max<int64_t>(batch, 1);
  const int64_t windows_of_image = grad.num_elements() / std::max<int64_t>(batch, 1);
  const bool counts_batches = c.attrs<PoolGradWithArgmaxAttrs>().include_batch_in_index;
  clear_elements(output.dtype(), all, output.mutable_raw_data());
  std::atomic<int64_t> wrong{-1};
  visit_plain(output.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* to = output.mutable_data<T>().data();
    for_ranges(batch, (1 << 15) / std::max<int64_t>(of_image, 1), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin * windows_of_image; i < end * windows_of_image; ++i) {
        const int64_t first = i / windows_of_image * of_image;
        const int64_t place = integer_at(argmax, i) + (counts_batches ? 0 : first);
        if (place < first || place >= first + of_image) {
          wrong.store(i, std::memory_order_relaxed);
          continue;
        }
        to[place] = add_elements(to[place], grad.data<T>()[i]);
      }
    });
  });
  if (wrong < 0) return {};
  return invalid_argument("argmax has a place outside of its image: ", integer_at(argmax, wrong));
}

void batch_pool_with_argmax_grad(BatchContext& c) {
  if (c.attrs<PoolGradWithArgmaxAttrs>().include_batch_in_index) return c.use_loop();
  batch_by_folding<0, 1, 2>(c);
}

void define_max_pool_grad_with_argmax(OpRegistry& ops) {
  ops.define(kMaxPoolGradWithArgmax,
             {
                 .name = "MaxPoolGradWithArgmax",
                 .summary = "The gradient of MaxPoolWithArgmax: what comes in for a window goes to "
                            "the place in argmax.",
                 .inputs = {"input: T", "grad: T", "argmax: Targmax"},
                 .outputs = {"output: T"},
                 .types = {{"T", kRealTypes}, {"Targmax", kIndexTypes}},
                 .infer = max_pool_grad_with_argmax_shape,
                 .batch = batch_pool_with_argmax_grad,
                 .body = kernel(max_pool_grad_with_argmax_kernel),
             });
}

}  // namespace

void define_argmax_pooling_ops(OpRegistry& ops) {
  define_max_pool_with_argmax(ops);
  define_max_pool_grad_with_argmax(ops);
}

}  // namespace graven::engine
