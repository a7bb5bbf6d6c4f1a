#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <optional>

#include "graven/ir/frame.h"
#include "graven/ir/graph.h"
#include "graven/ops/random_streams.h"
#include "graven/python/bind.h"

namespace graven::python {

void bind_random(nanobind::module_& m) {
  m.def("restart_random_streams", &engine::restart_random_streams,
        "Lets all sequences of stateful random ops start anew.");
  m.def(
      "count_unseeded_op",
      []() -> std::optional<int64_t> {
        engine::Frame& frame = engine::Frame::current();
        if (!frame.is_graph()) return std::nullopt;
        return frame.graph()->count_unseeded_op();
      },
      "How often it was asked while the graph of the moment was built; None if there is none.");
}

}  // namespace graven::python
