#include "graven/function/same_graph.h"

#include <algorithm>
#include <unordered_map>
#include <variant>
#include <vector>

#include "graven/ir/bodies.h"
#include "graven/ir/body.h"
#include "graven/ir/custom_gradient.h"
#include "graven/ir/host_function.h"

namespace graven::engine {
namespace {

// Bodies of nodes are traced anew in each run.
bool same_body(const Ref<Body>& a, const Ref<Body>& b) {
  return a.get() == b.get() || (a && b && same_graph(*a->graph(), *b->graph()));
}

bool same_outputs(const Node& a, const Node& b) {
  if (a.num_outputs() != b.num_outputs()) return false;
  for (int i = 0; i < a.num_outputs(); ++i) {
    if (a.output(i).dtype != b.output(i).dtype) return false;
  }
  return true;
}

}  // namespace

bool same_attributes(AttrsRef a, AttrsRef b) {
  if (!(a.type() == b.type())) return false;
  for (const AttrField& field : a.type().fields) {
    // Each function of the program has a token of its own; whether two do the same, they say.
    if (field.name == HostFunctionToken::kName) continue;
    const AttrValue one = field.get(a.data()), two = field.get(b.data());
    if (field.is<Ref<Body>>()) {
      if (!same_body(std::get<Ref<Body>>(one), std::get<Ref<Body>>(two))) return false;
    } else if (field.is<std::vector<Ref<Body>>>()) {
      if (!std::ranges::equal(std::get<std::vector<Ref<Body>>>(one),
                              std::get<std::vector<Ref<Body>>>(two), same_body)) {
        return false;
      }
    } else if (!equal(one, two)) {
      return false;
    }
  }
  return true;
}

bool same_kind(const Node& a, const Node& b) {
  return &a.op() == &b.op() && a.inputs().size() == b.inputs().size() &&
         a.control_inputs().size() == b.control_inputs().size() && a.device() == b.device() &&
         !a.custom_gradient() == !b.custom_gradient() && same_outputs(a, b) &&
         same_attributes(a.attrs(), b.attrs());
}

bool same_graph(const Graph& a, const Graph& b) {
  if (a.nodes().size() != b.nodes().size() || a.inputs().size() != b.inputs().size() ||
      a.outputs().size() != b.outputs().size()) {
    return false;
  }
  std::unordered_map<const Node*, const Node*> other;
  auto same = [&](OutputRef x, OutputRef y) {
    return x.index == y.index && other[x.node] == y.node;
  };
  for (size_t i = 0; i < a.nodes().size(); ++i) {
    const Node &x = *a.nodes()[i], &y = *b.nodes()[i];
    if (!same_kind(x, y) || !std::ranges::equal(x.inputs(), y.inputs(), same)) return false;
    other[&x] = &y;
  }
  return std::ranges::equal(a.inputs(), b.inputs(),
                            [&](const Node* x, const Node* y) { return other[x] == y; }) &&
         std::ranges::equal(a.outputs(), b.outputs(), same);
}

}  // namespace graven::engine
