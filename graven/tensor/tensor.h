#pragma once
#include <atomic>
#include <cstring>
#include <span>
#include <string>

#include "graven/base/export.h"
#include "graven/base/inline_vector.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/tensor/buffer.h"
#include "graven/tensor/dtype.h"
#include "graven/tensor/resource.h"
#include "graven/tensor/shape.h"

namespace graven::engine {

// The object behind a Tensor: an eager tensor (below), or an output of a node of a graph that is
// being built (SymbolicTensor, in ir). Identity of this object is identity of the tensor, for tapes
// and captures.
class GRAVEN_API TensorObject : public RefCounted {
 public:
  DType dtype() const { return dtype_; }
  bool is_symbolic() const { return is_symbolic_; }
  const Shape& shape() const { return shape_; }

  // A number of its own, for code that remembers a tensor without keeping it alive (its address may
  // be used again). Assigned on the first call; known_id() is 0 before.
  uint64_t id() const {
    uint64_t id = id_.load(std::memory_order_relaxed);
    return id ? id : give_id();
  }
  uint64_t known_id() const { return id_.load(std::memory_order_relaxed); }

 protected:
  TensorObject(DType dtype, const Shape& shape, bool is_symbolic)
      : dtype_(dtype), is_symbolic_(is_symbolic), shape_(shape) {}
  DType dtype_;
  bool is_symbolic_;
  Shape shape_;

 private:
  uint64_t give_id() const;
  mutable std::atomic<uint64_t> id_{0};
};

// A tensor with a value: contiguous, row-major elements. Plain values of up to 16 bytes live in
// the object itself. Never changes once it is shared.
class GRAVEN_API EagerTensor final : public TensorObject {
 public:
  void* data() const { return data_; }
  int64_t num_elements() const { return num_elements_; }
  size_t bytes() const { return num_elements_ * dtype_size(dtype_); }
  // Null for values that live in the object.
  const Ref<Buffer>& buffer() const { return buffer_; }

 private:
  friend class Tensor;
  EagerTensor(DType dtype, const Shape& shape, int64_t num_elements)
      : TensorObject(dtype, shape, false), num_elements_(num_elements) {}
  void* data_ = nullptr;
  int64_t num_elements_;
  Ref<Buffer> buffer_;
  alignas(16) std::byte inline_data_[16] = {};
};

// A reference-counted handle to a tensor, eager or symbolic; may be empty, which stands for
// "no tensor" (an absent gradient). Copying shares. Any thread may use it.
class GRAVEN_API Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Ref<TensorObject> object) : object_(std::move(object)) {}

  explicit operator bool() const { return static_cast<bool>(object_); }
  TensorObject* get() const { return object_.get(); }
  const Ref<TensorObject>& object() const { return object_; }
  // Same object.
  friend bool operator==(const Tensor& a, const Tensor& b) { return a.object_ == b.object_; }

  DType dtype() const { return object_->dtype(); }
  const Shape& shape() const { return object_->shape(); }
  int rank() const { return object_->shape().rank(); }
  bool is_symbolic() const { return object_->is_symbolic(); }

  // --- Eager tensors only, from here on.

  // Memory for a tensor, to be written through mutable_data before it is shared. Fails for
  // shapes that are not fully known, whose element count overflows, or that need more memory
  // than there is.
  static Result<Tensor> allocate(DType dtype, const Shape& shape);
  static Result<Tensor> allocate(DType dtype, const Shape& shape, const Device& device);
  // A view of a buffer from a byte offset on, which holds enough elements.
  static Tensor of_buffer(DType dtype, const Shape& shape, Ref<Buffer> buffer, size_t offset = 0);
  // A scalar, or a vector. bool, numbers, Half, std::complex.
  template <typename T>
  static Tensor scalar(T value);
  template <typename T>
  static Tensor vector(std::span<const T> values);
  static Tensor string_scalar(std::string value);
  static Tensor of_resource(Ref<Resource> resource, DType dtype = DType::kResource);

  EagerTensor* eager() const { return static_cast<EagerTensor*>(object_.get()); }
  int64_t num_elements() const { return eager()->num_elements(); }
  size_t bytes() const { return eager()->bytes(); }
  // The device of the elements; the host for elements that live in the tensor object.
  const Device& device() const {
    return eager()->buffer() ? eager()->buffer()->device() : Device::host();
  }
  const void* raw_data() const { return eager()->data(); }
  void* mutable_raw_data() const { return eager()->data(); }
  template <typename T>
  std::span<const T> data() const {
    return {static_cast<const T*>(raw_data()), static_cast<size_t>(num_elements())};
  }
  template <typename T>
  std::span<T> mutable_data() const {
    return {static_cast<T*>(mutable_raw_data()), static_cast<size_t>(num_elements())};
  }
  template <typename T>
  T item() const {  // the first element
    return *static_cast<const T*>(raw_data());
  }
  // The resource of a scalar of dtype resource or variant.
  const Ref<Resource>& resource() const { return *static_cast<const Ref<Resource>*>(raw_data()); }
  // The same elements under another shape of as many elements; shares the buffer.
  Tensor with_shape(const Shape& shape) const;
  // True if there is no other owner of the elements, so that they may be overwritten.
  bool owns_its_elements() const;

 private:
  // As of_buffer; without a buffer for elements that live in the object.
  static Tensor make(DType dtype, const Shape& shape, int64_t num_elements, Ref<Buffer> buffer,
                     size_t offset);

  Ref<TensorObject> object_;
};

// The outputs of an op.
using Tensors = InlineVector<Tensor, 4>;

template <typename T>
Tensor Tensor::scalar(T value) {
  Tensor tensor = *allocate(kDTypeOf<T>, Shape());
  *static_cast<T*>(tensor.mutable_raw_data()) = value;
  return tensor;
}

template <typename T>
Tensor Tensor::vector(std::span<const T> values) {
  Tensor tensor = *allocate(kDTypeOf<T>, Shape{Dim(static_cast<int64_t>(values.size()))});
  if (!values.empty()) {
    std::memcpy(tensor.mutable_raw_data(), values.data(), values.size_bytes());
  }
  return tensor;
}

}  // namespace graven::engine
