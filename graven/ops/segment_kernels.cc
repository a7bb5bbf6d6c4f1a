#include "graven/ops/segment_kernels.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "graven/ir/kernel.h"
#include "graven/ops/elements.h"

namespace graven::engine {
namespace {

constexpr int64_t kElementsOfChunk = 1 << 15;

constexpr bool is_extremum(SegmentKind kind) {
  return kind == SegmentKind::kMin || kind == SegmentKind::kMax;
}

// The dtypes that a kind takes.
constexpr DTypeSet types_of(SegmentKind kind) {
  return is_extremum(kind) ? kRealTypes : kNumberTypes;
}

// The type in which rows of T are combined.
template <SegmentKind kind, typename T>
using Sum = std::conditional_t<is_extremum(kind) && std::is_integral_v<T>, T, Accumulator<T>>;

// The extremum of two numbers is the second if one is NaN, as in TensorFlow.
template <SegmentKind kind, typename A>
A combined(A a, A x) {
  if constexpr (kind == SegmentKind::kProd) {
    return a * x;
  } else if constexpr (kind == SegmentKind::kMin) {
    return a < x ? a : x;
  } else if constexpr (kind == SegmentKind::kMax) {
    return a > x ? a : x;
  } else {
    return a + x;
  }
}

template <typename T>
T largest() {
  if constexpr (std::is_same_v<T, Half>) {
    return Half::from_bits(0x7bff);
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return BFloat16::from_bits(0x7f7f);
  } else {
    return std::numeric_limits<T>::max();
  }
}

template <typename T>
T lowest() {
  if constexpr (std::is_integral_v<T>) {
    return std::numeric_limits<T>::lowest();
  } else {
    return static_cast<T>(-static_cast<Accumulator<T>>(largest<T>()));
  }
}

// The value that changes no other.
template <SegmentKind kind, typename T>
T neutral() {
  if constexpr (kind == SegmentKind::kProd) {
    return static_cast<T>(Accumulator<T>(1));
  } else if constexpr (kind == SegmentKind::kMin) {
    return largest<T>();
  } else if constexpr (kind == SegmentKind::kMax) {
    return lowest<T>();
  } else {
    return T{};
  }
}

template <SegmentKind kind, typename T, typename A>
T finished(A sum, int64_t count) {
  if constexpr (kind != SegmentKind::kMean) {
    return static_cast<T>(sum);
  } else if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) {
    return static_cast<T>(int64_t{static_cast<T>(sum)} / count);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(uint64_t{static_cast<T>(sum)} / static_cast<uint64_t>(count));
  } else {
    return static_cast<T>(sum / static_cast<A>(static_cast<double>(count)));
  }
}

// The rows of one run, in the columns [first, last).
template <SegmentKind kind, typename T>
void combine_run(const T* rows, int64_t count, int64_t width, int64_t first, int64_t last, T* to) {
  using A = Sum<kind, T>;
  if (width == 1) {
    A sum = static_cast<A>(rows[0]);
    for (int64_t i = 1; i < count; ++i) sum = combined<kind>(sum, static_cast<A>(rows[i]));
    to[0] = finished<kind, T>(sum, count);
    return;
  }
  constexpr int64_t kColumns = 1024;
  A sums[kColumns];
  for (int64_t begin = first; begin < last; begin += kColumns) {
    const int64_t columns = std::min(kColumns, last - begin);
    for (int64_t k = 0; k < columns; ++k) sums[k] = static_cast<A>(rows[begin + k]);
    for (int64_t i = 1; i < count; ++i) {
      const T* row = rows + i * width + begin;
      for (int64_t k = 0; k < columns; ++k) {
        sums[k] = combined<kind>(sums[k], static_cast<A>(row[k]));
      }
    }
    for (int64_t k = 0; k < columns; ++k) to[begin + k] = finished<kind, T>(sums[k], count);
  }
}

template <SegmentKind kind, typename T>
void combine_runs(std::span<const SegmentRun> runs, int64_t num_rows, int64_t width, const T* rows,
                  T* to) {
  const auto combine = [&](const SegmentRun& run, int64_t first, int64_t last) {
    combine_run<kind>(rows + run.begin * width, run.end - run.begin, width, first, last,
                      to + run.segment * width);
  };
  constexpr size_t kManyRuns = 16;
  if (runs.size() < kManyRuns && width > 1) {
    for_ranges(width, kElementsOfChunk / num_rows, [&](int64_t first, int64_t last) {
      for (const SegmentRun& run : runs) combine(run, first, last);
    });
    return;
  }
  const auto count = static_cast<int64_t>(runs.size());
  const int64_t rows_of_run = std::max<int64_t>(num_rows / count, 1);
  for_ranges(count, kElementsOfChunk / (rows_of_run * width), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) combine(runs[i], 0, width);
  });
}

// Writes a value to the rows of segments that no run has.
template <typename T>
void fill_gaps(std::span<const SegmentRun> runs, int64_t width, T value, T* to) {
  int64_t next = 0;
  for (const SegmentRun& run : runs) {
    std::fill(to + next * width, to + run.segment * width, value);
    next = run.segment + 1;
  }
}

// Adds each row to its segment. Cut by columns, so that rows keep their order.
template <SegmentKind kind, typename T, typename Index>
void scatter_rows(std::span<const Index> ids, int64_t width, const T* rows, T* to) {
  using A = Sum<kind, T>;
  const auto count = static_cast<int64_t>(ids.size());
  const int64_t grain = std::max<int64_t>(kElementsOfChunk / count, 64);
  for_ranges(width, grain, [&](int64_t first, int64_t last) {
    for (int64_t i = 0; i < count; ++i) {
      if (ids[i] < 0) continue;
      T* sum = to + int64_t{ids[i]} * width;
      const T* row = rows + i * width;
      for (int64_t k = first; k < last; ++k) {
        sum[k] = static_cast<T>(combined<kind>(static_cast<A>(sum[k]), static_cast<A>(row[k])));
      }
    }
  });
}

}  // namespace

template <typename Index>
Result<std::vector<SegmentRun>> sorted_runs(std::span<const Index> ids, int64_t limit) {
  std::vector<SegmentRun> runs;
  const auto n = static_cast<int64_t>(ids.size());
  if (n > 0 && ids.back() >= 0 && ids.back() < n) runs.reserve(static_cast<size_t>(ids.back()) + 1);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t id = ids[i];
    if (!runs.empty() && runs.back().segment == id) {
      runs.back().end = i + 1;
      continue;
    }
    if (!runs.empty() && id < runs.back().segment) {
      return invalid_argument("segment ids are not increasing");
    }
    if (id < 0 || id == std::numeric_limits<int64_t>::max()) {
      return invalid_argument("Segment id ", id, " out of range [0, ", ids.back(), "], possibly ",
                              "because 'segment_ids' input is not sorted.");
    }
    runs.push_back({id, i, i + 1});
  }
  if (limit >= 0 && !runs.empty() && runs.back().segment >= limit) {
    return invalid_argument("segment ids must be < num_segments");
  }
  return runs;
}
template Result<std::vector<SegmentRun>> sorted_runs(std::span<const int32_t>, int64_t);
template Result<std::vector<SegmentRun>> sorted_runs(std::span<const int64_t>, int64_t);

template <SegmentKind kind>
Status segment_kernel(KernelContext& c) {
  const Tensor &data = c.input(0), &ids = c.input(1);
  ASSIGN_OR_RETURN(const std::vector<SegmentRun> runs,
                   visit_index_type(ids.dtype(), [&](auto zero) -> Result<std::vector<SegmentRun>> {
                     return sorted_runs(ids.data<decltype(zero)>());
                   }));
  Shape shape = data.shape();
  shape.set(0, runs.empty() ? 0 : runs.back().segment + 1);
  RETURN_IF_ERROR(c.allocate_output(0, data.dtype(), shape));
  if (c.output(0).num_elements() == 0) return {};
  const int64_t num_rows = ids.num_elements(), width = data.num_elements() / num_rows;
  visit_plain(data.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (types_of(kind).contains(kDTypeOf<T>)) {
      T* to = c.out<T>(0).data();
      fill_gaps(runs, width, kind == SegmentKind::kProd ? neutral<SegmentKind::kProd, T>() : T{},
                to);
      combine_runs<kind>(runs, num_rows, width, data.data<T>().data(), to);
    }
  });
  return {};
}

template <SegmentKind kind>
Status unsorted_segment_kernel(KernelContext& c) {
  const Tensor &data = c.input(0), &ids = c.input(1), &out = c.output(0);
  const int64_t num_segments = out.shape().size(0), num_rows = ids.num_elements();
  return visit_index_type(ids.dtype(), [&](auto index) -> Status {
    const auto given = ids.data<decltype(index)>();
    for (int64_t i = 0; i < num_rows; ++i) {
      if (given[i] < num_segments) continue;
      return invalid_argument("segment_ids", place_text(ids.shape(), i), " = ", given[i],
                              " is out of range [0, ", num_segments, ")");
    }
    visit_plain(out.dtype(), [&](auto zero) {
      using T = decltype(zero);
      if constexpr (types_of(kind).contains(kDTypeOf<T>)) {
        T* to = c.out<T>(0).data();
        std::fill_n(to, out.num_elements(), neutral<kind, T>());
        if (data.num_elements() == 0) return;
        scatter_rows<kind>(given, data.num_elements() / num_rows, data.data<T>().data(), to);
      }
    });
    return {};
  });
}

template Status segment_kernel<SegmentKind::kSum>(KernelContext& c);
template Status segment_kernel<SegmentKind::kMean>(KernelContext& c);
template Status segment_kernel<SegmentKind::kProd>(KernelContext& c);
template Status segment_kernel<SegmentKind::kMin>(KernelContext& c);
template Status segment_kernel<SegmentKind::kMax>(KernelContext& c);
template Status unsorted_segment_kernel<SegmentKind::kSum>(KernelContext& c);
template Status unsorted_segment_kernel<SegmentKind::kProd>(KernelContext& c);
template Status unsorted_segment_kernel<SegmentKind::kMin>(KernelContext& c);
template Status unsorted_segment_kernel<SegmentKind::kMax>(KernelContext& c);

}  // namespace graven::engine
