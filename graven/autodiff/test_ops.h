#pragma once
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <vector>

#include "graven/autodiff/gradient_pair.h"
#include "graven/autodiff/tape.h"
#include "graven/base/strings.h"
#include "graven/ir/bodies.h"
#include "graven/ir/custom_gradient.h"
#include "graven/ir/frame.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/infer_call.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/structural_ops.h"

// A handful of ops over float64, their gradients, and the plainest way to run them, so that tests
// of autodiff use only rooms on its line of the house and below.
namespace graven::engine::test {

inline OpHandle<NoAttrs> kAdd, kMul, kExp, kSin, kCos, kNeg, kSum, kGather, kNoGradient, kToInt,
    kRandom, kPrint, kSquareSin, kTwins;
// How often kernels with effects ran.
inline std::map<std::string, int> g_runs;

class TestVariable : public Resource {
 public:
  explicit TestVariable(Tensor v, bool trainable = true)
      : value(std::move(v)), trainable(trainable) {}
  bool is_trainable() const override { return trainable; }
  std::string_view kind() const override { return "Variable"; }
  std::optional<std::pair<DType, Shape>> value_type() const override {
    return std::pair(value.dtype(), value.shape());
  }
  Tensor value;
  bool trainable;
};

inline Tensor vec(std::vector<double> values) {
  return Tensor::vector(std::span<const double>(values));
}
inline Tensor num(double value) { return Tensor::scalar(value); }
inline std::vector<double> values_of(const Tensor& t) {
  auto data = t.data<double>();
  return {data.begin(), data.end()};
}
inline std::vector<int64_t> ints_of(const Tensor& t) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    out.push_back(t.dtype() == DType::kInt32 ? t.data<int32_t>()[i] : t.data<int64_t>()[i]);
  }
  return out;
}

template <double (*f)(double)>
Status unary_kernel(KernelContext& c) {
  auto x = c.in<double>(0);
  auto y = c.out<double>(0);
  for (size_t i = 0; i < x.size(); ++i) y[i] = f(x[i]);
  return {};
}
template <double (*f)(double, double)>
Status binary_kernel(KernelContext& c) {
  auto a = c.in<double>(0), b = c.in<double>(1);
  auto y = c.out<double>(0);
  for (size_t i = 0; i < y.size(); ++i) {
    y[i] = f(a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
  }
  return {};
}
inline double exp_of(double x) { return std::exp(x); }
inline double sin_of(double x) { return std::sin(x); }
inline double cos_of(double x) { return std::cos(x); }
inline double minus(double x) { return -x; }
inline double sum_of(double a, double b) { return a + b; }
inline double product_of(double a, double b) { return a * b; }

inline Status forward_first(KernelContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i)
    c.set_output(i, c.input(i).with_shape(c.input(i).shape()));
  return {};
}

inline Status infer_from_sizes(InferContext& c, int input) {
  auto sizes = c.sizes(input);
  if (!sizes) {
    c.set_shape(0, Shape::unknown_rank());
  } else {
    c.set_shape(0, Shape(std::span<const Dim>(sizes->data(), sizes->size())));
  }
  return {};
}

inline void define_all() {
  static bool done = false;
  if (done) return;
  done = true;
  auto& ops = OpRegistry::global();
  const std::vector<TypeConstraint> any = {{"T", kAllTypes}};
  // --- Structural ops; graven/ops has the real records.
  ops.define(kPlaceholder, {.name = "Placeholder",
                            .outputs = {"output: dtype"},
                            .types = {{"dtype", kAllTypes}},
                            .infer = unknown_outputs});
  ops.define(kConst, {.name = "Const",
                      .outputs = {"output: dtype"},
                      .types = {{"dtype", kAllTypes}},
                      .infer =
                          [](InferContext& c) {
                            c.set_shape(0, c.attrs<ConstAttrs>().value.shape());
                            return Status();
                          },
                      .gradient = not_differentiable});
  ops.define(kIdentity, {.name = "Identity",
                         .inputs = {"input: T"},
                         .outputs = {"output: T"},
                         .types = any,
                         .infer = same_as_input,
                         .body = kernel(forward_first)});
  ops.define(kIdentityN, {.name = "IdentityN",
                          .inputs = {"input: T"},
                          .outputs = {"output: T"},
                          .infer =
                              [](InferContext& c) {
                                for (int i = 0; i < c.num_inputs(); ++i) c.set_shape(i, c.shape(i));
                                return Status();
                              },
                          .body = kernel(forward_first)});
  ops.define(kStopGradient, {.name = "StopGradient",
                             .inputs = {"input: T"},
                             .outputs = {"output: T"},
                             .types = any,
                             .infer = same_as_input,
                             .gradient = not_differentiable,
                             .body = kernel(forward_first)});
  ops.define(kAddN, {.name = "AddN",
                     .inputs = {"inputs: N * T"},
                     .outputs = {"sum: T"},
                     .types = any,
                     .infer = same_as_input,
                     .gradient =
                         [](GradientContext& c) {
                           for (int i = 0; i < c.num_inputs(); ++i) c.set_dx(i, c.dy());
                         },
                     .body = kernel([](KernelContext& c) {
                       auto y = c.out<double>(0);
                       std::fill(y.begin(), y.end(), 0.0);
                       for (int k = 0; k < c.num_inputs(); ++k) {
                         for (size_t i = 0; i < y.size(); ++i) y[i] += c.in<double>(k)[i];
                       }
                       return Status();
                     })});
  ops.define(kOnesLike, {.name = "OnesLike",
                         .inputs = {"x: T"},
                         .outputs = {"y: T"},
                         .types = any,
                         .infer = same_as_input,
                         .gradient = not_differentiable,
                         .body = kernel([](KernelContext& c) {
                           auto y = c.out<double>(0);
                           std::fill(y.begin(), y.end(), 1.0);
                           return Status();
                         })});
  ops.define(kFill,
             {.name = "Fill",
              .inputs = {"dims: index_type", "value: T"},
              .outputs = {"output: T"},
              .types = {{"T", kAllTypes}, {"index_type", kIndexTypes}},
              .infer = [](InferContext& c) { return infer_from_sizes(c, 0); },
              .gradient = [](GradientContext& c) { c.set_dx(1, c(kSum, {c.dy()})); },
              .body = kernel([](KernelContext& c) {
                if (!c.output(0)) {
                  RETURN_IF_ERROR(c.allocate_output(
                      0, DType::kFloat64, Shape(std::span<const int64_t>(ints_of(c.input(0))))));
                }
                auto y = c.out<double>(0);
                std::fill(y.begin(), y.end(), c.in<double>(1)[0]);
                return Status();
              })});
  ops.define(kReshape,
             {.name = "Reshape",
              .inputs = {"tensor: T", "shape: Tshape"},
              .outputs = {"output: T"},
              .types = {{"T", kAllTypes}, {"Tshape", kIndexTypes}},
              .infer = [](InferContext& c) { return infer_from_sizes(c, 1); },
              .gradient =
                  [](GradientContext& c) {
                    c.set_dx(0, c(kReshape, {c.dy(), c.shape_of_x(0)}));
                  },
              .body = kernel([](KernelContext& c) {
                c.set_output(
                    0, c.input(0).with_shape(Shape(std::span<const int64_t>(ints_of(c.input(1))))));
                return Status();
              })});
  ops.define(kShape, {.name = "Shape",
                      .inputs = {"input: T"},
                      .outputs = {"output: out_type"},
                      .types = {{"T", kAllTypes}, {"out_type", kIndexTypes}},
                      .infer =
                          [](InferContext& c) {
                            const Shape& x = c.shape(0);
                            c.set_shape(0, Shape{x.has_rank() ? Dim(x.rank()) : Dim::unknown()});
                            if (x.has_rank()) {
                              c.set_sizes(0, SymbolicValue(x.dims().begin(), x.dims().end()));
                            }
                            return Status();
                          },
                      .gradient = not_differentiable,
                      .body = kernel([](KernelContext& c) {
                        auto y = c.out<int32_t>(0);
                        for (size_t i = 0; i < y.size(); ++i) {
                          y[i] = static_cast<int32_t>(c.input(0).shape().size(static_cast<int>(i)));
                        }
                        return Status();
                      })});
  ops.define(kConcatV2, {.name = "ConcatV2",
                         .inputs = {"values: N * T", "axis: int32"},
                         .outputs = {"output: T"},
                         .types = any,
                         .infer =
                             [](InferContext& c) {
                               Shape shape = c.shape(0);
                               for (int i = 1; i + 1 < c.num_inputs(); ++i) {
                                 shape.set(0, c.add(shape[0], c.shape(i)[0]));
                               }
                               c.set_shape(0, shape);
                               return Status();
                             },
                         .body = kernel([](KernelContext& c) {
                           auto* to = static_cast<std::byte*>(c.output(0).mutable_raw_data());
                           for (int i = 0; i + 1 < c.num_inputs(); ++i) {
                             std::memcpy(to, c.input(i).raw_data(), c.input(i).bytes());
                             to += c.input(i).bytes();
                           }
                           return Status();
                         })});
  ops.define(kUnsortedSegmentSum,
             {.name = "UnsortedSegmentSum",
              .inputs = {"data: T", "segment_ids: Tindices", "num_segments: Tnumsegments"},
              .outputs = {"output: T"},
              .types = {{"T", kAllTypes}, {"Tindices", kIndexTypes}, {"Tnumsegments", kIndexTypes}},
              .infer =
                  [](InferContext& c) {
                    Shape shape = c.shape(0);
                    auto rows = c.sizes(2);
                    shape.set(0, rows ? (*rows)[0] : Dim::unknown());
                    c.set_shape(0, shape);
                    return Status();
                  },
              .gradient =
                  [](GradientContext& c) {
                    c.set_dx(0, c(kGather, {c.dy(), c.x(1)}));
                  },
              .body = kernel([](KernelContext& c) {
                auto ids = ints_of(c.input(1));
                Shape shape = c.input(0).shape();
                shape.set(0, ints_of(c.input(2))[0]);
                RETURN_IF_ERROR(c.allocate_output(0, c.input(0).dtype(), shape));
                size_t row = ids.empty() ? 0 : c.input(0).num_elements() / ids.size();
                auto add = [&](auto zero) {
                  using T = decltype(zero);
                  auto y = c.out<T>(0);
                  std::fill(y.begin(), y.end(), T());
                  for (size_t i = 0; i < ids.size(); ++i) {
                    if (ids[i] < 0) continue;
                    for (size_t j = 0; j < row; ++j) y[ids[i] * row + j] += c.in<T>(0)[i * row + j];
                  }
                };
                if (c.input(0).dtype() == DType::kInt32) {
                  add(int32_t());
                } else {
                  add(double());
                }
                return Status();
              })});
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
  ops.define(kReadVariable,
             {.name = "ReadVariableOp",
              .inputs = {"resource: resource"},
              .outputs = {"value: dtype"},
              .types = {{"dtype", kAllTypes}},
              .infer =
                  [](InferContext& c) {
                    auto data = c.handle_data(0);
                    c.set_shape(0, data ? data->value().shape : Shape::unknown_rank());
                    return Status();
                  },
              .body = kernel([](KernelContext& c) {
                c.set_output(0, static_cast<TestVariable*>(c.input(0).resource().get())->value);
                return Status();
              }),
              .effects = reads_resource_effects});
  ops.define(kAssignVariable, {.name = "AssignVariableOp",
                               .inputs = {"resource: resource", "value: dtype"},
                               .types = {{"dtype", kAllTypes}},
                               .infer = no_outputs,
                               .body = kernel([](KernelContext& c) {
                                 ++g_runs["assign"];
                                 static_cast<TestVariable*>(c.input(0).resource().get())->value =
                                     c.input(1);
                                 return Status();
                               }),
                               .effects = writes_resource_effects});
  // --- Ops of the tests.
  const std::vector<TypeConstraint> real = {{"T", {DType::kFloat64}}};
  auto unary = [&](OpHandle<NoAttrs>& handle, const char* name, KernelFunction f,
                   GradientFunction g) {
    ops.define(handle, {.name = name,
                        .inputs = {"x: T"},
                        .outputs = {"y: T"},
                        .types = real,
                        .infer = same_as_input,
                        .gradient = g,
                        .body = kernel(f)});
  };
  unary(kExp, "TestExp", unary_kernel<exp_of>, [](GradientContext& c) {
    c.set_dx(0, c(kMul, {c.dy(), c.y(0)}));
  });
  unary(kSin, "TestSin", unary_kernel<sin_of>, [](GradientContext& c) {
    c.set_dx(0, c(kMul, {c.dy(), c(kCos, {c.x(0)})}));
  });
  unary(kCos, "TestCos", unary_kernel<cos_of>, [](GradientContext& c) {
    c.set_dx(0, c(kMul, {c.dy(), c(kNeg, {c(kSin, {c.x(0)})})}));
  });
  unary(kNeg, "TestNeg", unary_kernel<minus>,
        [](GradientContext& c) { c.set_dx(0, c(kNeg, {c.dy()})); });
  unary(kNoGradient, "TestNoGradient", unary_kernel<exp_of>, nullptr);
  // Sums a gradient that was broadcast from a scalar.
  static auto reduced = [](GradientContext& c, Tensor dy, int i) {
    const Shape& x = c.static_shape_of_x(i);
    bool is_scalar = x.has_rank() && x.rank() == 0;
    return is_scalar && dy && dy.rank() > 0 ? c(kSum, {dy}) : dy;
  };
  auto binary = [&](OpHandle<NoAttrs>& handle, const char* name, KernelFunction f,
                    GradientFunction g) {
    ops.define(handle, {.name = name,
                        .inputs = {"x: T", "y: T"},
                        .outputs = {"z: T"},
                        .types = real,
                        .infer = broadcast_inputs,
                        .gradient = g,
                        .body = kernel(f)});
  };
  binary(kAdd, "TestAdd", binary_kernel<sum_of>, [](GradientContext& c) {
    for (int i = 0; i < 2; ++i) c.set_dx(i, reduced(c, c.dy(), i));
  });
  binary(kMul, "TestMul", binary_kernel<product_of>, [](GradientContext& c) {
    for (int i = 0; i < 2; ++i) {
      if (c.wants(i)) c.set_dx(i, reduced(c, c(kMul, {c.dy(), c.x(1 - i)}), i));
    }
  });
  ops.define(kSum, {.name = "TestSum",
                    .inputs = {"x: T"},
                    .outputs = {"y: T"},
                    .types = real,
                    .infer = scalar_output,
                    .gradient =
                        [](GradientContext& c) {
                          c.set_dx(0, c(kFill, {c.shape_of_x(0), c.dy()}));
                        },
                    .body = kernel([](KernelContext& c) {
                      double total = 0;
                      for (double x : c.in<double>(0)) total += x;
                      c.out<double>(0)[0] = total;
                      return Status();
                    })});
  ops.define(kGather, {.name = "TestGather",
                       .inputs = {"params: T", "indices: Tindices"},
                       .outputs = {"y: T"},
                       .types = {{"T", {DType::kFloat64}}, {"Tindices", kIndexTypes}},
                       .infer =
                           [](InferContext& c) {
                             Shape shape = c.shape(0);
                             shape.set(0, c.shape(1)[0]);
                             c.set_shape(0, shape);
                             return Status();
                           },
                       .gradient =
                           [](GradientContext& c) {
                             c.set_dx(0, IndexedSlices{c.dy(), c.x(1), c.shape_of_x(0)});
                           },
                       .body = kernel([](KernelContext& c) {
                         auto ids = ints_of(c.input(1));
                         size_t row = c.input(0).num_elements() / c.input(0).shape().size(0);
                         for (size_t i = 0; i < ids.size(); ++i) {
                           for (size_t j = 0; j < row; ++j) {
                             c.out<double>(0)[i * row + j] = c.in<double>(0)[ids[i] * row + j];
                           }
                         }
                         return Status();
                       })});
  // A composite with inference of its own, so that it stays a node; of another composite.
  ops.define(kSquareSin, {.name = "TestSquareSin",
                          .inputs = {"x: T"},
                          .outputs = {"y: T"},
                          .types = real,
                          .infer = same_as_input,
                          .body = composite([](CompositeContext& c) {
                            Tensor s = c(kSin, {c.x(0)});
                            c.set_output(c(kMul, {s, s}));
                          })});
  // Two outputs: sin and exp.
  ops.define(kTwins, {.name = "TestTwins",
                      .inputs = {"x: T"},
                      .outputs = {"s: T", "e: T"},
                      .types = real,
                      .infer =
                          [](InferContext& c) {
                            for (int i = 0; i < 2; ++i) c.set_shape(i, c.shape(0));
                            return Status();
                          },
                      .gradient =
                          [](GradientContext& c) {
                            Tensor s = c(kMul, {c.dy(0), c(kCos, {c.x(0)})});
                            c.set_dx(0, c(kAdd, {s, c(kMul, {c.dy(1), c.y(1)})}));
                          },
                      .body = kernel([](KernelContext& c) {
                        for (size_t i = 0; i < c.in<double>(0).size(); ++i) {
                          c.out<double>(0)[i] = std::sin(c.in<double>(0)[i]);
                          c.out<double>(1)[i] = std::exp(c.in<double>(0)[i]);
                        }
                        return Status();
                      })});
  ops.define(kToInt, {.name = "TestToInt",
                      .inputs = {"x: double"},
                      .outputs = {"y: int32"},
                      .infer = same_as_input,
                      .body = kernel([](KernelContext& c) {
                        for (size_t i = 0; i < c.in<double>(0).size(); ++i) {
                          c.out<int32_t>(0)[i] = static_cast<int32_t>(c.in<double>(0)[i]);
                        }
                        return Status();
                      })});
  ops.define(kRandom, {.name = "TestRandom",
                       .outputs = {"y: double"},
                       .infer = scalar_output,
                       .gradient = not_differentiable,
                       .body = kernel([](KernelContext& c) {
                         c.out<double>(0)[0] = ++g_runs["random"];
                         return Status();
                       }),
                       .effects = unordered_effects});
  ops.define(kPrint, {.name = "TestPrint",
                      .inputs = {"x: double"},
                      .infer = no_outputs,
                      .gradient = not_differentiable,
                      .body = kernel([](KernelContext&) {
                        ++g_runs["print"];
                        return Status();
                      }),
                      .effects = ordered_effects});
}

// Runs each op at once, and graphs node by node.
class ReferenceBuilder final : public Builder {
 public:
  Result<Tensors> apply(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs,
                        std::string_view = {}) override {
    ++num_applied;
    if (&op == kConst.op) return Tensors{attrs.as<ConstAttrs>().value};
    if (Ref<Body> called = called_body(op, attrs)) return run(*called->graph(), inputs);
    if (op.record().body.kind() == OpBody::Kind::kComposite) {
      return expand_composite(*this, op, inputs, attrs);
    }
    TypeBindings types;
    RETURN_IF_ERROR(op.bind_types(inputs, attrs, true, types));
    InlineVector<DType, 4> dtypes;
    op.output_dtypes(types, attrs, static_cast<int>(inputs.size()), dtypes);
    InferContext infer(op, attrs, inputs, types, static_cast<int>(dtypes.size()), nullptr);
    RETURN_IF_ERROR(op.record().infer(infer));
    Tensors outputs;
    for (size_t i = 0; i < dtypes.size(); ++i) {
      const Shape& shape = infer.shapes()[i];
      Tensor output;
      if (shape.is_fully_known()) {
        ASSIGN_OR_RETURN(output, Tensor::allocate(dtypes[i], shape));
      }
      outputs.push_back(output);
    }
    KernelContext context(op, attrs, inputs, outputs, nullptr);
    RETURN_IF_ERROR(op.record().body.kernel()(context));
    return outputs;
  }

  Result<Tensors> run(const Graph& graph, std::span<const Tensor> inputs) {
    if (inputs.size() != graph.inputs().size()) return internal_error("wrong number of inputs");
    std::map<const Node*, Tensors> values;
    for (size_t i = 0; i < inputs.size(); ++i) values[graph.inputs()[i]] = {inputs[i]};
    for (const Node* node : graph.nodes()) {
      if (values.contains(node)) continue;
      std::vector<Tensor> x;
      for (OutputRef input : node->inputs()) x.push_back(values.at(input.node)[input.index]);
      ASSIGN_OR_RETURN(values[node], apply(node->op(), x, node->attrs()));
    }
    Tensors outputs;
    for (OutputRef output : graph.outputs())
      outputs.push_back(values.at(output.node)[output.index]);
    return outputs;
  }

  int num_applied = 0;
};

// Ops as functions, through the builder of the current frame, with tapes listening.
class Ops {
 public:
  Ops() { define_all(); }
  Builder& raw() {
    if (Frame::current().is_graph()) return *Frame::current().graph_builder();
    return eager_;
  }
  template <typename A>
  Tensor operator()(const OpHandle<A>& op, std::vector<Tensor> inputs,
                    const std::type_identity_t<A>& attrs = {}) {
    RecordingBuilder builder(raw());
    auto outputs = builder.apply(*op.op, inputs, attrs);
    REQUIRE_MESSAGE(outputs.ok(), outputs.status().message());
    return outputs->empty() ? Tensor() : (*outputs)[0];
  }
  // Traces a function of placeholders like the given tensors.
  template <typename F>
  Ref<Body> trace(std::vector<std::pair<DType, Shape>> types, F&& f,
                  std::vector<Tensor>* captured = nullptr,
                  std::optional<HandleData> handle_data = std::nullopt) {
    GraphBuilder builder(make_ref<Graph>("f"));
    Frame frame(&builder);
    std::vector<Tensor> x;
    for (const auto& [dtype, shape] : types) {
      bool is_handle = dtype == DType::kResource;
      x.push_back(
          builder.add_placeholder(dtype, shape, "x", is_handle ? handle_data : std::nullopt));
    }
    std::vector<OutputRef> outputs;
    for (const Tensor& y : f(x)) {
      auto inner = builder.capture(y, "y");
      REQUIRE(inner.ok());
      outputs.push_back(symbolic(*inner).output());
    }
    builder.graph()->set_outputs(outputs);
    for (const auto& capture : builder.captures()) {
      REQUIRE(captured);
      captured->push_back(capture.external);
    }
    return Body::create(str_cat("__inference_f_", next_uid()), builder.graph_ref());
  }
  Tensors call_all(const Ref<Body>& body, std::vector<Tensor> inputs) {
    RecordingBuilder builder(raw());
    auto outputs = apply_call(builder, body, inputs);
    REQUIRE_MESSAGE(outputs.ok(), outputs.status().message());
    return *outputs;
  }
  Tensor call(const Ref<Body>& body, std::vector<Tensor> inputs) {
    return call_all(body, std::move(inputs))[0];
  }
  Tensor read(const Tensor& handle) {
    for (Listener* listener : Frame::current().listeners) listener->on_variable(handle);
    return (*this)(kReadVariable, {handle}, {DType::kFloat64});
  }
  ReferenceBuilder& eager() { return eager_; }

 private:
  ReferenceBuilder eager_;
};

// Gradients of targets, with ops told to the listeners.
inline std::vector<Gradient> gradient(Ops& ops, Tape& tape, std::vector<Tensor> targets,
                                      std::vector<Tensor> sources, std::vector<Tensor> seeds = {}) {
  RecordingBuilder builder(ops.raw());
  auto result = tape.gradient(targets, sources, seeds, builder);
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  return *result;
}

inline double number(const Gradient& g) {
  REQUIRE(g.dense);
  return g.dense.item<double>();
}

}  // namespace graven::engine::test
