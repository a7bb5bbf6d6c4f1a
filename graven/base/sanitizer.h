#pragma once
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>
#endif

namespace graven::engine {

// What memory of our own pools tells the address sanitizer and its leak checker, which know only
// what malloc gives out. Without the sanitizer all of this is nothing.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kAddressSanitizer = true;
// Nobody may touch these bytes.
inline void poison_memory(const void* start, size_t bytes) {
  __asan_poison_memory_region(start, bytes);
}
inline void unpoison_memory(const void* start, size_t bytes) {
  __asan_unpoison_memory_region(start, bytes);
}
// What pointers in these bytes lead to is in use, until they hold none any more.
inline void begin_pointers(const void* start, size_t bytes) {
  __lsan_register_root_region(start, bytes);
}
inline void end_pointers(const void* start, size_t bytes) {
  __lsan_unregister_root_region(start, bytes);
}
#else
constexpr bool kAddressSanitizer = false;
inline void poison_memory(const void*, size_t) {}
inline void unpoison_memory(const void*, size_t) {}
inline void begin_pointers(const void*, size_t) {}
inline void end_pointers(const void*, size_t) {}
#endif

}  // namespace graven::engine
