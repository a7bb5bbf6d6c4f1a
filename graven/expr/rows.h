#pragma once
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/function_ref.h"
#include "graven/base/status.h"
#include "graven/expr/reduction.h"
#include "graven/expr/scalar.h"

namespace graven::engine {

// A computation that goes row by row through a matrix [rows, columns], such as softmax (maximum,
// exp of the difference, sum, quotient): each row passes all stages while it is in cache, and only
// outputs are written to memory.
//
// A value has one element for each element of the matrix, or one for each row, or one in all, or
// one for each column (the same for all rows: a bias).
enum class RowExtent : uint8_t { kMatrix, kPerRow, kPerColumn, kScalar };

struct RowInput {
  DType dtype;
  RowExtent extent;
};

// Either an elementwise expression or a reduction over each row. A reduction gives one element
// per row; an expression too, if no source varies within a row, otherwise a matrix. Values that
// cross from stage to stage are stored elements: half and bfloat16 are rounded, so that bits are
// those of the stages run one by one.
struct RowStage {
  struct Source {
    int stage = -1;  // -1: an input
    int index = 0;   // of the input, or of the stage's output
  };
  std::optional<Expression> expression;
  std::optional<ReductionParts> reduction;
  std::vector<Source> sources;  // one for each input of the expression, or of reduction->prepare
};

struct RowsExpression {
  std::vector<RowInput> inputs;
  std::vector<RowStage> stages;
  std::vector<RowStage::Source> outputs;
  std::vector<bool> is_per_row;  // of each stage
};

// Records the body of an op that goes row by row, as stages over scalars:
//
//   RowsRecorder rows;
//   auto x = rows.input(DType::kFloat32);
//   auto largest = rows.max({x}, [](auto x) { return x[0]; });
//   auto shifted = rows.map({x, largest}, [](auto x) { return x[0] - x[1]; });
//   Result<RowsExpression> body = rows.finish({shifted});
//
// So fusion sees its stages. Each stage has one output.
class GRAVEN_API RowsRecorder {
 public:
  // A matrix, or one element for each row: an input, or the output of a stage.
  struct Rows {
    RowStage::Source source;
    DType dtype;
    bool is_per_row;
  };
  using Body = FunctionRef<Scalar(std::span<const Scalar> x)>;

  Rows input(DType dtype, RowExtent extent = RowExtent::kMatrix);  // kMatrix or kPerRow
  // A function of elements: a matrix if one of the inputs is.
  Rows map(std::initializer_list<Rows> inputs, Body body);
  // The largest or the sum of a function's values over each row, which are float32 or float64.
  Rows max(std::initializer_list<Rows> inputs, Body body);
  Rows sum(std::initializer_list<Rows> inputs, Body body);
  // The stages, or the first mistake in a body.
  Result<RowsExpression> finish(std::initializer_list<Rows> outputs);

 private:
  Expression record(std::initializer_list<Rows> inputs, Body body);
  Rows reduce(std::initializer_list<Rows> inputs, Body body, bool is_max);
  Rows add(RowStage stage, std::initializer_list<Rows> inputs, DType dtype, bool is_per_row);

  RowsExpression rows_;
  Status status_;
};

// The float that a floating dtype is computed in: float64 itself, float32 for the others.
inline Scalar computed_float(Scalar x) {
  return cast(x, x.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32);
}

}  // namespace graven::engine
