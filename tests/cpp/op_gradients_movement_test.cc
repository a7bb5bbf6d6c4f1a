// Gradients of ops that move elements: reshapes, joins, slices, segments and sequences.
#include <doctest/doctest.h>

#include <vector>

#include "graven/ir/structural_ops.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/padding_ops.h"
#include "graven/ops/partition_ops.h"
#include "graven/ops/segment_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/slice_ops.h"
#include "graven/ops/structural_ops.h"
#include "op_gradients.h"

namespace graven::engine {

TEST_CASE("gradients of structural ops") {
  Tensor x = random_tensor(kReals, {2, 3}, -1, 1);
  check(kAddN, {x, random_tensor(kReals, {2, 3}, -1, 1), copy(x)});
  check(kReshape, {x, ints({3, -1})});
  check(kBroadcastTo, {random_tensor(kReals, {2, 1}, -1, 1), ints({4, 2, 3})});
  check(kFill, {ints({2, 2}), random_tensor(kReals, {}, -1, 1)});
  check(kCast, {x}, {.DstT = DType::kComplex128});
  check(kCast, {random_tensor(kComplexes, {2}, -1, 1)}, {.DstT = DType::kFloat64});
  check(kEnsureShape, {x}, {.shape = Shape({2, 3})});
}

TEST_CASE("gradients of joins and cuts") {
  Tensor x = random_tensor(kReals, {2, 3}, -1, 1), y = random_tensor(kReals, {2, 3}, -1, 1);
  for (int32_t axis : {0, 1, -1}) {
    check(kConcatV2, {x, y, Tensor::scalar(axis)});
    check(kPack, {x, y}, {.axis = axis});
  }
  check(kConcatV2, {x, random_tensor(kReals, {2, 1}, -1, 1), Tensor::scalar(int32_t{1})});
  check(kUnpack, {x}, {.num = 3, .axis = 1});
  check(kSplit, {Tensor::scalar(int32_t{1}), x}, {.num_split = 3});
  check(kSplitV, {x, ints({1, 2}), Tensor::scalar(int32_t{-1})}, {.num_split = 2});
}

TEST_CASE("gradients of slices, with all masks, backwards and with new axes") {
  Tensor x = random_tensor(kReals, {3, 4, 5}, -1, 1);
  check(kSlice, {x, ints({1, 0, 2}), ints({2, -1, 3})});
  struct Row {
    std::vector<int32_t> begin, end, strides;
    StridedSliceAttrs attrs;
  };
  const Row rows[] = {
      {{1}, {3}, {1}, {}},
      {{2, 3, 4}, {0, 0, 0}, {-1, -2, -3}, {}},
      {{0, 0}, {0, 0}, {1, 2}, {.begin_mask = 3, .end_mask = 3}},
      {{0, 0}, {0, 0}, {1, -1}, {.begin_mask = 2, .end_mask = 2, .ellipsis_mask = 1}},
      {{0, 1, 0}, {0, 2, 0}, {1, 1, 1}, {.ellipsis_mask = 4, .new_axis_mask = 1}},
      {{-1, 0, 2}, {0, 0, 0}, {1, 1, 1}, {.ellipsis_mask = 2, .shrink_axis_mask = 5}},
  };
  for (const Row& row : rows) {
    Tensor begin = ints(row.begin), end = ints(row.end), strides = ints(row.strides);
    check(kStridedSlice, {x, begin, end, strides}, row.attrs);
    auto y = apply(*kStridedSlice, std::vector<Tensor>{x, begin, end, strides}, row.attrs);
    REQUIRE(y.ok());
    check(kStridedSliceGrad, {ints({3, 4, 5}), begin, end, strides, (*y)[0]}, row.attrs);
    check(kTensorStridedSliceUpdate, {x, begin, end, strides, (*y)[0]}, row.attrs);
  }
}

TEST_CASE("gradients of movements") {
  Tensor x = random_tensor(kReals, {2, 3, 4}, -1, 1);
  check(kTranspose, {x, ints({2, 0, 1})});
  check(kConjugateTranspose, {random_tensor(kComplexes, {2, 3}, -1, 1), ints({1, 0})});
  check(kSqueeze, {random_tensor(kReals, {2, 1, 2, 1}, -1, 1)}, {.squeeze_dims = {-1}});
  check(kExpandDims, {x, Tensor::scalar(int32_t{-2})});
  Tensor y = random_tensor(kReals, {2, 3}, -1, 1);
  Tensor paddings = ints({0, 1, 2, 1}).with_shape({2, 2});
  check(kPad, {y, paddings});
  for (const char* mode : {"REFLECT", "SYMMETRIC"}) {
    check(kMirrorPad, {y, paddings}, {.mode = mode});
    check(kMirrorPadGrad, {random_tensor(kReals, {3, 6}, -1, 1), paddings}, {.mode = mode});
  }
  check(kTile, {y, ints({2, 3})});
  check(kReverseV2, {y, ints({1})});
  check(kRoll, {y, ints({1, 2}), ints({1, 0})});
}

TEST_CASE("gradients of segments, partitions and sequences") {
  Tensor x = random_tensor(kReals, {4, 3}, 0.5, 1.5), z = random_tensor(kComplexes, {4}, 0.5, 1);
  const Tensor sorted = ints({0, 0, 1, 1}), ids = ints({1, 0, -1, 1}),
               two = ints({2}).with_shape({});
  for (const auto* op : {&kSegmentSum, &kSegmentMean, &kSegmentProd, &kSegmentMin, &kSegmentMax}) {
    check(*op, {x, sorted});
  }
  for (const auto* op : {&kSegmentSum, &kSegmentMean, &kSegmentProd}) check(*op, {z, sorted});
  for (const auto* op :
       {&kUnsortedSegmentSum, &kUnsortedSegmentProd, &kUnsortedSegmentMin, &kUnsortedSegmentMax}) {
    check(*op, {x, ids, two});
  }
  check(kUnsortedSegmentProd, {z, ids, two});
  check(kDynamicPartition, {x, sorted}, {.num_partitions = 2});
  for (const auto* op : {&kDynamicStitch, &kParallelDynamicStitch}) {
    check(*op, {ints({5, 2, 0, 1}), ints({4, 3, 6, 7}), x, random_tensor(kReals, {4, 3}, 0, 1)});
  }
  check(kReverseSequence, {x, ints({2, 0, 3, 1})}, {.seq_dim = 1});
}

}  // namespace graven::engine
