#pragma once
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "graven/base/strings.h"
#include "graven/ir/bodies.h"
#include "graven/ir/emitter.h"
#include "graven/ir/graph.h"
#include "graven/ir/infer_call.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/op.h"
#include "graven/ir/structural_ops.h"
#include "graven/ir/text.h"

// A handful of ops for the tests of this room and of those above that stand below `ops`, under
// the names of the real ones, and a Builder that runs them.
namespace graven::engine::test_ops {

struct SumAttrs {
  bool keep_dims = false;
  static constexpr auto fields() { return std::tuple(field("keep_dims", &SumAttrs::keep_dims)); }
};

struct ProductAttrs {
  bool transpose = false;  // the second matrix
  static constexpr auto fields() {
    return std::tuple(field("transpose", &ProductAttrs::transpose));
  }
};

// One attribute of each kind.
struct AllKindsAttrs {
  bool flag = false;
  int64_t number = 0;
  float ratio = 0;
  std::string text;
  DType type = DType::kInvalid;
  Shape shape;
  Tensor value;
  Ref<Body> body;
  std::vector<int64_t> numbers;
  std::vector<double> ratios;
  std::vector<std::string> texts;
  std::vector<DType> types;
  std::vector<Shape> shapes;
  std::vector<Ref<Body>> bodies;
  static constexpr auto fields() {
    using A = AllKindsAttrs;
    return std::tuple(field("flag", &A::flag), field("number", &A::number),
                      field("ratio", &A::ratio), field("text", &A::text), field("type", &A::type),
                      field("shape", &A::shape), field("value", &A::value), field("body", &A::body),
                      field("numbers", &A::numbers), field("ratios", &A::ratios),
                      field("texts", &A::texts), field("types", &A::types),
                      field("shapes", &A::shapes), field("bodies", &A::bodies));
  }
};

struct PackAttrs {
  int64_t N = 0, axis = 0;
  static constexpr auto fields() {
    return std::tuple(field("N", &PackAttrs::N), field("axis", &PackAttrs::axis));
  }
};

struct SplitAttrs {
  int64_t num_split = 2;
  static constexpr auto fields() { return std::tuple(field("num_split", &SplitAttrs::num_split)); }
};

inline OpHandle<NoAttrs> kAdd, kSub, kMul, kNeg, kSquare, kPrint, kRandom, kUnique, kFail;
inline OpHandle<NoAttrs> kPlus, kTimes, kNegative, kTotalOfAll;
inline OpHandle<SumAttrs> kSum, kTotal;
inline OpHandle<ProductAttrs> kProduct;
inline OpHandle<AllKindsAttrs> kAllKinds;
inline OpHandle<PackAttrs> kPack;
inline OpHandle<SplitAttrs> kSplit;

template <typename F>
Status elementwise_kernel(KernelContext& c, F&& f) {
  visit_plain(c.input(0).dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, int32_t> ||
                  std::is_same_v<T, double>) {
      auto x = c.in<T>(0), y = c.in<T>(c.num_inputs() - 1);
      auto z = c.out<T>(0);
      for (size_t i = 0; i < z.size(); ++i) z[i] = f(x[i % x.size()], y[i % y.size()]);
    }
  });
  return {};
}

inline Status infer_shape_op(InferContext& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) {
    c.set_shape(0, {Dim::unknown()});
    return {};
  }
  c.set_shape(0, {Dim(x.rank())});
  SymbolicValue sizes;
  for (Dim dim : x.dims()) sizes.push_back(dim);
  c.set_sizes(0, std::move(sizes));
  return {};
}

inline Status infer_reshape(InferContext& c) {
  auto sizes = c.sizes(1);
  if (!sizes) {
    c.set_shape(0, Shape::unknown_rank());
    return {};
  }
  Shape shape;
  for (Dim dim : *sizes) shape.push_back(dim);
  c.set_shape(0, std::move(shape));
  return {};
}

inline Status infer_reshape_of_0(InferContext& c) {
  auto sizes = c.sizes(0);
  Shape shape = sizes ? Shape() : Shape::unknown_rank();
  if (sizes) {
    for (Dim dim : *sizes) shape.push_back(dim);
  }
  c.set_shape(0, std::move(shape));
  return {};
}

inline Status infer_handle_value(InferContext& c) {
  auto data = c.handle_data(0);
  c.set_shape(0, data ? data->value().shape : Shape::unknown_rank());
  return {};
}

inline Status infer_product(InferContext& c) {
  const int column = c.attrs<ProductAttrs>().transpose ? 0 : 1;
  c.set_shape(0, {c.shape(0)[0], c.shape(1)[column]});
  return {};
}

inline bool define() {
  OpRegistry& ops = OpRegistry::global();
  const std::vector<TypeConstraint> t = {{"T", kAllTypes}}, numbers = {{"T", kNumberTypes}};
  ops.define(
      kPlaceholder,
      {.name = "Placeholder", .outputs = {"output: dtype"}, .types = {{"dtype", kAllTypes}}});
  ops.define(kConst,
             {.name = "Const", .outputs = {"output: dtype"}, .types = {{"dtype", kAllTypes}}});
  ops.define(kIdentity, {.name = "Identity",
                         .inputs = {"input: T"},
                         .outputs = {"output: T"},
                         .types = t,
                         .infer = same_as_input,
                         .view_of = 0,
                         .passes_on = passes_on_input_0});
  ops.define(kStopGradient, {.name = "StopGradient",
                             .inputs = {"input: T"},
                             .outputs = {"output: T"},
                             .types = t,
                             .infer = same_as_input,
                             .view_of = 0,
                             .passes_on = passes_on_input_0});
  ops.define(kNoOp, {.name = "NoOp", .infer = no_outputs});
  ops.define(kReshape, {.name = "Reshape",
                        .inputs = {"tensor: T", "shape: Tshape"},
                        .outputs = {"output: T"},
                        .types = {{"T", kAllTypes}, {"Tshape", kIndexTypes}},
                        .infer = infer_reshape,
                        .values_for_inference = {1},
                        .view_of = 0,
                        .views_any_shape = true});
  ops.define(kAddN, {.name = "AddN",
                     .inputs = {"inputs: N * T"},
                     .outputs = {"sum: T"},
                     .types = t,
                     .infer = same_as_input,
                     .passes_on = [](std::span<const DType> inputs, AttrsRef) {
                       return inputs.size() == 1 ? 0 : -1;
                     }});
  ops.define(kCast, {.name = "Cast",
                     .inputs = {"x: SrcT"},
                     .outputs = {"y: DstT"},
                     .types = {{"SrcT", kPlainTypes}, {"DstT", kPlainTypes}},
                     .infer = same_as_input,
                     .passes_on = [](std::span<const DType> inputs, AttrsRef attrs) {
                       return inputs[0] == attrs.as<CastAttrs>().DstT ? 0 : -1;
                     }});
  ops.define(kShape, {.name = "Shape",
                      .inputs = {"input: T"},
                      .outputs = {"output: out_type"},
                      .types = {{"T", kAllTypes}, {"out_type", kIndexTypes}},
                      .infer = infer_shape_op});
  OpRecord add = {.name = "AddV2",
                  .inputs = {"x: T", "y: T"},
                  .outputs = {"z: T"},
                  .types = numbers,
                  .infer = broadcast_inputs,
                  .body = kernel([](KernelContext& c) {
                    return elementwise_kernel(c, [](auto x, auto y) { return x + y; });
                  }),
                  .commutative = true,
                  .identity_on_right = -0.0};
  ops.define(kAdd, add);
  OpRecord sub = add;
  sub.name = "Sub";
  sub.body = kernel(
      [](KernelContext& c) { return elementwise_kernel(c, [](auto x, auto y) { return x - y; }); });
  sub.commutative = false;
  sub.identity_on_right = 0.0;
  ops.define(kSub, sub);
  OpRecord mul = add;
  mul.name = "Mul";
  mul.body = kernel(
      [](KernelContext& c) { return elementwise_kernel(c, [](auto x, auto y) { return x * y; }); });
  mul.identity_on_right = 1.0;
  ops.define(kMul, mul);
  ops.define(kNeg, {.name = "Neg",
                    .inputs = {"x: T"},
                    .outputs = {"y: T"},
                    .types = numbers,
                    .infer = same_as_input,
                    .body = kernel([](KernelContext& c) {
                      return elementwise_kernel(c, [](auto x, auto) { return -x; });
                    })});
  ops.define(kSquare, {.name = "Square",
                       .inputs = {"x: T"},
                       .outputs = {"y: T"},
                       .types = numbers,
                       .infer = same_as_input,
                       .body = composite([](CompositeContext& e) {
                         e.set_output(e(kMul, {e.x(0), e.x(0)}));
                       })});
  ops.define(kSum, {.name = "Sum",
                    .inputs = {"input: T", "reduction_indices: Tidx"},
                    .outputs = {"output: T"},
                    .types = {{"T", kNumberTypes}, {"Tidx", kIndexTypes}},
                    .infer = reduction_shape,
                    .values_for_inference = {1}});
  ops.define(kOnesLike, {.name = "OnesLike",
                         .inputs = {"x: T"},
                         .outputs = {"y: T"},
                         .types = numbers,
                         .infer = same_as_input,
                         .body = kernel([](KernelContext& c) -> Status {
                           std::ranges::fill(c.out<float>(0), 1.0f);
                           return {};
                         })});
  // The same as Add, Mul, Neg and Sum, but as scalar bodies, which fuse.
  ops.define(kPlus, {.name = "Plus",
                     .inputs = {"x: T", "y: T"},
                     .outputs = {"z: T"},
                     .types = numbers,
                     .infer = broadcast_inputs,
                     .body = elementwise([](auto x, auto y) { return x + y; })});
  ops.define(kTimes, {.name = "Times",
                      .inputs = {"x: T", "y: T"},
                      .outputs = {"z: T"},
                      .types = numbers,
                      .infer = broadcast_inputs,
                      .body = elementwise([](auto x, auto y) { return x * y; })});
  ops.define(kNegative, {.name = "Negative",
                         .inputs = {"x: T"},
                         .outputs = {"y: T"},
                         .types = numbers,
                         .infer = same_as_input,
                         .body = elementwise([](auto x) { return -x; })});
  ops.define(kTotal, {.name = "Total",
                      .inputs = {"input: T", "reduction_indices: Tidx"},
                      .outputs = {"output: T"},
                      .types = {{"T", kNumberTypes}, {"Tidx", kIndexTypes}},
                      .infer = reduction_shape,
                      .body = reduction({.identity = [](Scalar x) { return zero_like(x); },
                                         .combine = [](Scalar a, Scalar b) { return a + b; }}),
                      .values_for_inference = {1}});
  // A product of matrices, which a Fusion takes as its library member; it is never run.
  ops.define(kProduct, {.name = "Product",
                        .inputs = {"x: T", "y: T"},
                        .outputs = {"z: T"},
                        .types = numbers,
                        .infer = infer_product,
                        .body = kernel([](KernelContext&) { return unimplemented("not run"); }),
                        .panels = true});
  ops.define(kTotalOfAll,
             {.name = "TotalOfAll",
              .inputs = {"input: T"},
              .outputs = {"output: T"},
              .types = numbers,
              .infer = scalar_output,
              .body = reduction({.identity = [](Scalar x) { return zero_like(x); },
                                 .combine = [](Scalar a, Scalar b) { return a + b; }})});
  ops.define(kAllKinds, {.name = "AllKinds",
                         .infer = no_outputs,
                         .bodies = {BodyRun::kAsTheOpLikes, {{"body"}, {"bodies"}}}});
  ops.define(kPack, {.name = "Pack",
                     .inputs = {"values: N * T"},
                     .outputs = {"output: T"},
                     .types = t,
                     .infer = unknown_outputs});
  ops.define(kSplit, {.name = "Split",
                      .inputs = {"axis: int32", "value: T"},
                      .outputs = {"output: num_split * T"},
                      .types = t,
                      .infer = unknown_outputs});
  ops.define(kUnique, {.name = "Unique",
                       .inputs = {"x: T"},
                       .outputs = {"y: T", "idx: int32"},
                       .types = t,
                       .infer = [](InferContext& c) {
                         c.set_shape(0, {Dim::unknown()});
                         c.set_shape(1, c.shape(0));
                         return Status();
                       }});
  ops.define(
      kFail,
      {.name = "Fail",
       .inputs = {"x: T"},
       .outputs = {"y: T"},
       .types = t,
       .infer = same_as_input,
       .body = kernel([](KernelContext&) { return invalid_argument("this op always fails"); })});
  ops.define(kRandom, {.name = "RandomUniform",
                       .inputs = {"shape: T"},
                       .outputs = {"output: float"},
                       .types = {{"T", kIndexTypes}},
                       .infer = infer_reshape_of_0,
                       .effects = unordered_effects});
  ops.define(kPrint, {.name = "PrintV2",
                      .inputs = {"input: string"},
                      .infer = no_outputs,
                      .effects = blocking_effects});
  ops.define(kReadVariable, {.name = "ReadVariableOp",
                             .inputs = {"resource: resource"},
                             .outputs = {"value: dtype"},
                             .types = {{"dtype", kAllTypes}},
                             .infer = infer_handle_value,
                             .effects = reads_resource_effects});
  ops.define(kAssignVariable, {.name = "AssignVariableOp",
                               .inputs = {"resource: resource", "value: dtype"},
                               .types = {{"dtype", kAllTypes}},
                               .infer = no_outputs,
                               .effects = writes_resource_effects});
  ops.define(kFusion, {.name = "Fusion", .inputs = {"args: Tin"}, .outputs = {"results: Tout"}});
  ops.define(kPartitionedCall, {.name = "PartitionedCall",
                                .inputs = {"args: Tin"},
                                .outputs = {"output: Tout"},
                                .infer = infer_call,
                                .bodies = {BodyRun::kOnce, {{"f", "args", "output"}}}});
  ops.define(kStatefulPartitionedCall, {.name = "StatefulPartitionedCall",
                                        .inputs = {"args: Tin"},
                                        .outputs = {"output: Tout"},
                                        .infer = infer_call,
                                        .effects = effects_of_bodies,
                                        .bodies = {BodyRun::kOnce, {{"f", "args", "output"}}}});
  return true;
}
inline const bool kDefined = define();

// Runs ops that have a kernel, one by one.
class KernelBuilder final : public Builder {
 public:
  Result<Tensors> apply(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs,
                        std::string_view) override {
    if (op.record().body.kind() == OpBody::Kind::kComposite) {
      return expand_composite(*this, op, inputs, attrs);
    }
    if (op.record().body.kind() != OpBody::Kind::kKernel) {
      return unimplemented("no kernel for ", op.name());
    }
    ++num_runs;
    TypeBindings types;
    RETURN_IF_ERROR(op.bind_types(inputs, attrs, /*eager=*/true, types));
    InlineVector<DType, 4> dtypes;
    op.output_dtypes(types, attrs, static_cast<int>(inputs.size()), dtypes);
    InferContext infer(op, attrs, inputs, types, static_cast<int>(dtypes.size()), nullptr);
    RETURN_IF_ERROR(op.record().infer(infer));
    Tensors outputs;
    for (size_t i = 0; i < dtypes.size(); ++i) {
      ASSIGN_OR_RETURN(Tensor made, Tensor::allocate(dtypes[i], infer.shapes()[i]));
      outputs.push_back(std::move(made));
    }
    KernelContext context(op, attrs, inputs, outputs, nullptr);
    RETURN_IF_ERROR(op.record().body.kernel()(context));
    return outputs;
  }
  int num_runs = 0;
};

// A graph of a text that must be right.
inline Ref<Graph> graph_of(std::string_view text) {
  auto graph = parse_graph(text);
  if (!graph.ok()) {
    fprintf(stderr, "%s\n%s\n", graph.status().message().c_str(), std::string(text).c_str());
    abort();
  }
  return *graph;
}

}  // namespace graven::engine::test_ops
