#include "graven/ops/gather_kernels.h"

#include <algorithm>
#include <vector>

#include "graven/base/strings.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ops/elements.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/strided_copy.h"
#include "graven/tensor/add_elements.h"

namespace graven::engine {
namespace {

constexpr int64_t kBytesPerChunk = 1 << 17;

// Indices as integers of the machine, each checked to lie in [0, limit).
Result<std::vector<int64_t>> checked_indices(const Tensor& indices, int64_t limit) {
  std::vector<int64_t> checked(static_cast<size_t>(indices.num_elements()));
  bool is_good = visit_index_type(indices.dtype(), [&](auto zero) {
    auto given = indices.data<decltype(zero)>();
    bool good = true;
    for (size_t i = 0; i < given.size(); ++i) {
      checked[i] = given[i];
      good &= checked[i] >= 0 && checked[i] < limit;
    }
    return good;
  });
  if (is_good) return checked;
  for (size_t i = 0; i < checked.size(); ++i) {
    if (checked[i] >= 0 && checked[i] < limit) continue;
    return invalid_argument("indices", place_text(indices.shape(), static_cast<int64_t>(i)), " = ",
                            checked[i], " is not in [0, ", limit, ")");
  }
  return checked;
}

// params [batches, outer, limit, inner] at indices [batches, n] gives [batches, outer, n, inner].
struct GatherPlan {
  int64_t batches = 1, outer = 1, limit = 1, inner = 1, n = 1;
};

void gather(const GatherPlan& plan, const Tensor& params, std::span<const int64_t> indices,
            const Tensor& out) {
  visit_copied(params.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(params.raw_data());
    T* to = static_cast<T*>(out.mutable_raw_data());
    const int64_t inner = plan.inner;
    auto row_bytes = inner * static_cast<int64_t>(sizeof(T));
    for_ranges(plan.batches * plan.outer * plan.n, kBytesPerChunk / std::max<int64_t>(row_bytes, 1),
               [&](int64_t begin, int64_t end) {
                 int64_t row = begin / plan.n, i = begin % plan.n;  // row of [batches, outer]
                 while (begin < end) {
                   int64_t count = std::min(plan.n - i, end - begin);
                   const T* slab = from + row * plan.limit * inner;
                   const int64_t* index = indices.data() + row / plan.outer * plan.n + i;
                   T* target = to + (row * plan.n + i) * inner;
                   if (inner == 1) {
                     for (int64_t k = 0; k < count; ++k) target[k] = slab[index[k]];
                   } else {
                     for (int64_t k = 0; k < count; ++k) {
                       std::copy_n(slab + index[k] * inner, inner, target + k * inner);
                     }
                   }
                   begin += count;
                   ++row;
                   i = 0;
                 }
               });
  });
}

// --- Slices that index vectors name.

bool skips_bad_indices(const KernelContext& c) {
  return c.attrs<IndexPolicyAttrs>().bad_indices_policy == "IGNORE";
}

// For each vector of indices its slice of `shape`, counted in slices; -1 for a bad one that is to
// be skipped. `name` names the indices in messages.
Result<std::vector<int64_t>> slices_at(const Tensor& indices, const Shape& shape, bool skip_bad) {
  const int64_t depth = indices.shape().size(indices.rank() - 1);
  int64_t count = 1;
  for (int i = 0; i + 1 < indices.rank(); ++i) count *= indices.shape().size(i);
  std::vector<int64_t> slices(static_cast<size_t>(count));
  bool is_good = visit_index_type(indices.dtype(), [&](auto zero) {
    auto given = indices.data<decltype(zero)>();
    bool good = true;
    for (int64_t i = 0; i < count; ++i) {
      int64_t slice = 0;
      bool fits = true;
      for (int64_t d = 0; d < depth; ++d) {
        auto index = static_cast<int64_t>(given[i * depth + d]);
        int64_t size = shape.size(static_cast<int>(d));
        fits &= index >= 0 && index < size;
        slice = fits ? slice * size + index : -1;
      }
      slices[i] = slice;
      good &= fits;
    }
    return good;
  });
  if (is_good || skip_bad) return slices;
  Shape of_vectors = indices.shape();
  of_vectors.erase(indices.rank() - 1);
  for (int64_t i = 0; i < count; ++i) {
    if (slices[i] >= 0) continue;
    std::vector<int64_t> vector;
    for (int64_t d = 0; d < depth; ++d) vector.push_back(integer_at(indices, i * depth + d));
    return invalid_argument("indices", place_text(of_vectors, i), " = [", str_join(vector, ", "),
                            "] does not index into shape ", shape.to_message());
  }
  return slices;
}

int64_t slice_width(const Tensor& indices, const Shape& shape) {
  int64_t width = 1;
  for (int i = static_cast<int>(indices.shape().size(indices.rank() - 1)); i < shape.rank(); ++i) {
    width *= shape.size(i);
  }
  return width;
}

template <TensorScatter kind, typename T>
T combined(T x, T y) {
  if constexpr (kind == TensorScatter::kUpdate) {
    return y;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return x + y;  // only ScatterNd takes strings, which adds
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return T(combined<kind>(static_cast<float>(x), static_cast<float>(y)));
  } else if constexpr (kind == TensorScatter::kAdd) {
    return add_elements(x, y);
  } else if constexpr (std::is_same_v<T, bool>) {
    return y;  // the records take no bool here
  } else if constexpr (kind == TensorScatter::kSub && std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(x) - static_cast<uint64_t>(y));
  } else if constexpr (kind == TensorScatter::kSub) {
    return x - y;
  } else if constexpr (std::is_arithmetic_v<T>) {
    return (kind == TensorScatter::kMin ? y < x : x < y) ? y : x;
  } else {
    return x;  // complex numbers have no order; the records do not take them
  }
}

template <TensorScatter kind, typename T>
void scatter(std::span<const int64_t> slices, int64_t width, const T* from, T* to) {
  // Cut by columns: one place may be named several times, and its updates keep their order.
  const auto count = static_cast<int64_t>(slices.size());
  const int64_t grain = std::max<int64_t>((1 << 18) / std::max<int64_t>(count, 1), 256);
  for_ranges(width, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = 0; i < count; ++i) {
      if (slices[i] < 0) continue;
      T* target = to + slices[i] * width;
      const T* row = from + i * width;
      if constexpr (kind == TensorScatter::kUpdate) {
        std::copy(row + begin, row + end, target + begin);
      } else {
        for (int64_t k = begin; k < end; ++k) target[k] = combined<kind>(target[k], row[k]);
      }
    }
  });
}

// Updates of whole slices: plain copies for objects and for kUpdate.
template <TensorScatter kind>
void scatter_all(std::span<const int64_t> slices, int64_t width, const Tensor& updates,
                 const Tensor& out) {
  auto run = [&](auto zero) {
    using T = decltype(zero);
    scatter<kind>(slices, width, static_cast<const T*>(updates.raw_data()),
                  static_cast<T*>(out.mutable_raw_data()));
  };
  if (kind == TensorScatter::kAdd && out.dtype() == DType::kString) {
    run(std::string());
  } else if (kind == TensorScatter::kUpdate || !is_plain(out.dtype())) {
    visit_copied(out.dtype(), [&](auto zero) {
      using T = decltype(zero);
      scatter<TensorScatter::kUpdate>(slices, width, static_cast<const T*>(updates.raw_data()),
                                      static_cast<T*>(out.mutable_raw_data()));
    });
  } else {
    visit_plain(out.dtype(), run);
  }
}

}  // namespace

Status gather_kernel(KernelContext& c) {
  const Tensor &params = c.input(0), &indices = c.input(1);
  int axis = 0, batch_dims = 0;
  if (c.num_inputs() == 3) {
    ASSIGN_OR_RETURN(axis, normalized_axis(integer_at(c.input(2), 0), params.rank()));
    int64_t given = c.attrs<GatherV2Attrs>().batch_dims;
    batch_dims = static_cast<int>(given < 0 ? given + indices.rank() : given);
  }
  GatherPlan plan;
  for (int i = 0; i < params.rank(); ++i) {
    int64_t size = params.shape().size(i);
    (i < batch_dims ? plan.batches
     : i < axis     ? plan.outer
     : i == axis    ? plan.limit
                    : plan.inner) *= size;
  }
  for (int i = batch_dims; i < indices.rank(); ++i) plan.n *= indices.shape().size(i);
  ASSIGN_OR_RETURN(auto checked, checked_indices(indices, plan.limit));
  if (c.output(0).num_elements() > 0) gather(plan, params, checked, c.output(0));
  return {};
}

Status gather_nd_kernel(KernelContext& c) {
  const Tensor &params = c.input(0), &indices = c.input(1), &out = c.output(0);
  const bool skip_bad = skips_bad_indices(c);
  ASSIGN_OR_RETURN(auto slices, slices_at(indices, params.shape(), skip_bad));
  const int64_t width = slice_width(indices, params.shape());
  if (out.num_elements() == 0) return {};
  visit_copied(params.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(params.raw_data());
    T* to = static_cast<T*>(out.mutable_raw_data());
    for_ranges(static_cast<int64_t>(slices.size()),
               kBytesPerChunk / (width * static_cast<int64_t>(sizeof(T))),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   if (slices[i] < 0) {
                     std::fill_n(to + i * width, width, zero);
                   } else {
                     std::copy_n(from + slices[i] * width, width, to + i * width);
                   }
                 }
               });
  });
  return {};
}

Status scatter_nd_kernel(KernelContext& c) {
  const Tensor &indices = c.input(0), &out = c.output(0);
  ASSIGN_OR_RETURN(auto slices, slices_at(indices, out.shape(), skips_bad_indices(c)));
  clear_elements(out.dtype(), out.num_elements(), out.mutable_raw_data());
  scatter_all<TensorScatter::kAdd>(slices, slice_width(indices, out.shape()), c.input(1), out);
  return {};
}

template <TensorScatter kind>
Status tensor_scatter_kernel(KernelContext& c) {
  const Tensor &x = c.input(0), &indices = c.input(1), &out = c.output(0);
  ASSIGN_OR_RETURN(auto slices, slices_at(indices, x.shape(), skips_bad_indices(c)));
  if (out.raw_data() != x.raw_data()) {
    copy_strided(x.dtype(), {{x.num_elements(), 1, 1}}, x.raw_data(), out.mutable_raw_data());
  }
  scatter_all<kind>(slices, slice_width(indices, x.shape()), c.input(2), out);
  return {};
}
template Status tensor_scatter_kernel<TensorScatter::kUpdate>(KernelContext& c);
template Status tensor_scatter_kernel<TensorScatter::kAdd>(KernelContext& c);
template Status tensor_scatter_kernel<TensorScatter::kSub>(KernelContext& c);
template Status tensor_scatter_kernel<TensorScatter::kMin>(KernelContext& c);
template Status tensor_scatter_kernel<TensorScatter::kMax>(KernelContext& c);

}  // namespace graven::engine
