#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <span>

#include "graven/base/export.h"
#include "graven/base/inline_vector.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/expr/reduction.h"
#include "graven/ir/attributes.h"
#include "graven/ir/op.h"

namespace graven::engine {

// The body of an elementwise op, a reduction, or an op over rows, recorded for dtypes and
// attributes. Never changes.
//
// Recorded bodies stand in a list beside each op. A hit takes no lock and touches no counter:
// entries are never removed. An op keeps a few dozen of them; beyond that (attributes that differ
// in each call) a body is recorded anew each time, so memory stays bounded. Any thread.
class GRAVEN_API RecordedBody : public RefCounted {
 public:
  // The recorded body for inputs of these dtypes, or null. On a hit the op takes these dtypes.
  static const RecordedBody* find(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs);
  // The same, but records the body on a miss. The types are checked already; `output` is the dtype
  // of the result. A reduction has one input here, the one it reduces.
  static Result<Ref<const RecordedBody>> get(const Op& op, AttrsRef attrs,
                                             std::span<const DType> inputs, DType output);

  DType output() const { return output_; }
  // One of these three is not null.
  const Expression* expression() const { return expression_ ? &*expression_ : nullptr; }
  const ReductionParts* reduction() const { return reduction_.get(); }
  const RowsExpression* rows() const { return rows_.get(); }
  // The nodes of its expressions, for limits and estimates.
  size_t num_nodes() const;
  // The expression that a body without rows runs for each element. In a reduction it prepares the
  // elements to combine.
  const Expression& per_element() const { return expression_ ? *expression_ : reduction_->prepare; }
  // The result has the broadcast of the inputs' shapes, so that `infer` need not be asked.
  bool broadcasts() const { return broadcasts_; }

  // The compiled form of the body alone, kept here so that finding the body finds it; null until it
  // is made. The first one that is set stays, and is returned.
  const RefCounted* compiled() const { return compiled_.load(std::memory_order_acquire); }
  const RefCounted* set_compiled(Ref<const RefCounted> made) const;

 private:
  RecordedBody(std::span<const DType> dtypes, AttrsRef attrs) : dtypes_(dtypes), attrs_(attrs) {}
  ~RecordedBody() override;
  Status record(const Op& op, DType output);
  const InlineVector<DType, 8> dtypes_;  // of the inputs
  const Attrs attrs_;
  DType output_ = DType::kInvalid;
  bool broadcasts_ = false;
  std::optional<Expression> expression_;
  std::unique_ptr<ReductionParts> reduction_;
  std::unique_ptr<RowsExpression> rows_;
  mutable std::atomic<const RefCounted*> compiled_{nullptr};  // owned
  const RecordedBody* next_ = nullptr;
};

}  // namespace graven::engine
