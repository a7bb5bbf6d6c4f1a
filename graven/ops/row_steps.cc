#include "graven/ops/row_steps.h"

#include <cstring>
#include <limits>

#include "graven/kernels/elementwise.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

RowSteps::Value RowSteps::input(DType dtype, RowExtent extent) {
  program_.inputs_.push_back({dtype, extent});
  return {{.stage = -1, .index = static_cast<int>(program_.inputs_.size()) - 1},
          dtype,
          extent == RowExtent::kPerRow};
}

Expression RowSteps::record(std::initializer_list<Value> values, Body body) {
  Recorder recorder;
  InlineVector<Scalar, 4> x;
  for (const Value& value : values) x.push_back(recorder.input(value.dtype));
  recorder.output(body({x.data(), x.size()}));
  auto expression = recorder.finish();
  if (expression.ok()) return std::move(*expression);
  if (status_.ok()) status_ = expression.status();
  return {};
}

RowSteps::Value RowSteps::add(RowStage stage, std::initializer_list<Value> values, DType dtype,
                              bool is_per_row) {
  Program::Step step{.dtype = dtype, .is_per_row = is_per_row};
  if (status_.ok() && stage.expression) {
    auto compiled = BlockProgram::compile(*stage.expression);
    if (compiled.ok()) step.expression = *compiled;
    status_ = compiled.status();
  } else if (status_.ok()) {
    auto compiled = ReductionProgram::compile(*stage.reduction);
    if (compiled.ok()) step.reduction = *compiled;
    status_ = compiled.status();
  }
  for (const Value& value : values) stage.sources.push_back(value.source);
  program_.stages_.push_back(std::move(stage));
  program_.steps_.push_back(std::move(step));
  return {{.stage = static_cast<int>(program_.stages_.size()) - 1, .index = 0}, dtype, is_per_row};
}

RowSteps::Value RowSteps::map(std::initializer_list<Value> values, Body body) {
  bool is_per_row = true;
  for (const Value& value : values) is_per_row &= value.is_per_row;
  RowStage stage;
  stage.expression = record(values, body);
  DType dtype = status_.ok() ? stage.expression->outputs()[0].dtype : DType::kFloat32;
  return add(std::move(stage), values, dtype, is_per_row);
}

RowSteps::Value RowSteps::reduce(std::initializer_list<Value> values, Body body, bool is_max) {
  ReductionParts parts;
  parts.prepare = record(values, body);
  DType dtype = status_.ok() ? parts.prepare.outputs()[0].dtype : DType::kFloat32;
  parts.accumulator = dtype;
  const Value accumulator{{}, dtype, true}, count{{}, DType::kFloat64, true};
  parts.combine = record({accumulator, accumulator}, [&](std::span<const Scalar> x) {
    return is_max ? engine::max(x[0], x[1]) : x[0] + x[1];
  });
  parts.finish = record({accumulator, count}, [](std::span<const Scalar> x) { return x[0]; });
  if (is_max) {
    const double identity = -std::numeric_limits<double>::infinity();
    const float identity_in_float = -std::numeric_limits<float>::infinity();
    const bool is_double = dtype == DType::kFloat64;
    std::memcpy(parts.identity,
                is_double ? static_cast<const void*>(&identity) : &identity_in_float,
                is_double ? sizeof(double) : sizeof(float));
  }
  RowStage stage;
  stage.reduction = std::move(parts);
  return add(std::move(stage), values, dtype, /*is_per_row=*/true);
}

RowSteps::Value RowSteps::max(std::initializer_list<Value> values, Body body) {
  return reduce(values, body, /*is_max=*/true);
}
RowSteps::Value RowSteps::sum(std::initializer_list<Value> values, Body body) {
  return reduce(values, body, /*is_max=*/false);
}

Result<RowSteps::Program> RowSteps::compile(std::initializer_list<Value> outputs) {
  if (!status_.ok()) return status_;
  for (const Value& output : outputs) program_.outputs_.push_back(output.source);
  ASSIGN_OR_RETURN(program_.rows_,
                   RowProgram::compile(program_.inputs_, program_.stages_, program_.outputs_));
  return std::move(program_);
}

Status RowSteps::Program::run(int64_t rows, int64_t columns, std::span<const void* const> inputs,
                              std::span<void* const> outputs) const {
  if (rows == 0) return {};
  if (columns == 0 || columns > RowProgram::kMaxColumns) {
    return run_steps(rows, columns, inputs, outputs);
  }
  run_rows(*rows_, rows, columns, inputs, outputs);
  return {};
}

Status RowSteps::Program::run_steps(int64_t rows, int64_t columns,
                                    std::span<const void* const> inputs,
                                    std::span<void* const> outputs) const {
  const Shape matrix = {rows, columns}, per_row = {rows, 1};
  std::vector<Tensor> made;  // keep memory of results that are not outputs
  std::vector<void*> results;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Shape& shape = steps_[i].is_per_row ? per_row : matrix;
    void* result = nullptr;
    for (size_t k = 0; k < outputs_.size(); ++k) {
      if (outputs_[k].stage == static_cast<int>(i)) result = outputs[k];
    }
    if (!result) {
      ASSIGN_OR_RETURN(Tensor memory, Tensor::allocate(steps_[i].dtype, shape));
      result = memory.mutable_raw_data();
      made.push_back(std::move(memory));
    }
    InlineVector<Operand, 4> operands;
    for (const RowStage::Source& source : stages_[i].sources) {
      const bool is_input = source.stage < 0;
      const bool is_per_row = is_input ? inputs_[source.index].extent == RowExtent::kPerRow
                                       : steps_[source.stage].is_per_row;
      operands.push_back({is_input ? inputs[source.index] : results[source.stage],
                          is_per_row ? &per_row : &matrix});
    }
    if (steps_[i].expression) {
      run_elementwise(*steps_[i].expression, operands, shape, {&result, 1});
    } else {
      run_reduction(*steps_[i].reduction, operands, matrix, /*reduced=*/2, result);
    }
    results.push_back(result);
  }
  return {};
}

}  // namespace graven::engine
