#include "graven/ops/linear_algebra_ops.h"

#include <complex>

#include "graven/ir/cost.h"
#include "graven/ops/matrix_kernels.h"
#include "graven/ops/matrix_ops.h"
#include "graven/ops/testing.h"

namespace graven::engine {
namespace {

// The product of matrices i of x and j of y, of which the op sees [rows, columns].
template <typename T>
T element(const Tensor& x, int64_t matrix, int64_t row, int64_t column, bool adjoint) {
  const int64_t rows = x.shape().size(x.rank() - 2), columns = x.shape().size(x.rank() - 1);
  const T* from = x.data<T>().data() + matrix * rows * columns;
  if (!adjoint) return from[row * columns + column];
  T value = from[column * columns + row];
  if constexpr (is_complex(kDTypeOf<T>)) return std::conj(value);
  return value;
}

}  // namespace

TEST_CASE("batches of matrices are multiplied, transposed or not, and broadcast") {
  for (bool adj_x : {false, true}) {
    for (bool adj_y : {false, true}) {
      Tensor x = random_tensor(adj_x ? Shape{2, 1, 5, 4} : Shape{2, 1, 4, 5}, 1);
      Tensor y = random_tensor(adj_y ? Shape{3, 6, 5} : Shape{3, 5, 6}, 2);
      Tensor expected = *Tensor::allocate(DType::kFloat64, {2, 3, 4, 6});
      for (int64_t i = 0; i < expected.num_elements(); ++i) {
        const int64_t row = i / 6 % 4, column = i % 6, b = i / 24;
        double sum = 0;
        for (int64_t k = 0; k < 5; ++k) {
          sum += element<double>(x, b / 3, row, k, adj_x) *
                 element<double>(y, b % 3, k, column, adj_y);
        }
        expected.mutable_data<double>()[i] = sum;
      }
      check_near(run(kBatchMatMulV2, {x, y}, {.adj_x = adj_x, .adj_y = adj_y}), expected);
      // One matrix on the right.
      Tensor first = random_tensor(adj_y ? Shape{6, 5} : Shape{5, 6}, 3);
      Tensor product = run(kBatchMatMulV2, {x, first}, {.adj_x = adj_x, .adj_y = adj_y});
      CHECK(product.shape() == Shape{2, 1, 4, 6});
      for (int64_t i = 0; i < product.num_elements(); ++i) {
        double sum = 0;
        for (int64_t k = 0; k < 5; ++k) {
          sum += element<double>(x, i / 24, i / 6 % 4, k, adj_x) *
                 element<double>(first, 0, k, i % 6, adj_y);
        }
        CHECK(product.data<double>()[i] == doctest::Approx(sum));
      }
    }
  }
}

TEST_CASE("an adjoint is conjugated") {
  using C = std::complex<double>;
  Tensor x = tensor_of<C>({1, 1, 2}, {C(1, 2), C(3, -1)});
  CHECK(run(kBatchMatMul, {x, x}, {.adj_y = true}).item<C>() == C(15, 0));
  CHECK(run(kBatchMatMulV2, {x, x}, {.adj_x = true}).data<C>()[1] == C(1, -2) * C(3, -1));
}

TEST_CASE("products of nothing are zero, and products without elements empty") {
  Tensor zeros = run(kBatchMatMulV2, {random_tensor({2, 3, 0}), random_tensor({2, 0, 4})});
  CHECK(values_of<double>(zeros) == std::vector<double>(24, 0.0));
  CHECK(run(kBatchMatMulV2, {random_tensor({0, 3, 2}), random_tensor({1, 2, 4})}).shape() ==
        Shape{0, 3, 4});
}

TEST_CASE("wrong products say what is wrong") {
  Tensor x = random_tensor({2, 3, 4});
  CHECK(error_of(kMatMul, {random_tensor({2, 3}), random_tensor({2, 3})}) ==
        "[MatMul] Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]");
  CHECK(error_of(kBatchMatMulV2, {x, x}) ==
        "[BatchMatMulV2] Matrix size-incompatible: In[0]: [2,3,4], In[1]: [2,3,4]");
  CHECK(error_of(kBatchMatMulV2, {x, random_tensor({3, 4, 2})}) ==
        "[BatchMatMulV2] In[0] and In[1] must have compatible batch dimensions: [2,3,4] vs. "
        "[3,4,2]");
  CHECK(error_of(kBatchMatMul, {x, random_tensor({1, 4, 2})}) ==
        "[BatchMatMul] In[0] and In[1] must have the same batch dimensions: [2,3,4] vs. [1,4,2]");
  CHECK(error_of(kBatchMatMulV2, {x, vector_of<double>({1})})
            .starts_with("[BatchMatMulV2] In[1] ndims must be >= 2: 1"));
}

TEST_CASE("batch sizes of products stay symbolic") {
  Trace t;
  Tensor x = t.placeholder(DType::kFloat32, {Dim::unknown(), 1, 3, 4});
  Tensor y = t.placeholder(DType::kFloat32, {5, 4, Dim::unknown()});
  CHECK(t.symbols(t.emit(kBatchMatMulV2, {x, y})) == "x.0 5 3 x_1.2 ");
  t.emit(kBatchMatMulV2, {x, x});
  CHECK(t.emit.status().message().find("Dimensions must be equal, but are 4 and 3") !=
        std::string::npos);
}

TEST_CASE("a batch of matrices may have more elements than 32 bits count, one matrix may not") {
  const auto sizes = sizes_of_matrices(Shape{1 << 20, 100, 100});
  REQUIRE(sizes.ok());
  CHECK(sizes->count == 1 << 20);
  CHECK(sizes->rows == 100);
  CHECK(!sizes_of_matrices(Shape{1, 1 << 20, 1 << 12}).ok());
  CHECK(!sizes_of_matrices(Shape{30000, 30000}).ok());
  CHECK(sizes_of_matrices(Shape{int64_t{1} << 40, 3, 0})->count == int64_t{1} << 40);
}

TEST_CASE("the cost of functions of whole matrices is cubic") {
  for (const Op* op : {kMatrixInverse.op, kMatrixExponential.op, kMatrixSquareRoot.op}) {
    const auto cost = [&](int64_t n) {
      const Shape shape{n, n}, *inputs[] = {&shape};
      const AdjointAttrs attrs;
      return estimated_cost(*op, CostContext(attrs, inputs, {&shape, 1}));
    };
    CHECK(cost(200) > 7.9 * cost(100));  // beside the time of a call
    CHECK(cost(100) > 1e5);              // nanoseconds
  }
}

}  // namespace graven::engine
