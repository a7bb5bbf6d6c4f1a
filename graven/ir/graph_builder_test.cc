#include "graven/ir/graph_builder.h"

#include <doctest/doctest.h>

#include <memory>
#include <optional>

#include "graven/ir/frame.h"
#include "graven/ir/structural_ops.h"
#include "graven/ir/text.h"
#include "graven/ir/verify.h"
#include "graven/ops/math_ops.h"

namespace graven::engine {
namespace {

Tensor apply(GraphBuilder& builder, const Op& op, std::vector<Tensor> inputs,
             AttrsRef attrs = NoAttrs(), std::string_view name = {}) {
  auto outputs = builder.apply(op, inputs, attrs, name);
  REQUIRE_MESSAGE(outputs.ok(), outputs.status().message());
  return outputs->empty() ? Tensor() : (*outputs)[0];
}

TEST_CASE("a captured tensor becomes an input once: a constant if it is small") {
  GraphBuilder builder(make_ref<Graph>("f"));
  Tensor x = builder.add_placeholder(DType::kFloat32, Shape{3}, "x");
  Tensor small = Tensor::scalar(2.0f);
  Tensor large = *Tensor::allocate(DType::kFloat32, Shape{129});
  apply(builder, *kMul, {x, small}, NoAttrs(), "m");
  apply(builder, *kMul, {x, small}, NoAttrs(), "m");
  apply(builder, *kNeg, {large}, NoAttrs(), "n");
  CHECK(print_graph(*builder.graph()) ==
        "graph f(x: float32[3], m/y: float32[] = 2, n/x: float32[129]) {\n"
        "  %m: float32[3] = Mul(x, m/y)\n"
        "  %m_1: float32[3] = Mul(x, m/y)\n"
        "  %n: float32[129] = Neg(n/x)\n"
        "}\n");
  REQUIRE(builder.captures().size() == 2);
  CHECK(builder.captures()[0].external == small);
  CHECK(builder.captures()[1].external == large);
  CHECK(verify_graph(*builder.graph()).ok());
}

TEST_CASE("a captured constant waits for nothing") {
  GraphBuilder builder(make_ref<Graph>("f"));
  apply(builder, *kNoOp, {}, NoAttrs(), "before");
  builder.control_inputs = {builder.graph()->find("before")};
  apply(builder, *kNeg, {Tensor::scalar(1.0f)}, NoAttrs(), "n");
  CHECK(builder.graph()->find("n/x")->control_inputs().empty());
  CHECK(builder.graph()->find("n")->control_inputs().size() == 1);
  CHECK(verify_graph(*builder.graph()).ok());
}

TEST_CASE("a tensor of an outer graph is captured, one of an inner graph is out of scope") {
  GraphBuilder outer(make_ref<Graph>("outer")), inner(make_ref<Graph>("inner"));
  inner.graph()->set_outer(outer.graph());
  Tensor x = outer.add_placeholder(DType::kFloat32, Shape{Dim::unknown()}, "x");
  Tensor y = apply(inner, *kNeg, {x}, NoAttrs(), "n");
  CHECK(print_graph(*inner.graph()) ==
        "graph inner(n/x: float32[x.0]) {\n  %n: float32[x.0] = Neg(n/x)\n}\n");
  auto leaked = outer.apply(*kNeg, std::vector{y}, NoAttrs());
  REQUIRE(!leaked.ok());
  CHECK(leaked.status().kind() == ErrorKind::kInaccessibleTensorError);
  CHECK(leaked.status().message().find("is out of scope and cannot be used here") !=
        std::string::npos);
}

TEST_CASE("what is bound to a capture is used for it") {
  GraphBuilder builder(make_ref<Graph>("f"));
  Tensor x = builder.add_placeholder(DType::kFloat32, Shape{}, "x");
  Tensor external = Tensor::scalar(1.0f);
  builder.bind_capture(external, x);
  Tensor y = apply(builder, *kNeg, {external});
  CHECK(symbolic(y).node().inputs()[0] == symbolic(x).output());
}

TEST_CASE("errors of shapes are ValueErrors that name the op, and add no node") {
  GraphBuilder builder(make_ref<Graph>("f"));
  Tensor x = builder.add_placeholder(DType::kFloat32, Shape{2}, "x");
  Tensor y = builder.add_placeholder(DType::kFloat32, Shape{3}, "y");
  auto sum = builder.apply(*kAddV2, std::vector{x, y}, NoAttrs());
  CHECK(sum.status().message() == "[AddV2] Incompatible shapes: [2] vs. [3]");
  CHECK(sum.status().kind() == ErrorKind::kValueError);
  CHECK(builder.graph()->nodes().size() == 2);
}

TEST_CASE("a composite with inference stays a node") {
  GraphBuilder builder(make_ref<Graph>("f"));
  Tensor x = builder.add_placeholder(DType::kFloat32, Shape{2}, "x");
  CHECK(&symbolic(apply(builder, *kSquare, {x})).node().op() == kSquare.op);
}

TEST_CASE("name scopes are unique, nest, are entered again, and end") {
  GraphBuilder builder(make_ref<Graph>("f"));
  Frame frame(&builder);
  auto name = [&](std::string_view wished) {
    apply(builder, *kNoOp, {}, NoAttrs(), wished);
    return builder.graph()->nodes().back()->name();
  };
  {
    NameScope layer("layer");
    CHECK(frame.name_scope == "layer/");
    CHECK(name("a") == "layer/a");
    CHECK(name("a") == "layer/a_1");
    {
      NameScope inner("inner");
      CHECK(name("a") == "layer/inner/a");
      NameScope root("");
      CHECK(name("a") == "a");
    }
    CHECK(name("b") == "layer/b");
  }
  {
    NameScope layer("layer");
    CHECK(name("a") == "layer_1/a");
    NameScope again("layer/");
    CHECK(name("a") == "layer/a_2");
  }
  CHECK(name("layer") == "layer_2");
  CHECK(name("exact/name/") == "exact/name");
  CHECK(frame.name_scope.empty());
}

TEST_CASE("a scope and a frame that were never left end with the frame below them") {
  // A generator of the user's holds them open. Leaving them wrote to the frame that was gone.
  std::optional<NameScope> scope;
  std::unique_ptr<Frame> above;
  const Frame* bottom = &Frame::current();
  {
    GraphBuilder builder(make_ref<Graph>("f"));
    Frame frame(&builder);
    scope.emplace("open");
    above = std::make_unique<Frame>(nullptr);
    CHECK(Frame::find(frame.id()) == &frame);
  }
  CHECK(&Frame::current() == bottom);
  CHECK(Frame::find(above->id()) == nullptr);
  scope.reset();
  above.reset();
  CHECK(&Frame::current() == bottom);
  CHECK(Frame::current().name_scope.empty());
}

TEST_CASE("eagerly, name scopes need not be unique") {
  for (int i = 0; i < 2; ++i) {
    NameScope scope("s");
    CHECK(Frame::current().name_scope == "s/");
  }
  CHECK(Frame::current().name_scope.empty());
}

TEST_CASE("frames nest: an eager one within a graph keeps the name scope") {
  CHECK(!Frame::current().is_graph());
  CHECK(!Frame::inside_function());
  GraphBuilder builder(make_ref<Graph>("f"));
  {
    NameScope outside("outside");
    Frame frame(&builder);
    CHECK(&Frame::current() == &frame);
    CHECK(frame.graph() == builder.graph());
    CHECK(frame.name_scope.empty());
    frame.name_scope = "a/";
    {
      Frame eager(nullptr);
      CHECK(!Frame::current().is_graph());
      CHECK(Frame::inside_function());
      CHECK(eager.name_scope == "a/");
      CHECK(eager.below() == &frame);
    }
    CHECK(&Frame::current() == &frame);
  }
  CHECK(!Frame::inside_function());
}

}  // namespace
}  // namespace graven::engine
