#pragma once
#include <atomic>
#include <memory>

#include "graven/base/export.h"
#include "graven/tensor/device.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// True once a device beside the host was registered. Until then no code needs to check where a
// tensor is.
namespace internal {
GRAVEN_API extern std::atomic<bool> g_has_other_devices;
}
inline bool has_other_devices() {
  return internal::g_has_other_devices.load(std::memory_order_relaxed);
}

// The queue for ops and Programs on the device. Work on it is done when the kernel returns.
GRAVEN_API Queue& queue_of(const Device& device);

// The tensor itself if its elements are on the device, else a copy of them there. The copy waits
// for the queue of the tensor's own device. Strings and handles stay on the host.
GRAVEN_API Result<Tensor> on_device(const Tensor& tensor, const Device& device);

}  // namespace graven::engine
