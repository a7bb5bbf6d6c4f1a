#include "graven/tensor/optional.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "graven/tensor/tensor_list.h"

namespace graven::engine {
namespace {

Ref<Optional> optional_of(float x, float y) {
  return make_ref<Optional>(std::vector<Tensor>{Tensor::scalar(x), Tensor::scalar(y)});
}

float component(const Optional& optional, size_t i) {
  return optional.values()[i].data<float>()[0];
}

}  // namespace

TEST_CASE("optionals add component by component, and nothing is a zero") {
  const auto sum = optional_of(1, 2);
  REQUIRE(sum->add(*optional_of(10, 20)).ok());
  CHECK(component(*sum, 0) == 11);
  CHECK(component(*sum, 1) == 22);
  REQUIRE(sum->add(Optional()).ok());
  CHECK(component(*sum, 1) == 22);
  const auto nothing = make_ref<Optional>();
  REQUIRE(nothing->add(*sum).ok());
  REQUIRE(nothing->has_value());
  CHECK(component(*nothing, 0) == 11);
}

TEST_CASE("optionals of other components, and other variants, are not added") {
  const auto pair = optional_of(1, 2);
  const Optional one({Tensor::scalar(1.0f)});
  CHECK(pair->add(one).message() == "Cannot add optionals of 2 and 1 components");
  const Optional other({Tensor::scalar(1.0f), Tensor::scalar(1)});
  CHECK(pair->add(other).message() ==
        "Cannot add optionals whose component 1 is of float32 and of int32");
  const TensorList list(DType::kFloat32, Shape());
  CHECK(pair->add(list).code() == Code::kUnimplemented);
}

TEST_CASE("strings in optionals stay as they are in a sum") {
  Tensor text = *Tensor::allocate(DType::kString, Shape());
  text.mutable_data<std::string>()[0] = "a";
  Optional sum({text, Tensor::scalar(1.0f)});
  REQUIRE(sum.add(*sum.clone()).ok());
  CHECK(sum.values()[0].data<std::string>()[0] == "a");
  CHECK(component(sum, 1) == 2);
}

TEST_CASE("the zero of an optional has zeros where it has a value") {
  auto zeros = optional_of(1, 2)->zeros_like();
  REQUIRE(zeros.ok());
  const auto& found = static_cast<const Optional&>(**zeros);
  REQUIRE(found.has_value());
  CHECK(component(found, 0) == 0);
  CHECK(component(found, 1) == 0);
  auto nothing = Optional().zeros_like();
  REQUIRE(nothing.ok());
  CHECK_FALSE(static_cast<const Optional&>(**nothing).has_value());
}

TEST_CASE("a copy of an optional does not change with it") {
  const auto own = optional_of(1, 2);
  const Ref<Variant> copy = own->clone();
  REQUIRE(own->add(*optional_of(1, 1)).ok());
  CHECK(component(*own, 0) == 2);
  CHECK(component(static_cast<const Optional&>(*copy), 0) == 1);
  CHECK(own->components().size() == 2);
  CHECK(Optional().components().empty());
}

}  // namespace graven::engine
