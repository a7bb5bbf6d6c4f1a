#include <nanobind/nanobind.h>

#include "graven/library/random_sources.h"
#include "graven/library/seeds.h"
#include "graven/python/argument_kinds.h"
#include "graven/python/bind.h"
#include "graven/python/errors.h"

namespace graven::python {

void bind_random(nanobind::module_& m) {
  m.def("require_seeds", &engine::require_seeds,
        "Makes errors of numbers that no program foresees.");
  m.def("seeds_are_required", &engine::seeds_are_required, "Whether they are errors.");
  m.def(
      "algorithm_number",
      [](nanobind::handle algorithm) {
        const auto given = to_number_or_text(algorithm.ptr());
        const engine::Result<int64_t> number =
            given.ok() ? engine::algorithm_number(*given) : given.status();
        if (!number.ok()) {
          raise(number.status());
          throw nanobind::python_error();
        }
        return *number;
      },
      nanobind::arg("algorithm"),
      "The number of an algorithm of random numbers, by name or number.");
}

}  // namespace graven::python
