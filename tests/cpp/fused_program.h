#pragma once
#include "graven/optimize/find_promises.h"
#include "graven/optimize/fuse.h"
#include "graven/runtime/testing.h"

namespace graven::engine {

// The Program of a graph whose nodes are fused first; the case fails if that fails.
inline Ref<Program> fused_program(TestGraph& g) {
  for (auto pass : {find_promises, fuse}) {
    auto changed = pass(*g.graph);
    INFO(changed.status().message());
    REQUIRE(changed.ok());
  }
  return plan(g);
}

}  // namespace graven::engine
