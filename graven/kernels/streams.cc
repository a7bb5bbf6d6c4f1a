#include "graven/kernels/streams.h"

#include <algorithm>
#include <cstring>

namespace graven::engine {
namespace {

// Rows of this length are read in place, shorter ones are gathered into full blocks.
constexpr int64_t kLongRow = 256;

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

}  // namespace

Iteration make_iteration(std::span<const Operand> inputs, std::span<const DType> dtypes,
                         const Shape& shape, uint64_t reduced) {
  Iteration it;
  int rank = shape.rank();
  InlineVector<InlineVector<int64_t, 6>, 4> strides;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Shape& from = *inputs[i].shape;
    size_t size = dtype_size(dtypes[i]);
    it.operands.push_back({static_cast<const std::byte*>(inputs[i].data), size, {}});
    auto& row = strides.emplace_back(static_cast<size_t>(rank), 0);
    int64_t stride = static_cast<int64_t>(size);
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
    Source source{Kind::kGathered, operand.element_size, 1, staging_bytes_, {}};
    for (int d : kept) source.strides.push_back(operand.strides[d]);
    // How many of the innermost dimensions are contiguous; outer ones may all be broadcast.
    int d = static_cast<int>(sizes_.size()) - 1;
    for (; d >= 0 && source.strides[d] == size * source.period; --d) source.period *= sizes_[d];
    bool outer_broadcast = true;
    for (int outer = d; outer >= 0; --outer) outer_broadcast &= source.strides[outer] == 0;
    if (d < 0) {
      source.kind = Kind::kContiguous;
    } else if (outer_broadcast && source.period == 1) {
      source.kind = Kind::kScalar;
    } else if (outer_broadcast && source.period <= kBlockElements) {
      source.kind = Kind::kPeriodic;
    }
    if (num_elements_ == 1) source.kind = Kind::kScalar;
    is_flat_ &= source.kind == Kind::kContiguous || source.kind == Kind::kScalar;
    const int64_t step = source.strides.empty() ? 0 : source.strides.back();
    by_rows_ &= step == 0 || step == size;
    if (source.kind == Kind::kPeriodic) {
      staging_bytes_ += (kBlockElements + source.period) * operand.element_size;
    } else if (source.kind == Kind::kGathered) {
      staging_bytes_ += kBlockElements * operand.element_size;
    }
    staging_bytes_ = (staging_bytes_ + 63) & ~size_t{63};
    sources_.push_back(source);
  }
}

BlockReader::State BlockReader::start(std::byte* staging) const {
  return {staging, InlineVector<const std::byte*, 4>(sources_.size(), nullptr)};
}

int64_t BlockReader::read(State& state, const std::byte* const* bases, int64_t position,
                          int64_t limit, const void** pointers, bool* is_scalar) const {
  int64_t count = std::min(limit, num_elements_ - position);
  if (is_flat_) {
    for (size_t i = 0; i < sources_.size(); ++i) {
      is_scalar[i] = sources_[i].kind == Kind::kScalar;
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
      const std::byte* from = bases[i] + column * source.strides.back();
      int64_t rest = row;
      for (int d = static_cast<int>(sizes_.size()) - 2; d >= 0; --d) {
        from += rest % sizes_[d] * source.strides[d];
        rest /= sizes_[d];
      }
      pointers[i] = from;
      is_scalar[i] = source.strides.back() == 0;
    }
    return count;
  }
  for (size_t i = 0; i < sources_.size(); ++i) {
    const Source& source = sources_[i];
    is_scalar[i] = source.kind == Kind::kScalar;
    std::byte* staging = state.staging + source.staging_offset;
    switch (source.kind) {
      case Kind::kContiguous:
        pointers[i] = bases[i] + position * source.element_size;
        break;
      case Kind::kScalar:
        pointers[i] = bases[i];
        break;
      case Kind::kPeriodic: {
        if (state.pattern_of[i] != bases[i]) {
          // The period, then copies of what is there already.
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
      case Kind::kGathered:
        gather(source, bases[i], position, count, staging);
        pointers[i] = staging;
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
