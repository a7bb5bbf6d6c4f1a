// What records say by .reads, element by element, against the ops' kernels.
#include <doctest/doctest.h>

#include <map>
#include <numeric>
#include <set>

#include "graven/ir/movement.h"
#include "graven/ops/elements.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/padding_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/slice_ops.h"
#include "graven/ops/strided_copy.h"
#include "graven/ops/testing.h"

namespace graven::engine {
namespace {

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
Sample sample(const OpHandle<A>& op, std::vector<Tensor> inputs,
              const std::type_identity_t<A>& attrs = {}, bool may_be_silent = false) {
  return {op.op, Attrs(AttrsRef(attrs)), std::move(inputs), may_be_silent};
}

Sample transpose_sample(Samples& s) {
  const Shape shape = s.shape(0);
  return sample(kTranspose, {s.counted(shape), Samples::ints(s.order(shape.rank()))});
}

Sample broadcast_sample(Samples& s) {
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

Sample fill_sample(Samples& s) {
  return sample(kFill, {Samples::ints({s.pick(0, 4), s.pick(0, 4)}), s.counted({})});
}

Sample reverse_sample(Samples& s) {
  const Shape shape = s.shape(1);
  std::vector<int32_t> axes = s.order(shape.rank());
  axes.resize(static_cast<size_t>(s.pick(0, shape.rank())));
  return sample(kReverseV2, {s.counted(shape), Samples::ints(axes)});
}

// Bounds of slices with all kinds of masks, and a tensor that they fit.
struct Bounds {
  Shape shape;
  std::vector<int32_t> begin, end, strides;
  StridedSliceAttrs attrs;
};
Bounds bounds(Samples& s, bool steps_are_one) {
  Bounds b;
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

Sample strided_slice_sample(Samples& s) {
  const Bounds b = bounds(s, false);
  return sample(
      kStridedSlice,
      {s.counted(b.shape), Samples::ints(b.begin), Samples::ints(b.end), Samples::ints(b.strides)},
      b.attrs);
}

Sample strided_slice_grad_sample(Samples& s) {
  const Bounds b = bounds(s, s.pick(0, 3) > 0);
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

Sample slice_sample(Samples& s) {
  const Shape shape = s.shape(0);
  std::vector<int32_t> begin, size;
  for (Dim dim : shape.dims()) {
    const auto whole = static_cast<int32_t>(dim.number());
    begin.push_back(s.pick(0, whole));
    size.push_back(s.flip() ? -1 : s.pick(0, whole - begin.back()));
  }
  return sample(kSlice, {s.counted(shape), Samples::ints(begin), Samples::ints(size)});
}

Sample tile_sample(Samples& s) {
  const Shape shape = s.shape(0);
  std::vector<int32_t> multiples;
  for (int i = 0; i < shape.rank(); ++i) multiples.push_back(s.pick(0, 3));
  return sample(kTile, {s.counted(shape), Samples::ints(multiples)});
}

Tensor paddings(Samples& s, const Shape& shape, bool may_be_long, int edge) {
  std::vector<int32_t> around;
  for (int i = 0; i < 2 * shape.rank(); ++i) {
    const int most = may_be_long ? 4 : static_cast<int>(shape.size(i / 2)) - edge;
    around.push_back(s.flip() ? 0 : s.pick(0, most));
  }
  return tensor_of<int32_t>({shape.rank(), 2}, around);
}
Sample pad_sample(Samples& s) {
  const Shape shape = s.shape(0);
  return sample(kPad, {s.counted(shape), paddings(s, shape, true, 0)});
}
Sample pad_v2_sample(Samples& s) {
  const Shape shape = s.shape(0);
  return sample(kPadV2, {s.counted(shape), paddings(s, shape, true, 0), s.counted({})});
}
Sample mirror_pad_sample(Samples& s) {
  const Shape shape = s.shape(1, 1);
  const bool reflects = s.flip();
  return sample(kMirrorPad, {s.counted(shape), paddings(s, shape, false, reflects ? 1 : 0)},
                {.mode = reflects ? "REFLECT" : "SYMMETRIC"}, shape.rank() > 3);
}

Sample concat_sample(Samples& s) {
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
Sample pack_sample(Samples& s) {
  const Shape shape = s.shape(0);
  std::vector<Tensor> values;
  for (int i = s.pick(1, 4); i > 0; --i) values.push_back(s.counted(shape));
  return sample(kPack, std::move(values), {.axis = s.pick(-shape.rank() - 1, shape.rank())});
}

Sample expand_sample(Samples& s) {
  const Shape shape = s.shape(0);
  return sample(kExpandDims, {s.counted(shape),
                              Tensor::scalar<int32_t>(s.pick(-shape.rank() - 1, shape.rank()))});
}
Sample squeeze_sample(Samples& s) {
  Shape shape = s.shape(0, 1);
  shape.insert(s.pick(0, shape.rank()), 1);
  return sample(kSqueeze, {s.counted(shape)});
}
Sample reshape_sample(Samples& s) {
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

Sample roll_sample(Samples& s) {
  const Shape shape = s.shape(1, 1);
  std::vector<int32_t> shifts, axes;
  for (int i = s.pick(0, 3); i > 0; --i) {
    shifts.push_back(s.pick(-9, 9));
    axes.push_back(s.pick(0, shape.rank() - 1));
  }
  return sample(kRoll, {s.counted(shape), Samples::ints(shifts), Samples::ints(axes)});
}

Sample gather_v2_sample(Samples& s) {
  const Shape shape = s.shape(1, 1);
  const int axis = s.pick(0, shape.rank() - 1);
  const int size = static_cast<int>(shape.size(axis));
  const bool is_one = s.pick(0, 3) > 0;
  Tensor index = is_one ? Tensor::scalar<int32_t>(s.pick(0, size - 1)) : Samples::ints({0, 0});
  return sample(kGatherV2, {s.counted(shape), index, Tensor::scalar<int32_t>(axis)}, {}, !is_one);
}
Sample gather_sample(Samples& s) {
  const Shape shape = s.shape(1, 1);
  const int size = static_cast<int>(shape.size(0));
  return sample(kGather, {s.counted(shape), Tensor::scalar<int32_t>(s.pick(0, size - 1))});
}

Sample split_sample(Samples& s) {
  Shape shape = s.shape(1);
  const int axis = s.pick(0, shape.rank() - 1), parts = s.pick(1, 4);
  shape.set(axis, s.pick(0, 3) * parts);
  const int32_t given = s.flip() ? axis : axis - shape.rank();
  return sample(kSplit, {Tensor::scalar<int32_t>(given), s.counted(shape)}, {.num_split = parts});
}
Sample split_v_sample(Samples& s) {
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
Sample unpack_sample(Samples& s) {
  const Shape shape = s.shape(1, 1);
  const int axis = s.pick(0, shape.rank() - 1);
  return sample(kUnpack, {s.counted(shape)},
                {.num = shape.size(axis), .axis = s.flip() ? axis : axis - shape.rank()});
}

const std::map<std::string, Sample (*)(Samples&)>& all_samples() {
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

// --- The movement, element by element.

// The element of an input that a piece shows at indices from its own start, by its number.
int64_t place_of(const Movement::Piece& piece, const Sample& sample,
                 const std::vector<int64_t>& index) {
  const Shape& shape = sample.inputs[piece.input].shape();
  REQUIRE(static_cast<int>(piece.read.axes.size()) == shape.rank());
  int64_t place = 0;
  for (int k = 0; k < shape.rank(); ++k) {
    const Read::Axis& axis = piece.read.axes[k];
    int64_t at = axis.offset.number();
    for (const Read::Term& term : axis.terms) {
      at += term.coefficient.number() * index[term.index];
    }
    if (axis.backwards) at = shape.size(k) - 1 - at;
    if (axis.broadcasts && shape.size(k) == 1) at = 0;
    for (const auto& offset : piece.offsets) {
      if (offset.axis != k) continue;
      const int64_t given = integer_at(sample.inputs[offset.input], offset.element);
      at += given + (given < 0 && offset.counts_from_end ? shape.size(k) : 0);
    }
    REQUIRE(at >= 0);
    REQUIRE(at < shape.size(k));
    place = place * shape.size(k) + at;
  }
  return place;
}

std::vector<int32_t> moved(const Movement& movement, const Sample& sample, const Shape& output) {
  // The split axes make up the output.
  int at = 0;
  for (int axis = 0; axis < output.rank(); ++axis) {
    int64_t size = 1;
    for (int i = movement.indices_of_axis(axis); i > 0; --i) size *= movement.space.size(at++);
    REQUIRE(size == output.size(axis));
  }
  REQUIRE(at == movement.space.rank());
  std::vector<int32_t> result;
  const auto strides = row_major_strides(movement.space);
  for (int64_t element = 0; element < output.num_elements(); ++element) {
    int found = 0;
    int32_t value = 0;
    if (movement.fill >= 0) value = sample.inputs[movement.fill].data<int32_t>()[0];
    for (const Movement::Piece& piece : movement.pieces) {
      std::vector<int64_t> index;
      bool is_inside = true;
      for (int i = 0; i < movement.space.rank(); ++i) {
        int64_t place = element / strides[i] % movement.space.size(i);
        if (!piece.start.empty()) {
          place -= piece.start[i].number();
          is_inside &= place >= 0 && place < piece.size[i].number();
        }
        index.push_back(place);
      }
      if (!is_inside) continue;
      ++found;
      value = sample.inputs[piece.input].data<int32_t>()[place_of(piece, sample, index)];
    }
    // Pieces do not overlap, and leave nothing out unless it is filled.
    REQUIRE(found <= 1);
    REQUIRE((found == 1 || movement.fill != Movement::kNothing));
    result.push_back(value);
  }
  return result;
}

}  // namespace

TEST_CASE("each record with .reads has samples here") {
  std::set<std::string> with_reads, sampled;
  for (const auto& op : OpRegistry::global().ops()) {
    if (op->record().reads) with_reads.insert(op->name());
  }
  for (const auto& [name, make] : all_samples()) sampled.insert(name);
  CHECK(with_reads == sampled);
}

TEST_CASE("what .reads says of random shapes and attributes is what the kernel does") {
  for (const auto& [name, make] : all_samples()) {
    Samples samples(11);
    int known = 0;
    for (int i = 0; i < 300; ++i) {
      const Sample sample = make(samples);
      CAPTURE(name);
      CAPTURE(i);
      auto outputs = eager_builder().apply(*sample.op, sample.inputs, sample.attrs);
      REQUIRE_MESSAGE(outputs.ok(), outputs.status().message());
      for (size_t o = 0; o < outputs->size(); ++o) {
        const Tensor& output = (*outputs)[o];
        auto movement = movement_of(*sample.op, sample.attrs, sample.inputs, output.shape(),
                                    static_cast<int>(o));
        if (!movement) {
          REQUIRE(sample.may_be_silent);
          continue;
        }
        ++known;
        REQUIRE(moved(*movement, sample, output.shape()) == values_of<int32_t>(output));
      }
    }
    CHECK_MESSAGE(known > 60, name);
  }
}

TEST_CASE("an index that is found when it runs is an offset with the op's error") {
  Trace trace;
  Tensor x = trace.placeholder(DType::kFloat32, {Dim::unknown(), 4});
  Tensor i = trace.placeholder(DType::kInt32, {});
  Tensor row = trace.emit(kGatherV2, {x, i, trace.constant(Tensor::scalar<int32_t>(0))});
  auto movement = movement_of(symbolic(row).node(), 0, *trace.graph);
  REQUIRE(movement);
  CHECK(!movement->is_one_read());
  const Movement::Piece& piece = movement->pieces[0];
  CHECK(piece.read.to_text() == "[0,i0]");
  REQUIRE(piece.offsets.size() == 1);
  CHECK(piece.offsets[0].input == 1);
  CHECK(piece.offsets[0].refuse(7, 0, 5, 1).message() == "indices = 7 is not in [0, 5)");
}

TEST_CASE("reads of symbolic sizes are said in the graph's Dims") {
  Trace trace;
  Tensor x = trace.placeholder(DType::kFloat32, {Dim::unknown(), 6});
  auto text_of = [&](const Tensor& y) {
    auto movement = movement_of(symbolic(y).node(), 0, *trace.graph);
    return movement && movement->is_one_read() ? movement->pieces[0].read.to_text() : "none";
  };
  auto cut = [&](int32_t begin, int32_t end, int32_t stride, int64_t begin_mask) {
    auto bound = [&](int32_t value) { return trace.constant(vector_of<int32_t>({value})); };
    return trace.emit(kStridedSlice, {x, bound(begin), bound(end), bound(stride)},
                      {.begin_mask = begin_mask, .end_mask = 1});
  };
  CHECK(text_of(cut(2, 0, 1, 0)) == "[i0 + 2,i1]");
  CHECK(text_of(cut(0, 0, -1, 1)) == "[-1 - i0,i1]");
  CHECK(text_of(cut(-3, 0, -2, 0)) == "[-3 - 2*i0,i1]");
  // From which element on depends on the size.
  CHECK(text_of(cut(-3, 0, 1, 0)) == "none");
  CHECK(text_of(cut(3, 0, -1, 0)) == "none");
}

TEST_CASE("parts of a size that is not known are reads if they make up the whole for certain") {
  Trace trace;
  Tensor x = trace.placeholder(DType::kFloat32, {Dim::unknown(), 6});
  auto texts_of = [&](const Tensors& parts) {
    std::string texts;
    for (const Tensor& part : parts) {
      const OutputRef output = symbolic(part).output();
      auto movement = movement_of(*output.node, output.index, *trace.graph);
      texts += movement ? movement->pieces[0].read.to_text() : "none";
    }
    return texts;
  };
  auto axis = [&](int32_t number) { return trace.constant(Tensor::scalar<int32_t>(number)); };
  const SplitAttrs two = {.num_split = 2};
  auto split = [&](int32_t along) {
    const Tensor inputs[] = {axis(along), x};
    return texts_of(trace.emit.apply(*kSplit, inputs, two));
  };
  auto split_v = [&](int32_t along) {
    const Tensor sizes = trace.constant(vector_of<int32_t>({2, -1}));
    const Tensor inputs[] = {x, sizes, axis(along)};
    return texts_of(trace.emit.apply(*kSplitV, inputs, two));
  };
  CHECK(split(1) == "[i0,i1][i0,i1 + 3]");
  CHECK(split(0) == "nonenone");
  CHECK(split_v(1) == "[i0,i1][i0,i1 + 2]");
  CHECK(split_v(0) == "nonenone");
  const UnpackAttrs rows = {.num = 2, .axis = 0};
  CHECK(texts_of(trace.emit.apply(*kUnpack, {&x, 1}, rows)) == "nonenone");
}

}  // namespace graven::engine
