#pragma once
#include <Python.h>

#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "graven/function/watch.h"
#include "graven/python/object.h"
#include "graven/python/watched_places.h"

namespace graven::python {

// What was there when a retrace of Python's began, so that what it changed can be put back if it
// fails: the values of watched names, and the items of lists and dicts among them. Only what the
// code of the trace assigns to or changes is put back, as graven._captures finds it when the trace
// ends, and only if nothing has changed it since: other threads may have written meanwhile.
//
// At its end it lets variables of functions go that only the old trace still refers to, so that
// traces of values that are gone do not keep what these functions held.
//
// Belongs to a thread; the innermost is current. Under the GIL, but for its end.
class PythonRetracing final : public engine::Watches::Retracing {
 public:
  PythonRetracing();
  ~PythonRetracing() override;
  PythonRetracing(const PythonRetracing&) = delete;
  static PythonRetracing* current();

  // The places are those of `list`, which is kept.
  void note(std::span<WatchedPlace> places, const Object& list);
  // What the code of a trace that has ended changes: [(kind, owner, name), ...] and containers. A
  // TypeError if it is anything else. Notes what is there now.
  bool note_changed(PyObject* names, PyObject* containers);

  // Null if it is not among the places.
  const WatchedName* find(WatchedPlace::Kind kind, PyObject* owner, PyObject* name) const;
  // Whether a list or dict that was noted has other items by now.
  bool has_changed(PyObject* container) const;
  void put_back() const;

 private:
  // Gives what has changed, and what was there before, to the retrace around, of which it is a part
  // and which may fail yet.
  void hand_over();
  struct Changed {
    WatchedPlace::Kind kind;
    Object owner, name, left;
  };
  struct Container {
    Object container, items;  // and a copy of it
  };
  PythonRetracing* const outer_;
  struct Noted {
    std::span<WatchedPlace> places;
    Object list;
  };
  std::vector<Noted> noted_;
  std::vector<WatchedName> names_;
  std::unordered_multimap<const PyObject*, size_t> by_owner_;
  std::unordered_map<const PyObject*, Container> containers_;
  std::vector<Changed> changed_;
  std::vector<Container> changed_containers_;
};

}  // namespace graven::python
