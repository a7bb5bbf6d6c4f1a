#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "graven/base/function_ref.h"
#include "graven/base/status.h"
#include "graven/ir/cost.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/kernels/lapack.h"
#include "graven/kernels/scratch.h"
#include "graven/kernels/scratch_block.h"
#include "graven/tensor/dtype.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// Helpers of ops on batches of matrices, the last two axes of a tensor, over LAPACK.

inline constexpr DTypeSet kMatrixTypes = {DType::kFloat32, DType::kFloat64, DType::kComplex64,
                                          DType::kComplex128};

// --- Shape rules.

// The shape without the last two axes; the rank is known and 2 or more.
inline Shape batch_of_matrices(const Shape& shape) {
  return Shape(shape.dims().first(static_cast<size_t>(shape.rank() - 2)));
}
// An error if an input is known to have no matrices.
Status check_is_matrix(const InferContext& c, int input);
// The same, or if they are known not to be square.
Status check_is_square(const InferContext& c, int input,
                       std::string_view message = "Input matrix must be square.");
// The shape of an input that is square: what one of the two sizes tells is true of the other.
Shape square_shape(const InferContext& c, int input);
Status square_matrix_shape(InferContext& c);  // output 0 is like input 0

// --- Kernels.

struct MatrixSizes {
  int64_t count = 0, rows = 0, columns = 0;
  int m() const { return static_cast<int>(rows); }
  int n() const { return static_cast<int>(columns); }
};
// An error for matrices whose workspace LAPACK cannot count in 32 bits; a batch may be larger.
Result<MatrixSizes> sizes_of_matrices(const Shape& shape);
inline Result<MatrixSizes> sizes_of_matrices(const Tensor& x) {
  return sizes_of_matrices(x.shape());
}

using MatrixBody = FunctionRef<Status(const Lapack& library, int64_t i)>;
// Calls body(LAPACK, i) for each matrix of a batch, on the pool, many in one chunk where
// `operations`, the arithmetic of one, is little. Returns the error of the first matrix that has
// one.
Status for_each_matrix(int64_t count, double operations, MatrixBody body);

// The cost of `factor` operations for each element and column of input 0.
double cost_of_cubic(const CostContext& c, double factor);
template <int factor>
double cubic_cost(const CostContext& c) {
  return cost_of_cubic(c, factor);
}

// The error for the status of a routine of LAPACK; `message` if there is no result.
Status lapack_status(int info, std::string_view message);

// Calls f with a zero of the dtype, which is one of kMatrixTypes, or half.
template <typename F>
auto visit_matrix_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kFloat64:
      return f(double{});
    case DType::kComplex64:
      return f(std::complex<float>{});
    case DType::kComplex128:
      return f(std::complex<double>{});
    default:
      return f(float{});
  }
}

template <typename T>
T conjugate(T x) {
  if constexpr (std::is_same_v<T, RealOf<T>>) {
    return x;
  } else {
    return std::conj(x);
  }
}
template <typename T>
bool is_finite(T x) {
  return std::isfinite(std::real(x)) && std::isfinite(std::imag(x));
}
template <typename T>
bool are_finite(const T* x, int64_t n) {
  return std::all_of(x, x + n, is_finite<T>);
}
template <typename T>
T not_a_number() {
  return T(std::numeric_limits<RealOf<T>>::quiet_NaN());
}

template <typename T>
bool any_nan(const T* x, int64_t n) {
  return std::any_of(
      x, x + n, [](T each) { return std::isnan(std::real(each)) || std::isnan(std::imag(each)); });
}

// to[j, i] = from[i, j]: a row-major matrix of rows and columns becomes column-major, or, with the
// sizes exchanged, the other way round.
template <typename T, typename F>
void transpose_matrix(const T* from, int64_t rows, int64_t columns, T* to, F&& change) {
  constexpr int64_t kTile = 16;
  for (int64_t i0 = 0; i0 < rows; i0 += kTile) {
    const int64_t i1 = std::min(rows, i0 + kTile);
    for (int64_t j0 = 0; j0 < columns; j0 += kTile) {
      const int64_t j1 = std::min(columns, j0 + kTile);
      for (int64_t j = j0; j < j1; ++j) {
        for (int64_t i = i0; i < i1; ++i) to[j * rows + i] = change(from[i * columns + j]);
      }
    }
  }
}
template <typename T>
void transpose_matrix(const T* from, int64_t rows, int64_t columns, T* to) {
  transpose_matrix(from, rows, columns, to, [](T x) { return x; });
}

// Memory for elements of one type while one matrix is worked on.
template <typename T>
class MatrixScratch {
 public:
  explicit MatrixScratch(int64_t n) : bytes_(bytes_of(n)), block_(bytes_) {}
  Status status() const { return block_.get() ? Status() : out_of_scratch(bytes_); }
  T* get() const { return static_cast<T*>(block_.get()); }
  T& operator[](int64_t i) const { return get()[i]; }

 private:
  static size_t bytes_of(int64_t n) {
    return static_cast<size_t>(std::max<int64_t>(n, 1)) * sizeof(T);
  }
  size_t bytes_;
  ScratchBlock block_;
};

}  // namespace graven::engine
