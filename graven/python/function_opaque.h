#pragma once
#include <Python.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graven/function/class_name.h"
#include "graven/function/index.h"
#include "graven/function/trace_type.h"
#include "graven/python/opaque.h"

// Functions as arguments, in the types of calls. All of it under the GIL.
namespace graven::python {

// A function that is an argument by its code and captures, held weakly.
class EqualFunctionOpaque final : public WeakOpaque, public engine::HasDifference {
 public:
  // `guards` are of all that `words` name by address.
  static engine::Result<engine::Ref<EqualFunctionOpaque>> create(
      PyObject* callable, std::vector<uint64_t> words, std::vector<uint64_t> structure,
      std::vector<engine::Ref<engine::LifeGuard>> guards);
  bool equals(const engine::Opaque& other) const override;
  bool is_alive() const override;
  std::string repr() const override { return repr_; }
  std::string class_name() const override { return class_name_; }
  std::optional<std::string> difference_from(const engine::Opaque& before) const override;
  const std::vector<uint64_t>& structure() const { return structure_; }

 private:
  EqualFunctionOpaque(Parts parts, std::vector<uint64_t> words, std::vector<uint64_t> structure)
      : WeakOpaque(std::move(parts)), words_(std::move(words)), structure_(std::move(structure)) {}
  const std::vector<uint64_t> words_, structure_;
  std::vector<engine::Ref<engine::LifeGuard>> guards_;
  std::string class_name_, repr_, name_;
  std::vector<std::pair<std::string, std::string>> captured_;  // names and texts
};

// One that is an argument by identity, and why.
class RefusedFunctionOpaque final : public WeakOpaque, public engine::HasDifference {
 public:
  static engine::Result<engine::Ref<RefusedFunctionOpaque>> create(PyObject* callable,
                                                                   std::string why);
  std::optional<std::string> difference_from(const engine::Opaque& before) const override;

 private:
  RefusedFunctionOpaque(Parts parts, std::string why)
      : WeakOpaque(std::move(parts)), why_(std::move(why)) {}
  const std::string why_;
};

// The functions among the arguments of a type that are known by code and captures.
std::vector<engine::Ref<EqualFunctionOpaque>> equal_functions_of(const engine::FunctionType& type);

}  // namespace graven::python
