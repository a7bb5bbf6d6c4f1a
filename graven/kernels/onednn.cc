#include "graven/kernels/onednn.h"

#include <dlfcn.h>

#include "graven/kernels/onednn/plugin.h"

namespace graven::engine {
namespace {

struct Opened {
  const OneDnn* library = nullptr;
  std::string reason;

  Opened() {
    // Never closed: libgomp has state of its own in every thread that called it.
    void* handle = dlopen("libgraven_onednn.so", RTLD_NOW | RTLD_LOCAL);
    void* factory = handle ? dlsym(handle, kOneDnnFactoryName) : nullptr;
    if (!factory) {
      const char* error = dlerror();
      reason = error ? error : "libgraven_onednn.so has no factory";
      return;
    }
    library = reinterpret_cast<OneDnnFactory*>(factory)();
  }
};

const Opened& opened() {
  static const Opened* once = new Opened();
  return *once;
}

}  // namespace

bool onednn_is_available() { return opened().library != nullptr; }
const std::string& onednn_unavailable_reason() { return opened().reason; }
const OneDnn* onednn() { return opened().library; }

}  // namespace graven::engine
