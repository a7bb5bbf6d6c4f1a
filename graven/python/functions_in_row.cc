#include "graven/python/functions_in_row.h"

#include "graven/base/strings.h"
#include "graven/ir/frame.h"

namespace graven::python {

bool FunctionsInRow::takes(PyObject* argument) const {
  return FunctionWords::takes(Py_TYPE(argument)) && !is_variadic_ && !known_.is_refused(argument) &&
         !engine::Frame::inside_function();
}

void FunctionsInRow::add(PyObject* function, engine::KeyWriter& key,
                         engine::InlineVector<Object, 4>& objects) {
  const size_t begin = key.row().size();
  structure_.push_back(parameter_);
  FunctionWords words(key, structure_, is_for_trace_ ? &objects : nullptr);
  if (!words.add(function)) {
    has_others_ = true;
    why_not_equal_ = words.why();
  }
  added_.push_back({function, begin, key.row().size()});
}

void FunctionsInRow::note_other(const char* what) {
  if (has_others_) return;
  has_others_ = true;
  if (is_for_trace_) why_not_equal_ = engine::str_cat("another argument is ", what);
}

}  // namespace graven::python
