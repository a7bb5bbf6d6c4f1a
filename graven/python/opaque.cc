#include "graven/python/opaque.h"

#include "graven/python/errors.h"
#include "graven/python/value.h"

namespace graven::python {
namespace {

using engine::Ref;
using engine::Status;

// Python's ==; an error counts as "no".
bool python_equals(PyObject* a, PyObject* b) {
  if (a == b) return true;
  int equal = PyObject_RichCompareBool(a, b, Py_EQ);
  if (equal < 0) PyErr_Clear();
  return equal > 0;
}

uint64_t python_hash(PyObject* object) {
  Py_hash_t hash = PyObject_Hash(object);
  if (hash == -1) PyErr_Clear();
  return static_cast<uint64_t>(hash);
}

std::string python_repr(PyObject* object) {
  Object repr = Object::take(PyObject_Repr(object));
  const char* text = repr ? PyUnicode_AsUTF8(repr.get()) : nullptr;
  if (!text) PyErr_Clear();
  return text ? text : "<object>";
}

// A guard whose weak reference, or object, it owns.
class PythonLifeGuard final : public engine::LifeGuard {
 public:
  ~PythonLifeGuard() override {
    if (!kept_ || !Py_IsInitialized()) return;
    HoldGil gil;
    Py_DECREF(kept_);
  }
  PyObject* kept_ = nullptr;
};

constexpr const char* kGuardName = "graven.LifeGuard";

// The weak reference's callback: `self` is a capsule that holds a count of the guard.
PyObject* on_death(PyObject* self, PyObject*) {
  auto* guard = static_cast<PythonLifeGuard*>(PyCapsule_GetPointer(self, kGuardName));
  if (!guard) return nullptr;
  guard->alive.store(false, std::memory_order_release);
  Py_RETURN_NONE;
}
PyMethodDef on_death_method = {"on_death", on_death, METH_O, nullptr};

}  // namespace

StrongOpaque::StrongOpaque(PyObject* object) : object_(object), hash_(python_hash(object)) {
  Py_INCREF(object_);
}

StrongOpaque::~StrongOpaque() {
  if (!Py_IsInitialized()) return;
  HoldGil gil;
  Py_DECREF(object_);
}

bool StrongOpaque::equals(const engine::Opaque& other) const {
  HoldGil gil;
  Object object = object_of(other);
  return object && python_equals(object_, object.get());
}

bool StrongOpaque::equals(const engine::Literal& literal) const {
  HoldGil gil;
  Object object = literal_to_python(literal);
  return object && python_equals(object_, object.get());
}

std::string StrongOpaque::repr() const {
  HoldGil gil;
  return python_repr(object_);
}

engine::Result<Ref<WeakOpaque>> WeakOpaque::create(PyObject* object) {
  Py_hash_t hash = PyObject_Hash(object);
  if (hash == -1) return pending_exception();
  PyObject* reference = PyWeakref_NewRef(object, nullptr);
  if (!reference) return pending_exception();
  std::string repr = engine::str_cat("WeakRef[", python_repr(object), "]");
  return Ref<WeakOpaque>(new WeakOpaque(reference, static_cast<uint64_t>(hash), std::move(repr)));
}

WeakOpaque::~WeakOpaque() {
  if (!Py_IsInitialized()) return;
  HoldGil gil;
  Py_DECREF(reference_);
}

Object WeakOpaque::get() const {
  HoldGil gil;
  PyObject* object = PyWeakref_GetObject(reference_);
  return object == Py_None ? Object() : Object::borrow(object);
}

bool WeakOpaque::equals(const engine::Opaque& other) const {
  HoldGil gil;
  Object a = get(), b = object_of(other);
  return a && b && python_equals(a.get(), b.get());
}

std::string WeakOpaque::repr() const { return repr_; }

Object object_of(const engine::Opaque& opaque) {
  if (const auto* strong = dynamic_cast<const StrongOpaque*>(&opaque)) {
    return Object::borrow(strong->get());
  }
  if (const auto* weak = dynamic_cast<const WeakOpaque*>(&opaque)) return weak->get();
  return {};
}

engine::Result<Ref<engine::LifeGuard>> guard_life(PyObject* object) {
  auto guard = engine::make_ref<PythonLifeGuard>();
  guard->add_ref();  // the capsule's
  Object capsule = Object::take(PyCapsule_New(guard.get(), kGuardName, [](PyObject* self) {
    static_cast<PythonLifeGuard*>(PyCapsule_GetPointer(self, kGuardName))->drop_ref();
  }));
  if (!capsule) {
    guard->drop_ref();
    return pending_exception();
  }
  Object callback = Object::take(PyCFunction_New(&on_death_method, capsule.get()));
  if (!callback) return pending_exception();
  guard->kept_ = PyWeakref_NewRef(object, callback.get());
  if (!guard->kept_) {
    PyErr_Clear();
    Py_INCREF(object);
    guard->kept_ = object;
  }
  return Ref<engine::LifeGuard>(guard);
}

}  // namespace graven::python
