#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include "graven/library/seeds.h"
#include "graven/python/bind.h"

namespace graven::python {

void bind_random(nanobind::module_& m) {
  m.def("seeds_of_op", &engine::seeds_of_op, nanobind::arg("op_seed").none(),
        "The two seeds of a stateful op with this seed of its own, or None; None: unforeseeable.");
}

}  // namespace graven::python
