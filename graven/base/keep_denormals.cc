#include "graven/base/keep_denormals.h"

#include <xmmintrin.h>

namespace graven::engine {
namespace {

constexpr uint32_t kFlushing = 0x8040;  // flush-to-zero and denormals-are-zero

}  // namespace

KeepDenormals::KeepDenormals() : saved_(_mm_getcsr()) {
  if (saved_ & kFlushing) _mm_setcsr(saved_ & ~kFlushing);
}

KeepDenormals::~KeepDenormals() {
  if (saved_ & kFlushing) _mm_setcsr(saved_);
}

}  // namespace graven::engine
