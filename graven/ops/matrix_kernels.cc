#include "graven/ops/matrix_kernels.h"

#include <vector>

#include "graven/base/denormals.h"
#include "graven/ops/elements.h"

namespace graven::engine {

Status check_is_matrix(const InferContext& c, int input) {
  const Shape& shape = c.shape(input);
  if (!shape.has_rank() || shape.rank() >= 2) return {};
  return invalid_argument("Input tensor ", input, " must have rank >= 2, got ", shape.rank());
}

Status check_is_square(const InferContext& c, int input, std::string_view message) {
  RETURN_IF_ERROR(check_is_matrix(c, input));
  const Shape& shape = c.shape(input);
  if (!shape.has_rank()) return {};
  if (c.merge(shape[shape.rank() - 2], shape[shape.rank() - 1]).ok()) return {};
  return invalid_argument(message, " Its shape is ", shape.to_message());
}

Shape square_shape(const InferContext& c, int input) {
  Shape shape = c.shape(input);
  if (!shape.has_rank()) return shape;
  const int rows = shape.rank() - 2, columns = shape.rank() - 1;
  if (const auto size = c.merge(shape[rows], shape[columns]); size.ok()) {
    shape.set(rows, *size);
    shape.set(columns, *size);
  }
  return shape;
}

Status square_matrix_shape(InferContext& c) {
  RETURN_IF_ERROR(check_is_square(c, 0));
  c.set_shape(0, square_shape(c, 0));
  return {};
}

Result<MatrixSizes> sizes_of_matrices(const Shape& shape) {
  constexpr int64_t kMostRows = 20000;
  const int64_t count = batch_of_matrices(shape).num_elements();
  const int64_t rows = shape.size(shape.rank() - 2), columns = shape.size(shape.rank() - 1);
  if (shape.num_elements() != 0 &&
      (std::min(rows, columns) > kMostRows || rows * columns > std::numeric_limits<int>::max())) {
    return unimplemented("Matrices of shape ", shape.to_message(), ": LAPACK's smaller size is ",
                         kMostRows, " at most, and their elements are counted in 32 bits");
  }
  return MatrixSizes{count, rows, columns};
}

Status for_each_matrix(int64_t count, double operations, MatrixBody body) {
  constexpr double kOperationsOfChunk = 1 << 17;
  const int64_t grain =
      std::max<int64_t>(1, static_cast<int64_t>(kOperationsOfChunk / std::max(operations, 1.0)));
  if (count == 0) return {};
  ASSIGN_OR_RETURN(const Lapack* library, lapack());
  std::vector<Status> statuses(static_cast<size_t>((count + grain - 1) / grain));
  const FlushDenormals flush;
  for_ranges(count, grain, [&](int64_t begin, int64_t end) {
    Status& status = statuses[static_cast<size_t>(begin / grain)];
    if (!library->prepare_thread()) status = lapack_status(kLapackNoMemory, {});
    for (int64_t i = begin; i < end && status.ok(); ++i) status = body(*library, i);
  });
  for (Status& status : statuses) RETURN_IF_ERROR(status);
  return {};
}

double cost_of_cubic(const CostContext& c, double factor) {
  constexpr double kOperationsPerNanosecond = 5;
  const Shape& x = c.input(0);
  const bool is_known = x.has_rank() && x.rank() >= 2;
  return factor * guessed_elements(x) * guessed_size(is_known ? x[x.rank() - 1] : Dim::unknown()) /
         kOperationsPerNanosecond;
}

Status lapack_status(int info, std::string_view message) {
  if (info == 0) return {};
  if (info == kLapackNoMemory) {
    return Status(Code::kResourceExhausted, "LAPACK has no memory to work in");
  }
  return invalid_argument(message);
}

}  // namespace graven::engine
