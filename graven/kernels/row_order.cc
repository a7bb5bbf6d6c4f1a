// Groups of elements that follow each other in the order in which they are combined: rows of a
// matrix, whatever it looks like in memory.
#include <algorithm>

#include "graven/base/thread_pool.h"
#include "graven/kernels/reduction_orders.h"
#include "graven/kernels/scratch.h"
#include "graven/kernels/scratch_block.h"

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

// The inputs of a root.
struct Source {
  explicit Source(const RootIteration& root)
      : root(root), groups(root.iteration), reader(groups.sizes, groups.operands) {}
  const RootIteration& root;
  Groups groups;
  BlockReader reader;
};
using Sources = std::span<const Source>;

class Worker {
 public:
  Worker(const Source& source, std::byte* scratch, TrapNotes* traps)
      : rep_(source.root.rep()),
        groups_(source.groups),
        memory_(rep_, source.reader, scratch, traps),
        place_(static_cast<size_t>(std::max(rep_.handed_on, 0))),
        in_place_(rep_.handed_on >= 0 && source.reader.is_contiguous(place_)) {}

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

  // Whole segments of one group, or the rest of it.
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

Status reduce_whole_groups(Roots roots, Sources sources, TrapNotes* traps) {
  constexpr int64_t kCostOfResult = 4;  // beside its elements
  const int64_t count = sources[0].groups.count, length = sources[0].groups.length;
  int64_t per_chunk =
      std::clamp<int64_t>(elements_of_chunk(roots) / (length + kCostOfResult), 1, count);
  for (const Source& source : sources) {
    const int64_t panel = source.reader.panel_rows();
    if (source.reader.row_elements() != length) continue;
    per_chunk = std::max<int64_t>(per_chunk / panel, 1) * panel;
  }
  auto reduce_groups = [&](const Source& source, int64_t begin, int64_t end, std::byte* scratch) {
    const Rep& rep = source.root.rep();
    Worker worker(source, scratch, traps);
    const int64_t together = rep.finishes ? kFinishedTogether : per_chunk;
    for (int64_t first = begin; first < end; first += together) {
      const int64_t n = std::min(together, end - first);
      std::byte* out = result_of(source.root, first);
      if (!rep.finishes) {
        worker.reduce(first, n, out);
        continue;
      }
      std::byte* results = worker.memory().results();
      worker.reduce(first, n, results);
      worker.finish(out, results, n);
    }
  };
  const int64_t chunks = (count + per_chunk - 1) / per_chunk;
  return run_chunks(chunks, scratch_bytes(sources), [&](int64_t chunk, std::byte* scratch) {
    const int64_t end = std::min((chunk + 1) * per_chunk, count);
    for (const Source& source : sources) reduce_groups(source, chunk * per_chunk, end, scratch);
  });
}

// Long groups: parts of whole segments first, all kept, then these.
Status reduce_by_parts(Roots roots, Sources sources, int64_t part, TrapNotes* traps) {
  const int64_t count = sources[0].groups.count, length = sources[0].groups.length;
  const int64_t parts = (length + part - 1) / part, accumulators = count * parts;
  const auto bytes = static_cast<size_t>(bytes_of_partials(roots, accumulators));
  const ScratchBlock memory(bytes);
  auto* const partials = static_cast<std::byte*>(memory.get());
  if (!partials) return out_of_scratch(bytes);
  auto reduce_one = [&](int64_t chunk, std::byte* scratch) {
    const int64_t group = chunk / parts, begin = chunk % parts * part;
    std::byte* of_root = partials;
    for (const Source& source : sources) {
      Worker worker(source, scratch, traps);
      worker.reduce_part(group * length + begin, std::min(part, length - begin),
                         of_root + chunk * source.root.rep().size);
      of_root += bytes_of_partials(source.root, accumulators);
    }
  };
  RETURN_IF_ERROR(run_chunks(accumulators, scratch_bytes(sources), reduce_one));
  return run_chunks(1, scratch_bytes(sources), [&](int64_t, std::byte* scratch) {
    std::byte* of_root = partials;
    for (const Source& source : sources) {
      Worker worker(source, scratch, traps);
      for (int64_t group = 0; group < count; ++group) {
        std::byte* of_group = of_root + group * parts * source.root.rep().size;
        worker.memory().combiner().combine_tree(of_group, parts, 1);
        worker.finish(result_of(source.root, group), of_group, 1);
      }
      of_root += bytes_of_partials(source.root, accumulators);
    }
  });
}

}  // namespace

Status reduce_in_row_order(Roots roots, TrapNotes* traps) {
  InlineVector<Source, 2> sources;
  for (const RootIteration& root : roots) sources.emplace_back(root);
  const int64_t segments = std::clamp<int64_t>(elements_of_chunk(roots) / kRowSegment, 1,
                                               ReductionCombiner::kMaxRow / kRowSegment);
  const int64_t part =
      static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(segments))) * kRowSegment;
  if (sources[0].groups.length <= part) return reduce_whole_groups(roots, sources, traps);
  return reduce_by_parts(roots, sources, part, traps);
}

}  // namespace graven::engine
