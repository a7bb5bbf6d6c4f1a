#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "graven/base/export.h"

namespace graven::engine {

// What the process keeps beside the entries of Functions, and charges to none of them.
struct NamedBytes {
  std::string_view name;
  int64_t bytes = 0;
};
// "recorded bodies": the scalar bodies of ops, for dtypes and attributes. "kernels of bodies": what
// lone nodes and eager calls run. "constant blocks": values that block programs read. "gradients
// asked for": what gradients of ops need. "composites": the Programs that eager calls of them run.
// "convolutions": the cache of compiled ones. "symbols" and the like belong to graphs, and so to
// entries. Then what rooms above have added: "locations of C++", "locations of Python".
GRAVEN_API std::vector<NamedBytes> process_bytes();

// How a room above adds a line: the name, a literal, and what counts the bytes, on any thread.
GRAVEN_API void add_process_bytes(std::string_view name, int64_t (*count)());

}  // namespace graven::engine
