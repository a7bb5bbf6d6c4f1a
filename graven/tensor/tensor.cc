#include "graven/tensor/tensor.h"

namespace graven::engine {

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
  auto num_elements = shape.checked_num_elements();
  if (!num_elements) {
    if (!shape.is_fully_known()) {
      return internal_error("A tensor needs a fully known shape, not ", shape.to_message());
    }
    return Status(Code::kInvalidArgument, str_cat("A shape of ", shape.to_message(),
                                                  " has more elements than an int64 "
                                                  "can count"));
  }
  auto* object = new EagerTensor(dtype, shape, *num_elements);
  Tensor tensor{Ref<TensorObject>(object)};
  // bytes() of a size beyond any memory would wrap; Buffer::allocate refuses it.
  if (*num_elements <= static_cast<int64_t>(sizeof(object->inline_data_)) && is_plain(dtype) &&
      object->bytes() <= sizeof(object->inline_data_) && device.is_host()) {
    object->data_ = object->inline_data_;
    return tensor;
  }
  ASSIGN_OR_RETURN(object->buffer_, Buffer::allocate(dtype, *num_elements, device));
  object->data_ = object->buffer_->data();
  return tensor;
}

Tensor Tensor::of_buffer(DType dtype, const Shape& shape, Ref<Buffer> buffer, size_t offset) {
  auto* object = new EagerTensor(dtype, shape, shape.num_elements());
  object->data_ = static_cast<std::byte*>(buffer->data()) + offset;
  object->buffer_ = std::move(buffer);
  return Tensor(Ref<TensorObject>(object));
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
  auto* object = new EagerTensor(source.dtype(), shape, source.num_elements_);
  object->data_ = object->inline_data_;
  std::memcpy(object->inline_data_, source.inline_data_, sizeof(object->inline_data_));
  return Tensor(Ref<TensorObject>(object));
}

bool Tensor::owns_its_elements() const {
  const EagerTensor& tensor = *eager();
  if (!tensor.is_unique()) return false;
  return !tensor.buffer_ || (tensor.buffer_->is_unique() && tensor.buffer_->is_writable());
}

}  // namespace graven::engine
