#pragma once
#include <cstdint>
#include <string>

#include "graven/tensor/tensor.h"

namespace graven::engine {

// The elements of a tensor as TensorFlow's ops write them.
//
// Numbers have 6 (float64: 15) digits where these read back to the same value, else 9 (17); half
// and bfloat16 are written as float32, true as 1, complex numbers as "?". Strings have C's escapes.

// For StringFormat and print: nested brackets, a line for each row, an empty one between matrices.
// Of an axis of more than 2 * `ends` elements the first and last `ends` are shown; -1 shows all.
// Strings stand in quotes: [[1 2 3 ... 7 8 9]\n ...].
std::string summarize_ends(const Tensor& x, int64_t ends);

// For the messages of Assert: the first `limit` elements on one line, rows in brackets but the
// whole in none: "[0 1 2...]...". -1 shows all.
std::string summarize_first(const Tensor& x, int64_t limit);

}  // namespace graven::engine
