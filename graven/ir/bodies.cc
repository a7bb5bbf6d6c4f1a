#include "graven/ir/bodies.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "graven/base/strings.h"
#include "graven/ir/body.h"

namespace graven::engine {
namespace {

const AttrField& field_of(AttrsRef attrs, std::string_view name) {
  return *std::ranges::find(attrs.type().fields, name, &AttrField::name);
}

void merge(std::vector<int>& all, std::span<const int> more) {
  for (int i : more) {
    if (std::ranges::find(all, i) == all.end()) all.push_back(i);
  }
}

template <typename... Args>
Status broken(const Node& node, const Args&... args) {
  return internal_error("Node '", node.name(), "' (", node.op().name(), "): ", args...);
}

// How many inputs of a body belong to none of the node.
int num_own_inputs(const NodeBody& one) {
  return static_cast<int>(one.body->graph()->inputs().size()) - one.inputs.count;
}

Status verify_body(const Node& node, const NodeBody& one, BodyRun run) {
  if (!one.body) {
    if (run == BodyRun::kAsTheOpLikes) return {};
    return broken(node, "the attribute '", one.attribute, "' has no body");
  }
  const Graph& graph = *one.body->graph();
  const int own = num_own_inputs(one);
  const auto num_outputs = static_cast<int>(graph.outputs().size());
  const bool inputs_fit = run == BodyRun::kAsTheOpLikes ? own >= 0 : own == 0;
  if (!inputs_fit || (one.gives_outputs && num_outputs != one.outputs.count)) {
    std::string outputs = one.gives_outputs ? str_cat(one.outputs.count) : "any number";
    return broken(node, "the body '", one.body->name(), "' has ", graph.inputs().size(),
                  " inputs and ", num_outputs, " outputs, the node has ", one.inputs.count, " and ",
                  outputs, " for it");
  }
  for (int i = 0; i < one.inputs.count; ++i) {
    OutputRef given = node.inputs()[one.inputs.first + i];
    if (graph.inputs()[own + i]->output(0).dtype != given.node->output(given.index).dtype) {
      return broken(node, "input ", one.inputs.first + i, " has another dtype in the body '",
                    one.body->name(), "'");
    }
  }
  for (int i = 0; one.gives_outputs && i < num_outputs; ++i) {
    OutputRef output = graph.outputs()[i];
    const int of_node = one.outputs.first + i;
    if (output.node->output(output.index).dtype != node.output(of_node).dtype) {
      return broken(node, "output ", of_node, " has another dtype in the body '", one.body->name(),
                    "'");
    }
  }
  return {};
}

}  // namespace

NodeBodies bodies_of(const Op& op, AttrsRef attrs) {
  const OpBodies& record = op.record().bodies;
  NodeBodies bodies{record.run, false, {}};
  if (record.fields.empty() || !(attrs.type() == op.attrs_type())) return bodies;
  for (const BodyField& field : record.fields) {
    NodeBody one{{}, field.attribute, {}, {}, !field.outputs.empty()};
    if (!field.inputs.empty()) one.inputs = op.input_range(field.inputs, attrs);
    if (!field.outputs.empty()) one.outputs = op.output_range(field.outputs, attrs);
    AttrValue value = field_of(attrs, field.attribute).get(attrs.data());
    if (auto* body = std::get_if<Ref<Body>>(&value)) {
      one.body = std::move(*body);
      bodies.all.push_back(std::move(one));
      continue;
    }
    bodies.is_list = true;
    for (const Ref<Body>& body : std::get<std::vector<Ref<Body>>>(value)) {
      one.body = body;
      bodies.all.push_back(one);
    }
  }
  return bodies;
}

Ref<Body> called_body(const Op& op, AttrsRef attrs) {
  const OpBodies& record = op.record().bodies;
  if (record.run != BodyRun::kOnce || !(attrs.type() == op.attrs_type())) return {};
  return std::get<Ref<Body>>(field_of(attrs, record.fields[0].attribute).get(attrs.data()));
}

Attrs with_bodies(const Op& op, AttrsRef attrs, std::span<const Ref<Body>> bodies) {
  Attrs made(attrs);
  // The fields are those of the record, of the kinds that define has checked.
  auto set = [&](std::string_view name, AttrValue value) {
    field_of(attrs, name).set(const_cast<void*>(AttrsRef(made).data()), std::move(value));
  };
  auto set_types = [&](std::span<const ArgSpec> arguments, std::string_view name,
                       std::vector<DType> types) {
    auto arg = std::ranges::find(arguments, name, &ArgSpec::name);
    if (arg == arguments.end() || arg->type_list_attr < 0) return;
    set(attrs.type().fields[arg->type_list_attr].name, std::move(types));
  };
  NodeBodies old = bodies_of(op, attrs);
  size_t next = 0;
  for (const BodyField& field : op.record().bodies.fields) {
    std::vector<Ref<Body>> of_field;
    for (; next < old.all.size() && old.all[next].attribute == field.attribute; ++next) {
      of_field.push_back(bodies[next]);
      const Graph& graph = *bodies[next]->graph();
      const int own = num_own_inputs(old.all[next]);
      std::vector<DType> inputs, outputs;
      for (const Node* input : graph.inputs().subspan(own)) {
        inputs.push_back(input->output(0).dtype);
      }
      for (OutputRef output : graph.outputs()) {
        outputs.push_back(output.node->output(output.index).dtype);
      }
      set_types(op.inputs(), field.inputs, std::move(inputs));
      set_types(op.outputs(), field.outputs, std::move(outputs));
    }
    if (field_of(attrs, field.attribute).is<Ref<Body>>()) {
      set(field.attribute, std::move(of_field[0]));
    } else {
      set(field.attribute, std::move(of_field));
    }
  }
  return made;
}

Effects effects_of_bodies(const Op& op, AttrsRef attrs) {
  Effects effects;
  for (const NodeBody& one : bodies_of(op, attrs).all) {
    if (!one.body) continue;
    const Effects& inner = one.body->effects();
    effects.ordered |= inner.ordered;
    effects.must_run |= inner.must_run;
    auto outer = [&](std::span<const int> inputs) {
      std::vector<int> of_node;
      for (int i : inputs) {
        const int from_first = i - num_own_inputs(one);
        if (from_first >= 0) of_node.push_back(one.inputs.first + from_first);
      }
      return of_node;
    };
    merge(effects.reads, outer(inner.reads));
    merge(effects.writes, outer(inner.writes));
  }
  effects.stateful = true;
  std::erase_if(effects.reads, [&](int i) {
    return std::ranges::find(effects.writes, i) != effects.writes.end();
  });
  return effects;
}

Status verify_bodies(const Node& node) {
  NodeBodies bodies = bodies_of(node);
  if (bodies.empty()) {
    const bool must_have =
        !node.op().record().bodies.fields.empty() && bodies.run == BodyRun::kOneOf;
    return must_have ? broken(node, "there is no body to choose") : Status();
  }
  for (const NodeBody& one : bodies.all) RETURN_IF_ERROR(verify_body(node, one, bodies.run));
  if (bodies.run != BodyRun::kWhile) return {};
  const Graph &condition = *bodies.all[0].body->graph(), &repeated = *bodies.all[1].body->graph();
  if (condition.outputs().size() != 1) {
    return broken(node, "the condition has ", condition.outputs().size(), " outputs");
  }
  if (repeated.inputs().size() != repeated.outputs().size()) {
    return broken(node, "the body that is repeated has ", repeated.inputs().size(), " inputs and ",
                  repeated.outputs().size(), " outputs");
  }
  for (size_t i = 0; i < repeated.inputs().size(); ++i) {
    OutputRef output = repeated.outputs()[i];
    if (repeated.inputs()[i]->output(0).dtype != output.node->output(output.index).dtype) {
      return broken(node, "the body that is repeated gives another dtype than it takes at ", i);
    }
  }
  return {};
}

bool holds_itself(const Body& body) {
  std::unordered_set<const Body*> seen;
  std::vector<const Body*> pending{&body};
  while (!pending.empty()) {
    const Body* next = pending.back();
    pending.pop_back();
    for (const Node* node : next->graph()->nodes()) {
      if (node->op().record().bodies.fields.empty()) continue;  // most nodes, of many bodies
      for (const NodeBody& one : bodies_of(*node).all) {
        if (one.body.get() == &body) return true;
        if (one.body && seen.insert(one.body.get()).second) pending.push_back(one.body.get());
      }
    }
  }
  return false;
}

}  // namespace graven::engine
