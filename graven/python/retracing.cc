#include "graven/python/retracing.h"

#include <utility>

namespace graven::python {
namespace {

constexpr Py_ssize_t kMaxItems = 4096;  // of a container that is copied

constinit thread_local PythonRetracing* t_current = nullptr;

bool is_copied(PyObject* value) {
  if (!value) return false;
  if (PyList_Check(value)) return PyList_GET_SIZE(value) <= kMaxItems;
  return PyDict_Check(value) && PyDict_GET_SIZE(value) <= kMaxItems;
}

// A class of the program's may keep more beside the items: OrderedDict its order.
bool may_be_put_back(PyObject* value) {
  return is_copied(value) && (PyList_CheckExact(value) || PyDict_CheckExact(value));
}

// Empty, with no exception set, if memory is gone.
Object copy_of(PyObject* container) {
  Object copy = Object::take(PyList_Check(container)
                                 ? PyList_GetSlice(container, 0, PyList_GET_SIZE(container))
                                 : run_python<PyDict_Copy>(container));
  if (!copy) PyErr_Clear();
  return copy;
}

// By identity, in order. Runs no code.
bool has_same_items(PyObject* container, PyObject* copy) {
  if (PyList_Check(container)) {
    const Py_ssize_t n = PyList_GET_SIZE(container);
    if (n != PyList_GET_SIZE(copy)) return false;
    for (Py_ssize_t i = 0; i < n; ++i) {
      if (PyList_GET_ITEM(container, i) != PyList_GET_ITEM(copy, i)) return false;
    }
    return true;
  }
  if (PyDict_GET_SIZE(container) != PyDict_GET_SIZE(copy)) return false;
  Py_ssize_t at = 0, at_copy = 0;
  PyObject *key, *value, *key_of_copy, *value_of_copy;
  while (PyDict_Next(container, &at, &key, &value)) {
    if (!PyDict_Next(copy, &at_copy, &key_of_copy, &value_of_copy)) return false;
    if (key != key_of_copy || value != value_of_copy) return false;
  }
  return true;
}

void set_items(PyObject* container, PyObject* copy) {
  int done = 0;
  if (PyList_Check(container)) {
    done = run_python<PyList_SetSlice>(container, static_cast<Py_ssize_t>(0),
                                       PyList_GET_SIZE(container), copy);
  } else {
    run_python<PyDict_Clear>(container);
    done = run_python<PyDict_Update>(container, copy);
  }
  if (done < 0) PyErr_Clear();
}

}  // namespace

PythonRetracing::PythonRetracing() : outer_(std::exchange(t_current, this)) {}

PythonRetracing::~PythonRetracing() {
  HoldGil gil;
  t_current = outer_;
  if (outer_) hand_over();
  // Before the GIL is given back.
  names_.clear();
  containers_.clear();
  changed_.clear();
  changed_containers_.clear();
  for (const Noted& noted : noted_) {
    for (WatchedPlace& place : noted.places) place.let_go();
  }
  noted_.clear();
}

PythonRetracing* PythonRetracing::current() { return t_current; }

void PythonRetracing::hand_over() {
  for (Changed& changed : changed_) {
    if (!outer_->find(changed.kind, changed.owner.get(), changed.name.get())) {
      outer_->by_owner_.emplace(changed.owner.get(), outer_->names_.size());
      outer_->names_.push_back(*find(changed.kind, changed.owner.get(), changed.name.get()));
    }
    outer_->changed_.push_back(std::move(changed));
  }
  for (Container& changed : changed_containers_) {
    const PyObject* container = changed.container.get();
    outer_->containers_.emplace(container, containers_.at(container));
    outer_->changed_containers_.push_back(std::move(changed));
  }
}

void PythonRetracing::note(std::span<WatchedPlace> places, const Object& list) {
  noted_.push_back({places, list});
  std::vector<Object> containers;
  const size_t first = names_.size();
  for (WatchedPlace& place : places) place.append_names(names_, containers);
  for (size_t i = first; i < names_.size(); ++i) by_owner_.emplace(names_[i].owner.get(), i);
  for (const Object& container : containers) {
    if (!is_copied(container.get()) || containers_.contains(container.get())) continue;
    if (Object copy = copy_of(container.get())) {
      containers_.emplace(container.get(), Container{container, std::move(copy)});
    }
  }
}

bool PythonRetracing::note_changed(PyObject* names, PyObject* containers) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(names); ++i) {
    int kind;
    PyObject *owner, *name;
    if (!PyArg_ParseTuple(PyList_GET_ITEM(names, i), "iOO", &kind, &owner, &name)) return false;
    const auto place = static_cast<WatchedPlace::Kind>(kind);
    if (!find(place, owner, name)) continue;
    changed_.push_back({place, Object::borrow(owner), Object::borrow(name),
                        Object::borrow(WatchedName::own_value(place, owner, name))});
  }
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(containers); ++i) {
    PyObject* container = PyList_GET_ITEM(containers, i);
    if (!containers_.contains(container) || !may_be_put_back(container)) continue;
    if (Object left = copy_of(container)) {
      changed_containers_.push_back({Object::borrow(container), std::move(left)});
    }
  }
  return true;
}

const WatchedName* PythonRetracing::find(WatchedPlace::Kind kind, PyObject* owner,
                                         PyObject* name) const {
  const auto [begin, end] = by_owner_.equal_range(owner);
  for (auto at = begin; at != end; ++at) {
    const WatchedName& found = names_[at->second];
    if (found.kind == kind && is_same_key(found.name.get(), name)) return &found;
  }
  return nullptr;
}

bool PythonRetracing::has_changed(PyObject* container) const {
  const auto at = containers_.find(container);
  return at != containers_.end() && !has_same_items(container, at->second.items.get());
}

void PythonRetracing::put_back() const {
  for (const Changed& changed : changed_) {
    PyObject *owner = changed.owner.get(), *name = changed.name.get();
    const WatchedName* before = find(changed.kind, owner, name);
    // The object stays until all is done, as its end may run users' code.
    const Object now = Object::borrow(WatchedName::own_value(changed.kind, owner, name));
    if (now.get() != changed.left.get() || now.get() == before->own.get()) continue;
    WatchedName::set_own_value(changed.kind, owner, name, before->own.get());
  }
  for (const Container& changed : changed_containers_) {
    PyObject* container = changed.container.get();
    PyObject* before = containers_.at(container).items.get();
    if (!has_same_items(container, changed.items.get())) continue;
    if (!has_same_items(container, before)) set_items(container, before);
  }
}

}  // namespace graven::python
