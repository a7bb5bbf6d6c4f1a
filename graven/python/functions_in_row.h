#pragma once
#include <Python.h>

#include <span>
#include <string>

#include "graven/base/inline_vector.h"
#include "graven/function/key.h"
#include "graven/python/equal_functions.h"
#include "graven/python/function_words.h"
#include "graven/python/object.h"

namespace graven::python {

// The functions that are in the row of one call by their code and what they have captured. A proof
// is for functions in the places of whole parameters, beside arguments that cannot lead to what
// they have captured.
class FunctionsInRow {
 public:
  // known: what is known of functions as arguments. is_for_trace: the objects that are named by
  // address, and why functions are known by identity, are asked for.
  FunctionsInRow(const EqualFunctions& known, bool is_for_trace)
      : known_(known), is_for_trace_(is_for_trace) {}

  // What is added next is of this parameter; is_variadic: of *args or **kwargs.
  void set_parameter(size_t number, bool is_variadic) {
    parameter_ = number;
    is_variadic_ = is_variadic;
  }
  // Whether this argument, which is in no container, is put into the row by its code.
  bool takes(PyObject* argument) const;
  void add(PyObject* function, engine::KeyWriter& key, engine::InlineVector<Object, 4>& objects);
  // Notes an argument of a kind that a proof is not for.
  void note_other(const char* what);

  // A function, borrowed, and its words.
  struct Added {
    PyObject* object;
    size_t begin, end;
  };
  std::span<const Added> added() const { return {added_.data(), added_.size()}; }
  // What is to be proven.
  std::span<const uint64_t> structure() const { return {structure_.data(), structure_.size()}; }
  // False if a function, or an argument beside one, is not of a kind that a proof is for.
  bool may_be_equal() const { return !has_others_; }
  const std::string& why_not_equal() const { return why_not_equal_; }

 private:
  const EqualFunctions& known_;
  const bool is_for_trace_;
  bool is_variadic_ = false, has_others_ = false;
  uint64_t parameter_ = 0;
  engine::InlineVector<Added, 4> added_;
  FunctionWords::Structure structure_;
  std::string why_not_equal_;
};

}  // namespace graven::python
