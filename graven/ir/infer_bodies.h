#pragma once
#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/infer_context.h"

namespace graven::engine {

// Shape inference of ops that choose a body (BodyRun::kOneOf): an output has the sizes on which all
// bodies agree, in the caller's Dims; the others are unknown.
GRAVEN_API Status infer_branches(InferContext& c);

// Shape inference of loops (BodyRun::kWhile): an output has the shape that the body declares for
// the variable. An unknown size that the body returns as it got it is that of the node's input.
GRAVEN_API Status infer_loop(InferContext& c);

}  // namespace graven::engine
