#pragma once
#include <atomic>
#include <cstdint>
#include <functional>

#include "graven/autodiff/gradient_pair.h"
#include "graven/autodiff/tangent_body.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/body.h"

namespace graven::engine {

// What is made of a body to differentiate it, in the body's slot kGradientPair: its gradient pair,
// and its bodies with tangents. Each is made when it is first asked for, as Body::get_or_make says.
class Derivatives final : public RefCounted {
 public:
  // Those of the body, which owns them.
  static Result<Ref<Derivatives>> of(const Ref<Body>& body);

  Result<Ref<GradientPair>> pair(const std::function<Result<Ref<GradientPair>>()>& make);
  // Sets the pair of a forward half, whose bytes are counted with the body's.
  void set_pair_of_half(Ref<GradientPair> pair);
  TangentBodies& tangents() { return tangents_; }

  int64_t bytes();

 private:
  ~Derivatives() override;
  bool fill(Ref<GradientPair> pair);
  std::atomic<GradientPair*> pair_{nullptr};  // null, or a reference that this owns
  std::atomic<bool> counts_pair_{true};
  TangentBodies tangents_;
};

}  // namespace graven::engine
