#include "graven/expr/rows.h"

#include <cstring>
#include <limits>

#include "graven/base/inline_vector.h"

namespace graven::engine {

RowsRecorder::Rows RowsRecorder::input(DType dtype, RowExtent extent) {
  rows_.inputs.push_back({dtype, extent});
  return {{.stage = -1, .index = static_cast<int>(rows_.inputs.size()) - 1},
          dtype,
          extent == RowExtent::kPerRow};
}

Expression RowsRecorder::record(std::initializer_list<Rows> inputs, Body body) {
  Recorder recorder;
  InlineVector<Scalar, 4> x;
  for (const Rows& rows : inputs) x.push_back(recorder.input(rows.dtype));
  recorder.output(body({x.data(), x.size()}));
  auto expression = recorder.finish();
  if (expression.ok()) return std::move(*expression);
  if (status_.ok()) status_ = expression.status();
  return {};
}

RowsRecorder::Rows RowsRecorder::add(RowStage stage, std::initializer_list<Rows> inputs,
                                     DType dtype, bool is_per_row) {
  for (const Rows& rows : inputs) stage.sources.push_back(rows.source);
  rows_.stages.push_back(std::move(stage));
  rows_.is_per_row.push_back(is_per_row);
  return {{.stage = static_cast<int>(rows_.stages.size()) - 1, .index = 0}, dtype, is_per_row};
}

RowsRecorder::Rows RowsRecorder::map(std::initializer_list<Rows> inputs, Body body) {
  bool is_per_row = true;
  for (const Rows& rows : inputs) is_per_row &= rows.is_per_row;
  RowStage stage;
  stage.expression = record(inputs, body);
  DType dtype = status_.ok() ? stage.expression->outputs()[0].dtype : DType::kFloat32;
  return add(std::move(stage), inputs, dtype, is_per_row);
}

RowsRecorder::Rows RowsRecorder::reduce(std::initializer_list<Rows> inputs, Body body,
                                        bool is_max) {
  ReductionParts parts;
  parts.prepare = record(inputs, body);
  DType dtype = status_.ok() ? parts.prepare.outputs()[0].dtype : DType::kFloat32;
  parts.accumulator = dtype;
  const Rows accumulator{{}, dtype, true}, count{{}, DType::kFloat64, true};
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
  return add(std::move(stage), inputs, dtype, /*is_per_row=*/true);
}

RowsRecorder::Rows RowsRecorder::max(std::initializer_list<Rows> inputs, Body body) {
  return reduce(inputs, body, /*is_max=*/true);
}
RowsRecorder::Rows RowsRecorder::sum(std::initializer_list<Rows> inputs, Body body) {
  return reduce(inputs, body, /*is_max=*/false);
}

Result<RowsExpression> RowsRecorder::finish(std::initializer_list<Rows> outputs) {
  if (!status_.ok()) return status_;
  for (const Rows& output : outputs) rows_.outputs.push_back(output.source);
  return std::move(rows_);
}

}  // namespace graven::engine
