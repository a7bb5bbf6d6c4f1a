#include "graven/python/replay.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "graven/function/replay.h"
#include "graven/ir/frame.h"
#include "graven/library/seeds.h"
#include "graven/python/errors.h"
#include "graven/python/object.h"
#include "graven/python/tensor_object.h"

namespace nb = nanobind;

namespace graven::python {

constinit thread_local PyObject* truth_oracle = nullptr;

namespace {

using engine::Path;
using engine::PathValue;
using engine::Ref;
using engine::Replay;
using Place = std::pair<int, int>;

void throw_if_error(const engine::Status& status) {
  if (status.ok()) return;
  raise(status);
  throw nb::python_error();
}

nb::object wrapped(engine::Tensor tensor) {
  PyObject* object = wrap(std::move(tensor));
  if (!object) throw nb::python_error();
  return nb::steal(object);
}

struct PyPath {
  Ref<Path> path;
};

struct PyReplay {
  std::unique_ptr<Replay> replay;
  std::unique_ptr<engine::SeedsOfRuns> seeds;
};

}  // namespace

void bind_replay(nb::module_& m) {
  nb::class_<PyPath>(m, "Path")
      .def("__len__", [](const PyPath& self) { return self.path->size(); })
      .def("node_text", [](const PyPath& self, int i) { return self.path->node_text(i); })
      .def("find",
           [](const PyPath& self, nb::handle tensor) -> std::optional<Place> {
             const auto value = self.path->find(tensor_of(tensor.ptr()));
             if (!value) return std::nullopt;
             return Place(value->node, value->output);
           })
      .def("first_difference",
           [](const PyPath& self, const PyPath& other, int end) {
             return self.path->first_difference(*other.path, end);
           })
      .def("same_from",
           [](const PyPath& self, int start, const PyPath& other, int other_start,
              int num_common) -> nb::object {
             const auto pairs = self.path->same_from(start, *other.path, other_start, num_common);
             if (!pairs) return nb::none();
             nb::list found;
             for (const auto& [a, b] : *pairs) found.append(nb::make_tuple(wrapped(a), wrapped(b)));
             return found;
           })
      .def("same_kinds_before",
           [](const PyPath& self, int end, int start, const PyPath& other, int other_end,
              int other_start) {
             return self.path->same_kinds_before(end, start, *other.path, other_end, other_start);
           })
      .def("tensor",
           [](const PyPath& self, Place place) {
             return wrapped(self.path->tensor({place.first, place.second}));
           })
      .def("reads_before",
           [](const PyPath& self, int start, int end) {
             std::vector<Place> found;
             for (PathValue value : self.path->reads_before(start, end)) {
               found.emplace_back(value.node, value.output);
             }
             return found;
           })
      .def("write", [](const PyPath& self, int start,
                       int end) { throw_if_error(self.path->write(start, end)); })
      .def("written",
           [](const PyPath& self, nb::handle tensor) {
             auto found = self.path->written(tensor_of(tensor.ptr()));
             throw_if_error(found.status());
             return wrapped(std::move(*found));
           })
      .def("bind",
           [](const PyPath& self, Place place, nb::handle tensor) {
             self.path->bind({place.first, place.second}, tensor_of(tensor.ptr()));
           })
      .def("adopt", [](const PyPath& self, const PyPath& other,
                       int end) { self.path->adopt(*other.path, end); })
      .def("forget", [](const PyPath& self, int start, int end) { self.path->forget(start, end); });

  nb::class_<PyReplay>(m, "Replay")
      .def("is_current", [](const PyReplay& self) { return self.replay->is_current(); })
      .def("has_listeners", [](const PyReplay& self) { return self.replay->has_listeners(); })
      .def("start_run",
           [](PyReplay& self) {
             self.seeds->start_run();
             self.replay->start_run();
           })
      .def("num_nodes", [](const PyReplay& self) { return self.replay->num_nodes(); })
      .def("end_run",
           [](PyReplay& self, int num_kept) {
             auto path = self.replay->end_run(num_kept);
             throw_if_error(path.status());
             return PyPath{std::move(*path)};
           })
      .def("has_created_variables",
           [](const PyReplay& self) { return self.replay->has_created_variables(); })
      .def("drop_run", [](PyReplay& self) { self.replay->drop_run(); })
      .def("finish", [](PyReplay& self) {
        self.replay->finish();
        self.seeds.reset();
      });

  m.def("start_replay", [] {
    auto replay = Replay::create();
    throw_if_error(replay.status());
    return PyReplay{std::move(*replay), std::make_unique<engine::SeedsOfRuns>()};
  });
  m.def(
      "num_nodes",
      [] {
        const engine::Graph* graph = engine::Frame::current().graph();
        return graph ? graph->id_bound() : 0;
      },
      "How many nodes were added to the graph that is being built.");
  m.def(
      "set_truth_oracle",
      [](nb::object oracle) {
        PyObject* before = truth_oracle;
        truth_oracle = oracle.is_none() ? nullptr : oracle.release().ptr();
        return before ? nb::steal(before) : nb::none();
      },
      nb::arg("oracle").none(),
      "Sets what answers for the truth of symbolic tensors on this thread; returns what did.");
}

}  // namespace graven::python
