#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "graven/base/export.h"
#include "graven/base/status.h"

namespace graven::engine {

// The stack of the calling thread, as far as it is known. Code that users can nest without a bound
// (traces in traces, graphs in graphs) checks it before it goes one level deeper, and fails while
// there is room to report the error, never by a stack overflow.
class GRAVEN_API Stack {
 public:
  // Bytes that must be left when a level begins: kernels, libraries and the front end's language
  // need some. Of a small stack, half of it.
  static constexpr size_t kReserve = size_t{512} << 10;

  // True if less than that is left beneath the caller. False if the caller is on a stack that is
  // not the thread's own (a coroutine's), whose bounds are unknown.
  static bool is_short() {
    const Stack& own = of_this_thread();
    const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    return here < own.short_below_ && here >= own.low_;
  }
  // A RecursionError if it is short: "... where a call of __inference_f_12 begins".
  static Status check(std::string_view what, std::string_view name) {
    return is_short() ? error(what, name) : Status();
  }
  // "Less than 512 KiB of the 8192 KiB of this thread's stack are left".
  static std::string shortage();

 private:
  Stack();
  // Computed on a thread's first call, which takes some microseconds.
  static const Stack& of_this_thread();
  static Status error(std::string_view what, std::string_view name);
  size_t size_ = 0;
  uintptr_t low_ = 0, short_below_ = 0;
};

}  // namespace graven::engine
