#include "graven/function/trace_body.h"

#include <doctest/doctest.h>

#include "graven/ir/bodies.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/structural_ops.h"
#include "graven/ir/text.h"
#include "graven/ir/verify.h"
#include "graven/ops/math_ops.h"
#include "graven/runtime/eager_builder.h"
#include "graven/runtime/run_body.h"

namespace graven::engine {
namespace {

// A graph being built around what the tests trace.
struct Outer {
  Ref<Graph> graph{new Graph("outer")};
  GraphBuilder builder{graph};
  Frame frame{&builder};

  Tensor placeholder(const Shape& shape, const char* name) {
    return builder.add_placeholder(DType::kFloat32, shape, name);
  }
};

Tensor apply_one(const Op& op, std::vector<Tensor> inputs, AttrsRef attrs = NoAttrs()) {
  auto outputs = apply(op, inputs, attrs);
  REQUIRE_MESSAGE(outputs.ok(), outputs.status().message());
  return (*outputs)[0];
}

TracedBody traced(FunctionRef<Result<Value>(std::span<const Value>)> f,
                  FunctionRef<Result<std::vector<Value>>(GraphBuilder&)> arguments) {
  auto body = trace_body({.name = "inner"}, arguments, f);
  REQUIRE_MESSAGE(body.ok(), body.status().message());
  CHECK(verify_graph(*body->body->graph()).ok());
  return *body;
}

const auto none = [](GraphBuilder&) -> Result<std::vector<Value>> { return std::vector<Value>(); };

std::string text_of(const Tensor& x) {
  std::string text;
  const SymbolTable& symbols = symbolic(x).graph()->symbols();
  for (Dim dim : x.shape().dims()) text += symbols.to_text(dim) + " ";
  return text;
}

TEST_CASE("a callable becomes a body of its arguments, captures and results") {
  Tensor two = Tensor::scalar(2.0f);
  auto body = traced(
      [&](std::span<const Value> x) -> Result<Value> {
        return Value::of_container(Container::tuple(),
                                   {Value::of_tensor(apply_one(*kMul, {x[0].tensor, two})), x[0]});
      },
      [](GraphBuilder& builder) -> Result<std::vector<Value>> {
        return std::vector{
            Value::of_tensor(builder.add_placeholder(DType::kFloat32, {Dim::unknown()}, "x"))};
      });
  CHECK(body.body->name().starts_with("__inference_inner_"));
  CHECK(body.num_arguments == 1);
  REQUIRE(body.captures.size() == 1);
  CHECK(body.captures[0].external == two);
  CHECK(body.body->graph()->inputs().size() == 2);
  CHECK(body.body->graph()->outputs().size() == 2);
  REQUIRE(body.outputs.items.size() == 2);
  CHECK(symbolic(body.outputs.items[0].tensor).graph() == body.body->graph());
  Tensors outputs;
  const float values[] = {1, 2, 3};
  Tensor inputs[] = {Tensor::vector(std::span<const float>(values)), two};
  REQUIRE(run_body(body.body, inputs, outputs).ok());
  CHECK(outputs[0].data<float>()[2] == 6);
}

TEST_CASE("captured tensors keep their Dims: what is equal outside is equal inside") {
  Outer outer;
  Tensor x = outer.placeholder({Dim::unknown(), 3}, "x");
  Dim n = x.shape()[0];
  SymbolTable& symbols = outer.graph->symbols();
  Tensor more = apply_one(*kConcatV2, {x, x, outer.builder.add_constant(Tensor::scalar(0))});
  CHECK(more.shape()[0] == symbols.add(n, n));
  Tensor sizes = apply_one(*kShape, {x}, ShapeAttrs());
  Tensor other = outer.placeholder({Dim::unknown()}, "other");
  traced(
      [&](std::span<const Value> arguments) -> Result<Value> {
        GraphBuilder& builder = *Frame::current().graph_builder();
        Tensor inner = *builder.capture(x, "x"), twice = *builder.capture(more, "more");
        Tensor separate = *builder.capture(other, "other");
        CHECK(text_of(inner) == "x.0 3 ");
        CHECK(text_of(twice) == "2*x.0 3 ");
        CHECK(text_of(separate) == "other.0 ");
        CHECK(inner.shape()[0] == arguments[0].tensor.shape()[0]);
        // A known size is that of the tensor from which it came.
        Tensor filled = apply_one(*kReshape, {inner, *builder.capture(sizes, "sizes")});
        CHECK(filled.shape() == inner.shape());
        return Value::of_tensor(filled);
      },
      [&](GraphBuilder& builder) -> Result<std::vector<Value>> {
        return std::vector{Value::of_tensor(builder.add_placeholder_like(x, "variable"))};
      });
}

TEST_CASE("what was equal outside is equal two graphs further inside") {
  Outer outer;
  Tensor x = outer.placeholder({Dim::unknown()}, "x");
  auto body = traced(
      [&](std::span<const Value>) -> Result<Value> {
        // One tensor comes by way of the graph in between, the other past it.
        Tensor between = apply_one(*kNeg, {x});
        auto innermost = traced(
            [&](std::span<const Value>) -> Result<Value> {
              GraphBuilder& builder = *Frame::current().graph_builder();
              Tensor a = *builder.capture(x, "a"), b = *builder.capture(between, "b");
              CHECK(a.shape() == b.shape());
              CHECK(!a.shape().is_fully_known());
              return Value::of_tensor(apply_one(*kAddV2, {a, b}));
            },
            none);
        std::vector<Tensor> inputs;
        for (const auto& capture : innermost.captures) inputs.push_back(capture.external);
        auto sum = Frame::current().graph_builder()->call(innermost.body, inputs);
        REQUIRE(sum.ok());
        CHECK((*sum)[0].shape() == between.shape());
        return Value::of_tensor((*sum)[0]);
      },
      none);
  REQUIRE(body.captures.size() == 1);
  auto called = outer.builder.call(body.body, std::vector{x});
  REQUIRE(called.ok());
  CHECK((*called)[0].shape() == x.shape());
  CHECK(verify_graph(*outer.graph).ok());
}

TEST_CASE("a callable that fails, or returns what is no tensor, leaves nothing") {
  Outer outer;
  auto fails = [](std::span<const Value>) -> Result<Value> { return invalid_argument("no"); };
  CHECK(trace_body({}, none, fails).status().message() == "no");
  auto gives_number = [](std::span<const Value>) -> Result<Value> {
    return Value::of_literal(int64_t{3});
  };
  CHECK(trace_body({}, none, gives_number)
            .status()
            .message()
            .find("must return zero or more Tensors") != std::string::npos);
  CHECK(&Frame::current() == &outer.frame);
  CHECK(outer.graph->nodes().empty());
}

// --- What a call knows of its outputs.

// The first output of a call of `f`, traced for placeholders of these types.
Tensor called(const std::vector<OutputType>& types, const std::vector<Tensor>& inputs,
              FunctionRef<Result<Value>(std::span<const Value>)> f, Ref<Body>* body = nullptr) {
  auto inner = traced(f, [&](GraphBuilder& builder) -> Result<std::vector<Value>> {
    std::vector<Value> arguments;
    for (const OutputType& type : types) {
      arguments.push_back(
          Value::of_tensor(builder.add_placeholder(type.dtype, type.shape, "argument")));
    }
    return arguments;
  });
  if (body) *body = inner.body;
  auto outputs = Frame::current().graph_builder()->call(inner.body, inputs);
  REQUIRE_MESSAGE(outputs.ok(), outputs.status().message());
  return (*outputs)[0];
}

std::vector<OutputType> types_of(std::initializer_list<std::pair<DType, Shape>> types) {
  std::vector<OutputType> all;
  for (const auto& [dtype, shape] : types) {
    all.emplace_back().dtype = dtype;
    all.back().shape = shape;
  }
  return all;
}

TEST_CASE("a call gives its outputs the caller's Dims") {
  Outer outer;
  Tensor x = outer.placeholder({Dim::unknown()}, "x");
  Tensor rows =
      called(types_of({{DType::kFloat32, {Dim::unknown()}}}), {x},
             [](std::span<const Value> a) -> Result<Value> {
               const int32_t one_column[] = {-1, 1};
               GraphBuilder& builder = *Frame::current().graph_builder();
               Tensor column =
                   apply_one(*kReshape, {a[0].tensor, builder.add_constant(Tensor::vector(
                                                          std::span<const int32_t>(one_column)))});
               Tensor row = builder.add_constant(*Tensor::allocate(DType::kFloat32, {1, 3}));
               return Value::of_tensor(apply_one(*kAddV2, {column, row}));
             });
  CHECK(text_of(rows) == "x.0 3 ");
  CHECK(rows.shape()[0] == x.shape()[0]);
}

TEST_CASE("a constant argument of the caller is seen by the body's shapes, and that is kept") {
  Outer outer;
  Tensor x = outer.placeholder({Dim::unknown()}, "x");
  const int32_t sizes[] = {4, -1}, others[] = {2, 5};
  auto constant = [&](std::span<const int32_t> values) {
    return outer.builder.add_constant(Tensor::vector(values));
  };
  auto reshape = [](std::span<const Value> a) -> Result<Value> {
    return Value::of_tensor(apply_one(*kReshape, {a[0].tensor, a[1].tensor}));
  };
  auto types = types_of({{DType::kFloat32, {Dim::unknown()}}, {DType::kInt32, {Dim::unknown()}}});
  Ref<Body> body;
  Tensor y = called(types, {x, constant(sizes)}, reshape, &body);
  REQUIRE(y.shape().rank() == 2);
  CHECK(y.shape()[0] == Dim(4));
  const int64_t bytes = body->bytes();
  Tensor again = (*outer.builder.call(body, std::vector{x, constant(sizes)}))[0];
  CHECK(again.shape()[0] == Dim(4));
  CHECK(body->bytes() == bytes);
  Tensor other = (*outer.builder.call(body, std::vector{x, constant(others)}))[0];
  CHECK(other.shape() == Shape{2, 5});
  CHECK(body->bytes() > bytes);
  // A tensor that is not known says nothing.
  Tensor unknown = outer.builder.add_placeholder(DType::kInt32, {2}, "unknown");
  Tensor free = (*outer.builder.call(body, std::vector{x, unknown}))[0];
  CHECK(!free.shape().is_fully_known());
}

TEST_CASE("constants flow through a call in a called body") {
  Outer outer;
  Tensor x = outer.placeholder({6}, "x");
  const int32_t sizes[] = {2, 3};
  auto types = types_of({{DType::kFloat32, {Dim::unknown()}}, {DType::kInt32, {Dim::unknown()}}});
  auto reshape = [](std::span<const Value> a) -> Result<Value> {
    return Value::of_tensor(apply_one(*kReshape, {a[0].tensor, a[1].tensor}));
  };
  auto through = [&](std::span<const Value> a) -> Result<Value> {
    return Value::of_tensor(called(types, {a[0].tensor, a[1].tensor}, reshape));
  };
  Tensor constant = outer.builder.add_constant(Tensor::vector(std::span<const int32_t>(sizes)));
  CHECK(called(types, {x, constant}, through).shape() == Shape{2, 3});
}

TEST_CASE("a body that calls itself is not inferred within its own inference") {
  auto graph = parse_graph(R"(graph g(x: float32[n], shape: int32[m]) {
  %y: float32[...] = PartitionedCall(x, shape) {Tin=[float32, int32], Tout=[float32], f=@h}
  return %y
}
body @h = graph h(x: float32[n], shape: int32[m]) {
  %y: float32[...] = Reshape(x, shape)
  return %y
})");
  REQUIRE_MESSAGE(graph.ok(), graph.status().message());
  Ref<Body> body = Body::create("g", *graph);
  Node* call = (*graph)->find("y");
  Ref<Body> good = called_body(*call);
  (*graph)->set_attrs(call, call_attrs(body));
  {
    Outer outer;
    Tensor x = outer.placeholder({6}, "x");
    const int32_t sizes[] = {2, 3};
    Tensor constant = outer.builder.add_constant(Tensor::vector(std::span<const int32_t>(sizes)));
    auto outputs = outer.builder.call(body, std::vector{x, constant});
    REQUIRE(outputs.ok());
    CHECK(!(*outputs)[0].shape().has_rank());
  }
  (*graph)->set_attrs(call, call_attrs(good));  // a circle does not end by itself
}

}  // namespace
}  // namespace graven::engine
