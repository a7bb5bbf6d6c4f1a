#include "graven/python/watch.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <new>
#include <span>
#include <utility>

#include "graven/api/watched.h"
#include "graven/base/heap_bytes.h"
#include "graven/base/strings.h"
#include "graven/function/function.h"
#include "graven/function/trace_lock.h"
#include "graven/ir/frame.h"
#include "graven/python/bind.h"
#include "graven/python/equal_functions.h"
#include "graven/python/errors.h"
#include "graven/python/retracing.h"

namespace nb = nanobind;

namespace graven::python {

using engine::Ref;

// Made by graven._captures at the end of a trace: places in the order in which they were read. Once
// watches have a list it stays as it is, because other threads may go on while one looks at it
// (watched_places.h): watches are given another list instead.
// What a trace of C++ watches that ran within one of Python.
struct ForeignWatches {
  Ref<engine::Watches> watches;
  std::string accepted;  // the change that calls may run the trace with
  bool are_unchanged() const {
    if (watches->hold() && !watches->has_news()) return true;
    return !accepted.empty() && watches->change() == accepted;
  }
};

struct WatchListObject {
  PyObject_HEAD std::vector<WatchedPlace> places;
  size_t num_of_trace;                    // the places behind these were read by custom gradients
  std::vector<Ref<PythonWatches>> inner;  // of traces that ran within
  std::vector<ForeignWatches> foreign;    // of those of C++
};

// A list that the thread owns while it looks at it.
class WatchList {
 public:
  explicit WatchList(PyObject* list) : list_(Object::borrow(list)) {}
  explicit WatchList(Object list) : list_(std::move(list)) {}
  explicit operator bool() const { return static_cast<bool>(list_); }
  WatchListObject* operator->() const { return reinterpret_cast<WatchListObject*>(list_.get()); }
  const Object& object() const { return list_; }

 private:
  Object list_;
};

namespace {

constexpr int kRetracesToReport = 8;
// Retraces of one trace that come out equal, after which it does not watch any more what traces
// themselves change: m.training in a step that sets it.
constexpr int kEqualGraphs = 2;
// Changes of a value that have made equal graphs, and the share of the time that these traces have
// taken, after which it is not watched any more: a counter that decides a branch.
constexpr int kCostlyChanges = 100;
constexpr double kCostlyShare = 0.2;
// So many lists a trace has: the last, and those before that made equal graphs. A value that is
// back is found there.
constexpr Py_ssize_t kMaxLists = 4;

PyTypeObject* list_type = nullptr;
constinit thread_local WatchScope* t_scope = nullptr;

WatchListObject* self_of(PyObject* object) { return reinterpret_cast<WatchListObject*>(object); }

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  for (const WatchedPlace& place : self_of(object)->places) {
    if (const int stop = place.traverse(visit, arg)) return stop;
  }
  return 0;
}

int clear(PyObject* object) {
  auto places = std::exchange(self_of(object)->places, {});
  return 0;
}

void dealloc(PyObject* object) {
  PyObject_GC_UnTrack(object);
  clear(object);
  self_of(object)->places.~vector();
  self_of(object)->inner.~vector();
  self_of(object)->foreign.~vector();
  PyTypeObject* type = Py_TYPE(object);
  type->tp_free(object);
  Py_DECREF(type);
}

PyObject* make(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* object = type->tp_alloc(type, 0);
  if (!object) return nullptr;
  new (&self_of(object)->places) std::vector<WatchedPlace>();
  new (&self_of(object)->inner) std::vector<Ref<PythonWatches>>();
  new (&self_of(object)->foreign) std::vector<ForeignWatches>();
  return object;
}

// Empty, with no exception set, if memory is gone.
WatchList new_list() {
  WatchList made(Object::take(make(list_type, nullptr, nullptr)));
  if (!made) PyErr_Clear();
  return made;
}

// add(kind, owner, [(name, reads, (what, where)), ...], of_gradient): one place; those that custom
// gradients read come last.
PyObject* add(PyObject* object, PyObject* args) {
  int kind, of_gradient;
  PyObject *owner, *reads;
  if (!PyArg_ParseTuple(args, "iOO!p", &kind, &owner, &PyList_Type, &reads, &of_gradient)) {
    return nullptr;
  }
  const auto place_kind = static_cast<WatchedPlace::Kind>(kind);
  const bool fits = place_kind == WatchedPlace::Kind::kDict   ? PyDict_Check(owner)
                    : place_kind == WatchedPlace::Kind::kCell ? PyCell_Check(owner)
                    : place_kind == WatchedPlace::Kind::kFunction
                        ? PyFunction_Check(owner)
                        : place_kind == WatchedPlace::Kind::kObject;
  if (!fits) {
    PyErr_SetString(PyExc_TypeError, "the owner does not fit the kind of the place");
    return nullptr;
  }
  WatchedPlace place(place_kind, owner);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(reads); ++i) {
    PyObject *name, *how, *label;
    if (!PyArg_ParseTuple(PyList_GET_ITEM(reads, i), "OOO!", &name, &how, &PyTuple_Type, &label)) {
      return nullptr;
    }
    place.add(name, how, label);
  }
  self_of(object)->places.push_back(std::move(place));
  if (!of_gradient) self_of(object)->num_of_trace = self_of(object)->places.size();
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {{"add", add, METH_VARARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(make)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                       {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {Py_tp_methods, methods},
                       {0, nullptr}};
PyType_Spec spec = {"graven._engine.WatchList", sizeof(WatchListObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

// Calls `work` with the GIL, which hits have already.
template <typename Work>
auto with_gil(Work&& work) {
  if (has_gil()) return work();
  HoldGil gil;
  return work();
}

void append_renewed(std::span<const WatchedPlace> places, std::vector<WatchedPlace>& renewed) {
  for (const WatchedPlace& place : places) renewed.push_back(place.renewed());
}

bool is_unchanged(WatchListObject& list) {
  for (WatchedPlace& place : list.places) {
    if (!place.hold()) return false;
  }
  return std::ranges::all_of(list.inner, [](const auto& w) { return w->are_unchanged(); }) &&
         std::ranges::all_of(list.foreign, &ForeignWatches::are_unchanged);
}

std::string text_of_exception(const engine::Status& error, bool& is_ordinary) {
  raise(error);
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  is_ordinary = PyErr_GivenExceptionMatches(type, PyExc_Exception) && !is_trace_lock_error(type);
  Object owned[] = {Object::take(type), Object::take(value), Object::take(traceback)};
  return type ? engine::str_cat(reinterpret_cast<PyTypeObject*>(type)->tp_name, ": ",
                                error.message().substr(0, 300))
              : error.message();
}

// Once for each matter, if there is one.
void log(const std::string& text, const std::string& matter = "") {
  Object module = Object::take(run_python<PyImport_ImportModule>("graven._logging"));
  const char* name = matter.empty() ? "warn" : "warn_once";
  const char* format = matter.empty() ? "s" : "ss";
  Object done = module ? Object::take(run_python<PyObject_CallMethod>(module.get(), name, format,
                                                                      text.c_str(), matter.c_str()))
                       : Object();
  if (!done) PyErr_Clear();
}

}  // namespace

PythonWatches::PythonWatches(PyObject* lists, Stale stale) : held_(lists), stale_(stale) {}

Ref<PythonWatches> PythonWatches::create(PyObject* list, Stale stale) {
  Object lists = Object::take(PyTuple_Pack(1, list));
  if (!lists) PyErr_Clear();
  return lists ? engine::make_ref<PythonWatches>(lists.get(), stale) : nullptr;
}

WatchList PythonWatches::list() const {
  PyObject* lists = held_.get();
  return WatchList(lists ? PyTuple_GET_ITEM(lists, 0) : nullptr);
}

Object PythonWatches::put_in_front(const Object& list) {
  const Object lists = Object::borrow(held_.get());
  if (!lists) return {};
  std::vector<PyObject*> order = {list.get()};
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(lists.get()); ++i) {
    PyObject* other = PyTuple_GET_ITEM(lists.get(), i);
    if (other != list.get() && std::ssize(order) < kMaxLists) order.push_back(other);
  }
  Object made = Object::take(PyTuple_New(std::ssize(order)));
  if (!made) {
    PyErr_Clear();
    return {};
  }
  for (size_t i = 0; i < order.size(); ++i) {
    PyTuple_SET_ITEM(made.get(), static_cast<Py_ssize_t>(i), Object::borrow(order[i]).release());
  }
  return held_.exchange(std::move(made));
}

bool PythonWatches::are_unchanged() {
  const Object lists = Object::borrow(held_.get());
  if (!lists) return true;  // only garbage still holds the trace
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(lists.get()); ++i) {
    PyObject* list = PyTuple_GET_ITEM(lists.get(), i);
    if (!is_unchanged(*self_of(list))) continue;
    if (i > 0) put_in_front(Object::borrow(list));
    return true;
  }
  return false;
}

bool PythonWatches::hold() {
  return with_gil([&] {
    if (are_unchanged()) return true;
    if (stale_ != Stale::kRetrace) has_news_ = true;
    return stale_ != Stale::kRetrace;
  });
}

std::string PythonWatches::change() {
  return with_gil([&]() -> std::string {
    const WatchList list = this->list();
    if (!list) return "";
    for (WatchedPlace& place : list->places) {
      if (std::string text = place.change(); !text.empty()) return text;
    }
    for (const auto& inner : list->inner) {
      if (std::string text = inner->change(); !text.empty()) return text;
    }
    for (const auto& foreign : list->foreign) {
      std::string text = foreign.watches->change();
      if (!text.empty() && text != foreign.accepted) return text;
    }
    return "";
  });
}

std::vector<std::string> PythonWatches::watched_values() const {
  return with_gil([&] {
    std::vector<std::string> values;
    const WatchList list = this->list();
    if (!list) return values;
    for (const WatchedPlace& place : list->places) place.describe(values);
    for (const auto& inner : list->inner) {
      for (std::string& value : inner->watched_values()) values.push_back(std::move(value));
    }
    for (const auto& foreign : list->foreign) {
      const auto* watched = dynamic_cast<const engine::HasWatchedValues*>(foreign.watches.get());
      if (watched) std::ranges::move(watched->watched_values(), std::back_inserter(values));
    }
    return values;
  });
}

std::vector<std::pair<std::string, std::string>> PythonWatches::plain_values(bool now) const {
  return with_gil([&] {
    WatchedValue::Texts texts;
    append_plain(now, texts);
    std::ranges::stable_sort(texts, {}, &WatchedValue::Texts::value_type::first);
    const auto doubles = std::ranges::unique(texts);
    texts.erase(doubles.begin(), doubles.end());
    // Values of one name, in two modules, say.
    for (size_t i = 1, number = 1; i < texts.size(); ++i) {
      const bool is_same = texts[i].first == texts[i - number].first;
      number = is_same ? number + 1 : 1;
      if (is_same) texts[i].first += engine::str_cat(" (", number, ")");
    }
    return texts;
  });
}

void PythonWatches::append_plain(bool now, WatchedValue::Texts& texts) const {
  const WatchList list = this->list();
  if (!list) return;
  for (const WatchedPlace& place : list->places) place.append_plain(now, texts);
  for (const auto& inner : list->inner) inner->append_plain(now, texts);
  for (const auto& foreign : list->foreign) {
    const auto* watched = dynamic_cast<const engine::HasWatchedValues*>(foreign.watches.get());
    if (watched) std::ranges::move(watched->plain_values(now), std::back_inserter(texts));
  }
}

bool PythonWatches::gradients_hold() {
  return with_gil([&] {
    const WatchList list = this->list();
    if (!list) return true;
    for (size_t i = list->num_of_trace; i < list->places.size(); ++i) {
      if (!list->places[i].hold()) return false;
    }
    return std::ranges::all_of(list->inner, [](const auto& w) { return w->gradients_hold(); }) &&
           std::ranges::all_of(list->foreign,
                               [](const auto& w) { return w.watches->gradients_hold(); });
  });
}

std::unique_ptr<engine::Watches::Retracing> PythonWatches::begin_retrace() {
  return with_gil([&] {
    auto noted = std::make_unique<PythonRetracing>();
    note(*noted);
    return noted;
  });
}

void PythonWatches::note(PythonRetracing& noted) const {
  const WatchList list = this->list();
  if (!list) return;
  noted.note(list->places, list.object());
  for (const auto& inner : list->inner) inner->note(noted);
}

void PythonWatches::count(PythonWatches& fresh, double milliseconds) {
  fresh.num_retraces_ = num_retraces_ + 1;
  fresh.milliseconds_ = milliseconds_ + milliseconds;
  const std::string changed = fresh.num_retraces_ == kRetracesToReport ? change() : "";
  if (changed.empty()) return;
  fresh.report_ = engine::str_cat(
      changed,
      ". A trace has read this value, so each change of it costs a trace: ", kRetracesToReport,
      " so far, which took ", std::round(fresh.milliseconds_ * 10) / 10,
      " ms. If it changes often, pass it as an argument that is a tensor, or keep it in a "
      "tf.Variable; stale=\"ignore\" keeps the value of the first trace, as TensorFlow does. This "
      "is said once. See docs/captures.md");
  fresh.has_news_ = true;
  fresh.is_of_cost_ = true;
}

void PythonWatches::adopt(engine::Watches& fresh, Retracing* noted) {
  with_gil([&] {
    auto& other = static_cast<PythonWatches&>(fresh);
    const WatchList mine = list(), theirs = other.list();
    if (!mine || !theirs) return;
    const std::string changed = change();
    const auto& before = static_cast<const PythonRetracing&>(*noted);
    if (num_adopted_++ == 0) adopting_since_ = std::chrono::steady_clock::now();
    adopting_milliseconds_ += other.milliseconds_ - milliseconds_;
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - adopting_since_;
    const bool is_costly = adopting_milliseconds_ > kCostlyShare * elapsed.count();
    int num_changes = 0;  // of what is left out for its cost
    // What was not watched before is not now. Nor is, in the end, what had changed when the retrace
    // began and has changed again since (the trace itself has changed it), or what changes always.
    auto past = [&](WatchedPlace::Kind kind, PyObject* owner, PyObject* name, PyObject* now,
                    std::span<const Object> containers) -> WatchedPlace::Past {
      const WatchedName* was = before.find(kind, owner, name);
      if (!was) return {};
      WatchedPlace::Past past{was->is_left_out, was->num_changes + was->has_changed};
      if (!was->has_changed || past.is_left_out || keeps_watching_) return past;
      const bool is_of_trace =
          now != was->found.get() || std::ranges::any_of(containers, [&](const Object& container) {
            return before.has_changed(container.get());
          });
      past.is_left_out = is_of_trace && num_adopted_ >= kEqualGraphs;
      if (!past.is_left_out && is_costly && past.num_changes >= kCostlyChanges) {
        past.is_left_out = true;
        num_changes = past.num_changes;
      }
      return past;
    };
    for (WatchedPlace& place : theirs->places) place.follow(past);
    num_retraces_ = other.num_retraces_;
    milliseconds_ = other.milliseconds_;
    report_ = std::exchange(other.report_, {});
    is_of_cost_ = other.is_of_cost_;
    if (num_changes > 0) {
      report_ = engine::str_cat(
          changed, ". It has changed ", num_changes,
          " times, each change cost a trace, and the "
          "graph was the same each time: so it is not watched any more, and calls run this trace "
          "whatever it is. If it decides what the function does, pass it as an argument that is a "
          "tensor, or keep it in a tf.Variable. See docs/captures.md");
      is_of_cost_ = false;
    }
    if (!report_.empty()) has_news_ = true;
    const Object before_lists = put_in_front(theirs.object());
    if (before_lists) other.held_.exchange(before_lists);
  });
}

void PythonWatches::precede(engine::Watches& fresh, double milliseconds) {
  with_gil([&] { count(static_cast<PythonWatches&>(fresh), milliseconds); });
}

bool PythonWatches::revert(const engine::Status& error, Retracing* noted) {
  return with_gil([&] {
    const WatchList list = this->list();
    if (!list) return false;
    bool is_ordinary = false;
    const std::string text = text_of_exception(error, is_ordinary);
    static_cast<const PythonRetracing*>(noted)->put_back();
    if (!is_ordinary || keeps_watching_) return false;
    is_of_cost_ = false;
    report_ = engine::str_cat(change(), ". The trace that this asks for failed (", text,
                              "), so calls go on with the trace of the old value, as TensorFlow's "
                              "would, until a value changes again. See docs/captures.md");
    has_news_ = true;
    // What traces within watch is looked at here from now on: they themselves have changed.
    if (WatchList renewed = new_list()) {
      append_renewed_of_traces(renewed->places);
      renewed->num_of_trace = renewed->places.size();
      append_renewed_of_gradients(renewed->places);
      for (const ForeignWatches& foreign : list->foreign) {
        renewed->foreign.push_back({foreign.watches, foreign.watches->change()});
      }
      put_in_front(renewed.object());
    }
    return true;
  });
}

void PythonWatches::append_renewed_of_traces(std::vector<WatchedPlace>& renewed) const {
  const WatchList list = this->list();
  if (!list) return;
  append_renewed(std::span(list->places).first(list->num_of_trace), renewed);
  for (const auto& inner : list->inner) inner->append_renewed_of_traces(renewed);
}

void PythonWatches::append_renewed_of_gradients(std::vector<WatchedPlace>& renewed) const {
  const WatchList list = this->list();
  if (!list) return;
  append_renewed(std::span(list->places).subspan(list->num_of_trace), renewed);
  for (const auto& inner : list->inner) inner->append_renewed_of_gradients(renewed);
}

int64_t PythonWatches::bytes() const {
  return with_gil([&]() -> int64_t {
    int64_t total = engine::bytes_of_object<PythonWatches>() + engine::heap_bytes(report_);
    const Object lists = Object::borrow(held_.get());
    for (Py_ssize_t i = 0; lists && i < PyTuple_GET_SIZE(lists.get()); ++i) {
      const WatchListObject& list = *self_of(PyTuple_GET_ITEM(lists.get(), i));
      total += engine::bytes_of_object<WatchListObject>() + engine::heap_bytes(list.places) +
               engine::heap_bytes(list.inner) + engine::heap_bytes(list.foreign);
      for (const WatchedPlace& place : list.places) total += place.bytes();
    }
    return total;
  });
}

bool PythonWatches::tell(bool is_concrete, const std::string& name) {
  if (!is_concrete) has_news_ = false;
  if (!report_.empty()) {
    // A log may call anything.
    const std::string report = engine::str_cat(name, ": ", std::exchange(report_, {}));
    log(report, is_of_cost_ ? report.substr(0, report.find(", changed from ")) : "");
  }
  if (stale_ == Stale::kRetrace && !is_concrete) return true;
  if (is_concrete && has_told_ && stale_ != Stale::kError) return true;
  if (are_unchanged()) return true;
  const std::string text = engine::str_cat(
      name, ": ", change(), ", and the trace still has the old value. See docs/captures.md");
  if (stale_ == Stale::kError) {
    raise(
        engine::Status(engine::Code::kFailedPrecondition, text, engine::ErrorKind::kRuntimeError));
    return false;
  }
  has_told_ |= is_concrete;
  const WatchList list = this->list();
  if (WatchList renewed = list && !is_concrete ? new_list() : WatchList(nullptr)) {
    append_renewed(list->places, renewed->places);
    renewed->num_of_trace = list->num_of_trace;
    renewed->inner = list->inner;  // what traces within watch is theirs, and stays changed
    renewed->foreign = list->foreign;
    put_in_front(renewed.object());
  }
  if (std::exchange(told_, text) != text) log(text);
  return true;
}

WatchScope::WatchScope() : outer_(t_scope) { t_scope = this; }
WatchScope::~WatchScope() { t_scope = outer_; }
WatchScope* WatchScope::current() { return t_scope; }

void WatchScope::add(engine::Watches* inner) {
  const auto add_to = [](auto& list, auto ref) {
    if (std::ranges::find(list, ref) == list.end()) list.push_back(std::move(ref));
  };
  auto* mine = dynamic_cast<PythonWatches*>(inner);
  mine ? add_to(inner_, Ref(mine)) : add_to(foreign_, Ref(inner));
}

Ref<PythonWatches> WatchScope::finish(Stale stale) {
  if (stale == Stale::kIgnore) return nullptr;
  if (!list_ && inner_.empty() && foreign_.empty()) return nullptr;
  if (!list_) list_ = new_list().object();
  if (!list_) return nullptr;
  WatchListObject* list = self_of(list_.get());
  list->inner = std::move(inner_);
  for (auto& watches : foreign_) list->foreign.push_back({std::move(watches), ""});
  if (list->places.empty() && list->inner.empty() && list->foreign.empty()) return nullptr;
  Ref<PythonWatches> watches = PythonWatches::create(list_.get(), stale);
  if (watches && !equal_functions_.empty()) watches->keep_watching();
  return watches;
}

bool note_watches(const engine::Entry& entry, const std::string& name) {
  engine::Watches& watches = *entry.watches();
  if (watches.has_news()) {
    auto* mine = dynamic_cast<PythonWatches*>(&watches);
    if (mine && !mine->tell(/*is_concrete=*/false, name)) return false;
  }
  note_watches_of_part(watches);
  return true;
}

void note_watches_of_part(engine::Watches& watches) {
  if (!engine::Frame::current().is_graph()) return;
  if (WatchScope* scope = WatchScope::current()) scope->add(&watches);
  if (auto* scope = internal::WatchScope::current()) scope->add(watches);
}

bool note_concrete_call(const engine::Entry& entry) {
  auto* mine = dynamic_cast<PythonWatches*>(entry.watches());
  return !mine || mine->tell(/*is_concrete=*/true, entry.name());
}

void bind_watches(nb::module_& m) {
  list_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!list_type) throw nb::python_error();
  m.attr("WatchList") = nb::handle(reinterpret_cast<PyObject*>(list_type));
  m.def("set_watch_list", [](nb::object list) {
    if (t_scope) t_scope->set_list(Object::borrow(list.ptr()));
  });
  m.def("has_trace_lock", engine::has_trace_lock);
  m.def(
      "check_trace_lock",
      [](nb::object list) {
        const auto watches = PythonWatches::create(list.ptr(), Stale::kRetrace);
        if (!watches) return;
        const auto held = engine::TraceLockScope::check(watches->plain_values(/*now=*/true));
        if (!held.ok()) {
          raise(held);
          throw nb::python_error();
        }
      },
      "An error if the trace lock refuses the trace that begins, for what it will read.");
  m.def(
      "equal_functions",
      [] {
        if (!t_scope || t_scope->equal_functions().empty()) return nb::object(nb::none());
        nb::list functions;
        for (const Object& each : t_scope->equal_functions())
          functions.append(nb::handle(each.get()));
        PyObject* watched = t_scope->watched().get();
        return nb::object(nb::make_tuple(
            functions, watched ? nb::object(nb::borrow(watched)) : nb::object(nb::list())));
      },
      "The functions that find the trace that ends by their code and captures, and what it must "
      "watch for that, as a list of (kind, owner, name); None if there are none.");
  m.def(
      "refuse_equal_functions",
      [](const std::string& why) {
        if (t_scope && !t_scope->equal_functions().empty()) refuse_trace_for_equals(why);
      },
      "Says that the trace that goes on is for its functions alone, and why.");
  m.def("is_retracing", [] { return PythonRetracing::current() != nullptr; });
  m.def(
      "note_changed",
      [](nb::list names, nb::list containers) {
        PythonRetracing* current = PythonRetracing::current();
        if (current && !current->note_changed(names.ptr(), containers.ptr())) {
          throw nb::python_error();
        }
      },
      "Says what the code of a retrace changes, when that ends: names, as (kind, owner, name), and "
      "lists and dicts.");
  m.def(
      "raw_attribute",
      [](nb::handle object, nb::str name) {
        const RawAttribute found = raw_attribute(object.ptr(), name.ptr());
        nb::object value = found.value ? nb::borrow(found.value) : nb::none();
        return nb::make_tuple(value, found.value != nullptr, found.is_of_instance);
      },
      "An attribute without running code of the user's: its value, whether it is there, and "
      "whether "
      "it is the instance's own.");
  m.def("use_version_tags", WatchedPlace::use_tags);
  m.def("has_version_tags", WatchedPlace::has_tags);
}

}  // namespace graven::python
