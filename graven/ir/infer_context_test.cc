#include "graven/ir/infer_context.h"

#include <doctest/doctest.h>

#include "graven/ir/graph_builder.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/reduction_ops.h"

namespace graven::engine {
namespace {

// A context over AddV2 and a symbol table of its own.
struct Context {
  explicit Context(bool is_graph = true)
      : context(*kAddV2, NoAttrs(), {}, types, 0, is_graph ? &symbols : nullptr) {}
  SymbolTable symbols;
  TypeBindings types = {DType::kFloat32};
  InferContext context;
};

TEST_CASE("shapes broadcast, symbols too") {
  Context c;
  Dim n = c.symbols.new_symbol("n"), m = c.symbols.new_symbol("m");
  auto broadcast = [&](const Shape& a, const Shape& b) {
    auto ab = c.context.broadcast(a, b), ba = c.context.broadcast(b, a);
    REQUIRE(ab.ok());
    CHECK(*ab == *ba);
    return *ab;
  };
  CHECK(broadcast({n, 3}, {3}) == Shape{n, 3});
  CHECK(broadcast({n}, {1}) == Shape{n});
  CHECK(broadcast({n}, {n}) == Shape{n});
  CHECK(broadcast({n}, {5}) == Shape{5});
  CHECK(broadcast({}, {n, m}) == Shape{n, m});
  CHECK(c.symbols.to_text(broadcast({n}, {m})[0]) == "broadcast(m, n)");
  CHECK(!broadcast(Shape::unknown_rank(), {2}).has_rank());
  CHECK(c.context.broadcast({2}, {3}).status().message() == "Incompatible shapes: [2] vs. [3]");
}

TEST_CASE("arithmetic on dims gives numbers where it can, else terms, eagerly unknown") {
  Context c, eager(false);
  Dim n = c.symbols.new_symbol("n");
  CHECK(c.context.add(2, 3) == Dim(5));
  CHECK(c.context.subtract(c.context.add(n, 3), n) == Dim(3));
  CHECK(c.context.floor_div(7, 2) == Dim(3));
  CHECK(c.context.ceil_div(7, 2) == Dim(4));
  CHECK(c.context.max(7, 2) == Dim(7));
  CHECK(c.symbols.to_text(c.context.multiply(n, n)) == "n*n");
  CHECK(eager.context.add(2, 3) == Dim(5));
  CHECK(eager.context.add(2, Dim::unknown()).is_unknown());
  CHECK(eager.context.subtract(2, 3).is_unknown());
  CHECK(eager.context.new_symbol("s").is_unknown());
}

TEST_CASE("two sayings of one size are merged, or contradict") {
  Context c;
  Dim n = c.symbols.new_symbol("n");
  CHECK(*c.context.merge(n, 4) == Dim(4));
  CHECK(*c.context.merge(4, n) == Dim(4));
  CHECK(*c.context.merge(Dim::unknown(), n) == n);
  CHECK(c.context.merge(3, 4).status().message() == "Dimensions must be equal, but are 3 and 4");
}

TEST_CASE("axes count from both ends, and must be in range") {
  CHECK(*normalized_axis(-1, 3) == 2);
  CHECK(normalized_axis(3, 3).status().message() == "axis 3 is out of valid range [-3, 3)");
  int64_t axes[] = {0, -2};
  auto normal = normalized_axes(Tensor::vector<int64_t>(axes), 4);
  REQUIRE(normal.ok());
  CHECK(((*normal)[0] == 0 && (*normal)[1] == 2));
}

TEST_CASE("a reduction keeps what it does not reduce") {
  GraphBuilder builder(make_ref<Graph>("f"));
  Tensor x = builder.add_placeholder(DType::kFloat32, Shape{Dim::unknown(), 3}, "x");
  Tensor axes = builder.add_placeholder(DType::kInt32, Shape{1}, "axes");
  auto reduced = [&](const Tensor& along, bool keep_dims) {
    auto y = builder.apply(*kSum, std::vector{x, along}, ReductionAttrs{keep_dims});
    return y.ok() ? (*y)[0].shape().to_message() : y.status().message();
  };
  auto vector = [](std::vector<int32_t> axes) { return Tensor::vector<int32_t>(axes); };
  CHECK(reduced(vector({0}), false) == "[3]");
  CHECK(reduced(vector({-1}), true) == "[?,1]");
  CHECK(reduced(vector({}), false) == "[?,3]");
  CHECK(reduced(axes, false) == "<unknown>");
  CHECK(reduced(axes, true) == "[?,?]");
  CHECK(reduced(vector({2}), false) ==
        "[Sum] Invalid reduction dimension: axis 2 is out of valid range [-2, 2)");
  CHECK(reduced(vector({0, -2}), false) ==
        "[Sum] Invalid reduction arguments: Axes contains duplicate dimension: 0");
}

TEST_CASE("sizes go from Shape to Reshape, and are values where they are numbers") {
  GraphBuilder builder(make_ref<Graph>("f"));
  Tensor x = builder.add_placeholder(DType::kFloat32, Shape{Dim::unknown(), 3}, "x");
  Tensor y = builder.add_placeholder(DType::kFloat32, Shape::unknown_rank(), "y");
  Tensor shape = (*builder.apply(*kShape, std::vector{x}, ShapeAttrs{}))[0];
  Tensor z = (*builder.apply(*kReshape, std::vector{y, shape}, NoAttrs()))[0];
  CHECK(z.shape() == x.shape());

  Tensor known = builder.add_placeholder(DType::kFloat32, Shape{2, 3}, "known");
  Tensor sizes = (*builder.apply(*kShape, std::vector{known}, ShapeAttrs{}))[0];
  TypeBindings types = {DType::kFloat32};
  std::vector inputs = {sizes, shape, y, Tensor::scalar(-1)};
  InferContext c(*kAddV2, NoAttrs(), inputs, types, 0, &builder.graph()->symbols());
  REQUIRE(c.value(0));
  CHECK((c.value(0).data<int32_t>()[0] == 2 && c.value(0).data<int32_t>()[1] == 3));
  CHECK(!c.value(1));
  CHECK((*c.sizes(1))[0] == x.shape()[0]);
  CHECK(!c.sizes(2));
  CHECK((*c.sizes(3))[0].is_unknown());
}

}  // namespace
}  // namespace graven::engine
