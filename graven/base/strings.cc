#include "graven/base/strings.h"

#include <charconv>
#include <cmath>

namespace graven::engine {
namespace {

template <typename T>
std::string shortest_text(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[64];
  auto [end, error] = std::to_chars(text, text + sizeof(text), value);
  return std::string(text, end);
}

}  // namespace

std::string shortened(std::string text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  while (max_bytes > 0 && (text[max_bytes] & 0xc0) == 0x80) --max_bytes;  // not in a character
  text.resize(max_bytes);
  return text + "...";
}

std::string shortest(float value) { return shortest_text(value); }
std::string shortest(double value) { return shortest_text(value); }

void strings_internal::append(std::string& out, double value) { out.append(shortest(value)); }

}  // namespace graven::engine
