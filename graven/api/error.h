#pragma once
#include <source_location>
#include <stdexcept>
#include <string>

#include "graven/base/export.h"
#include "graven/base/status.h"

namespace graven {

using engine::Code;
using engine::ErrorKind;

// The exception of the C++ front end: the engine's code and message, with the user's line in front.
class GRAVEN_API Error : public std::runtime_error {
 public:
  Error(const engine::Status& status, const std::source_location& location);
  Code code() const { return status_.code(); }
  // The class of the error in the front end: a ValueError, a TypeError, ... (ErrorKind).
  ErrorKind kind() const { return status_.kind(); }
  const std::string& message() const { return status_.message(); }  // without the user's line
  // The user's call; line 0 if it is not known.
  const std::source_location& where() const { return location_; }
  const engine::Status& status() const { return status_; }

 private:
  engine::Status status_;
  std::source_location location_;
};

// A trace that a trace lock does not list (explain.h).
class GRAVEN_API TraceLockError : public Error {
 public:
  using Error::Error;
};

// Throws the Error of a status; if the status carries an exception of the user's, throws that one.
[[noreturn]] GRAVEN_API void throw_error(const engine::Status& status,
                                         const std::source_location& location);

inline void throw_if_error(const engine::Status& status, const std::source_location& location) {
  if (!status.ok()) throw_error(status, location);
}

// The value, or throws.
template <typename T>
T value_or_throw(engine::Result<T> result, const std::source_location& location) {
  if (!result.ok()) throw_error(result.status(), location);
  return std::move(*result);
}

// The exception that is being handled, as a Status that carries it. Only in a catch block.
GRAVEN_API engine::Status status_of_current_exception();

}  // namespace graven
