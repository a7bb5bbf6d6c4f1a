#pragma once
#include <Python.h>

#include "graven/function/trace_type.h"
#include "graven/python/object.h"

namespace graven::python {

struct SlotObject;

// The engine's reference to a Python object that a type or a value of a Function's trace needs:
// the class of a container, a user's TraceType, a literal.
//
// It owns the object during the call that makes it. Objects kept by a trace may hold the Function
// that owns the trace, and Python's cycle collector does not see the engine's references. So a
// trace hands the object over to a slot, a Python object that every Function whose traces reach it
// owns and traverses (DESIGN 3); from then on this knows the slot and owns nothing. All of it under
// the GIL.
class HeldObject {
 public:
  explicit HeldObject(PyObject* object);
  ~HeldObject();
  HeldObject(const HeldObject&) = delete;

  // Borrowed; null if the object's slot is gone.
  PyObject* get() const { return object_; }
  // Refers to another object from now on, in the same slot; returns the one before. If the slot is
  // gone nothing changes, and `object` comes back.
  Object exchange(Object object);
  // The object's slot, made now if it has none. Empty without an exception if the object cannot be
  // part of a cycle, and with one if memory is gone.
  Object hand_over();
  // Makes the slot, if there is one, own another object, which a call of this one has made. False
  // with an exception set if it fails.
  bool keep(PyObject* object) const;

 private:
  friend struct SlotObject;
  PyObject* object_;
  SlotObject* slot_ = nullptr;
};

// Makes the Function that is traced on this thread own the Python objects of a type, or of the
// result of a trace. False with an exception set if it fails.
bool keep_objects_of(const engine::TraceType& type);
bool keep_objects_of(const engine::Value& value);

// True for a slot whose type or value is gone.
bool is_empty_slot(PyObject* object);
bool make_slot_type();

}  // namespace graven::python
