// Groups of elements that follow each other in the order in which they are combined: rows of a
// matrix, whatever it looks like in memory.
#include <algorithm>

#include "graven/base/thread_pool.h"
#include "graven/kernels/reduction_orders.h"
#include "graven/kernels/scratch.h"

namespace graven::engine {
namespace {

using Rep = ReductionProgram::Rep;

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
        in_place_(!rep.prepares && reader.is_contiguous(0)) {}

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
    return groups_.bases[0] + position * rep_.size;
  }

  const Rep& rep_;
  const Groups& groups_;
  ReductionMemory memory_;
  const bool in_place_;
};

void reduce_whole_groups(const Rep& rep, const Groups& groups, const BlockReader& reader,
                         std::byte* output, TrapNotes* traps) {
  constexpr int64_t kCostOfResult = 4;  // beside its elements
  int64_t per_chunk = std::clamp<int64_t>(elements_of_chunk(rep) / (groups.length + kCostOfResult),
                                          1, groups.count);
  const int64_t panel = reader.panel_rows();
  if (reader.row_elements() == groups.length)
    per_chunk = std::max<int64_t>(per_chunk / panel, 1) * panel;
  const size_t result_size = dtype_size(rep.finish->expression().outputs()[0].dtype);
  for_chunks((groups.count + per_chunk - 1) / per_chunk, [&](int64_t chunk) {
    Worker worker(rep, groups, reader, traps);
    const int64_t end = std::min((chunk + 1) * per_chunk, groups.count);
    const int64_t together = rep.finishes ? kFinishedTogether : per_chunk;
    for (int64_t first = chunk * per_chunk; first < end; first += together) {
      const int64_t n = std::min(together, end - first);
      std::byte* out = output + first * result_size;
      if (!rep.finishes) {
        worker.reduce(first, n, out);
        continue;
      }
      std::byte* results = worker.memory().results();
      worker.reduce(first, n, results);
      worker.finish(out, results, n);
    }
  });
}

// Long groups: parts of whole segments first, all kept, then these.
void reduce_by_parts(const Rep& rep, const Groups& groups, const BlockReader& reader, int64_t part,
                     std::byte* output, TrapNotes* traps) {
  const int64_t parts = (groups.length + part - 1) / part;
  std::byte* partials = thread_scratch(ScratchUse::kWholeKernel, groups.count * parts * rep.size);
  for_chunks(groups.count * parts, [&](int64_t chunk) {
    Worker worker(rep, groups, reader, traps);
    const int64_t group = chunk / parts, begin = chunk % parts * part;
    worker.reduce_part(group * groups.length + begin, std::min(part, groups.length - begin),
                       partials + chunk * rep.size);
  });
  FlushDenormals flush;
  Worker worker(rep, groups, reader, traps);
  const size_t result_size = dtype_size(rep.finish->expression().outputs()[0].dtype);
  for (int64_t group = 0; group < groups.count; ++group) {
    std::byte* of_group = partials + group * parts * rep.size;
    worker.memory().combiner().combine_tree(of_group, parts, 1);
    worker.finish(output + group * result_size, of_group, 1);
  }
}

}  // namespace

void reduce_in_row_order(const Rep& rep, const Iteration& iteration, std::byte* output,
                         TrapNotes* traps) {
  const Groups groups(iteration);
  const BlockReader reader(groups.sizes, groups.operands);
  const int64_t segments = std::clamp<int64_t>(elements_of_chunk(rep) / kRowSegment, 1,
                                               ReductionCombiner::kMaxRow / kRowSegment);
  const int64_t part =
      static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(segments))) * kRowSegment;
  if (groups.length <= part) {
    reduce_whole_groups(rep, groups, reader, output, traps);
  } else {
    reduce_by_parts(rep, groups, reader, part, output, traps);
  }
}

}  // namespace graven::engine
