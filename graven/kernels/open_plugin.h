#pragma once
#include <string>

#include "graven/base/export.h"

namespace graven::engine {

// A shared object that the engine opens by its name, and its factory; null, and the dynamic
// linker's reason, where it cannot be opened. It is never closed: libraries may have state in every
// thread that called them.
struct OpenedPlugin {
  void* factory = nullptr;
  std::string reason = {};
};
OpenedPlugin open_plugin(const char* file, const char* factory);

// Plugins make no call into their libraries any more, and none runs when this returns (see
// CallsUntilExit). For the end of a process in which threads may still compute: the first thing
// that exit() does, as the libraries' own destructors take away what those threads need.
GRAVEN_API void end_plugin_calls();

// What a plugin exports beside its factory, for end_plugin_calls().
using EndCalls = void();
inline constexpr char kEndCallsName[] = "graven_end_calls";

}  // namespace graven::engine
