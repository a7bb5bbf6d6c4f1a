#include "graven/tensor/variant.h"

#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/text.h"
#include "graven/runtime/eager_builder.h"
#include "graven/runtime/testing.h"

namespace graven::engine {
namespace {

// A list of numbers in a variant.
struct NumberList final : Variant {
  std::vector<float> values;
  std::string_view kind() const override { return "list of numbers"; }
  std::vector<std::pair<DType, Shape>> components() const override {
    return {{DType::kFloat32, Shape()}, {DType::kInt32, Shape{2}}};
  }
  Ref<Variant> clone() const override {
    auto copy = make_ref<NumberList>();
    copy->values = values;
    return copy;
  }
};
Tensor list_of(std::initializer_list<float> values) {
  auto list = make_ref<NumberList>();
  list->values = values;
  return Tensor::of_resource(std::move(list), DType::kVariant);
}

// No real op changes a variant yet.
const OpHandle<NoAttrs> kPush = OpRegistry::global().define<NoAttrs>(
    {.name = "Push",
     .inputs = {"list: variant", "x: float"},
     .outputs = {"longer: variant"},
     .infer = [](InferContext& c) -> Status {
       c.set_shape(0, Shape());
       if (auto data = c.handle_data(0)) c.set_handle_data(0, *data);
       return {};
     },
     .body = kernel([](KernelContext& c) -> Status {
       if (!(c.output(0) == c.input(0))) {
         c.out<Ref<Resource>>(0)[0] = c.input(0).resource();
       }
       ASSIGN_OR_RETURN(NumberList * list, changeable<NumberList>(c.output(0), "list of numbers"));
       list->values.push_back(c.in<float>(1)[0]);
       return {};
     }),
     .overwrites = 0});

const NumberList& held_by(const Tensor& handle) {
  return **resource_as<NumberList>(handle, "list of numbers");
}

TEST_CASE("an eager op leaves the variant that it was given as it is") {
  Tensor list = list_of({1, 2});
  Tensor longer = run(eager_builder(), kPush, {list, Tensor::scalar(3.0f)});
  CHECK(held_by(list).values == std::vector<float>{1, 2});
  CHECK(held_by(longer).values == std::vector<float>{1, 2, 3});
}

TEST_CASE("a Program updates a variant in place that only it holds") {
  TestGraph g;
  Tensor list = g.placeholder(DType::kVariant, {}, "list");
  Tensor x = g.placeholder(DType::kFloat32, {}, "x");
  Tensor once = run(g.builder, kPush, {list, x});
  Tensor twice = run(g.builder, kPush, {once, x});
  g.returns({run(g.builder, kPush, {twice, x})});
  Ref<Program> program = plan(g);

  Tensor inputs[] = {list_of({1}), Tensor::scalar(2.0f)};
  Tensors outputs;
  REQUIRE(program->run(std::span<const Tensor>(inputs), outputs).ok());
  // The caller's list is copied once; what the first step made is the run's own.
  CHECK(held_by(inputs[0]).values == std::vector<float>{1});
  CHECK(held_by(outputs[0]).values == std::vector<float>{1, 2, 2, 2});

  // What the caller gives up is updated in place too, unless somebody else holds it.
  const NumberList* given = &held_by(inputs[0]);
  const bool given_up[] = {true, false};
  REQUIRE(program->run(std::span<Tensor>(inputs), given_up, outputs).ok());
  CHECK(&held_by(outputs[0]) == given);
  Tensor other = outputs[0];
  inputs[0] = outputs[0];
  outputs.clear();
  REQUIRE(program->run(std::span<Tensor>(inputs), given_up, outputs).ok());
  CHECK(held_by(other).values == std::vector<float>{1, 2, 2, 2});
  CHECK(held_by(outputs[0]).values.size() == 7);
}

TEST_CASE("a list that is read twice is copied for one of its readers") {
  TestGraph g;
  Tensor list = g.placeholder(DType::kVariant, {}, "list");
  Tensor x = g.placeholder(DType::kFloat32, {}, "x");
  Tensor once = run(g.builder, kPush, {list, x});
  g.returns({run(g.builder, kPush, {once, x}), run(g.builder, kPush, {once, x}), once});
  Ref<Program> program = plan(g);
  Tensor inputs[] = {list_of({}), Tensor::scalar(2.0f)};
  Tensors outputs;
  REQUIRE(program->run(std::span<const Tensor>(inputs), outputs).ok());
  CHECK(held_by(outputs[0]).values == std::vector<float>{2, 2});
  CHECK(held_by(outputs[1]).values == std::vector<float>{2, 2});
  CHECK(held_by(outputs[2]).values == std::vector<float>{2});
}

TEST_CASE("the types of all components of a variant are known in a graph, and printed") {
  TestGraph g;
  HandleData data(std::vector<HeldType>{{DType::kFloat32, Shape{3}}, {DType::kInt32, Shape()}});
  Tensor list = g.builder.add_placeholder(DType::kVariant, {}, "list", data);
  Tensor x = g.placeholder(DType::kFloat32, {}, "x");
  g.returns({run(g.builder, kPush, {list, x}, {}, "longer")});
  const std::string text = print_graph(*g.graph);
  CHECK(text.find("list: variant[]<float32[3], int32[]>") != std::string::npos);
  CHECK(text.find("%longer: variant[]<float32[3], int32[]>") != std::string::npos);
  auto parsed = parse_graph(text);
  REQUIRE(parsed.ok());
  CHECK(print_graph(**parsed) == text);
}

TEST_CASE("a handle of something else is named") {
  auto held = changeable<NumberList>(resource_of(nullptr), "list of numbers");
  CHECK(held.status().message() == "expected a handle of a list of numbers, got an empty one");
}

}  // namespace
}  // namespace graven::engine
