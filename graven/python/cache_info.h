#pragma once
#include <Python.h>

#include "graven/function/cache_info.h"

namespace graven::python {

// (counts, traces, gone traces, text): tuples of numbers and texts, in the order of the fields of
// graven._function.CacheInfo, SignatureInfo and GoneInfo. Null with an exception set if it fails.
PyObject* to_python(const engine::CacheInfo& info);
// ((limit, bytes, captured bytes), Functions, (name, bytes) beside them, text), as
// graven.config.TraceCacheInfo has them.
PyObject* to_python(const engine::ProcessCacheInfo& info);

}  // namespace graven::python
