#include <doctest/doctest.h>
#include <graven/graven.h>

#include <map>
#include <string>

using graven::Dim;
using graven::DType;
using graven::FunctionOptions;
using graven::Shape;
using graven::Tensor;
using graven::TensorSpec;
using graven::Variable;

namespace {

struct Point {
  Tensor x, y;
  auto members() { return std::tie(x, y); }
};

Tensor doubled(const Tensor& x) { return x + x; }

}  // namespace

TEST_CASE("a function is traced once for arguments of one type") {
  int traces = 0;
  auto f = graven::function([&](const Tensor& x, const Tensor& y) {
    ++traces;
    return x * y + 1;
  });
  CHECK(f(2.0, 3.0).item<float>() == 7);
  CHECK(f(4.0, 5.0).item<float>() == 21);
  CHECK(traces == 1);
  CHECK(f.experimental_get_tracing_count() == 1);
}

TEST_CASE("plain functions are functions too") {
  auto f = graven::function(doubled, {.name = "doubled"});
  CHECK(f({1.0, 2.0}).to_vector<float>() == std::vector<float>{2, 4});
  CHECK(f.name() == "doubled");
  CHECK(f("ab").item<std::string>() == "abab");
}

TEST_CASE("another dtype or shape is another trace") {
  auto f = graven::function(doubled);
  f(1.0);
  f(1);
  f({1.0});
  f({1.0, 2.0});
  f({{1.0, 2.0}});
  f({3.0, 4.0});
  CHECK(f.experimental_get_tracing_count() == 5);
}

TEST_CASE("with reduce_retracing the second shape of a rank is traced for all") {
  auto f = graven::function(doubled, {.reduce_retracing = true});
  for (int64_t n = 1; n <= 6; ++n) {
    f(Tensor::of(std::vector<float>(n, 1.0f), Shape{n}));
  }
  CHECK(f.experimental_get_tracing_count() == 2);
  f({{1.0}, {2.0}});
  CHECK(f.experimental_get_tracing_count() == 3);
}

TEST_CASE("the most specific trace that fits is taken") {
  std::vector<std::string> traced;
  auto f = graven::function([&](const Tensor& x) {
    traced.push_back(x.shape().to_text());
    return x + 1;
  });
  auto vectors = f.get_concrete_function(TensorSpec{Shape{Dim::unknown()}});
  auto any = f.get_concrete_function(TensorSpec{Shape::unknown_rank()});
  f({1.0, 2.0});
  f({{1.0, 2.0}});
  CHECK(traced == std::vector<std::string>{"(None,)", "<unknown>"});
  CHECK(f.get_concrete_function(Tensor{1.0, 2.0, 3.0}) == vectors);
  CHECK(f.get_concrete_function(Tensor{{1.0}}) == any);
}

TEST_CASE("numbers are part of the type by value") {
  auto f = graven::function([](const Tensor& x, double factor) { return x * factor; });
  CHECK(f(2.0, 3.0).item<float>() == 6);
  CHECK(f(2.0, 0.5).item<float>() == 1);
  CHECK(f(5.0, 3.0).item<float>() == 15);
  CHECK(f.experimental_get_tracing_count() == 2);
}

TEST_CASE("minus zero is another number than zero") {
  auto f = graven::function([](double x) { return Tensor(1.0) / x; });
  CHECK(f(0.0).item<float>() > 0);
  CHECK(f(-0.0).item<float>() < 0);
  CHECK(f.experimental_get_tracing_count() == 2);
}

TEST_CASE("strings, bools and integers are literals") {
  auto f = graven::function([](const Tensor& x, const std::string& how, bool negate, int64_t n) {
    Tensor y = how == "add" ? x + n : x * n;
    return negate ? -y : y;
  });
  CHECK(f(2.0, "add", false, 3).item<float>() == 5);
  CHECK(f(2.0, "times", false, 3).item<float>() == 6);
  CHECK(f(2.0, "times", true, 3).item<float>() == -6);
  CHECK(f(2.0, "times", true, 4).item<float>() == -8);
  CHECK(f.experimental_get_tracing_count() == 4);
}

TEST_CASE("long strings differ in their last letter") {
  int traces = 0;
  auto f = graven::function([&](const Tensor& x, const std::string&) {
    ++traces;
    return x;
  });
  f(1.0, "a string of more than eight letters");
  f(1.0, "a string of more than eight letterz");
  f(1.0, std::string("a\0", 2));
  f(1.0, "a");
  CHECK(traces == 4);
}

TEST_CASE("the length of a vector is part of the type, its tensors' values are not") {
  auto f = graven::function([](const std::vector<Tensor>& terms) {
    Tensor sum = 0.0;
    for (const Tensor& term : terms) sum = sum + term;
    return sum;
  });
  CHECK(f({1.0, 2.0}).item<float>() == 3);
  CHECK(f({3.0, 4.0}).item<float>() == 7);
  CHECK(f({1.0, 2.0, 3.0}).item<float>() == 6);
  CHECK(f.experimental_get_tracing_count() == 2);
}

TEST_CASE("maps are told apart by their keys") {
  using Named = std::map<std::string, Tensor>;
  auto f = graven::function([](const Named& parts) {
    Named out;
    for (const auto& [name, part] : parts) out["minus_" + name] = -part;
    return out;
  });
  Named out = f({{"b", 2.0}, {"a", 1.0}});
  CHECK(out.at("minus_a").item<float>() == -1);
  CHECK(out.at("minus_b").item<float>() == -2);
  f({{"a", 3.0}, {"c", 1.0}});
  f({{"a", 3.0}, {"b", 1.0}});
  CHECK(f.experimental_get_tracing_count() == 2);
}

TEST_CASE("structs of the user's go in and come out by their members") {
  auto f = graven::function([](const Point& p, const Tensor& by) {
    return Point{p.x * by, p.y * by};
  });
  Point p = f(Point{1.0, {1.0, 2.0}}, 3.0);
  CHECK(p.x.item<float>() == 3);
  CHECK(p.y.to_vector<float>() == std::vector<float>{3, 6});
  f(Point{2.0, {5.0, 6.0}}, 1.0);
  CHECK(f.experimental_get_tracing_count() == 1);
  f(Point{2.0, {5.0}}, 1.0);
  CHECK(f.experimental_get_tracing_count() == 2);
}

TEST_CASE("tuples, pairs, arrays and optionals nest") {
  using Nested = std::pair<std::array<Tensor, 2>, std::optional<Tensor>>;
  auto f = graven::function([](const std::tuple<Nested, int>& given) {
    const auto& [nested, n] = given;
    Tensor sum = nested.first[0] + nested.first[1];
    return nested.second ? sum * *nested.second * n : sum * n;
  });
  CHECK(f({{{1.0, 2.0}, std::nullopt}, 2}).item<float>() == 6);
  CHECK(f({{{1.0, 2.0}, Tensor(10.0)}, 2}).item<float>() == 60);
  CHECK(f({{{2.0, 2.0}, Tensor(5.0)}, 2}).item<float>() == 40);
  CHECK(f.experimental_get_tracing_count() == 2);
}

TEST_CASE("a function may return nothing, and no tensor") {
  Variable v(1.0);
  auto add = graven::function(graven::captures(v), [&](const Tensor& x) { v.assign_add(x); });
  add(2.0);
  add(3.0);
  CHECK(v.value().item<float>() == 6);
  auto none = graven::function([](const Tensor&) { return Tensor(); });
  CHECK(none(1.0).is_none());
  CHECK(none(1.0).is_none());
}

TEST_CASE("a specification stands for tensors in get_concrete_function") {
  auto f = graven::function([](const Tensor& x, double by) { return x * by; },
                            FunctionOptions{.name = "scale", .parameters = {"x", "by"}});
  auto scale = f.get_concrete_function(TensorSpec{Shape{Dim::unknown()}, DType::kFloat32}, 2.0);
  CHECK(scale(Tensor{1.0, 2.0}, 2.0).to_vector<float>() == std::vector<float>{2, 4});
  CHECK(scale.call_flat({Tensor{3.0}})[0].to_vector<float>() == std::vector<float>{6});
  CHECK(scale.name().find("__inference_scale_") == 0);
  CHECK(scale.signature(false).find("x: TensorSpec(shape=(None,), dtype=tf.float32, name=None)") !=
        std::string::npos);
  f({5.0, 6.0, 7.0}, 2.0);
  CHECK(f.experimental_get_tracing_count() == 1);
}

TEST_CASE("a specification's name becomes the placeholder's") {
  auto f = graven::function(doubled);
  auto named = f.get_concrete_function(TensorSpec{Shape{}, DType::kFloat32, "input_image"});
  CHECK(named.inputs()[0].to_string() == "Tensor(\"input_image:0\", shape=(), dtype=float32)");
  CHECK(named.outputs()[0].to_string() == "Tensor(\"Identity:0\", shape=(), dtype=float32)");
}

TEST_CASE("vectors of specifications stand for vectors of tensors") {
  auto f = graven::function([](const std::vector<Tensor>& parts) { return parts[0] + parts[1]; });
  TensorSpec any{Shape{Dim::unknown()}, DType::kInt32};
  auto sum = f.get_concrete_function(std::vector<TensorSpec>{any, any});
  CHECK(f({Tensor{1, 2}, Tensor{3, 4}}).to_vector<int32_t>() == std::vector<int32_t>{4, 6});
  CHECK(f.experimental_get_tracing_count() == 1);
}

TEST_CASE("types of tensors have an order and a common supertype") {
  TensorSpec two{Shape{2}, DType::kInt32}, any{Shape{Dim::unknown()}, DType::kInt32};
  CHECK(two.is_subtype_of(any));
  CHECK_FALSE(any.is_subtype_of(two));
  CHECK(TensorSpec{Shape{3}, DType::kInt32}.most_specific_common_supertype(two) == any);
  CHECK_FALSE(TensorSpec{Shape{2}}.most_specific_common_supertype(two).has_value());
  CHECK(any.is_compatible_with(Tensor({1, 2, 3})));
  CHECK(any.to_string() == "TensorSpec(shape=(None,), dtype=tf.int32, name=None)");
}

TEST_CASE("an input signature accepts its types and traces once") {
  auto f = graven::function(
      doubled, {.input_signature = {{TensorSpec{Shape{Dim::unknown()}, DType::kInt32}}}});
  CHECK(f({1, 2}).to_vector<int32_t>() == std::vector<int32_t>{2, 4});
  CHECK(f({1, 2, 3}).to_vector<int32_t>() == std::vector<int32_t>{2, 4, 6});
  CHECK(f.experimental_get_tracing_count() == 1);
  CHECK_THROWS_WITH_AS(f({1.0, 2.0}), doctest::Contains("Binding inputs to tf.function failed"),
                       graven::Error);
  CHECK_THROWS_WITH_AS(f({{1, 2}}), doctest::Contains("Can not cast"), graven::Error);
}

TEST_CASE("a function called in a function is one call node") {
  int inner_traces = 0;
  auto inner = graven::function([&](const Tensor& x) {
    ++inner_traces;
    return x * x;
  });
  auto outer = graven::function([&](const Tensor& x) { return inner(x) + inner(x + 1); });
  CHECK(outer(2.0).item<float>() == 13);
  CHECK(outer(3.0).item<float>() == 25);
  CHECK(inner_traces == 1);
  int calls = 0;
  for (const auto* node : outer.get_concrete_function(Tensor(1.0)).graph().nodes()) {
    calls += node->op().name() == "PartitionedCall";
  }
  CHECK(calls == 2);
}

TEST_CASE("a captured tensor is fed on each call") {
  Tensor w = {1.0, 2.0};
  auto f = graven::function(graven::captures(w), [=](const Tensor& x) { return x * w; });
  CHECK(f(3.0).to_vector<float>() == std::vector<float>{3, 6});
  auto traced = f.get_concrete_function(Tensor(1.0));
  REQUIRE(traced.captured_inputs().size() == 1);
  CHECK(traced.captured_inputs()[0].is_same(w));
  CHECK(traced.inputs().size() == 2);
  traced.set_external_captures({Tensor{10.0, 20.0}});
  CHECK(f(3.0).to_vector<float>() == std::vector<float>{30, 60});
}

TEST_CASE("a function knows what it captured and was not told of") {
  struct Layer : graven::Module {
    Variable w{2.0};
    void members(graven::Members& each) const override { each("w", w); }
  };
  Layer layer;
  Tensor big = graven::ones({200}), bias = {1.0, 2.0};
  Variable v(3.0);
  std::vector<Tensor> list = {Tensor{5.0, 6.0}};
  auto inner = graven::function(graven::captures(big),
                                [&](const Tensor& x) { return graven::reduce_sum(big) * x; });
  auto body = [&](const Tensor& x) { return inner(x) + layer.w + v * bias + list[0]; };
  auto told = graven::function(graven::captures(inner, layer, v, bias, list), body);
  CHECK(told.untold_captures().empty());
  told(1.0);
  CHECK(told.untold_captures().empty());

  auto half_told = graven::function(graven::captures(inner, layer, list), body);
  half_told(1.0);
  auto untold = half_told.untold_captures();
  REQUIRE(untold.size() == 2);
  CHECK(Variable::of_handle(untold[0]).is_same(v));
  CHECK(untold[1].is_same(bias));

  auto bare = graven::function(body);
  bare(1.0);
  bare(Tensor{1.0, 2.0});
  CHECK(bare.untold_captures().size() == 5);
}

TEST_CASE("a function keeps alive what it was told of") {
  auto make = [] {
    auto w = std::make_unique<Variable>(2.0);
    const Variable& variable = *w;
    auto f = graven::function(graven::captures(variable),
                              [handle = variable](const Tensor& x) { return x * handle; });
    return f;
  };
  CHECK(make()(3.0).item<float>() == 6);
}

TEST_CASE("a captured number is frozen, a captured variable is not") {
  float rate = 2;
  Variable v(2.0);
  auto f = graven::function(graven::captures(v), [&](const Tensor& x) { return x * rate + v; });
  CHECK(f(1.0).item<float>() == 4);
  v.assign(10.0);
  rate = 100;
  CHECK(f(1.0).item<float>() == 12);
}

TEST_CASE("a trace lists the variables that it uses") {
  Variable a(1.0), b(2.0, {.trainable = false});
  auto f = graven::function(graven::captures(a, b), [&](const Variable& c) { return b + a + c; });
  Variable c(3.0);
  auto traced = f.get_concrete_function(c);
  REQUIRE(traced.variables().size() == 2);
  CHECK(traced.variables()[0].is_same(b));
  REQUIRE(traced.trainable_variables().size() == 1);
  CHECK(traced.trainable_variables()[0].is_same(a));
}

TEST_CASE("the cache says what each trace cost and served") {
  auto f = graven::function(doubled);
  for (int i = 0; i < 5; ++i) f(1.0);
  f(1);
  auto info = f.cache_info();
  REQUIRE(info.signatures.size() == 2);
  CHECK(info.traces == 2);
  CHECK(info.hits == 4);
  CHECK(info.misses == 2);
  CHECK(info.signatures[0].hits == 4);
  CHECK(info.signatures[1].hits == 0);
  CHECK(info.signatures[0].bytes > 0);
  CHECK(info.signatures[0].trace_ms > 0);
}

TEST_CASE("signatures print as in Python") {
  auto f = graven::function(doubled, {.parameters = {"a"}});
  f(1);
  CHECK(f.pretty_printed_concrete_signatures() ==
        "Input Parameters:\n"
        "  a (POSITIONAL_ONLY): TensorSpec(shape=(), dtype=tf.int32, name=None)\n"
        "Output Type:\n"
        "  TensorSpec(shape=(), dtype=tf.int32, name=None)\n"
        "Captures:\n"
        "  None");
}

TEST_CASE("scopes name nodes, and code knows whether it is traced") {
  CHECK(graven::executing_eagerly());
  std::string name;
  auto f = graven::function([&](const Tensor& x) {
    CHECK_FALSE(graven::executing_eagerly());
    CHECK(graven::inside_function());
    graven::NameScope scope("block");
    Tensor y = x * 2;
    name = y.to_string();
    return y;
  });
  f(1.0);
  CHECK(name == "Tensor(\"block/mul:0\", shape=(), dtype=float32)");
}
