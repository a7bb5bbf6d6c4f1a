#include "graven/python/pure_arguments.h"

#include <utility>

#include "graven/python/convert.h"
#include "graven/python/errors.h"
#include "graven/python/tensor_object.h"
#include "graven/python/trace_types.h"
#include "graven/python/variable_object.h"

namespace graven::python {

bool PureArguments::convert(PyObject* const* args, Py_ssize_t n) {
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* argument = args[i];
    if (!is_tensor(argument) && !trace_type_of_object(argument)) {
      auto tensor =
          is_variable(argument) ? read_variable(variable_of(argument)) : to_tensor(argument);
      if (!tensor.ok()) {
        raise(tensor.status().as_kind(engine::ErrorKind::kValueError));
        return false;
      }
      owned_.push_back(Object::take(wrap(std::move(*tensor))));
      argument = owned_.back().get();
      if (!argument) return false;
    }
    arguments_.push_back(argument);
  }
  return true;
}

}  // namespace graven::python
