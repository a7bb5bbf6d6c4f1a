#pragma once
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "graven/autodiff/gradient_pair.h"
#include "graven/autodiff/tape.h"
#include "graven/base/strings.h"
#include "graven/ir/custom_gradient.h"
#include "graven/ir/emitter.h"
#include "graven/ir/frame.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/runtime/eager_builder.h"
#include "graven/runtime/variable.h"

// Helpers of this room's tests.
namespace graven::engine::test {

// Each real composite has a gradient. This one has none, and stays a node in a graph.
inline const OpHandle<NoAttrs> kSquareSin =
    OpRegistry::global().define<NoAttrs>({.name = "TestSquareSin",
                                          .inputs = {"x: T"},
                                          .outputs = {"y: T"},
                                          .types = {{"T", kFloatTypes}},
                                          .infer = same_as_input,
                                          .body = composite([](CompositeContext& c) {
                                            Tensor s = c(kSin, {c.x(0)});
                                            c.set_output(c(kMul, {s, s}));
                                          })});

inline Tensor vec(std::vector<double> values) {
  return Tensor::vector(std::span<const double>(values));
}
inline Tensor ints(std::vector<int32_t> values) {
  return Tensor::vector(std::span<const int32_t>(values));
}
inline Tensor num(double value) { return Tensor::scalar(value); }
inline Tensor variable(const Tensor& value, bool trainable = true) {
  auto made = make_ref<Variable>(value.dtype(), value.shape(), "v", trainable);
  REQUIRE(made->assign(value).ok());
  return Tensor::of_resource(std::move(made));
}
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

// The eager builder, with a count of what it applied.
class CountingBuilder final : public Builder {
 public:
  Result<Tensors> apply(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs,
                        std::string_view name) override {
    ++num_applied;
    return eager_builder().apply(op, inputs, attrs, name);
  }
  Result<Tensors> call(const Ref<Body>& body, std::span<const Tensor> inputs,
                       std::string_view name) override {
    ++num_applied;
    return eager_builder().call(body, inputs, name);
  }
  int num_applied = 0;
};

// Ops as functions, through the builder of the current frame, with tapes listening.
class Ops {
 public:
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
  // A Const node in a graph, where the value would else be captured.
  Tensor constant(const Tensor& value) { return Emitter(raw()).constant(value); }
  Tensor sum(const Tensor& vector) { return (*this)(kSum, {vector, constant(ints({0}))}); }
  Tensor gather(const Tensor& table, std::vector<int32_t> rows) {
    return (*this)(kGatherV2,
                   {table, constant(ints(std::move(rows))), constant(Tensor::scalar<int32_t>(0))});
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
    std::vector<Node*> effects;
    for (Node* node : builder.graph()->nodes()) {
      if (node->op().record().effects(node->op(), node->attrs()).must_run) effects.push_back(node);
    }
    builder.graph()->set_control_outputs(effects);
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
  CountingBuilder& eager() { return eager_; }

 private:
  CountingBuilder eager_;
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
