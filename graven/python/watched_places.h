#pragma once
#include <Python.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graven/base/function_ref.h"
#include "graven/python/object.h"
#include "graven/python/watched_value.h"

namespace graven::python {

// An attribute of an object as Python finds it, but without running code of the user's: of a
// property or another descriptor it is the descriptor itself. Borrowed; null if it is not there.
// Methods and class attributes are found as the class has them.
struct RawAttribute {
  PyObject* value = nullptr;
  bool is_of_instance = false;  // in the instance's dict or slot
  bool is_slot = false;         // of __slots__
};
RawAttribute raw_attribute(PyObject* object, PyObject* name);

struct WatchedName;

// Names in one place that a trace has read: in a dict of globals, in an object, in a cell, of a
// function. A place that has not changed is told by its version tag (Python 3.11): two loads for
// any number of names. Without tags, or where something else in it has changed (the globals of a
// script change at each step of its loop), each name costs one look at its entry of the dict.
//
// Looking may run code of the program's (watched_value.h), which may look too. So once all names
// are added, only notes change (tags, hints, what is left out): never the names and their values.
class WatchedPlace {
 public:
  // kDict: the owner is a dict, held. kObject: an object or class, weakly held if it can be. kCell:
  // a cell, with one item. kFunction: a function, whose defaults are the one item.
  enum class Kind : uint8_t { kDict, kObject, kCell, kFunction };
  WatchedPlace(Kind kind, PyObject* owner);

  // `reads` as of WatchedValue; `label` says what it is and where it was read.
  void add(PyObject* name, PyObject* reads, PyObject* label);
  // True if nothing of it has changed. An owner that is gone counts as unchanged: the place that
  // led to it has changed if that matters, and many objects live no longer than the trace.
  bool hold();
  // The first change, in words; empty if there is none.
  std::string change();
  // Adds a line for each name: "rate = 0.5, read at f.py:3". None if the owner is gone, such as a
  // composite tensor that was made for the body.
  void describe(std::vector<std::string>& lines) const;
  // Lets a cell go that nothing else refers to any more: it cannot change.
  void let_go();
  // As of WatchedValue::append_plain: of what was read, or of what is there now.
  void append_plain(bool now, WatchedValue::Texts& texts) const;
  // Appends its names with the values that there are now, and the containers among these of which
  // something was read. None if the owner is gone.
  void append_names(std::vector<WatchedName>& names, std::vector<Object>& containers);
  // What is known of a name before it is watched in this place.
  struct Past {
    bool is_left_out = false;  // it is not watched any more
    int num_changes = 0;
  };
  // Asks for the past of each name: past(kind, owner, name, value, containers), where these are the
  // containers of the value of which something was read.
  using FindPast =
      engine::FunctionRef<Past(Kind, PyObject*, PyObject*, PyObject*, std::span<const Object>)>;
  void follow(FindPast past);
  // A place of the same names with the values that there are now.
  WatchedPlace renewed() const;
  int traverse(visitproc visit, void* arg) const;
  int64_t bytes() const;

  // Whether version tags are used, where Python has them; for tests.
  static bool has_tags();
  static void use_tags(bool use);

 private:
  WatchedPlace(Kind kind, bool is_weak, Object owner)
      : kind_(kind), is_weak_(is_weak), owner_(std::move(owner)) {}
  struct Item {
    Object name;
    Object label;
    WatchedValue value;
    Py_ssize_t hint = 0;          // position in the dict
    PyObject* current = nullptr;  // as long as the place is untouched
    bool is_looked_up = false;    // may change without a change of the place's tags
    bool is_left_out = false;     // not watched any more
    int num_changes = 0;          // that have made an equal graph
  };
  PyObject* owner() const;  // borrowed; null if it is gone
  PyObject* find(PyObject* owner, PyObject* name, Py_ssize_t& hint) const;
  PyObject* find(PyObject* owner, Item& item) const {
    return find(owner, item.name.get(), item.hint);
  }
  bool holds_touched(PyObject* owner);
  bool is_untouched(PyObject* owner) const;
  struct Tags {
    uint64_t dict = 0;
    unsigned type = 0;
  };
  Tags tags_of(PyObject* owner) const;

  Kind kind_;
  bool is_weak_ = false;
  bool has_containers_ = false;
  Tags tags_;
  Object owner_;
  std::vector<Item> items_;
};

// A name in a place, and what was there at a time.
struct WatchedName {
  WatchedPlace::Kind kind;
  Object owner, name;
  Object own;        // what the owner itself had there; null if nothing
  Object found;      // what a read gave: this, or what the class has
  bool has_changed;  // since it was watched
  int num_changes;   // that have made an equal graph
  bool is_left_out;  // not watched any more

  // What the owner itself has, borrowed; null if nothing.
  static PyObject* own_value(WatchedPlace::Kind kind, PyObject* owner, PyObject* name);
  // Sets it, or with null deletes it, without calling code of the user's; or leaves it.
  static void set_own_value(WatchedPlace::Kind kind, PyObject* owner, PyObject* name,
                            PyObject* value);
};

}  // namespace graven::python
