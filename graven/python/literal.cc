#include "graven/python/literal.h"

#include <complex>
#include <utility>

#include "graven/python/errors.h"
#include "graven/python/opaque.h"

namespace graven::python {

using engine::Literal;
using engine::make_ref;
using engine::Ref;
using engine::Result;

std::string utf8(PyObject* text, std::string_view otherwise) {
  Py_ssize_t size = 0;
  const char* data = text ? PyUnicode_AsUTF8AndSize(text, &size) : nullptr;
  if (!data) {
    PyErr_Clear();
    return std::string(otherwise);
  }
  return std::string(data, size);
}

bool known_literal(PyObject* object, Literal& literal) {
  if (object == Py_None) {
    literal = engine::None();
  } else if (PyBool_Check(object)) {
    literal = object == Py_True;
  } else if (PyLong_CheckExact(object)) {
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow) return false;
    literal = static_cast<int64_t>(number);
  } else if (PyFloat_CheckExact(object)) {
    literal = PyFloat_AS_DOUBLE(object);
  } else if (PyUnicode_Check(object)) {
    literal = utf8(object);
  } else if (PyBytes_CheckExact(object)) {
    literal = engine::Bytes{
        std::string(PyBytes_AS_STRING(object), static_cast<size_t>(PyBytes_GET_SIZE(object)))};
  } else if (PyComplex_CheckExact(object)) {
    Py_complex z = PyComplex_AsCComplex(object);
    literal = std::complex<double>(z.real, z.imag);
  } else {
    return false;
  }
  return true;
}

Result<Literal> to_literal(PyObject* object) {
  Literal literal;
  if (known_literal(object, literal)) return literal;
  if (run_python<PyObject_Hash>(object) == -1) return pending_exception();
  return Literal(Ref<engine::Opaque>(make_ref<StrongOpaque>(object)));
}

Object object_or_error(const engine::Opaque& opaque) {
  Object object = object_of(opaque);
  if (!object && !PyErr_Occurred()) {
    PyErr_SetString(PyExc_RuntimeError,
                    "An object that a trace needs is gone, because the tf.function that made the "
                    "trace is gone: keep that alive");
  }
  return object;
}

Object literal_to_python(const Literal& literal) {
  if (const auto* v = std::get_if<bool>(&literal)) return Object::borrow(*v ? Py_True : Py_False);
  if (const auto* v = std::get_if<int64_t>(&literal)) {
    return Object::take(PyLong_FromLongLong(*v));
  }
  if (const auto* v = std::get_if<double>(&literal)) return Object::take(PyFloat_FromDouble(*v));
  if (const auto* v = std::get_if<std::complex<double>>(&literal)) {
    return Object::take(PyComplex_FromDoubles(v->real(), v->imag()));
  }
  if (const auto* v = std::get_if<std::string>(&literal)) {
    return Object::take(PyUnicode_FromStringAndSize(v->data(), static_cast<Py_ssize_t>(v->size())));
  }
  if (const auto* v = std::get_if<engine::Bytes>(&literal)) {
    return Object::take(
        PyBytes_FromStringAndSize(v->data.data(), static_cast<Py_ssize_t>(v->data.size())));
  }
  if (const auto* v = std::get_if<Ref<engine::Opaque>>(&literal)) {
    Object object = object_or_error(**v);
    // The body sees a range as a list.
    if (object && PyRange_Check(object.get()))
      return Object::take(run_python<PySequence_List>(object.get()));
    return object;
  }
  return Object::borrow(Py_None);
}

}  // namespace graven::python
