#include "graven/ir/infer_bodies.h"

#include <optional>
#include <utility>
#include <vector>

#include "graven/ir/bodies.h"
#include "graven/ir/body.h"
#include "graven/ir/in_caller.h"

namespace graven::engine {
namespace {

const OutputType& type_of(OutputRef value) { return value.node->output(value.index); }

// The sizes on which two shapes agree.
Shape common_shape(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return Shape::unknown_rank();
  Shape common = a;
  for (int d = 0; d < a.rank(); ++d) {
    if (a[d].is_unknown() || !(a[d] == b[d])) common.set(d, Dim::unknown());
  }
  return common;
}

std::optional<HandleData> common_data(const std::optional<HandleData>& a,
                                      const std::optional<HandleData>& b) {
  if (!a || !b || a->components.size() != b->components.size()) return std::nullopt;
  HandleData common = *a;
  for (size_t i = 0; i < common.components.size(); ++i) {
    HeldType& held = common.components[i];
    if (held.dtype != b->components[i].dtype) return std::nullopt;
    held.shape = common_shape(held.shape, b->components[i].shape);
  }
  return common;
}

// What is known of an output, in the caller's Dims.
struct Known {
  Shape shape;
  std::optional<HandleData> data;
};

Known known_in_caller(const OutputType& type, InCaller& in_caller) {
  Known known{in_caller(type.shape), std::nullopt};
  if (type.handle_data) {
    known.data = *type.handle_data;
    for (HeldType& held : known.data->components) held.shape = in_caller(held.shape);
  }
  return known;
}

Status check_counts(const InferContext& c, const NodeBody& one) {
  const Graph& graph = *one.body->graph();
  const auto inputs = static_cast<int>(graph.inputs().size());
  const auto outputs = static_cast<int>(graph.outputs().size());
  if (inputs == one.inputs.count && (!one.gives_outputs || outputs == one.outputs.count)) return {};
  return invalid_argument("The function ", one.body->name(), " has ", inputs, " inputs and ",
                          outputs, " outputs, the node ", c.num_inputs(), " and ", c.num_outputs());
}

Status check_bodies(const InferContext& c, const NodeBodies& bodies) {
  if (bodies.empty()) return invalid_argument("there is no function to run");
  for (const NodeBody& one : bodies.all) {
    if (!one.body) return invalid_argument("the attribute '", one.attribute, "' is not given");
    RETURN_IF_ERROR(check_counts(c, one));
  }
  return {};
}

}  // namespace

Status infer_branches(InferContext& c) {
  const NodeBodies bodies = bodies_of(c.op(), c.raw_attrs());
  RETURN_IF_ERROR(check_bodies(c, bodies));
  if (!c.is_graph()) return unknown_outputs(c);
  std::vector<Known> common;
  for (const NodeBody& one : bodies.all) {
    const Graph& graph = *one.body->graph();
    InCaller in_caller(c, graph, one.body->name(), one.inputs.first);
    for (size_t i = 0; i < graph.outputs().size(); ++i) {
      Known known = known_in_caller(type_of(graph.outputs()[i]), in_caller);
      if (&one == &bodies.all[0]) {
        common.push_back(std::move(known));
      } else {
        common[i] = {common_shape(common[i].shape, known.shape),
                     common_data(common[i].data, known.data)};
      }
    }
  }
  for (size_t i = 0; i < common.size(); ++i) {
    const int output = static_cast<int>(i);
    c.set_shape(output, std::move(common[i].shape));
    if (common[i].data) c.set_handle_data(output, std::move(*common[i].data));
  }
  return {};
}

Status infer_loop(InferContext& c) {
  const NodeBodies bodies = bodies_of(c.op(), c.raw_attrs());
  RETURN_IF_ERROR(check_bodies(c, bodies));
  if (!c.is_graph()) return unknown_outputs(c);
  const Graph& graph = *bodies.all[1].body->graph();
  InCaller in_caller(c, graph, bodies.all[1].body->name());
  for (int i = 0; i < c.num_outputs(); ++i) {
    const OutputType& before = graph.inputs()[static_cast<size_t>(i)]->output(0);
    const OutputType& after = type_of(graph.outputs()[static_cast<size_t>(i)]);
    Shape stays = before.shape;
    for (int d = 0; d < stays.rank(); ++d) {
      const bool is_same = after.shape.has_rank() && after.shape.rank() == stays.rank() &&
                           after.shape[d] == stays[d];
      if (!stays[d].is_number() && !is_same) stays.set(d, Dim::unknown());
    }
    c.set_shape(i, in_caller(stays));
    if (before.handle_data) {
      HandleData data = *before.handle_data;
      for (HeldType& held : data.components) held.shape = in_caller(held.shape);
      c.set_handle_data(i, std::move(data));
    }
  }
  return {};
}

}  // namespace graven::engine
