#include "graven/tensor/tensor.h"

#include "graven/tensor/any_tensor.h"
#include "graven/tensor/spare_memory.h"

namespace graven::engine {
namespace {

std::atomic<bool> g_any_made{false};

}  // namespace

bool has_made_tensors() { return g_any_made.load(std::memory_order_relaxed); }

uint64_t TensorObject::give_id() const {
  static std::atomic<uint64_t> last{0};
  uint64_t id = last.fetch_add(1, std::memory_order_relaxed) + 1, none = 0;
  // Another thread may have been first.
  return id_.compare_exchange_strong(none, id, std::memory_order_relaxed) ? id : none;
}

Result<Tensor> Tensor::allocate(DType dtype, const Shape& shape) {
  return allocate(dtype, shape, Device::host());
}

Result<Tensor> Tensor::allocate(DType dtype, const Shape& shape, const Device& device) {
  if (device.is_host()) {
    if (Tensor spare = SpareMemory::take(dtype, shape)) return spare;
  }
  auto num_elements = shape.checked_num_elements();
  if (!num_elements) {
    if (!shape.is_fully_known()) {
      return internal_error("A tensor needs a fully known shape, not ", shape.to_message());
    }
    return Status(Code::kInvalidArgument, str_cat("A shape of ", shape.to_message(),
                                                  " has more elements than an int64 "
                                                  "can count"));
  }
  // The bytes of a size beyond any memory would wrap; Buffer::allocate refuses it.
  constexpr size_t kInlineBytes = sizeof(EagerTensor::inline_data_);
  const bool is_inline = *num_elements <= static_cast<int64_t>(kInlineBytes) && is_plain(dtype) &&
                         static_cast<size_t>(*num_elements) * dtype_size(dtype) <= kInlineBytes &&
                         device.is_host();
  Ref<Buffer> buffer;
  if (!is_inline) {
    ASSIGN_OR_RETURN(buffer, Buffer::allocate(dtype, *num_elements, device));
  }
  return make(dtype, shape, *num_elements, std::move(buffer), 0);
}

Tensor Tensor::of_buffer(DType dtype, const Shape& shape, Ref<Buffer> buffer, size_t offset) {
  return make(dtype, shape, shape.num_elements(), std::move(buffer), offset);
}

Tensor Tensor::make(DType dtype, const Shape& shape, int64_t num_elements, Ref<Buffer> buffer,
                    size_t offset) {
  Tensor made = SpareMemory::take_object();
  if (made) {
    EagerTensor& object = *made.eager();
    object.dtype_ = dtype;
    if (!(object.shape_ == shape)) object.shape_ = shape;
    object.num_elements_ = num_elements;
  } else {
    // The first one is none that was there. All threads write here, so only once.
    if (!g_any_made.load(std::memory_order_relaxed)) {
      g_any_made.store(true, std::memory_order_relaxed);
    }
    made = Tensor(Ref<TensorObject>(new EagerTensor(dtype, shape, num_elements)));
  }
  EagerTensor& object = *made.eager();
  if (buffer) {
    object.data_ = static_cast<std::byte*>(buffer->data()) + offset;
    object.buffer_ = std::move(buffer);
  } else {
    object.data_ = object.inline_data_;
  }
  return made;
}

Tensor Tensor::string_scalar(std::string value) {
  Tensor tensor = *allocate(DType::kString, Shape());
  *static_cast<std::string*>(tensor.mutable_raw_data()) = std::move(value);
  return tensor;
}

Tensor Tensor::of_resource(Ref<Resource> resource, DType dtype) {
  Tensor tensor = *allocate(dtype, Shape());
  *static_cast<Ref<Resource>*>(tensor.mutable_raw_data()) = std::move(resource);
  return tensor;
}

Tensor Tensor::with_shape(const Shape& shape) const {
  const EagerTensor& source = *eager();
  if (source.buffer_) {
    size_t offset =
        static_cast<std::byte*>(source.data_) - static_cast<std::byte*>(source.buffer_->data());
    return of_buffer(source.dtype(), shape, source.buffer_, offset);
  }
  Tensor made = of_buffer(source.dtype(), shape, nullptr);
  std::memcpy(made.eager()->inline_data_, source.inline_data_, sizeof(source.inline_data_));
  return made;
}

bool Tensor::owns_its_elements() const {
  const EagerTensor& tensor = *eager();
  if (!tensor.is_unique()) return false;
  return !tensor.buffer_ || (tensor.buffer_->is_unique() && tensor.buffer_->is_writable());
}

}  // namespace graven::engine
