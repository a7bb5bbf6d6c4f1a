#pragma once
#include <memory>

#include "graven/base/export.h"
#include "graven/ir/numerics_checks.h"

namespace graven::engine {

// Checks the floating outputs of all ops from now on: an InvalidArgument error names the op that
// made NaN or an infinity. For this thread, as in TensorFlow: its ops that are computed at once,
// and the Functions that it calls, each of which it traces anew, with checks between the nodes.
// Null ends it; then the traces without checks are used again.
//
// Nothing is slower when no thread checks: see CheckingBuilder and Function::pause_find.
GRAVEN_API void set_check_numerics(std::shared_ptr<const NumericsChecks> checks);

}  // namespace graven::engine
