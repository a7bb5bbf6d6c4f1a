#include "graven/runtime/testing.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "graven/ir/emitter.h"
#include "graven/ir/infer_call.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/runtime/variable.h"

namespace graven::engine {
namespace {

const TypeConstraint kNumbers{"T", kNumberTypes};

Status gather_kernel(KernelContext& c) {
  auto x = c.in<float>(0);
  auto out = c.out<float>(0);
  auto indices = c.in<int32_t>(1);
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] < 0 || indices[i] >= static_cast<int64_t>(x.size())) {
      return invalid_argument("indices[", i, "] = ", indices[i], " is not in [0, ", x.size(), ")");
    }
    out[i] = x[indices[i]];
  }
  return {};
}

Status unique_kernel(KernelContext& c) {
  std::vector<float> values(c.in<float>(0).begin(), c.in<float>(0).end());
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  c.set_output(0, Tensor::vector<float>(values));
  return {};
}

struct Counter : RefCounted {
  std::atomic<int> runs{0};
};

Status count_kernel(KernelContext& c) {
  if (!c.state()) {
    c.out<int32_t>(0)[0] = -1;
    return {};
  }
  if (!*c.state()) *c.state() = make_ref<Counter>();
  c.out<int32_t>(0)[0] = ++static_cast<Counter*>(c.state()->get())->runs;
  return {};
}

Variable& variable_of(KernelContext& c) { return static_cast<Variable&>(*c.input(0).resource()); }

Status variable_shape(InferContext& c) {
  auto data = c.handle_data(0);
  c.set_shape(0, data ? data->value().shape : Shape::unknown_rank());
  return {};
}

Status reshape_shape(InferContext& c) {
  auto sizes = c.sizes(1);
  c.set_shape(0, sizes ? Shape(std::span<const Dim>(*sizes)) : Shape::unknown_rank());
  return {};
}

template <typename A>
void define(OpHandle<A>& handle, OpRecord record) {
  OpRegistry::global().define(handle, std::move(record));
}

void define_structure() {
  define(kPlaceholder, {.name = "Placeholder",
                        .outputs = {"output: dtype"},
                        .types = {{"dtype", kAllTypes}},
                        .infer = unknown_outputs});
  define(kConst, {.name = "Const",
                  .outputs = {"output: dtype"},
                  .types = {{"dtype", kAllTypes}},
                  .infer = [](InferContext& c) -> Status {
                    c.set_shape(0, c.attrs<ConstAttrs>().value.shape());
                    return {};
                  }});
  define(kNoOp, {.name = "NoOp", .infer = no_outputs});
  define(kIdentity, {.name = "Identity",
                     .inputs = {"input: T"},
                     .outputs = {"output: T"},
                     .types = {{"T", kAllTypes}},
                     .infer = same_as_input,
                     .view_of = 0,
                     .passes_on = passes_on_input_0});
  define(kReshape, {.name = "Reshape",
                    .inputs = {"tensor: T", "shape: int32"},
                    .outputs = {"output: T"},
                    .types = {{"T", kAllTypes}},
                    .infer = reshape_shape,
                    .values_for_inference = {1},
                    .view_of = 0});
  define(kFusion, {.name = "Fusion", .inputs = {"args: Tin"}, .outputs = {"results: Tout"}});
  define(kPartitionedCall, {.name = "PartitionedCall",
                            .inputs = {"args: Tin"},
                            .outputs = {"output: Tout"},
                            .infer = infer_call,
                            .bodies = {BodyRun::kOnce, {{"f", "args", "output"}}}});
  define(kStatefulPartitionedCall, {.name = "StatefulPartitionedCall",
                                    .inputs = {"args: Tin"},
                                    .outputs = {"output: Tout"},
                                    .infer = infer_call,
                                    .effects = ordered_effects,
                                    .bodies = {BodyRun::kOnce, {{"f", "args", "output"}}}});
  define(kReadVariable, {.name = "ReadVariableOp",
                         .inputs = {"resource: resource"},
                         .outputs = {"value: dtype"},
                         .types = {{"dtype", kAllTypes}},
                         .infer = variable_shape,
                         .body = kernel([](KernelContext& c) -> Status {
                           ASSIGN_OR_RETURN(Tensor value, variable_of(c).read());
                           c.set_output(0, value);
                           return {};
                         }),
                         .effects = reads_resource_effects});
  define(kAssignAddVariable, {.name = "AssignAddVariableOp",
                              .inputs = {"resource: resource", "value: dtype"},
                              .types = {{"dtype", kNumberTypes}},
                              .infer = no_outputs,
                              .body = kernel([](KernelContext& c) -> Status {
                                return variable_of(c).combine(*kTestAdd, c.input(1));
                              }),
                              .effects = writes_resource_effects});
}

void define_elementwise() {
  define(kTestAdd, {.name = "TestAdd",
                    .inputs = {"x: T", "y: T"},
                    .outputs = {"z: T"},
                    .types = {kNumbers},
                    .infer = broadcast_inputs,
                    .body = elementwise([](auto x, auto y) { return x + y; })});
  define(kTestMul, {.name = "TestMul",
                    .inputs = {"x: T", "y: T"},
                    .outputs = {"z: T"},
                    .types = {kNumbers},
                    .infer = broadcast_inputs,
                    .body = elementwise([](auto x, auto y) { return x * y; })});
  define(kTestTanh, {.name = "TestTanh",
                     .inputs = {"x: T"},
                     .outputs = {"y: T"},
                     .types = {{"T", kFloatTypes}},
                     .infer = same_as_input,
                     .body = elementwise([](auto x) { return tanh(x); })});
  define(kTestSqrt, {.name = "TestSqrt",
                     .inputs = {"x: T"},
                     .outputs = {"y: T"},
                     .types = {{"T", kFloatTypes}},
                     .infer = same_as_input,
                     .body = elementwise([](auto x) { return sqrt(x); })});
  define(kTestLess, {.name = "TestLess",
                     .inputs = {"x: T", "y: T"},
                     .outputs = {"z: bool"},
                     .types = {{"T", kRealTypes}},
                     .infer = broadcast_inputs,
                     .body = elementwise([](auto x, auto y) { return x < y; })});
  define(kTestSelect,
         {.name = "TestSelect",
          .inputs = {"c: bool", "x: T", "y: T"},
          .outputs = {"z: T"},
          .types = {kNumbers},
          .infer = broadcast_inputs,
          .body = elementwise([](auto c, auto x, auto y) { return select(c, x, y); })});
  define(kTestScale,
         {.name = "TestScale",
          .inputs = {"x: T"},
          .outputs = {"y: T"},
          .types = {{"T", kFloatTypes}},
          .infer = same_as_input,
          .body = elementwise<ScaleAttrs>([](const ScaleAttrs& a, auto x) { return x * a.by; })});
  define(kTestDivide, {.name = "TestDivide",
                       .inputs = {"x: T", "y: T"},
                       .outputs = {"z: T"},
                       .types = {kNumbers},
                       .infer = broadcast_inputs,
                       .body = elementwise([](auto x, auto y) {
                         if (is_integer(y.dtype()))
                           trap_if(y == zero_like(y), "Integer division by zero");
                         return x / y;
                       })});
}

Result<RowsExpression> softmax_rows(std::span<const DType> dtypes, AttrsRef) {
  RowsRecorder rows;
  auto x = rows.input(dtypes[0]);
  auto largest = rows.max({x}, [](auto x) { return computed_float(x[0]); });
  auto exponential =
      rows.map({x, largest}, [](auto x) { return exp(computed_float(x[0]) - x[1]); });
  auto sum = rows.sum({exponential}, [](auto x) { return x[0]; });
  return rows.finish(
      {rows.map({exponential, sum}, [&](auto x) { return cast(x[0] / x[1], dtypes[0]); })});
}

void define_others() {
  define(kTestSoftmax, {.name = "TestSoftmax",
                        .inputs = {"x: T"},
                        .outputs = {"y: T"},
                        .types = {{"T", kFloatTypes}},
                        .infer = same_as_input,
                        .body = rows(softmax_rows)});
  define(kTestSum, {.name = "TestSum",
                    .inputs = {"x: T", "axes: int32"},
                    .outputs = {"y: T"},
                    .types = {kNumbers},
                    .infer = reduction_shape,
                    .body = reduction({.identity = zero_like,
                                       .combine = [](Scalar a, Scalar x) { return a + x; }}),
                    .values_for_inference = {1}});
  define(kTestMax, {.name = "TestMax",
                    .inputs = {"x: T", "axes: int32"},
                    .outputs = {"y: T"},
                    .types = {{"T", kRealTypes}},
                    .infer = reduction_shape,
                    .body = reduction({.identity = lowest_like,
                                       .combine = [](Scalar a, Scalar x) { return max(a, x); }}),
                    .values_for_inference = {1}});
  define(kTestMean,
         {.name = "TestMean",
          .inputs = {"x: T", "axes: int32"},
          .outputs = {"y: T"},
          .types = {kNumbers},
          .infer = reduction_shape,
          .body = reduction({.identity = zero_like,
                             .combine = [](Scalar a, Scalar x) { return a + x; },
                             .finish = [](Scalar a, Scalar n) { return a / cast(n, a.dtype()); }}),
          .values_for_inference = {1}});
  define(kTestSquareOfSum, {.name = "TestSquareOfSum",
                            .inputs = {"x: T", "y: T"},
                            .outputs = {"z: T"},
                            .types = {kNumbers},
                            .infer = broadcast_inputs,
                            .body = composite([](CompositeContext& c) {
                              Tensor sum = c(kTestAdd, {c.x(0), c.x(1)});
                              c.set_output(c(kTestMul, {sum, sum}));
                            })});
  define(kTestGather, {.name = "TestGather",
                       .inputs = {"x: float", "indices: int32"},
                       .outputs = {"y: float"},
                       .infer = [](InferContext& c) -> Status {
                         c.set_shape(0, c.shape(1));
                         return {};
                       },
                       .body = kernel(gather_kernel)});
  define(kTestUnique, {.name = "TestUnique",
                       .inputs = {"x: float"},
                       .outputs = {"y: float"},
                       .infer = [](InferContext& c) -> Status {
                         c.set_shape(0, Shape{c.new_symbol("unique")});
                         return {};
                       },
                       .body = kernel(unique_kernel)});
  define(kTestCount, {.name = "TestCount",
                      .outputs = {"n: int32"},
                      .infer = scalar_output,
                      .body = kernel(count_kernel),
                      .keeps_state = true,
                      .effects = unordered_effects});
  define(kTestNote, {.name = "TestNote",
                     .inputs = {"x: int32"},
                     .outputs = {"y: int32"},
                     .infer = scalar_output,
                     .body = kernel([](KernelContext& c) -> Status {
                       test_notes().push_back(c.in<int32_t>(0)[0]);
                       c.out<int32_t>(0)[0] = c.in<int32_t>(0)[0];
                       return {};
                     }),
                     .effects = blocking_effects});
  define(kTestPush, {.name = "TestPush",
                     .inputs = {"list: variant", "x: float"},
                     .outputs = {"longer: variant"},
                     .infer = [](InferContext& c) -> Status {
                       c.set_shape(0, Shape());
                       if (auto data = c.handle_data(0)) c.set_handle_data(0, *data);
                       return {};
                     },
                     .body = kernel([](KernelContext& c) -> Status {
                       if (!(c.output(0) == c.input(0))) {
                         c.out<Ref<Resource>>(0)[0] = c.input(0).resource();
                       }
                       ASSIGN_OR_RETURN(TestList * list,
                                        changeable<TestList>(c.output(0), "list of numbers"));
                       list->values.push_back(c.in<float>(1)[0]);
                       return {};
                     }),
                     .overwrites = 0});
  define(kTestFail, {.name = "TestFail",
                     .inputs = {"x: float"},
                     .outputs = {"y: float"},
                     .infer = same_as_input,
                     .body = kernel([](KernelContext&) -> Status {
                       return invalid_argument("it was asked to fail");
                     })});
}

}  // namespace

void define_test_ops() {
  static const bool once = [] {
    define_structure();
    define_elementwise();
    define_others();
    for (const std::string& error : OpRegistry::global().errors()) FAIL(error);
    return true;
  }();
  (void)once;
}

std::vector<int>& test_notes() {
  static thread_local std::vector<int> notes;
  return notes;
}

template <typename T>
Tensor vector_of(std::span<const T> values) {
  if (values.empty()) return *Tensor::allocate(kDTypeOf<T>, {0});
  return Tensor::vector<T>(values);
}

Tensor floats(std::initializer_list<float> values) {
  return vector_of<float>({values.begin(), values.size()});
}
Tensor floats_of(const Shape& shape, std::vector<float> values) {
  return vector_of<float>(values).with_shape(shape);
}
Tensor ints(std::initializer_list<int32_t> values) {
  return vector_of<int32_t>({values.begin(), values.size()});
}
Tensor list_of(std::initializer_list<float> values) {
  auto list = make_ref<TestList>();
  list->values = values;
  return Tensor::of_resource(std::move(list), DType::kVariant);
}
Tensor resource_of(Ref<Resource> resource) { return Tensor::of_resource(std::move(resource)); }
std::vector<float> values_of(const Tensor& tensor) {
  auto data = tensor.data<float>();
  return {data.begin(), data.end()};
}

Tensor normal_values(const Shape& shape, uint32_t seed) {
  std::mt19937 random(seed);
  Tensor x = *Tensor::allocate(DType::kFloat32, shape);
  for (float& value : x.mutable_data<float>()) value = std::normal_distribution<float>()(random);
  return x;
}
bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.raw_data(), b.raw_data(), a.bytes()) == 0;
}

Ref<Program> plan(TestGraph& g) {
  auto program = plan_program(g.graph);
  INFO(program.status().message());
  REQUIRE(program.ok());
  return *program;
}

Tensor run(Builder& builder, const Op& op, std::initializer_list<Tensor> inputs, AttrsRef attrs,
           std::string_view name) {
  auto outputs = builder.apply(op, {inputs.begin(), inputs.size()}, attrs, name);
  INFO(outputs.status().message());
  REQUIRE(outputs.ok());
  return outputs->empty() ? Tensor() : (*outputs)[0];
}

TestGraph::TestGraph(std::string name) : graph(make_ref<Graph>(std::move(name))), builder(graph) {
  define_test_ops();
}

void TestGraph::returns(std::initializer_list<Tensor> outputs) {
  std::vector<OutputRef> refs;
  for (const Tensor& output : outputs) refs.push_back(symbolic(output).output());
  graph->set_outputs(std::move(refs));
}

void TestGraph::must_run(std::initializer_list<Tensor> tensors) {
  std::vector<Node*> nodes;
  for (const Tensor& tensor : tensors) nodes.push_back(&symbolic(tensor).node());
  graph->set_control_outputs(std::move(nodes));
}

}  // namespace graven::engine
