#include "graven/tensor/variant.h"

namespace graven::engine {
namespace {

// Null for an empty handle.
Result<const Variant*> variant_of(const Ref<Resource>& element) {
  if (!element) return nullptr;
  if (const auto* variant = dynamic_cast<const Variant*>(element.get())) return variant;
  return invalid_argument("a ", element->kind(), " is no value of a variant");
}

}  // namespace

Status zeros_like_variants(std::span<const Ref<Resource>> from, std::span<Ref<Resource>> to) {
  for (size_t i = 0; i < from.size(); ++i) {
    ASSIGN_OR_RETURN(const Variant* variant, variant_of(from[i]));
    if (variant) {
      ASSIGN_OR_RETURN(to[i], variant->zeros_like());
    } else {
      to[i] = nullptr;
    }
  }
  return {};
}

Status add_variants(std::span<const Ref<Resource>> a, std::span<const Ref<Resource>> b,
                    std::span<Ref<Resource>> to) {
  for (size_t i = 0; i < a.size(); ++i) {
    ASSIGN_OR_RETURN(const Variant* x, variant_of(a[i]));
    ASSIGN_OR_RETURN(const Variant* y, variant_of(b[i]));
    to[i] = x ? a[i] : b[i];
    if (!x || !y) continue;
    // A handle besides to[i]: a's own, or one of another owner.
    if (!x->is_unique()) to[i] = x->clone();
    RETURN_IF_ERROR(static_cast<Variant*>(to[i].get())->add(*y));
  }
  return {};
}

}  // namespace graven::engine
