#pragma once
#include <Python.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graven/function/watch.h"
#include "graven/function/watched_values.h"
#include "graven/python/object.h"
#include "graven/python/slot.h"
#include "graven/python/watched_places.h"

namespace graven::engine {
class Entry;
}

namespace graven::python {

class PythonRetracing;
class WatchList;

// What a Function does about a watched value that has changed (tf.function's `stale`).
enum class Stale : char { kIgnore, kRetrace, kWarn, kError };

// The watches of a trace of Python's. They lie in a Python object, the list, that the Functions
// whose traces reach it own: it holds Python objects. Under the GIL.
class PythonWatches final : public engine::Watches, public engine::HasWatchedValues {
 public:
  // Null if memory is gone.
  static engine::Ref<PythonWatches> create(PyObject* list, Stale stale);
  PythonWatches(PyObject* lists, Stale stale);

  bool hold() override;
  std::string change() override;
  bool gradients_hold() override;
  std::unique_ptr<Retracing> begin_retrace() override;
  void adopt(engine::Watches& fresh, Retracing* noted) override;
  void precede(engine::Watches& fresh, double milliseconds) override;
  bool revert(const engine::Status& error, Retracing* noted) override;
  int64_t bytes() const override;
  std::vector<std::string> watched_values() const override;
  std::vector<std::pair<std::string, std::string>> plain_values(bool now) const override;

  HeldObject& held() { return held_; }
  // Of a trace that serves equal functions: it goes on watching what a Function would give up, and
  // does not serve after a trace of a new value has failed, as nobody expects a fresh function to
  // find a trace of an old value.
  void keep_watching() { keeps_watching_ = true; }
  // Whether any value has changed, whatever is done about it.
  bool are_unchanged();
  // False with an exception set if a call may not run the trace: something has changed, and
  // `stale` says "error". Logs what there is to say; `is_concrete`: for a ConcreteFunction, which
  // cannot be traced again. `name` is the Function's.
  bool tell(bool is_concrete, const std::string& name);

 private:
  WatchList list() const;  // the first; empty if only garbage still holds the trace
  // Replaces the tuple, and returns it; empty if that fails.
  Object put_in_front(const Object& list);
  // Appends the places with the values that there are now, those of traces within too.
  void append_renewed_of_traces(std::vector<WatchedPlace>& renewed) const;
  void append_renewed_of_gradients(std::vector<WatchedPlace>& renewed) const;
  void note(PythonRetracing& noted) const;
  void append_plain(bool now, WatchedValue::Texts& texts) const;
  void count(PythonWatches& fresh, double milliseconds);

  HeldObject held_;  // a tuple of lists: the trace is right as long as one of them holds
  const Stale stale_;
  std::string told_;       // the last warning
  bool has_told_ = false;  // for a ConcreteFunction
  std::string report_;     // to be logged at the next call
  bool keeps_watching_ = false;
  bool is_of_cost_ = false;  // the report is about a value that changes again and again
  int num_retraces_ = 0;     // that changes have caused before this trace
  int num_adopted_ = 0;      // retraces of this trace that made an equal graph,
  std::chrono::steady_clock::time_point adopting_since_;
  double adopting_milliseconds_ = 0;  // that took so long
  double milliseconds_ = 0;           // what they have taken
};

// Collects what a trace reads, as long as it lives; they nest. Belongs to a thread.
class WatchScope {
 public:
  WatchScope();
  ~WatchScope();
  WatchScope(const WatchScope&) = delete;
  // The innermost of this thread, or null.
  static WatchScope* current();

  // Functions among the arguments that are known by their code and captures (equal_functions.h),
  // and what must be watched for that: a list of (kind, owner, name).
  void set_equal_functions(std::vector<Object> functions, Object watched) {
    equal_functions_ = std::move(functions);
    watched_ = std::move(watched);
  }
  const std::vector<Object>& equal_functions() const { return equal_functions_; }
  const Object& watched() const { return watched_; }

  // A trace that runs within this one is part of it, with what it watches.
  void add(engine::Watches* inner);
  // The list that Python's side has made of this trace, or null.
  void set_list(Object list) { list_ = std::move(list); }
  // The watches of the trace that ends; null if it has read nothing that can be watched.
  engine::Ref<PythonWatches> finish(Stale stale);

 private:
  WatchScope* const outer_;
  Object list_, watched_;
  std::vector<Object> equal_functions_;
  std::vector<engine::Ref<PythonWatches>> inner_;
  std::vector<engine::Ref<engine::Watches>> foreign_;  // of C++
};

// Before a call that found this entry, which watches something, runs it: tells the news, and makes
// what it watches part of the trace that goes on around the call, if any. False as of tell.
bool note_watches(const engine::Entry& entry, const std::string& name);
// The second half of that: makes watches part of the traces that go on around, of either language.
void note_watches_of_part(engine::Watches& watches);
// The same for a ConcreteFunction, which runs the entry whatever has changed.
bool note_concrete_call(const engine::Entry& entry);

}  // namespace graven::python
