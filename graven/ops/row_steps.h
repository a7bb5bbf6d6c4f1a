#pragma once
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "graven/base/function_ref.h"
#include "graven/base/status.h"
#include "graven/expr/scalar.h"
#include "graven/kernels/row_program.h"
#include "graven/tensor/dtype.h"

namespace graven::engine {

// A kernel that goes row by row through matrices, written as steps over scalars (softmax):
//
//   RowSteps steps;
//   auto x = steps.input(DType::kFloat32, RowExtent::kMatrix);
//   auto largest = steps.max({x}, [](auto x) { return x[0]; });
//   auto shifted = steps.map({x, largest}, [](auto x) { return x[0] - x[1]; });
//   auto program = steps.compile({shifted});
//
// Rows pass all steps while they are in cache; rows too long for that go step by step.
class RowSteps {
 public:
  class Program {
   public:
    // Inputs and outputs as run_rows has them; any number of rows and columns.
    Status run(int64_t rows, int64_t columns, std::span<const void* const> inputs,
               std::span<void* const> outputs) const;

   private:
    friend class RowSteps;
    std::shared_ptr<const RowProgram> rows_;
    std::vector<RowInput> inputs_;
    std::vector<RowStage> stages_;
    std::vector<RowStage::Source> outputs_;
  };
  struct Value {
    RowStage::Source source;
    DType dtype;
    bool is_per_row;
  };
  using Body = FunctionRef<Scalar(std::span<const Scalar> x)>;

  Value input(DType dtype, RowExtent extent);  // kMatrix or kPerRow
  // A function of elements: a matrix if one of the values is.
  Value map(std::initializer_list<Value> values, Body body);
  // The largest or the sum of a function's values over each row. They are float32 or float64.
  Value max(std::initializer_list<Value> values, Body body);
  Value sum(std::initializer_list<Value> values, Body body);
  Result<Program> compile(std::initializer_list<Value> outputs);

 private:
  Expression record(std::initializer_list<Value> values, Body body);
  Value reduce(std::initializer_list<Value> values, Body body, bool is_max);
  Value add(RowStage stage, std::initializer_list<Value> values, DType dtype, bool is_per_row);

  Program program_;
  Status status_;
};

// The float that a floating dtype is computed in: float64 itself, float32 for the others.
inline Scalar computed_float(Scalar x) {
  return cast(x, x.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32);
}

// The programs of all floating dtypes, compiled when the first of them is asked for.
template <Result<RowSteps::Program> (*make)(DType)>
const Result<RowSteps::Program>& rows_of(DType dtype) {
  static const Result<RowSteps::Program> programs[] = {make(DType::kFloat32), make(DType::kFloat64),
                                                       make(DType::kHalf), make(DType::kBFloat16)};
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
