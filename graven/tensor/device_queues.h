#pragma once
#include <atomic>
#include <memory>

#include "graven/base/export.h"
#include "graven/tensor/device.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// True once a device beside the host was registered: nothing needs to ask where a tensor is before.
namespace internal {
GRAVEN_API extern std::atomic<bool> g_has_other_devices;
}
inline bool has_other_devices() {
  return internal::g_has_other_devices.load(std::memory_order_relaxed);
}

// The queue on which ops and Programs put what runs on the device. By default work on it is done
// when the kernel returns; a device that works beside the host gives its own, once, before
// anything runs on it.
GRAVEN_API Queue& queue_of(const Device& device);
GRAVEN_API void set_queue(const Device& device, std::unique_ptr<Queue> queue);

// The tensor itself if its elements are on the device, else a copy of them there, when what its
// own device was told to do is done. Strings and handles, which are the host's, stay there.
GRAVEN_API Result<Tensor> on_device(const Tensor& tensor, const Device& device);

}  // namespace graven::engine
