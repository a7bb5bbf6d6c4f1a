#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "graven/base/status.h"
#include "graven/kernels/row_program.h"
#include "graven/tensor/shape.h"

namespace graven::engine {

class CompiledBody;

// Steps that go row by row through a matrix: all but the last `axes` axes of a shape are its rows,
// the last ones its columns. Values are of that shape, or have one element for each row: then the
// last axes have size 1, or are missing.

// Whether a value of this shape has one element for each row of the matrix.
bool is_per_row(const Shape& shape, const Shape& matrix, int axes);

// How an elementwise op, whose result is the matrix or a value per row, reads an operand while it
// goes row by row; none if it cannot. Shapes are compared as they are written: a Dim equals only
// itself.
std::optional<RowExtent> row_extent(const Shape& operand, const Shape& result, const Shape& matrix,
                                    int axes);

// An elementwise op, or a reduction over the columns.
struct RowMember {
  struct Source {
    int member = -1;  // -1: an input of the step
    int index = 0;    // of the input
  };
  const CompiledBody* body = nullptr;
  bool is_reduction = false;
  bool is_per_row = false;
  bool is_read = false;  // by others: an output of the step
  std::vector<Source> sources;
};

struct RowPlan {
  struct Output {
    int member = -1;
    // Bit i: the output, which is a matrix, may be written over input i.
    uint64_t may_overwrite = 0;
  };
  std::shared_ptr<const RowProgram> program;
  std::vector<Output> outputs;
};

// Makes stages of members, which come in a valid order. A chain that only one reduction needs is
// computed while it reduces; others are computed once, as late as they are needed, and kept while
// the row is in cache. Values per row are computed apart from the elements of the matrix.
Result<RowPlan> plan_rows(std::span<const RowInput> inputs, std::span<const RowMember> members);

}  // namespace graven::engine
