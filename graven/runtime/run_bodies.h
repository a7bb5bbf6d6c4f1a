#pragma once
#include <span>

#include "graven/base/status.h"
#include "graven/ir/bodies.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// What the condition of a loop gave: a bool scalar.
Result<bool> condition_holds(const Tensor& condition);

// Runs the bodies of a node on values of any shapes: kOnce, kOneOf or kWhile.
Status run_bodies(const NodeBodies& bodies, std::span<const Tensor> inputs, Tensors& outputs);

}  // namespace graven::engine
