#include "graven/kernels/row_program.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "graven/base/inline_vector.h"
#include "graven/base/thread_pool.h"
#include "graven/kernels/reduction_combiner.h"
#include "graven/kernels/scratch.h"

namespace graven::engine {
namespace {

constexpr double kChunkCost = 131072;  // additions

size_t align(size_t bytes) { return (bytes + 63) & ~size_t{63}; }

// Where a value is found: an input of the program, or what a stage computed.
struct Value {
  DType dtype;
  RowExtent extent;
  int input = -1;
  int slot = -1;    // of a computed value: its place in the row's memory
  int output = -1;  // of a computed value that is an output: written there
};

struct Stage {
  std::shared_ptr<const BlockProgram> elementwise;
  std::shared_ptr<const ReductionProgram> reduction;
  std::vector<int> sources, results;  // values
  RowExtent extent = RowExtent::kMatrix;
};

}  // namespace

struct RowProgram::Rep {
  std::vector<Value> values;
  std::vector<Stage> stages;
  std::vector<std::pair<int, int>> copies;  // (value, output) that no stage writes in place
  int num_slots = 0;
  size_t row_element_bytes = 8;  // largest element of a computed value
  size_t stage_scratch = 0;
  double cost = 0;  // per element
};

RowProgram::RowProgram(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
RowProgram::~RowProgram() = default;

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
    Stage stage;
    bool varies = false;
    for (RowStage::Source source : from.sources) {
      stage.sources.push_back(value_of(source));
      RowExtent extent = rep->values[stage.sources.back()].extent;
      varies |= extent == RowExtent::kMatrix || extent == RowExtent::kPerColumn;
    }
    std::vector<DType> results;
    if (from.reduction) {
      ASSIGN_OR_RETURN(stage.reduction, ReductionProgram::compile(*from.reduction));
      stage.extent = RowExtent::kPerRow;
      results.push_back(from.reduction->finish.outputs()[0].dtype);
      rep->cost += from.reduction->prepare.cost() + 1;
      rep->stage_scratch =
          std::max(rep->stage_scratch, ReductionCombiner::scratch_bytes(stage.reduction->rep()));
    } else {
      assert(from.expression);
      ASSIGN_OR_RETURN(stage.elementwise, BlockProgram::compile(*from.expression));
      stage.extent = varies ? RowExtent::kMatrix : RowExtent::kPerRow;
      for (const auto& output : from.expression->outputs()) results.push_back(output.dtype);
      rep->cost += from.expression->cost() + 1;
      rep->stage_scratch = std::max(rep->stage_scratch, stage.elementwise->scratch_bytes());
    }
    for (DType dtype : results) {
      stage.results.push_back(static_cast<int>(rep->values.size()));
      rep->values.push_back({dtype, stage.extent, -1, rep->num_slots++});
      rep->row_element_bytes = std::max(rep->row_element_bytes, dtype_size(dtype));
    }
    rep->stages.push_back(std::move(stage));
  }
  for (size_t o = 0; o < outputs.size(); ++o) {
    int number = value_of(outputs[o]);
    Value& value = rep->values[number];
    if (value.input >= 0) return internal_error("an output of a row program is an input of it");
    if (value.output < 0) {
      value.output = static_cast<int>(o);
    } else {
      rep->copies.push_back({number, static_cast<int>(o)});
    }
  }
  return std::shared_ptr<const RowProgram>(new RowProgram(std::move(rep)));
}

namespace {

// One row at a time, in the memory of one thread.
class RowRunner {
 public:
  RowRunner(const RowProgram::Rep& rep, int64_t columns, std::span<const void* const> inputs,
            std::span<void* const> outputs)
      : rep_(rep), columns_(columns), inputs_(inputs), outputs_(outputs) {
    size_t slot_bytes = align(columns * rep.row_element_bytes);
    std::byte* memory =
        thread_scratch(ScratchUse::kChunk, align(rep.stage_scratch) + rep.num_slots * slot_bytes);
    scratch_ = memory;
    memory += align(rep.stage_scratch);
    places_.resize(rep.values.size());
    for (size_t v = 0; v < rep.values.size(); ++v) {
      const Value& value = rep.values[v];
      if (value.slot >= 0) places_[v] = memory + value.slot * slot_bytes;
      if (value.input >= 0) places_[v] = static_cast<const std::byte*>(inputs[value.input]);
    }
    for (const Stage& stage : rep.stages) {
      operands_.emplace_back();
      for (int source : stage.sources) {
        operands_.back().from.push_back(places_[source]);
        operands_.back().scalars.push_back(!varies(rep.values[source].extent));
      }
      for (int result : stage.results) {
        operands_.back().to.push_back(const_cast<std::byte*>(places_[result]));
      }
    }
  }

  void run(int64_t row, bool has_next) {
    for (size_t v = 0; v < rep_.values.size(); ++v) {
      const Value& value = rep_.values[v];
      if (value.input >= 0 && moves(value)) {
        places_[v] = at_row(value, static_cast<const std::byte*>(inputs_[value.input]), row);
      } else if (value.output >= 0) {
        places_[v] = at_row(value, static_cast<const std::byte*>(outputs_[value.output]), row);
      }
    }
    for (size_t s = 0; s < rep_.stages.size(); ++s) {
      const Stage& stage = rep_.stages[s];
      Operands& operands = operands_[s];
      if (has_next) prefetch_next(s);
      for (size_t i = 0; i < stage.sources.size(); ++i)
        operands.from[i] = places_[stage.sources[i]];
      for (size_t i = 0; i < stage.results.size(); ++i) {
        operands.to[i] = const_cast<std::byte*>(places_[stage.results[i]]);
      }
      if (stage.reduction) {
        reduce(stage, operands);
        continue;
      }
      int64_t n = stage.extent == RowExtent::kMatrix ? columns_ : 1;
      stage.elementwise->run(n, operands.from.data(), operands.scalars.data(), operands.to.data(),
                             scratch_);
    }
    for (auto [number, output] : rep_.copies) {
      const Value& value = rep_.values[number];
      const std::byte* to = at_row(value, static_cast<const std::byte*>(outputs_[output]), row);
      int64_t n = varies(value.extent) ? columns_ : 1;
      std::memmove(const_cast<std::byte*>(to), places_[number], n * dtype_size(value.dtype));
    }
  }

 private:
  struct Operands {
    InlineVector<const void*, 8> from;
    InlineVector<bool, 8> scalars;
    InlineVector<void*, 4> to;
  };
  // A share of the next row of each matrix for each stage, so that the first stage that reads it
  // finds it in cache: rows are too short for the processor to see where it goes on.
  void prefetch_next(size_t stage) {
    for (size_t v = 0; v < rep_.values.size(); ++v) {
      const Value& value = rep_.values[v];
      if (value.extent != RowExtent::kMatrix || (value.input < 0 && value.output < 0)) continue;
      const auto bytes = columns_ * static_cast<int64_t>(dtype_size(value.dtype));
      const auto stages = static_cast<int64_t>(rep_.stages.size());
      const std::byte* next = places_[v] + bytes;
      const int64_t end = bytes * static_cast<int64_t>(stage + 1) / stages;
      for (int64_t i = bytes * static_cast<int64_t>(stage) / stages; i < end; i += 64) {
        value.input >= 0 ? __builtin_prefetch(next + i) : __builtin_prefetch(next + i, 1);
      }
    }
  }
  static bool moves(const Value& value) {
    return value.extent == RowExtent::kMatrix || value.extent == RowExtent::kPerRow;
  }
  static bool varies(RowExtent extent) {
    return extent == RowExtent::kMatrix || extent == RowExtent::kPerColumn;
  }
  const std::byte* at_row(const Value& value, const std::byte* data, int64_t row) const {
    int64_t elements = value.extent == RowExtent::kMatrix   ? row * columns_
                       : value.extent == RowExtent::kPerRow ? row
                                                            : 0;
    return data + elements * static_cast<int64_t>(dtype_size(value.dtype));
  }

  void reduce(const Stage& stage, const Operands& operands) {
    const ReductionProgram::Rep& reduction = stage.reduction->rep();
    ReductionCombiner combiner(reduction, scratch_);
    alignas(16) std::byte accumulator[16];
    combiner.reduce(
        columns_, 1,
        [&](int64_t position, int64_t limit, const std::byte*& values) {
          int64_t n = std::min(limit, kBlockElements);
          InlineVector<const void*, 8> at;
          for (size_t i = 0; i < stage.sources.size(); ++i) {
            size_t size = dtype_size(rep_.values[stage.sources[i]].dtype);
            at.push_back(static_cast<const std::byte*>(operands.from[i]) +
                         (operands.scalars[i] ? 0 : position * size));
          }
          values = combiner.prepare(n, at.data(), operands.scalars.data());
          return n;
        },
        accumulator, /*values_stay=*/!reduction.prepares);
    auto* out = static_cast<std::byte*>(operands.to[0]);
    if (reduction.finishes) {
      combiner.finish(out, accumulator, 1, static_cast<double>(columns_));
    } else {
      std::memcpy(out, accumulator, reduction.size);
    }
  }

  const RowProgram::Rep& rep_;
  int64_t columns_;
  std::span<const void* const> inputs_;
  std::span<void* const> outputs_;
  std::byte* scratch_;
  InlineVector<const std::byte*, 16> places_;  // of the current row, by value
  InlineVector<Operands, 6> operands_;         // by stage
};

}  // namespace

void run_rows(const RowProgram& program, int64_t rows, int64_t columns,
              std::span<const void* const> inputs, std::span<void* const> outputs) {
  assert(columns <= RowProgram::kMaxColumns);
  if (rows == 0) return;
  const RowProgram::Rep& rep = program.rep();
  double row_cost = rep.cost * static_cast<double>(columns + 32);
  int64_t per_chunk = std::clamp<int64_t>(static_cast<int64_t>(kChunkCost / row_cost), 1, rows);
  auto run_chunk = [&](int64_t chunk) {
    RowRunner runner(rep, columns, inputs, outputs);
    int64_t end = std::min((chunk + 1) * per_chunk, rows);
    for (int64_t row = chunk * per_chunk; row < end; ++row) runner.run(row, row + 1 < end);
  };
  int64_t chunks = (rows + per_chunk - 1) / per_chunk;
  if (chunks == 1) {
    FlushDenormals flush;
    run_chunk(0);
  } else {
    ThreadPool::shared().run(chunks, run_chunk);
  }
}

}  // namespace graven::engine
