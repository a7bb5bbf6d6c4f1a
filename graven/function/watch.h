#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"

namespace graven::engine {

// The door to the values of the front end's language that a trace read and froze: globals,
// attributes, items of containers. An entry has one, or none. Nothing here calls the user's code,
// but the front end's collector may run some, which may call the Function. So all of it may be
// called on any thread, also within itself, with no lock held.
class GRAVEN_API Watches : public RefCounted {
 public:
  // True if calls may run the trace: no value has changed since it was made, or changes are not to
  // cause traces.
  virtual bool hold() = 0;
  // What has changed, in words ("k, read at f.py:3, changed from 1 to 5"); empty if nothing has.
  virtual std::string change() = 0;

  // False if a value has changed that a gradient reads which the user's function computes: it may
  // read it again later, which no graph shows.
  virtual bool gradients_hold() = 0;

  // --- A trace of the same type that is made because of a change.

  // What the front end notes of it. Lives on the thread of the trace until that has ended.
  class Retracing {
   public:
    virtual ~Retracing() = default;
  };
  // It begins. Notes the values that there are. May be null.
  virtual std::unique_ptr<Retracing> begin_retrace() = 0;
  // It has made a graph, which took so long; `fresh` belongs to it.
  virtual void precede(Watches& fresh, double milliseconds) = 0;
  // The graph is equal to this trace's, which goes on with the values of `fresh`. After precede.
  virtual void adopt(Watches& fresh, Retracing* noted) = 0;
  // It failed, where a system that watches nothing would have run this trace. Puts back what it
  // has changed itself of the values that are watched, and lets calls run this trace as long as
  // they stay. False if the error must be told instead (the user has pressed Ctrl-C).
  virtual bool revert(const Status& error, Retracing* noted) = 0;

  virtual int64_t bytes() const = 0;

  // True if the front end has something to tell before the next call runs the trace.
  bool has_news() const { return has_news_.load(std::memory_order_relaxed); }

 protected:
  std::atomic<bool> has_news_{false};
};

}  // namespace graven::engine
