#include <doctest/doctest.h>
#include <graven/graven.h>

using graven::Members;
using graven::Module;
using graven::Tensor;
using graven::Variable;

namespace {

struct FlexibleDense : Module {
  using Module::Module;
  Variable w{Tensor{1.0, 2.0}, {.name = "w"}}, b{0.5, {.name = "b", .trainable = false}};
  void members(Members& each) const override {
    each("w", w);
    each("b", b);
  }
  Tensor operator()(const Tensor& x) const { return x * w + b; }
};

struct ABCNet2D : Module {
  std::vector<std::unique_ptr<FlexibleDense>> layers;
  FlexibleDense head;
  Variable scale{1.0, {.name = "scale"}};
  std::vector<Variable> shared;
  void members(Members& each) const override {
    each("scale", scale);
    each("layers", layers);
    each("head", head);
    each("shared", shared);
  }
};

struct HTTPServer : Module {
  void members(Members&) const override {}
};

}  // namespace

TEST_CASE("a module is named after its class") {
  CHECK(FlexibleDense().name() == "flexible_dense");
  CHECK(HTTPServer().name() == "http_server");
  CHECK(ABCNet2D().name() == "abc_net2_d");
  CHECK(FlexibleDense("encoder").name() == "encoder");
}

TEST_CASE("the name of a module is an identifier") {
  CHECK_THROWS_WITH_AS(FlexibleDense("two words"), doctest::Contains("not a valid module name"),
                       graven::Error);
}

TEST_CASE("variables come by name of member, each once, then those of submodules") {
  ABCNet2D net;
  net.layers.push_back(std::make_unique<FlexibleDense>());
  net.layers.push_back(std::make_unique<FlexibleDense>());
  net.shared = {net.scale, net.head.w};
  auto variables = net.variables();
  REQUIRE(variables.size() == 7);
  CHECK(variables[0].is_same(net.scale));
  CHECK(variables[1].is_same(net.head.w));
  CHECK(variables[2].is_same(net.head.b));
  CHECK(variables[3].is_same(net.layers[0]->b));
  CHECK(variables[4].is_same(net.layers[0]->w));
  CHECK(variables[6].is_same(net.layers[1]->w));
  CHECK(net.trainable_variables().size() == 4);
}

TEST_CASE("submodules are found without the module itself") {
  ABCNet2D net;
  net.layers.push_back(std::make_unique<FlexibleDense>());
  auto modules = net.submodules();
  REQUIRE(modules.size() == 2);
  CHECK(modules[0] == &net.head);
  CHECK(modules[1] == net.layers[0].get());
}

TEST_CASE("a function over a module sees changes of its variables") {
  FlexibleDense dense;
  auto f = graven::function(graven::captures(dense), [&](const Tensor& x) { return dense(x); });
  CHECK(f(2.0).to_vector<float>() == std::vector<float>{2.5f, 4.5f});
  dense.b.assign(0.0);
  CHECK(f(2.0).to_vector<float>() == std::vector<float>{2, 4});
  CHECK(f.experimental_get_tracing_count() == 1);
}
