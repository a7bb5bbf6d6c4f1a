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

// What an element of a variant tensor is: a value that is no plain tensor, such as a list of them,
// an optional, a dataset. Unlike other resources it never changes while more than one handle
// holds it.
//
// Gradients flow through variants, so a kind says what zero is and how two are added; elements
// without a value (empty handles) are zeros.
class GRAVEN_API Variant : public Resource {
 public:
  // The dtypes and shapes of what it holds, one for each component: the elements of a list or of
  // a dataset. None if that is not known.
  virtual std::vector<std::pair<DType, Shape>> components() const { return {}; }
  // A value of the kind to which adding changes nothing. kUnimplemented for kinds through which
  // no gradient flows.
  virtual Result<Ref<Resource>> zeros_like() const {
    return unimplemented("there is no zero of a ", kind());
  }
  // The sum with another of the kind; kInvalidArgument for one that does not fit.
  virtual Result<Ref<Resource>> add(const Variant& other) const {
    return unimplemented("a ", kind(), " cannot be added to a ", other.kind());
  }
  // A copy that shares what never changes, for whoever wants to change it.
  virtual Ref<Variant> clone() const = 0;
};

// What the scalar handle holds, to be changed by the kernel that was given its memory (`overwrites`
// in the record): the object itself if no other handle holds it, else a copy, which the handle
// holds from then on.
template <typename T>
Result<T*> changeable(const Tensor& handle, std::string_view name) {
  ASSIGN_OR_RETURN(T * held, resource_as<T>(handle, name));
  if (held->is_unique()) return held;
  auto& place = *static_cast<Ref<Resource>*>(handle.mutable_raw_data());
  place = held->clone();
  return static_cast<T*>(place.get());
}

// Element by element, for the kernels of ZerosLike and AddN: `to` has as many elements, and may be
// the same memory.
GRAVEN_API Status zeros_like_variants(std::span<const Ref<Resource>> from,
                                      std::span<Ref<Resource>> to);
GRAVEN_API Status add_variants(std::span<const Ref<Resource>> a, std::span<const Ref<Resource>> b,
                               std::span<Ref<Resource>> to);

}  // namespace graven::engine
