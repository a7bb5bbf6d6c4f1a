// How rows are run: several at a time, so that a stage is one call for all of them. Where a stage
// reads values per column beside a matrix, or a reduction values per row, they are spread over a
// matrix of the batch if rows are short. Longer rows are computed one by one within the call, and
// such values are scalars, or the row of the matrix that they are; a reduction of rows that are no
// longer than a segment of its order still folds all rows of the batch in one call. A batch stays
// in the nearest caches; rows that would leave them, and matrices of so few rows that most threads
// would have none, go stage by stage. The bits are the same: an element depends neither on its
// position nor on its neighbours, and a reduction's order depends on the length of the row alone.
#include "graven/kernels/row_program.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "graven/base/heap_bytes.h"
#include "graven/base/inline_vector.h"
#include "graven/base/strings.h"
#include "graven/kernels/block_functions.h"
#include "graven/kernels/elementwise.h"
#include "graven/kernels/reduction_combiner.h"
#include "graven/kernels/scratch.h"
#include "graven/kernels/scratch_block.h"
#include "graven/kernels/spread.h"

namespace graven::engine {
namespace {

constexpr double kChunkCost = 524288;  // additions
// Rows of up to so many columns make a batch of up to so many elements, and several of them a
// block.
constexpr int64_t kShortRow = ShortRows::kMaxColumns, kBatchElements = 2048;
// Longer ones make a batch of up to so many, as starting a stage costs as much as some hundreds.
constexpr int64_t kLongBatchElements = 4096;
static_assert(kShortRow <= kRowSegment && RowProgram::kMaxColumns <= ReductionCombiner::kMaxRow);
// Few rows that are worth spreading over the pool run stage by stage, as too long ones do.
constexpr int64_t kFewRows = 4, kLongRow = 16384;

size_t align(size_t bytes) { return (bytes + 63) & ~size_t{63}; }

bool varies(RowExtent extent) {
  return extent == RowExtent::kMatrix || extent == RowExtent::kPerColumn;
}

// The source of a value: an input of the program, or the result of a stage.
struct RowValue {
  DType dtype;
  RowExtent extent;
  int input = -1;
  int output = -1;       // of a computed value that is an output: written there
  bool is_slot = false;  // of a computed value: it lies in the batch's memory
  // A stage over the matrix reads it, per row or column; a reduction does.
  bool is_beside_matrix = false, is_reduced = false;
  int last_stage = -1;  // that reads it
};

struct Stage {
  std::shared_ptr<const BlockProgram> elementwise;
  std::shared_ptr<const ReductionProgram> reduction;
  std::vector<int> sources, results;  // values
  RowExtent extent = RowExtent::kMatrix;
  bool works_on_matrix() const { return reduction || extent == RowExtent::kMatrix; }
};

}  // namespace

struct RowProgram::Rep {
  std::vector<RowValue> values;
  std::vector<Stage> stages;
  std::vector<std::pair<int, int>> copies;  // (value, output) that no stage writes in place
  size_t stage_scratch = 0;
  size_t prepared_size = 0;  // the largest accumulator that a reduction prepares
  double cost = 0;           // per element
};

RowProgram::RowProgram(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
RowProgram::~RowProgram() = default;

double RowProgram::cost() const { return rep_->cost; }

int64_t RowProgram::bytes() const {
  int64_t total = bytes_of_object<RowProgram>() + bytes_of_block(kBytesOfCounts) +
                  bytes_of_object<Rep>() + heap_bytes(rep_->values) + heap_bytes(rep_->stages) +
                  heap_bytes(rep_->copies);
  for (const Stage& stage : rep_->stages) {
    total += heap_bytes(stage.sources) + heap_bytes(stage.results);
    if (stage.elementwise) total += stage.elementwise->bytes();
    if (stage.reduction) total += stage.reduction->bytes();
  }
  return total;
}

Result<std::shared_ptr<const RowProgram>> RowProgram::compile(
    std::span<const RowInput> inputs, std::span<const RowStage> stages,
    std::span<const RowStage::Source> outputs) {
  auto rep = std::make_unique<Rep>();
  for (size_t i = 0; i < inputs.size(); ++i) {
    rep->values.push_back({inputs[i].dtype, inputs[i].extent, static_cast<int>(i)});
  }
  auto value_of = [&](RowStage::Source source) {
    return source.stage < 0 ? source.index : rep->stages[source.stage].results[source.index];
  };
  for (const RowStage& from : stages) {
    const int number = static_cast<int>(rep->stages.size());
    Stage stage;
    bool is_matrix = from.reduction.has_value();
    for (RowStage::Source source : from.sources) {
      stage.sources.push_back(value_of(source));
      RowValue& value = rep->values[stage.sources.back()];
      value.last_stage = number;
      is_matrix |= varies(value.extent);
    }
    std::vector<DType> results;
    if (from.reduction) {
      ASSIGN_OR_RETURN(stage.reduction, ReductionProgram::compile(*from.reduction));
      const ReductionProgram::Rep& reduction = stage.reduction->rep();
      stage.extent = RowExtent::kPerRow;
      results.push_back(from.reduction->finish.outputs()[0].dtype);
      rep->cost += from.reduction->prepare.cost() + 1;
      rep->stage_scratch =
          std::max(rep->stage_scratch, ReductionCombiner::scratch_bytes(reduction));
      rep->prepared_size = std::max(rep->prepared_size, reduction.size);
    } else {
      assert(from.expression);
      ASSIGN_OR_RETURN(stage.elementwise, BlockProgram::compile(*from.expression));
      stage.extent = is_matrix ? RowExtent::kMatrix : RowExtent::kPerRow;
      for (const auto& output : from.expression->outputs()) results.push_back(output.dtype);
      rep->cost += from.expression->cost() + 1;
      rep->stage_scratch = std::max(rep->stage_scratch, stage.elementwise->scratch_bytes());
    }
    for (int source : stage.sources) {
      RowValue& value = rep->values[source];
      value.is_beside_matrix |= is_matrix && (value.extent == RowExtent::kPerRow ||
                                              value.extent == RowExtent::kPerColumn);
      value.is_reduced |= stage.reduction != nullptr;
    }
    for (DType dtype : results) {
      stage.results.push_back(static_cast<int>(rep->values.size()));
      RowValue& value = rep->values.emplace_back();
      value.dtype = dtype;
      value.extent = stage.extent;
      value.is_slot = true;
    }
    rep->stages.push_back(std::move(stage));
  }
  for (size_t o = 0; o < outputs.size(); ++o) {
    int number = value_of(outputs[o]);
    RowValue& value = rep->values[number];
    if (value.input >= 0) return internal_error("an output of a row program is an input of it");
    if (value.output < 0) {
      value.output = static_cast<int>(o);
      value.is_slot = false;
    } else {
      rep->copies.push_back({number, static_cast<int>(o)});
    }
  }
  return std::shared_ptr<const RowProgram>(new RowProgram(std::move(rep)));
}

namespace {

using Rep = RowProgram::Rep;

int64_t rows_of_batch(int64_t columns) {
  const int64_t elements = columns <= kShortRow ? kBatchElements : kLongBatchElements;
  return std::max<int64_t>(1, elements / columns);
}

// One batch of rows at a time. Addresses that depend on the row are computed once, and move on from
// batch to batch.
class RowRunner {
 public:
  RowRunner(const Rep& rep, int64_t columns, TrapNotes* traps)
      : rep_(rep),
        traps_(traps),
        columns_(columns),
        batch_(rows_of_batch(columns)),
        spreads_(columns <= kShortRow),
        folds_rows_at_once_(columns <= kRowSegment) {}

  // Of the memory that start is given.
  size_t scratch_bytes() const {
    size_t bytes = align(rep_.stage_scratch) + align(prepared_bytes()) + align(accumulator_bytes());
    for (const RowValue& value : rep_.values) {
      if (value.is_slot) bytes += align(bytes_of(value, batch_));
      if (is_spread(value, value.is_reduced)) bytes += align(bytes_of_matrix(value));
    }
    return bytes;
  }

  // Once, before rows are run.
  void start(std::span<const void* const> inputs, std::span<void* const> outputs,
             std::byte* memory) {
    auto take = [&](size_t size) {
      std::byte* taken = memory;
      memory += align(size);
      return taken;
    };
    scratch_ = take(rep_.stage_scratch);
    prepared_ = take(prepared_bytes());
    accumulators_ = take(accumulator_bytes());
    InlineVector<std::byte*, 16> places(rep_.values.size(), nullptr);
    InlineVector<std::byte*, 16> spread(rep_.values.size(), nullptr);
    for (size_t v = 0; v < rep_.values.size(); ++v) {
      const RowValue& value = rep_.values[v];
      if (value.is_slot) places[v] = take(bytes_of(value, batch_));
      if (value.output >= 0) places[v] = static_cast<std::byte*>(outputs[value.output]);
      if (value.input >= 0) {
        places[v] = const_cast<std::byte*>(static_cast<const std::byte*>(inputs[value.input]));
      }
      if (!is_spread(value, value.is_reduced)) continue;
      spread[v] = take(bytes_of_matrix(value));
      if (value.extent == RowExtent::kPerColumn) {
        spread_columns(dtype_size(value.dtype), spread[v], places[v], batch_, columns_);
      } else if (value.input >= 0) {
        spread_inputs_.push_back({places[v], spread[v], dtype_size(value.dtype)});
      }
    }
    find_operands(places, spread);
    for (auto [number, output] : rep_.copies) {
      copies_.push_back(
          {static_cast<std::byte*>(outputs[output]), places[number], &rep_.values[number]});
    }
    find_prefetches(places);
  }

  int64_t batch() const { return batch_; }

  // At most batch() rows; `end` is the last row of all.
  void run(int64_t first, int64_t rows, int64_t end) {
    for (const Move& move : moves_) *move.operand = move.base + first * move.row_bytes;
    for (const Spread& input : spread_inputs_) {
      spread_rows(input.size, input.to, input.from + first * input.size, rows, columns_);
    }
    const int64_t next = first + rows;
    int64_t share = 0;
    auto fetch_rows = [&] {
      if (next + batch_ <= end) prefetch(share, next);
    };
    auto fetch_row = [&](int64_t row) {
      if (next + row < end) prefetch(share, next + row);
    };
    for (size_t s = 0; s < rep_.stages.size(); ++s) {
      const Stage& stage = rep_.stages[s];
      Operands& operands = operands_[s];
      if (!stage.works_on_matrix()) {
        stage.elementwise->run(rows, operands.from.data(), operands.scalars.data(),
                               operands.to.data(), scratch_, traps_);
      } else if (folds_rows_at_once_) {
        fetch_rows();
        if (stage.reduction && (spreads_ || is_in_rows(stage, operands))) {
          reduce_batch(stage, operands, rows);
        } else if (stage.reduction) {
          reduce_rows(stage, operands, rows, [](int64_t) {});
        } else if (spreads_ && columns_ < ShortRows::kMinColumns) {
          stage.elementwise->run(rows * columns_, operands.from.data(), operands.scalars.data(),
                                 operands.to.data(), scratch_, traps_);
        } else if (spreads_) {
          stage.elementwise->run_short_rows(
              {rows, columns_, operands.from.data(), operands.reads.data(), operands.to.data()},
              scratch_, traps_);
        } else {
          run_by_rows(stage, operands, rows, [](int64_t) {});
        }
      } else if (stage.reduction) {
        reduce_rows(stage, operands, rows, fetch_row);
      } else {
        run_by_rows(stage, operands, rows, fetch_row);
      }
      share += stage.works_on_matrix();
      for (size_t i = 0; i < operands.spread.size(); ++i) {
        if (!operands.spread[i]) continue;
        size_t size = dtype_size(rep_.values[stage.results[i]].dtype);
        spread_rows(size, operands.spread[i], operands.to[i], rows, columns_);
      }
    }
    for (const Copy& copy : copies_) {
      // Copied values are outputs too.
      const size_t offset = moves(*copy.value) ? bytes_of(*copy.value, first) : 0;
      std::memmove(copy.to + offset, copy.from + offset, bytes_of(*copy.value, rows));
    }
  }

 private:
  struct Operands {
    InlineVector<const void*, 8> from;
    InlineVector<int64_t, 8> strides;  // bytes from one row to the next
    InlineVector<bool, 8> scalars;     // one element: for all, or for a row that is on its own
    InlineVector<ShortRows::Read, 8> reads;
    InlineVector<void*, 4> to;
    InlineVector<std::byte*, 4> spread;  // of results, or null
  };
  struct Move {
    const void** operand;
    const std::byte* base;
    int64_t row_bytes;
  };
  struct Spread {
    const std::byte* from;
    std::byte* to;
    size_t size;
  };
  struct Copy {
    std::byte* to;
    const std::byte* from;
    const RowValue* value;
  };
  struct Prefetch {
    const std::byte* base;
    int64_t row_bytes;
    bool is_input;
  };

  size_t prepared_bytes() const {
    return static_cast<size_t>(spreads_ ? batch_ * columns_ : kRowBlockElements) *
           rep_.prepared_size;
  }
  size_t accumulator_bytes() const {
    return spreads_ ? 0 : static_cast<size_t>(batch_) * rep_.prepared_size;
  }
  // Bytes of so many rows of a value. In the batch's memory longer rows begin at cache lines.
  size_t bytes_of(const RowValue& value, int64_t rows) const {
    const size_t size = dtype_size(value.dtype), row = static_cast<size_t>(columns_) * size;
    switch (value.extent) {
      case RowExtent::kMatrix:
        return static_cast<size_t>(rows) *
               (value.is_slot && !folds_rows_at_once_ ? align(row) : row);
      case RowExtent::kPerColumn:
        return row;
      case RowExtent::kPerRow:
        return static_cast<size_t>(rows) * size;
      default:
        return size;
    }
  }
  size_t bytes_of_matrix(const RowValue& value) const {
    return static_cast<size_t>(batch_ * columns_) * dtype_size(value.dtype);
  }
  // Whether values per row or column are spread over a matrix for a stage that reads them beside
  // one: elementwise stages take values per row as they are, unless rows are very short.
  bool is_spread(const RowValue& value, bool reduces) const {
    return spreads_ && value.is_beside_matrix &&
           (value.extent == RowExtent::kPerColumn || reduces || columns_ < ShortRows::kMinColumns);
  }
  static bool moves(const RowValue& value) {
    return value.extent == RowExtent::kMatrix || value.extent == RowExtent::kPerRow;
  }

  void find_operands(std::span<std::byte* const> places, std::span<std::byte* const> spread) {
    operands_.resize(rep_.stages.size());
    for (size_t s = 0; s < rep_.stages.size(); ++s) {
      const Stage& stage = rep_.stages[s];
      Operands& operands = operands_[s];
      for (int source : stage.sources) {
        const RowExtent extent = rep_.values[source].extent;
        const bool reads_spread =
            stage.works_on_matrix() && is_spread(rep_.values[source], stage.reduction != nullptr);
        operands.from.push_back(reads_spread ? spread[source] : places[source]);
        operands.reads.push_back(extent == RowExtent::kScalar   ? ShortRows::Read::kOne
                                 : extent == RowExtent::kPerRow ? ShortRows::Read::kPerRow
                                                                : ShortRows::Read::kElements);
        operands.strides.push_back(moves(rep_.values[source])
                                       ? static_cast<int64_t>(bytes_of(rep_.values[source], 1))
                                       : 0);
        // Of a row on its own, a value per row is a scalar.
        const bool is_of_row = extent == RowExtent::kPerRow && !spreads_ && stage.works_on_matrix();
        operands.scalars.push_back(extent == RowExtent::kScalar || is_of_row);
      }
      for (int result : stage.results) {
        operands.to.push_back(places[result]);
        operands.spread.push_back(rep_.values[result].extent == RowExtent::kPerRow ? spread[result]
                                                                                   : nullptr);
      }
    }
    for (size_t s = 0; s < rep_.stages.size(); ++s) {
      const Stage& stage = rep_.stages[s];
      Operands& operands = operands_[s];
      auto add = [&](const void** operand, int number) {
        const RowValue& value = rep_.values[number];
        if (value.is_slot || !moves(value) || *operand != places[number]) return;
        moves_.push_back({operand, places[number], static_cast<int64_t>(bytes_of(value, 1))});
      };
      for (size_t i = 0; i < stage.sources.size(); ++i) add(&operands.from[i], stage.sources[i]);
      for (size_t i = 0; i < stage.results.size(); ++i) {
        add(const_cast<const void**>(&operands.to[i]), stage.results[i]);
      }
    }
  }

  // The next rows of each matrix are prefetched a share at a time, before each stage goes over a
  // row (or a batch of shorter ones), so that the first stage that reads them finds them in cache.
  // Rows are too short for the processor's own prefetching, and it drops requests when there are
  // too many at once. The second cache is near enough; the first one is full of this batch.
  void find_prefetches(std::span<std::byte* const> places) {
    num_shares_ = std::ranges::count_if(rep_.stages, &Stage::works_on_matrix);
    for (size_t v = 0; v < rep_.values.size(); ++v) {
      const RowValue& value = rep_.values[v];
      if (value.extent != RowExtent::kMatrix || value.is_slot) continue;
      prefetches_.push_back(
          {places[v], static_cast<int64_t>(bytes_of(value, 1)), value.input >= 0});
    }
  }
  void prefetch(int64_t share, int64_t row) {
    // GCC drops calls of a function that does nothing but prefetch, as it has no effect.
    asm volatile("");
    for (const Prefetch& matrix : prefetches_) {
      const std::byte* next = matrix.base + row * matrix.row_bytes;
      const int64_t bytes = matrix.row_bytes * (folds_rows_at_once_ ? batch_ : 1);
      const int64_t begin = bytes * share / num_shares_;
      const int64_t end = bytes * (share + 1) / num_shares_;
      for (int64_t i = begin; i < end; i += 64) {
        matrix.is_input ? __builtin_prefetch(next + i, 0, 2) : __builtin_prefetch(next + i, 1, 2);
      }
    }
  }

  // Whether a reduction combines elements as they lie in memory.
  static bool is_in_place(const Stage& stage, const Operands& operands) {
    const int place = stage.reduction->rep().handed_on;
    return place >= 0 && !operands.scalars[static_cast<size_t>(place)];
  }
  // And whether they lie there row behind row: not one row for all.
  bool is_in_rows(const Stage& stage, const Operands& operands) const {
    const ReductionProgram::Rep& reduction = stage.reduction->rep();
    return is_in_place(stage, operands) &&
           operands.strides[static_cast<size_t>(reduction.handed_on)] ==
               columns_ * static_cast<int64_t>(reduction.size);
  }

  // All rows of a batch in one call.
  void reduce_batch(const Stage& stage, const Operands& operands, int64_t rows) {
    const ReductionProgram::Rep& reduction = stage.reduction->rep();
    ReductionCombiner combiner(reduction, scratch_, traps_);
    const std::byte* values = prepared_;
    if (is_in_place(stage, operands)) {
      values = static_cast<const std::byte*>(operands.from[reduction.handed_on]);
    } else {
      void* prepared[] = {prepared_};
      reduction.prepare->run(rows * columns_, operands.from.data(), operands.scalars.data(),
                             prepared, scratch_, traps_);
    }
    auto* out = static_cast<std::byte*>(operands.to[0]);
    // Finished results may be larger than the accumulators.
    std::byte* accumulators = !reduction.finishes ? out : spreads_ ? prepared_ : accumulators_;
    combiner.rows(values, rows, columns_, accumulators);
    if (reduction.finishes) {
      combiner.finish(out, accumulators, rows, static_cast<double>(columns_));
    }
  }

  // Longer rows.
  void run_by_rows(const Stage& stage, const Operands& operands, int64_t rows,
                   FunctionRef<void(int64_t)> before_row) {
    InlineVector<BlockRows::Input, 8> inputs;
    InlineVector<BlockRows::Output, 4> outputs;
    for (size_t i = 0; i < stage.sources.size(); ++i) {
      inputs.push_back({static_cast<const std::byte*>(operands.from[i]), operands.strides[i],
                        operands.scalars[i]});
    }
    for (size_t i = 0; i < stage.results.size(); ++i) {
      outputs.push_back({static_cast<std::byte*>(operands.to[i]),
                         static_cast<int64_t>(bytes_of(rep_.values[stage.results[i]], 1))});
    }
    const BlockRows matrix{
        rows, columns_, {inputs.data(), inputs.size()}, {outputs.data(), outputs.size()}};
    stage.elementwise->run_rows(matrix, scratch_, traps_, before_row);
  }

  void reduce_rows(const Stage& stage, const Operands& operands, int64_t rows,
                   FunctionRef<void(int64_t)> before_row) {
    const ReductionProgram::Rep& reduction = stage.reduction->rep();
    ReductionCombiner combiner(reduction, scratch_, traps_);
    auto* out = static_cast<std::byte*>(operands.to[0]);
    std::byte* accumulators = reduction.finishes ? accumulators_ : out;
    for (int64_t row = 0; row < rows; ++row) {
      before_row(row);
      reduce_row(stage, operands, row, combiner, accumulators + row * reduction.size);
    }
    if (reduction.finishes) {
      combiner.finish(out, accumulators, rows, static_cast<double>(columns_));
    }
  }

  void reduce_row(const Stage& stage, const Operands& operands, int64_t row,
                  ReductionCombiner& combiner, std::byte* accumulator) {
    const ReductionProgram::Rep& reduction = stage.reduction->rep();
    InlineVector<const std::byte*, 8> begins;
    for (size_t i = 0; i < stage.sources.size(); ++i) {
      begins.push_back(static_cast<const std::byte*>(operands.from[i]) + row * operands.strides[i]);
    }
    const auto place = static_cast<size_t>(std::max(reduction.handed_on, 0));
    const bool in_place = is_in_place(stage, operands);
    if (in_place && folds_rows_at_once_) {
      return combiner.rows(begins[place], 1, columns_, accumulator);
    }
    combiner.row(
        columns_,
        [&](int64_t position, int64_t limit, const std::byte*& values) {
          if (in_place) {
            values = begins[place] + position * reduction.size;
            return limit;
          }
          int64_t n = std::min(limit, kRowBlockElements);
          InlineVector<const void*, 8> at;
          for (size_t i = 0; i < stage.sources.size(); ++i) {
            size_t size = dtype_size(rep_.values[stage.sources[i]].dtype);
            at.push_back(begins[i] + (operands.scalars[i] ? 0 : position * size));
          }
          values = combiner.prepare(n, at.data(), operands.scalars.data(), prepared_);
          return n;
        },
        accumulator);
  }

  const Rep& rep_;
  TrapNotes* const traps_;
  int64_t columns_, batch_;
  const bool spreads_;             // short rows
  const bool folds_rows_at_once_;  // short and middling ones, each shorter than a segment
  std::byte* scratch_ = nullptr;
  std::byte* prepared_ = nullptr;       // values that a reduction combines: of a batch or block
  std::byte* accumulators_ = nullptr;   // of the rows of a batch
  InlineVector<Operands, 6> operands_;  // by stage
  InlineVector<Move, 16> moves_;
  InlineVector<Spread, 4> spread_inputs_;
  InlineVector<Copy, 2> copies_;
  InlineVector<Prefetch, 4> prefetches_;
  int64_t num_shares_ = 1;
};

// Runs each stage over the whole matrix; values between stages lie in memory of the allocator.
Status run_by_stage(const Rep& rep, int64_t rows, int64_t columns,
                    std::span<const void* const> inputs, std::span<void* const> outputs,
                    TrapNotes* traps) {
  const Shape matrix = {Dim(rows), Dim(columns)}, per_row = {Dim(rows), Dim(1)},
              per_column = {Dim(columns)}, scalar = {};
  auto shape_of = [&](const RowValue& value) -> const Shape& {
    switch (value.extent) {
      case RowExtent::kMatrix:
        return matrix;
      case RowExtent::kPerRow:
        return per_row;
      case RowExtent::kPerColumn:
        return per_column;
      default:
        return scalar;
    }
  };
  auto bytes_of = [&](const RowValue& value) {
    return static_cast<size_t>(shape_of(value).num_elements()) * dtype_size(value.dtype);
  };
  std::vector<const void*> places(rep.values.size());
  std::vector<std::unique_ptr<ScratchBlock>> memory(rep.values.size());
  for (size_t v = 0; v < rep.values.size(); ++v) {
    const RowValue& value = rep.values[v];
    if (value.input >= 0) places[v] = inputs[value.input];
    if (value.output >= 0) places[v] = outputs[value.output];
  }
  for (size_t s = 0; s < rep.stages.size(); ++s) {
    const Stage& stage = rep.stages[s];
    InlineVector<StridedInput, 8> operands;
    InlineVector<void*, 4> results;
    for (int source : stage.sources) {
      operands.push_back({places[source], &shape_of(rep.values[source])});
    }
    for (int result : stage.results) {
      const RowValue& value = rep.values[result];
      if (value.is_slot) {
        memory[result] = std::make_unique<ScratchBlock>(bytes_of(value));
        places[result] = memory[result]->get();
        if (!places[result]) {
          return Status(Code::kResourceExhausted,
                        str_cat("Out of memory when allocating ", bytes_of(value),
                                " bytes between two steps over a matrix of ", rows, " rows of ",
                                columns, " elements. See docs/errors/out-of-memory.md"));
        }
      }
      results.push_back(const_cast<void*>(places[result]));
    }
    if (stage.reduction) {
      RETURN_IF_ERROR(
          run_reduction(*stage.reduction, operands, matrix, /*reduced=*/2, results[0], traps));
    } else {
      RETURN_IF_ERROR(run_elementwise(*stage.elementwise, operands,
                                      stage.extent == RowExtent::kMatrix ? matrix : per_row,
                                      results, traps));
    }
    for (size_t v = 0; v < rep.values.size(); ++v) {
      if (rep.values[v].last_stage == static_cast<int>(s)) memory[v].reset();
    }
  }
  for (auto [number, output] : rep.copies) {
    std::memmove(outputs[output], places[number], bytes_of(rep.values[number]));
  }
  return {};
}

}  // namespace

Status run_rows(const RowProgram& program, int64_t rows, int64_t columns,
                std::span<const void* const> inputs, std::span<void* const> outputs,
                TrapNotes* traps) {
  if (rows == 0) return {};
  const Rep& rep = program.rep();
  if (columns == 0 || columns > RowProgram::kMaxColumns ||
      (rows < kFewRows && columns >= kLongRow)) {
    return run_by_stage(rep, rows, columns, inputs, outputs, traps);
  }
  double row_cost = rep.cost * static_cast<double>(columns + 32);
  int64_t batch = rows_of_batch(columns);
  int64_t per_chunk = static_cast<int64_t>(kChunkCost / row_cost) / batch * batch;
  per_chunk = std::clamp<int64_t>(per_chunk, batch, std::max(rows, batch));
  const size_t bytes = RowRunner(rep, columns, traps).scratch_bytes();
  const int64_t chunks = (rows + per_chunk - 1) / per_chunk;
  return run_chunks(chunks, bytes, [&](int64_t chunk, std::byte* memory) {
    RowRunner runner(rep, columns, traps);
    runner.start(inputs, outputs, memory);
    int64_t end = std::min((chunk + 1) * per_chunk, rows);
    for (int64_t row = chunk * per_chunk; row < end; row += batch) {
      runner.run(row, std::min(batch, end - row), end);
    }
  });
}

}  // namespace graven::engine
