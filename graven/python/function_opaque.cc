#include "graven/python/function_opaque.h"

#include <algorithm>

#include "graven/base/strings.h"
#include "graven/python/errors.h"
#include "graven/python/function_words.h"
#include "graven/python/watched_value.h"

namespace graven::python {
namespace {

using engine::LifeGuard;
using engine::Ref;
using engine::Result;

constexpr size_t kMaxText = 120;

std::string qualified_name(PyObject* callable) {
  PyObject* function = function_within(callable);
  const char* text = function ? PyUnicode_AsUTF8(function_of(function)->func_qualname) : nullptr;
  if (!text) PyErr_Clear();
  return text ? text : "function";
}

// Names and short texts of what a function has captured.
std::vector<std::pair<std::string, std::string>> captured_by(PyObject* callable) {
  std::vector<std::pair<std::string, std::string>> found;
  if (PyMethod_Check(callable)) {
    found.emplace_back("`self`", watched_text(PyMethod_GET_SELF(callable)));
    return found;
  }
  const PyFunctionObject* function = function_of(callable);
  const Object names =
      Object::take(PyCode_GetFreevars(reinterpret_cast<PyCodeObject*>(function->func_code)));
  PyObject* cells = function->func_closure;
  for (Py_ssize_t i = 0; names && cells && i < PyTuple_GET_SIZE(cells); ++i) {
    const char* name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names.get(), i));
    found.emplace_back(engine::str_cat("captured `", name ? name : "?", "`"),
                       watched_text(PyCell_GET(PyTuple_GET_ITEM(cells, i))));
  }
  PyObject* defaults = function->func_defaults;
  for (Py_ssize_t i = 0; defaults && i < PyTuple_GET_SIZE(defaults); ++i) {
    found.emplace_back(engine::str_cat("default ", i), watched_text(PyTuple_GET_ITEM(defaults, i)));
  }
  PyErr_Clear();
  return found;
}

}  // namespace

Result<Ref<EqualFunctionOpaque>> EqualFunctionOpaque::create(PyObject* callable,
                                                             std::vector<uint64_t> words,
                                                             std::vector<uint64_t> structure,
                                                             std::vector<Ref<LifeGuard>> guards) {
  ASSIGN_OR_RETURN(Parts parts, WeakOpaque::parts_of(callable));
  parts.hash = reinterpret_cast<uintptr_t>(code_of(callable));
  Ref<EqualFunctionOpaque> made(
      new EqualFunctionOpaque(std::move(parts), std::move(words), std::move(structure)));
  made->guards_ = std::move(guards);
  made->class_name_ = full_class_name(callable);
  made->name_ = qualified_name(callable);
  made->captured_ = captured_by(callable);
  made->repr_ = engine::str_cat("Callable[", made->name_);
  for (const auto& [name, text] : made->captured_) {
    if (made->repr_.size() < kMaxText) made->repr_ += engine::str_cat(", ", name, ": ", text);
  }
  made->repr_ += "]";
  return made;
}

bool EqualFunctionOpaque::equals(const engine::Opaque& other) const {
  const auto* function = dynamic_cast<const EqualFunctionOpaque*>(&other);
  return function && is_alive() && function->is_alive() && words_ == function->words_;
}

bool EqualFunctionOpaque::is_alive() const {
  return std::ranges::all_of(guards_, [](const auto& guard) { return guard->is_alive(); });
}

std::optional<std::string> EqualFunctionOpaque::difference_from(const engine::Opaque& other) const {
  const auto* before = dynamic_cast<const EqualFunctionOpaque*>(&other);
  if (!before) return std::nullopt;
  if (words_ == before->words_) return "";
  if (hash() != before->hash() || captured_.size() != before->captured_.size()) {
    return engine::str_cat("another function: ", name_, ", was ", before->name_);
  }
  for (size_t i = 0; i < captured_.size(); ++i) {
    if (captured_[i].second == before->captured_[i].second) continue;
    return engine::str_cat("another function: its ", captured_[i].first, " is ",
                           captured_[i].second, ", was ", before->captured_[i].second);
  }
  return "another function: it has captured another object";
}

Result<Ref<RefusedFunctionOpaque>> RefusedFunctionOpaque::create(PyObject* callable,
                                                                 std::string why) {
  ASSIGN_OR_RETURN(Parts parts, WeakOpaque::parts_of(callable));
  return Ref<RefusedFunctionOpaque>(new RefusedFunctionOpaque(std::move(parts), std::move(why)));
}

std::optional<std::string> RefusedFunctionOpaque::difference_from(
    const engine::Opaque& other) const {
  if (equals(other)) return "";
  return engine::str_cat("another function, by identity as ", why_);
}

std::vector<Ref<EqualFunctionOpaque>> equal_functions_of(const engine::FunctionType& type) {
  std::vector<Ref<EqualFunctionOpaque>> found;
  for (const engine::Parameter& parameter : type.parameters) {
    if (!parameter.type || parameter.type->kind() != engine::TraceType::Kind::kObject) continue;
    const auto& object = static_cast<const engine::ObjectType&>(*parameter.type).object();
    auto* function = dynamic_cast<EqualFunctionOpaque*>(object.get());
    if (function) found.emplace_back(function);
  }
  return found;
}

}  // namespace graven::python
