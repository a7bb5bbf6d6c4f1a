#pragma once
#include "graven/base/status.h"
#include "graven/runtime/variable.h"

namespace graven::engine {
class KernelContext;

// The variable behind a handle input, by resource_as.
Result<Variable*> variable_of(const KernelContext& c, int input = 0);

// How an update is combined with the variable's element at its place.
enum class ScatterKind { kAdd, kSub, kMul, kDiv, kMin, kMax, kUpdate };

Status gather_from_variable(KernelContext& c);
Status gather_nd_from_variable(KernelContext& c);
// Rows of the variable by their indices; updates are rows, or one scalar.
template <ScatterKind kind>
Status scatter_to_variable(KernelContext& c);
// Slices of the variable by index vectors.
template <ScatterKind kind>
Status scatter_nd_to_variable(KernelContext& c);

}  // namespace graven::engine
