#include "graven/python/equal_functions.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "graven/base/hash.h"
#include "graven/base/strings.h"
#include "graven/python/errors.h"
#include "graven/python/function_words.h"
#include "graven/python/opaque.h"
#include "graven/python/watched_places.h"

namespace graven::python {
namespace {

using engine::LifeGuard;
using engine::Ref;

constexpr size_t kMaxParts = 600;  // of a proof
constexpr size_t kFewProofs = 8;
constexpr size_t kMostProofs = 256;
constexpr size_t kMaxIdle = 16;    // traces of one code whose functions are gone
constexpr size_t kMaxChanges = 8;  // of what one function has captured or reads

thread_local std::string t_refusal;

uint64_t hash_of(std::span<const uint64_t> words) {
  uint64_t hash = words.size();
  for (uint64_t word : words) hash = engine::hash_combine(hash, word);
  return hash;
}

// Of what a function has captured now.
uint64_t hash_of_words(PyObject* callable) {
  engine::KeyWriter key(/*equal_as_numbers=*/false);
  FunctionWords::Structure structure;
  FunctionWords(key, structure, nullptr).add(callable);
  return hash_of(key.row());
}

// Where an element of a sorted vector is, or would be.
template <typename Vector, typename Key, typename Of>
auto place_of(Vector& sorted, const Key& key, Of of) {
  return std::ranges::lower_bound(sorted, key, {}, of);
}

// From time to time.
bool is_time_to_sweep(size_t size) { return size >= 64 && std::has_single_bit(size); }

// Changes whenever an attribute of the class or its bases does. 0 where it is not known.
unsigned version_of_class([[maybe_unused]] PyTypeObject* type) {
#if PY_VERSION_HEX < 0x030c0000
  return PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG) ? type->tp_version_tag : 0;
#else
  return 0;
#endif
}

}  // namespace

struct EqualFunctions::Proof {
  struct Place {
    WatchedPlace::Kind kind;
    PyObject* owner;     // alive while the guards are
    Object name;         // a text
    PyObject* expected;  // null for plain data of any value, and for nothing
    bool is_absent, is_fixed;
    Object kept;  // an expected object that cannot be weakly referenced

    PyObject* now() const {
      if (kind == WatchedPlace::Kind::kCell) return PyCell_GET(owner);
      if (kind == WatchedPlace::Kind::kObject) return raw_attribute(owner, name.get()).value;
      PyObject* found = run_python<PyDict_GetItemWithError>(owner, name.get());
      if (!found) PyErr_Clear();
      return found;
    }
    bool holds() const {
      PyObject* found = now();
      if (is_absent) return !found;
      return expected ? found == expected : found && add_plain(found, nullptr);
    }
  };
  struct Function {
    PyObject *function, *code;  // alive while the guards are
    Object defaults;            // plain data, or null
  };
  std::vector<uint64_t> structure;
  uint64_t hash = 0;  // of the structure; proofs are sorted by it
  std::vector<Place> fixed, watched;
  std::vector<Function> functions;
  std::vector<PyObject*> objects;  // alive while the guards are
  // Classes of data, whose operators the code uses, and their versions.
  std::vector<std::pair<PyTypeObject*, unsigned>> classes;
  std::vector<Ref<LifeGuard>> guards;

  bool add_guard(PyObject* object) {
    auto guard = guard_life(object);
    if (!guard.ok()) {
      PyErr_Clear();
      return false;
    }
    guards.push_back(std::move(*guard));
    return true;
  }
  bool is_alive() const {
    return std::ranges::all_of(
               classes,
               [](const auto& each) { return version_of_class(each.first) == each.second; }) &&
           std::ranges::all_of(guards, [](const auto& guard) { return guard->is_alive(); });
  }
  // Nothing that no trace watches has changed.
  bool holds() const {
    for (const Function& each : functions) {
      const PyFunctionObject* now = function_of(each.function);
      if (now->func_code != each.code || now->func_defaults != each.defaults.get() ||
          !is_bare(each.function)) {
        return false;
      }
    }
    for (PyObject* object : objects) {
      if (Py_TYPE(object)->tp_getattro != PyObject_GenericGetAttr) return false;
    }
    return std::ranges::all_of(fixed, &Place::holds);
  }
  bool read(PyObject* verdict);
  // Rests on all that another proof for this structure rests on, too: its traces may still be
  // there. False if that becomes too much.
  bool add(Proof& other) {
    if (functions.size() + fixed.size() + guards.size() > kMaxParts) return false;
    std::ranges::move(other.fixed, std::back_inserter(fixed));
    std::ranges::move(other.functions, std::back_inserter(functions));
    std::ranges::move(other.objects, std::back_inserter(objects));
    std::ranges::move(other.guards, std::back_inserter(guards));
    return true;
  }
};

// From the Verdict of graven._captures._closed. False, perhaps with an exception set, if it is not
// what it should be.
bool EqualFunctions::Proof::read(PyObject* verdict) {
  PyObject *all_places, *all_functions, *all_objects, *all_classes;
  if (!PyArg_ParseTuple(verdict, "O!O!O!O!", &PyList_Type, &all_places, &PyList_Type,
                        &all_functions, &PyList_Type, &all_objects, &PyList_Type, &all_classes)) {
    return false;
  }
  const Object shape = Object::take(PyUnicode_InternFromString("shape"));
  if (!shape) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(all_classes); ++i) {
    PyObject* item = PyList_GET_ITEM(all_classes, i);
    if (!PyType_Check(item)) return false;
    auto* type = reinterpret_cast<PyTypeObject*>(item);
    _PyType_Lookup(type, shape.get());  // which gives it a version
    classes.emplace_back(type, version_of_class(type));
  }
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(all_places); ++i) {
    int kind, is_fixed;
    PyObject *owner, *name, *keeper, *expected;
    if (!PyArg_ParseTuple(PyList_GET_ITEM(all_places, i), "iOUOOp", &kind, &owner, &name, &keeper,
                          &expected, &is_fixed)) {
      return false;
    }
    Place place{static_cast<WatchedPlace::Kind>(kind),
                owner,
                Object::borrow(name),
                nullptr,
                false,
                is_fixed != 0,
                {}};
    place.is_absent = PyTuple_CheckExact(expected);
    if (!place.is_absent && (expected != Py_None || is_fixed)) {
      place.expected = expected;
      if (!PyType_SUPPORTS_WEAKREFS(Py_TYPE(expected))) {
        place.kept = Object::borrow(expected);
        if (!add_plain(expected, nullptr)) return false;
      } else if (!add_guard(expected)) {
        return false;
      }
    }
    if (!add_guard(keeper)) return false;
    (is_fixed ? fixed : watched).push_back(std::move(place));
  }
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(all_functions); ++i) {
    PyObject *function, *code, *defaults;
    if (!PyArg_ParseTuple(PyList_GET_ITEM(all_functions, i), "O!O!O", &PyFunction_Type, &function,
                          &PyCode_Type, &code, &defaults)) {
      return false;
    }
    functions.push_back(
        {function, code, defaults == Py_None ? Object() : Object::borrow(defaults)});
    if (!add_guard(function) || !add_guard(code)) return false;
  }
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(all_objects); ++i) {
    objects.push_back(PyList_GET_ITEM(all_objects, i));
    if (!add_guard(objects.back())) return false;
  }
  return true;
}

// Sorted by the address of the code.
struct EqualFunctions::Refused {
  PyObject* code;
  Ref<LifeGuard> guard;
  std::string why;
};

// A trace that was made for a function.
struct EqualFunctions::Made {
  PyObject* code;   // its address only
  Object function;  // a weak reference
  uint64_t words;   // a hash of those of the function, then
  Ref<LifeGuard> guard;

  bool is_of(PyObject* object) const { return PyWeakref_GetObject(function.get()) == object; }
  // The trace has gone, or the call has found an equal one after all.
  bool is_lost() const { return guard->is_unique(); }
};

EqualFunctions::EqualFunctions() = default;
EqualFunctions::~EqualFunctions() = default;

const std::string* EqualFunctions::why_refused(PyObject* callable) const {
  PyObject* code = code_of(callable);
  const auto at = place_of(refused_, code, &Refused::code);
  const bool is_there = at != refused_.end() && at->code == code && at->guard->is_alive();
  return is_there ? &at->why : nullptr;
}

void EqualFunctions::refuse(PyObject* callable, const std::string& why) {
  PyObject* code = code_of(callable);
  if (!code || is_refused(callable)) return;
  auto guard = guard_life(code);
  if (!guard.ok()) {
    PyErr_Clear();
    return;
  }
  Refused refused{code, std::move(*guard), why};
  const auto at = place_of(refused_, code, &Refused::code);
  if (at != refused_.end() && at->code == code) {  // another code was there before
    *at = std::move(refused);
    return;
  }
  refused_.insert(at, std::move(refused));
  if (!is_time_to_sweep(refused_.size())) return;
  std::erase_if(refused_, [](const Refused& each) { return !each.guard->is_alive(); });
}

const EqualFunctions::Proof* EqualFunctions::find(std::span<const uint64_t> structure) const {
  if (proofs_.size() <= kFewProofs) {  // quicker than a hash
    const auto at = std::ranges::find_if(proofs_, [&](const auto& proof) {
      return std::ranges::equal(proof->structure, structure);
    });
    return at == proofs_.end() ? nullptr : at->get();
  }
  const uint64_t hash = hash_of(structure);
  const auto hash_in = [](const auto& proof) { return proof->hash; };
  for (auto at = place_of(proofs_, hash, hash_in); at != proofs_.end(); ++at) {
    if ((*at)->hash != hash) break;
    if (std::ranges::equal((*at)->structure, structure)) return at->get();
  }
  return nullptr;
}

bool EqualFunctions::are_proven(std::span<const uint64_t> structure) const {
  const Proof* proof = find(structure);
  return proof && proof->is_alive() && proof->holds();
}

bool EqualFunctions::may_be_traced(std::span<const uint64_t> structure) const {
  if (!are_proven(structure)) return false;
  return std::ranges::all_of(find(structure)->watched, &Proof::Place::holds);
}

std::optional<std::string> EqualFunctions::prove(PyObject* owner, PyObject* arguments,
                                                 std::span<const uint64_t> structure,
                                                 std::span<const Object> objects) {
  const std::vector<uint64_t> own(structure.begin(), structure.end());
  // Traces that were made for it may still be there.
  if (const Proof* before = find(own); before && !(before->is_alive() && before->holds())) {
    return "something that it calls has been replaced, or its code has";
  }
  static constinit Imported judge("graven._captures._closed", "judge");
  Object verdict = judge.get() ? Object::take(run_python<PyObject_CallFunctionObjArgs>(
                                     judge.get(), owner, arguments, nullptr))
                               : Object();
  if (verdict && PyUnicode_Check(verdict.get())) {
    const char* why = PyUnicode_AsUTF8(verdict.get());
    return why ? why : "its code could not be read";
  }
  auto proof = std::make_unique<Proof>();
  proof->structure = own;
  const bool is_read = verdict && PyTuple_Check(verdict.get()) && proof->read(verdict.get());
  if (!is_read || !std::ranges::all_of(objects, [&](const Object& object) {
        return proof->add_guard(object.get());
      })) {
    PyErr_Clear();
    return "not all that it reads can be weakly referenced";
  }
  if (proofs_.size() >= kMostProofs) return "there are too many kinds of functions";
  proof->hash = hash_of(own);
  for (auto at = proofs_.begin(); at != proofs_.end(); ++at) {
    if ((*at)->structure != own) continue;
    if (!proof->add(**at)) return "what it reads changes all the time";
    proofs_.erase(at);
    break;
  }
  const auto hash_in = [](const auto& other) { return other->hash; };
  proofs_.insert(place_of(proofs_, proof->hash, hash_in), std::move(proof));
  return std::nullopt;
}

Object EqualFunctions::watched(std::span<const uint64_t> structure) const {
  const Proof* proof = find(structure);
  if (!proof || !proof->is_alive()) return {};
  Object list = Object::take(PyList_New(0));
  for (const Proof::Place& place : proof->watched) {
    Object item = Object::take(
        Py_BuildValue("iOO", static_cast<int>(place.kind), place.owner, place.name.get()));
    if (!list || !item || PyList_Append(list.get(), item.get()) < 0) return {};
  }
  return list;
}

void EqualFunctions::add_trace(PyObject* callable, Ref<LifeGuard> guard) {
  PyObject* code = code_of(callable);
  Made made{code, Object::take(PyWeakref_NewRef(callable, nullptr)), hash_of_words(callable),
            std::move(guard)};
  if (!made.function) {
    PyErr_Clear();
    return;
  }
  std::erase_if(made_, [](const Made& each) { return each.is_of(Py_None) && each.is_lost(); });
  size_t num_changes = 0, num_idle = 0;
  uint64_t words = 0;
  for (const Made& each : made_) {
    num_idle += each.code == code && each.is_of(Py_None);
    if (!each.is_of(callable)) continue;
    num_changes += each.is_lost() || (words != 0 && each.words != words);
    words = each.words;
  }
  num_changes += words != 0 && made.words != words;
  // What ends may be the last owner of objects, whose end runs code that comes here.
  std::vector<Ref<LifeGuard>> ended;
  for (size_t i = 0; num_idle > kMaxIdle && i < made_.size();) {
    if (made_[i].code != code || !made_[i].is_of(Py_None)) {
      ++i;
      continue;
    }
    ended.push_back(std::move(made_[i].guard));
    made_.erase(made_.begin() + static_cast<std::ptrdiff_t>(i));
    --num_idle;
  }
  made_.push_back(std::move(made));
  if (num_changes >= kMaxChanges) {
    refuse(callable,
           engine::str_cat("what it has captured or reads has changed ", kMaxChanges, " times"));
  }
  for (const auto& each : ended) each->end();
}

void refuse_trace_for_equals(std::string why) { t_refusal = std::move(why); }

std::string take_refusal_for_equals() { return std::exchange(t_refusal, {}); }

void EqualFunctions::note_use(PyObject* callable, int64_t trace) {
  const auto at = used_.find(callable);
  if (at != used_.end() && PyWeakref_GetObject(at->second.function.get()) == callable) {
    at->second.trace = trace;
    return;
  }
  // Before a look at used_, as making it may run code that comes here.
  Object reference = Object::take(PyWeakref_NewRef(callable, nullptr));
  if (!reference) {
    PyErr_Clear();
    return;
  }
  used_.insert_or_assign(callable, Used{std::move(reference), trace});
  if (used_.size() < sweep_at_) return;
  std::erase_if(used_, [](const auto& each) {
    return PyWeakref_GetObject(each.second.function.get()) == Py_None;
  });
  sweep_at_ = std::max<size_t>(64, 2 * used_.size());
}

int64_t EqualFunctions::last_trace_of(PyObject* callable) const {
  const auto at = used_.find(callable);
  if (at == used_.end()) return 0;
  return PyWeakref_GetObject(at->second.function.get()) == callable ? at->second.trace : 0;
}

}  // namespace graven::python
