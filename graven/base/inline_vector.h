#pragma once
#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace graven::engine {

// A vector that keeps up to N elements inside itself, so that short lists allocate nothing.
template <typename T, size_t N>
class InlineVector {
 public:
  using value_type = T;
  InlineVector() = default;
  InlineVector(std::initializer_list<T> values) : InlineVector(values.begin(), values.end()) {}
  explicit InlineVector(size_t size, const T& value = T()) {
    reserve(size);
    std::uninitialized_fill_n(data_, size, value);
    size_ = size;
  }
  template <typename It>
  requires(!std::is_integral_v<It>) InlineVector(It first, It last) {
    for (; first != last; ++first) push_back(*first);
  }
  explicit InlineVector(std::span<const T> values) : InlineVector(values.begin(), values.end()) {}
  InlineVector(const InlineVector& other) { copy(other); }
  InlineVector(InlineVector&& other) noexcept { take(other); }
  InlineVector& operator=(const InlineVector& other) {
    if (this != &other) {
      clear();
      copy(other);
    }
    return *this;
  }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this != &other) {
      free_storage();
      take(other);
    }
    return *this;
  }
  ~InlineVector() { free_storage(); }

  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }

  void push_back(T value) { emplace_back(std::move(value)); }
  template <typename... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) reserve(capacity_ * 2);
    return *new (data_ + size_++) T(std::forward<Args>(args)...);
  }
  void pop_back() { data_[--size_].~T(); }
  void clear() {
    std::destroy_n(data_, size_);
    size_ = 0;
  }
  void resize(size_t size, const T& value = T()) {
    while (size_ > size) pop_back();
    reserve(size);
    if (size_ < size) std::uninitialized_fill_n(data_ + size_, size - size_, value);
    size_ = size;
  }
  void reserve(size_t capacity) {
    if (capacity <= capacity_) return;
    T* grown = static_cast<T*>(::operator new(capacity * sizeof(T), std::align_val_t(alignof(T))));
    std::uninitialized_move_n(data_, size_, grown);
    std::destroy_n(data_, size_);
    if (!is_inline()) ::operator delete(data_, std::align_val_t(alignof(T)));
    data_ = grown;
    capacity_ = capacity;
  }
  T* insert(T* where, T value) {
    size_t at = where - data_;
    push_back(std::move(value));
    std::rotate(data_ + at, data_ + size_ - 1, data_ + size_);
    return data_ + at;
  }
  T* erase(T* where) {
    std::move(where + 1, end(), where);
    pop_back();
    return where;
  }
  operator std::span<const T>() const { return {data_, size_}; }
  friend bool operator==(const InlineVector& a, const InlineVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  bool is_inline() const { return data_ == inline_data(); }
  T* inline_data() { return std::launder(reinterpret_cast<T*>(storage_)); }
  const T* inline_data() const { return std::launder(reinterpret_cast<const T*>(storage_)); }
  // Into an empty one.
  void copy(const InlineVector& other) {
    reserve(other.size_);
    std::uninitialized_copy_n(other.data_, other.size_, data_);
    size_ = other.size_;
  }
  void take(InlineVector& other) {
    if (other.is_inline()) {
      data_ = inline_data();
      capacity_ = N;
      std::uninitialized_move_n(other.data_, other.size_, data_);
      size_ = other.size_;
      other.clear();
    } else {
      data_ = std::exchange(other.data_, other.inline_data());
      size_ = std::exchange(other.size_, 0);
      capacity_ = std::exchange(other.capacity_, N);
    }
  }
  void free_storage() {
    clear();
    if (!is_inline()) ::operator delete(data_, std::align_val_t(alignof(T)));
    data_ = inline_data();
    capacity_ = N;
  }

  alignas(T) std::byte storage_[N * sizeof(T)];
  T* data_ = inline_data();
  size_t size_ = 0;
  size_t capacity_ = N;
};

}  // namespace graven::engine
