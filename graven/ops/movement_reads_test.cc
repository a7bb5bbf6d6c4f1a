// What records say by .reads, element by element, against the ops' kernels.
#include <doctest/doctest.h>

#include <set>

#include "graven/ir/movement.h"
#include "graven/ops/elements.h"
#include "graven/ops/movement_testing.h"
#include "graven/ops/strided_copy.h"

namespace graven::engine {
namespace {

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
