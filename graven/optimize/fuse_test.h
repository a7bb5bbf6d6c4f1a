#pragma once
#include <string>
#include <string_view>

#include "graven/optimize/fuse.h"
#include "graven/optimize/pass_test.h"

namespace graven::engine {

// The graph of a text, fused, as text.
inline std::string fused(std::string_view before) {
  return after(before, [](Graph& graph) {
    Status status = fuse(graph).status();
    REQUIRE_MESSAGE(status.ok(), status.message());
  });
}

}  // namespace graven::engine
