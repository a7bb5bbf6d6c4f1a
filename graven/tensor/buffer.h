#pragma once
#include <cstddef>
#include <functional>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/tensor/device.h"
#include "graven/tensor/dtype.h"

namespace graven::engine {

// A counted piece of memory that holds the elements of one or more tensors. Its maker writes it
// before there is another owner; afterwards only the owner of a unique handle does.
class GRAVEN_API Buffer : public RefCounted {
 public:
  // Memory for num_elements elements of a dtype. Plain elements are not cleared, objects are
  // constructed; those live in the host's memory only. kResourceExhausted names the size and the
  // limit.
  static Result<Ref<Buffer>> allocate(DType type, int64_t num_elements,
                                      const Device& device = Device::host());
  // Memory of the host with another owner. That owner keeps it alive until `release` is called, on
  // the thread that drops the last handle. Never written through this handle.
  static Ref<Buffer> borrow(const void* data, size_t bytes, std::function<void()> release);

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  const Device& device() const { return device_; }
  // False for borrowed memory.
  virtual bool is_writable() const { return true; }

 protected:
  Buffer(void* data, size_t bytes, const Device& device)
      : data_(data), bytes_(bytes), device_(device) {}
  void* data_;
  size_t bytes_;
  const Device& device_;
};

}  // namespace graven::engine
