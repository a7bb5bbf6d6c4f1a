#pragma once
#include <memory>

#include "graven/base/status.h"
#include "graven/expr/rows.h"
#include "graven/kernels/row_program.h"
#include "graven/tensor/dtype.h"

namespace graven::engine {

// For kernels that do more than go row by row: what does, compiled for a floating dtype when the
// first of them is asked for.
template <Result<RowsExpression> (*record)(DType)>
const Result<std::shared_ptr<const RowProgram>>& rows_of(DType dtype) {
  using Program = Result<std::shared_ptr<const RowProgram>>;
  auto compile = [](DType dtype) -> Program {
    ASSIGN_OR_RETURN(RowsExpression rows, record(dtype));
    return RowProgram::compile(rows.inputs, rows.stages, rows.outputs);
  };
  static const Program programs[] = {compile(DType::kFloat32), compile(DType::kFloat64),
                                     compile(DType::kHalf), compile(DType::kBFloat16)};
  switch (dtype) {
    case DType::kFloat32:
      return programs[0];
    case DType::kFloat64:
      return programs[1];
    case DType::kHalf:
      return programs[2];
    default:
      return programs[3];
  }
}

}  // namespace graven::engine
