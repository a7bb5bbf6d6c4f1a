// Ops that move elements, against plain loops.
#include "graven/ops/movement_ops.h"

#include <doctest/doctest.h>

#include <numeric>

#include "graven/base/thread_pool.h"
#include "graven/ir/cost.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/slice_ops.h"
#include "graven/ops/strided_copy.h"
#include "graven/ops/structural_ops.h"
#include "graven/ops/testing.h"

namespace graven::engine {
namespace {

using Ints = std::vector<int32_t>;
using Floats = std::vector<float>;

Tensor ints(const Ints& values) { return vector_of<int32_t>(values); }
Tensor number(int32_t value) { return Tensor::scalar(value); }
// 0, 1, 2, ... in a shape.
template <typename T = int32_t>
Tensor counted(const Shape& shape) {
  std::vector<T> values(static_cast<size_t>(shape.num_elements()));
  std::iota(values.begin(), values.end(), T(0));
  return tensor_of<T>(shape, values);
}
bool says(const std::string& message, const char* phrase) {
  if (message.find(phrase) != std::string::npos) return true;
  MESSAGE("the message is: " << message);
  return false;
}

}  // namespace

namespace {

void check_transpositions(const Shape& shape) {
  Ints order = {0, 1, 2, 3};
  do {
    for (DType dtype :
         {DType::kInt8, DType::kHalf, DType::kInt32, DType::kFloat64, DType::kComplex128}) {
      Tensor x = *Tensor::allocate(dtype, shape);
      auto* bytes = static_cast<uint8_t*>(x.mutable_raw_data());
      for (size_t i = 0; i < x.bytes(); ++i) bytes[i] = static_cast<uint8_t>(i * 7 + i / 251);
      Tensor y = run(kTranspose, {x, ints(order)});
      auto strides = row_major_strides(shape);
      const size_t size = dtype_size(dtype);
      int64_t at = 0;
      bool same = true;
      for (int64_t a = 0; a < y.shape().size(0); ++a) {
        for (int64_t b = 0; b < y.shape().size(1); ++b) {
          for (int64_t c = 0; c < y.shape().size(2); ++c) {
            for (int64_t d = 0; d < y.shape().size(3); ++d, ++at) {
              int64_t from = a * strides[order[0]] + b * strides[order[1]] + c * strides[order[2]] +
                             d * strides[order[3]];
              same &= std::memcmp(element_at(dtype, y.raw_data(), at),
                                  element_at(dtype, x.raw_data(), from), size) == 0;
            }
          }
        }
      }
      CHECK(same);
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

}  // namespace

TEST_CASE("a transposition moves each element to its place, for any order and element size") {
  check_transpositions({5, 33, 2, 17});
  check_transpositions({1, 70, 2, 131});  // whole tiles of the smallest elements
}

TEST_CASE("parts that lie together share the memory of a large tensor, and small ones do not") {
  Tensor x = counted({64, 1024});
  auto* first = x.data<int32_t>().data();
  CHECK(run(kSlice, {x, ints({32, 0}), ints({16, -1})}).raw_data() == first + 32 * 1024);
  Tensor row = run(kStridedSlice, {x, ints({63}), ints({64}), ints({1})}, {.shrink_axis_mask = 1});
  CHECK(row.shape() == Shape({1024}));
  CHECK(row.raw_data() == first + 63 * 1024);
  auto halves = run_all(kSplit, {number(0), x}, SplitAttrs{.num_split = 2});
  CHECK(halves[1].raw_data() == first + 32 * 1024);
  auto rows = run_all(kUnpack, {x}, UnpackAttrs{.num = 64});
  CHECK(rows[7].raw_data() == first + 7 * 1024);

  // Columns, places that are not aligned, and few elements are copied.
  Tensor columns = run(kSlice, {x, ints({0, 512}), ints({64, 512})});
  CHECK(values_of<int32_t>(columns)[512] == 1024 + 512);
  Tensor vector = counted({8192});
  Tensor rest = run(kSlice, {vector, ints({1}), ints({-1})});
  CHECK(rest.raw_data() != vector.data<int32_t>().data() + 1);
  CHECK(values_of<int32_t>(rest)[0] == 1);
  Tensor few = run(kSlice, {x, ints({32, 0}), ints({1, 16})});
  CHECK(few.raw_data() != first + 32 * 1024);
  CHECK(values_of<int32_t>(few)[15] == 32 * 1024 + 15);
  CHECK(run(kSlice, {x, ints({64, 0}), ints({0, 1024})}).shape() == Shape({0, 1024}));
}

TEST_CASE("large transpositions are the same with one thread and with several") {
  Tensor x = counted({700, 900});
  ThreadPool::shared().set_num_threads(1);
  Tensor one = run(kTranspose, {x, ints({1, 0})});
  ThreadPool::shared().set_num_threads(3);
  Tensor three = run(kTranspose, {x, ints({1, 0})});
  ThreadPool::shared().set_num_threads(0);
  CHECK(values_of<int32_t>(one) == values_of<int32_t>(three));
  CHECK(values_of<int32_t>(one)[1] == 900);
  CHECK(values_of<int32_t>(run(kTranspose, {one, ints({1, 0})})) == values_of<int32_t>(x));
  // So few rows that they are cut across.
  Tensor pairs = counted({200000, 5});
  Tensor columns = run(kTranspose, {pairs, ints({1, 0})});
  CHECK(values_of<int32_t>(columns)[400000 + 131071] == 131071 * 5 + 2);
  CHECK(values_of<int32_t>(run(kTranspose, {columns, ints({1, 0})})) == values_of<int32_t>(pairs));
}

TEST_CASE("a permutation that is none is refused, and inverted where it is one") {
  Tensor x = counted({2, 3});
  CHECK(says(error_of(kTranspose, {x, ints({0})}),
             "[Transpose] transpose expects a vector of size 2. But input(1) is a vector of size "
             "1"));
  CHECK(
      says(error_of(kTranspose, {x, ints({0, 2})}), "perm dim 2 is out of range of input rank 2"));
  CHECK(says(error_of(kTranspose, {x, ints({1, 1})}), "0 is missing from {1,1}."));
  CHECK(values_of<int32_t>(run(kInvertPermutation, {ints({2, 0, 1})})) == Ints{1, 2, 0});
  CHECK(says(error_of(kInvertPermutation, {ints({0, 0})}), "0 is duplicated"));
  CHECK(says(error_of(kInvertPermutation, {ints({0, 2})}), "2 is not between 0 and 2"));
}

TEST_CASE("stacking and unstacking along each axis undo each other") {
  Tensor x = counted({2, 3}), y = tensor_of<int32_t>({2, 3}, {10, 11, 12, 13, 14, 15});
  CHECK(values_of<int32_t>(run(kPack, {x, y}, {.axis = 1})) ==
        Ints{0, 1, 2, 10, 11, 12, 3, 4, 5, 13, 14, 15});
  for (int64_t axis = -3; axis < 3; ++axis) {
    Tensor stacked = run(kPack, {x, y}, {.axis = axis});
    Tensors parts = run_all(kUnpack, {stacked}, {.num = 2, .axis = axis});
    CHECK(values_of<int32_t>(parts[0]) == values_of<int32_t>(x));
    CHECK(values_of<int32_t>(parts[1]) == values_of<int32_t>(y));
  }
  CHECK(says(error_of(kPack, {x, ints({1})}),
             "Shapes of all inputs must match: values[0].shape = [2,3] != values[1].shape = [1]"));
  CHECK(says(error_of(kPack, {x}, {.axis = 3}), "axis = 3 not in [-3, 3)"));
}

TEST_CASE("a split into equal parts, and into given ones") {
  Tensor x = counted({2, 6});
  Tensors parts = run_all(kSplit, {number(-1), x}, {.num_split = 3});
  CHECK(values_of<int32_t>(parts[1]) == Ints{2, 3, 8, 9});
  parts = run_all(kSplitV, {x, ints({1, -1, 2}), number(1)}, {.num_split = 3});
  CHECK(parts[1].shape() == Shape({2, 3}));
  CHECK(values_of<int32_t>(parts[1]) == Ints{1, 2, 3, 7, 8, 9});
  CHECK(values_of<int32_t>(parts[2]) == Ints{4, 5, 10, 11});
  CHECK(says(error_of(kSplit, {number(0), x}, {.num_split = 3}),
             "Number of ways to split should evenly divide the split dimension"));
  CHECK(says(error_of(kSplitV, {x, ints({1, 2}), number(1)}, {.num_split = 2}), "Got: 3"));
}

TEST_CASE("strided slices read what their bounds and masks say") {
  Tensor x = counted({3, 4, 5});
  struct Row {
    Ints begin, end, strides;
    StridedSliceAttrs attrs;
    Shape shape;
    Ints expected;
  };
  const Row rows[] = {
      {{1}, {2}, {1}, {.shrink_axis_mask = 1}, {4, 5}, {}},
      {{-1, -2}, {0, 0}, {1, 1}, {.shrink_axis_mask = 3}, {5}, {50, 51, 52, 53, 54}},
      {{0, 3}, {0, 0}, {1, -2}, {.ellipsis_mask = 1, .shrink_axis_mask = 2}, {3, 4}, {}},
      {{0, 0, 4},
       {0, 0, 0},
       {1, 1, -3},
       {.begin_mask = 4, .end_mask = 4, .ellipsis_mask = 1, .new_axis_mask = 2},
       {3, 4, 1, 2},
       {4,  1,  9,  6,  14, 11, 19, 16, 24, 21, 29, 26,
        34, 31, 39, 36, 44, 41, 49, 46, 54, 51, 59, 56}},
      {{2, 1, 0}, {0, 9, 2}, {-1, 2, 1}, {}, {2, 2, 2}, {45, 46, 55, 56, 25, 26, 35, 36}},
      {{1}, {1}, {1}, {}, {0, 4, 5}, {}},
      {{-9}, {1}, {1}, {}, {1, 4, 5}, {}},
  };
  for (const Row& row : rows) {
    bool is_bad = row.attrs.shrink_axis_mask == 2;  // stride -2 on an index
    if (is_bad) {
      CHECK(says(error_of(kStridedSlice, {x, ints(row.begin), ints(row.end), ints(row.strides)},
                          row.attrs),
                 "only stride 1 allowed on non-range indexing."));
      continue;
    }
    Tensor y =
        run(kStridedSlice, {x, ints(row.begin), ints(row.end), ints(row.strides)}, row.attrs);
    CHECK(y.shape().to_text() == row.shape.to_text());
    if (!row.expected.empty()) CHECK(values_of<int32_t>(y) == row.expected);
    // What a slice reads, its gradient writes.
    Tensor back =
        run(kStridedSliceGrad,
            {ints({3, 4, 5}), ints(row.begin), ints(row.end), ints(row.strides), y}, row.attrs);
    Tensor again =
        run(kStridedSlice, {back, ints(row.begin), ints(row.end), ints(row.strides)}, row.attrs);
    CHECK(values_of<int32_t>(again) == values_of<int32_t>(y));
    auto all = values_of<int32_t>(back), kept = values_of<int32_t>(y);
    CHECK(std::accumulate(all.begin(), all.end(), 0) ==
          std::accumulate(kept.begin(), kept.end(), 0));
  }
}

TEST_CASE("a strided slice that does not fit is refused") {
  Tensor x = counted({2, 3});
  auto error = [&](const Ints& begin, const Ints& end, const Ints& strides,
                   const StridedSliceAttrs& attrs = {}) {
    return error_of(kStridedSlice, {x, ints(begin), ints(end), ints(strides)}, attrs);
  };
  CHECK(says(error({2}, {3}, {1}, {.shrink_axis_mask = 1}),
             "slice index 2 of dimension 0 out of bounds."));
  CHECK(says(error({0, 0, 0}, {1, 1, 1}, {1, 1, 1}), "input has only 2 dims"));
  CHECK(says(error({0}, {1}, {0}), "strides[0] must be non-zero"));
  CHECK(says(error({0}, {1, 2}, {1}), "1D equal size tensors"));
  CHECK(says(error({0, 0}, {1, 1}, {1, 1}, {.ellipsis_mask = 3}), "Multiple ellipses"));
}

TEST_CASE("a slice of sizes stays symbolic, and so do slices by sizes") {
  Trace t;
  Tensor x = t.placeholder(DType::kFloat32, {Dim::unknown(), Dim::unknown(), 8});
  Tensor shape = t.emit(kShape, {x});
  auto slice = [&](const Tensor& of, const Ints& begin, const Ints& end, const Ints& strides,
                   const StridedSliceAttrs& attrs) {
    return t.emit(kStridedSlice,
                  {of, t.constant(ints(begin)), t.constant(ints(end)), t.constant(ints(strides))},
                  attrs);
  };
  Tensor n = slice(shape, {0}, {1}, {1}, {.shrink_axis_mask = 1});
  Tensor target = t.emit(kPack, {n, t.constant(number(-1)), t.constant(number(4))});
  CHECK(t.symbols(t.emit(kReshape, {x, target})) == "x.0 2*x.1 4 ");
  Tensor tail = slice(shape, {1}, {0}, {1}, {.end_mask = 1});
  CHECK(t.symbols(t.emit(kFill, {tail, t.constant(Tensor::scalar(0.0f))})) == "x.1 8 ");
  CHECK(t.symbols(slice(x, {0}, {0}, {-1}, {.begin_mask = 1, .end_mask = 1})) == "x.0 x.1 8 ");
  CHECK(t.symbols(slice(x, {0, 0}, {0, 0}, {1, 2}, {.begin_mask = 3, .end_mask = 3})) ==
        "x.0 ceildiv(x.1, 2) 8 ");
  // x[1:] and x[:-1] have one size.
  CHECK(slice(x, {1}, {0}, {1}, {.end_mask = 1}).shape() ==
        slice(x, {0}, {-1}, {1}, {.begin_mask = 1}).shape());
  CHECK(t.symbols(t.emit(kRange, {t.constant(number(0)), n, t.constant(number(1))})) == "x.0 ");
  CHECK(t.symbols(t.emit(kExpandDims,
                         {t.emit(kSqueeze, {t.emit(kExpandDims, {x, t.constant(number(-1))})},
                                 {.squeeze_dims = {3}}),
                          t.constant(number(1))})) == "x.0 1 x.1 8 ");
  CHECK(t.emit.status().ok());
}

TEST_CASE("plain slices, and what they refuse") {
  Tensor x = counted({3, 4});
  CHECK(values_of<int32_t>(run(kSlice, {x, ints({1, 1}), ints({2, -1})})) ==
        Ints{5, 6, 7, 9, 10, 11});
  CHECK(says(error_of(kSlice, {x, ints({4, 0}), ints({0, 0})}),
             "Expected begin[0] in [0, 3], but got 4"));
  CHECK(says(error_of(kSlice, {x, ints({1, 0}), ints({3, 0})}),
             "Expected size[0] in [0, 2], but got 3"));
}

TEST_CASE("rows are gathered along any axis, batch by batch") {
  Tensor x = counted({2, 3, 2});
  CHECK(values_of<int32_t>(run(kGatherV2, {x, ints({1, 1, 0}), number(1)})) ==
        Ints{2, 3, 2, 3, 0, 1, 8, 9, 8, 9, 6, 7});
  Tensor batched =
      run(kGatherV2, {x, tensor_of<int32_t>({2, 2}, {2, 0, 1, 1}), number(1)}, {.batch_dims = 1});
  CHECK(batched.shape() == Shape({2, 2, 2}));
  CHECK(values_of<int32_t>(batched) == Ints{4, 5, 0, 1, 8, 9, 8, 9});
  CHECK(values_of<int32_t>(run(kGatherV2, {x, number(-0), number(-1)})) == Ints{0, 2, 4, 6, 8, 10});
  CHECK(values_of<int32_t>(run(kGatherNd, {x, tensor_of<int32_t>({2, 2}, {1, 2, 0, 0})})) ==
        Ints{10, 11, 0, 1});
}

TEST_CASE("an index out of range is told with its place") {
  Tensor x = counted<float>({1, 3});
  CHECK(says(error_of(kGatherV2, {x, ints({5}), number(0)}),
             "[GatherV2] indices[0] = 5 is not in [0, 1)"));
  CHECK(says(error_of(kGatherV2, {x, tensor_of<int32_t>({1, 2}, {0, -1}), number(1)}),
             "indices[0,1] = -1 is not in [0, 3)"));
  CHECK(says(error_of(kGatherV2, {x, number(4), number(0)}), "indices = 4 is not in [0, 1)"));
  CHECK(says(error_of(kGatherNd, {x, tensor_of<int32_t>({1, 2}, {0, 7})}),
             "indices[0] = [0, 7] does not index into shape [1,3]"));
}

TEST_CASE("updates are scattered to slices, and those of one place add up") {
  Tensor indices = tensor_of<int32_t>({3, 1}, {2, 0, 2});
  Tensor updates = tensor_of<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  CHECK(values_of<float>(run(kScatterNd, {indices, updates, ints({4, 2})})) ==
        Floats{3, 4, 0, 0, 6, 8, 0, 0});
  Tensor x = counted<float>({4, 2});
  CHECK(values_of<float>(run(kTensorScatterUpdate, {x, indices, updates})) ==
        Floats{3, 4, 2, 3, 5, 6, 6, 7});
  CHECK(values_of<float>(run(kTensorScatterAdd, {x, indices, updates})) ==
        Floats{3, 5, 2, 3, 10, 13, 6, 7});
  CHECK(values_of<float>(run(kTensorScatterSub, {x, indices, updates})) ==
        Floats{-3, -3, 2, 3, -2, -3, 6, 7});
  CHECK(values_of<float>(run(kTensorScatterMin, {x, indices, updates})) ==
        Floats{0, 1, 2, 3, 1, 2, 6, 7});
  CHECK(values_of<float>(run(kTensorScatterMax, {x, indices, updates})) ==
        Floats{3, 4, 2, 3, 5, 6, 6, 7});
  CHECK(says(error_of(kScatterNd, {indices, updates, ints({4, 3})}), "updates must have shape"));
  CHECK(says(error_of(kScatterNd, {indices, updates, ints({2, 2})}),
             "indices[0] = [2] does not index into shape [2,2]"));
}

TEST_CASE("ranges and marks") {
  CHECK(values_of<int32_t>(run(kRange, {number(7), number(0), number(-3)})) == Ints{7, 4, 1});
  CHECK(run(kRange, {Tensor::scalar(0.0f), Tensor::scalar(1.0f), Tensor::scalar(0.1f)})
            .num_elements() == 10);
  CHECK(says(error_of(kRange, {number(3), number(0), number(1)}),
             "Requires start <= limit when delta > 0: 3/0"));
  CHECK(says(error_of(kRange, {number(3), number(0), number(0)}), "Requires delta != 0: 0"));
  CHECK(values_of<float>(run(kLinSpace, {Tensor::scalar(0.0f), Tensor::scalar(1.0f), number(3)})) ==
        Floats{0, 0.5, 1});
  Tensor one = Tensor::scalar(1.0f), zero = Tensor::scalar(0.0f);
  CHECK(values_of<float>(run(kOneHot, {ints({2, -1, 0}), number(3), one, zero})) ==
        Floats{0, 0, 1, 0, 0, 0, 1, 0, 0});
  CHECK(values_of<float>(run(kOneHot, {ints({1, 0}), number(3), one, zero}, {.axis = 0})) ==
        Floats{0, 1, 1, 0, 0, 0});
}

TEST_CASE("axes of size 1 come and go without a copy") {
  Tensor x = counted<float>({2, 1, 3, 1});
  Tensor y = run(kSqueeze, {x});
  CHECK(y.shape() == Shape({2, 3}));
  CHECK(y.raw_data() == x.raw_data());
  CHECK(run(kSqueeze, {x}, {.squeeze_dims = {-1}}).shape() == Shape({2, 1, 3}));
  CHECK(run(kExpandDims, {y, number(-2)}).shape() == Shape({2, 1, 3}));
  CHECK(says(error_of(kSqueeze, {x}, {.squeeze_dims = {0}}),
             "Can not squeeze dim[0], expected a dimension of 1, got 2"));
  CHECK(says(error_of(kExpandDims, {y, number(4)}),
             "Tried to expand dim index 4 for tensor with 2 dimensions."));
}

TEST_CASE("strings move like numbers") {
  Tensor x = tensor_of<std::string>({2, 2}, {"a", "b", "c", "d"});
  using Strings = std::vector<std::string>;
  CHECK(values_of<std::string>(run(kTranspose, {x, ints({1, 0})})) == Strings{"a", "c", "b", "d"});
  CHECK(values_of<std::string>(run(kGatherV2, {x, ints({1}), number(0)})) == Strings{"c", "d"});
  CHECK(values_of<std::string>(run(kPack, {x, x}, {.axis = 2})) ==
        Strings{"a", "a", "b", "b", "c", "c", "d", "d"});
}

// Loops that take a row of a large matrix in each iteration would let other threads run each time.
TEST_CASE("a row costs what it has elements, whatever it is taken from") {
  const Shape matrix{100'000, 16}, row{16}, one{}, pair{2};
  const auto cost = [&](const Op& op, AttrsRef attrs, std::initializer_list<const Shape*> inputs) {
    return estimated_cost(op, CostContext(attrs, inputs, {&row, 1}));
  };
  CHECK(cost(*kGatherV2.op, GatherV2Attrs(), {&matrix, &one, &one}) < 1000);
  CHECK(cost(*kSlice.op, NoAttrs(), {&matrix, &pair, &pair}) < 1000);
  CHECK(cost(*kIdentity.op, NoAttrs(), {&matrix}) > 1e6);
  CHECK(cost(*kStridedSlice.op, StridedSliceAttrs(), {&matrix, &pair, &pair, &pair}) < 1000);
}

}  // namespace graven::engine
