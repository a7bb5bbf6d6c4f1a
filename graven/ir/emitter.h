#pragma once
#include <initializer_list>
#include <span>
#include <string_view>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/builder.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// Applies ops for code that reads as formulas: gradients and composites. After its first error it
// gives empty tensors only, and takes them, so that the error is checked once, at the end.
class GRAVEN_API Emitter {
 public:
  explicit Emitter(Builder& builder) : builder_(builder) {}

  // The first output of an op.
  template <typename A>
  Tensor operator()(const OpHandle<A>& op, std::initializer_list<Tensor> inputs,
                    const std::type_identity_t<A>& attrs = {}, std::string_view name = {}) {
    Tensors outputs = apply(*op.op, {inputs.begin(), inputs.size()}, attrs, name);
    return outputs.empty() ? Tensor() : std::move(outputs[0]);
  }
  // All outputs; none after an error.
  template <typename A>
  Tensors apply(const OpHandle<A>& op, std::initializer_list<Tensor> inputs,
                const std::type_identity_t<A>& attrs = {}, std::string_view name = {}) {
    return apply(*op.op, {inputs.begin(), inputs.size()}, attrs, name);
  }
  Tensors apply(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs,
                std::string_view name = {});

  // A value as a tensor that ops take: a Const node in a graph, where it would otherwise be
  // captured; itself when values are computed at once.
  Tensor constant(const Tensor& value, std::string_view name = {});

  Builder& builder() { return builder_; }
  const Status& status() const { return status_; }
  void fail(Status status);

 private:
  Builder& builder_;
  Status status_;
};

// The argument of a composite body: inputs, attributes, and a place for the outputs.
class GRAVEN_API CompositeContext : public Emitter {
 public:
  CompositeContext(Builder& builder, const Op& op, std::span<const Tensor> inputs, AttrsRef attrs)
      : Emitter(builder), op_(op), inputs_(inputs), attrs_(attrs) {}
  const Op& op() const { return op_; }
  const Tensor& x(int i) const { return inputs_[i]; }
  std::span<const Tensor> inputs() const { return inputs_; }
  template <typename A>
  const A& attrs() const {
    return attrs_.as<A>();
  }
  void set_output(Tensor y) { outputs_.push_back(std::move(y)); }  // in order
  Tensors& outputs() { return outputs_; }
  // For a body that relies on shapes that fit, if they are not known yet, before it applies any op:
  // the op is not expanded, and checks the shapes when it runs.
  void stay_whole() { stays_whole_ = true; }
  bool stays_whole() const { return stays_whole_; }

 private:
  const Op& op_;
  std::span<const Tensor> inputs_;
  AttrsRef attrs_;
  Tensors outputs_;
  bool stays_whole_ = false;
};

// Runs a composite body with the builder. Returns no outputs if the op stays whole, which happens
// in graphs only.
GRAVEN_API Result<Tensors> expand_composite(Builder& builder, const Op& op,
                                            std::span<const Tensor> inputs, AttrsRef attrs);

}  // namespace graven::engine
