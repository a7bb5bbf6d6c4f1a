#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "graven/base/export.h"

namespace graven::engine {

// Memory of the process that is not charged to any entry of a Function.
struct NamedBytes {
  std::string_view name;
  int64_t bytes = 0;
};
// "recorded bodies": the scalar bodies of ops, for dtypes and attributes. "kernels of bodies":
// kernels of lone nodes and eager calls. "constant blocks": values that block programs read.
// "gradients asked for": the tensors that gradients of ops need. "tangents of ops": how they are
// computed in forward mode. "composites": the Programs of eager calls of composites.
// "convolutions": the cache of compiled ones. "traces that went": what Functions remember of them.
// "symbols" and the like belong to graphs, and so to entries. Lines that rooms above have added
// follow: "locations of C++", "locations of Python".
GRAVEN_API std::vector<NamedBytes> process_bytes();

// Adds a line, for a room above: the name, a literal, and a function that counts the bytes, on any
// thread.
GRAVEN_API void add_process_bytes(std::string_view name, int64_t (*count)());

}  // namespace graven::engine
