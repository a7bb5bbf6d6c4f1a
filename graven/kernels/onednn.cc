#include "graven/kernels/onednn.h"

#include <cstdio>

#include "graven/kernels/onednn/plugin.h"
#include "graven/kernels/open_plugin.h"

namespace graven::engine {
namespace {

struct Opened {
  const OneDnn* library = nullptr;
  std::string reason;

  Opened() {
    OpenedPlugin plugin = open_plugin("libgraven_onednn.so", kOneDnnFactoryName);
    if (plugin.factory) library = reinterpret_cast<OneDnnFactory*>(plugin.factory)();
    reason = std::move(plugin.reason);
    if (!library) {
      std::fprintf(stderr, "graven: convolutions and matrix products go without oneDNN: %s\n",
                   reason.c_str());
    }
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
