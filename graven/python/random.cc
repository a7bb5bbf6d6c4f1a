#include <nanobind/nanobind.h>

#include "graven/ops/random_streams.h"
#include "graven/python/bind.h"

namespace graven::python {

void bind_random(nanobind::module_& m) {
  m.def("restart_random_streams", &engine::restart_random_streams,
        "Lets all sequences of stateful random ops start anew.");
}

}  // namespace graven::python
