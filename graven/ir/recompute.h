#pragma once
#include <string_view>

namespace graven::engine {

// An attribute of single nodes, an int64 k, that says how the values that the gradient of a loop
// needs are kept. On a loop: every k iterations the loop keeps the variables that it changes, and
// these values are computed again from them, k iterations at a time, when the backward half reads
// them. On a push onto a list within a loop: the elements of the list are such values.
inline constexpr std::string_view kRecompute = "_recompute";

}  // namespace graven::engine
