#pragma once
#include <string>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/ref.h"

namespace graven::engine {

struct SourceFrame {
  std::string file;
  int line = 0;
  std::string function;
  std::string text;  // the source line, empty if it cannot be read
};

// A place in the user's code where a node was made. Front ends make and intern Locations without
// any text; the text is made only when one is printed.
class GRAVEN_API Location : public RefCounted {
 public:
  // Outermost first. Only frames of the user's code.
  virtual std::vector<SourceFrame> frames() const = 0;
};

// The door through which a front end tells the current place in the user's code. Called for each
// node that is added, so it is cheap.
class GRAVEN_API LocationSource {
 public:
  virtual ~LocationSource() = default;
  virtual Ref<Location> current() = 0;
};

}  // namespace graven::engine
