#pragma once
#include "graven/base/export.h"
#include "graven/base/status.h"

namespace graven::engine {

// The door through which a front end ends long work (KeyboardInterrupt). Called on the thread that
// works, with no lock held: between the steps of a run after each tenth of a millisecond of
// estimated work, and now and then while the thread waits for another. An error that it returns
// ends the run or the wait. Null: no check.
using InterruptCheck = Status (*)();
GRAVEN_API void set_interrupt_check(InterruptCheck check);
GRAVEN_API InterruptCheck interrupt_check();

}  // namespace graven::engine
