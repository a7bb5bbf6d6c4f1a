#pragma once
#include <Python.h>
#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graven/ir/op.h"
#include "graven/python/object.h"
#include "graven/tensor/tensor.h"

namespace graven::python {

// A public function made from a record, of an op or of the library, as Python calls it. Lives as
// long as its Python object.
class Callable {
 public:
  // `public_name` is the name for users, "nn.relu" or "raw_ops.Relu"; messages say "relu". The
  // first `num_required` parameters must be given. The parameter at `variadic` takes the positional
  // arguments from there on; parameters behind it are given by name only.
  Callable(std::string public_name, std::vector<std::string> parameters, size_t num_required,
           std::optional<size_t> variadic = std::nullopt)
      : public_name_(std::move(public_name)),
        name_(public_name_.substr(public_name_.rfind('.') + 1)),
        parameters_(std::move(parameters)),
        num_required_(num_required),
        variadic_(variadic) {}
  virtual ~Callable() = default;
  Callable(const Callable&) = delete;

  const std::string& public_name() const { return public_name_; }
  const std::string& name() const { return name_; }
  std::span<const std::string> parameters() const { return parameters_; }
  size_t num_required() const { return num_required_; }
  std::optional<size_t> variadic() const { return variadic_; }

  // A new reference, or null with an exception. One argument for each parameter, null if it is not
  // given; a variadic one is a tuple.
  virtual PyObject* call(std::span<PyObject* const> arguments) const = 0;
  // The value of a parameter that is not required and not given.
  virtual Object default_of(size_t parameter) const = 0;
  // The texts of the record, for the docstring (graven._record_docs) and the stub (tools/stubs.py).
  virtual nanobind::dict record() const = 0;

 private:
  const std::string public_name_, name_;
  const std::vector<std::string> parameters_;
  const size_t num_required_;
  const std::optional<size_t> variadic_;
};

// The Python object of a callable, of the type graven._engine.PublicFunction. A new reference.
PyObject* wrap(std::unique_ptr<Callable> callable);

// --- Helpers shared by callables.

// A list of the tensors, which it moves from. Null with an exception.
Object list_of(std::span<engine::Tensor> tensors);
// What a function without results gives: the operation that the graph of the moment got last if it
// has more nodes than before and that one has no results, else None.
size_t count_nodes();
PyObject* operation_or_none(size_t nodes_before);
// A class of named tuples. Null with an exception.
Object named_tuple_class(const std::string& name, std::span<const std::string> fields);
// [(name, [dtype, ...]), ...]
nanobind::list types_to_python(std::span<const engine::TypeConstraint> types);

}  // namespace graven::python
