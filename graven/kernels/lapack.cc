#include "graven/kernels/lapack.h"

#include <string>

#include "graven/kernels/open_plugin.h"

namespace graven::engine {
namespace {

struct Opened {
  const Lapack* library = nullptr;
  std::string reason;

  Opened() {
    OpenedPlugin plugin = open_plugin("libgraven_lapack.so", kLapackFactoryName);
    if (plugin.factory) library = reinterpret_cast<LapackFactory*>(plugin.factory)();
    reason = std::move(plugin.reason);
  }
};

}  // namespace

Result<const Lapack*> lapack() {
  static const Opened* once = new Opened();
  if (once->library) return once->library;
  return unimplemented("LAPACK cannot be opened: ", once->reason);
}

}  // namespace graven::engine
