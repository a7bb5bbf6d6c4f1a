#include "graven/function/key.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace graven::engine {
namespace {

using Row = std::vector<uint64_t>;

template <typename Write>
Row row_of(Write&& write, bool equal_as_numbers = true) {
  KeyWriter key(equal_as_numbers);
  write(key);
  return Row(key.row().begin(), key.row().end());
}

Row spec_row(const Shape& shape, DType dtype = DType::kFloat32) {
  return row_of([&](KeyWriter& key) { key.add_spec(dtype, shape, /*is_named=*/false); });
}

Row with(const Wildcards& wildcards, const Row& row) {
  KeyWords words;
  if (!wildcards.apply(row, words)) return {};
  return Row(words.begin(), words.end());
}

TEST_CASE("a tensor and the spec of its type have one row") {
  Tensor tensor = *Tensor::allocate(DType::kInt32, Shape{2, 3});
  Row row = row_of([&](KeyWriter& key) { key.add_tensor(tensor); });
  CHECK(row == spec_row({2, 3}, DType::kInt32));
  CHECK(row != spec_row({2, 3}));
  CHECK(row != spec_row({2, 4}, DType::kInt32));
  CHECK(row != spec_row({2}, DType::kInt32));
}

TEST_CASE("numbers that are equal have one row where that is asked for") {
  for (bool as_numbers : {true, false}) {
    CAPTURE(as_numbers);
    Row one = row_of([](KeyWriter& key) { key.add_integer(1); }, as_numbers);
    CHECK((row_of([](KeyWriter& key) { key.add_float(1); }, as_numbers) == one) == as_numbers);
    CHECK((row_of([](KeyWriter& key) { key.add_bool(true); }, as_numbers) == one) == as_numbers);
    CHECK((row_of([](KeyWriter& key) { key.add_complex(1); }, as_numbers) == one) == as_numbers);
    Row zero = row_of([](KeyWriter& key) { key.add_float(0.0); }, as_numbers);
    CHECK((row_of([](KeyWriter& key) { key.add_float(-0.0); }, as_numbers) == zero) == as_numbers);
    Row large = row_of([](KeyWriter& key) { key.add_integer(int64_t{1} << 60); }, as_numbers);
    CHECK((row_of([](KeyWriter& key) { key.add_float(0x1p60); }, as_numbers) == large) ==
          as_numbers);
    CHECK(row_of([](KeyWriter& key) { key.add_float(0x1p63); }, as_numbers) !=
          row_of([](KeyWriter& key) { key.add_integer(std::numeric_limits<int64_t>::min()); },
                 as_numbers));
    CHECK(row_of([](KeyWriter& key) { key.add_float(-std::nan("7")); }, as_numbers) ==
          row_of([](KeyWriter& key) { key.add_float(std::nan("")); }, as_numbers));
  }
}

TEST_CASE("rows of texts and containers do not run into each other") {
  auto text = [](std::string_view bytes) {
    return row_of([&](KeyWriter& key) { key.add_text(bytes); });
  };
  using namespace std::string_view_literals;
  CHECK(text("abc") != text("abc\0"sv));
  CHECK(text("") != text("\0"sv));
  CHECK(text("12345678") == text("12345678"));
  CHECK(text("a") != row_of([](KeyWriter& key) { key.add_bytes("a"); }));
  auto nested = [](size_t first, size_t second) {
    return row_of([&](KeyWriter& key) {
      key.begin(KeyTag::kTuple, 2);
      key.begin(KeyTag::kList, first);
      for (size_t i = 0; i < first; ++i) key.add_none();
      key.begin(KeyTag::kList, second);
      for (size_t i = 0; i < second; ++i) key.add_none();
    });
  };
  CHECK(nested(1, 2) != nested(2, 1));
}

TEST_CASE("wildcards are the unknown sizes and ranks of a row") {
  CHECK(Wildcards::of_row(spec_row({2, 3})).empty());
  Wildcards first = Wildcards::of_row(spec_row({Dim::unknown(), 3}));
  Wildcards both = Wildcards::of_row(spec_row({Dim::unknown(), Dim::unknown()}));
  Wildcards shape = Wildcards::of_row(spec_row(Shape::unknown_rank()));
  CHECK(with(first, spec_row({5, 3})) == spec_row({Dim::unknown(), 3}));
  CHECK(with(both, spec_row({5, 3})) == spec_row({Dim::unknown(), Dim::unknown()}));
  CHECK(with(shape, spec_row({5, 3})) == spec_row(Shape::unknown_rank()));
  CHECK(with(shape, spec_row(Shape::unknown_rank())) == spec_row(Shape::unknown_rank()));
  CHECK(first.is_within(both));
  CHECK(first.is_within(shape));
  CHECK_FALSE(both.is_within(first));
  CHECK_FALSE(shape.is_within(both));
}

TEST_CASE("wildcards do not fit a row without such a dimension") {
  Wildcards second = Wildcards::of_row(spec_row({3, Dim::unknown()}));
  CHECK(with(second, spec_row({5})).empty());
  CHECK(with(second, spec_row(Shape::unknown_rank())).empty());
  CHECK(with(second, row_of([](KeyWriter& key) { key.add_text("no shape"); })).empty());
  CHECK(with(second, {}).empty());
}

TEST_CASE("the literal -1 is no wildcard") {
  Row row = row_of([](KeyWriter& key) {
    key.begin(KeyTag::kTuple, 2);
    key.add_integer(-1);
    key.add_spec(DType::kFloat32, {Dim::unknown()}, false);
  });
  Wildcards wildcards = Wildcards::of_row(row);
  CHECK_FALSE(wildcards.empty());
  Row call = row_of([](KeyWriter& key) {
    key.begin(KeyTag::kTuple, 2);
    key.add_integer(7);
    key.add_spec(DType::kFloat32, {4}, false);
  });
  Row wide = with(wildcards, call);
  CHECK(wide != row);
  CHECK(wide[2] == 7);
}

TEST_CASE("a row is widened to the shapes of a type") {
  Row row = row_of([](KeyWriter& key) {
    key.add_spec(DType::kFloat32, {2, 3}, false);
    key.add_integer(5);
    key.add_spec(DType::kInt32, {4}, false);
  });
  const Shape shapes[] = {{2, Dim::unknown()}, Shape::unknown_rank()};
  Row wide = row_of([&](KeyWriter& key) {
    key.add_spec(DType::kFloat32, shapes[0], false);
    key.add_integer(5);
    key.add_spec(DType::kInt32, shapes[1], false);
  });
  CHECK(widened(row, shapes) == wide);
  CHECK_FALSE(widened(row, std::span(shapes, 1)));
  CHECK(widened({}, {}) == Row());
}

TEST_CASE("a variable is known by its number in the call, and fed once") {
  Tensor v = *Tensor::allocate(DType::kFloat32, {}), w = *Tensor::allocate(DType::kFloat32, {});
  auto resource = [](const Tensor& t) { return reinterpret_cast<const Resource*>(t.get()); };
  auto write = [&](const Tensor& a, const Tensor& b) {
    KeyWriter key(true);
    for (const Tensor& x : {a, b}) {
      key.add_variable(x, resource(x), DType::kFloat32, Shape{2}, /*trainable=*/true);
    }
    return std::pair(Row(key.row().begin(), key.row().end()), key.tensors().size());
  };
  CHECK(write(v, w) == write(w, v));
  CHECK(write(v, v).first != write(v, w).first);
  CHECK(write(v, v).second == 1);
  Row any = row_of([&](KeyWriter& key) {
    for (const Tensor& x : {v, w}) {
      key.add_variable(x, resource(x), DType::kFloat32, Shape::unknown_rank(), true);
    }
  });
  CHECK(with(Wildcards::of_row(any), write(v, w).first) == any);
}

}  // namespace
}  // namespace graven::engine
