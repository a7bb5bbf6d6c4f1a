#include <doctest/doctest.h>

#include <cmath>

#include "graven/expr/fuse.h"
#include "graven/expr/scalar.h"

namespace graven::engine {
namespace {

template <typename Body>
Result<Expression> record(std::initializer_list<DType> dtypes, Body body) {
  Recorder recorder;
  std::vector<Scalar> inputs;
  for (DType dtype : dtypes) inputs.push_back(recorder.input(dtype));
  recorder.output(body(inputs));
  return recorder.finish();
}

TEST_CASE("a body becomes one node per operation, and its text shows them") {
  auto relu = record({DType::kFloat32}, [](auto& x) { return max(x[0], zero_like(x[0])); });
  REQUIRE(relu.ok());
  CHECK(relu->to_text() ==
        "%0 = input.float32 0\n"
        "%1 = constant.float32 0\n"
        "%2 = max.float32 %0, %1\n"
        "return %2 : float32\n");
}

TEST_CASE("equal nodes are merged, constants of different bits are not") {
  auto e = record({DType::kFloat32}, [](auto& x) { return (x[0] * 2 + 1) * (x[0] * 2 + 1); });
  REQUIRE(e.ok());
  CHECK(e->nodes().size() == 6);
  auto zeros = record({DType::kFloat32}, [](auto& x) { return x[0] * 0.0 + x[0] * -0.0; });
  REQUIRE(zeros.ok());
  CHECK(zeros->nodes().size() == 6);
}

TEST_CASE("the dtype of a scalar decides in plain C++") {
  auto body = [](auto& x) { return x[0].dtype() == DType::kInt32 ? x[0] + 1 : x[0]; };
  CHECK(record({DType::kInt32}, body)->nodes().size() == 3);
  CHECK(record({DType::kFloat32}, body)->nodes().size() == 1);
}

TEST_CASE("half computes in float32 and rounds where it is stored or cast") {
  auto e = record({DType::kHalf}, [](auto& x) { return x[0] + 0.1; });
  REQUIRE(e.ok());
  CHECK(e->to_text() ==
        "%0 = input.float32 0\n"
        "%1 = constant.float32 0.099975586\n"
        "%2 = add.float32 %0, %1\n"
        "return %2 : float16\n");
  auto cast_down = record({DType::kFloat64}, [](auto& x) { return cast(x[0], DType::kHalf); });
  CHECK(cast_down->to_text() ==
        "%0 = input.float64 0\n"
        "%1 = cast.float32 %0\n"
        "%2 = round_to_half.float32 %1\n"
        "return %2 : float16\n");
}

TEST_CASE("complex scalars are two nodes") {
  auto e = record({DType::kComplex64, DType::kComplex64}, [](auto& x) { return x[0] * x[1]; });
  REQUIRE(e.ok());
  CHECK(e->to_text() ==
        "%0 = input.float32 0.real\n"
        "%1 = input.float32 0.imag\n"
        "%2 = input.float32 1.real\n"
        "%3 = input.float32 1.imag\n"
        "%4 = mul.float32 %0, %2\n"
        "%5 = mul.float32 %1, %3\n"
        "%6 = mul.float32 %0, %3\n"
        "%7 = mul.float32 %1, %2\n"
        "%8 = sub.float32 %4, %5\n"
        "%9 = add.float32 %6, %7\n"
        "return %8+%9i : complex64\n");
}

TEST_CASE("mistakes in a body are internal errors that name the instruction and the dtypes") {
  auto mixed = record({DType::kFloat32, DType::kInt32},
                      [](auto& x) { return x[0] + cast(x[1], DType::kInt64); });
  CHECK(mixed.status().code() == Code::kInternal);
  CHECK(mixed.status().message() ==
        "body of an op: add of float32 and int64: operands must have one dtype");
  auto missing = record({DType::kInt32}, [](auto& x) { return exp(x[0]); });
  CHECK(missing.status().message() == "body of an op: exp does not exist for int32");
  auto complex = record({DType::kComplex64}, [](auto& x) { return erf(x[0]); });
  CHECK(complex.status().message() == "body of an op: erf does not exist for complex64");
  auto condition = record({DType::kInt32}, [](auto& x) { return select(x[0], x[0], x[0]); });
  CHECK(condition.status().message() == "body of an op: condition of select is int32, not bool");
  auto empty = record({DType::kInt32}, [](auto&) { return Scalar(); });
  CHECK(empty.status().message() == "body of an op: an output has no value");
}

TEST_CASE("limits follow the dtype") {
  auto text = [](DType dtype, Scalar (*limit)(Scalar)) {
    Recorder recorder;
    recorder.output(limit(recorder.input(dtype)));
    std::string lines = recorder.finish()->to_text();
    size_t from = lines.find("%1 = ") + 5;
    return lines.substr(from, lines.find('\n', from) - from);
  };
  CHECK(text(DType::kInt8, lowest_like) == "constant.int8 -128");
  CHECK(text(DType::kUInt64, highest_like) == "constant.uint64 18446744073709551615");
  CHECK(text(DType::kInt64, lowest_like) == "constant.int64 -9223372036854775808");
  CHECK(text(DType::kBool, highest_like) == "constant.bool true");
  CHECK(text(DType::kHalf, highest_like) == "constant.float32 65504");
  CHECK(text(DType::kFloat64, infinity_like) == "constant.float64 inf");
}

TEST_CASE("fusing puts members one after the other and rounds what would have been stored") {
  auto add_tenth = record({DType::kHalf}, [](auto& x) { return x[0] + 0.5; });
  auto mul = record({DType::kHalf, DType::kHalf}, [](auto& x) { return x[0] * x[1]; });
  REQUIRE(add_tenth.ok());
  REQUIRE(mul.ok());
  const DType inputs[] = {DType::kHalf};
  const FusionMember members[] = {{&*add_tenth, {{-1, 0}}}, {&*mul, {{0, 0}, {-1, 0}}}};
  const FusionMember::Source outputs[] = {{1, 0}, {0, 0}};
  CHECK(fuse_expressions(inputs, members, outputs).to_text() ==
        "%0 = input.float32 0\n"
        "%1 = constant.float32 0.5\n"
        "%2 = add.float32 %0, %1\n"
        "%3 = round_to_half.float32 %2\n"
        "%4 = mul.float32 %3, %0\n"
        "return %4 : float16, %2 : float16\n");
}

TEST_CASE("fusing merges what two members both compute, and hands on inputs and complex parts") {
  auto square = record({DType::kComplex64}, [](auto& x) { return x[0] * x[0]; });
  const DType inputs[] = {DType::kComplex64};
  const FusionMember members[] = {{&*square, {{-1, 0}}}, {&*square, {{-1, 0}}}};
  const FusionMember::Source outputs[] = {{1, 0}, {-1, 0}};
  Expression fused = fuse_expressions(inputs, members, outputs);
  CHECK(fused.nodes().size() == square->nodes().size());
  CHECK(fused.outputs()[1] == Expression::Output{DType::kComplex64, 0, 1});
}

// Integer division that refuses a divisor of 0.
Scalar divide(Scalar x, Scalar y) {
  trap_if(y == zero_like(y), "Integer division by zero");
  return x / y;
}

TEST_CASE("a trap stands in the text, in equality and in the hash") {
  auto trapping =
      record({DType::kInt32, DType::kInt32}, [](auto& x) { return divide(x[0], x[1]); });
  REQUIRE(trapping.ok());
  CHECK(trapping->to_text() ==
        "%0 = input.int32 0\n"
        "%1 = input.int32 1\n"
        "%2 = constant.int32 0\n"
        "%3 = equal.bool %1, %2\n"
        "%4 = div.int32 %0, %1\n"
        "trap %3 in member 0: \"Integer division by zero\"\n"
        "return %4 : int32\n");
  auto silent = record({DType::kInt32, DType::kInt32}, [](auto& x) {
    (void)(x[1] == zero_like(x[1]));
    return x[0] / x[1];
  });
  CHECK(silent->nodes().size() == trapping->nodes().size());
  CHECK(!(*silent == *trapping));
  CHECK(silent->hash() != trapping->hash());
}

TEST_CASE("a condition that constants alone make false is no trap") {
  auto traps = [](DType dtype, int64_t divisor) {
    auto e = record({dtype}, [&](auto& x) { return divide(x[0], integer_like(x[0], divisor)); });
    return e->traps().size();
  };
  for (DType dtype : {DType::kInt8, DType::kInt32, DType::kInt64, DType::kUInt8, DType::kUInt64}) {
    CHECK(traps(dtype, 3) == 0);
    CHECK(traps(dtype, -1) == 0);
    CHECK(traps(dtype, 0) == 1);
  }
  auto is_negative = record({DType::kInt16}, [](auto& x) {
    trap_if(integer_like(x[0], -1) < zero_like(x[0]), "negative");
    trap_if(integer_like(x[0], 1) < zero_like(x[0]), "not negative");
    return x[0];
  });
  REQUIRE(is_negative->traps().size() == 1);
  CHECK(is_negative->traps()[0].message == "negative");
}

TEST_CASE("a trap whose condition is no bool is a mistake of the body") {
  auto e = record({DType::kInt32}, [](auto& x) {
    trap_if(x[0], "no");
    return x[0];
  });
  CHECK(e.status().message() == "body of an op: condition of trap_if is int32, not bool");
}

TEST_CASE("fusing keeps each member's traps, but those of a known divisor") {
  auto add = record({DType::kInt32, DType::kInt32}, [](auto& x) { return x[0] + x[1]; });
  auto div = record({DType::kInt32, DType::kInt32}, [](auto& x) { return divide(x[0], x[1]); });
  const DType inputs[] = {DType::kInt32, DType::kInt32, DType::kInt32};
  const FusionMember members[] = {
      {&*div, {{-1, 0}, {-1, 1}}}, {&*add, {{0, 0}, {0, 0}}}, {&*div, {{1, 0}, {-1, 2}}}};
  const FusionMember::Source outputs[] = {{2, 0}};
  Expression fused = fuse_expressions(inputs, members, outputs);
  REQUIRE(fused.traps().size() == 2);
  CHECK(fused.traps()[0].member == 0);
  CHECK(fused.traps()[1].member == 2);
  const KnownInput known[] = {{1, 3}};
  fused = fuse_expressions(inputs, members, outputs, known);
  CHECK(fused.to_text() ==
        "%0 = input.int32 0\n"
        "%1 = constant.int32 3\n"
        "%2 = constant.int32 0\n"
        "%3 = equal.bool %1, %2\n"
        "%4 = div.int32 %0, %1\n"
        "%5 = add.int32 %4, %4\n"
        "%6 = input.int32 2\n"
        "%7 = equal.bool %6, %2\n"
        "%8 = div.int32 %5, %6\n"
        "trap %7 in member 2: \"Integer division by zero\"\n"
        "return %8 : int32\n");
}

TEST_CASE("the members of a group are numbered as the caller says") {
  auto div = record({DType::kInt32, DType::kInt32}, [](auto& x) { return divide(x[0], x[1]); });
  const DType inputs[] = {DType::kInt32, DType::kInt32};
  const FusionMember members[] = {{&*div, {{-1, 0}, {-1, 1}}, 7}};
  const FusionMember::Source outputs[] = {{0, 0}};
  CHECK(fuse_expressions(inputs, members, outputs).traps()[0].member == 7);
}

TEST_CASE("bits are read as another type of their size, as no other") {
  auto text = [](DType from, DType to) {
    auto e = record({from}, [&](auto& x) { return bit_cast(x[0], to); });
    return e.ok() ? e->to_text() : e.status().message();
  };
  CHECK(text(DType::kFloat32, DType::kInt32) ==
        "%0 = input.float32 0\n"
        "%1 = bit_cast.int32 %0\n"
        "return %1 : int32\n");
  CHECK(text(DType::kUInt64, DType::kFloat64).find("bit_cast.float64") != std::string::npos);
  CHECK(text(DType::kFloat32, DType::kInt64) == "body of an op: bit_cast of float32 to int64");
  CHECK(text(DType::kInt32, DType::kHalf) == "body of an op: bit_cast of int32 to float16");
  CHECK(text(DType::kInt8, DType::kBool) == "body of an op: bit_cast of int8 to bool");
}

TEST_CASE("expressions are equal, and hash equally, if their nodes are") {
  auto once = record({DType::kFloat32}, [](auto& x) { return x[0] * 2; });
  auto again = record({DType::kFloat32}, [](auto& x) { return x[0] * 2; });
  auto other = record({DType::kFloat32}, [](auto& x) { return x[0] * 3; });
  CHECK(*once == *again);
  CHECK(once->hash() == again->hash());
  CHECK(!(*once == *other));
  CHECK(once->hash() != other->hash());
  CHECK(once->cost() > 0);
}

}  // namespace
}  // namespace graven::engine
