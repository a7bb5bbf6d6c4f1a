#include "graven/base/claim.h"

#include <cassert>
#include <chrono>
#include <thread>
#include <unordered_map>
#include <utility>

#include "graven/base/interrupt.h"
#include "graven/base/mutex.h"
#include "graven/base/thread_pool.h"
#include "graven/base/waiting_lock.h"

namespace graven::engine {
namespace {

constexpr auto kBetweenInterruptChecks = std::chrono::milliseconds(50);

// One table for the process, as circles lead through things of any kind. Things are claimed while
// something is built, which takes far longer than to find them here.
struct Claims {
  Mutex mutex;
  Condition released;
  std::unordered_map<const void*, std::thread::id> owners GUARDED_BY(mutex);
  // What a thread waits for.
  std::unordered_map<std::thread::id, const void*> waits GUARDED_BY(mutex);

  static Claims& global() {
    static Claims* claims = new Claims();
    return *claims;
  }

  // True if `thread` is `other`, or waits for it, directly or not. Ends: there is no circle, as
  // only a thread that runs begins to wait or to own, and none begins to wait that would close one.
  bool is_or_waits_for(std::thread::id thread, std::thread::id other) const REQUIRES(mutex) {
    while (thread != other) {
      auto wait = waits.find(thread);
      if (wait == waits.end()) return false;
      auto owner = owners.find(wait->second);
      if (owner == owners.end()) return false;
      thread = owner->second;
    }
    return true;
  }
};

// Waits until the thing is free, and then claims it if `take`. False if it goes on without it.
Result<bool> wait(const void* thing, bool take) {
  assert(ThreadPool::depth() == 0 && "a chunk on the pool must not block");
  Claims& claims = Claims::global();
  const std::thread::id me = std::this_thread::get_id();
  LetOthersRun others(/*really=*/false);  // ends after the lock is given back
  bool has_waited = false;
  MutexLock lock(claims.mutex);
  auto next_check = std::chrono::steady_clock::now() + kBetweenInterruptChecks;
  for (;;) {
    auto owner = claims.owners.find(thing);
    if (owner == claims.owners.end()) {
      if (take) claims.owners.emplace(thing, me);
      return true;
    }
    if (claims.is_or_waits_for(owner->second, me)) return false;
    if (!std::exchange(has_waited, true)) {
      lock.unlock();
      others.start();
      lock.lock();
      continue;
    }
    claims.waits.emplace(me, thing);
    const bool is_time = !claims.released.wait_until(claims.mutex, next_check);
    claims.waits.erase(me);
    if (!is_time) continue;
    next_check = std::chrono::steady_clock::now() + kBetweenInterruptChecks;
    if (InterruptCheck interrupt = interrupt_check()) {
      lock.unlock();
      RETURN_IF_ERROR(interrupt());
      lock.lock();
    }
  }
}

}  // namespace

Result<Claim> Claim::take(const void* thing) {
  ASSIGN_OR_RETURN(bool is_mine, wait(thing, /*take=*/true));
  return is_mine ? Claim(thing) : Claim();
}

Result<bool> Claim::wait_for(const void* thing) { return wait(thing, /*take=*/false); }

Claim::~Claim() {
  if (!thing_) return;
  Claims& claims = Claims::global();
  {
    MutexLock lock(claims.mutex);
    claims.owners.erase(thing_);
  }
  claims.released.notify_all();
}

}  // namespace graven::engine
