#include "graven/optimize/pipeline.h"
#include "graven/runtime/program.h"

namespace graven::engine {
namespace {

// This is the lowest room that knows both the passes and the Programs that they are for.
const bool kInstalled = [] {
  set_optimizer([](Graph& graph, Builder& evaluate) { return optimize(graph, evaluate); });
  return true;
}();

}  // namespace
}  // namespace graven::engine
