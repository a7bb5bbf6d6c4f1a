#include "graven/kernels/streams.h"

#include <algorithm>
#include <cstring>

#include "graven/ir/fusion.h"

namespace graven::engine {
namespace {

// Rows of this length are read in place, shorter ones are gathered into full blocks.
constexpr int64_t kLongRow = 256;
// Shorter rows of gathered elements find their cache lines again in the next row.
constexpr int64_t kShortPanel = 32;
// Panels stay in a core's second cache.
constexpr int64_t kLeastPanelRows = 4;
constexpr int64_t kPanelBytes = kLeastPanelRows * FusionLimits::kMaxGatheredRowBytes;

template <typename T>
void fill(std::byte* out, const std::byte* element, int64_t count) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  for (int64_t i = 0; i < count; ++i) std::memcpy(out + i * sizeof(T), &value, sizeof(T));
}

void fill(std::byte* out, const std::byte* element, int64_t count, size_t size) {
  visit_element_size(size, [&](auto zero) { fill<decltype(zero)>(out, element, count); });
}

void copy_strided(std::byte* out, const std::byte* from, int64_t stride, int64_t count,
                  size_t size) {
  visit_element_size(size, [&](auto zero) {
    constexpr size_t kSize = sizeof(zero);
    for (int64_t i = 0; i < count; ++i) std::memcpy(out + i * kSize, from + i * stride, kSize);
  });
}

// A tile of columns that lie together, to rows: each cache line is read once, as the lines of a
// tile may fall into one set of the cache.
template <typename T, int64_t kRows>
void gather_tile(T* out, int64_t pitch, const std::byte* from, int64_t stride, int64_t rows,
                 int64_t columns) {
  constexpr int64_t kColumns = 8;
  T tile[kColumns][kRows];
  if (rows == kRows && columns == kColumns) {
    for (int64_t c = 0; c < kColumns; ++c) std::memcpy(tile[c], from + c * stride, sizeof(tile[c]));
    for (int64_t r = 0; r < kRows; ++r) {
      for (int64_t c = 0; c < kColumns; ++c) out[r * pitch + c] = tile[c][r];
    }
    return;
  }
  for (int64_t c = 0; c < columns; ++c) std::memcpy(tile[c], from + c * stride, rows * sizeof(T));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) out[r * pitch + c] = tile[c][r];
  }
}

// Columns that lie together to rows of `pitch` elements.
void gather_columns(std::byte* out, int64_t pitch, const std::byte* from, int64_t stride,
                    int64_t rows, int64_t columns, size_t size) {
  visit_element_size(size, [&](auto zero) {
    using T = decltype(zero);
    constexpr auto kSize = static_cast<int64_t>(sizeof(T));
    constexpr int64_t kRows = std::max<int64_t>(4, 64 / kSize);
    constexpr int64_t kColumns = 8, kAhead = 16;
    auto* to = reinterpret_cast<T*>(out);
    for (int64_t column = 0; column < columns; column += kColumns) {
      const std::byte* tiles = from + column * stride;
      const int64_t last = std::min(columns - column - 1, kAhead + kColumns - 1);
      for (int64_t ahead = kAhead; ahead <= last; ++ahead) {
        for (int64_t row = 0; row < rows; row += kRows) {
          __builtin_prefetch(tiles + ahead * stride + row * kSize);
        }
      }
      for (int64_t row = 0; row < rows; row += kRows) {
        gather_tile<T, kRows>(to + row * pitch + column, pitch, tiles + row * kSize, stride,
                              std::min(kRows, rows - row), std::min(kColumns, columns - column));
      }
    }
  });
}

}  // namespace

Iteration make_iteration(std::span<const StridedInput> inputs, std::span<const DType> dtypes,
                         const Shape& shape, uint64_t reduced) {
  Iteration it;
  int rank = shape.rank();
  InlineVector<InlineVector<int64_t, 6>, 8> strides;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Shape& from = *inputs[i].shape;
    size_t size = dtype_size(dtypes[i]);
    it.operands.push_back({static_cast<const std::byte*>(inputs[i].data), size, {}});
    auto& row = strides.emplace_back(static_cast<size_t>(rank), 0);
    int64_t stride = static_cast<int64_t>(size);
    if (const int64_t* given = inputs[i].strides) {
      for (int axis = 0; axis < rank; ++axis) row[axis] = given[axis] * stride;
      continue;
    }
    for (int axis = from.rank() - 1; axis >= 0; --axis) {
      if (from.size(axis) != 1) row[rank - from.rank() + axis] = stride;
      stride *= from.size(axis);
    }
  }
  for (int axis = 0; axis < rank; ++axis) {
    int64_t size = shape.size(axis);
    if (size == 1) continue;
    bool is_reduced = axis < 64 && (reduced >> axis & 1);
    bool merges = !it.sizes.empty() && it.is_reduced.back() == is_reduced;
    for (size_t i = 0; merges && i < inputs.size(); ++i) {
      merges = it.operands[i].strides.back() == strides[i][axis] * size;
    }
    if (merges) {
      it.sizes.back() *= size;
    } else {
      it.sizes.push_back(size);
      it.is_reduced.push_back(is_reduced);
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (merges) it.operands[i].strides.pop_back();
      it.operands[i].strides.push_back(strides[i][axis]);
    }
  }
  return it;
}

BlockReader::BlockReader(std::span<const int64_t> sizes, std::span<const StridedOperand> operands) {
  // Dimensions are merged once more: some that were in between may be missing here.
  InlineVector<int, 6> kept;  // the last of each group that merged
  for (int d = 0; d < static_cast<int>(sizes.size()); ++d) {
    num_elements_ *= sizes[d];
    bool merges = !kept.empty();
    for (size_t i = 0; merges && i < operands.size(); ++i) {
      merges = operands[i].strides[d - 1] == operands[i].strides[d] * sizes[d];
    }
    if (merges) {
      sizes_.back() *= sizes[d];
      kept.back() = d;
    } else {
      sizes_.push_back(sizes[d]);
      kept.push_back(d);
    }
  }
  inner_ = sizes_.empty() ? 1 : sizes_.back();
  by_rows_ = inner_ >= kLongRow || sizes_.size() <= 1;
  for (const StridedOperand& operand : operands) {
    int64_t size = static_cast<int64_t>(operand.element_size);
    Source source{Layout::kGathered, operand.element_size, 1, staging_bytes_, {}};
    for (int d : kept) source.strides.push_back(operand.strides[d]);
    // How many of the innermost dimensions are contiguous; outer ones may all be broadcast.
    int d = static_cast<int>(sizes_.size()) - 1;
    for (; d >= 0 && source.strides[d] == size * source.period; --d) source.period *= sizes_[d];
    bool outer_broadcast = true;
    for (int outer = d; outer >= 0; --outer) outer_broadcast &= source.strides[outer] == 0;
    if (d < 0) {
      source.layout = Layout::kContiguous;
    } else if (outer_broadcast && source.period == 1) {
      source.layout = Layout::kScalar;
    } else if (outer_broadcast && source.period <= kBlockElements) {
      source.layout = Layout::kPeriodic;
    }
    if (num_elements_ == 1) source.layout = Layout::kScalar;
    is_flat_ &= source.layout == Layout::kContiguous || source.layout == Layout::kScalar;
    if (source.layout == Layout::kGathered) make_panel(source);
    const int64_t step = source.strides.empty() ? 0 : source.strides.back();
    by_rows_ &= step == 0 || step == size || source.layout == Layout::kPanel;
    if (source.layout == Layout::kPanel) {
      panel_rows_ = std::max(panel_rows_, source.rows);
      staging_bytes_ += panel_bytes(source);
    } else if (source.layout == Layout::kPeriodic) {
      staging_bytes_ += (kBlockElements + source.period) * operand.element_size;
    } else if (source.layout == Layout::kGathered) {
      staging_bytes_ += kBlockElements * operand.element_size;
    }
    staging_bytes_ = (staging_bytes_ + 63) & ~size_t{63};
    sources_.push_back(source);
  }
}

BlockReader::State BlockReader::start(std::byte* staging) const {
  return {staging, InlineVector<const std::byte*, 8>(sources_.size(), nullptr),
          InlineVector<int64_t, 8>(sources_.size(), 0)};
}

// Rows are kept apart so that they do not all fall into the same few sets of a cache.
int64_t BlockReader::panel_bytes(const Source& source) const {
  return source.rows * source.pitch * static_cast<int64_t>(source.element_size);
}

void BlockReader::make_panel(Source& source) const {
  const size_t rank = sizes_.size();
  const auto size = static_cast<int64_t>(source.element_size);
  const bool lies_across = rank >= 2 && source.strides[rank - 2] == size &&
                           source.strides[rank - 1] != size && source.strides[rank - 1] != 0;
  if (!lies_across || inner_ < kShortPanel) return;
  source.pitch = inner_ < kLongRow ? inner_ : inner_ + std::max<int64_t>(64 / size, 1);
  const int64_t line = std::max<int64_t>(64 / size, 8);
  // The padding of rows does not count.
  const int64_t most = std::min(kPanelBytes / (inner_ * size), sizes_[rank - 2]);
  source.rows = most < line ? most : std::min(most / line * line, 8 * line);
  if (source.rows >= kLeastPanelRows) source.layout = Layout::kPanel;
}

const std::byte* BlockReader::row_of(const Source& source, const std::byte* base,
                                     int64_t row) const {
  for (int d = static_cast<int>(sizes_.size()) - 2; d >= 0; --d) {
    base += row % sizes_[d] * source.strides[d];
    row /= sizes_[d];
  }
  return base;
}

const std::byte* BlockReader::read_panel(State& state, size_t operand, const std::byte* base,
                                         int64_t position, int64_t& count) const {
  const Source& source = sources_[operand];
  std::byte* panel = state.staging + source.staging_offset;
  const int64_t row = position / inner_, column = position % inner_;
  int64_t first = state.panel_of[operand];
  // No panel goes beyond the end of the dimension in which it lies together.
  const int64_t together = sizes_[sizes_.size() - 2];
  auto rows_of = [&](int64_t at) { return std::min(source.rows, together - at % together); };
  if (state.pattern_of[operand] != base || row < first || row >= first + rows_of(first)) {
    first = row;
    gather_columns(panel, source.pitch, row_of(source, base, row), source.strides.back(),
                   rows_of(row), inner_, source.element_size);
    state.pattern_of[operand] = base;
    state.panel_of[operand] = row;
  }
  const int64_t rows = source.pitch == inner_ ? first + rows_of(first) - row : 1;
  count = std::min(count, rows * inner_ - column);
  return panel +
         ((row - first) * source.pitch + column) * static_cast<int64_t>(source.element_size);
}

int64_t BlockReader::read(State& state, const std::byte* const* bases, int64_t position,
                          int64_t limit, const void** pointers, bool* is_scalar) const {
  int64_t count = std::min(limit, num_elements_ - position);
  if (is_flat_) {
    for (size_t i = 0; i < sources_.size(); ++i) {
      is_scalar[i] = sources_[i].layout == Layout::kScalar;
      pointers[i] = is_scalar[i] ? bases[i] : bases[i] + position * sources_[i].element_size;
    }
    return count;
  }
  count = std::min(count, kBlockElements);
  if (by_rows_) {
    int64_t column = position % inner_, row = position / inner_;
    count = std::min(count, inner_ - column);
    for (size_t i = 0; i < sources_.size(); ++i) {
      const Source& source = sources_[i];
      is_scalar[i] = source.strides.back() == 0;
      pointers[i] = source.layout == Layout::kPanel
                        ? read_panel(state, i, bases[i], position, count)
                        : row_of(source, bases[i], row) + column * source.strides.back();
    }
    return count;
  }
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i].layout == Layout::kPanel) {
      pointers[i] = read_panel(state, i, bases[i], position, count);
    }
  }
  for (size_t i = 0; i < sources_.size(); ++i) {
    const Source& source = sources_[i];
    is_scalar[i] = source.layout == Layout::kScalar;
    std::byte* staging = state.staging + source.staging_offset;
    switch (source.layout) {
      case Layout::kContiguous:
        pointers[i] = bases[i] + position * source.element_size;
        break;
      case Layout::kScalar:
        pointers[i] = bases[i];
        break;
      case Layout::kPeriodic: {
        if (state.pattern_of[i] != bases[i]) {
          // The period, then copies of the elements already there.
          int64_t wanted = std::min(kBlockElements + source.period, num_elements_);
          std::memcpy(staging, bases[i], source.period * source.element_size);
          for (int64_t there = source.period; there < wanted;) {
            int64_t more = std::min(there, wanted - there);
            std::memcpy(staging + there * source.element_size, staging, more * source.element_size);
            there += more;
          }
          state.pattern_of[i] = bases[i];
        }
        pointers[i] = staging + position % source.period * source.element_size;
        break;
      }
      case Layout::kGathered:
        gather(source, bases[i], position, count, staging);
        pointers[i] = staging;
        break;
      case Layout::kPanel:
        break;
    }
  }
  return count;
}

void BlockReader::gather(const Source& source, const std::byte* base, int64_t position,
                         int64_t count, std::byte* out) const {
  int rank = static_cast<int>(sizes_.size());
  InlineVector<int64_t, 6> index(static_cast<size_t>(rank), 0);
  const std::byte* from = base;
  int64_t rest = position;
  for (int d = rank - 1; d >= 0; --d) {
    index[d] = rest % sizes_[d];
    rest /= sizes_[d];
    from += index[d] * source.strides[d];
  }
  int64_t stride = source.strides[rank - 1];
  size_t size = source.element_size;
  while (count > 0) {
    int64_t run = std::min(count, inner_ - index[rank - 1]);
    if (stride == 0) {
      fill(out, from, run, size);
    } else if (stride == static_cast<int64_t>(size)) {
      std::memcpy(out, from, run * size);
    } else {
      copy_strided(out, from, stride, run, size);
    }
    out += run * size;
    count -= run;
    from += run * stride;
    index[rank - 1] += run;
    for (int d = rank - 1; d > 0 && index[d] == sizes_[d]; --d) {
      from += source.strides[d - 1] - sizes_[d] * source.strides[d];
      index[d] = 0;
      ++index[d - 1];
    }
  }
}

}  // namespace graven::engine
