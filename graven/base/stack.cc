#include "graven/base/stack.h"

#include <pthread.h>

#include <algorithm>

#include "graven/base/strings.h"

namespace graven::engine {

Stack::Stack() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* low = nullptr;
  if (pthread_attr_getstack(&attributes, &low, &size_) == 0) {
    low_ = reinterpret_cast<uintptr_t>(low);
    short_below_ = low_ + std::min(kReserve, size_ / 2);
  }
  pthread_attr_destroy(&attributes);
}

const Stack& Stack::of_this_thread() {
  static thread_local const Stack stack;
  return stack;
}

std::string Stack::shortage() {
  const Stack& own = of_this_thread();
  return str_cat("Less than ", (own.short_below_ - own.low_) >> 10, " KiB of the ", own.size_ >> 10,
                 " KiB of this thread's stack are left");
}

Status Stack::error(std::string_view what, std::string_view name) {
  return Status(Code::kResourceExhausted,
                str_cat(shortage(), " where ", what, " of ", name,
                        " begins: functions call each other too deep. A thread with a larger stack "
                        "goes deeper. See docs/errors/recursion.md"),
                ErrorKind::kRecursionError);
}

}  // namespace graven::engine
