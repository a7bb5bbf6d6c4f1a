#include "graven/python/argument_kinds.h"

#include <utility>

#include "graven/ir/structural_ops.h"
#include "graven/python/apply.h"
#include "graven/python/convert.h"
#include "graven/python/errors.h"
#include "graven/python/numpy.h"
#include "graven/python/object.h"
#include "graven/python/tensor_object.h"
#include "graven/python/variable_object.h"

namespace graven::python {
namespace {

using engine::Result;
using engine::Status;
using engine::type_error;
using engine::value_error;

// True for an index of Python's with 64 bits; false for an array or tensor of several elements.
bool is_number(PyObject* object) {
  if (PyLong_Check(object)) {
    int overflow = 0;
    (void)PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow == 0;
  }
  if (is_tensor(object)) {
    const engine::Tensor& tensor = tensor_of(object);
    return !tensor.is_symbolic() && engine::is_integer(tensor.dtype()) && tensor.rank() == 0;
  }
  if (!PyIndex_Check(object) || (variable_base_type && is_variable(object))) return false;
  Object number = Object::take(run_python<PyNumber_Index>(object));
  if (!number) PyErr_Clear();  // an array of several elements
  return static_cast<bool>(number);
}

bool is_list(PyObject* object) {
  if (PyList_Check(object) || PyTuple_Check(object)) return true;
  static constinit Imported range("builtins", "range");
  return range.get() && PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(range.get()));
}

Result<bool> is_tensor_shape(PyObject* object) {
  static constinit Imported klass("graven._tensor_shape", "TensorShape");
  if (!klass.get()) return pending_exception();
  return PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(klass.get())) != 0;
}

bool has_tensor(PyObject* list) {
  if (!PyList_Check(list) && !PyTuple_Check(list)) return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); ++i) {
    if (is_tensor(PySequence_Fast_GET_ITEM(list, i))) return true;
  }
  return false;
}

template <typename Numbers>
Status append_numbers(PyObject* list, Numbers& numbers) {
  Object items = items_of(list, "a list of integers");
  if (!items) return pending_exception();
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i) {
    ASSIGN_OR_RETURN(const int64_t number, to_integer(PyTuple_GET_ITEM(items.get(), i)));
    numbers.push_back(number);
  }
  return {};
}

}  // namespace

std::string text_of(PyObject* object) {
  Object text = Object::take(run_python<PyObject_Repr>(object));
  const char* utf8 = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  if (!utf8) PyErr_Clear();
  return utf8 ? utf8 : "<?>";
}

Result<int64_t> to_integer(PyObject* object) {
  if (PyBool_Check(object) || !PyIndex_Check(object)) {
    return type_error("Expected int, not ", text_of(object));
  }
  Object number = Object::take(run_python<PyNumber_Index>(object));
  const int64_t value = number ? PyLong_AsLongLong(number.get()) : -1;
  if (value == -1 && PyErr_Occurred()) return pending_exception();
  return value;
}

Result<double> to_double(PyObject* object) {
  const double value = run_python<PyFloat_AsDouble>(object);
  if (value == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    return type_error("Expected float, not ", text_of(object));
  }
  return value;
}

Result<std::string> to_text(PyObject* object) {
  if (PyBytes_Check(object)) {
    return std::string(PyBytes_AS_STRING(object), static_cast<size_t>(PyBytes_GET_SIZE(object)));
  }
  Py_ssize_t size = 0;
  const char* data = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &size) : nullptr;
  if (data) return std::string(data, static_cast<size_t>(size));
  PyErr_Clear();
  return type_error("Expected string, not ", text_of(object));
}

Result<bool> to_truth(PyObject* object) {
  const int truth = run_python<PyObject_IsTrue>(object);
  if (truth < 0) return pending_exception();
  return truth == 1;
}

Result<engine::Integers> to_integers(PyObject* object, std::string_view name) {
  engine::Integers integers;
  if (object == Py_None) return integers;
  const bool is_bare_tensor = is_tensor(object);
  if (!is_bare_tensor && is_number(object)) {
    ASSIGN_OR_RETURN(const int64_t number, PyBool_Check(object)
                                               ? Result<int64_t>(int64_t{object == Py_True})
                                               : to_integer(object));
    integers.numbers = {number};
    integers.is_scalar = true;
    return integers;
  }
  if (!is_bare_tensor && is_list(object)) {
    Object items = items_of(object, "a list");
    if (!items) return pending_exception();
    bool are_numbers = true;
    for (Py_ssize_t i = 0; are_numbers && i < PyTuple_GET_SIZE(items.get()); ++i) {
      are_numbers = !PyBool_Check(PyTuple_GET_ITEM(items.get(), i)) &&
                    is_number(PyTuple_GET_ITEM(items.get(), i));
    }
    if (are_numbers) {
      integers.numbers.emplace();
      RETURN_IF_ERROR(append_numbers(items.get(), *integers.numbers));
      return integers;
    }
  }
  ASSIGN_OR_RETURN(const bool is_shape, is_tensor_shape(object));
  if (is_shape) {
    ASSIGN_OR_RETURN(const engine::Shape shape, to_shape(object));
    if (!shape.checked_num_elements()) {
      return value_error("'", name, "' needs a fully known shape, not ", shape.to_text(),
                         ": tf.shape(x) gives the sizes when the function runs");
    }
    integers.numbers.emplace();
    for (int i = 0; i < shape.rank(); ++i) integers.numbers->push_back(shape.size(i));
    return integers;
  }
  if (is_bare_tensor) {
    integers.tensor = operand_of(object);
    return integers;
  }
  ASSIGN_OR_RETURN(integers.tensor, to_tensor(object, std::nullopt, name));
  const engine::DType dtype = integers.tensor.dtype();
  const bool is_narrow = engine::is_integer(dtype) && dtype_size(dtype) < 4 && is_numpy(object);
  if (is_narrow || (is_floating(dtype) && (is_numpy(object) || has_tensor(object)))) {
    // As TensorFlow has it for arrays and tensors in lists, but not for numbers.
    ASSIGN_OR_RETURN(integers.tensor,
                     apply_op(engine::kCast, {integers.tensor}, {.DstT = engine::DType::kInt32}));
  }
  return integers;
}

Result<engine::Integers> to_open_sizes(PyObject* object, std::string_view name) {
  if (!PyList_Check(object) && !PyTuple_Check(object)) return to_integers(object, name);
  Object closed = Object::take(PySequence_List(object));
  Object open = Object::take(PyLong_FromLong(-1));
  if (!closed || !open) return pending_exception();
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(closed.get()); ++i) {
    if (PyList_GET_ITEM(closed.get(), i) != Py_None) continue;
    if (PyList_SetItem(closed.get(), i, Py_NewRef(open.get())) < 0) return pending_exception();
  }
  return to_integers(closed.get(), name);
}

Result<engine::AxisPairs> to_axis_pairs(PyObject* object, std::string_view name) {
  engine::AxisPairs pairs;
  if (!is_tensor(object) && is_number(object)) {
    ASSIGN_OR_RETURN(pairs.count, to_integer(object));
    return pairs;
  }
  if (!is_list(object)) {
    ASSIGN_OR_RETURN(pairs.tensor, to_tensor(object, std::nullopt, name));
    return pairs;
  }
  Object items = items_of(object, "a list");
  if (!items) return pending_exception();
  if (PyTuple_GET_SIZE(items.get()) != 2) {
    return value_error("`axes` must be an integer or have length 2. Received ", text_of(object),
                       ".");
  }
  std::vector<int64_t>* const axes[] = {&pairs.first, &pairs.second};
  for (Py_ssize_t i = 0; i < 2; ++i) {
    PyObject* item = PyTuple_GET_ITEM(items.get(), i);
    if (is_number(item)) {
      ASSIGN_OR_RETURN(const int64_t axis, to_integer(item));
      axes[i]->push_back(axis);
    } else {
      RETURN_IF_ERROR(append_numbers(item, *axes[i]));
    }
  }
  if (pairs.first.size() != pairs.second.size()) {
    return value_error("Different number of contraction axes `a` and `b`, ", pairs.first.size(),
                       " != ", pairs.second.size(), ".");
  }
  return pairs;
}

Result<engine::Number> to_number(PyObject* object, std::string_view name) {
  engine::Number number;
  const bool is_value = is_tensor(object) || (variable_base_type && is_variable(object));
  const PyNumberMethods* methods = Py_TYPE(object)->tp_as_number;
  const bool is_array = is_numpy(object) && PySequence_Check(object);
  if (!is_value && !is_array && methods && methods->nb_float) {
    ASSIGN_OR_RETURN(number.number, to_double(object));
    return number;
  }
  number.is_list = is_list(object);
  ASSIGN_OR_RETURN(number.tensor, to_tensor(object, std::nullopt, name));
  return number;
}

Result<engine::NumberOrText> to_number_or_text(PyObject* object) {
  if (PyUnicode_Check(object) || PyBytes_Check(object)) {
    ASSIGN_OR_RETURN(std::string text, to_text(object));
    return engine::NumberOrText(std::move(text));
  }
  ASSIGN_OR_RETURN(const double number, to_double(object));
  return engine::NumberOrText(number);
}

Result<engine::Window> to_window(PyObject* object) {
  engine::Window window;
  if (object == Py_None) return window;
  if (is_number(object)) {
    ASSIGN_OR_RETURN(const int64_t number, to_integer(object));
    window.sizes = {number};
    return window;
  }
  RETURN_IF_ERROR(append_numbers(object, window.sizes));
  if (window.sizes.empty()) return value_error("must hold a number for each axis, not []");
  return window;
}

Result<engine::Padding> to_padding(PyObject* object) {
  engine::Padding padding;
  if (PyUnicode_Check(object) || PyBytes_Check(object)) {
    ASSIGN_OR_RETURN(padding.kind, to_text(object));
    return padding;
  }
  padding.kind = "EXPLICIT";
  Object pairs = items_of(object, "\"SAME\", \"VALID\" or a list of pairs");
  if (!pairs) return pending_exception();
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(pairs.get()); ++i) {
    const size_t before = padding.sizes.size();
    RETURN_IF_ERROR(append_numbers(PyTuple_GET_ITEM(pairs.get(), i), padding.sizes));
    if (padding.sizes.size() != before + 2) {
      return value_error("padding must hold [before, after] for each axis, not ",
                         text_of(PyTuple_GET_ITEM(pairs.get(), i)));
    }
  }
  return padding;
}

}  // namespace graven::python
