#pragma once
#include "graven/base/export.h"
#include "graven/tensor/device.h"

namespace graven::engine {

// Sees to it that there are `count` logical CPUs: "CPU:0", the host, "CPU:1", ... They have the
// host's memory and threads, and names of their own. Those that there are stay. Any thread.
GRAVEN_API void make_logical_cpus(int count);

// Whether tensors there are in the memory of the process: on the host and all logical CPUs.
GRAVEN_API bool has_memory_of_host(const Device& device);

}  // namespace graven::engine
