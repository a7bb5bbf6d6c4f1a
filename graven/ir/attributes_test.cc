#include "graven/ir/attributes.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "graven/ir/body.h"
#include "graven/ir/testing.h"

namespace graven::engine {
namespace {

// Changes one attribute of each kind; the index is that of the field.
AllKindsAttrs changed(size_t field) {
  AllKindsAttrs a;
  switch (field) {
    case 0:
      a.flag = true;
      break;
    case 1:
      a.number = 1;
      break;
    case 2:
      a.ratio = -0.0f;
      break;
    case 3:
      a.text = "t";
      break;
    case 4:
      a.type = DType::kHalf;
      break;
    case 5:
      a.shape = Shape::unknown_rank();
      break;
    case 6:
      a.value = Tensor::scalar(1);
      break;
    case 7:
      a.body = Body::create("b", make_ref<Graph>("b"));
      break;
    case 8:
      a.numbers = {0};
      break;
    case 9:
      a.ratios = {0};
      break;
    case 10:
      a.texts = {""};
      break;
    case 11:
      a.types = {DType::kInvalid};
      break;
    case 12:
      a.shapes = {Shape()};
      break;
    default:
      a.bodies = {nullptr};
      break;
  }
  return a;
}

TEST_CASE("attributes are equal if every member is, and then their hashes are") {
  size_t num_fields = attrs_type<AllKindsAttrs>().fields.size();
  REQUIRE(num_fields == 14);
  for (size_t i = 0; i < num_fields; ++i) {
    CAPTURE(i);
    AllKindsAttrs one = changed(i), copy = one;
    CHECK(AttrsRef(one) == AttrsRef(copy));
    CHECK(AttrsRef(one).hash() == AttrsRef(copy).hash());
    CHECK(!(AttrsRef(one) == AttrsRef(AllKindsAttrs())));
    CHECK(AttrsRef(one).hash() != AttrsRef(AllKindsAttrs()).hash());
    for (size_t j = 0; j < i; ++j) CHECK(!(AttrsRef(one) == AttrsRef(changed(j))));
  }
}

TEST_CASE("tensors are equal by dtype, shape and bits; floats by bits") {
  auto same = [](const AttrValue& a, const AttrValue& b) {
    CHECK((hash_of(a) == hash_of(b)) == equal(a, b));
    return equal(a, b);
  };
  double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(same(Tensor::scalar(nan), Tensor::scalar(nan)));
  CHECK(!same(Tensor::scalar(0.0), Tensor::scalar(-0.0)));
  CHECK(!same(Tensor::scalar(0.0), Tensor::scalar(int64_t{0})));
  CHECK(same(Tensor::string_scalar("a"), Tensor::string_scalar("a")));
  CHECK(!equal(Tensor::string_scalar("a"), Tensor::string_scalar("b")));
  CHECK(!equal(Tensor::scalar(1), Tensor::scalar(1).with_shape(Shape{1})));
  CHECK(equal(Tensor(), Tensor()));
  CHECK(!equal(Tensor(), Tensor::scalar(1)));
  CHECK(same(nan, nan));
  CHECK(!same(0.0, -0.0));
  CHECK(same(std::vector<double>{nan}, std::vector<double>{nan}));
  CHECK(!same(std::vector<double>{0.0}, std::vector<double>{-0.0}));
  CHECK(!same(std::vector<double>{0.0}, std::vector<double>{0.0, 0.0}));
  CHECK(!same(int64_t{1}, true));
}

TEST_CASE("an attribute is read and set by name, and only to a value of its kind") {
  Attrs attrs(attrs_type<AllKindsAttrs>());
  CHECK(attrs.set("number", int64_t{7}).ok());
  CHECK(attrs.set("ratio", 0.5).ok());
  CHECK(attrs.set("texts", std::vector<std::string>{"a", "b"}).ok());
  AttrsRef ref = attrs;
  CHECK(ref.as<AllKindsAttrs>().number == 7);
  CHECK(ref.as<AllKindsAttrs>().ratio == 0.5f);
  CHECK(std::get<std::vector<std::string>>(ref.get("texts")).size() == 2);
  CHECK(!has_value(ref.get("nope")));
  // A number may stand for a float, as in Python.
  CHECK(attrs.set("ratio", int64_t{3}).ok());
  CHECK(AttrsRef(attrs).as<AllKindsAttrs>().ratio == 3.0f);
  CHECK(attrs.set("number", 1.5).message() == "Attribute 'number' has another type than 1.5");
  CHECK(attrs.set("nope", true).message() == "There is no attribute 'nope'");
}

TEST_CASE("owned attributes are copied, moved and assigned with what they hold") {
  AllKindsAttrs one = changed(10);
  Attrs a{AttrsRef(one)}, b = a;
  CHECK(AttrsRef(a) == AttrsRef(b));
  Attrs c = std::move(a);
  CHECK(AttrsRef(c) == AttrsRef(one));
  b = Attrs(attrs_type<NoAttrs>());
  CHECK(!(AttrsRef(b) == AttrsRef(c)));
  CHECK(AttrsRef() == AttrsRef(NoAttrs()));
}

TEST_CASE("values print in one line") {
  CHECK(to_text(AttrValue(2.0)) == "2.0");
  CHECK(to_text(AttrValue(std::string("a\"\n"))) == "\"a\\\"\\n\"");
  CHECK(to_text(AttrValue(Shape{2, Dim::unknown()})) == "[2,?]");
  CHECK(to_text(AttrValue(std::vector<DType>{DType::kInt32, DType::kBool})) == "[int32, bool]");
  CHECK(to_text(AttrValue(Tensor::scalar(1.5f))) == "float32[](1.5)");
  CHECK(to_text(AttrValue(Tensor())) == "none");
  CHECK(to_text(AttrValue(Ref<Body>())) == "@none");
}

}  // namespace
}  // namespace graven::engine
