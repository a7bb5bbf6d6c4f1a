#pragma once
#include <Python.h>

#include "graven/base/inline_vector.h"
#include "graven/function/table.h"
#include "graven/python/object.h"
#include "graven/tensor/tensor.h"

namespace graven::python {

// Writes the arguments of a call as a row of words (engine::KeyWords) and gathers the tensors that
// are fed, straight from Python objects. What it cannot say in words (an object with a type of its
// own, a Mapping that is no dict, containers in each other without end) makes it give up; the call
// then goes the long way each time. It runs no Python code but where a class is seen for the first
// time or an array-like object is converted; that may change the containers, so what is read from
// them is kept alive.
//
// Objects that are compared by identity or == go in by address. A row with addresses may be
// remembered only with a guard for each of objects().
class KeyBuilder {
 public:
  // equal_as_numbers: 1, 1.0 and True are one literal (TensorFlow's profile).
  explicit KeyBuilder(bool equal_as_numbers) : equal_as_numbers_(equal_as_numbers) {}

  // False if the argument cannot be said in words; then the row is of no use.
  bool add(PyObject* argument);
  void add_word(uint64_t word) { words_.push_back(word); }
  // A name of a keyword argument.
  void add_name(PyObject* name) { add_text(4, name); }

  // False if code of the user's has run, which may have changed what was read before: the row is
  // right for the tensors here, but perhaps not for what the arguments are now.
  bool may_be_remembered() const { return !has_run_user_code_; }

  std::span<const uint64_t> row() const { return {words_.data(), words_.size()}; }
  std::span<const engine::Tensor> tensors() const { return {tensors_.data(), tensors_.size()}; }
  std::span<const Object> objects() const { return {objects_.data(), objects_.size()}; }

 private:
  void add_tensor(const engine::Tensor& tensor);
  void add_variable(PyObject* object);
  void add_number(double value);
  void add_text(uint64_t tag, PyObject* text);
  void add_bytes(uint64_t tag, const char* data, size_t size);
  void add_object(PyObject* object);
  bool add_nested(PyObject* argument);
  bool add_list(PyObject* list);
  bool add_tuple(PyObject* tuple);
  bool add_dict(PyObject* dict);
  bool add_other(PyObject* object);

  const bool equal_as_numbers_;
  int depth_ = 0;  // of containers in containers
  bool has_run_user_code_ = false;
  engine::KeyWords words_;
  engine::InlineVector<engine::Tensor, 24> tensors_;
  engine::InlineVector<const engine::Resource*, 8> variables_;  // by alias number
  engine::InlineVector<Object, 4> objects_;
};

// Forgets what was found out about classes; for tests.
void clear_class_cache();

}  // namespace graven::python
