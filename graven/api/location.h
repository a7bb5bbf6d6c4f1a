#pragma once
#include <source_location>

#include "graven/base/export.h"
#include "graven/ir/location.h"

namespace graven::internal {

// While it lives, nodes that this thread adds to graphs of C++ functions have this line.
class GRAVEN_API LocationScope {
 public:
  explicit LocationScope(const std::source_location& location);
  ~LocationScope();
  LocationScope(const LocationScope&) = delete;

 private:
  std::source_location outer_;
};

// While it lives, nodes and errors of this thread have this line instead of their operands' lines:
// for the body of a users' function that calls others. The outermost one counts.
class GRAVEN_API LineScope {
 public:
  explicit LineScope(const std::source_location& line);
  ~LineScope();
  LineScope(const LineScope&) = delete;

 private:
  const std::source_location line_;
  bool is_outermost_;
};

// While it lives, the lines of this thread are those that are given, whatever LineScopes it is in:
// for a function of the program that a function of Graven calls.
class GRAVEN_API UsersLines {
 public:
  UsersLines();
  ~UsersLines();
  UsersLines(const UsersLines&) = delete;

 private:
  const std::source_location* outer_;
};

// The line of the outermost LineScope; without one, the given line.
GRAVEN_API const std::source_location& users_line(const std::source_location& given);

// While it lives, functions of the program that this thread calls, where no line of C++ is known,
// are called at lines of another language.
class GRAVEN_API ForeignLines {
 public:
  explicit ForeignLines(engine::LocationSource& lines);
  ~ForeignLines();
  ForeignLines(const ForeignLines&) = delete;

 private:
  const std::source_location outer_location_;
  engine::LocationSource* const outer_;
};

// Gives frames the line of the innermost LocationScope; for traces of C++ functions.
GRAVEN_API engine::LocationSource& cpp_locations();

}  // namespace graven::internal
