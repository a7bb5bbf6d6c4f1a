#include "graven/ops/structural_kernels.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "graven/base/strings.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/movement.h"
#include "graven/ops/elements.h"

namespace graven::engine {
namespace {

// Bytes that one chunk of a movement writes.
constexpr int64_t kBytesPerChunk = 1 << 18;

template <typename T>
void copy_elements(const T* from, int64_t count, T* to) {
  std::copy_n(from, count, to);
}

// The axes of a shape whose size is not 1.
InlineVector<int, 6> long_axes(const Shape& shape) {
  InlineVector<int, 6> axes;
  for (int i = 0; i < shape.rank(); ++i) {
    if (!(shape[i] == Dim(1))) axes.push_back(i);
  }
  return axes;
}

// How many of the last axes in both lists hold the same elements: the fewest. None if that cannot
// be told.
struct SameElements {
  int from, to;
};
std::optional<SameElements> same_elements(const ReadsContext& c, std::span<const int> from,
                                          std::span<const int> to) {
  const Shape &x = c.shape(0), &y = c.output();
  SameElements same = {1, 1};
  Dim of_x = x[from.back()], of_y = y[to.back()];
  while (!(of_x == of_y)) {
    if (of_x.is_term() && of_y.is_term()) return std::nullopt;
    const bool widens_x = of_y.is_term() || (of_x.is_number() && of_x.number() < of_y.number());
    int& count = widens_x ? same.from : same.to;
    const std::span<const int> axes = widens_x ? from : to;
    if (count == static_cast<int>(axes.size())) return std::nullopt;
    Dim& product = widens_x ? of_x : of_y;
    product = c.multiply(product, (widens_x ? x : y)[axes[axes.size() - 1 - count++]]);
    if (product.is_unknown() || product == Dim(0)) return std::nullopt;
  }
  return same;
}

}  // namespace

std::optional<Movement> reshape_reads(const ReadsContext& c) {
  const Shape &x = c.shape(0), &y = c.output();
  InlineVector<int, 6> from = long_axes(x), to = long_axes(y);
  // Each axis of y as the indices it is split into, innermost first.
  std::vector<std::vector<Dim>> parts(static_cast<size_t>(y.rank()));
  struct Part {
    int axis, number;
    Dim coefficient;
  };
  std::vector<std::vector<Part>> read(static_cast<size_t>(x.rank()));
  while (!from.empty() && !to.empty()) {
    auto same = same_elements(c, {from.data(), from.size()}, {to.data(), to.size()});
    if (!same || (same->from > 1 && same->to > 1)) return std::nullopt;
    if (same->to == 1) {
      for (int i = 0; i < same->from; ++i) {
        read[from.back()] = {{to.back(), i, 1}};
        parts[to.back()].push_back(x[from.back()]);
        from.pop_back();
      }
      to.pop_back();
      continue;
    }
    Dim step = 1;
    for (int i = 0; i < same->to; ++i) {
      read[from.back()].push_back({to.back(), 0, step});
      step = c.multiply(step, y[to.back()]);
      to.pop_back();
    }
    from.pop_back();
  }
  if (!from.empty() || !to.empty()) return std::nullopt;
  Movement movement;
  std::vector<int> first;  // index of each axis of y
  for (int i = 0; i < y.rank(); ++i) {
    first.push_back(movement.space.rank());
    if (parts[i].empty()) parts[i].push_back(y[i]);
    movement.split.push_back(static_cast<int>(parts[i].size()));
    for (size_t p = parts[i].size(); p-- > 0;) movement.space.push_back(parts[i][p]);
  }
  if (movement.space.rank() == y.rank()) movement.split.clear();
  Movement::Piece& piece = movement.pieces.emplace_back();
  piece.read.axes.resize(static_cast<size_t>(x.rank()));
  for (int k = 0; k < x.rank(); ++k) {
    for (const Part& part : read[k]) {
      const int last = first[part.axis] + static_cast<int>(parts[part.axis].size()) - 1;
      piece.read.axes[k].terms.push_back({last - part.number, part.coefficient});
    }
    std::ranges::reverse(piece.read.axes[k].terms);
  }
  return movement;
}

std::optional<Movement> broadcast_to_reads(const ReadsContext& c) {
  auto read = Read::broadcasting(c.shape(0), c.output());
  if (!read) return std::nullopt;
  return one_read(c.output(), std::move(*read));
}

std::optional<Movement> fill_reads(const ReadsContext& c) {
  return one_read(c.output(), Read{}, /*input=*/1);
}

std::optional<Movement> concat_reads(const ReadsContext& c) {
  const int n = c.num_inputs() - 1;
  if (!c.value(n)) return std::nullopt;
  auto axis = normalized_axis(integer_at(c.value(n), 0), c.output().rank());
  if (!axis.ok()) return std::nullopt;
  const Read same = Read::of_leading_axes(c.output().rank());
  if (n == 1) return one_read(c.output(), same);
  Movement movement;
  movement.space = c.output();
  Movement::Indices start(static_cast<size_t>(c.output().rank()), Dim(0));
  for (int i = 0; i < n; ++i) {
    const auto size = c.shape(i).dims();
    movement.pieces.push_back({i, same, start, Movement::Indices(size), {}});
    start[*axis] = c.add(start[*axis], size[*axis]);
  }
  return movement;
}

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
      // Some rows at a time, which all parts find in the cache.
      constexpr int64_t kRows = 64;
      for (int64_t first = begin; first < end; first += kRows) {
        const int64_t last = std::min(end, first + kRows);
        int64_t column = 0;
        for (const Tensor& part : parts) {
          T* to = static_cast<T*>(part.mutable_raw_data());
          const int64_t width = part.num_elements() / outer;
          const T* source = from + column;
          if (width == 1) {
            for (int64_t row = first; row < last; ++row) to[row] = source[row * inner];
          } else {
            for (int64_t row = first; row < last; ++row) {
              copy_elements(source + row * inner, width, to + row * width);
            }
          }
          column += width;
        }
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

}  // namespace graven::engine
