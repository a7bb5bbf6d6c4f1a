#include "graven/library/windows.h"

#include "graven/base/strings.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/sizes.h"

namespace graven::engine {

DataFormat data_format(std::string_view text, int spatial_axes) {
  return {spatial_axes, text.starts_with("NC") ? 1 : spatial_axes + 1};
}

std::vector<int64_t> window_sizes(FunctionContext& c, const Window& window, DataFormat format,
                                  std::string_view what) {
  const size_t n = static_cast<size_t>(format.spatial_axes);
  std::vector<int64_t> sizes(window.sizes.begin(), window.sizes.end());
  if (sizes.empty()) sizes = {1};
  if (sizes.size() == 1) sizes.assign(n, sizes[0]);
  if (sizes.size() == n) {
    sizes.insert(sizes.begin(), 1);
    sizes.insert(sizes.begin() + format.channels_at, 1);
  }
  if (sizes.size() != n + 2) {
    c.fail(value_error(what, " should be of length 1, ", n, " or ", n + 2, ". Received: ", what,
                       "=[", str_join(sizes, ", "), "] of length ", sizes.size()));
  }
  return sizes;
}

std::vector<int64_t> explicit_paddings(const Padding& padding) {
  return {padding.sizes.begin(), padding.sizes.end()};
}

Tensor with_one_batch_axis(FunctionContext& c, const Tensor& x, int inner_rank,
                           FunctionRef<Tensor(const Tensor& x, std::string_view name)> f) {
  const auto rank = c.rank_if_known(x);
  if (!rank || *rank <= inner_rank + 1) return f(x, c.name());
  const SizeList sizes = c.sizes(x);
  const auto inner = sizes.end() - inner_rank;
  SizeList flat = {product(c, {sizes.begin(), inner})};
  flat.insert(flat.end(), inner, sizes.end());
  const Tensor y = f(c(kReshape, {x, vector_of(c, flat)}), {});
  const SizeList sizes_of_y = c.sizes(y);
  SizeList whole(sizes.begin(), inner);
  if (!sizes_of_y.empty()) whole.insert(whole.end(), sizes_of_y.begin() + 1, sizes_of_y.end());
  return c(kReshape, {y, vector_of(c, whole)}, {}, c.name());
}

}  // namespace graven::engine
