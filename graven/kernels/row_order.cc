// Groups of elements that follow each other in the order in which they are combined: rows of a
// matrix, whatever it looks like in memory.
#include <algorithm>

#include "graven/base/thread_pool.h"
#include "graven/kernels/reduction_orders.h"
#include "graven/kernels/scratch.h"

namespace graven::engine {
namespace {

using Rep = ReductionProgram::Rep;
using Roots = std::span<const ReductionRoot>;

// The iteration with the kept dimensions outermost.
struct Groups {
  explicit Groups(const Iteration& iteration) {
    for (const StridedOperand& operand : iteration.operands) {
      operands.push_back({operand.data, operand.element_size, {}});
      bases.push_back(operand.data);
    }
    for (bool reduced : {false, true}) {
      for (size_t d = 0; d < iteration.sizes.size(); ++d) {
        if (iteration.is_reduced[d] != reduced) continue;
        (reduced ? length : count) *= iteration.sizes[d];
        sizes.push_back(iteration.sizes[d]);
        for (size_t i = 0; i < operands.size(); ++i) {
          operands[i].strides.push_back(iteration.operands[i].strides[d]);
        }
      }
    }
  }
  int64_t count = 1, length = 1;  // of groups, of the elements of each
  InlineVector<int64_t, 6> sizes;
  InlineVector<StridedOperand, 4> operands;
  InlineVector<const std::byte*, 4> bases;
};

class Worker {
 public:
  Worker(const Rep& rep, const Groups& groups, const BlockReader& reader, TrapNotes* traps)
      : rep_(rep),
        groups_(groups),
        memory_(rep, reader, traps),
        place_(static_cast<size_t>(std::max(rep.handed_on, 0))),
        in_place_(rep.handed_on >= 0 && reader.is_contiguous(place_)) {}

  // The accumulators of whole groups.
  void reduce(int64_t first, int64_t count, std::byte* out) {
    const int64_t length = groups_.length;
    ReductionCombiner& combiner = memory_.combiner();
    if (length == 0) return combiner.fill_identity(out, count);
    if (in_place_ && length <= kRowSegment) {
      return combiner.rows(in_place(first * length), count, length, out);
    }
    if (length > kPreparedValues) {
      for (int64_t i = 0; i < count; ++i) {
        reduce_part((first + i) * length, length, out + i * rep_.size);
      }
      return;
    }
    const int64_t together = kPreparedValues / length;
    for (int64_t done = 0; done < count; done += together) {
      const int64_t n = std::min(together, count - done);
      const std::byte* values =
          memory_.prepared((first + done) * length, n * length, groups_.bases.data());
      combiner.rows(values, n, length, out + done * rep_.size);
    }
  }

  // Whole segments of one group, or what is left of it.
  void reduce_part(int64_t begin, int64_t length, std::byte* out) {
    memory_.combiner().row(
        length,
        [&](int64_t position, int64_t limit, const std::byte*& values) {
          if (in_place_) {
            values = in_place(begin + position);
            return limit;
          }
          return memory_.next_prepared(begin + position, std::min(limit, kPreparedValues),
                                       groups_.bases.data(), memory_.values(), values);
        },
        out);
  }

  void finish(std::byte* out, const std::byte* accumulators, int64_t n) {
    memory_.combiner().finish(out, accumulators, n, static_cast<double>(groups_.length));
  }
  ReductionMemory& memory() { return memory_; }

 private:
  const std::byte* in_place(int64_t position) const {
    return groups_.bases[place_] + position * rep_.size;
  }

  const Rep& rep_;
  const Groups& groups_;
  ReductionMemory memory_;
  const size_t place_;   // the operand whose values are combined,
  const bool in_place_;  // where they are
};

void reduce_whole_groups(Roots roots, const Groups& groups, const BlockReader& reader,
                         TrapNotes* traps) {
  constexpr int64_t kCostOfResult = 4;  // beside its elements
  int64_t per_chunk = std::clamp<int64_t>(
      elements_of_chunk(roots) / (groups.length + kCostOfResult), 1, groups.count);
  const int64_t panel = reader.panel_rows();
  if (reader.row_elements() == groups.length)
    per_chunk = std::max<int64_t>(per_chunk / panel, 1) * panel;
  auto reduce_groups = [&](const ReductionRoot& root, int64_t begin, int64_t end) {
    const Rep& rep = root.program->rep();
    Worker worker(rep, groups, reader, traps);
    const int64_t together = rep.finishes ? kFinishedTogether : per_chunk;
    for (int64_t first = begin; first < end; first += together) {
      const int64_t n = std::min(together, end - first);
      std::byte* out = result_of(root, first);
      if (!rep.finishes) {
        worker.reduce(first, n, out);
        continue;
      }
      std::byte* results = worker.memory().results();
      worker.reduce(first, n, results);
      worker.finish(out, results, n);
    }
  };
  for_chunks((groups.count + per_chunk - 1) / per_chunk, [&](int64_t chunk) {
    const int64_t end = std::min((chunk + 1) * per_chunk, groups.count);
    for (const ReductionRoot& root : roots) reduce_groups(root, chunk * per_chunk, end);
  });
}

// Long groups: parts of whole segments first, all kept, then these.
void reduce_by_parts(Roots roots, const Groups& groups, const BlockReader& reader, int64_t part,
                     TrapNotes* traps) {
  const int64_t parts = (groups.length + part - 1) / part, accumulators = groups.count * parts;
  std::byte* partials =
      thread_scratch(ScratchUse::kWholeKernel, bytes_of_partials(roots, accumulators));
  for_chunks(accumulators, [&](int64_t chunk) {
    const int64_t group = chunk / parts, begin = chunk % parts * part;
    std::byte* of_root = partials;
    for (const ReductionRoot& root : roots) {
      const Rep& rep = root.program->rep();
      Worker worker(rep, groups, reader, traps);
      worker.reduce_part(group * groups.length + begin, std::min(part, groups.length - begin),
                         of_root + chunk * rep.size);
      of_root += bytes_of_partials(root, accumulators);
    }
  });
  FlushDenormals flush;
  std::byte* of_root = partials;
  for (const ReductionRoot& root : roots) {
    const Rep& rep = root.program->rep();
    Worker worker(rep, groups, reader, traps);
    for (int64_t group = 0; group < groups.count; ++group) {
      std::byte* of_group = of_root + group * parts * rep.size;
      worker.memory().combiner().combine_tree(of_group, parts, 1);
      worker.finish(result_of(root, group), of_group, 1);
    }
    of_root += bytes_of_partials(root, accumulators);
  }
}

}  // namespace

void reduce_in_row_order(Roots roots, const Iteration& iteration, TrapNotes* traps) {
  const Groups groups(iteration);
  const BlockReader reader(groups.sizes, groups.operands);
  const int64_t segments = std::clamp<int64_t>(elements_of_chunk(roots) / kRowSegment, 1,
                                               ReductionCombiner::kMaxRow / kRowSegment);
  const int64_t part =
      static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(segments))) * kRowSegment;
  if (groups.length <= part) {
    reduce_whole_groups(roots, groups, reader, traps);
  } else {
    reduce_by_parts(roots, groups, reader, part, traps);
  }
}

}  // namespace graven::engine
