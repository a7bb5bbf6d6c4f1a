#pragma once
#include <cstdint>

#include "graven/tensor/dim.h"

namespace graven::engine {

class Graph;

// A size of an argument that a trace leaves open, although the call that it is made for knows it.
struct OpenSize {
  int64_t number = 0;  // in the call
  // Set once the body, or what it calls, asks for the number: then the trace serves it alone.
  bool is_read = false;
  // The size that it is in the graph of the caller, if one is being built.
  const Graph* caller = nullptr;
  Dim in_caller = Dim::unknown();
};

}  // namespace graven::engine
