#include "graven/python/watched_value.h"

#include <cstring>
#include <utility>

#include "graven/base/heap_bytes.h"
#include "graven/base/strings.h"
#include "graven/python/literal.h"

namespace graven::python {

// What was read of a container.
struct WatchedItems {
  // All of it: its length, and up to kMaxItems items in order; keys too, of a dict.
  bool all = false;
  bool has_length = false;
  Py_ssize_t length = 0;
  std::vector<Object> keys;         // one each, of a dict or where only some were read
  std::vector<Py_ssize_t> indices;  // the keys, where some items of a list or tuple were read
  std::vector<WatchedValue> values;
};

namespace {

constexpr Py_ssize_t kMaxItems = 64;
constexpr size_t kMaxText = 60;

bool is_plain(PyObject* value) {
  return value == Py_None || PyBool_Check(value) || PyLong_CheckExact(value) ||
         PyFloat_CheckExact(value) || PyUnicode_CheckExact(value) || PyBytes_CheckExact(value) ||
         PyComplex_CheckExact(value) || value == Py_Ellipsis;
}

bool is_deque(PyObject* value) {
  return std::strcmp(Py_TYPE(value)->tp_name, "collections.deque") == 0;
}

bool is_container(PyObject* value) {
  return PyList_Check(value) || PyDict_Check(value) || PyTuple_Check(value) ||
         PyAnySet_Check(value) || is_deque(value);
}

// Of plain values. NaN equals NaN, and 0.0 not -0.0: what a graph would hold is the same.
bool are_equal(PyObject* a, PyObject* b) {
  if (Py_TYPE(a) != Py_TYPE(b)) return false;
  if (PyFloat_CheckExact(a)) {
    const double x = PyFloat_AS_DOUBLE(a), y = PyFloat_AS_DOUBLE(b);
    return std::memcmp(&x, &y, sizeof x) == 0;
  }
  if (PyComplex_CheckExact(a)) {
    const Py_complex x = PyComplex_AsCComplex(a), y = PyComplex_AsCComplex(b);
    return std::memcmp(&x, &y, sizeof x) == 0;
  }
  if (!PyLong_CheckExact(a) && !PyUnicode_CheckExact(a) && !PyBytes_CheckExact(a)) return a == b;
  const int equal = PyObject_RichCompareBool(a, b, Py_EQ);
  if (equal < 0) PyErr_Clear();
  return equal > 0;
}

Py_ssize_t length_of(PyObject* container) {
  if (PyList_Check(container)) return PyList_GET_SIZE(container);
  if (PyTuple_Check(container)) return PyTuple_GET_SIZE(container);
  if (PyDict_Check(container)) return PyDict_GET_SIZE(container);
  if (PyAnySet_Check(container)) return PySet_GET_SIZE(container);
  return Py_TYPE(container)->tp_as_sequence->sq_length(container);
}

// Of a list or tuple; borrowed, null beyond its end.
PyObject* item_at(PyObject* container, Py_ssize_t index) {
  if (index < 0 || index >= length_of(container)) return nullptr;
  return PyList_Check(container) ? PyList_GET_ITEM(container, index)
                                 : PyTuple_GET_ITEM(container, index);
}

// Calls visit(key or null, value) with the first items, all borrowed. False if a visit was, or if
// the container changes meanwhile. The caller owns it.
template <typename Visit>
bool for_each_item(PyObject* container, Visit&& visit) {
  const Py_ssize_t n = std::min(length_of(container), kMaxItems);
  if (PyDict_Check(container)) {
    Py_ssize_t at = 0;
    PyObject *key, *value;
    for (Py_ssize_t i = 0; i < n && PyDict_Next(container, &at, &key, &value); ++i) {
      if (!visit(key, value)) return false;
    }
    return true;
  }
  if (!PyList_Check(container) && !PyTuple_Check(container)) {
    // A subclass of set may have its own. Making the iterator may collect garbage.
    auto* iterate = PyAnySet_Check(container) ? PySet_Type.tp_iter : Py_TYPE(container)->tp_iter;
    Object iterator = Object::take(take_gil([&] { return iterate(container); }));
    for (Py_ssize_t i = 0; iterator && i < n; ++i) {
      Object item = Object::take(run_python<PyIter_Next>(iterator.get()));
      if (!item) break;
      if (!visit(static_cast<PyObject*>(nullptr), item.get())) return false;
    }
    const bool is_whole = !PyErr_Occurred();
    PyErr_Clear();
    return is_whole;
  }
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* item = item_at(container, i);
    if (!item || !visit(static_cast<PyObject*>(nullptr), item)) return false;
  }
  return true;
}

// An item by index or plain key, borrowed; null if it is not there.
PyObject* item_of(PyObject* container, PyObject* key) {
  if (PyDict_Check(container)) {
    PyObject* found = run_python<PyDict_GetItemWithError>(container, key);
    if (!found) PyErr_Clear();
    return found;
  }
  if (PyAnySet_Check(container) || is_deque(container) || !PyLong_CheckExact(key)) return nullptr;
  Py_ssize_t index = PyLong_AsSsize_t(key);
  if (index == -1 && PyErr_Occurred()) PyErr_Clear();
  return item_at(container, index < 0 ? index + length_of(container) : index);
}

// The keys of a list or tuple as numbers; none if one is none.
std::vector<Py_ssize_t> indices_of(PyObject* container, const std::vector<Object>& keys) {
  std::vector<Py_ssize_t> indices;
  if (!PyList_Check(container) && !PyTuple_Check(container)) return indices;
  for (const Object& key : keys) {
    if (!PyLong_CheckExact(key.get())) return {};
    indices.push_back(PyLong_AsSsize_t(key.get()));
    if (indices.back() == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      return {};
    }
  }
  return indices;
}

// What a weak reference refers to, borrowed; None if it is gone.
PyObject* referent(PyObject* reference) {
#if PY_VERSION_HEX < 0x030d0000
  return PyWeakref_GET_OBJECT(reference);
#else
  return PyWeakref_GetObject(reference);
#endif
}

std::string key_text(PyObject* key) { return engine::str_cat("[", watched_text(key), "]"); }

}  // namespace

WatchedValue::WatchedValue() = default;
WatchedValue::WatchedValue(WatchedValue&&) noexcept = default;
WatchedValue& WatchedValue::operator=(WatchedValue&&) noexcept = default;
WatchedValue::~WatchedValue() = default;

bool is_same_key(PyObject* a, PyObject* b) {
  return a == b || (is_plain(a) && is_plain(b) && are_equal(a, b));
}

std::string watched_text(PyObject* value) {
  if (!value) return "nothing";
  if (is_plain(value)) {
    Object text = Object::take(PyObject_Repr(value));
    std::string repr = utf8(text.get(), "?");
    if (repr.size() > kMaxText) repr = repr.substr(0, kMaxText) + "...";
    return repr;
  }
  const std::string name = Py_TYPE(value)->tp_name;
  if (is_container(value)) return engine::str_cat("a ", name, " of ", length_of(value), " items");
  if (PyFunction_Check(value)) {
    return engine::str_cat("the function ",
                           utf8(reinterpret_cast<PyFunctionObject*>(value)->func_qualname, "?"));
  }
  if (PyType_Check(value)) {
    return engine::str_cat("the class ", reinterpret_cast<PyTypeObject*>(value)->tp_name);
  }
  return engine::str_cat("an object of ", name);
}

WatchedValue WatchedValue::of_leaf(PyObject* value) {
  WatchedValue watched;
  if (!value) return watched;
  watched.kind_ = is_plain(value) ? Kind::kPlain : Kind::kSame;
  if (watched.kind_ == Kind::kSame && PyType_SUPPORTS_WEAKREFS(Py_TYPE(value))) {
    watched.object_ = Object::take(PyWeakref_NewRef(value, nullptr));
    if (watched.object_) {
      watched.kind_ = Kind::kWeak;
      return watched;
    }
    PyErr_Clear();
  }
  watched.object_ = Object::borrow(value);
  return watched;
}

WatchedValue WatchedValue::of(PyObject* value, PyObject* reads) {
  const Object owned = Object::borrow(value);
  if (!value || !python::is_container(value)) return of_leaf(value);
  const RecursionLevel level(" while watching a container");
  if (!level.ok()) {
    PyErr_Clear();
    return of_leaf(value);
  }
  WatchedValue watched;
  watched.kind_ = Kind::kContainer;
  watched.object_ = Object::borrow(reinterpret_cast<PyObject*>(Py_TYPE(value)));
  watched.items_ = std::make_unique<WatchedItems>();
  WatchedItems& items = *watched.items_;
  items.length = length_of(value);
  if (!reads || reads == Py_None) {
    items.all = items.has_length = true;
    for_each_item(value, [&](PyObject* key, PyObject* item) {
      if (key) items.keys.push_back(Object::borrow(key));
      items.values.push_back(of(item, nullptr));
      return true;
    });
    return watched;
  }
  items.has_length = PyTuple_GET_ITEM(reads, 0) == Py_True;
  Py_ssize_t at = 0;
  PyObject *key, *inner;
  while (PyDict_Next(PyTuple_GET_ITEM(reads, 1), &at, &key, &inner)) {
    items.keys.push_back(Object::borrow(key));
    items.values.push_back(of(item_of(value, key), inner));
  }
  items.indices = indices_of(value, items.keys);
  return watched;
}

bool WatchedValue::is_otherwise(PyObject* now) {
  switch (kind_) {
    case Kind::kAbsent:
      return !now;
    case Kind::kPlain:
      if (!now || !are_equal(object_.get(), now)) return false;
      object_ = Object::borrow(now);
      return true;
    case Kind::kSame:
      return false;
    case Kind::kWeak:
      return now == referent(object_.get()) && now != Py_None;
    case Kind::kContainer:
      return now && reinterpret_cast<PyObject*>(Py_TYPE(now)) == object_.get() && are_items_of(now);
  }
  return false;
}

bool WatchedValue::are_items_of(PyObject* now) {
  const Object owned = Object::borrow(now);
  WatchedItems& items = *items_;
  if (items.has_length && length_of(now) != items.length) return false;
  const size_t n = items.values.size();
  if (!items.indices.empty()) {
    for (size_t i = 0; i < n; ++i) {
      const Py_ssize_t index = items.indices[i];
      if (!items.values[i].is(item_at(now, index < 0 ? index + length_of(now) : index))) {
        return false;
      }
    }
    return true;
  }
  size_t i = 0;
  if (!items.all) {
    for (; i < n; ++i) {
      if (!items.values[i].is(item_of(now, items.keys[i].get()))) return false;
    }
    return true;
  }
  return for_each_item(now, [&](PyObject* key, PyObject* item) {
    if (i >= n || (key && !is_same_key(items.keys[i].get(), key))) return false;
    return items.values[i++].is(item);
  });
}

std::string WatchedValue::text() const {
  switch (kind_) {
    case Kind::kAbsent:
      return "nothing";
    case Kind::kContainer:
      return engine::str_cat("a ", reinterpret_cast<PyTypeObject*>(object_.get())->tp_name, " of ",
                             items_->length, " items");
    case Kind::kWeak: {
      PyObject* object = referent(object_.get());
      return object == Py_None ? "an object that is gone" : watched_text(object);
    }
    default:
      return watched_text(object_.get());
  }
}

void WatchedValue::append_plain(const std::string& name, bool all, Texts& texts) const {
  if (kind_ != Kind::kContainer) {
    if (all || kind_ == Kind::kPlain) texts.emplace_back(name, text());
    return;
  }
  if (items_->has_length) texts.emplace_back(name, text());
  auto* type = reinterpret_cast<PyTypeObject*>(object_.get());
  // The order of a set is another one in each run.
  if (PyType_IsSubtype(type, &PySet_Type) || PyType_IsSubtype(type, &PyFrozenSet_Type)) return;
  for (size_t i = 0; i < items_->values.size(); ++i) {
    const std::string key =
        items_->keys.empty() ? engine::str_cat("[", i, "]") : key_text(items_->keys[i].get());
    items_->values[i].append_plain(name + key, all, texts);
  }
}

WatchedValue::Change WatchedValue::change(PyObject* now) const {
  const Object owned = Object::borrow(now);
  Change change{"", text(), watched_text(now)};
  if (kind_ == Kind::kWeak && change.before == change.after) {
    change.after.replace(0, change.after.find(' '), "another");
  }
  if (kind_ != Kind::kContainer || !now ||
      reinterpret_cast<PyObject*>(Py_TYPE(now)) != object_.get() ||
      (items_->has_length && length_of(now) != items_->length)) {
    return change;
  }
  auto within = [&](const std::string& key, size_t i, PyObject* item) {
    const Object owned_item = Object::borrow(item);
    // `is` remembers equal values, which makes no difference here.
    if (const_cast<WatchedValue&>(items_->values[i]).is(item)) return true;
    change = items_->values[i].change(item);
    change.path = key + change.path;
    return false;
  };
  size_t i = 0;
  if (!items_->all) {
    for (; i < items_->values.size(); ++i) {
      PyObject* key = items_->keys[i].get();
      if (!within(key_text(key), i, item_of(now, key))) return change;
    }
    return change;
  }
  for_each_item(now, [&](PyObject* key, PyObject* item) {
    if (i >= items_->values.size()) return false;
    if (key && !is_same_key(items_->keys[i].get(), key)) {
      change = {"", engine::str_cat("the key ", watched_text(items_->keys[i].get())),
                engine::str_cat("the key ", watched_text(key))};
      return false;
    }
    const bool is_set = PyAnySet_Check(now);
    const std::string path = is_set ? "" : key ? key_text(key) : engine::str_cat("[", i, "]");
    return within(path, i++, item);
  });
  return change;
}

void WatchedValue::append_containers(PyObject* now, std::vector<Object>& containers) const {
  if (!items_ || !now || reinterpret_cast<PyObject*>(Py_TYPE(now)) != object_.get()) return;
  if (!items_->has_length && items_->values.empty()) return;
  const Object owned = Object::borrow(now);
  containers.push_back(owned);
  size_t i = 0;
  if (!items_->all) {
    for (; i < items_->values.size(); ++i) {
      items_->values[i].append_containers(item_of(now, items_->keys[i].get()), containers);
    }
    return;
  }
  for_each_item(now, [&](PyObject*, PyObject* item) {
    if (i < items_->values.size()) items_->values[i++].append_containers(item, containers);
    return true;
  });
}

WatchedValue WatchedValue::renewed(PyObject* now) const {
  const Object owned = Object::borrow(now);
  if (kind_ != Kind::kContainer || items_->all || !now || !python::is_container(now)) {
    return of(now, nullptr);
  }
  WatchedValue watched;
  watched.kind_ = Kind::kContainer;
  watched.object_ = Object::borrow(reinterpret_cast<PyObject*>(Py_TYPE(now)));
  watched.items_ = std::make_unique<WatchedItems>();
  watched.items_->has_length = items_->has_length;
  watched.items_->length = length_of(now);
  watched.items_->keys = items_->keys;
  for (size_t i = 0; i < items_->values.size(); ++i) {
    watched.items_->values.push_back(
        items_->values[i].renewed(item_of(now, items_->keys[i].get())));
  }
  watched.items_->indices = indices_of(now, items_->keys);
  return watched;
}

int WatchedValue::traverse(visitproc visit, void* arg) const {
  Py_VISIT(object_.get());
  if (!items_) return 0;
  for (const Object& key : items_->keys) Py_VISIT(key.get());
  for (const WatchedValue& value : items_->values) {
    if (const int stop = value.traverse(visit, arg)) return stop;
  }
  return 0;
}

int64_t WatchedValue::bytes() const {
  if (!items_) return 0;
  int64_t total = engine::bytes_of_block(sizeof(WatchedItems)) + engine::heap_bytes(items_->keys) +
                  engine::heap_bytes(items_->indices) + engine::heap_bytes(items_->values);
  for (const WatchedValue& value : items_->values) total += value.bytes();
  return total;
}

}  // namespace graven::python
