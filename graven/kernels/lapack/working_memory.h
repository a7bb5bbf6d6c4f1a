#pragma once

namespace graven::engine {

// Gets this thread the memory in which OpenBLAS packs matrices; false if there is none. It keeps
// it: later calls of OpenBLAS on the thread cannot fail for want of it.
bool prepare_working_memory();

}  // namespace graven::engine
