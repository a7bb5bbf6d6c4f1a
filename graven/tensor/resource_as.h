#pragma once
#include <string_view>

#include "graven/base/status.h"
#include "graven/base/strings.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// The object that an eager handle holds. Null for an empty handle, for any shape but a scalar's,
// and for tensors that are no handles.
inline Resource* held_resource(const Tensor& handle) {
  const bool is_handle = handle.dtype() == DType::kResource || handle.dtype() == DType::kVariant;
  return is_handle && handle.rank() == 0 ? handle.resource().get() : nullptr;
}

// The object of an eager handle, as its C++ type T. kInvalidArgument, which says what came instead,
// for anything but a scalar handle of a T. `name` is T's in messages.
template <typename T>
Result<T*> resource_as(const Tensor& handle, std::string_view name) {
  Resource* held = held_resource(handle);
  if (T* object = dynamic_cast<T*>(held)) return object;
  auto refused = [&](const auto&... came) {
    return invalid_argument("expected a handle of a ", name, ", got ", came...);
  };
  if (held) return refused("one of a ", held->kind());
  if (handle.rank() != 0) return refused("handles of shape ", handle.shape().to_message());
  return refused("an empty one");
}

}  // namespace graven::engine
