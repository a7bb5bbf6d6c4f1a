#pragma once
#include "graven/base/export.h"
#include "graven/base/status.h"

namespace graven::engine {

// The door through which a front end ends what takes long (KeyboardInterrupt): asked on the thread
// itself, between the steps of a run after each tenth of a millisecond of estimated work, and now
// and then while it waits for another thread. What it returns, if not ok, ends the run or the wait.
// No lock is held. Null: nobody asks.
using InterruptCheck = Status (*)();
GRAVEN_API void set_interrupt_check(InterruptCheck check);
GRAVEN_API InterruptCheck interrupt_check();

}  // namespace graven::engine
