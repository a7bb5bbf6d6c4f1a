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

// Where in the user's code a node was made. Front ends make them, interned and without any text;
// text is made of one only when it is printed.
class GRAVEN_API Location : public RefCounted {
 public:
  // Outermost first. Only frames of the user's code.
  virtual std::vector<SourceFrame> frames() const = 0;
};

// The door through which a front end tells where the user's code is now. Called for each node
// that is added, so it is cheap.
class GRAVEN_API LocationSource {
 public:
  virtual ~LocationSource() = default;
  virtual Ref<Location> current() = 0;
};

}  // namespace graven::engine
