#pragma once
#include <span>

#include "graven/base/status.h"
#include "graven/ir/bodies.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// The number of the body that a scalar chooses: an int32 one of a list, a bool one of two
// (BodyRun::kOneOf).
Result<size_t> chosen_body(const Tensor& choice, bool is_list, size_t num_bodies);
// What the condition of a loop gave: a bool scalar.
Result<bool> condition_holds(const Tensor& condition);

// Runs the bodies of a node on values of any shapes: kOnce, kOneOf or kWhile.
Status run_bodies(const NodeBodies& bodies, std::span<const Tensor> inputs, Tensors& outputs);

}  // namespace graven::engine
