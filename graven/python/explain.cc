#include "graven/function/explain.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdio>
#include <string>

#include "graven/function/logs.h"
#include "graven/function/trace_lock.h"
#include "graven/python/bind.h"
#include "graven/python/errors.h"
#include "graven/python/object.h"

namespace nb = nanobind;

namespace graven::python {
namespace {

// Texts may hold bytes of the user's that are no UTF-8, or be cut within a character.
nb::object text_of(const std::string& text) {
  PyObject* made =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (!made) throw nb::python_error();
  return nb::steal(made);
}

void raise_if_error(const engine::Status& status) {
  if (status.ok()) return;
  raise(status);
  throw nb::python_error();
}

// Lines go through Python's logging, where programs and notebooks look for them. An exception of
// the caller's may be pending, and is afterwards.
void log_in_python(engine::Topic topic, const std::string& line) {
  const std::string name(engine::kTopicNames[static_cast<size_t>(topic)]);
  if (!Py_IsInitialized()) {
    std::fprintf(stderr, "graven.%s: %s\n", name.c_str(), line.c_str());
    return;
  }
  HoldGil gil;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  static constinit Imported log("graven._logging", "log");
  Object text = Object::take(
      PyUnicode_DecodeUTF8(line.data(), static_cast<Py_ssize_t>(line.size()), "replace"));
  Object done = text && log.get() ? Object::take(run_python<PyObject_CallFunction>(
                                        log.get(), "sO", name.c_str(), text.get()))
                                  : Object();
  if (!done) run_python<PyErr_WriteUnraisable>(log.get());
  PyErr_Restore(type, value, traceback);
}

}  // namespace

void bind_explain(nb::module_& m) {
  using engine::Explanation;
  engine::set_log_sink(log_in_python);
  nb::class_<Explanation>(m, "Explanation", "What Functions have traced, and why.")
      .def("to_text", [](const Explanation& self) { return text_of(self.to_text()); })
      .def("to_json", [](const Explanation& self) { return text_of(self.to_json()); })
      .def("to_html", [](const Explanation& self) { return text_of(self.to_html()); })
      .def("write_html", [](const Explanation& self, const std::string& path) {
        raise_if_error(self.write_html(path));
      });
  m.def("explain_process", [] {
    ReleaseGil release;
    return engine::explain_process();
  });
  m.def("set_logs", [](const std::string& topics) { raise_if_error(engine::set_logs(topics)); });
  m.def("logs", [] { return engine::logs(); });
  m.def("begin_trace_lock", [](const std::string& path, bool is_locked) {
    raise_if_error(engine::begin_trace_lock(
        path, is_locked ? engine::TraceLockMode::kLocked : engine::TraceLockMode::kRecord));
  });
  m.def("end_trace_lock", [] { raise_if_error(engine::end_trace_lock()); });
}

}  // namespace graven::python
