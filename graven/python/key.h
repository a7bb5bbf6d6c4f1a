#pragma once
#include <Python.h>

#include "graven/base/inline_vector.h"
#include "graven/function/key.h"
#include "graven/function/trace_type.h"
#include "graven/python/object.h"

namespace graven::python {

// Writes the arguments of a call as a row of words, straight from Python objects. What it cannot
// say in words (an object with a type of its own, a Mapping that is no dict, containers in each
// other without end) makes it give up; the call then goes the long way each time. It runs no Python
// code but where a class is seen for the first time or an array-like object is converted; that may
// change the containers, so what is read from them is kept alive.
class KeyBuilder {
 public:
  // equal_as_numbers: 1, 1.0 and True are one literal (TensorFlow's profile). has_specs: a
  // tf.TensorSpec stands for a tensor.
  explicit KeyBuilder(bool equal_as_numbers, bool has_specs = false)
      : key_(equal_as_numbers), has_specs_(has_specs) {}

  // False if the argument cannot be said in words; then the row is of no use.
  bool add(PyObject* argument);
  // The type of an input_signature in the place of an argument; false if there are no words for it.
  bool add_spec(const engine::TraceType& type);
  // What *args or **kwargs takes: so many follow.
  void begin(engine::KeyTag container, size_t size) { key_.begin(container, size); }
  // A text as the name of a keyword argument; false if UTF-8 cannot write it.
  bool add_text(PyObject* text);

  // False if code of the user's has run, which may have changed what was read before: the row is
  // right for the tensors here, but perhaps not for what the arguments are when read again.
  bool may_be_remembered() const { return !has_run_user_code_; }

  const engine::KeyWriter& key() const { return key_; }
  // Those whose addresses are in the row, in order.
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

  engine::KeyWriter key_;
  const bool has_specs_;
  int depth_ = 0;  // of containers in containers
  bool has_run_user_code_ = false;
  engine::InlineVector<Object, 4> objects_;
};

// Forgets what was found out about classes; for tests.
void clear_class_cache();

}  // namespace graven::python
