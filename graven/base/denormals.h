#pragma once
#include <xmmintrin.h>

#include <cstdint>

namespace graven::engine {

// Sets flush-to-zero and denormals-are-zero, or clears them, while it lives.
template <bool kFlush>
class Denormals {
 public:
  Denormals() : saved_(_mm_getcsr()) {
    if (changes()) _mm_setcsr(kFlush ? saved_ | kBits : saved_ & ~kBits);
  }
  ~Denormals() {
    if (changes()) _mm_setcsr(saved_);
  }
  Denormals(const Denormals&) = delete;

 private:
  static constexpr uint32_t kBits = 0x8040;
  bool changes() const { return (saved_ & kBits) != (kFlush ? kBits : 0); }
  const uint32_t saved_;
};

// For computing.
using FlushDenormals = Denormals<true>;
// For code of the program that a run calls back, which computes with its own libraries.
using KeepDenormals = Denormals<false>;

}  // namespace graven::engine
