#pragma once
#include <graven/graven.h>

#include <stdexcept>
#include <string>

// What f throws, which is a graven::Error.
template <typename F>
graven::Error error_of(F&& f) {
  try {
    f();
  } catch (const graven::Error& error) {
    return error;
  }
  throw std::logic_error("nothing was thrown");
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
