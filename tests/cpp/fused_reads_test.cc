// Movements that Fusions read through: graphs before and after the pass as texts, and what they
// compute beside the same graph without it.
#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "graven/base/strings.h"
#include "graven/ir/fusion.h"
#include "graven/ir/graph.h"
#include "graven/ir/structural_ops.h"
#include "graven/ir/text.h"
#include "graven/ir/verify.h"
#include "graven/optimize/fuse.h"
#include "graven/runtime/program.h"

namespace graven::engine {
namespace {

Ref<Graph> graph_of(std::string_view text) {
  auto graph = parse_graph(text);
  REQUIRE_MESSAGE(graph.ok(), graph.status().message());
  return *graph;
}

Ref<Graph> fused_graph(std::string_view text) {
  Ref<Graph> graph = graph_of(text);
  Status status = fuse(*graph).status();
  REQUIRE_MESSAGE(status.ok(), status.message());
  Status verified = verify_graph(*graph);
  REQUIRE_MESSAGE(verified.ok(), verified.message());
  return graph;
}

std::string fused(std::string_view text) {
  const std::string after = print_graph(*fused_graph(text));
  auto read = parse_graph(after);
  return read.ok() ? print_graph(**read) : read.status().message();
}

// The lines of the Fusions' inputs and the ops that stay.
std::string summary(std::string_view text) {
  Ref<Graph> graph = fused_graph(text);
  std::string out;
  for (const Node* node : graph->nodes()) {
    if (&node->op() == kFusion.op) {
      for (const FusionParts::Input& input : node->attrs().as<FusionAttrs>().fusion->inputs()) {
        out += input.read.to_text();
      }
      out += " ";
    } else if (&node->op() != kConst.op && &node->op() != kPlaceholder.op) {
      out += node->op().name() + " ";
    }
  }
  return out;
}

TEST_CASE("a transposed operand is read where it lies, and the transposition is gone") {
  CHECK(fused(R"(graph f(x: float32[20,30], y: float32[30,20]) {
  %perm: int32[2] = [1, 0]
  %t: float32[30,20] = Transpose(x, %perm)
  %z: float32[30,20] = AddV2(%t, y)
  return %z
})") == R"(graph f(x: float32[20,30], y: float32[30,20]) {
  %perm: int32[2] = [1, 0]
  %z_1: float32[30,20] = Fusion(x, y) {Tin=[float32, float32], Tout=[float32], fusion=@fused0}
  return %z_1
}

fusion @fused0 = over [30,20] {
  x0: float32[20,30] at [i1,i0]
  x1: float32[30,20]
  %0: float32 = AddV2(x0, x1)
  return %0
}
)");
}

TEST_CASE("slices of one tensor are two reads of it, while other sizes are unknown") {
  CHECK(summary(R"(graph f(x: float32[n,64]) {
  %a: int32[2] = [0, 1]
  %b: int32[2] = [0, 0]
  %c: int32[2] = [0, -1]
  %one: int32[2] = [1, 1]
  %right: float32[n,63] = StridedSlice(x, %a, %b, %one) {begin_mask=1, end_mask=3}
  %left: float32[n,63] = StridedSlice(x, %b, %c, %one) {begin_mask=3, end_mask=1}
  %z: float32[n,63] = Sub(%right, %left)
  return %z
})") == "[i0,i1 + 1][i0,i1] ");
}

TEST_CASE("a size that no operand has follows from those that they have") {
  CHECK(fused(R"(graph f(x: float32[n,4]) {
  %a: int32[1] = [1]
  %b: int32[1] = [0]
  %c: int32[1] = [-1]
  %one: int32[1] = [1]
  %right: float32[max(1, n) - 1,4] = StridedSlice(x, %a, %b, %one) {end_mask=1}
  %left: float32[max(1, n) - 1,4] = StridedSlice(x, %b, %c, %one) {begin_mask=1}
  %z: float32[max(1, n) - 1,4] = Sub(%right, %left)
  return %z
})") == R"(graph f(x: float32[n,4]) {
  %a: int32[1] = [1]
  %b: int32[1] = [0]
  %c: int32[1] = [-1]
  %one: int32[1] = [1]
  %z_1: float32[max(1, n) - 1,4] = Fusion(x, x) {Tin=[float32, float32], Tout=[float32], fusion=@fused0}
  return %z_1
}

fusion @fused0 = over [d0,4] {
  x0: float32[d1,4] at [i0 + 1,i1]
  x1: float32[d1,4] at [i0,i1]
  %0: float32 = Sub(x0, x1)
  return %0
}
)");
}

TEST_CASE("where neither operands nor outputs tell the size of a slice, it is cut first") {
  CHECK(summary(R"(graph f(x: float32[n]) {
  %a: int32[1] = [1]
  %b: int32[1] = [0]
  %one: int32[1] = [1]
  %rest: float32[max(1, n) - 1] = StridedSlice(x, %a, %b, %one) {end_mask=1}
  %z: float32[max(1, n) - 1] = Exp(%rest)
  %all: int32[1] = [0]
  %s: float32[] = Sum(%z, %all)
  return %s
})") == "StridedSlice [i0] ");
  // Filled with as many as a size says, which may be none that there can be.
  CHECK(summary(R"(graph f(x: float32[n], y: float32[]) {
  %shape: int32[1](n) = Shape(x) {out_type=int32}
  %one: int32[] = 1
  %less: int32[1](n - 1) = Sub(%shape, %one)
  %f: float32[n - 1] = Fill(%less, y)
  %z: float32[n - 1] = Exp(%f)
  return %z
})")
            .starts_with("Shape Sub Fill "));
}

TEST_CASE("reads are composed: transposed, sliced backwards, with a new axis, broadcast") {
  CHECK(summary(R"(graph f(x: float32[4,40], y: float32[3,40,4]) {
  %perm: int32[2] = [1, 0]
  %t: float32[40,4] = Transpose(x, %perm)
  %axis: int32[1] = [1]
  %r: float32[40,4] = ReverseV2(%t, %axis)
  %at: int32[] = 0
  %e: float32[1,40,4] = ExpandDims(%r, %at)
  %shape: int32[3] = [3, 40, 4]
  %b: float32[3,40,4] = BroadcastTo(%e, %shape)
  %z: float32[3,40,4] = Mul(%b, y)
  return %z
})") == "[-1 - i2,i1][i0,i1,i2] ");
}

TEST_CASE("a reduction of rows reads through a transposition, one of columns does not") {
  const auto graph = [](const char* axis, const char* result) {
    return str_cat(R"(graph f(x: float32[50,60], y: float32[60,50]) {
  %perm: int32[2] = [1, 0]
  %t: float32[60,50] = Transpose(x, %perm)
  %p: float32[60,50] = Mul(%t, y)
  %axes: int32[] = )",
                   axis, "\n  %s: float32[", result, "] = Sum(%p, %axes)\n  return %s\n}");
  };
  CHECK(summary(graph("1", "60")) == "[i1,i0][i0,i1] ");
  CHECK(summary(graph("0", "50")) == "Transpose [i0,i1][i0,i1] ");
}

TEST_CASE("what several would have to gather, or somebody else needs, is moved once") {
  CHECK(summary(R"(graph f(x: float32[20,30], y: float32[30,20]) {
  %perm: int32[2] = [1, 0]
  %t: float32[30,20] = Transpose(x, %perm)
  %z: float32[30,20] = AddV2(%t, y)
  %zero: int32[] = 0
  %s: float32[20] = Sum(%z, %zero)
  %w: float32[30,20] = Mul(%t, %s)
  return %w
})") == "Transpose [i0,i1][i0,i1] Mul ");
  CHECK(summary(R"(graph f(x: float32[20,30], y: float32[30,20]) {
  %perm: int32[2] = [1, 0]
  %t: float32[30,20] = Transpose(x, %perm)
  %z: float32[30,20] = AddV2(%t, y)
  return %z, %t
})") == "Transpose AddV2 ");
}

TEST_CASE("rows that softmax goes over are not read through a transposition") {
  CHECK(summary(R"(graph f(x: float32[20,30], y: float32[30,20]) {
  %perm: int32[2] = [1, 0]
  %t: float32[30,20] = Transpose(x, %perm)
  %z: float32[30,20] = AddV2(%t, y)
  %p: float32[30,20] = Softmax(%z)
  return %p
})") == "Transpose [i0,i1][i0,i1] ");
}

TEST_CASE("parts of one tensor are reads of it, and the cut is gone") {
  CHECK(fused(R"(graph f(x: float32[20,60]) {
  %axis: int32[] = -1
  %s: float32[20,30], float32[20,30] = Split(%axis, x) {num_split=2}
  %g: float32[20,30] = Sigmoid(%s:1)
  %z: float32[20,30] = Mul(%s, %g)
  return %z
})") == R"(graph f(x: float32[20,60]) {
  %axis: int32[] = -1
  %z_1: float32[20,30] = Fusion(x, x) {Tin=[float32, float32], Tout=[float32], fusion=@fused0}
  return %z_1
}

fusion @fused0 = over [20,30] {
  x0: float32[20,60] at [i0,i1 + 30]
  x1: float32[20,60] at [i0,i1]
  %0: float32 = Sigmoid(x0)
  %1: float32 = Mul(x1, %0)
  return %1
}
)");
  // One part alone, of sizes that are given, or of one place.
  CHECK(summary(R"(graph f(x: float32[20,60], y: float32[20,10]) {
  %sizes: int32[2] = [50, -1]
  %axis: int32[] = 1
  %s: float32[20,50], float32[20,10] = SplitV(x, %sizes, %axis) {num_split=2}
  %z: float32[20,10] = Mul(%s:1, y)
  return %z
})") == "[i0,i1 + 50][i0,i1] ");
  CHECK(summary(R"(graph f(x: float32[2,20]) {
  %s: float32[20], float32[20] = Unpack(x) {num=2, axis=0}
  %z: float32[20] = Sub(%s, %s:1)
  return %z
})") == "[0,i0][1,i0] ");
}

TEST_CASE("parts are cut if one of them is needed elsewhere, or if they may not fit") {
  CHECK(summary(R"(graph f(x: float32[20,60]) {
  %axis: int32[] = -1
  %s: float32[20,30], float32[20,30] = Split(%axis, x) {num_split=2}
  %g: float32[20,30] = Sigmoid(%s:1)
  %z: float32[20,30] = Mul(%s, %g)
  return %z, %s
})") == "Split [i0,i1][i0,i1] ");
  CHECK(summary(R"(graph f(x: float32[n]) {
  %axis: int32[] = 0
  %s: float32[floordiv(n, 2)], float32[floordiv(n, 2)] = Split(%axis, x) {num_split=2}
  %z: float32[floordiv(n, 2)] = Mul(%s, %s:1)
  return %z
})") == "Split Mul ");
}

TEST_CASE("a view alone stays a view, and every other element stays a copy") {
  CHECK(summary(R"(graph f(x: float32[20,30], y: float32[20]) {
  %at: int32[] = 1
  %e: float32[20,1] = ExpandDims(y, %at)
  %z: float32[20,30] = AddV2(x, %e)
  return %z
})") == "ExpandDims AddV2 ");
  CHECK(summary(R"(graph f(x: float32[20,30], y: float32[20,15]) {
  %zero: int32[2] = [0, 0]
  %two: int32[2] = [1, 2]
  %h: float32[20,15] = StridedSlice(x, %zero, %zero, %two) {begin_mask=3, end_mask=3}
  %z: float32[20,15] = AddV2(%h, y)
  return %z
})") == "StridedSlice AddV2 ");
}

TEST_CASE("a text that reads beyond an operand is refused") {
  auto graph = parse_graph(R"(graph f(x: float32[4]) {
  %z: float32[4] = Fusion(x) {Tin=[float32], Tout=[float32], fusion=@fused0}
  return %z
}

fusion @fused0 = over [4] {
  x0: float32[4] at [i0 + 1]
  %0: float32 = Neg(x0)
  return %0
}
)");
  REQUIRE(!graph.ok());
  CHECK(graph.status().message().find("reads index 4 of an axis of size 4") != std::string::npos);
}

// --- Running.

Tensor random_values(DType dtype, const Shape& shape, std::mt19937& random) {
  Tensor x = *Tensor::allocate(dtype, shape);
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const float value = normal(random);
    if (dtype == DType::kFloat32) x.mutable_data<float>()[i] = value;
    if (dtype == DType::kFloat64) x.mutable_data<double>()[i] = value;
    if (dtype == DType::kInt8) x.mutable_data<int8_t>()[i] = static_cast<int8_t>(value * 20);
  }
  return x;
}

// Runs the graph with and without fusions; all outputs must have the same bits. Gives the number of
// movements that were read through.
int check_same(std::string_view text, std::span<const Tensor> inputs) {
  INFO(text);
  auto outputs_of = [&](const Ref<Graph>& graph) {
    auto program = plan_program(graph);
    REQUIRE_MESSAGE(program.ok(), program.status().message());
    Tensors outputs;
    Status status = (*program)->run(inputs, outputs);
    REQUIRE_MESSAGE(status.ok(), status.message());
    return outputs;
  };
  auto movements = [](const Graph& graph) {
    int count = 0;
    for (const Node* node : graph.nodes()) count += node->op().record().reads ? 1 : 0;
    return count;
  };
  Ref<Graph> plain = graph_of(text), fused = fused_graph(text);
  Tensors expected = outputs_of(plain), got = outputs_of(fused);
  for (size_t i = 0; i < got.size(); ++i) {
    REQUIRE(got[i].shape() == expected[i].shape());
    REQUIRE(std::memcmp(got[i].raw_data(), expected[i].raw_data(), got[i].bytes()) == 0);
  }
  return movements(*plain) - movements(*fused);
}

std::string shape_text(const Shape& shape) {
  std::string text;
  for (Dim dim : shape.dims()) text += str_cat(text.empty() ? "" : ",", dim.number());
  return text;
}

// A graph of random movements, elementwise ops and a reduction.
class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed) : random_(seed) {}

  std::string make(const char* dtype) {
    dtype_ = dtype;
    const int rank = pick(1, 3);
    for (int i = 0; i < rank; ++i) shape_.push_back(pick(1, 3) == 1 ? pick(1, 5) : pick(30, 300));
    if (rank == 1) shape_.set(0, pick(1, 3000));
    x_shape_ = shape_;
    value_ = "x";
    for (int i = pick(1, 4); i > 0; --i) move();
    const std::string other = str_cat("y: ", dtype, "[", shape_text(shape_), "]");
    y_shape_ = shape_;
    op("AddV2", value_ + ", y");
    if (pick(0, 2) == 0) {
      move();
      op("Neg", value_);
    }
    if (pick(0, 1) == 0) reduce();
    return str_cat("graph f(x: ", dtype, "[", shape_text(x_shape_), "], ", other, ") {\n", lines_,
                   "  return ", value_, "\n}");
  }
  const Shape& x_shape() const { return x_shape_; }
  const Shape& y_shape() const { return y_shape_; }

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  std::string name() { return str_cat("%v", count_++); }
  void op(std::string_view name_of_op, std::string_view inputs, std::string_view attrs = "") {
    const std::string made = name();
    lines_ += str_cat("  ", made, ": ", dtype_, "[", shape_text(shape_), "] = ", name_of_op, "(",
                      inputs, ")", attrs, "\n");
    value_ = made;
  }
  std::string constant(const std::vector<int>& numbers) {
    const std::string made = name();
    std::string list;
    for (int number : numbers) list += str_cat(list.empty() ? "" : ", ", number);
    lines_ += str_cat("  ", made, ": int32[", numbers.size(), "] = [", list, "]\n");
    return made;
  }

  void move() {
    switch (pick(0, 5)) {
      case 0:
        return transpose();
      case 5:
        return split();
      case 1:
        return slice();
      case 2:
        return reverse();
      case 3:
        return broadcast();
      default:
        return strided_slice();
    }
  }
  void transpose() {
    std::vector<int> perm;
    for (int i = 0; i < shape_.rank(); ++i) perm.push_back(i);
    std::shuffle(perm.begin(), perm.end(), random_);
    Shape shape;
    for (int axis : perm) shape.push_back(shape_[axis]);
    shape_ = shape;
    const std::string by = constant(perm);
    op("Transpose", str_cat(value_, ", ", by));
  }
  void slice() {
    std::vector<int> begin, size;
    for (int i = 0; i < shape_.rank(); ++i) {
      const int whole = static_cast<int>(shape_.size(i));
      begin.push_back(pick(0, whole / 3));
      size.push_back(pick(whole / 2, whole - begin.back()));
      shape_.set(i, size.back());
    }
    const std::string from = constant(begin), of = constant(size);
    op("Slice", str_cat(value_, ", ", from, ", ", of));
  }
  void reverse() {
    const std::string axes = constant({pick(0, shape_.rank() - 1)});
    op("ReverseV2", str_cat(value_, ", ", axes));
  }
  void broadcast() {
    if (shape_.rank() == 4) return reverse();
    shape_.insert(0, pick(1, 4));
    std::vector<int> sizes;
    for (Dim dim : shape_.dims()) sizes.push_back(static_cast<int>(dim.number()));
    const std::string to = constant(sizes);
    op("BroadcastTo", str_cat(value_, ", ", to));
  }
  // One part of two, or the sum of both.
  void split() {
    const int axis = pick(0, shape_.rank() - 1), whole = static_cast<int>(shape_.size(axis));
    if (whole % 2 != 0) return reverse();
    const std::string scalar = name();
    lines_ += str_cat("  ", scalar, ": int32[] = ", axis, "\n");
    shape_.set(axis, whole / 2);
    const std::string made = name(), type = str_cat(dtype_, "[", shape_text(shape_), "]");
    lines_ += str_cat("  ", made, ": ", type, ", ", type, " = Split(", scalar, ", ", value_,
                      ") {num_split=2}\n");
    value_ = made;
    if (pick(0, 1) == 0) return op("Sub", str_cat(made, ", ", made, ":1"));
    if (pick(0, 1) == 0) value_ += ":1";
  }
  void strided_slice() {
    std::vector<int> begin, end, strides;
    for (int i = 0; i < shape_.rank(); ++i) {
      const int whole = static_cast<int>(shape_.size(i)), step = pick(1, 2);
      const bool backwards = whole > 0 && pick(0, 2) == 0;
      begin.push_back(backwards ? -1 : 0);
      end.push_back(backwards ? -whole - 1 : whole);
      strides.push_back(backwards ? -step : step);
      shape_.set(i, (whole + step - 1) / step);
    }
    const std::string from = constant(begin), to = constant(end), by = constant(strides);
    op("StridedSlice", str_cat(value_, ", ", from, ", ", to, ", ", by));
  }
  void reduce() {
    const int axis = pick(0, shape_.rank() - 1);
    const std::string axes = constant({axis});
    shape_.erase(axis);
    op(pick(0, 1) ? "Sum" : "Max", str_cat(value_, ", ", axes));
  }

  std::mt19937 random_;
  std::string dtype_, lines_, value_;
  Shape shape_, x_shape_, y_shape_;
  int count_ = 0;
};

TEST_CASE("random chains of movements, elementwise ops and reductions keep their bits") {
  std::mt19937 random(3);
  const std::pair<DType, const char*> dtypes[] = {
      {DType::kFloat32, "float32"}, {DType::kFloat64, "float64"}, {DType::kInt8, "int8"}};
  int fused = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    const auto& [dtype, name] = dtypes[seed % 3];
    RandomGraph graph(seed);
    const std::string text = graph.make(name);
    const Tensor inputs[] = {random_values(dtype, graph.x_shape(), random),
                             random_values(dtype, graph.y_shape(), random)};
    fused += check_same(text, inputs);
  }
  CHECK(fused > 300);
}

TEST_CASE("rows of any length are gathered from a transposed operand") {
  std::mt19937 random(5);
  for (Shape shape : {Shape{33, 100}, Shape{100, 33}, Shape{2000, 70}, Shape{70, 2000},
                      Shape{15000, 9}, Shape{9, 15000}, Shape{257, 513}, Shape{5, 40, 300}}) {
    Shape turned = shape;
    std::string perm;
    for (int i = 0; i < shape.rank(); ++i) {
      const int from = shape.rank() == 2 ? 1 - i : i == 0 ? 0 : 3 - i;
      turned.set(i, shape[from]);
      perm += str_cat(i ? ", " : "", from);
    }
    Shape reduced = turned;
    reduced.erase(turned.rank() - 1);
    const std::string text =
        str_cat("graph f(x: float32[", shape_text(shape), "], y: float32[", shape_text(turned),
                "]) {\n  %perm: int32[", shape.rank(), "] = [", perm, "]\n  %t: float32[",
                shape_text(turned), "] = Transpose(x, %perm)\n  %z: float32[", shape_text(turned),
                "] = Mul(%t, y)\n");
    const std::string sum = str_cat("  %last: int32[] = -1\n  %s: float32[", shape_text(reduced),
                                    "] = Sum(%z, %last)\n");
    const Tensor inputs[] = {random_values(DType::kFloat32, shape, random),
                             random_values(DType::kFloat32, turned, random)};
    CHECK(check_same(text + "  return %z\n}", inputs) == 1);
    CHECK(check_same(text + sum + "  return %s\n}", inputs) == 1);
  }
}

TEST_CASE("sizes that slices make of one that is not known are found when it runs") {
  std::mt19937 random(13);
  const char* differences = R"(graph f(x: float32[n,m]) {
  %a: int32[1] = [1]
  %b: int32[1] = [0]
  %c: int32[1] = [-1]
  %one: int32[1] = [1]
  %right: float32[max(1, n) - 1,m] = StridedSlice(x, %a, %b, %one) {end_mask=1}
  %left: float32[max(1, n) - 1,m] = StridedSlice(x, %b, %c, %one) {begin_mask=1}
  %z: float32[max(1, n) - 1,m] = Sub(%right, %left)
  return %z
})";
  for (Shape shape : {Shape{0, 4}, Shape{1, 4}, Shape{2, 4}, Shape{5, 0}, Shape{5, 1},
                      Shape{3000, 4}, Shape{300, 501}}) {
    const Tensor inputs[] = {random_values(DType::kFloat32, shape, random)};
    CHECK(check_same(differences, inputs) == 2);
  }
}

TEST_CASE("a size that does not fit is the error of the graph without Fusions") {
  const char* text = R"(graph f(x: float32[n,4], y: float32[m,4]) {
  %axis: int32[1] = [0]
  %r: float32[n,4] = ReverseV2(x, %axis)
  %n: float32[n,4] = Neg(%r)
  %z: float32[broadcast(m, n),4] = Mul(%n, y)
  return %z
})";
  auto error_of = [&](const Ref<Graph>& graph) {
    std::mt19937 random(1);
    const Tensor inputs[] = {random_values(DType::kFloat32, {5, 4}, random),
                             random_values(DType::kFloat32, {3, 4}, random)};
    auto program = plan_program(graph);
    REQUIRE(program.ok());
    Tensors outputs;
    return std::string((*program)->run(inputs, outputs).message());
  };
  CHECK(summary(text) == "[-1 - i0,i1] Mul ");
  const std::string expected = error_of(graph_of(text));
  CHECK(!expected.empty());
  CHECK(error_of(fused_graph(text)) == expected);
}

TEST_CASE("symbolic sizes are found when it runs, for one text and many shapes") {
  std::mt19937 random(9);
  const char* text = R"(graph f(x: float32[n,m], y: float32[m,n]) {
  %perm: int32[2] = [1, 0]
  %t: float32[m,n] = Transpose(x, %perm)
  %axis: int32[1] = [1]
  %r: float32[m,n] = ReverseV2(%t, %axis)
  %z: float32[m,n] = Sub(%r, y)
  %last: int32[] = 1
  %s: float32[m] = Sum(%z, %last)
  return %s
})";
  for (Shape shape : {Shape{3, 4}, Shape{1, 1}, Shape{0, 5}, Shape{5, 0}, Shape{1, 700},
                      Shape{700, 1}, Shape{300, 500}}) {
    const Tensor inputs[] = {random_values(DType::kFloat32, shape, random),
                             random_values(DType::kFloat32, {shape[1], shape[0]}, random)};
    CHECK(check_same(text, inputs) == 2);
  }
}

TEST_CASE("an error of shapes is that of the op, for the shapes that it would have been given") {
  const char* text = R"(graph f(x: float32[n,m], y: float32[p,q]) {
  %perm: int32[2] = [1, 0]
  %t: float32[m,n] = Transpose(x, %perm)
  %z: float32[broadcast(m, p),broadcast(n, q)] = Sub(%t, y)
  return %z
})";
  CHECK(summary(text) == "[i1?,i0?][i0?,i1?] ");
  std::mt19937 random(1);
  const Tensor x = random_values(DType::kFloat32, {3, 4}, random);
  const Tensor fits[] = {x, random_values(DType::kFloat32, {4, 1}, random)};
  CHECK(check_same(text, fits) == 1);
  const Tensor inputs[] = {x, random_values(DType::kFloat32, {5, 3}, random)};
  for (bool is_fused : {false, true}) {
    auto program = plan_program(is_fused ? fused_graph(text) : graph_of(text));
    REQUIRE(program.ok());
    Tensors outputs;
    CHECK((*program)->run(inputs, outputs).message() ==
          "[Sub] Incompatible shapes: [4,3] vs. [5,3]");
  }
}

TEST_CASE("a slice by one element too many is refused when it runs, fused or not") {
  const char* text = R"(graph f(x: float32[n,8], y: float32[8], i: int32[]) {
  %zero: int32[] = 0
  %row: float32[8] = GatherV2(x, i, %zero)
  %z: float32[8] = Mul(%row, y)
  return %z
})";
  std::mt19937 random(1);
  const Tensor inputs[] = {random_values(DType::kFloat32, {3, 8}, random),
                           random_values(DType::kFloat32, {8}, random), Tensor::scalar<int32_t>(3)};
  auto program = plan_program(fused_graph(text));
  REQUIRE(program.ok());
  Tensors outputs;
  const std::string message = (*program)->run(inputs, outputs).message();
  CHECK(message == "[GatherV2] indices = 3 is not in [0, 3)");
}

}  // namespace
}  // namespace graven::engine
