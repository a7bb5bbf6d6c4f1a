#pragma once
#include <memory>
#include <span>
#include <vector>

#include "graven/autodiff/tape.h"
#include "graven/base/export.h"
#include "graven/base/function_ref.h"
#include "graven/base/status.h"
#include "graven/ir/host_function.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// What the HostFunctions of all front ends do around the function of the program.

// Runs `f` in an eager frame of its own on tensors of its own, so that tapes, scopes and graphs of
// the thread do not see it. If a tape is given, a persistent one of the front end's kind which was
// not used before, the record differentiates what f computes of inputs of floating or complex
// dtypes, to any order.
GRAVEN_API Result<HostResults> call_host_function(
    std::span<const Tensor> inputs, std::shared_ptr<Tape> tape,
    FunctionRef<Result<std::vector<Tensor>>(std::span<const Tensor>)> f);

}  // namespace graven::engine
