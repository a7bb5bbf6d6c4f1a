#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graven/control/check_numerics.h"
#include "graven/function/process_budget.h"
#include "graven/function/round_trip.h"
#include "graven/optimize/pipeline.h"
#include "graven/python/bind.h"
#include "graven/python/cache_info.h"
#include "graven/tensor/allocator.h"
#include "graven/tensor/any_tensor.h"
#include "graven/tensor/device.h"
#include "graven/tensor/logical_cpus.h"

namespace nb = nanobind;

namespace graven::python {
namespace {

std::atomic<bool> g_soft_device_placement{true};

}  // namespace

void bind_config(nb::module_& m) {
  m.def("soft_device_placement", [] { return g_soft_device_placement.load(); });
  m.def("set_soft_device_placement", [](bool on) { g_soft_device_placement = on; });
  m.def(
      "enable_check_numerics",
      [](std::optional<int64_t> stack_height_limit, std::optional<int64_t> path_length_limit) {
        engine::set_check_numerics(std::make_shared<const engine::NumericsChecks>(
            engine::NumericsChecks{stack_height_limit, path_length_limit}));
      },
      nb::arg("stack_height_limit").none(), nb::arg("path_length_limit").none());
  m.def("disable_check_numerics", [] { engine::set_check_numerics(nullptr); });
  m.def("make_logical_cpus", [](int count) { engine::make_logical_cpus(count); });
  m.def("device_of", [](const std::string& name) {
    const engine::Device* device = engine::Device::find(name);
    return (device ? *device : engine::Device::host()).name();
  });
  m.def("set_pass_enabled", [](const std::string& name, bool enabled) {
    return engine::set_pass_enabled(name, enabled);
  });
  m.def("optional_passes", [] {
    auto names = engine::optional_passes();
    return std::vector<std::string>(names.begin(), names.end());
  });
  m.def(
      "set_round_trip",
      [](const std::string& form) {
        using engine::RoundTrip;
        engine::set_round_trip(form == "text"   ? RoundTrip::kText
                               : form == "data" ? RoundTrip::kData
                                                : RoundTrip::kNone);
      },
      "For tests: sends each graph through a form, \"text\" or \"data\", before it runs; \"\" ends "
      "it.",
      nb::arg("form"));
  m.def("memory_limit", [] { return engine::Allocator::host().limit(); });
  m.def("set_memory_limit", [](int64_t bytes) { engine::Allocator::host().set_limit(bytes); });
  m.def("trace_cache_bytes", [] { return engine::trace_cache_bytes(); });
  m.def("set_trace_cache_bytes", [](int64_t bytes) { engine::set_trace_cache_bytes(bytes); });
  m.def("trace_cache_info", [] {
    PyObject* made = to_python(engine::trace_cache_info());
    if (!made) throw nb::python_error();
    return nb::steal(made);
  });
  m.def("has_made_tensors", [] { return engine::has_made_tensors(); });
  m.def("memory_in_use", [] { return engine::Allocator::host().stats().in_use; });
  m.def("peak_memory_in_use", [] { return engine::Allocator::host().stats().peak_in_use; });
  m.def("reset_peak_memory", [] { engine::Allocator::host().reset_peak(); });
}

}  // namespace graven::python
