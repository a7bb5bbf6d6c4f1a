#pragma once
#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "graven/ops/gather_ops.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/padding_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/slice_ops.h"
#include "graven/ops/testing.h"

// Random applications of each op that only moves elements, for tests of what `.reads` says and of
// what follows from it.
namespace graven::engine {

// One application of an op, random.
struct Sample {
  const Op* op = nullptr;
  Attrs attrs{attrs_type<NoAttrs>()};
  std::vector<Tensor> inputs;
  bool may_be_silent = false;  // .reads need not know it
};

class Samples {
 public:
  explicit Samples(uint32_t seed) : random_(seed) {}

  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool flip() { return pick(0, 1) == 1; }
  Shape shape(int least_rank, int least_size = 0) {
    Shape made;
    for (int i = pick(least_rank, 4); i > 0; --i) made.push_back(pick(least_size, 6));
    return made;
  }
  // 1, 2, 3, ... from some number on.
  Tensor counted(const Shape& shape) {
    std::vector<int32_t> values(static_cast<size_t>(shape.num_elements()));
    for (int32_t& value : values) value = ++last_;
    return tensor_of<int32_t>(shape, values);
  }
  static Tensor ints(const std::vector<int32_t>& values) { return vector_of<int32_t>(values); }
  std::vector<int32_t> order(int rank) {
    std::vector<int32_t> axes(static_cast<size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
    std::shuffle(axes.begin(), axes.end(), random_);
    return axes;
  }

 private:
  std::mt19937 random_;
  int32_t last_ = 0;
};

template <typename A>
inline Sample sample(const OpHandle<A>& op, std::vector<Tensor> inputs,
                     const std::type_identity_t<A>& attrs = {}, bool may_be_silent = false) {
  return {op.op, Attrs(AttrsRef(attrs)), std::move(inputs), may_be_silent};
}

inline Sample transpose_sample(Samples& s) {
  const Shape shape = s.shape(0);
  return sample(kTranspose, {s.counted(shape), Samples::ints(s.order(shape.rank()))});
}

inline Sample broadcast_sample(Samples& s) {
  Shape from = s.shape(0), to;
  for (int i = s.pick(0, 2); i > 0; --i) to.push_back(s.pick(0, 4));
  for (int i = 0; i < from.rank(); ++i) {
    if (s.flip()) from.set(i, 1);
    to.push_back(from[i] == Dim(1) ? Dim(s.pick(0, 4)) : from[i]);
  }
  std::vector<int32_t> sizes;
  for (Dim dim : to.dims()) sizes.push_back(static_cast<int32_t>(dim.number()));
  return sample(kBroadcastTo, {s.counted(from), Samples::ints(sizes)});
}

inline Sample fill_sample(Samples& s) {
  return sample(kFill, {Samples::ints({s.pick(0, 4), s.pick(0, 4)}), s.counted({})});
}

inline Sample reverse_sample(Samples& s) {
  const Shape shape = s.shape(1);
  std::vector<int32_t> axes = s.order(shape.rank());
  axes.resize(static_cast<size_t>(s.pick(0, shape.rank())));
  return sample(kReverseV2, {s.counted(shape), Samples::ints(axes)});
}

// Bounds of slices with all kinds of masks, and a tensor that they fit.
struct SampleBounds {
  Shape shape;
  std::vector<int32_t> begin, end, strides;
  StridedSliceAttrs attrs;
};
inline SampleBounds bounds(Samples& s, bool steps_are_one) {
  SampleBounds b;
  b.shape = s.shape(1, 1);
  for (int axis = 0; axis < b.shape.rank(); ++axis) {
    const auto size = static_cast<int32_t>(b.shape.size(axis));
    const int64_t bit = int64_t{1} << b.begin.size();
    if (s.pick(0, 5) == 0) {
      b.attrs.new_axis_mask |= bit;
      --axis;
    } else if (s.pick(0, 7) == 0 && b.attrs.ellipsis_mask == 0) {
      b.attrs.ellipsis_mask |= bit;
    } else if (s.pick(0, 4) == 0) {
      b.attrs.shrink_axis_mask |= bit;
      b.begin.push_back(s.pick(-size, size - 1));
      b.end.push_back(0);
      b.strides.push_back(1);
      continue;
    } else {
      if (s.pick(0, 3) == 0) b.attrs.begin_mask |= bit;
      if (s.pick(0, 3) == 0) b.attrs.end_mask |= bit;
    }
    b.begin.push_back(s.pick(-size - 2, size + 2));
    b.end.push_back(s.pick(-size - 2, size + 2));
    b.strides.push_back(steps_are_one ? 1 : (s.flip() ? 1 : -1) * s.pick(1, 3));
  }
  return b;
}

inline Sample strided_slice_sample(Samples& s) {
  const SampleBounds b = bounds(s, false);
  return sample(
      kStridedSlice,
      {s.counted(b.shape), Samples::ints(b.begin), Samples::ints(b.end), Samples::ints(b.strides)},
      b.attrs);
}

inline Sample strided_slice_grad_sample(Samples& s) {
  const SampleBounds b = bounds(s, s.pick(0, 3) > 0);
  const Tensor begin = Samples::ints(b.begin), end = Samples::ints(b.end),
               strides = Samples::ints(b.strides);
  const Tensor cut = run(kStridedSlice, {s.counted(b.shape), begin, end, strides}, b.attrs);
  std::vector<int32_t> sizes;
  for (Dim dim : b.shape.dims()) sizes.push_back(static_cast<int32_t>(dim.number()));
  const bool has_steps = std::ranges::any_of(b.strides, [](int32_t stride) { return stride != 1; });
  return sample(kStridedSliceGrad,
                {Samples::ints(sizes), begin, end, strides, s.counted(cut.shape())}, b.attrs,
                has_steps);
}

inline Sample slice_sample(Samples& s) {
  const Shape shape = s.shape(0);
  std::vector<int32_t> begin, size;
  for (Dim dim : shape.dims()) {
    const auto whole = static_cast<int32_t>(dim.number());
    begin.push_back(s.pick(0, whole));
    size.push_back(s.flip() ? -1 : s.pick(0, whole - begin.back()));
  }
  return sample(kSlice, {s.counted(shape), Samples::ints(begin), Samples::ints(size)});
}

inline Sample tile_sample(Samples& s) {
  const Shape shape = s.shape(0);
  std::vector<int32_t> multiples;
  for (int i = 0; i < shape.rank(); ++i) multiples.push_back(s.pick(0, 3));
  return sample(kTile, {s.counted(shape), Samples::ints(multiples)});
}

inline Tensor paddings(Samples& s, const Shape& shape, bool may_be_long, int edge) {
  std::vector<int32_t> around;
  for (int i = 0; i < 2 * shape.rank(); ++i) {
    const int most = may_be_long ? 4 : static_cast<int>(shape.size(i / 2)) - edge;
    around.push_back(s.flip() ? 0 : s.pick(0, most));
  }
  return tensor_of<int32_t>({shape.rank(), 2}, around);
}
inline Sample pad_sample(Samples& s) {
  const Shape shape = s.shape(0);
  return sample(kPad, {s.counted(shape), paddings(s, shape, true, 0)});
}
inline Sample pad_v2_sample(Samples& s) {
  const Shape shape = s.shape(0);
  return sample(kPadV2, {s.counted(shape), paddings(s, shape, true, 0), s.counted({})});
}
inline Sample mirror_pad_sample(Samples& s) {
  const Shape shape = s.shape(1, 1);
  const bool reflects = s.flip();
  return sample(kMirrorPad, {s.counted(shape), paddings(s, shape, false, reflects ? 1 : 0)},
                {.mode = reflects ? "REFLECT" : "SYMMETRIC"}, shape.rank() > 3);
}

inline Sample concat_sample(Samples& s) {
  Shape shape = s.shape(1);
  const int axis = s.pick(0, shape.rank() - 1);
  std::vector<Tensor> values;
  for (int i = s.pick(1, 4); i > 0; --i) {
    shape.set(axis, s.pick(0, 4));
    values.push_back(s.counted(shape));
  }
  values.push_back(Tensor::scalar<int32_t>(s.flip() ? axis : axis - shape.rank()));
  return sample(kConcatV2, std::move(values));
}
inline Sample pack_sample(Samples& s) {
  const Shape shape = s.shape(0);
  std::vector<Tensor> values;
  for (int i = s.pick(1, 4); i > 0; --i) values.push_back(s.counted(shape));
  return sample(kPack, std::move(values), {.axis = s.pick(-shape.rank() - 1, shape.rank())});
}

inline Sample expand_sample(Samples& s) {
  const Shape shape = s.shape(0);
  return sample(kExpandDims, {s.counted(shape),
                              Tensor::scalar<int32_t>(s.pick(-shape.rank() - 1, shape.rank()))});
}
inline Sample squeeze_sample(Samples& s) {
  Shape shape = s.shape(0, 1);
  shape.insert(s.pick(0, shape.rank()), 1);
  return sample(kSqueeze, {s.counted(shape)});
}
inline Sample reshape_sample(Samples& s) {
  const Shape shape = s.shape(0, 1);
  std::vector<int32_t> sizes;  // neighbours made one, sizes cut in two, ones put in between
  for (Dim dim : shape.dims()) {
    const auto size = static_cast<int32_t>(dim.number());
    if (!sizes.empty() && s.pick(0, 2) == 0) {
      sizes.back() *= size;
    } else if (size % 2 == 0 && s.flip()) {
      sizes.insert(sizes.end(), {size / 2, 2});
    } else {
      sizes.push_back(size);
    }
    if (s.pick(0, 4) == 0) sizes.push_back(1);
  }
  return sample(kReshape, {s.counted(shape), Samples::ints(sizes)}, {}, /*may_be_silent=*/true);
}

inline Sample roll_sample(Samples& s) {
  const Shape shape = s.shape(1, 1);
  std::vector<int32_t> shifts, axes;
  for (int i = s.pick(0, 3); i > 0; --i) {
    shifts.push_back(s.pick(-9, 9));
    axes.push_back(s.pick(0, shape.rank() - 1));
  }
  return sample(kRoll, {s.counted(shape), Samples::ints(shifts), Samples::ints(axes)});
}

inline Sample gather_v2_sample(Samples& s) {
  const Shape shape = s.shape(1, 1);
  const int axis = s.pick(0, shape.rank() - 1);
  const int size = static_cast<int>(shape.size(axis));
  const bool is_one = s.pick(0, 3) > 0;
  Tensor index = is_one ? Tensor::scalar<int32_t>(s.pick(0, size - 1)) : Samples::ints({0, 0});
  return sample(kGatherV2, {s.counted(shape), index, Tensor::scalar<int32_t>(axis)}, {}, !is_one);
}
inline Sample gather_sample(Samples& s) {
  const Shape shape = s.shape(1, 1);
  const int size = static_cast<int>(shape.size(0));
  return sample(kGather, {s.counted(shape), Tensor::scalar<int32_t>(s.pick(0, size - 1))});
}

inline Sample split_sample(Samples& s) {
  Shape shape = s.shape(1);
  const int axis = s.pick(0, shape.rank() - 1), parts = s.pick(1, 4);
  shape.set(axis, s.pick(0, 3) * parts);
  const int32_t given = s.flip() ? axis : axis - shape.rank();
  return sample(kSplit, {Tensor::scalar<int32_t>(given), s.counted(shape)}, {.num_split = parts});
}
inline Sample split_v_sample(Samples& s) {
  Shape shape = s.shape(1);
  const int axis = s.pick(0, shape.rank() - 1), parts = s.pick(1, 4);
  std::vector<int32_t> sizes;
  int32_t whole = 0;
  for (int i = 0; i < parts; ++i) whole += sizes.emplace_back(s.pick(0, 3));
  if (s.flip()) sizes[static_cast<size_t>(s.pick(0, parts - 1))] = -1;
  shape.set(axis, whole);
  return sample(kSplitV, {s.counted(shape), Samples::ints(sizes), Tensor::scalar<int32_t>(axis)},
                {.num_split = parts});
}
inline Sample unpack_sample(Samples& s) {
  const Shape shape = s.shape(1, 1);
  const int axis = s.pick(0, shape.rank() - 1);
  return sample(kUnpack, {s.counted(shape)},
                {.num = shape.size(axis), .axis = s.flip() ? axis : axis - shape.rank()});
}

inline const std::map<std::string, Sample (*)(Samples&)>& all_samples() {
  static const std::map<std::string, Sample (*)(Samples&)> all = {
      {"BroadcastTo", broadcast_sample},
      {"ConcatV2", concat_sample},
      {"ExpandDims", expand_sample},
      {"Fill", fill_sample},
      {"Gather", gather_sample},
      {"GatherV2", gather_v2_sample},
      {"MirrorPad", mirror_pad_sample},
      {"Pack", pack_sample},
      {"Pad", pad_sample},
      {"PadV2", pad_v2_sample},
      {"Reshape", reshape_sample},
      {"ReverseV2", reverse_sample},
      {"Roll", roll_sample},
      {"Slice", slice_sample},
      {"Split", split_sample},
      {"SplitV", split_v_sample},
      {"Squeeze", squeeze_sample},
      {"StridedSlice", strided_slice_sample},
      {"StridedSliceGrad", strided_slice_grad_sample},
      {"Tile", tile_sample},
      {"Transpose", transpose_sample},
      {"Unpack", unpack_sample},
  };
  return all;
}

}  // namespace graven::engine
