#include "graven/python/opaque.h"

#include "graven/python/errors.h"
#include "graven/python/literal.h"

namespace graven::python {
namespace {

using engine::Ref;

// Python's ==; an error counts as "no".
bool python_equals(PyObject* a, PyObject* b) {
  if (a == b) return true;
  int equal = run_python<PyObject_RichCompareBool>(a, b, Py_EQ);
  if (equal < 0) PyErr_Clear();
  return equal > 0;
}

uint64_t python_hash(PyObject* object) {
  Py_hash_t hash = run_python<PyObject_Hash>(object);
  if (hash == -1) PyErr_Clear();
  return static_cast<uint64_t>(hash);
}

std::string python_repr(PyObject* object) {
  Object repr = Object::take(run_python<PyObject_Repr>(object));
  const char* text = repr ? PyUnicode_AsUTF8(repr.get()) : nullptr;
  if (!text) PyErr_Clear();
  return text ? text : "<object>";
}

constexpr const char* kGuardName = "graven.LifeGuard";

// A guard that owns its weak reference. The reference's callback finds the guard by a capsule,
// which does not own it: the guard would never go.
class PythonLifeGuard final : public engine::LifeGuard {
 public:
  using LifeGuard::LifeGuard;
  ~PythonLifeGuard() override {
    if (!Py_IsInitialized()) {
      // While Python ends, objects still do, and their callbacks must not come here any more.
      if (capsule) PyCapsule_SetContext(capsule.get(), nullptr);
      reference.release();
      capsule.release();
      return;
    }
    HoldGil gil;
    if (capsule) PyCapsule_SetContext(capsule.get(), nullptr);
    reference = Object();
    capsule = Object();
  }
  Object reference;
  Object capsule;  // its context is the guard while that lives
};

// The weak reference's callback: `self` is the guard's capsule.
PyObject* on_death(PyObject* self, PyObject*) {
  if (void* guard = PyCapsule_GetContext(self)) {
    static_cast<PythonLifeGuard*>(guard)->end();  // which may be the end of the guard too
  }
  Py_RETURN_NONE;
}
PyMethodDef on_death_method = {"on_death", on_death, METH_O, nullptr};

}  // namespace

StrongOpaque::StrongOpaque(PyObject* object) : held_(object), hash_(python_hash(object)) {}

bool StrongOpaque::equals(const engine::Opaque& other) const {
  HoldGil gil;
  Object a = object_of(*this), b = object_of(other);
  return a && b && python_equals(a.get(), b.get());
}

bool StrongOpaque::equals(const engine::Literal& literal) const {
  HoldGil gil;
  Object a = object_of(*this), b = literal_to_python(literal);
  if (!b) PyErr_Clear();
  return a && b && python_equals(a.get(), b.get());
}

std::string full_class_name(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  Object name = Object::take(run_python<PyType_GetQualName>(type));
  Object module = Object::take(
      run_python<PyObject_GetAttrString>(reinterpret_cast<PyObject*>(type), "__module__"));
  const char* text = name ? PyUnicode_AsUTF8(name.get()) : nullptr;
  const bool is_text = module && PyUnicode_Check(module.get());
  const char* prefix = is_text ? PyUnicode_AsUTF8(module.get()) : nullptr;
  PyErr_Clear();
  if (!text) return type->tp_name;
  const std::string_view of = prefix ? prefix : "";
  return of.empty() || of == "builtins" ? std::string(text) : engine::str_cat(of, ".", text);
}

std::string StrongOpaque::class_name() const {
  HoldGil gil;
  Object object = object_of(*this);
  return object ? full_class_name(object.get()) : "an object that is gone";
}

std::string WeakOpaque::class_name() const {
  HoldGil gil;
  Object object = get();
  return object ? full_class_name(object.get()) : "an object that is gone";
}

std::string StrongOpaque::repr() const {
  HoldGil gil;
  Object object = object_of(*this);
  return object ? python_repr(object.get()) : "<object that is gone>";
}

bool StrongOpaque::is_alive() const {
  HoldGil gil;
  return get() != nullptr;
}

bool WeakOpaque::is_alive() const {
  HoldGil gil;
  return static_cast<bool>(get());
}

engine::Result<WeakOpaque::Parts> WeakOpaque::parts_of(PyObject* object) {
  Py_hash_t hash = run_python<PyObject_Hash>(object);
  if (hash == -1) return pending_exception();
  Object reference = Object::take(PyWeakref_NewRef(object, nullptr));
  if (!reference) return pending_exception();
  std::string repr = engine::str_cat("WeakRef[", python_repr(object), "]");
  return Parts{std::move(reference), static_cast<uint64_t>(hash), std::move(repr)};
}

engine::Result<Ref<WeakOpaque>> WeakOpaque::create(PyObject* object) {
  ASSIGN_OR_RETURN(Parts parts, parts_of(object));
  return Ref<WeakOpaque>(new WeakOpaque(std::move(parts)));
}

WeakOpaque::~WeakOpaque() {
  if (!Py_IsInitialized()) return;
  HoldGil gil;
  drop(reference_);
}

Object WeakOpaque::get() const {
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

engine::Result<Ref<engine::LifeGuard>> guard_life(PyObject* object,
                                                  std::shared_ptr<engine::LifeListener> listener) {
  static char anything = 0;  // a capsule needs a pointer that is not null
  auto guard = engine::make_ref<PythonLifeGuard>(std::move(listener));
  guard->capsule = Object::take(PyCapsule_New(&anything, kGuardName, nullptr));
  if (!guard->capsule) return pending_exception();
  PyCapsule_SetContext(guard->capsule.get(), guard.get());
  Object callback = Object::take(PyCFunction_New(&on_death_method, guard->capsule.get()));
  if (!callback) return pending_exception();
  guard->reference = Object::take(PyWeakref_NewRef(object, callback.get()));
  if (!guard->reference) return pending_exception();
  return Ref<engine::LifeGuard>(guard);
}

}  // namespace graven::python
