#pragma once
#include <Python.h>

#include <optional>
#include <span>
#include <string>

#include "graven/base/inline_vector.h"
#include "graven/python/function_object.h"
#include "graven/python/functions_in_row.h"
#include "graven/python/key.h"

// From the arguments of a call to its row of words, straight from Python objects.
namespace graven::python {

// The arguments of one call, bound to parameters. All borrowed.
struct Arguments {
  engine::InlineVector<PyObject*, 32> values;  // one a parameter; null for *args and **kwargs
  engine::InlineVector<PyObject*, 8> extra;    // the values of *args
  struct Keyword {
    PyObject *name, *value;
  };
  engine::InlineVector<Keyword, 8> keywords;  // the values of **kwargs, sorted by name
};

enum class Bound { kYes, kNo, kNeedsSanitizing };

// Binds as Python does. allow_missing: parameters without argument stay null instead of failing,
// for get_concrete_function with an input_signature.
Bound bind(const Signature& signature, PyObject* const* args, Py_ssize_t nargs,
           PyObject* const* keyword_values, PyObject* keyword_names, bool allow_missing,
           Arguments& bound);

// The row of a call's arguments.
class ArgumentRow {
 public:
  // has_specs: a tf.TensorSpec stands for a tensor. equal: what is known of functions as arguments;
  // null: they are known by identity. is_for_trace: as FunctionsInRow says.
  ArgumentRow(bool equal_as_numbers, bool has_specs, const EqualFunctions* equal,
              bool is_for_trace);
  ArgumentRow(const ArgumentRow&) = delete;
  ArgumentRow& operator=(const ArgumentRow&) = delete;

  // False if words cannot describe the arguments; then the row is of no use.
  bool write(const Signature& signature, const Arguments& bound);

  const KeyBuilder& key() const { return key_; }
  std::span<const uint64_t> words() const { return key_.key().row(); }
  // The functions that are in the row by their code. If there are such, the row is of use only if
  // may_be_equal() is true and the functions of this structure are proven.
  std::span<const FunctionsInRow::Added> functions() const {
    return functions_ ? functions_->added() : std::span<const FunctionsInRow::Added>();
  }
  std::span<const uint64_t> structure() const { return functions_->structure(); }
  bool may_be_equal() const { return functions_->may_be_equal() && key_.may_be_remembered(); }
  const std::string& why_not_equal() const { return functions_->why_not_equal(); }

 private:
  std::optional<FunctionsInRow> functions_;
  KeyBuilder key_;
};

}  // namespace graven::python
