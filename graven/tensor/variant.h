#pragma once
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/tensor/resource.h"
#include "graven/tensor/resource_as.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// The object of an element of a variant tensor: a value that is no plain tensor, such as a list of
// them, an optional, a dataset. Unlike other resources it never changes while more than one handle
// holds it.
//
// Gradients flow through variants, so each kind defines its zero and its addition; elements without
// a value (empty handles) are zeros.
class GRAVEN_API Variant : public Resource {
 public:
  // The dtypes and shapes of its content, one for each component: the elements of a list or of a
  // dataset. None if they are not known.
  virtual std::vector<std::pair<DType, Shape>> components() const { return {}; }
  // The zero of the kind: adding it changes nothing. kUnimplemented for kinds through which no
  // gradient flows.
  virtual Result<Ref<Resource>> zeros_like() const {
    return unimplemented("there is no zero of a ", kind());
  }
  // Adds another value of the kind; kInvalidArgument if that does not fit. The caller has the only
  // handle.
  virtual Status add(const Variant& other) {
    return unimplemented("a ", other.kind(), " cannot be added to a ", kind());
  }
  // A copy for a caller that will change it. Shares the parts that never change.
  virtual Ref<Variant> clone() const = 0;
};

// The object of a scalar handle, for a kernel that may overwrite it (`overwrites` in the record):
// the object itself if no other handle holds it, else a copy, which the handle then holds.
template <typename T>
Result<T*> changeable(const Tensor& handle, std::string_view name) {
  ASSIGN_OR_RETURN(T * held, resource_as<T>(handle, name));
  if (held->is_unique()) return held;
  auto& place = *static_cast<Ref<Resource>*>(handle.mutable_raw_data());
  place = held->clone();
  return static_cast<T*>(place.get());
}

// Element by element, for the kernels of ZerosLike and AddN: `to` has as many elements, and may be
// the same memory, a's too. A sum is computed in place if there is no other handle of it.
GRAVEN_API Status zeros_like_variants(std::span<const Ref<Resource>> from,
                                      std::span<Ref<Resource>> to);
GRAVEN_API Status add_variants(std::span<const Ref<Resource>> a, std::span<const Ref<Resource>> b,
                               std::span<Ref<Resource>> to);

}  // namespace graven::engine
