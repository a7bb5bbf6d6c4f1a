#include "graven/ops/structural_ops.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "graven/ir/bodies.h"
#include "graven/ir/body.h"
#include "graven/ir/emitter.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/text.h"
#include "graven/ir/verify.h"
#include "graven/ops/linear_algebra_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/runtime/eager_builder.h"
#include "graven/runtime/op_step.h"
#include "graven/runtime/program.h"
#include "graven/runtime/run_body.h"
#include "graven/tensor/variant.h"

namespace graven::engine {
namespace {

// A graph, and ops applied to its placeholders.
struct Trace {
  Ref<Graph> graph{new Graph("test")};
  GraphBuilder builder{graph};
  Emitter emit{builder};

  Tensor placeholder(DType dtype, const Shape& shape) {
    return builder.add_placeholder(dtype, shape, "x");
  }
  Tensor ints(std::initializer_list<int32_t> values) {
    std::vector<int32_t> list(values);
    return builder.add_constant(Tensor::vector<int32_t>(list));
  }
  std::string symbols(const Tensor& x) {
    std::string text;
    for (Dim dim : x.shape().dims()) text += graph->symbols().to_text(dim) + " ";
    return text;
  }
};

}  // namespace

TEST_CASE("a reshape keeps symbols, and finds what -1 stands for") {
  Trace t;
  Tensor x = t.placeholder(DType::kFloat32, {Dim::unknown(), 4, 6});
  Tensor shape = t.emit(kShape, {x});
  CHECK(t.emit(kReshape, {x, shape}).shape() == x.shape());
  CHECK(t.symbols(t.emit(kReshape, {x, t.ints({-1, 8})})) == "3*x.0 8 ");
  CHECK(t.symbols(t.emit(kReshape, {x, t.ints({-1})})) == "24*x.0 ");
  Tensor batch = t.placeholder(DType::kFloat32, {x.shape()[0]});
  Tensor keep_rows = t.emit(kConcatV2, {t.emit(kShape, {batch}), t.ints({-1}),
                                        t.builder.add_constant(Tensor::scalar<int32_t>(0))});
  CHECK(t.emit(kReshape, {x, keep_rows}).shape().rank() == 2);
  CHECK(t.emit.status().ok());
}

TEST_CASE("a reshape to another number of elements is an error that tells both") {
  Trace t;
  Tensor x = t.placeholder(DType::kFloat32, {2, 3});
  t.emit(kReshape, {x, t.ints({4})});
  CHECK(t.emit.status().kind() == ErrorKind::kValueError);
  CHECK(t.emit.status().message().find("[Reshape] Input to reshape is a tensor with 6 values, but "
                                       "the requested shape has 4") == 0);
}

TEST_CASE("a concatenation adds symbols up") {
  Trace t;
  Tensor x = t.placeholder(DType::kFloat32, {Dim::unknown(), 2});
  Tensor axis = t.builder.add_constant(Tensor::scalar<int32_t>(-2));
  Tensor y = t.emit(kConcatV2, {x, x, axis});
  CHECK(t.symbols(y) == "2*x.0 2 ");
  Tensor wrong = t.placeholder(DType::kFloat32, {1, 3});
  t.emit(kConcatV2, {x, wrong, axis});
  CHECK(t.emit.status().message().find("Dimension 1 in both shapes must be equal") !=
        std::string::npos);
}

TEST_CASE("a matrix product checks its inner dimensions") {
  Trace t;
  Tensor a = t.placeholder(DType::kFloat32, {Dim::unknown(), 3});
  Tensor b = t.placeholder(DType::kFloat32, {4, 3});
  CHECK(t.symbols(t.emit(kMatMul, {a, b}, {.transpose_b = true})) == "x.0 4 ");
  t.emit(kMatMul, {a, b});
  CHECK(t.emit.status().message().find("Dimensions must be equal, but are 3 and 4") !=
        std::string::npos);
}

TEST_CASE("shapes that follow from a known axis are not inferred again when the graph runs") {
  // The axis of a concatenation comes last; a value was taken for it, and every run asked again.
  Trace t;
  Tensor x = t.placeholder(DType::kFloat32, {2, 3}), y = t.placeholder(DType::kFloat32, {4, 3});
  Tensor axis = t.builder.add_constant(Tensor::scalar<int32_t>(0));
  Tensor joined = t.emit(kConcatV2, {x, y, axis});
  REQUIRE(t.emit.status().ok());
  t.graph->set_outputs({symbolic(joined).output()});
  auto program = plan_program(t.graph);
  REQUIRE(program.ok());
  REQUIRE((*program)->steps().size() == 1);
  const auto* step = dynamic_cast<const OpStep*>((*program)->steps()[0].get());
  REQUIRE(step);
  CHECK(step->text() == "ConcatV2");
  CHECK(step->shapes_known());
}

TEST_CASE("the records of calls say that their nodes hold one body, which runs once") {
  auto inner = make_ref<Graph>("inner");
  GraphBuilder inside(inner);
  Tensor y = inside.add_placeholder(DType::kFloat32, {Dim::unknown()}, "y");
  inner->set_outputs({symbolic(y).output()});
  Ref<Body> body = Body::create("inner", inner);
  for (const OpHandle<CallAttrs>& op : {kPartitionedCall, kStatefulPartitionedCall}) {
    Trace t;
    Tensor called =
        t.emit(op, {t.placeholder(DType::kFloat32, {Dim::unknown()})}, call_attrs(body));
    REQUIRE(t.emit.status().ok());
    const Node& node = symbolic(called).node();
    CHECK(called_body(node) == body);
    NodeBodies bodies = bodies_of(node);
    CHECK((bodies.run == BodyRun::kOnce));
    REQUIRE(bodies.all.size() == 1);
    CHECK(bodies.all[0].inputs.count == 1);
    CHECK(bodies.all[0].outputs.count == 1);
    CHECK(verify_graph(*t.graph).ok());
    t.graph->set_outputs({symbolic(called).output()});
    auto parsed = parse_graph(print_graph(*t.graph));
    REQUIRE(parsed.ok());
    CHECK(print_graph(**parsed) == print_graph(*t.graph));
  }
}

namespace {

// A body of one call, for now of a body that returns what it is given.
Ref<Body> body_with_a_call(const char* name, const std::string& type) {
  auto graph = parse_graph("graph a(x: " + type + ") {\n%y: " + type +
                           " = PartitionedCall(x) {Tin=[float32], Tout=[float32], f=@g}\n"
                           "return %y\n}\nbody @g = graph g(x: " +
                           type + ") {\nreturn x\n}");
  REQUIRE(graph.ok());
  return Body::create(name, *graph);
}
Ref<Body> called_by(const Ref<Body>& body) { return called_body(*body->graph()->find("y")); }
void let_call(const Ref<Body>& from, const Ref<Body>& to) {
  from->graph()->set_attrs(from->graph()->find("y"), call_attrs(to));
}

}  // namespace

TEST_CASE("a body that calls itself is not run, and not inlined without end") {
  Ref<Body> body = body_with_a_call("loops", "float32[]"), good = called_by(body);
  let_call(body, body);
  Status status = program_of(body).status();
  CHECK(status.code() == Code::kUnimplemented);
  CHECK(status.kind() == ErrorKind::kRecursionError);
  CHECK(status.message() == "The function loops calls itself, and cannot be run");
  let_call(body, good);  // a circle does not end by itself
}

namespace {

// A number in a variant, and a kind of which nothing is known.
struct TestNumber final : Variant {
  explicit TestNumber(int number) : number(number) {}
  int number;
  std::string_view kind() const override { return "number"; }
  Result<Ref<Resource>> zeros_like() const override {
    return Ref<Resource>(make_ref<TestNumber>(0));
  }
  Status add(const Variant& other) override {
    number += static_cast<const TestNumber&>(other).number;
    return {};
  }
  Ref<Variant> clone() const override { return make_ref<TestNumber>(number); }
};
struct TestMystery final : Variant {
  std::string_view kind() const override { return "mystery"; }
  Ref<Variant> clone() const override { return make_ref<TestMystery>(); }
};

}  // namespace

TEST_CASE("variants say what their zeros and their sums are; empty ones are zeros") {
  auto variants = [](std::vector<Ref<Resource>> elements) {
    Tensor made = *Tensor::allocate(DType::kVariant, {Dim(static_cast<int64_t>(elements.size()))});
    std::ranges::copy(elements, made.mutable_data<Ref<Resource>>().begin());
    return made;
  };
  auto number_in = [](const Tensor& x, size_t i) {
    return static_cast<const TestNumber&>(*x.data<Ref<Resource>>()[i]).number;
  };
  Emitter emit(eager_builder());
  Tensor a = variants({make_ref<TestNumber>(3), nullptr, nullptr});
  Tensor b = variants({make_ref<TestNumber>(4), make_ref<TestNumber>(5), nullptr});
  const Tensor terms[] = {a, b, b};
  Tensor sum = emit.apply(*kAddN, terms, NoAttrs())[0];
  CHECK(number_in(sum, 0) == 11);
  CHECK(number_in(sum, 1) == 10);
  CHECK(!sum.data<Ref<Resource>>()[2]);
  Tensor zero = emit(kZerosLike, {b});
  CHECK(number_in(zero, 0) == 0);
  CHECK(!zero.data<Ref<Resource>>()[2]);
  REQUIRE(emit.status().ok());
  emit(kZerosLike, {variants({make_ref<TestMystery>()})});
  CHECK(emit.status().message() == "[ZerosLike] there is no zero of a mystery");
}

TEST_CASE("a body that holds a circle of bodies is verified, printed, counted and refused") {
  Ref<Body> outer = body_with_a_call("outer", "float32[n]");
  Ref<Body> a = body_with_a_call("a", "float32[n]"), b = body_with_a_call("b", "float32[n]");
  Ref<Body> good = called_by(a);
  let_call(outer, a);
  let_call(a, b);
  let_call(b, a);
  CHECK(!holds_itself(*outer));
  CHECK(verify_graph(*outer->graph()).ok());
  CHECK(print_graph(*outer->graph()).find("body @b = ") != std::string::npos);
  CHECK(outer->bytes() > a->bytes());
  const float elements[] = {1, 2};
  Tensor x = Tensor::vector(std::span<const float>(elements));
  Tensors outputs;
  Status run = run_body(outer, {&x, 1}, outputs);
  CHECK(run.kind() == ErrorKind::kRecursionError);
  CHECK(run.message().find("calls itself, and cannot be run") != std::string::npos);
  CHECK(a->bytes() > 0);
  let_call(a, good);
}

TEST_CASE("a circle of bodies that is run node by node ends with the stack, as an error") {
  Ref<Body> body = body_with_a_call("loops", "float32[2]"), good = called_by(body);
  let_call(body, body);
  const float elements[] = {1, 2, 3};  // more than the body was made for
  Tensor x = Tensor::vector(std::span<const float>(elements));
  Tensors outputs;
  Status status = run_body(body, {&x, 1}, outputs);
  CHECK(status.kind() == ErrorKind::kRecursionError);
  CHECK(status.message().find("where a call of loops begins") != std::string::npos);
  let_call(body, good);
}

}  // namespace graven::engine
