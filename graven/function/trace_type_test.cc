#include "graven/function/trace_type.h"

#include <doctest/doctest.h>

#include <cmath>

namespace graven::engine {
namespace {

constexpr Dim kAny = Dim::unknown();

TraceTypeRef tensor_type(Shape shape, DType dtype = DType::kFloat32,
                         std::optional<std::string> name = std::nullopt) {
  return make_ref<TensorType>(std::move(shape), dtype, std::move(name));
}

TraceTypeRef literal(Literal value, bool as_numbers = true) {
  return make_ref<LiteralType>(std::move(value), as_numbers);
}

Value list_of(std::vector<Value> items) {
  return Value::of_container(Container::list(), std::move(items));
}

Value dict_of(std::vector<std::pair<std::string, Value>> entries) {
  std::vector<Literal> keys;
  std::vector<Value> items;
  for (auto& [key, item] : entries) {
    keys.push_back(key);
    items.push_back(std::move(item));
  }
  return Value::of_container(*Container::dict(std::move(keys)), std::move(items));
}

TraceTypeRef type_of_value(const Value& value) {
  TypingContext context;
  return *type_of(value, context);
}

TEST_CASE("a tensor's type is a subtype of a more general one of its dtype") {
  CHECK(tensor_type({2})->is_subtype_of(*tensor_type({kAny})));
  CHECK(tensor_type({2})->is_subtype_of(*tensor_type(Shape::unknown_rank())));
  CHECK(!tensor_type({kAny})->is_subtype_of(*tensor_type({2})));
  CHECK(!tensor_type({2})->is_subtype_of(*tensor_type({kAny}, DType::kInt32)));
}

TEST_CASE("a type without name is a subtype of a named one, and not conversely") {
  auto plain = tensor_type({2}), named = tensor_type({2}, DType::kFloat32, "q");
  CHECK(plain->is_subtype_of(*named));
  CHECK(!named->is_subtype_of(*plain));
  CHECK(!plain->equals(*named));
  CHECK(!plain->common_supertype(*named));
}

TEST_CASE("the common supertype forgets the sizes that differ, and the rank if that differs") {
  CHECK(
      tensor_type({2, 3})->common_supertype(*tensor_type({2, 4}))->equals(*tensor_type({2, kAny})));
  CHECK(tensor_type({2})
            ->common_supertype(*tensor_type({2, 4}))
            ->equals(*tensor_type(Shape::unknown_rank())));
}

TEST_CASE("types print as Python prints them") {
  CHECK(tensor_type({2, kAny})->repr() ==
        "TensorSpec(shape=(2, None), dtype=tf.float32, name=None)");
  CHECK(literal(int64_t{2})->repr() == "Literal[2]");
  CHECK(literal(std::string("a"))->repr() == "Literal['a']");
  CHECK(literal(1.0)->repr() == "Literal[1.0]");
  CHECK(type_of_value(list_of({Value::of_literal(None())}))->repr() == "List[Literal[None]]");
}

TEST_CASE("in TensorFlow's profile literals are equal as numbers") {
  CHECK(literal(int64_t{1})->equals(*literal(1.0)));
  CHECK(literal(int64_t{1})->equals(*literal(true)));
  CHECK(literal(0.0)->equals(*literal(-0.0)));
  CHECK(literal(std::nan(""))->equals(*literal(std::complex<double>(0, std::nan("")))));
  CHECK(!literal(std::string("1"))->equals(*literal(Bytes{"1"})));
  CHECK(!literal((int64_t{1} << 53) + 1)->equals(*literal(0x1p53)));
}

TEST_CASE("in the other profile literals are equal by type and value") {
  CHECK(!literal(int64_t{1}, false)->equals(*literal(1.0, false)));
  CHECK(!literal(int64_t{1}, false)->equals(*literal(true, false)));
  CHECK(!literal(0.0, false)->equals(*literal(-0.0, false)));
  CHECK(literal(std::nan(""), false)->equals(*literal(std::nan(""), false)));
}

TEST_CASE("a dict is its set of keys, in whatever order") {
  Value one = Value::of_literal(int64_t{1}), two = Value::of_literal(int64_t{2});
  auto ab = type_of_value(dict_of({{"a", one}, {"b", two}}));
  auto ba = type_of_value(dict_of({{"b", two}, {"a", one}}));
  CHECK(ab->equals(*ba));
  CHECK(ab->hash() == ba->hash());
  CHECK(!ab->equals(*type_of_value(dict_of({{"a", one}, {"c", two}}))));
}

TEST_CASE("the tensors of a dict come in the order of its sorted keys") {
  Tensor x = Tensor::scalar(1.0f), y = Tensor::scalar(2.0f);
  std::vector<Tensor> tensors;
  collect_tensors(dict_of({{"y", Value::of_tensor(y)}, {"x", Value::of_tensor(x)}}), tensors);
  CHECK(tensors == std::vector<Tensor>{x, y});
}

TEST_CASE("keys that cannot be sorted are an error") {
  CHECK(!Container::dict({Literal(int64_t{1}), Literal(std::string("a"))}).ok());
  CHECK(Container::dict({Literal(2.5), Literal(int64_t{1})}).ok());
}

TEST_CASE("a function type is a subtype parameter by parameter") {
  auto with = [](TraceTypeRef type, std::string name = "x") {
    FunctionType f;
    f.parameters.push_back({std::move(name), ParameterKind::kPositionalOrKeyword, false, type});
    return f;
  };
  FunctionType special = with(tensor_type({2})), general = with(tensor_type({kAny}));
  CHECK(special.is_subtype_of(general));
  CHECK(!special.is_subtype_of(with(tensor_type({kAny}), "y")));
  CHECK(special.common_supertype(with(tensor_type({3})))->equals(general));
  CHECK(!special.common_supertype(with(literal(int64_t{1}))));
  CHECK(special.signature() == "(x: TensorSpec(shape=(2,), dtype=tf.float32, name=None))");
}

// --- Laws of all types, with types that differ in one thing each.

TraceTypeRef variable_type(Shape shape, DType dtype = DType::kFloat32, bool trainable = true,
                           int alias = 0) {
  return make_ref<VariableType>(std::move(shape), dtype, trainable, alias, Value());
}

TraceTypeRef container_type(Ref<const Container> container, std::vector<TraceTypeRef> items) {
  return make_ref<ContainerType>(std::move(container), std::move(items));
}

// Made anew each time, so that no two of the types are one object.
std::vector<TraceTypeRef> unlike_types() {
  const Shape unknown = Shape::unknown_rank();
  const std::vector<Literal> a = {std::string("a")}, b = {std::string("b")};
  return {
      tensor_type({2}),
      tensor_type({3}),
      tensor_type({kAny}),
      tensor_type({}),
      tensor_type({2, 3}),
      tensor_type(unknown),
      tensor_type({2}, DType::kInt32),
      tensor_type({2}, DType::kFloat32, "a"),
      tensor_type({2}, DType::kFloat32, "b"),
      variable_type({2}),
      variable_type({3}),
      variable_type({kAny}),
      variable_type({2, 3}),
      variable_type(unknown),
      variable_type({2}, DType::kInt32),
      variable_type({2}, DType::kFloat32, false),
      variable_type({2}, DType::kFloat32, true, 1),
      literal(int64_t{1}),
      literal(int64_t{2}),
      literal(2.5),
      literal(std::string("1")),
      literal(Bytes{"1"}),
      literal(None()),
      container_type(Container::list(), {}),
      container_type(Container::list(), {tensor_type({2})}),
      container_type(Container::list(), {tensor_type({3})}),
      container_type(Container::list(), {variable_type({2})}),
      container_type(Container::list(), {tensor_type({2}), tensor_type({2})}),
      container_type(Container::list(), {tensor_type({2}), tensor_type({3})}),
      container_type(Container::tuple(), {tensor_type({2})}),
      container_type(*Container::dict(a), {tensor_type({2})}),
      container_type(*Container::dict(b), {tensor_type({2})}),
      container_type(Container::list(), {container_type(Container::list(), {tensor_type({2})})}),
  };
}

TEST_CASE("types are equal if nothing in them differs, and have one hash then") {
  const std::vector<TraceTypeRef> types = unlike_types(), again = unlike_types();
  for (size_t i = 0; i < types.size(); ++i) {
    CAPTURE(types[i]->repr());
    for (size_t j = 0; j < types.size(); ++j) {
      CAPTURE(again[j]->repr());
      CHECK(types[i]->equals(*again[j]) == (i == j));
    }
    CHECK(types[i]->hash() == again[i]->hash());
    CHECK(types[i]->skeleton() == again[i]->skeleton());
    CHECK(types[i]->repr() == again[i]->repr());
  }
}

TEST_CASE("of two types each is a subtype of the other only if they are equal") {
  const std::vector<TraceTypeRef> types = unlike_types(), again = unlike_types();
  for (size_t i = 0; i < types.size(); ++i) {
    for (size_t j = 0; j < types.size(); ++j) {
      CAPTURE(types[i]->repr());
      CAPTURE(again[j]->repr());
      const bool is_below = types[i]->is_subtype_of(*again[j]);
      CHECK((is_below && again[j]->is_subtype_of(*types[i])) == (i == j));
    }
  }
}

TEST_CASE("a common supertype covers both, and is the other of a type that is a subtype") {
  const std::vector<TraceTypeRef> types = unlike_types(), again = unlike_types();
  for (const TraceTypeRef& a : types) {
    for (const TraceTypeRef& b : again) {
      CAPTURE(a->repr());
      CAPTURE(b->repr());
      const TraceTypeRef common = a->common_supertype(*b);
      REQUIRE((common != nullptr) == (b->common_supertype(*a) != nullptr));
      if (common) {
        CHECK(a->is_subtype_of(*common));
        CHECK(b->is_subtype_of(*common));
        CHECK(common->equals(*b->common_supertype(*a)));
        if (a->is_subtype_of(*b)) CHECK(common->equals(*b));
      }
    }
  }
}

TEST_CASE("types of which one may cover the other have one skeleton") {
  const std::vector<TraceTypeRef> types = unlike_types();
  for (const TraceTypeRef& a : types) {
    for (const TraceTypeRef& b : types) {
      CAPTURE(a->repr());
      CAPTURE(b->repr());
      if (a->is_subtype_of(*b) || a->common_supertype(*b)) CHECK(a->skeleton() == b->skeleton());
    }
  }
}

TEST_CASE("a type has the shapes that it is given, and all else as before") {
  for (const TraceTypeRef& type : unlike_types()) {
    CAPTURE(type->repr());
    std::vector<Shape> own, others;
    type->add_shapes(own);
    for (size_t i = 0; i < own.size(); ++i) others.push_back(Shape({7, static_cast<int64_t>(i)}));
    others.push_back({5});  // of the type that comes next
    std::span<const Shape> left = others;
    const TraceTypeRef other = type->with_shapes(left);
    CHECK(left.size() == 1);
    std::vector<Shape> now;
    other->add_shapes(now);
    now.push_back({5});
    CHECK(now == others);
    left = own;
    CHECK(other->with_shapes(left)->equals(*type));
  }
}

}  // namespace
}  // namespace graven::engine
