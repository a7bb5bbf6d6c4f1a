#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/expr/rows.h"
#include "graven/kernels/reduce.h"

namespace graven::engine {

// A row-by-row computation (expr/rows.h), compiled: made once, then shared by threads.
class GRAVEN_API RowProgram {
 public:
  static Result<std::shared_ptr<const RowProgram>> compile(
      std::span<const RowInput> inputs, std::span<const RowStage> stages,
      std::span<const RowStage::Source> outputs);
  ~RowProgram();
  // Longer rows do not stay in a cache while several stages go over them.
  static constexpr int64_t kMaxColumns = 65536;
  double cost() const;  // estimated, for one element of the matrix, in units of one addition
  int64_t bytes() const;
  struct Rep;
  const Rep& rep() const { return *rep_; }

 private:
  explicit RowProgram(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

// Inputs and outputs are contiguous: rows * columns, rows, columns or one element, as their extents
// say; any number of rows and columns, but with more than kMaxColumns it is better to run one op at
// a time. Rows are spread over the pool, in chunks cut by shape alone. An output may be the memory
// of a matrix input of the same element size that no later stage reads. kResourceExhausted if there
// is no memory for values between stages, which is needed only when rows are too long for a cache,
// or too few for the pool. traps: see BlockProgram::run.
GRAVEN_API Status run_rows(const RowProgram& program, int64_t rows, int64_t columns,
                           std::span<const void* const> inputs, std::span<void* const> outputs,
                           TrapNotes* traps = nullptr);

}  // namespace graven::engine
