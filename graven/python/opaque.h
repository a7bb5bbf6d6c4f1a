#pragma once
#include <Python.h>

#include "graven/function/class_name.h"
#include "graven/function/index.h"
#include "graven/ir/value.h"
#include "graven/python/object.h"
#include "graven/python/slot.h"

namespace graven::python {

// A Python object as the engine holds it: compared by Python's ==, hashed by Python's hash.
// Exceptions of a user's __eq__ count as unequal, as a key that cannot be compared never matches.
class StrongOpaque final : public engine::Opaque, public engine::HasClassName {
 public:
  explicit StrongOpaque(PyObject* object);
  PyObject* get() const { return held_.get(); }  // borrowed; null if its slot is gone
  HeldObject& held() const { return held_; }

  bool equals(const engine::Opaque& other) const override;
  bool equals(const engine::Literal& literal) const override;
  uint64_t hash() const override { return hash_; }
  std::string repr() const override;
  std::string class_name() const override;
  bool is_alive() const override;

 private:
  mutable HeldObject held_;
  uint64_t hash_;
};

// The same, weakly held.
class WeakOpaque : public engine::Opaque, public engine::HasClassName {
 public:
  // Fails for objects that cannot be weakly referenced.
  static engine::Result<engine::Ref<WeakOpaque>> create(PyObject* object);
  ~WeakOpaque() override;
  Object get() const;  // empty once the object is gone; for threads that hold the GIL

  bool equals(const engine::Opaque& other) const override;
  bool equals(const engine::Literal&) const override { return false; }
  uint64_t hash() const override { return hash_; }
  std::string repr() const override;
  std::string class_name() const override;
  bool is_alive() const override;

 protected:
  struct Parts {
    Object reference;
    uint64_t hash;
    std::string repr;
  };
  static engine::Result<Parts> parts_of(PyObject* object);
  explicit WeakOpaque(Parts parts)
      : reference_(parts.reference.release()), hash_(parts.hash), repr_(std::move(parts.repr)) {}

 private:
  PyObject* reference_;
  uint64_t hash_;
  std::string repr_;  // an object that is gone still has a place in messages
};

// The name of an object's class with its module, but for builtins: "models.Config". Never empty;
// the thread holds the GIL.
std::string full_class_name(PyObject* object);

// The object behind a handle of either kind, a new reference; empty if it is gone.
Object object_of(const engine::Opaque& opaque);

// A guard that notices the end of an object by a weak reference, and tells the listener, if any.
// Fails for objects that cannot be weakly referenced.
engine::Result<engine::Ref<engine::LifeGuard>> guard_life(
    PyObject* object, std::shared_ptr<engine::LifeListener> listener = nullptr);

}  // namespace graven::python
