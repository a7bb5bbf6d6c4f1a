#include "graven/python/watched_places.h"

#include <structmember.h>

#include <atomic>
#include <cstdlib>
#include <utility>

#include "graven/base/heap_bytes.h"
#include "graven/base/strings.h"

// Versions of dicts and types are Python's own business from 3.12 on.
#if PY_VERSION_HEX < 0x030c0000
#define GRAVEN_HAS_TAGS 1
#else
#define GRAVEN_HAS_TAGS 0
#endif

namespace graven::python {
namespace {

std::atomic<bool> g_use_tags{GRAVEN_HAS_TAGS};

// The dict of an instance: borrowed, and alive as long as the instance keeps it. Null if it has
// none.
PyObject* dict_of(PyObject* object) {
#if GRAVEN_HAS_TAGS
  // Where 3.11 keeps it, once _PyObject_GetDictPtr has made it.
  if (PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_MANAGED_DICT)) {
    PyObject* made = reinterpret_cast<PyObject**>(object)[-3];
    if (made) return made;
  }
  PyObject** dict = _PyObject_GetDictPtr(object);
  return dict ? *dict : nullptr;
#else
  if (!Py_TYPE(object)->tp_dictoffset && !PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE)) {
    return nullptr;
  }
  PyObject* dict = PyObject_GenericGetDict(object, nullptr);
  if (!dict) PyErr_Clear();
  Py_XDECREF(dict);
  return dict;
#endif
}

uint64_t tag_of_dict([[maybe_unused]] PyObject* dict) {
#if GRAVEN_HAS_TAGS
  return dict ? reinterpret_cast<PyDictObject*>(dict)->ma_version_tag : 0;
#else
  return 0;
#endif
}

unsigned tag_of_type([[maybe_unused]] PyTypeObject* type) {
#if GRAVEN_HAS_TAGS
  return PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG) ? type->tp_version_tag : 0;
#else
  return 0;
#endif
}

PyTypeObject* type_of(PyObject* object) {
  return PyType_Check(object) ? reinterpret_cast<PyTypeObject*>(object) : Py_TYPE(object);
}

PyObject* find_in_dict(PyObject* dict, PyObject* name, Py_ssize_t& hint) {
  Py_ssize_t at = hint;
  PyObject *key, *value;
  if (PyDict_Next(dict, &at, &key, &value) && key == name) return value;
  PyObject* found = run_python<PyDict_GetItemWithError>(dict, name);
  if (!found) {
    PyErr_Clear();
    return nullptr;
  }
  for (at = 0; PyUnicode_CheckExact(name);) {  // the key is the interned name
    const Py_ssize_t before = at;
    if (!PyDict_Next(dict, &at, &key, &value)) break;
    if (key == name) {
      hint = before;
      break;
    }
  }
  return found;
}

bool is_data_descriptor(PyObject* descriptor) {
  return Py_TYPE(descriptor)->tp_descr_set != nullptr;
}

int type_setattr(PyObject* type, PyObject* name, PyObject* value) {
  return PyType_Type.tp_setattro(type, name, value);
}

// The value in a slot of __slots__; none of other members.
bool slot_value(PyObject* object, PyObject* descriptor, PyObject*& value) {
  if (!Py_IS_TYPE(descriptor, &PyMemberDescr_Type)) return false;
  const PyMemberDef* member = reinterpret_cast<PyMemberDescrObject*>(descriptor)->d_member;
  if (member->type != T_OBJECT_EX) return false;
  value = *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + member->offset);
  return true;
}

}  // namespace

RawAttribute raw_attribute(PyObject* object, PyObject* name) {
  RawAttribute found;
  PyObject* of_type = _PyType_Lookup(type_of(object), name);
  if (PyType_Check(object)) {
    found.value = of_type;
    return found;
  }
  if (of_type && is_data_descriptor(of_type)) {
    found.is_slot = slot_value(object, of_type, found.value);
    found.is_of_instance = found.is_slot;
    if (!found.is_slot) found.value = of_type;
    return found;
  }
  if (PyObject* dict = dict_of(object)) {
    found.value = run_python<PyDict_GetItemWithError>(dict, name);
    if (!found.value) PyErr_Clear();
    found.is_of_instance = found.value != nullptr;
  }
  if (!found.value) found.value = of_type;
  return found;
}

bool WatchedPlace::has_tags() { return g_use_tags.load(std::memory_order_relaxed); }
void WatchedPlace::use_tags(bool use) { g_use_tags.store(use && GRAVEN_HAS_TAGS); }

WatchedPlace::WatchedPlace(Kind kind, PyObject* owner) : kind_(kind) {
  if (kind == Kind::kObject || kind == Kind::kFunction) {
    if (PyType_SUPPORTS_WEAKREFS(Py_TYPE(owner))) {
      owner_ = Object::take(PyWeakref_NewRef(owner, nullptr));
      is_weak_ = static_cast<bool>(owner_);
      if (!is_weak_) PyErr_Clear();
    }
  }
  if (!owner_) owner_ = Object::borrow(owner);
}

PyObject* WatchedPlace::owner() const {
  if (!is_weak_) return owner_.get();
#if PY_VERSION_HEX < 0x030d0000
  PyObject* object = PyWeakref_GET_OBJECT(owner_.get());
#else
  PyObject* object = PyWeakref_GetObject(owner_.get());
#endif
  return object == Py_None ? nullptr : object;
}

PyObject* WatchedPlace::find(PyObject* owner, PyObject* name, Py_ssize_t& hint) const {
  switch (kind_) {
    case Kind::kDict:
      return find_in_dict(owner, name, hint);
    case Kind::kObject:
      break;
    case Kind::kCell:
      return PyCell_GET(owner);
    case Kind::kFunction:
      return reinterpret_cast<PyFunctionObject*>(owner)->func_defaults;
  }
  return raw_attribute(owner, name).value;
}

void WatchedPlace::add(PyObject* name, PyObject* reads, PyObject* label) {
  PyObject* owner = this->owner();
  if (!owner) return;
  Item item;
  item.name = Object::borrow(name);
  item.label = Object::borrow(label);
  if (items_.empty()) tags_ = tags_of(owner);  // before any look at values
  item.current = find(owner, item);
  item.value = WatchedValue::of(item.current, reads);
  const bool is_slot = kind_ == Kind::kObject && raw_attribute(owner, name).is_slot;
  item.is_looked_up = is_slot || kind_ == Kind::kCell || kind_ == Kind::kFunction;
  has_containers_ |= item.is_looked_up || item.value.is_container();
  items_.push_back(std::move(item));
}

bool WatchedPlace::is_untouched(PyObject* owner) const {
  if (!has_tags()) return false;
  switch (kind_) {
    case Kind::kDict:
      return tags_.dict == tag_of_dict(owner);
    case Kind::kObject:
      return tags_.type != 0 && tags_.type == tag_of_type(type_of(owner)) &&
             (PyType_Check(owner) || tags_.dict == tag_of_dict(dict_of(owner)));
    default:
      return false;
  }
}

WatchedPlace::Tags WatchedPlace::tags_of(PyObject* owner) const {
  if (kind_ == Kind::kDict) return {.dict = tag_of_dict(owner)};
  if (kind_ != Kind::kObject) return {};
  const unsigned type = tag_of_type(type_of(owner));
  return {.dict = PyType_Check(owner) ? 0 : tag_of_dict(dict_of(owner)), .type = type};
}

bool WatchedPlace::hold() {
  PyObject* owner = this->owner();
  if (!owner) return true;
  const bool is_untouched = this->is_untouched(owner);
  if (is_untouched && !has_containers_) return true;
  const Object owned = Object::borrow(owner);
  if (!is_untouched) return holds_touched(owner);
  for (Item& item : items_) {
    if (item.is_left_out || !(item.is_looked_up || item.value.is_container())) continue;
    if (item.is_looked_up) {
      if (!item.value.is(find(owner, item))) return false;
      continue;
    }
    if (!this->is_untouched(owner)) return holds_touched(owner);  // by the comparison before
    if (!item.value.is(item.current)) return false;
  }
  return true;
}

bool WatchedPlace::holds_touched(PyObject* owner) {
  tags_ = {};  // `current` is partly old meanwhile
  const Tags tags = tags_of(owner);
  for (Item& item : items_) {
    item.current = find(owner, item);
    if (!item.is_left_out && !item.value.is(item.current)) return false;
  }
  tags_ = tags;
  return true;
}

std::string WatchedPlace::change() {
  PyObject* owner = this->owner();
  if (!owner) return "";
  const Object owned = Object::borrow(owner);
  for (Item& item : items_) {
    const Object now = Object::borrow(find(owner, item));
    if (item.is_left_out || item.value.is(now.get())) continue;
    const WatchedValue::Change change = item.value.change(now.get());
    PyObject *name, *place;
    if (!PyArg_ParseTuple(item.label.get(), "UU", &name, &place)) {
      PyErr_Clear();
      return "a value changed";
    }
    return engine::str_cat(PyUnicode_AsUTF8(name), change.path, ", read ", PyUnicode_AsUTF8(place),
                           ", changed from ", change.before, " to ", change.after);
  }
  return "";
}

void WatchedPlace::describe(std::vector<std::string>& lines) const {
  if (is_weak_ && !owner()) return;
  for (const Item& item : items_) {
    if (item.is_left_out) continue;
    PyObject *name, *place;
    const bool has_label = PyArg_ParseTuple(item.label.get(), "UU", &name, &place);
    const char* text = has_label ? PyUnicode_AsUTF8(name) : nullptr;
    const char* where = has_label ? PyUnicode_AsUTF8(place) : nullptr;
    if (!text || !where) {
      PyErr_Clear();
      continue;
    }
    lines.push_back(engine::str_cat(text, " = ", item.value.text(), ", read ", where));
  }
}

void WatchedPlace::let_go() {
  if (kind_ != Kind::kCell || !owner_ || Py_REFCNT(owner_.get()) > 1) return;
  const Object gone = std::exchange(owner_, {});
}

void WatchedPlace::append_plain(bool now, WatchedValue::Texts& texts) const {
  const Object owner = Object::borrow(this->owner());
  for (const Item& item : items_) {
    PyObject *name, *place;
    const bool has_label = PyArg_ParseTuple(item.label.get(), "UU", &name, &place);
    const char* text = has_label ? PyUnicode_AsUTF8(name) : nullptr;
    if (!text) PyErr_Clear();
    if (item.is_left_out || !text) continue;
    if (!now || !owner) {
      item.value.append_plain(text, now, texts);
    } else {
      Py_ssize_t hint = item.hint;
      item.value.renewed(find(owner.get(), item.name.get(), hint)).append_plain(text, now, texts);
    }
  }
}

void WatchedPlace::append_names(std::vector<WatchedName>& names, std::vector<Object>& containers) {
  const Object owner = Object::borrow(this->owner());
  if (!owner) return;
  for (Item& item : items_) {
    const Object found = Object::borrow(find(owner.get(), item));
    const Object own = Object::borrow(WatchedName::own_value(kind_, owner.get(), item.name.get()));
    const bool has_changed = !item.value.is(found.get());
    item.value.append_containers(found.get(), containers);
    names.push_back(
        {kind_, owner, item.name, own, found, has_changed, item.num_changes, item.is_left_out});
  }
}

void WatchedPlace::follow(FindPast past) {
  const Object owner = Object::borrow(this->owner());
  if (!owner) return;
  for (Item& item : items_) {
    const Object now = Object::borrow(find(owner.get(), item));
    std::vector<Object> containers;
    item.value.append_containers(now.get(), containers);
    const Past found = past(kind_, owner.get(), item.name.get(), now.get(), containers);
    item.is_left_out |= found.is_left_out;
    item.num_changes = found.num_changes;
  }
}

WatchedPlace WatchedPlace::renewed() const {
  WatchedPlace place(kind_, is_weak_, owner_);
  const Object owner = Object::borrow(this->owner());
  if (owner) place.tags_ = tags_of(owner.get());  // before any look at values
  for (const Item& item : items_) {
    Item renewed;
    renewed.name = item.name;
    renewed.label = item.label;
    renewed.hint = item.hint;
    renewed.is_looked_up = item.is_looked_up;
    renewed.is_left_out = item.is_left_out;
    renewed.num_changes = item.num_changes;
    renewed.current = owner ? find(owner.get(), renewed) : nullptr;
    renewed.value = item.value.renewed(renewed.current);
    place.has_containers_ |= item.is_looked_up || renewed.value.is_container();
    place.items_.push_back(std::move(renewed));
  }
  return place;
}

PyObject* WatchedName::own_value(WatchedPlace::Kind kind, PyObject* owner, PyObject* name) {
  Py_ssize_t hint = 0;
  switch (kind) {
    case WatchedPlace::Kind::kDict:
      return find_in_dict(owner, name, hint);
    case WatchedPlace::Kind::kCell:
      return PyCell_GET(owner);
    case WatchedPlace::Kind::kFunction:
      return nullptr;
    case WatchedPlace::Kind::kObject:
      break;
  }
  if (PyType_Check(owner)) {
    return find_in_dict(reinterpret_cast<PyTypeObject*>(owner)->tp_dict, name, hint);
  }
  const RawAttribute found = raw_attribute(owner, name);
  return found.is_of_instance ? found.value : nullptr;
}

void WatchedName::set_own_value(WatchedPlace::Kind kind, PyObject* owner, PyObject* name,
                                PyObject* value) {
  auto set_in_dict = [&](PyObject* dict) {
    return value ? run_python<PyDict_SetItem>(dict, name, value)
                 : run_python<PyDict_DelItem>(dict, name);
  };
  int done = 0;
  if (kind == WatchedPlace::Kind::kCell) {
    done = run_python<PyCell_Set>(owner, value);
  } else if (kind == WatchedPlace::Kind::kDict) {
    done = set_in_dict(owner);
  } else if (kind == WatchedPlace::Kind::kObject && PyType_Check(owner)) {
    done = run_python<type_setattr>(owner, name, value);  // which knows that the class changes
  } else if (kind == WatchedPlace::Kind::kObject) {
    PyObject* of_type = _PyType_Lookup(Py_TYPE(owner), name);
    PyObject* slot = nullptr;
    if (of_type && slot_value(owner, of_type, slot)) {
      const Object owned = Object::borrow(of_type);
      done = take_gil([&] { return Py_TYPE(of_type)->tp_descr_set(of_type, owner, value); });
    } else if (PyObject* dict = dict_of(owner)) {
      done = set_in_dict(dict);
    }
  }
  if (done < 0) PyErr_Clear();
}

int WatchedPlace::traverse(visitproc visit, void* arg) const {
  Py_VISIT(owner_.get());
  for (const Item& item : items_) {
    Py_VISIT(item.name.get());
    Py_VISIT(item.label.get());
    if (const int stop = item.value.traverse(visit, arg)) return stop;
  }
  return 0;
}

int64_t WatchedPlace::bytes() const {
  int64_t total = engine::heap_bytes(items_);
  for (const Item& item : items_) total += item.value.bytes();
  return total;
}

}  // namespace graven::python
