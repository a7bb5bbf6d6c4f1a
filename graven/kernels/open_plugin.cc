#include "graven/kernels/open_plugin.h"

#include <dlfcn.h>

#include "graven/base/strings.h"

namespace graven::engine {

OpenedPlugin open_plugin(const char* file, const char* factory) {
  void* handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  void* found = handle ? dlsym(handle, factory) : nullptr;
  if (found) return {.factory = found};
  const char* error = dlerror();
  return {.reason = error ? error : str_cat(file, " has no factory")};
}

}  // namespace graven::engine
