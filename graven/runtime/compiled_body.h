#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "graven/base/inline_vector.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/attributes.h"
#include "graven/ir/op.h"
#include "graven/kernels/block_program.h"
#include "graven/kernels/reduce.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// The body of an elementwise op or a reduction, compiled for dtypes and attributes. Never
// changes.
class CompiledBody : public RefCounted {
 public:
  CompiledBody(std::span<const DType> dtypes, AttrsRef attrs) : dtypes_(dtypes), attrs_(attrs) {}

  DType output() const { return output_; }
  // Of an elementwise op; null for a reduction.
  const std::shared_ptr<const BlockProgram>& block() const { return block_; }
  // Of a reduction, and what it was made of.
  const std::shared_ptr<const ReductionProgram>& reduction() const { return reduction_; }
  const ReductionParts& parts() const { return *parts_; }
  // The result has the broadcast of the inputs' shapes, so that `infer` need not be asked.
  bool broadcasts() const { return broadcasts_; }

 private:
  friend class BodyCache;
  const InlineVector<DType, 8> dtypes_;  // of the inputs
  const Attrs attrs_;
  DType output_ = DType::kInvalid;
  bool broadcasts_ = false;
  std::shared_ptr<const BlockProgram> block_;
  std::unique_ptr<ReductionParts> parts_;
  std::shared_ptr<const ReductionProgram> reduction_;
  const CompiledBody* next_ = nullptr;
};

// Compiled bodies, in a list beside each op. A hit takes no lock and touches no counter: entries
// are never removed. An op keeps a few dozen of them; beyond that (attributes that differ in
// each call) a body is compiled anew each time, so memory stays bounded.
class BodyCache {
 public:
  // What is there for inputs of these dtypes, or null. A hit also says that the dtypes are those
  // that the op takes.
  static const CompiledBody* find(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs);
  // The same, made if it is not there. The types are checked already; `output` is the dtype of
  // the result.
  static Result<Ref<const CompiledBody>> get(const Op& op, AttrsRef attrs,
                                             std::span<const DType> inputs, DType output);
};

}  // namespace graven::engine
