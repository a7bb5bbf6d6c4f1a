#include "graven/ir/op.h"

#include <doctest/doctest.h>

#include "graven/ir/structural_ops.h"
#include "graven/ops/debug_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/random_ops.h"

namespace graven::engine {
namespace {

Tensor of(DType dtype) { return *Tensor::allocate(dtype, Shape()); }

struct ListAttrs {
  std::vector<DType> Tin, Tout;
  int64_t num = 2;
  DType T = DType::kInvalid;
  static constexpr auto fields() {
    return std::tuple(field("Tin", &ListAttrs::Tin), field("Tout", &ListAttrs::Tout),
                      field("num", &ListAttrs::num), field("T", &ListAttrs::T));
  }
};

const Op* op_of(OpRecord record) {
  static OpRegistry registry;
  return registry.define<ListAttrs>(std::move(record)).op;
}

TEST_CASE("the records of all ops parse, and a broken one is remembered") {
  CHECK(OpRegistry::global().errors().empty());
  OpRegistry registry;
  registry.define<NoAttrs>({.name = "A", .inputs = {"x float"}});
  registry.define<NoAttrs>({.name = "B", .inputs = {"x: nope"}});
  registry.define<NoAttrs>({.name = "C", .inputs = {"x: N * float", "y: M * float"}});
  registry.define<NoAttrs>({.name = "C"});
  registry.define<NoAttrs>(
      {.name = "D", .inputs = {"x: N * float", "axis: int32"}, .values_for_inference = {1}});
  registry.define<NoAttrs>({.name = "E", .inputs = {"x: float"}, .values_for_inference = {-2}});
  registry.define<NoAttrs>(
      {.name = "F", .inputs = {"x: N * float", "axis: int32"}, .values_for_inference = {-1}});
  REQUIRE(registry.errors().size() == 6);
  CHECK(registry.errors()[0] == "A: no ':' in 'x float'");
  CHECK(registry.errors()[1] == "B: 'nope' is no dtype and no attribute");
  CHECK(registry.errors()[2] == "C: several lists among the inputs that are not all of N tensors");
  CHECK(registry.errors()[3] == "C: defined twice");
  CHECK(registry.errors()[4] == "D: values_for_inference: 1 is no input, or lies in a list");
  CHECK(registry.errors()[5] == "E: values_for_inference: -2 is no input, or lies in a list");
}

TEST_CASE("an op is found by its name") {
  CHECK(OpRegistry::global().find("AddV2") == kAddV2.op);
  CHECK(OpRegistry::global().find("addv2") == nullptr);
}

TEST_CASE("flat inputs are named, also within a list") {
  const Op* op = op_of({.name = "Named",
                        .inputs = {"a: float", "values: num * T", "axis: int32"},
                        .types = {{"T", kAllTypes}}});
  CHECK(op->flat_input_name(0, 4) == "a");
  CHECK(op->flat_input_name(1, 4) == "values_0");
  CHECK(op->flat_input_name(2, 4) == "values_1");
  CHECK(op->flat_input_name(3, 4) == "axis");
}

TEST_CASE("type attributes are bound by inputs, and checked in the words of each mode") {
  const Op& add = *kAddV2;
  TypeBindings types;
  CHECK(add.bind_types(std::vector{of(DType::kInt32), of(DType::kInt32)}, NoAttrs(), true, types)
            .ok());
  CHECK(types[0] == DType::kInt32);
  std::vector mixed = {of(DType::kInt32), of(DType::kFloat32)};
  Status eager = add.bind_types(mixed, NoAttrs(), true, types);
  CHECK(eager.message() ==
        "cannot compute AddV2 as input #1(zero-based) was expected to be a int32 tensor but is a "
        "float tensor [Op:AddV2]. See docs/errors/different-dtypes.md");
  CHECK(eager.kind() == ErrorKind::kOpError);
  Status traced = add.bind_types(mixed, NoAttrs(), false, types);
  CHECK(traced.message() ==
        "Input 'y' of 'AddV2' Op has type float32 that does not match type int32 of argument 'x'. "
        "See docs/errors/different-dtypes.md");
  CHECK(traced.kind() == ErrorKind::kTypeError);
  Status refused =
      add.bind_types(std::vector{of(DType::kBool), of(DType::kBool)}, NoAttrs(), true, types);
  CHECK(refused.message().find("Value for attr 'T' of bool is not in the list of allowed values: "
                               "float, double, int32") == 0);
  CHECK(add.bind_types(std::vector{of(DType::kInt32)}, NoAttrs(), true, types).message() ==
        "AddV2 takes 2 inputs, got 1");
}

TEST_CASE("a type attribute that is given is what inputs must have") {
  const Op* op = op_of({.name = "Given", .inputs = {"x: T"}, .types = {{"T", kNumberTypes}}});
  ListAttrs attrs;
  attrs.T = DType::kInt32;
  TypeBindings types;
  std::vector x = {of(DType::kFloat32)};
  CHECK(op->bind_types(x, attrs, false, types).message() ==
        "Input 'x' of 'Given' Op has type float32 that does not match expected type of int32. See "
        "docs/errors/different-dtypes.md");
  attrs.T = DType::kFloat32;
  CHECK(op->bind_types(x, attrs, false, types).ok());
}

TEST_CASE("lists of types say how many inputs and outputs there are") {
  const Op* op = op_of({.name = "Lists", .inputs = {"args: Tin"}, .outputs = {"results: Tout"}});
  ListAttrs attrs;
  attrs.Tin = {DType::kInt32, DType::kString};
  attrs.Tout = {DType::kBool, DType::kHalf, DType::kInt8};
  TypeBindings types;
  std::vector args = {of(DType::kInt32), of(DType::kString)};
  CHECK(op->bind_types(args, attrs, true, types).ok());
  InlineVector<DType, 4> outputs;
  op->output_dtypes(types, attrs, 2, outputs);
  CHECK(std::vector(outputs.begin(), outputs.end()) == attrs.Tout);
  CHECK(op->num_outputs(attrs, 2) == 3);
  args.pop_back();
  CHECK(op->bind_types(args, attrs, true, types).message() == "Lists takes 2 inputs 'args', got 1");
  args = {of(DType::kString), of(DType::kInt32)};
  CHECK(!op->bind_types(args, attrs, true, types).ok());
}

TEST_CASE("a list of outputs is as long as its attribute, or as the list of inputs") {
  ListAttrs attrs;
  attrs.num = 3;
  TypeBindings types = {DType::kInt64};
  InlineVector<DType, 4> outputs;
  const Op* split = op_of({.name = "Split3",
                           .inputs = {"x: T"},
                           .outputs = {"y: num * T", "z: bool"},
                           .types = {{"T", kAllTypes}}});
  split->output_dtypes(types, attrs, 1, outputs);
  CHECK(std::vector(outputs.begin(), outputs.end()) ==
        std::vector{DType::kInt64, DType::kInt64, DType::kInt64, DType::kBool});
  const Op* each = op_of({.name = "Each",
                          .inputs = {"x: N * T"},
                          .outputs = {"y: N * T"},
                          .types = {{"T", kAllTypes}}});
  CHECK(each->num_outputs(attrs, 5) == 5);
}

TEST_CASE("effects are those of the record") {
  CHECK(!kAddV2.op->is_stateful_ever());
  Effects check = ordered_effects(*kPrintV2.op, NoAttrs());
  CHECK((check.stateful && check.ordered && check.must_run && !check.may_block));
  Effects print = blocking_effects(*kPrintV2.op, NoAttrs());
  CHECK((print.stateful && print.ordered && print.must_run && print.may_block));
  Effects random = unordered_effects(*kRandomUniform.op, NoAttrs());
  CHECK((random.stateful && !random.ordered && !random.must_run));
  Effects read = reads_resource_effects(*kReadVariable.op, NoAttrs());
  CHECK((read.stateful && !read.must_run && read.reads == std::vector{0} && read.writes.empty()));
  Effects write = writes_resource_effects(*kAssignVariable.op, NoAttrs());
  CHECK((write.must_run && write.writes == std::vector{0}));
}

}  // namespace
}  // namespace graven::engine
