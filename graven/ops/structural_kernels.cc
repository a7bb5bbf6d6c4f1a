#include "graven/ops/structural_kernels.h"

#include <vector>

#include "graven/base/strings.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ops/elements.h"

namespace graven::engine {
namespace {

// Bytes that one chunk of a movement writes.
constexpr int64_t kBytesPerChunk = 1 << 18;

template <typename T>
void copy_elements(const T* from, int64_t count, T* to) {
  std::copy_n(from, count, to);
}

}  // namespace

Status fill_kernel(KernelContext& c) {
  const Tensor& out = c.output(0);
  visit_copied(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T value = c.input(1).item<T>();
    T* to = static_cast<T*>(out.mutable_raw_data());
    for_ranges(out.num_elements(), kBytesPerChunk / sizeof(T),
               [&](int64_t begin, int64_t end) { std::fill(to + begin, to + end, value); });
  });
  return {};
}

void concat_rows(std::span<const Tensor> values, int64_t outer, const Tensor& out) {
  if (out.num_elements() == 0) return;
  const int64_t inner = out.num_elements() / outer;
  visit_copied(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* to = static_cast<T*>(out.mutable_raw_data());
    int64_t rows_per_chunk = kBytesPerChunk / static_cast<int64_t>(inner * sizeof(T));
    for_ranges(outer, rows_per_chunk, [&](int64_t begin, int64_t end) {
      int64_t column = 0;
      for (const Tensor& value : values) {
        const T* from = static_cast<const T*>(value.raw_data());
        int64_t width = value.num_elements() / outer;
        for (int64_t row = begin; row < end; ++row) {
          copy_elements(from + row * width, width, to + row * inner + column);
        }
        column += width;
      }
    });
  });
}

void split_rows(const Tensor& x, int64_t outer, std::span<const Tensor> parts) {
  if (x.num_elements() == 0) return;
  const int64_t inner = x.num_elements() / outer;
  visit_copied(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(x.raw_data());
    int64_t rows_per_chunk = kBytesPerChunk / static_cast<int64_t>(inner * sizeof(T));
    for_ranges(outer, rows_per_chunk, [&](int64_t begin, int64_t end) {
      int64_t column = 0;
      for (const Tensor& part : parts) {
        T* to = static_cast<T*>(part.mutable_raw_data());
        int64_t width = part.num_elements() / outer;
        for (int64_t row = begin; row < end; ++row) {
          copy_elements(from + row * inner + column, width, to + row * width);
        }
        column += width;
      }
    });
  });
}

Status concat_kernel(KernelContext& c) {
  const Tensor& out = c.output(0);
  if (out.num_elements() == 0) return {};
  const int n = c.num_inputs() - 1;
  ASSIGN_OR_RETURN(int axis, normalized_axis(integer_at(c.input(n), 0), out.rank()));
  int64_t outer = 1;
  for (int i = 0; i < axis; ++i) outer *= out.shape().size(i);
  concat_rows(c.inputs().first(n), outer, out);
  return {};
}

Status broadcast_to_kernel(KernelContext& c) {
  const Tensor& x = c.input(0);
  const Tensor& out = c.output(0);
  if (out.num_elements() == 0) return {};
  if (x.num_elements() == out.num_elements()) {
    c.set_output(0, x.with_shape(out.shape()));
    return {};
  }
  // Axes from the innermost on, neighbours that are both kept or both repeated made one.
  struct Axis {
    int64_t size;
    bool is_repeated;
  };
  std::vector<Axis> axes;
  int offset = out.rank() - x.rank();
  for (int i = out.rank() - 1; i >= 0; --i) {
    int64_t size = out.shape().size(i);
    if (size == 1) continue;
    bool is_repeated = i < offset || x.shape().size(i - offset) == 1;
    if (!axes.empty() && axes.back().is_repeated == is_repeated) {
      axes.back().size *= size;
    } else {
      axes.push_back({size, is_repeated});
    }
  }
  const Axis innermost = axes[0];
  visit_copied(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(x.raw_data());
    T* to = static_cast<T*>(out.mutable_raw_data());
    int64_t rows = out.num_elements() / innermost.size;
    int64_t grain = kBytesPerChunk / static_cast<int64_t>(innermost.size * sizeof(T));
    for_ranges(rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        int64_t rest = row, source = 0, stride = innermost.is_repeated ? 1 : innermost.size;
        for (size_t i = 1; i < axes.size(); ++i) {
          int64_t index = rest % axes[i].size;
          rest /= axes[i].size;
          if (axes[i].is_repeated) continue;
          source += index * stride;
          stride *= axes[i].size;
        }
        T* row_to = to + row * innermost.size;
        if (innermost.is_repeated) {
          std::fill_n(row_to, innermost.size, from[source]);
        } else {
          copy_elements(from + source, innermost.size, row_to);
        }
      }
    });
  });
  return {};
}

Status broadcast_gradient_args_kernel(KernelContext& c) {
  const int64_t n0 = c.input(0).num_elements(), n1 = c.input(1).num_elements();
  const int64_t rank = std::max(n0, n1);
  std::vector<int64_t> axes[2];
  for (int64_t axis = 0; axis < rank; ++axis) {
    int64_t at0 = axis - (rank - n0), at1 = axis - (rank - n1);
    int64_t size0 = at0 < 0 ? 1 : integer_at(c.input(0), at0);
    int64_t size1 = at1 < 0 ? 1 : integer_at(c.input(1), at1);
    if (size0 != size1 && size0 != 1 && size1 != 1) {
      return invalid_argument("Incompatible shapes: axis ", axis, " has the sizes ", size0, " and ",
                              size1);
    }
    if (size0 == 1) axes[0].push_back(axis);
    if (size1 == 1) axes[1].push_back(axis);
  }
  for (int i = 0; i < 2; ++i) {
    DType dtype = c.input(0).dtype();
    RETURN_IF_ERROR(c.allocate_output(i, dtype, Shape{Dim(static_cast<int64_t>(axes[i].size()))}));
    for (size_t k = 0; k < axes[i].size(); ++k) {
      if (dtype == DType::kInt32) {
        c.out<int32_t>(i)[k] = static_cast<int32_t>(axes[i][k]);
      } else {
        c.out<int64_t>(i)[k] = axes[i][k];
      }
    }
  }
  return {};
}

Status unsorted_segment_sum_kernel(KernelContext& c) {
  const Tensor& data = c.input(0);
  const Tensor& ids = c.input(1);
  const Tensor& out = c.output(0);
  int64_t num_segments = out.shape().size(0);
  int64_t num_rows = ids.num_elements();
  for (int64_t i = 0; i < num_rows; ++i) {
    if (integer_at(ids, i) >= num_segments) {
      return invalid_argument("segment_ids[", i, "] = ", integer_at(ids, i),
                              " is out of range [0, ", num_segments, ")");
    }
  }
  visit_plain(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(data.raw_data());
    T* to = static_cast<T*>(out.mutable_raw_data());
    std::fill_n(to, out.num_elements(), zero);
    if (num_rows == 0 || data.num_elements() == 0) return;
    int64_t width = data.num_elements() / num_rows;
    for (int64_t row = 0; row < num_rows; ++row) {
      int64_t id = integer_at(ids, row);
      if (id < 0) continue;
      T* sum = to + id * width;
      const T* added = from + row * width;
      for (int64_t i = 0; i < width; ++i) sum[i] = add_elements(sum[i], added[i]);
    }
  });
  return {};
}

}  // namespace graven::engine
