#include "graven/tensor/buffer.h"

#include <memory>

#include "graven/base/sanitizer.h"
#include "graven/tensor/allocator.h"
#include "graven/tensor/resource.h"
#include "graven/tensor/spare_memory.h"

namespace graven::engine {
namespace {

class PlainBuffer final : public Buffer {
 public:
  PlainBuffer(void* data, size_t bytes, const Device& device) : Buffer(data, bytes, device) {}
  ~PlainBuffer() override { device_.free(data_, bytes_); }
};

// Elements with constructors: strings and handles.
template <typename T>
class ObjectBuffer final : public Buffer {
 public:
  ObjectBuffer(void* data, size_t bytes) : Buffer(data, bytes, Device::host()) {
    std::uninitialized_value_construct_n(elements(), bytes / sizeof(T));
    begin_pointers(data, bytes);
  }
  ~ObjectBuffer() override {
    end_pointers(data_, bytes_);
    std::destroy_n(elements(), bytes_ / sizeof(T));
    Allocator::host().free(data_, bytes_);
  }

 private:
  T* elements() { return static_cast<T*>(data_); }
};

class BorrowedBuffer final : public Buffer {
 public:
  BorrowedBuffer(const void* data, size_t bytes, std::function<void()> release)
      : Buffer(const_cast<void*>(data), bytes, Device::host()), release_(std::move(release)) {}
  ~BorrowedBuffer() override { release_(); }
  bool is_writable() const override { return false; }

 private:
  std::function<void()> release_;
};

}  // namespace

Result<Ref<Buffer>> Buffer::allocate(DType type, int64_t num_elements, const Device& device) {
  size_t bytes;
  if (__builtin_mul_overflow(static_cast<size_t>(num_elements), dtype_size(type), &bytes)) {
    return Status(Code::kResourceExhausted,
                  str_cat("A tensor of ", num_elements, " elements of ", dtype_name(type),
                          " is larger than any memory. See docs/errors/out-of-memory.md"));
  }
  if (!is_plain(type) && !device.is_host()) {
    return Status(Code::kInvalidArgument, str_cat("Tensors of ", dtype_name(type),
                                                  " are the host's, not of ", device.name()));
  }
  if (is_plain(type) && device.is_host()) {
    if (Ref<Buffer> spare = SpareMemory::take_buffer(bytes)) return spare;
  }
  void* data = device.allocate(bytes);
  if (!data) {
    SpareMemory::free_all();
    data = device.allocate(bytes);
  }
  if (!data && !device.is_host()) {
    return Status(Code::kResourceExhausted,
                  str_cat("Out of memory when allocating a tensor of ", num_elements,
                          " elements of ", dtype_name(type), " (", bytes, " bytes) on ",
                          device.name(), ". See docs/errors/out-of-memory.md"));
  }
  if (!data) {
    auto stats = Allocator::host().stats();
    return Status(Code::kResourceExhausted,
                  str_cat("Out of memory when allocating a tensor of ", num_elements,
                          " elements of ", dtype_name(type), " (", bytes, " bytes): ", stats.in_use,
                          " bytes are in use and the limit is ", Allocator::host().limit(),
                          " (config.set_memory_limit). See docs/errors/out-of-memory.md"));
  }
  if (type == DType::kString) return Ref<Buffer>(new ObjectBuffer<std::string>(data, bytes));
  if (!is_plain(type)) return Ref<Buffer>(new ObjectBuffer<Ref<Resource>>(data, bytes));
  return Ref<Buffer>(new PlainBuffer(data, bytes, device));
}

Ref<Buffer> Buffer::borrow(const void* data, size_t bytes, std::function<void()> release) {
  return Ref<Buffer>(new BorrowedBuffer(data, bytes, std::move(release)));
}

}  // namespace graven::engine
