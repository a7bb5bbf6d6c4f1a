#include "graven/tensor/spare_memory.h"

#include <utility>

namespace graven::engine {
namespace {

// Read by every tensor that is made, so without a call that finds the thread's storage.
[[gnu::tls_model("initial-exec")]] constinit thread_local SpareMemory* t_innermost = nullptr;

// Of an object that only the caller sees, and that is no tensor from then on.
Ref<Buffer> buffer_taken_from(const Tensor& object) {
  return std::move(const_cast<Ref<Buffer>&>(object.eager()->buffer()));
}

}  // namespace

SpareMemory::SpareMemory() : outer_(std::exchange(t_innermost, this)) {}

SpareMemory::~SpareMemory() {
  t_innermost = outer_;
  if (!outer_) return;
  for (Spare& spare : whole_) outer_->add_whole(std::move(spare.tensor));
  for (Tensor& object : objects_) outer_->add_object(std::move(object));
}

void SpareMemory::end_iteration() {
  ++iteration_;
  while (!whole_.empty() && whole_.front().since + 2 < iteration_) whole_.erase(whole_.begin());
}

void SpareMemory::add_whole(Tensor tensor) {
  if (whole_.size() == kMaxSpares) whole_.erase(whole_.begin());
  whole_.push_back({std::move(tensor), iteration_});
}

void SpareMemory::add_object(Tensor object) {
  if (objects_.size() < kMaxSpares) objects_.push_back(std::move(object));
}

void SpareMemory::keep_or_drop(Tensor& tensor) {
  Tensor own = std::move(tensor);
  SpareMemory* scope = t_innermost;
  // Who remembers a tensor by its id may not meet another one under it.
  if (!scope || own.is_symbolic() || !own.object()->is_unique() || own.get()->known_id() != 0) {
    return;
  }
  const Ref<Buffer>& buffer = own.eager()->buffer();
  const bool is_whole = is_plain(own.dtype()) && own.bytes() <= kMaxBytes &&
                        (!buffer || (buffer->is_unique() && buffer->is_writable() &&
                                     buffer->bytes() == own.bytes() && buffer->device().is_host()));
  if (is_whole) {
    scope->add_whole(std::move(own));
  } else {
    buffer_taken_from(own);
    scope->add_object(std::move(own));
  }
}

Tensor SpareMemory::take(DType dtype, const Shape& shape) {
  for (SpareMemory* scope = t_innermost; scope; scope = scope->outer_) {
    for (size_t i = scope->whole_.size(); i-- > 0;) {
      Tensor& spare = scope->whole_[i].tensor;
      if (spare.dtype() != dtype || !(spare.shape() == shape)) continue;
      Tensor taken = std::move(spare);
      scope->whole_.erase(&scope->whole_[i]);
      return taken;
    }
  }
  return {};
}

Ref<Buffer> SpareMemory::take_buffer(size_t bytes) {
  for (SpareMemory* scope = t_innermost; scope; scope = scope->outer_) {
    for (size_t i = scope->whole_.size(); i-- > 0;) {
      Tensor& spare = scope->whole_[i].tensor;
      if (!spare.eager()->buffer() || spare.bytes() != bytes) continue;
      Ref<Buffer> buffer = buffer_taken_from(spare);
      scope->add_object(std::move(spare));
      scope->whole_.erase(&scope->whole_[i]);
      return buffer;
    }
  }
  return nullptr;
}

Tensor SpareMemory::take_object() {
  for (SpareMemory* scope = t_innermost; scope; scope = scope->outer_) {
    if (!scope->objects_.empty()) {
      Tensor object = std::move(scope->objects_.back());
      scope->objects_.pop_back();
      return object;
    }
    for (size_t i = scope->whole_.size(); i-- > 0;) {
      if (scope->whole_[i].tensor.eager()->buffer()) continue;
      Tensor object = std::move(scope->whole_[i].tensor);
      scope->whole_.erase(&scope->whole_[i]);
      return object;
    }
  }
  return {};
}

void SpareMemory::free_all() {
  for (SpareMemory* scope = t_innermost; scope; scope = scope->outer_) {
    scope->objects_.clear();
    scope->whole_.clear();
  }
}

}  // namespace graven::engine
