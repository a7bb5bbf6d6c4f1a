#pragma once
#include <string>

namespace graven::engine {

// A shared object that the engine opens by its name, and its factory; null, and the dynamic
// linker's reason, where it cannot be opened. It is never closed: libraries may have state in every
// thread that called them.
struct OpenedPlugin {
  void* factory = nullptr;
  std::string reason = {};
};
OpenedPlugin open_plugin(const char* file, const char* factory);

}  // namespace graven::engine
