#include "graven/kernels/open_plugin.h"

#include <dlfcn.h>

#include <vector>

#include "graven/base/mutex.h"
#include "graven/base/strings.h"

namespace graven::engine {
namespace {

struct Opened {
  Mutex mutex;
  std::vector<EndCalls*> ends GUARDED_BY(mutex);
};

Opened& opened() {
  static Opened* all = new Opened();
  return *all;
}

}  // namespace

OpenedPlugin open_plugin(const char* file, const char* factory) {
  void* handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  void* found = handle ? dlsym(handle, factory) : nullptr;
  if (found) {
    void* end = dlsym(handle, kEndCallsName);
    Opened& all = opened();
    MutexLock lock(all.mutex);
    if (end) all.ends.push_back(reinterpret_cast<EndCalls*>(end));
    return {.factory = found};
  }
  const char* error = dlerror();
  return {.reason = error ? error : str_cat(file, " has no factory")};
}

void end_plugin_calls() {
  Opened& all = opened();
  MutexLock lock(all.mutex);
  for (EndCalls* end : all.ends) end();
}

}  // namespace graven::engine
