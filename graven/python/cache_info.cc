#include "graven/python/cache_info.h"

#include <string_view>

#include "graven/python/object.h"

namespace graven::python {
namespace {

// Texts may hold bytes of the user's that are no UTF-8, or be cut within a character.
PyObject* text_of(std::string_view text) {
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
}

// Takes the item; false if it is null or cannot be added.
bool append(const Object& list, PyObject* item) {
  Object owned = Object::take(item);
  return owned && PyList_Append(list.get(), owned.get()) == 0;
}

}  // namespace

PyObject* to_python(const engine::CacheInfo& info) {
  Object traces = Object::take(PyList_New(0)), gone = Object::take(PyList_New(0));
  if (!traces || !gone) return nullptr;
  for (const engine::TraceInfo& t : info.signatures) {
    PyObject* row = Py_BuildValue("(NLdLLdN)", text_of(t.signature), t.hits, t.trace_ms, t.bytes,
                                  t.captured_bytes, t.age_seconds, text_of(t.why_traced));
    if (!append(traces, row)) return nullptr;
  }
  for (const engine::GoneTrace& g : info.gone) {
    PyObject* row = Py_BuildValue("(NLdN)", text_of(g.signature), g.hits, g.time, text_of(g.why));
    if (!append(gone, row)) return nullptr;
  }
  return Py_BuildValue("((LLLLLLL)OON)", info.entries, info.traces, info.bytes, info.hits,
                       info.misses, info.evictions, info.captured_bytes, traces.get(), gone.get(),
                       text_of(info.to_text()));
}

PyObject* to_python(const engine::ProcessCacheInfo& info) {
  Object functions = Object::take(PyList_New(0)), beside = Object::take(PyList_New(0));
  if (!functions || !beside) return nullptr;
  for (const engine::ProcessCacheInfo::Function& f : info.functions) {
    PyObject* row = Py_BuildValue("(NLLLLLLL)", text_of(f.name), f.entries, f.traces, f.bytes,
                                  f.captured_bytes, f.hits, f.misses, f.evictions);
    if (!append(functions, row)) return nullptr;
  }
  for (const engine::NamedBytes& named : info.beside) {
    if (!append(beside, Py_BuildValue("(NL)", text_of(named.name), named.bytes))) return nullptr;
  }
  return Py_BuildValue("((LLL)OON)", info.limit, info.bytes, info.captured_bytes, functions.get(),
                       beside.get(), text_of(info.to_text()));
}

}  // namespace graven::python
