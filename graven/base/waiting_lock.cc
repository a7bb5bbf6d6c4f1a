#include "graven/base/waiting_lock.h"

#include <atomic>
#include <cassert>

#include "graven/base/thread_pool.h"

namespace graven::engine {
namespace {

std::atomic<void* (*)()> g_pause{nullptr};
std::atomic<void (*)(void*)> g_resume{nullptr};

}  // namespace

void set_wait_hooks(WaitHooks hooks) {
  g_resume = hooks.resume;
  g_pause = hooks.pause;
}

namespace waiting_lock_internal {

void* pause() {
  assert(ThreadPool::depth() == 0 && "a chunk on the pool must not block");
  auto* hook = g_pause.load();
  return hook ? hook() : nullptr;
}

void resume(void* paused) { g_resume.load()(paused); }

}  // namespace waiting_lock_internal
}  // namespace graven::engine
