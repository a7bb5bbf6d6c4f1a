// Values of neighbouring results stand side by side in memory, and are combined row by row.
#include <algorithm>

#include "graven/base/thread_pool.h"
#include "graven/kernels/reduction_orders.h"
#include "graven/kernels/scratch.h"
#include "graven/kernels/scratch_block.h"

namespace graven::engine {
namespace {

using Rep = ReductionProgram::Rep;

// Columns that are combined together: their accumulators stay in the first cache.
constexpr int64_t kColumnsTogether = 512;
// Fewer columns are read as a stream of rows, more of them row by row.
constexpr int64_t kFewColumns = 256;

// The columns of one matrix for each group. A piece of work is a block of columns of some segments
// of one group.
struct Matrices {
  Matrices(Roots roots, const Iteration& iteration, bool has_columns) {
    const size_t rank = iteration.sizes.size() - (has_columns ? 1 : 0);
    if (has_columns) columns = iteration.sizes.back();
    for (const StridedOperand& operand : iteration.operands) {
      group_operands.push_back({operand.data, operand.element_size, {}});
      row_operands.push_back({operand.data, operand.element_size, {}});
      column_strides.push_back(has_columns ? operand.strides.back() : 0);
    }
    for (size_t d = 0; d < rank; ++d) {
      const bool is_row = iteration.is_reduced[d];
      (is_row ? row_sizes : group_sizes).push_back(iteration.sizes[d]);
      (is_row ? rows : groups) *= iteration.sizes[d];
      for (size_t i = 0; i < iteration.operands.size(); ++i) {
        (is_row ? row_operands : group_operands)[i].strides.push_back(
            iteration.operands[i].strides[d]);
      }
    }
    block = std::min(columns, kColumnsTogether);
    blocks = (columns + block - 1) / block;
    segments = std::max<int64_t>((rows + kColumnSegment - 1) / kColumnSegment, 1);
    // As many accumulators for a part as for a block, at most.
    const int64_t most = std::clamp<int64_t>(
        std::min(elements_of_chunk(roots) / kColumnSegment, kColumnsTogether) / block, 1, segments);
    segments_of_part = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(most)));
    parts = (segments + segments_of_part - 1) / segments_of_part;
  }

  // Bytes from the first element of an operand to that of a group or row.
  static int64_t offset(const InlineVector<int64_t, 6>& sizes, const StridedOperand& operand,
                        int64_t index) {
    int64_t bytes = 0;
    for (size_t d = sizes.size(); d-- > 0;) {
      bytes += index % sizes[d] * operand.strides[d];
      index /= sizes[d];
    }
    return bytes;
  }
  int64_t columns_of(int64_t number) const { return std::min(block, columns - number * block); }
  bool are_few() const { return columns <= kFewColumns; }

  InlineVector<int64_t, 6> group_sizes, row_sizes;
  InlineVector<StridedOperand, 4> group_operands, row_operands;
  InlineVector<int64_t, 4> column_strides;  // bytes
  int64_t groups = 1, rows = 1, columns = 1;
  int64_t block, blocks;
  int64_t segments, segments_of_part, parts;
};

// Rows as a stream, where they are read so.
BlockReader stream_reader(const Matrices& m) {
  InlineVector<int64_t, 6> sizes = m.row_sizes;
  InlineVector<StridedOperand, 4> operands = m.row_operands;
  if (m.are_few()) {
    sizes.push_back(m.columns);
    for (size_t i = 0; i < operands.size(); ++i) operands[i].strides.push_back(m.column_strides[i]);
  }
  return BlockReader(sizes, operands);
}

// The inputs of a root.
struct Source {
  Source(Roots roots, const RootIteration& root, bool has_columns)
      : root(root), matrices(roots, root.iteration, has_columns), reader(stream_reader(matrices)) {}
  const RootIteration& root;
  Matrices matrices;
  BlockReader reader;
};
using Sources = std::span<const Source>;

class Worker {
 public:
  Worker(const Source& source, std::byte* scratch, TrapNotes* traps)
      : rep_(source.root.rep()),
        matrices_(source.matrices),
        memory_(rep_, source.reader, scratch, traps),
        bases_(matrices_.row_operands.size(), nullptr),
        pointers_(bases_.size(), nullptr),
        scalars_(bases_.size(), false) {
    const auto size = static_cast<int64_t>(rep_.size);
    place_ = static_cast<size_t>(std::max(rep_.handed_on, 0));
    in_place_ =
        rep_.handed_on >= 0 && (matrices_.columns == 1 || matrices_.column_strides[place_] == size);
    for (size_t i = 0; i < bases_.size(); ++i) scalars_[i] = matrices_.column_strides[i] == 0;
  }

  // The accumulators of a part of a block of columns; `out` has room for them.
  void reduce(int64_t group, int64_t block, int64_t part, std::byte* out) {
    const Matrices& m = matrices_;
    const int64_t columns = m.columns_of(block);
    for (size_t i = 0; i < bases_.size(); ++i) {
      const StridedOperand& operand = m.group_operands[i];
      bases_[i] = operand.data + Matrices::offset(m.group_sizes, operand, group) +
                  block * m.block * m.column_strides[i];
    }
    const int64_t first = part * m.segments_of_part;
    const int64_t segments = std::min(m.segments_of_part, m.segments - first);
    ReductionCombiner& combiner = memory_.combiner();
    std::byte* accumulators = segments == 1 ? out : memory_.accumulators();
    combiner.fill_identity(accumulators, segments * columns);
    // Whole segments of rows at equal distances go side by side.
    const int64_t whole = std::min(segments, m.rows / kColumnSegment - first);
    int64_t segment = 0;
    if (in_place_ && m.row_sizes.size() == 1 && whole > 0) {
      const int64_t row_bytes = m.row_operands[place_].strides[0];
      const int64_t segment_bytes = kColumnSegment * row_bytes;
      combiner.columns(accumulators,
                       {.values = bases_[place_] + first * segment_bytes,
                        .row_bytes = row_bytes,
                        .segment_bytes = segment_bytes,
                        .segments = whole,
                        .rows = kColumnSegment,
                        .columns = columns,
                        .accumulator_bytes = columns * static_cast<int64_t>(rep_.size)});
      segment = whole;
    }
    for (; segment < segments; ++segment) {
      const int64_t begin = (first + segment) * kColumnSegment;
      const int64_t end = std::min(begin + kColumnSegment, m.rows);
      std::byte* to = accumulators + segment * columns * rep_.size;
      in_place_     ? add_in_place(begin, end, columns, to)
      : m.are_few() ? add_stream(begin, end, columns, to)
                    : add_prepared(begin, end, columns, to);
    }
    if (segments == 1) return;
    combiner.combine_tree(accumulators, segments, columns);
    std::copy_n(accumulators, columns * rep_.size, out);
  }

  void finish(std::byte* out, const std::byte* accumulators, int64_t n) {
    memory_.combiner().finish(out, accumulators, n, static_cast<double>(matrices_.rows));
  }
  ReductionMemory& memory() { return memory_; }

 private:
  void add(std::byte* to, const std::byte* values, int64_t row_bytes, int64_t rows,
           int64_t columns) {
    memory_.combiner().columns(to, {.values = values,
                                    .row_bytes = row_bytes,
                                    .segment_bytes = 0,
                                    .segments = 1,
                                    .rows = rows,
                                    .columns = columns,
                                    .accumulator_bytes = 0});
  }

  // Runs of rows at equal distances.
  void add_in_place(int64_t begin, int64_t end, int64_t columns, std::byte* to) {
    const Matrices& m = matrices_;
    const StridedOperand& operand = m.row_operands[place_];
    const int64_t run = m.row_sizes.empty() ? 1 : m.row_sizes.back();
    for (int64_t row = begin; row < end;) {
      const int64_t n = std::min(end - row, run - row % run);
      add(to, bases_[place_] + Matrices::offset(m.row_sizes, operand, row),
          m.row_sizes.empty() ? 0 : operand.strides.back(), n, columns);
      row += n;
    }
  }
  // A few rows at a time, prepared together.
  void add_stream(int64_t begin, int64_t end, int64_t columns, std::byte* to) {
    const int64_t together = kPreparedValues / columns;
    for (int64_t row = begin; row < end; row += together) {
      const int64_t n = std::min(together, end - row);
      const std::byte* values = memory_.prepared(row * columns, n * columns, bases_.data());
      add(to, values, columns * static_cast<int64_t>(rep_.size), n, columns);
    }
  }
  // A few rows at a time, prepared one by one.
  void add_prepared(int64_t begin, int64_t end, int64_t columns, std::byte* to) {
    const Matrices& m = matrices_;
    const int64_t together = kPreparedValues / columns;
    const auto row_bytes = static_cast<int64_t>(columns * rep_.size);
    for (int64_t row = begin; row < end; row += together) {
      const int64_t n = std::min(together, end - row);
      for (int64_t r = 0; r < n; ++r) {
        for (size_t i = 0; i < bases_.size(); ++i) {
          pointers_[i] = bases_[i] + Matrices::offset(m.row_sizes, m.row_operands[i], row + r);
        }
        std::byte* place = memory_.values() + r * row_bytes;
        const std::byte* values =
            memory_.combiner().prepare(columns, pointers_.data(), scalars_.data(), place);
        if (values != place) std::copy_n(values, row_bytes, place);
      }
      add(to, memory_.values(), row_bytes, n, columns);
    }
  }

  const Rep& rep_;
  const Matrices& matrices_;
  ReductionMemory memory_;
  bool in_place_;  // the values of a row follow each other in memory,
  size_t place_;   // which are those of this operand
  InlineVector<const std::byte*, 4> bases_;
  InlineVector<const void*, 4> pointers_;
  InlineVector<bool, 4> scalars_;
};

// Matrices of one part: each block of columns gives its results at once.
Status reduce_whole_columns(Roots roots, Sources sources, TrapNotes* traps) {
  const Matrices& all = sources[0].matrices;  // the same for all roots, except for their inputs
  const int64_t units = all.groups * all.blocks;
  const int64_t per_chunk = std::clamp<int64_t>(
      elements_of_chunk(roots) / std::max<int64_t>(all.rows * all.block, 1), 1, units);
  // Neighbours in memory, if a block is all columns.
  const int64_t together = all.blocks == 1 ? kFinishedTogether / all.columns : 1;
  auto reduce_units = [&](const Source& source, int64_t begin, int64_t end, std::byte* scratch) {
    const Rep& rep = source.root.rep();
    const Matrices& m = source.matrices;
    Worker worker(source, scratch, traps);
    for (int64_t first = begin; first < end; first += together) {
      std::byte* out =
          result_of(source.root, first / m.blocks * m.columns + first % m.blocks * m.block);
      std::byte* results = rep.finishes ? worker.memory().results() : out;
      int64_t n = 0;
      for (int64_t unit = first; unit < std::min(first + together, end); ++unit) {
        worker.reduce(unit / m.blocks, unit % m.blocks, 0, results + n * rep.size);
        n += m.columns_of(unit % m.blocks);
      }
      if (rep.finishes) worker.finish(out, results, n);
    }
  };
  const int64_t chunks = (units + per_chunk - 1) / per_chunk;
  return run_chunks(chunks, scratch_bytes(sources), [&](int64_t chunk, std::byte* scratch) {
    const int64_t end = std::min((chunk + 1) * per_chunk, units);
    for (const Source& source : sources) reduce_units(source, chunk * per_chunk, end, scratch);
  });
}

// Matrices of many rows: parts of them first, all kept, then these.
Status reduce_by_parts(Roots roots, Sources sources, TrapNotes* traps) {
  const Matrices& m = sources[0].matrices;
  const int64_t units = m.groups * m.blocks, accumulators = units * m.parts * m.block;
  const auto bytes = static_cast<size_t>(bytes_of_partials(roots, accumulators));
  const ScratchBlock memory(bytes);
  auto* const partials = static_cast<std::byte*>(memory.get());
  if (!partials) return out_of_scratch(bytes);
  // Of a root, whose partials begin there.
  auto place_of = [&](std::byte* of_root, const Rep& rep, int64_t unit, int64_t part) {
    return of_root + (unit * m.parts * m.block + part * m.columns_of(unit % m.blocks)) * rep.size;
  };
  auto reduce_one = [&](int64_t chunk, std::byte* scratch) {
    const int64_t unit = chunk / m.parts, part = chunk % m.parts;
    std::byte* of_root = partials;
    for (const Source& source : sources) {
      Worker worker(source, scratch, traps);
      worker.reduce(unit / m.blocks, unit % m.blocks, part,
                    place_of(of_root, source.root.rep(), unit, part));
      of_root += bytes_of_partials(source.root, accumulators);
    }
  };
  RETURN_IF_ERROR(run_chunks(units * m.parts, scratch_bytes(sources), reduce_one));
  return run_chunks(1, scratch_bytes(sources), [&](int64_t, std::byte* scratch) {
    std::byte* of_root = partials;
    for (const Source& source : sources) {
      Worker worker(source, scratch, traps);
      for (int64_t unit = 0; unit < units; ++unit) {
        const int64_t group = unit / m.blocks, block = unit % m.blocks;
        std::byte* of_unit = place_of(of_root, source.root.rep(), unit, 0);
        worker.memory().combiner().combine_tree(of_unit, m.parts, m.columns_of(block));
        worker.finish(result_of(source.root, group * m.columns + block * m.block), of_unit,
                      m.columns_of(block));
      }
      of_root += bytes_of_partials(source.root, accumulators);
    }
  });
}

}  // namespace

Status reduce_in_column_order(Roots roots, bool has_columns, TrapNotes* traps) {
  InlineVector<Source, 2> sources;
  for (const RootIteration& root : roots) sources.emplace_back(roots, root, has_columns);
  if (sources[0].matrices.parts == 1) return reduce_whole_columns(roots, sources, traps);
  return reduce_by_parts(roots, sources, traps);
}

}  // namespace graven::engine
