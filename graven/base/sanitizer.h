#pragma once
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>
#endif

namespace graven::engine {

// Tells the address sanitizer and its leak checker about memory of our own pools; they know only
// malloc's. Without the sanitizer these functions do nothing.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kAddressSanitizer = true;
// These bytes must not be touched.
inline void poison_memory(const void* start, size_t bytes) {
  __asan_poison_memory_region(start, bytes);
}
inline void unpoison_memory(const void* start, size_t bytes) {
  __asan_unpoison_memory_region(start, bytes);
}
// Objects that pointers in these bytes lead to are in use, until end_pointers.
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
