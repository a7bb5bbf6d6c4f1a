#pragma once
#include "graven/base/status.h"

namespace graven::python {

// pending_exception() for a function that a graph calls: with the code that TensorFlow gives to the
// exception's class (kInvalidArgument to a ValueError), the traceback in the message, and the
// exception as the cause of the error that `raise` sets (HostError). An exception that is no error,
// such as KeyboardInterrupt, stays itself.
engine::Status pending_host_error();

}  // namespace graven::python
