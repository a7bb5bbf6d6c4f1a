#include "graven/base/interrupt.h"

#include <atomic>

namespace graven::engine {
namespace {

std::atomic<InterruptCheck> g_interrupt_check{nullptr};

}  // namespace

void set_interrupt_check(InterruptCheck check) { g_interrupt_check = check; }
InterruptCheck interrupt_check() { return g_interrupt_check.load(); }

}  // namespace graven::engine
