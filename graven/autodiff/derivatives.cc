#include "graven/autodiff/derivatives.h"

#include <utility>

#include "graven/base/claim.h"
#include "graven/base/heap_bytes.h"

namespace graven::engine {

Result<Ref<Derivatives>> Derivatives::of(const Ref<Body>& body) {
  return body->get_or_make<Derivatives>(
      Body::kGradientPair, []() -> Result<Ref<Derivatives>> { return make_ref<Derivatives>(); });
}

Derivatives::~Derivatives() {
  if (GradientPair* pair = pair_.load(std::memory_order_acquire)) pair->drop_ref();
}

bool Derivatives::fill(Ref<GradientPair> pair) {
  GradientPair* none = nullptr;
  if (!pair_.compare_exchange_strong(none, pair.get(), std::memory_order_acq_rel)) return false;
  pair.release();
  return true;
}

Result<Ref<GradientPair>> Derivatives::pair(
    const std::function<Result<Ref<GradientPair>>()>& make) {
  const auto there = [this] { return pair_.load(std::memory_order_acquire); };
  if (GradientPair* pair = there()) return Ref<GradientPair>(pair);
  ASSIGN_OR_RETURN(Claim claim, Claim::take(&pair_));
  if (GradientPair* pair = there()) return Ref<GradientPair>(pair);
  ASSIGN_OR_RETURN(Ref<GradientPair> made, make());
  fill(std::move(made));
  return Ref<GradientPair>(there());
}

void Derivatives::set_pair_of_half(Ref<GradientPair> pair) {
  counts_pair_ = false;
  fill(std::move(pair));
}

int64_t Derivatives::bytes() {
  GradientPair* pair = pair_.load(std::memory_order_acquire);
  return bytes_of_object<Derivatives>() + tangents_.bytes() +
         (pair && counts_pair_ ? pair->bytes() : 0);
}

}  // namespace graven::engine
