#pragma once
#include <Python.h>

#include "graven/base/inline_vector.h"
#include "graven/function/table.h"
#include "graven/tensor/tensor.h"

namespace graven::python {

// Writes the arguments of a call as a row of words (engine::KeyWords) and gathers the tensors that
// are fed, straight from Python objects, running no Python code. What it cannot say in words (an
// object with a type of its own, a Mapping that is no dict) makes it give up; the call then goes
// the long way each time.
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

  std::span<const uint64_t> row() const { return {words_.data(), words_.size()}; }
  std::span<const engine::Tensor> tensors() const { return {tensors_.data(), tensors_.size()}; }
  std::span<PyObject* const> objects() const { return {objects_.data(), objects_.size()}; }

 private:
  void add_tensor(const engine::Tensor& tensor);
  void add_variable(PyObject* object);
  void add_number(double value);
  void add_text(uint64_t tag, PyObject* text);
  void add_bytes(uint64_t tag, const char* data, size_t size);
  bool add_items(uint64_t tag, PyObject* const* items, Py_ssize_t n);
  bool add_dict(PyObject* dict);
  bool add_other(PyObject* object);

  const bool equal_as_numbers_;
  engine::KeyWords words_;
  engine::InlineVector<engine::Tensor, 24> tensors_;
  engine::InlineVector<const engine::Resource*, 8> variables_;  // by alias number
  engine::InlineVector<PyObject*, 4> objects_;
};

// Forgets what was found out about classes; for tests.
void clear_class_cache();

}  // namespace graven::python
