#pragma once
#include <concepts>
#include <span>
#include <string>
#include <string_view>

#include "graven/base/export.h"

namespace graven::engine {

namespace strings_internal {
inline void append(std::string& out, std::string_view text) { out.append(text); }
inline void append(std::string& out, char c) { out.push_back(c); }
template <std::integral T>
void append(std::string& out, T value) {
  if constexpr (std::is_same_v<T, bool>) {
    out.append(value ? "true" : "false");
  } else {
    out.append(std::to_string(value));
  }
}
GRAVEN_API void append(std::string& out, double value);
}  // namespace strings_internal

// The arguments as one text: strings, characters, bools, integers and floats (shortest form
// that reads back to the same value).
template <typename... Args>
std::string str_cat(const Args&... args) {
  std::string out;
  (strings_internal::append(out, args), ...);
  return out;
}

// The parts with the separator between them.
template <typename Range>
std::string str_join(const Range& parts, std::string_view separator) {
  std::string out;
  bool first = true;
  for (const auto& part : parts) {
    if (!first) out.append(separator);
    first = false;
    strings_internal::append(out, part);
  }
  return out;
}

// At most so many bytes of UTF-8 text, whole characters, with "..." in the place of the rest.
GRAVEN_API std::string shortened(std::string text, size_t max_bytes);

// Shortest text that reads back to the same float, respectively double.
GRAVEN_API std::string shortest(float value);
GRAVEN_API std::string shortest(double value);

}  // namespace graven::engine
