#include <doctest/doctest.h>
#include <graven/graven.h>

#include "error_of.h"

using graven::Dim;
using graven::GraphDef;
using graven::Shape;
using graven::Tensor;

namespace {

GraphDef negative_square() {
  auto f = graven::function([](const Tensor& x) { return -(x * x); }, {.parameters = {"x"}});
  return graven::as_graph_def(f.get_concrete_function(graven::TensorSpec{Shape{Dim::unknown()}}));
}

}  // namespace

TEST_CASE("a trace is data, and the data nodes of another function") {
  GraphDef data = negative_square();
  REQUIRE(data.nodes.size() == 4);
  CHECK(data.nodes[2].name == "Neg");
  CHECK(data.nodes[2].inputs == std::vector<std::string>{"mul"});
  data.nodes[2].op = "Exp";
  auto g = graven::function([&](const Tensor& x) {
    Tensor y =
        graven::import_graph_def(data, {.input_map = {{"x", x}}, .return_elements = {"Neg:0"}})[0];
    return y + 1.0;
  });
  CHECK(g(Tensor(0.0)).item<float>() == 2);
}

TEST_CASE("a tape sees the nodes that were data") {
  const GraphDef data = negative_square();
  auto g = graven::function([&](const Tensor& x) {
    graven::GradientTape tape;
    tape.watch(x);
    Tensor y = graven::import_graph_def(
        data, {.input_map = {{"x:0", x}}, .return_elements = {"Identity:0"}})[0];
    return tape.gradient(y, x);
  });
  CHECK(g(Tensor(3.0)).item<float>() == -6);
}

TEST_CASE("with shapes each node says those of its outputs") {
  auto f = graven::function([](const Tensor& x) { return graven::reduce_sum(x); });
  const auto concrete = f.get_concrete_function(graven::TensorSpec{Shape{2, Dim::unknown()}});
  const GraphDef data = graven::as_graph_def(concrete, /*add_shapes=*/true);
  CHECK(data.nodes[0].attributes.count("_output_shapes") == 1);
  CHECK(graven::as_graph_def(concrete).nodes[0].attributes.count("_output_shapes") == 0);
}

TEST_CASE("an import that is wrong throws at the caller's line") {
  GraphDef data = negative_square();
  data.nodes[1].inputs[0] = "q";
  auto g = graven::function([&](const Tensor& x) {
    return graven::import_graph_def(data,
                                    {.input_map = {{"x", x}}, .return_elements = {"Neg:0"}})[0];
  });
  CHECK(contains(error_of([&] { g(Tensor(1.0)); }).what(), "Node 'mul': Unknown input node 'q'"));
  auto h = graven::function([&](const Tensor&) {
    return graven::import_graph_def(negative_square(), {.return_elements = {"x"}})[0];
  });
  CHECK(
      contains(error_of([&] { h(Tensor(1.0)); }).what(), "must be the name of a tensor, such as"));
  CHECK(contains(error_of([&] { graven::import_graph_def(data); }).what(), "none is being built"));
}
