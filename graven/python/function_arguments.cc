#include "graven/python/function_arguments.h"

#include <algorithm>

namespace graven::python {
namespace {

using engine::ParameterKind;

int find_parameter(const Signature& signature, PyObject* name) {
  const auto& parameters = signature.parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name.get() == name) return static_cast<int>(i);
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (PyUnicode_Compare(parameters[i].name.get(), name) == 0) return static_cast<int>(i);
  }
  return -1;
}

// True if a keyword of **kwargs needs no sanitising.
bool is_clean_name(PyObject* name) {
  Py_ssize_t n = PyUnicode_GET_LENGTH(name);
  for (Py_ssize_t i = 0; i < n; ++i) {
    Py_UCS4 c = PyUnicode_READ_CHAR(name, i);
    if (i == 0 ? !Py_UNICODE_ISALPHA(c) : !(Py_UNICODE_ISALNUM(c) || c == '_')) return false;
  }
  return n > 0;
}

}  // namespace

Bound bind(const Signature& signature, PyObject* const* args, Py_ssize_t nargs,
           PyObject* const* keyword_values, PyObject* keyword_names, bool allow_missing,
           Arguments& bound) {
  size_t n = signature.parameters.size();
  const Py_ssize_t num_keywords = keyword_names ? PyTuple_GET_SIZE(keyword_names) : 0;
  if (signature.is_positional && num_keywords == 0 && nargs == static_cast<Py_ssize_t>(n)) {
    for (size_t i = 0; i < n; ++i) bound.values.push_back(args[i]);
    return Bound::kYes;
  }
  for (size_t i = 0; i < n; ++i) bound.values.push_back(nullptr);
  Py_ssize_t next = 0;
  for (size_t i = 0; i < n && next < nargs; ++i) {
    ParameterKind kind = signature.parameters[i].kind;
    if (kind == ParameterKind::kPositionalOnly || kind == ParameterKind::kPositionalOrKeyword) {
      bound.values[i] = args[next++];
    }
  }
  if (next < nargs && signature.var_positional < 0) return Bound::kNo;
  for (; next < nargs; ++next) bound.extra.push_back(args[next]);
  for (Py_ssize_t k = 0; k < num_keywords; ++k) {
    PyObject* name = PyTuple_GET_ITEM(keyword_names, k);
    int at = find_parameter(signature, name);
    ParameterKind kind = at < 0 ? ParameterKind::kVarKeyword : signature.parameters[at].kind;
    if (kind == ParameterKind::kPositionalOrKeyword || kind == ParameterKind::kKeywordOnly) {
      if (bound.values[at]) return Bound::kNo;
      bound.values[at] = keyword_values[k];
      continue;
    }
    if (signature.var_keyword < 0) return Bound::kNo;
    if (!is_clean_name(name)) return Bound::kNeedsSanitizing;
    bound.keywords.push_back({name, keyword_values[k]});
  }
  std::sort(bound.keywords.begin(), bound.keywords.end(),
            [](const Arguments::Keyword& a, const Arguments::Keyword& b) {
              return PyUnicode_Compare(a.name, b.name) < 0;
            });
  for (size_t i = 0; i < n; ++i) {
    if (bound.values[i] || static_cast<int>(i) == signature.var_positional ||
        static_cast<int>(i) == signature.var_keyword) {
      continue;
    }
    bound.values[i] = signature.parameters[i].default_value.get();
    if (!bound.values[i] && !allow_missing) return Bound::kNo;
  }
  return Bound::kYes;
}

ArgumentRow::ArgumentRow(bool equal_as_numbers, bool has_specs, const EqualFunctions* equal,
                         bool is_for_trace)
    : functions_(equal ? std::make_optional<FunctionsInRow>(*equal, is_for_trace) : std::nullopt),
      key_(equal_as_numbers, has_specs, functions_ ? &*functions_ : nullptr) {}

bool ArgumentRow::write(const Signature& signature, const Arguments& bound) {
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    const bool is_positional = static_cast<int>(i) == signature.var_positional;
    const bool is_keyword = static_cast<int>(i) == signature.var_keyword;
    if (functions_) functions_->set_parameter(i, is_positional || is_keyword);
    if (is_positional) {
      key_.begin(engine::KeyTag::kArguments, bound.extra.size());
      for (PyObject* extra : bound.extra) {
        if (!key_.add(extra)) return false;
      }
    } else if (is_keyword) {
      key_.begin(engine::KeyTag::kKeywords, bound.keywords.size());
      for (const auto& keyword : bound.keywords) {
        if (!key_.add_text(keyword.name) || !key_.add(keyword.value)) return false;
      }
    } else if (PyObject* value = bound.values[i]) {
      if (!key_.add(value)) return false;
    } else if (!key_.add_spec(*signature.parameters[i].constraint)) {
      return false;
    }
  }
  return true;
}

}  // namespace graven::python
