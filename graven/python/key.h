#pragma once
#include <Python.h>

#include "graven/base/inline_vector.h"
#include "graven/function/key.h"
#include "graven/function/trace_type.h"
#include "graven/python/functions_in_row.h"
#include "graven/python/object.h"

namespace graven::python {

// Writes the arguments of a call as a row of words, straight from Python objects. It gives up on
// arguments that words cannot describe (an object with a type of its own, a Mapping that is no
// dict, containers in each other without end); then every such call looks for its entry by types.
// It runs Python code only when it first sees a class or converts an array-like object. That code
// may change the containers, so all objects read from them are kept alive.
class KeyBuilder {
 public:
  // equal_as_numbers: 1, 1.0 and True are one literal (TensorFlow's profile). has_specs: a
  // tf.TensorSpec stands for a tensor. functions: what gets the functions among the arguments;
  // null: they are known by identity.
  explicit KeyBuilder(bool equal_as_numbers, bool has_specs = false,
                      FunctionsInRow* functions = nullptr)
      : key_(equal_as_numbers), has_specs_(has_specs), functions_(functions) {}

  // False if words cannot describe the argument; then the row is of no use.
  bool add(PyObject* argument);
  // The type of an input_signature in the place of an argument; false if words cannot describe it.
  bool add_spec(const engine::TraceType& type);
  // Begins the values of *args or **kwargs: so many elements follow.
  void begin(engine::KeyTag container, size_t size) { key_.begin(container, size); }
  // A text as the name of a keyword argument; false if UTF-8 cannot write it.
  bool add_text(PyObject* text);

  // False if users' code has run, which may have changed objects that were read before: the row is
  // right for the tensors here, but perhaps not for the arguments when they are read again.
  bool may_be_remembered() const { return !has_run_user_code_; }

  const engine::KeyWriter& key() const { return key_; }
  // The objects whose addresses are in the row, in order.
  std::span<const Object> objects() const { return {objects_.data(), objects_.size()}; }

 private:
  void add_variable(PyObject* object);
  void add_address(PyObject* object);
  bool add_nested(PyObject* argument);
  bool add_list(PyObject* list);
  bool add_tuple(PyObject* tuple);
  bool add_items(PyObject* tuple);
  bool add_dict(PyObject* dict);
  bool add_attrs(PyObject* object);
  bool add_other(PyObject* object);
  // Notes an argument beside which functions are known by identity.
  void note_other(const char* what) {
    if (functions_) functions_->note_other(what);
  }

  engine::KeyWriter key_;
  const bool has_specs_;
  FunctionsInRow* const functions_;
  int depth_ = 0;  // of containers in containers
  bool has_run_user_code_ = false;
  engine::InlineVector<Object, 4> objects_;
};

}  // namespace graven::python
