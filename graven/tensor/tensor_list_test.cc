#include "graven/tensor/tensor_list.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "graven/tensor/allocator.h"

namespace graven::engine {
namespace {

Tensor vector(std::vector<float> values) { return Tensor::vector(std::span<const float>(values)); }
std::vector<float> values_of(const Tensor& x) {
  REQUIRE(x);
  auto data = x.data<float>();
  return {data.begin(), data.end()};
}
std::vector<float> element(const TensorList& list, int64_t i) {
  auto got = list.get(i);
  REQUIRE(got.ok());
  return values_of(*got);
}
TensorList& in(const Ref<TensorList>& list) { return *list; }
Ref<TensorList> list_of(std::initializer_list<Tensor> elements, int64_t max_length = -1) {
  auto list = make_ref<TensorList>(DType::kFloat32, Shape::unknown_rank(), max_length);
  for (const Tensor& x : elements) REQUIRE(list->push_back(x).ok());
  return list;
}
Ref<TensorList> reserved(int64_t length) {
  auto list = make_ref<TensorList>(DType::kFloat32, Shape::unknown_rank());
  list->resize(length);
  return list;
}
Tensor stacked(const TensorList& list, const Shape& element) {
  auto all = list.stack(element);
  REQUIRE_MESSAGE(all.ok(), all.status().message());
  return *all;
}
int64_t allocations() { return Allocator::host().stats().num_allocations; }

TEST_CASE("a list of a million pushes allocates once for each doubling") {
  Tensor x = Tensor::scalar(1.5f);
  const int64_t before = allocations();
  Ref<TensorList> list = list_of({});
  for (int i = 0; i < 1'000'000; ++i) REQUIRE(list->push_back(x).ok());
  CHECK(allocations() - before == 21);  // 1, 2, 4, ... 2^20 rows
  Tensor all = stacked(*list, {});
  CHECK(allocations() - before == 21);
  CHECK(all.num_elements() == 1'000'000);
  CHECK(all.data<float>()[999'999] == 1.5f);
}

TEST_CASE("a list that says how long it becomes allocates once") {
  Tensor x = Tensor::scalar(1.5f);
  const int64_t before = allocations();
  Ref<TensorList> list = list_of({}, 1000);
  for (int i = 0; i < 1000; ++i) REQUIRE(list->push_back(x).ok());
  CHECK(allocations() - before == 1);
  Ref<TensorList> room = reserved(1000);
  for (int i = 0; i < 1000; ++i) REQUIRE(room->set(999 - i, x).ok());
  CHECK(allocations() - before == 2);
  CHECK(stacked(*room, {}).num_elements() == 1000);
  CHECK(allocations() - before == 2);
}

TEST_CASE("a stack shares the memory of the list, which copies it before the next change") {
  Ref<TensorList> list = list_of({vector({1, 2}), vector({3, 4})});
  Tensor all = stacked(*list, {2});
  CHECK(values_of(all) == std::vector<float>{1, 2, 3, 4});
  REQUIRE(list->set(0, vector({5, 6})).ok());
  REQUIRE(list->push_back(vector({7, 8})).ok());
  CHECK(values_of(all) == std::vector<float>{1, 2, 3, 4});
  CHECK(values_of(stacked(*list, {2})) == std::vector<float>{5, 6, 3, 4, 7, 8});
}

TEST_CASE("a stack of few rows does not keep a buffer that is mostly empty") {
  Ref<TensorList> list = list_of({vector({1, 2, 3, 4, 5, 6, 7, 8})}, 1000);
  CHECK(stacked(*list, {8}).bytes() == 32);
  CHECK(stacked(*list, {8}).eager()->buffer()->bytes() == 32);
}

TEST_CASE("clones share rows until one of them changes") {
  Ref<TensorList> list = list_of({vector({1}), vector({2})});
  Ref<Variant> other = list->clone();
  auto& copy = static_cast<TensorList&>(*other);
  const int64_t before = allocations();
  copy.resize(1);
  CHECK(allocations() == before);
  REQUIRE(copy.push_back(vector({9})).ok());
  CHECK(element(copy, 1) == std::vector<float>{9});
  CHECK(element(*list, 1) == std::vector<float>{2});
}

TEST_CASE("a list shares the rows of a tensor, and leaves the tensor as it is") {
  Tensor rows = *Tensor::allocate(DType::kFloat32, {3, 4});
  for (int i = 0; i < 12; ++i) rows.mutable_data<float>()[i] = static_cast<float>(i);
  const int64_t before = allocations();
  Ref<TensorList> list = *TensorList::of_rows(rows, Shape{4});
  CHECK(list->length() == 3);
  CHECK(allocations() == before);
  CHECK(element(*list, 1) == std::vector<float>{4, 5, 6, 7});
  REQUIRE(list->set(1, vector({0, 0, 0, 0})).ok());
  CHECK(rows.data<float>()[4] == 4);
  CHECK(element(*list, 1) == std::vector<float>{0, 0, 0, 0});
  CHECK(element(*list, 2) == std::vector<float>{8, 9, 10, 11});
}

TEST_CASE("elements are set in any order, and dropped from the end") {
  Ref<TensorList> list = reserved(6);
  for (int i : {3, 1, 4, 0}) REQUIRE(list->set(i, vector({static_cast<float>(i)})).ok());
  for (int i : {0, 1, 3, 4}) CHECK(element(*list, i) == std::vector<float>{static_cast<float>(i)});
  CHECK_FALSE(list->is_set(2));
  CHECK_FALSE(list->is_set(5));
  CHECK(values_of(stacked(*list, {1})) == std::vector<float>{0, 1, 0, 3, 4, 0});
  list->resize(3);
  CHECK(values_of(stacked(*list, {1})) == std::vector<float>{0, 1, 0});
  list->resize(2);
  CHECK(values_of(stacked(*list, {1})) == std::vector<float>{0, 1});
  list->resize(4);
  CHECK(list->is_set(1));
  CHECK_FALSE(list->is_set(2));
  REQUIRE(list->set(3, vector({7})).ok());
  CHECK(values_of(stacked(*list, {1})) == std::vector<float>{0, 1, 0, 7});
  list->resize(0);
  REQUIRE(list->push_back(vector({1, 2})).ok());  // nothing is left that says another shape
  CHECK(values_of(stacked(*list, {2})) == std::vector<float>{1, 2});
}

TEST_CASE("elements of different shapes are tensors of their own") {
  Ref<TensorList> list = list_of({vector({1}), vector({2, 3})});
  REQUIRE(list->set(0, Tensor::scalar(4.0f)).ok());
  CHECK(element(*list, 0) == std::vector<float>{4});
  CHECK(list->shape_of(0)->rank() == 0);
  CHECK(element(*list, 1) == std::vector<float>{2, 3});
  CHECK_FALSE(list->merged_shape(Shape::unknown_rank()).ok());
  CHECK(list->stack({2}).status().message() ==
        "Tried to stack elements of incompatible shapes: expected [2], got []");
}

TEST_CASE("long elements are held by handle, and read as views") {
  Tensor rows = *Tensor::allocate(DType::kFloat32, {3, 2048});
  for (float& x : rows.mutable_data<float>()) x = 1;
  Ref<TensorList> list = *TensorList::of_rows(rows, Shape::unknown_rank());
  const int64_t before = allocations();
  Tensor row = *list->get(1);
  REQUIRE(list->set(0, row).ok());
  REQUIRE(list->push_back(row).ok());
  CHECK(allocations() == before);
  CHECK(list->get(3)->raw_data() == row.raw_data());
  CHECK(stacked(*list, {2048}).num_elements() == 4 * 2048);
}

TEST_CASE("elements without bytes need no memory") {
  Tensor rows = *Tensor::allocate(DType::kFloat32, {int64_t{1} << 40, 0});
  Ref<TensorList> list = *TensorList::of_rows(rows, Shape::unknown_rank());
  CHECK(list->get(int64_t{1} << 39)->shape() == Shape{0});
  REQUIRE(list->push_back(*list->get(0)).ok());
  CHECK(stacked(*list, {0}).shape() == Shape{(int64_t{1} << 40) + 1, 0});
}

TEST_CASE("strings and handles are elements") {
  auto list = make_ref<TensorList>(DType::kString, Shape());
  list->resize(2);
  REQUIRE(list->set(1, Tensor::string_scalar("b")).ok());
  Tensor all = stacked(*list, {});
  CHECK(all.data<std::string>()[0].empty());
  CHECK(all.data<std::string>()[1] == "b");
  Ref<TensorList> again = *TensorList::of_rows(all, Shape());
  CHECK(again->get(1)->item<std::string>() == "b");
}

TEST_CASE("a sum adds what both have, and takes what one has, in place") {
  Ref<TensorList> sum = reserved(5), other = reserved(5);
  for (int i : {1, 2, 3}) REQUIRE(sum->set(i, vector({1, 2})).ok());
  for (int i : {0, 2}) REQUIRE(other->set(i, vector({10, 20})).ok());
  const int64_t before = allocations();
  REQUIRE(sum->add(*other).ok());
  CHECK(allocations() == before);
  CHECK(values_of(stacked(*sum, {2})) == std::vector<float>{10, 20, 1, 2, 11, 22, 1, 2, 0, 0});
  CHECK_FALSE(sum->is_set(4));
  REQUIRE(sum->add(*sum->clone()).ok());
  CHECK(element(*sum, 2) == std::vector<float>{22, 44});
}

TEST_CASE("sums of short lists into one of many elements are as short") {
  Ref<TensorList> sum = reserved(1000);
  Tensor row = *Tensor::allocate(DType::kFloat32, {1, 8});
  for (float& x : row.mutable_data<float>()) x = 1;
  const int64_t before = allocations();
  for (int i = 999; i >= 0; --i) {
    Ref<TensorList> one = reserved(1000);
    REQUIRE(one->reserve(i, i + 1, {8}).ok());
    REQUIRE(one->set_to_row(i, row, 0).ok());
    REQUIRE(sum->add(*one).ok());
  }
  CHECK(allocations() - before == 1001);
  CHECK(values_of(stacked(*sum, {8})) == std::vector<float>(8000, 1));
}

TEST_CASE("lists that do not fit are not added") {
  auto error_of = [](const Ref<TensorList>& a, const Variant& b) { return in(a).add(b).message(); };
  CHECK(error_of(reserved(1), *reserved(2)) ==
        "Trying to add two lists of tensors with different lengths. One is 1 and the other is 2");
  CHECK(error_of(reserved(0), *make_ref<TensorList>(DType::kInt32, Shape())) ==
        "Trying to add two lists of tensors of different dtypes. One is float and the other is "
        "int32");
  CHECK(error_of(make_ref<TensorList>(DType::kFloat32, Shape{2}),
                 *make_ref<TensorList>(DType::kFloat32, Shape{3})) ==
        "Trying to add two lists of tensors with incompatible element shapes. One is [2] and the "
        "other is [3]");
  CHECK(error_of(list_of({vector({1})}), *list_of({vector({1, 2})})) ==
        "Trying to add two tensors with incompatible element shapes. One is [1] and the other is "
        "[2]");
}

TEST_CASE("the zero of a list has its elements' shapes, and none where none was set") {
  Ref<TensorList> list = reserved(3);
  REQUIRE(list->set(1, vector({1, 2})).ok());
  auto zero = list->zeros_like();
  REQUIRE(zero.ok());
  const auto& zeros = static_cast<const TensorList&>(**zero);
  CHECK(element(zeros, 1) == std::vector<float>{0, 0});
  CHECK_FALSE(zeros.is_set(0));
  CHECK(element(*list, 1) == std::vector<float>{1, 2});
  REQUIRE(list->set(0, vector({1})).ok());
  zero = list->zeros_like();
  REQUIRE(zero.ok());
  CHECK(element(static_cast<const TensorList&>(**zero), 0) == std::vector<float>{0});
}

TEST_CASE("a list that memory does not suffice for stays as it was") {
  Ref<TensorList> list = reserved(int64_t{1} << 60);
  CHECK(list->set(0, vector({1, 2})).code() == Code::kResourceExhausted);
  CHECK_FALSE(list->is_set(0));
  Ref<TensorList> pushed = list_of({vector({1, 2})});
  pushed->resize((int64_t{1} << 60) - 1);
  CHECK(pushed->push_back(vector({1, 2})).code() == Code::kResourceExhausted);
  CHECK(pushed->length() == (int64_t{1} << 60) - 1);
  CHECK(element(*pushed, 0) == std::vector<float>{1, 2});
}

// Gives element i of list l as [10 * l, i], up to three at a time, and counts how often it is
// asked.
class Numbers final : public ElementSource {
 public:
  Result<std::vector<Tensor>> elements_up_to(int number, int64_t last) override {
    ++num_calls;
    std::vector<Tensor> elements;
    for (int64_t i = last / 3 * 3; i <= last; ++i) {
      elements.push_back(vector({10.0f * static_cast<float>(number), static_cast<float>(i)}));
    }
    return elements;
  }
  int num_calls = 0;
};

TEST_CASE("a computed list makes its last elements, some at a time") {
  auto numbers = make_ref<Numbers>();
  Ref<TensorList> list = TensorList::computed(DType::kFloat32, Shape{2}, 8, numbers, 1);
  for (int64_t i = 7; i >= 0; --i) {
    REQUIRE(list->compute_last().ok());
    CHECK(element(*list, i) == std::vector<float>{10, static_cast<float>(i)});
    CHECK(numbers->num_calls == 3 - i / 3);
    list->resize(i);
  }
  CHECK(!list->is_computed());
  CHECK(list->length() == 0);
}

TEST_CASE("all of a computed list, its zero and its sum are those of its elements") {
  auto numbers = make_ref<Numbers>();
  auto computed = [&] { return TensorList::computed(DType::kFloat32, Shape{2}, 4, numbers, 2); };
  Ref<TensorList> list = computed();
  REQUIRE(list->compute_all().ok());
  CHECK(values_of(stacked(*list, {2})) == std::vector<float>{20, 0, 20, 1, 20, 2, 20, 3});
  auto zero = computed()->zeros_like();
  REQUIRE(zero.ok());
  CHECK(element(static_cast<const TensorList&>(**zero), 3) == std::vector<float>{0, 0});
  REQUIRE(list->add(*computed()).ok());
  CHECK(element(*list, 3) == std::vector<float>{40, 6});
  Ref<TensorList> sum = computed();
  REQUIRE(sum->compute_last().ok());
  REQUIRE(sum->add(*list).ok());
  CHECK(element(*sum, 1) == std::vector<float>{60, 3});
}

}  // namespace
}  // namespace graven::engine
