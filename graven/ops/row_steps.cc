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
  for (const Value& value : values) stage.sources.push_back(value.source);
  program_.stages_.push_back(std::move(stage));
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
  return run_rows(*rows_, rows, columns, inputs, outputs);
}

}  // namespace graven::engine
