#include "graven/python/slot.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "graven/python/function_object.h"
#include "graven/python/opaque.h"
#include "graven/python/trace_types.h"

namespace graven::python {

struct SlotObject {
  PyObject_HEAD HeldObject* held;  // null when that is gone
  PyObject* object;
  PyObject* kept;  // a list, or null

  // The collector found that only garbage owns the slot, or its last owner is gone.
  void release() {
    if (held) {
      held->object_ = nullptr;
      held->slot_ = nullptr;
      held = nullptr;
    }
    // Both at once, as dropping one may end this.
    PyObject* dropped[] = {std::exchange(object, nullptr), std::exchange(kept, nullptr)};
    for (PyObject* each : dropped) drop(each);
  }
};

namespace {

PyTypeObject* slot_type = nullptr;

SlotObject* self_of(PyObject* object) { return reinterpret_cast<SlotObject*>(object); }

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self_of(object)->object);
  Py_VISIT(self_of(object)->kept);
  return 0;
}

int clear(PyObject* object) {
  self_of(object)->release();
  return 0;
}

void dealloc(PyObject* object) {
  PyObject_GC_UnTrack(object);
  self_of(object)->release();
  PyTypeObject* type = Py_TYPE(object);
  type->tp_free(object);
  Py_DECREF(type);
}

PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                       {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {0, nullptr}};
PyType_Spec spec = {"graven._engine.Slot", sizeof(SlotObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                    slots};

// Numbers, strings and the interpreter's own classes refer to nothing that could refer to them.
bool may_be_in_a_cycle(PyObject* object) {
  if (!PyObject_IS_GC(object)) return false;
  return !PyType_Check(object) ||
         PyType_HasFeature(reinterpret_cast<PyTypeObject*>(object), Py_TPFLAGS_HEAPTYPE);
}

bool keep(HeldObject& held) {
  Object slot = held.hand_over();
  if (!slot) return !PyErr_Occurred();
  return keep_for_trace(slot.get());
}

bool keep(const engine::Opaque* opaque) {
  const auto* strong = dynamic_cast<const StrongOpaque*>(opaque);
  return !strong || keep(strong->held());
}

bool keep(const engine::Literal& literal) {
  const auto* opaque = std::get_if<engine::Ref<engine::Opaque>>(&literal);
  return !opaque || keep(opaque->get());
}

bool keep_objects_of(const engine::Container& container) {
  if (!keep(container.maker().get())) return false;
  return std::ranges::all_of(container.keys(), [](const auto& key) { return keep(key); });
}

}  // namespace

HeldObject::HeldObject(PyObject* object) : object_(object) { Py_INCREF(object_); }

HeldObject::~HeldObject() {
  if (!Py_IsInitialized()) {
    // The thread that ends Python may yet end the slot; others may not touch it.
    if (slot_ && has_gil()) slot_->held = nullptr;
    return;
  }
  HoldGil gil;  // first, as the collector may just be emptying the slot
  if (!object_) return;
  if (!slot_) {
    drop(object_);
    return;
  }
  slot_->release();
}

Object HeldObject::hand_over() {
  if (slot_) return Object::borrow(reinterpret_cast<PyObject*>(slot_));
  if (!object_ || !may_be_in_a_cycle(object_)) return {};
  auto* slot = reinterpret_cast<SlotObject*>(slot_type->tp_alloc(slot_type, 0));
  if (!slot) return {};
  slot->held = this;
  slot->object = object_;  // with the reference that this owned
  slot_ = slot;
  return Object::take(reinterpret_cast<PyObject*>(slot));
}

Object HeldObject::exchange(Object object) {
  if (!object_) return object;
  PyObject* before = std::exchange(object_, object.release());
  if (slot_) slot_->object = object_;
  return Object::take(before);
}

bool HeldObject::keep(PyObject* object) const {
  if (!slot_) return true;
  if (!slot_->kept) slot_->kept = PyList_New(0);
  return slot_->kept && PyList_Append(slot_->kept, object) == 0;
}

bool keep_objects_of(const engine::TraceType& type) {
  if (HeldObject* held = held_object_of(type)) return keep(*held);
  if (const auto* literal = dynamic_cast<const engine::LiteralType*>(&type)) {
    return keep(literal->literal()) && keep(literal->original().get());
  }
  const auto* container = dynamic_cast<const engine::ContainerType*>(&type);
  if (!container) return true;  // tensors, variables and objects that are weakly held
  if (!keep_objects_of(*container->container())) return false;
  for (const engine::TraceTypeRef& item : container->items()) {
    if (!keep_objects_of(*item)) return false;
  }
  return true;
}

bool keep_objects_of(const engine::Value& value) {
  if (!keep(value.object.get()) || !keep(value.literal)) return false;
  if (value.type && !keep_objects_of(*engine::own_type_of(value))) return false;
  if (value.container && !keep_objects_of(*value.container)) return false;
  for (const engine::Value& item : value.items) {
    if (!keep_objects_of(item)) return false;
  }
  return true;
}

bool is_empty_slot(PyObject* object) {
  return Py_IS_TYPE(object, slot_type) && !self_of(object)->held;
}

bool make_slot_type() {
  slot_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return slot_type != nullptr;
}

}  // namespace graven::python
