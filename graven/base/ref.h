#pragma once
#include <atomic>
#include <cstdint>
#include <utility>

#include "graven/base/export.h"

namespace graven::engine {

// Base of objects that several owners share. The count lives in the object, so that a handle is
// one pointer. Any thread may copy and drop handles.
class GRAVEN_API RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  void add_ref() const { count_.fetch_add(1, std::memory_order_relaxed); }
  void drop_ref() const {
    if (count_.load(std::memory_order_acquire) == 1 ||
        count_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      destroy();
    }
  }
  // True if the caller's handle is the only one, so that no other owner can see a change.
  bool is_unique() const { return count_.load(std::memory_order_acquire) == 1; }

 protected:
  virtual ~RefCounted() = default;
  // Called when the last handle is gone. Overridden by objects that are recycled.
  virtual void destroy() const { delete this; }

 private:
  mutable std::atomic<int64_t> count_{0};
};

// How Ref counts. A type that Ref handles where it is only declared needs overloads of these beside
// its declaration.
inline void add_ref_to(const RefCounted* object) { object->add_ref(); }
inline void drop_ref_of(const RefCounted* object) { object->drop_ref(); }

// A counted handle to a RefCounted object; may be null.
template <typename T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  explicit Ref(T* object) : object_(object) {
    if (object_) add_ref_to(object_);
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <typename U>
  requires std::is_convertible_v<U*, T*> Ref(const Ref<U>& other) : Ref(other.get()) {}
  template <typename U>
  requires std::is_convertible_v<U*, T*> Ref(Ref<U>&& other)
  noexcept : object_(other.release()) {}
  ~Ref() {
    if (object_) drop_ref_of(object_);
  }
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  // Gives the pointer and its count to the caller.
  T* release() { return std::exchange(object_, nullptr); }
  friend bool operator==(const Ref& a, const Ref& b) { return a.object_ == b.object_; }

 private:
  T* object_ = nullptr;
};

template <typename T, typename... Args>
Ref<T> make_ref(Args&&... args) {
  return Ref<T>(new T(std::forward<Args>(args)...));
}

}  // namespace graven::engine
