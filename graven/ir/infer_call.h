#pragma once
#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/infer_context.h"

namespace graven::engine {

// Shape inference of ops that call a body (BodyRun::kOnce): the outputs have the types that the
// body's graph says, in the caller's Dims. The shapes of the arguments, and the sizes that integer
// arguments hold, replace the body's symbols as far as the call knows them; a size that the body
// finds when it runs is a fresh symbol of the caller's.
//
// If an output stays less known than that (of unknown rank, or with a size that only running the
// body finds), the body's types are inferred again with what the caller knows and the body does
// not: integer arguments of up to 128 elements that are constant in the caller, and shapes of
// arguments whose rank the body does not know. So a body that reshapes to its argument, or that
// takes tensors of any rank, gives a known shape. The body keeps the result for these arguments. A
// body is not inferred within its own inference.
GRAVEN_API Status infer_call(InferContext& c);

}  // namespace graven::engine
