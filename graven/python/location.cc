#include "graven/python/location.h"

#include <Python.h>
#include <frameobject.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graven/base/heap_bytes.h"
#include "graven/function/process_bytes.h"
#include "graven/python/literal.h"
#include "graven/python/object.h"

namespace graven::python {
namespace {

using engine::Location;
using engine::Ref;
using engine::SourceFrame;

// Frames kept of one node: the innermost of the user's code.
constexpr int kMaxFrames = 16;

// Whether a frame runs a module of the package graven, by the name that its globals say: files of
// users may lie anywhere, in folders called graven too. Code without a module is the user's.
bool is_ours(PyFrameObject* frame) {
  static PyObject* const key = PyUnicode_InternFromString("__name__");
  Object globals = Object::take(PyFrame_GetGlobals(frame));
  PyObject* name = PyDict_GetItemWithError(globals.get(), key);  // borrowed
  const char* text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
  if (!text) PyErr_Clear();
  const std::string_view module = text ? text : "", ours = "graven";
  return module.starts_with(ours) && (module.size() == ours.size() || module[ours.size()] == '.');
}

// Of all locations that live; the code objects that they hold are Python's.
std::atomic<int64_t> g_bytes{0};

class PythonLocation final : public Location {
 public:
  struct Place {
    PyCodeObject* code;  // owned
    int line;
  };
  explicit PythonLocation(std::vector<Place> places) : places_(std::move(places)) {
    g_bytes.fetch_add(bytes(), std::memory_order_relaxed);
  }
  ~PythonLocation() override {
    g_bytes.fetch_sub(bytes(), std::memory_order_relaxed);
    if (!Py_IsInitialized()) return;
    HoldGil gil;
    for (const Place& place : places_) Py_DECREF(place.code);
  }
  bool is_at(const std::vector<Place>& places) const {
    if (places.size() != places_.size()) return false;
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i].code != places_[i].code || places[i].line != places_[i].line) return false;
    }
    return true;
  }

  std::vector<SourceFrame> frames() const override {
    if (!Py_IsInitialized()) return {};  // asked by a program of C++ that has gone on
    HoldGil gil;
    std::vector<SourceFrame> frames;
    Object linecache = Object::take(run_python<PyImport_ImportModule>("linecache"));
    for (auto place = places_.rbegin(); place != places_.rend(); ++place) {
      SourceFrame frame;
      frame.file = utf8(place->code->co_filename, "?");
      frame.function = utf8(place->code->co_name, "?");
      frame.line = place->line;
      Object text =
          linecache ? Object::take(run_python<PyObject_CallMethod>(
                          linecache.get(), "getline", "Oi", place->code->co_filename, place->line))
                    : Object();
      frame.text = utf8(text.get());
      size_t start = frame.text.find_first_not_of(" \t");
      frame.text = start == std::string::npos ? "" : frame.text.substr(start);
      while (!frame.text.empty() && frame.text.back() == '\n') frame.text.pop_back();
      frames.push_back(std::move(frame));
    }
    PyErr_Clear();
    return frames;
  }

 private:
  int64_t bytes() const {
    return engine::bytes_of_object<PythonLocation>() + engine::heap_bytes(places_);
  }
  std::vector<Place> places_;  // innermost first
};

class PythonLocationSource final : public engine::LocationSource {
 public:
  Ref<Location> current() override {
    HoldGil gil;
    std::vector<PythonLocation::Place> places;
    Object frame =
        Object::take(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(PyThreadState_Get())));
    while (frame && places.size() < kMaxFrames) {
      auto* f = reinterpret_cast<PyFrameObject*>(frame.get());
      if (!is_ours(f)) places.push_back({PyFrame_GetCode(f), PyFrame_GetLineNumber(f)});
      frame = Object::take(reinterpret_cast<PyObject*>(PyFrame_GetBack(f)));
    }
    // Many nodes come from one line.
    static thread_local Ref<PythonLocation> last;
    if (last && last->is_at(places)) {
      for (const auto& place : places) Py_DECREF(place.code);
      return last;
    }
    last = engine::make_ref<PythonLocation>(std::move(places));
    return last;
  }
};

}  // namespace

engine::LocationSource& location_source() {
  static auto* const source = [] {
    engine::add_process_bytes("locations of Python",
                              [] { return g_bytes.load(std::memory_order_relaxed); });
    return new PythonLocationSource();
  }();
  return *source;
}

}  // namespace graven::python
