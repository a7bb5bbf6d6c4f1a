#pragma once

// All of Graven's C++ front end. All names for users are in namespace graven; a call that fails
// throws graven::Error, which names the line.
#include "graven/api/arguments.h"            // IWYU pragma: export
#include "graven/api/concrete_function.h"    // IWYU pragma: export
#include "graven/api/config.h"               // IWYU pragma: export
#include "graven/api/control_flow.h"         // IWYU pragma: export
#include "graven/api/convert.h"              // IWYU pragma: export
#include "graven/api/debug_ops.h"            // IWYU pragma: export
#include "graven/api/error.h"                // IWYU pragma: export
#include "graven/api/explain.h"              // IWYU pragma: export
#include "graven/api/forward_accumulator.h"  // IWYU pragma: export
#include "graven/api/function.h"             // IWYU pragma: export
#include "graven/api/graph_def.h"            // IWYU pragma: export
#include "graven/api/host_function.h"        // IWYU pragma: export
#include "graven/api/maps.h"                 // IWYU pragma: export
#include "graven/api/module.h"               // IWYU pragma: export
#include "graven/api/op_functions.h"         // IWYU pragma: export
#include "graven/api/operand.h"              // IWYU pragma: export
#include "graven/api/random_ops.h"           // IWYU pragma: export
#include "graven/api/scopes.h"               // IWYU pragma: export
#include "graven/api/staged.h"               // IWYU pragma: export
#include "graven/api/tape.h"                 // IWYU pragma: export
#include "graven/api/tensor.h"               // IWYU pragma: export
#include "graven/api/tensor_array.h"         // IWYU pragma: export
#include "graven/api/tensor_spec.h"          // IWYU pragma: export
#include "graven/api/variable.h"             // IWYU pragma: export
#include "graven/api/watched.h"              // IWYU pragma: export
