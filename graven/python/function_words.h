#pragma once
#include <Python.h>

#include <cstdint>
#include <string>

#include "graven/base/inline_vector.h"
#include "graven/function/key.h"
#include "graven/python/object.h"

// Python functions and bound methods in words, by their code and what they have captured. No code
// of the program runs here. All of it under the GIL.
namespace graven::python {

inline PyFunctionObject* function_of(PyObject* object) {
  return reinterpret_cast<PyFunctionObject*>(object);
}
// The Python function that a function or method runs, borrowed; null if there is none.
PyObject* function_within(PyObject* callable);
// Its code, borrowed; null if there is none.
PyObject* code_of(PyObject* callable);
// True for a function that is its code, globals, defaults and captures and nothing else.
bool is_bare(PyObject* function);
// Writes plain data by type and value, if there is a writer. False for all else, and for numbers
// that are none (NaN), as two of them may be told apart.
bool add_plain(PyObject* value, engine::KeyWriter* key, int depth = 0);

// Writes the words of a function or bound method, and the structure that a proof is for: code, and
// the kinds of what is captured.
class FunctionWords {
 public:
  using Structure = engine::InlineVector<uint64_t, 24>;
  // `objects`, which may be null, gets what must live as long as the words are of use.
  FunctionWords(engine::KeyWriter& key, Structure& structure,
                engine::InlineVector<Object, 4>* objects)
      : key_(key), structure_(structure), objects_(objects) {}
  static bool takes(PyTypeObject* type) {
    return type == &PyFunction_Type || type == &PyMethod_Type;
  }
  // False if it is known by identity only, for a reason that why() tells; then the words are of no
  // use.
  bool add(PyObject* callable);
  const std::string& why() const { return why_; }

 private:
  bool add_function(PyObject* function, int depth);
  bool add_method(PyObject* method);
  bool add_captured(PyObject* value, int depth);
  bool add_object(PyObject* object);
  bool fail(std::string why);
  void note(PyObject* object) {
    if (objects_) objects_->push_back(Object::borrow(object));
  }
  engine::KeyWriter& key_;
  Structure& structure_;
  engine::InlineVector<Object, 4>* const objects_;
  std::string why_;
};

}  // namespace graven::python
