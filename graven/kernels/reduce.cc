// How a reduction is laid out. The iteration is split into kept dimensions, each combination of
// which is a group; and the reduced dimensions, over which a group's elements are combined. If
// the innermost dimension is kept, its elements are columns that are reduced side by side.
//
//   Few columns (at most kMaxLanes / 2, or one, if the innermost dimension is reduced): a group is
//   read as a stream of rows of `columns` elements. The stream is combined into `lanes` =
//   columns * 2^p accumulators, and these are folded p times, upper half into lower half.
//   Many columns: blocks of up to kMaxLanes columns; each row is combined into as many
//   accumulators.
//
// A group of many rows is cut into segments, by shape alone; their partial results are combined
// as a binary tree in index order. So the depth of sums is about
// rows per segment / (lanes / columns) + log2(everything else).
#include "graven/kernels/reduce.h"

#include <algorithm>
#include <cstring>

#include "graven/base/thread_pool.h"
#include "graven/kernels/reduction_combiner.h"
#include "graven/kernels/scratch.h"
#include "graven/kernels/streams.h"

namespace graven::engine {
namespace {

constexpr int64_t kMaxLanes = kBlockElements;
constexpr int64_t kSegmentElements = 65536;

size_t align(size_t bytes) { return (bytes + 63) & ~size_t{63}; }

}  // namespace

ReductionProgram::ReductionProgram(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
ReductionProgram::~ReductionProgram() = default;

Result<std::shared_ptr<const ReductionProgram>> ReductionProgram::compile(
    const ReductionParts& parts) {
  if (!parts.combine.traps().empty() || !parts.finish.traps().empty()) {
    return internal_error("a reduction refuses values after they were prepared");
  }
  auto rep = std::make_unique<Rep>();
  rep->accumulator = parts.accumulator;
  rep->size = dtype_size(parts.accumulator);
  rep->identity[0] = parts.identity[0];
  rep->identity[1] = parts.identity[1];
  ASSIGN_OR_RETURN(rep->prepare, BlockProgram::compile(parts.prepare));
  ASSIGN_OR_RETURN(rep->combine, BlockProgram::compile(parts.combine));
  ASSIGN_OR_RETURN(rep->finish, BlockProgram::compile(parts.finish));
  rep->program_scratch = std::max(
      {rep->prepare->scratch_bytes(), rep->combine->scratch_bytes(), rep->finish->scratch_bytes()});

  auto hands_on_input = [](const Expression& expression, DType dtype) {
    const auto& output = expression.outputs()[0];
    const ExprNode& node = expression.nodes()[output.real];
    return output.dtype == dtype && node.instruction == Instruction::kInput && node.a == 0 &&
           expression.inputs()[0] == dtype && !is_complex(dtype);
  };
  rep->prepares = parts.prepare.inputs().size() != 1 || !parts.prepare.traps().empty() ||
                  !hands_on_input(parts.prepare, parts.accumulator);
  rep->finishes = !hands_on_input(parts.finish, parts.accumulator);

  auto nodes = parts.combine.nodes();
  const ExprNode& last = nodes.back();
  bool is_one_instruction = nodes.size() == 3 && parts.combine.outputs()[0].real == 2 &&
                            last.type == parts.accumulator && num_operands(last.instruction) == 2;
  if (is_one_instruction && last.a != last.b) {
    rep->fold = fold_function(last.instruction, last.type);
    if (rep->fold) rep->combine_blocks = block_function(last.instruction, last.type, last.type);
  }
  return std::shared_ptr<const ReductionProgram>(new ReductionProgram(std::move(rep)));
}

namespace {

using Rep = ReductionProgram::Rep;

// Everything that is known before the first element is read.
struct Plan {
  const Rep& rep;
  TrapNotes* traps;
  Iteration iteration;
  InlineVector<int64_t, 6> group_sizes, row_sizes;  // kept dimensions; reduced dimensions
  InlineVector<StridedOperand, 4> group_operands, row_operands;
  int64_t groups = 1, rows = 1, columns = 1;
  InlineVector<int64_t, 4> column_strides;  // bytes
  int64_t block_columns = 1, column_blocks = 1;
  int64_t segments = 1, rows_per_segment = 1;
  double count = 0;

  Plan(const ReductionProgram& program, std::span<const Operand> inputs, const Shape& shape,
       uint64_t reduced, TrapNotes* traps)
      : rep(program.rep()),
        traps(traps),
        iteration(make_iteration(inputs, rep.prepare->expression().inputs(), shape, reduced)) {
    auto& sizes = iteration.sizes;
    size_t rank = sizes.size();
    bool has_columns = rank > 0 && !iteration.is_reduced.back();
    if (has_columns) columns = sizes.back();
    for (const StridedOperand& operand : iteration.operands) {
      group_operands.push_back({operand.data, operand.element_size, {}});
      row_operands.push_back({operand.data, operand.element_size, {}});
      column_strides.push_back(has_columns ? operand.strides.back() : 0);
    }
    for (size_t d = 0; d < rank - has_columns; ++d) {
      bool is_row = iteration.is_reduced[d];
      (is_row ? row_sizes : group_sizes).push_back(sizes[d]);
      (is_row ? rows : groups) *= sizes[d];
      for (size_t i = 0; i < iteration.operands.size(); ++i) {
        (is_row ? row_operands : group_operands)[i].strides.push_back(
            iteration.operands[i].strides[d]);
      }
    }
    count = static_cast<double>(rows);
    if (groups == 0 || columns == 0) return;  // no results
    block_columns = columns;
    if (columns > kMaxLanes / 2) {
      column_blocks = (columns + kMaxLanes - 1) / kMaxLanes;
      block_columns = std::min(columns, kMaxLanes);
    }
    // Whole blocks of lanes in every segment but the last.
    int64_t rows_per_block = std::max<int64_t>(kMaxLanes / block_columns, 1);
    rows_per_segment =
        std::max<int64_t>(kSegmentElements / block_columns / rows_per_block, 1) * rows_per_block;
    segments = std::max<int64_t>((rows + rows_per_segment - 1) / rows_per_segment, 1);
  }

  bool reads_streams() const { return columns <= kMaxLanes / 2; }
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
};

// The memory of one thread while it works on a chunk.
class Worker {
 public:
  Worker(const Plan& plan, const BlockReader& reader)
      : plan_(plan),
        reader_(reader),
        memory_(scratch(plan, reader)),
        combiner_(plan.rep, memory_, plan.traps) {
    results_ = memory_ + ReductionCombiner::scratch_bytes(plan.rep);
    state_ = reader.start(results_ + align(kMaxLanes * plan.rep.size));
    size_t operands = plan.iteration.operands.size();
    bases_.resize(operands);
    pointers_.resize(operands);
    scalars_.resize(operands);
  }

  // The accumulators of one segment of one block of columns of a group, written to out.
  void reduce(int64_t group, int64_t column_block, int64_t segment, std::byte* out) {
    int64_t first_row = segment * plan_.rows_per_segment;
    int64_t rows = std::min(plan_.rows_per_segment, plan_.rows - first_row);
    int64_t first_column = column_block * plan_.block_columns;
    int64_t columns = std::min(plan_.block_columns, plan_.columns - first_column);
    for (size_t i = 0; i < bases_.size(); ++i) {
      const StridedOperand& operand = plan_.group_operands[i];
      bases_[i] = operand.data + Plan::offset(plan_.group_sizes, operand, group) +
                  first_column * plan_.column_strides[i];
    }
    if (rows <= 0) return combiner_.fill_identity(out, columns);
    if (!plan_.reads_streams()) return reduce_columns(first_row, rows, columns, out);
    int64_t first = first_row * columns;
    combiner_.reduce(
        rows * columns, columns,
        [&](int64_t position, int64_t limit, const std::byte*& values) {
          int64_t n = reader_.read(state_, bases_.data(), first + position, limit, pointers_.data(),
                                   scalars_.data());
          values = combiner_.prepare(n, pointers_.data(), scalars_.data());
          return n;
        },
        out, /*values_stay=*/false);
  }

  ReductionCombiner& combiner() { return combiner_; }
  std::byte* results() { return results_; }

 private:
  static std::byte* scratch(const Plan& plan, const BlockReader& reader) {
    return thread_scratch(ScratchUse::kChunk, ReductionCombiner::scratch_bytes(plan.rep) +
                                                  align(kMaxLanes * plan.rep.size) +
                                                  reader.staging_bytes());
  }

  // Row by row into one accumulator for each column; `out` has room for them.
  void reduce_columns(int64_t first_row, int64_t rows, int64_t columns, std::byte* out) {
    for (int64_t row = 0; row < rows; ++row) {
      for (size_t i = 0; i < bases_.size(); ++i) {
        pointers_[i] =
            bases_[i] + Plan::offset(plan_.row_sizes, plan_.row_operands[i], first_row + row);
        scalars_[i] = plan_.column_strides[i] == 0;
      }
      const std::byte* values = combiner_.prepare(columns, pointers_.data(), scalars_.data());
      if (row == 0) {
        std::memcpy(out, values, columns * plan_.rep.size);
      } else {
        combiner_.combine(out, out, values, columns);
      }
    }
  }

  const Plan& plan_;
  const BlockReader& reader_;
  std::byte* const memory_;
  ReductionCombiner combiner_;
  BlockReader::State state_;
  std::byte* results_;
  InlineVector<const std::byte*, 4> bases_;
  InlineVector<const void*, 4> pointers_;
  InlineVector<bool, 4> scalars_;
};

void for_chunks(int64_t chunks, FunctionRef<void(int64_t)> body) {
  if (chunks == 1) {
    FlushDenormals flush;
    body(0);
  } else {
    ThreadPool::shared().run(chunks, body);
  }
}

BlockReader stream_reader(const Plan& plan) {
  InlineVector<int64_t, 6> sizes = plan.row_sizes;
  InlineVector<StridedOperand, 4> operands = plan.row_operands;
  if (plan.columns > 1 && plan.reads_streams()) {
    sizes.push_back(plan.columns);
    for (size_t i = 0; i < operands.size(); ++i) {
      operands[i].strides.push_back(plan.column_strides[i]);
    }
  }
  return BlockReader(sizes, operands);
}

// Every block of columns of every group is one piece of work that gives its results at once.
void run_whole_groups(const Plan& plan, const BlockReader& reader, std::byte* output) {
  const Rep& rep = plan.rep;
  size_t result_size = dtype_size(rep.finish->expression().outputs()[0].dtype);
  int64_t elements = std::max<int64_t>(plan.rows * plan.block_columns, 1);
  int64_t units = plan.groups * plan.column_blocks;
  // Enough units for a chunk, and room for their results.
  int64_t cost = static_cast<int64_t>(std::max(rep.prepare->cost(), 1.0)) + 1;
  int64_t per_chunk = std::clamp<int64_t>(kSegmentElements * 2 / (elements * cost), 1, units);
  for_chunks((units + per_chunk - 1) / per_chunk, [&](int64_t chunk) {
    Worker worker(plan, reader);
    int64_t end = std::min((chunk + 1) * per_chunk, units);
    // Results that wait to be finished together: `waiting` accumulators, for the output from
    // `first` on.
    int64_t waiting = 0;
    std::byte* first = nullptr;
    auto flush = [&] {
      if (waiting > 0) worker.combiner().finish(first, worker.results(), waiting, plan.count);
      waiting = 0;
    };
    for (int64_t unit = chunk * per_chunk; unit < end; ++unit) {
      int64_t group = unit / plan.column_blocks, block = unit % plan.column_blocks;
      int64_t column = block * plan.block_columns;
      int64_t columns = std::min(plan.block_columns, plan.columns - column);
      std::byte* to = output + (group * plan.columns + column) * result_size;
      if (!rep.finishes) {
        worker.reduce(group, block, 0, to);
        continue;
      }
      if (waiting + columns > kMaxLanes) flush();
      if (waiting == 0) first = to;
      worker.reduce(group, block, 0, worker.results() + waiting * rep.size);
      waiting += columns;
    }
    flush();
  });
}

// Groups of many rows: segments first, all kept, then their partial results.
void run_segments(const Plan& plan, const BlockReader& reader, std::byte* output) {
  const Rep& rep = plan.rep;
  int64_t units = plan.groups * plan.column_blocks;
  size_t partial_bytes = plan.block_columns * rep.size;
  std::byte* partials =
      thread_scratch(ScratchUse::kWholeKernel, units * plan.segments * partial_bytes);
  for_chunks(units * plan.segments, [&](int64_t chunk) {
    Worker worker(plan, reader);
    int64_t unit = chunk / plan.segments, segment = chunk % plan.segments;
    worker.reduce(unit / plan.column_blocks, unit % plan.column_blocks, segment,
                  partials + chunk * partial_bytes);
  });
  FlushDenormals flush;
  Worker worker(plan, reader);
  size_t result_size = dtype_size(rep.finish->expression().outputs()[0].dtype);
  for (int64_t unit = 0; unit < units; ++unit) {
    int64_t group = unit / plan.column_blocks;
    int64_t column = unit % plan.column_blocks * plan.block_columns;
    int64_t columns = std::min(plan.block_columns, plan.columns - column);
    std::byte* of_unit = partials + unit * plan.segments * partial_bytes;
    for (int64_t width = 1; width < plan.segments; width *= 2) {
      for (int64_t i = 0; i + width < plan.segments; i += 2 * width) {
        std::byte* lower = of_unit + i * partial_bytes;
        worker.combiner().combine(lower, lower, lower + width * partial_bytes, columns);
      }
    }
    worker.combiner().finish(output + (group * plan.columns + column) * result_size, of_unit,
                             columns, plan.count);
  }
}

}  // namespace

void run_reduction(const ReductionProgram& program, std::span<const Operand> inputs,
                   const Shape& shape, uint64_t reduced, void* output, TrapNotes* traps) {
  Plan plan(program, inputs, shape, reduced, traps);
  if (plan.groups == 0 || plan.columns == 0) return;
  BlockReader reader = stream_reader(plan);
  auto* out = static_cast<std::byte*>(output);
  if (plan.segments == 1) {
    run_whole_groups(plan, reader, out);
  } else {
    run_segments(plan, reader, out);
  }
}

}  // namespace graven::engine
