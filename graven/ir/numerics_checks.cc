#include "graven/ir/numerics_checks.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "graven/base/strings.h"
#include "graven/ir/graph.h"

namespace graven::engine {
namespace {

std::shared_ptr<const NumericsChecks>& of_this_thread() {
  thread_local std::shared_ptr<const NumericsChecks> checks;
  return checks;
}

// By Op::index; filled before any thread checks.
std::vector<uint64_t>& unchecked_outputs() {
  static auto* table = new std::vector<uint64_t>();
  return *table;
}

// On a check: its limits, -1 for none.
constexpr char kStackHeight[] = "_stack_height_limit", kPathLength[] = "_path_length_limit";

AttrValue number_of(std::optional<int64_t> limit) { return limit.value_or(-1); }

std::optional<int64_t> limit_of(const AttrValue& value) {
  const auto* number = std::get_if<int64_t>(&value);
  return number && *number >= 0 ? std::optional(*number) : std::nullopt;
}

std::string limited(const std::string& path, std::optional<int64_t> limit) {
  if (!limit || static_cast<int64_t>(path.size()) <= *limit) return path;
  const auto kept = static_cast<size_t>(std::max<int64_t>(*limit, 0));
  return "..." + path.substr(path.size() - kept);
}

std::string stack_text(const Node& node, const NumericsChecks& checks) {
  if (!node.location()) return {};
  std::vector<SourceFrame> frames = node.location()->frames();
  std::string text = "\n  Stack trace of op's creation (\"->\": inferred user code):\n";
  size_t first = 0;
  if (checks.stack_height_limit) {
    const auto limit = static_cast<size_t>(std::max<int64_t>(*checks.stack_height_limit, 0));
    if (frames.size() > limit) {
      first = frames.size() - limit;
      text += str_cat("    + ... (Omitted ", first, " frames)\n");
    }
  }
  for (size_t i = first; i < frames.size(); ++i) {
    text += str_cat("    + ", limited(frames[i].file, checks.path_length_limit), " (L",
                    frames[i].line, ") ", frames[i].function, "\n");
    if (!frames[i].text.empty()) text += str_cat(" -> |   ", frames[i].text, "\n");
  }
  return text;
}

std::string text_of(OutputRef output) {
  const OutputType& type = output.node->output(output.index);
  return str_cat("Tensor(\"", output.node->name(), ":", output.index,
                 "\", shape=", type.shape.to_text(), ", dtype=", dtype_name(type.dtype), ")");
}

std::string message_of(const Node& node, int output, const NumericsChecks& checks) {
  CheckedOutput of{.op = node.op().name(),
                   .is_of_graph = true,
                   .number = output,
                   .num_outputs = node.num_outputs(),
                   .dtype = node.output(output).dtype,
                   .shape = node.output(output).shape};
  for (OutputRef input : node.inputs()) of.inputs.push_back(text_of(input));
  return str_cat(numerics_message(of), "  Graph name: \"", node.graph().name(), "\"\n",
                 stack_text(node, checks), "\n");
}

}  // namespace

const std::shared_ptr<const NumericsChecks>& numerics_checks() { return of_this_thread(); }

void set_numerics_checks(std::shared_ptr<const NumericsChecks> checks) {
  of_this_thread() = std::move(checks);
}

void leave_unchecked(const Op& op, uint64_t outputs) {
  std::vector<uint64_t>& table = unchecked_outputs();
  const auto index = static_cast<size_t>(op.index());
  if (table.size() <= index) table.resize(index + 1);
  table[index] = outputs;
}

bool is_checked(const Op& op, int output, DType dtype) {
  const std::vector<uint64_t>& table = unchecked_outputs();
  const auto index = static_cast<size_t>(op.index());
  const uint64_t unchecked = index < table.size() ? table[index] : 0;
  const bool is_accepted = unchecked == kAllOutputs || (output < 64 && unchecked >> output & 1);
  return kFloatTypes.contains(dtype) && !is_accepted && op.record().bodies.fields.empty();
}

std::string numerics_message(const CheckedOutput& of) {
  std::string text =
      str_cat("\n\n!!! Detected Infinity or NaN in output ", of.number, " of ",
              of.is_of_graph ? "graph" : "eagerly-executing", " op \"", of.op,
              "\" (# of outputs: ", of.num_outputs, ") !!!\n  dtype: <dtype: '",
              dtype_name(of.dtype), "'>\n  shape: ", of.shape.to_text(), "\n", of.counts);
  if (of.inputs.size() == 1) text += str_cat("\n  Input tensor: ", of.inputs[0], "\n");
  if (of.inputs.size() <= 1) return text;
  text += str_cat("\n  Input tensors (", of.inputs.size(), "):\n");
  for (size_t i = 0; i < of.inputs.size(); ++i) {
    text += str_cat("         ", i, ": ", of.inputs[i], "\n");
  }
  return text;
}

std::shared_ptr<const NumericsChecks> numerics_checks_of(const Graph& graph) {
  for (const Node* node : graph.nodes()) {
    if (&node->op() != kCheckNumericsV2.op) continue;
    const AttrValue height = node->attribute(kStackHeight);
    if (!has_value(height)) continue;
    return std::make_shared<const NumericsChecks>(
        NumericsChecks{limit_of(height), limit_of(node->attribute(kPathLength))});
  }
  return nullptr;
}

void add_numerics_checks(Graph& graph, const std::shared_ptr<const NumericsChecks>& checks,
                         size_t num_arguments, int first_id) {
  if (!checks) return;
  std::unordered_set<const Node*> arguments;
  for (size_t i = 0; i < std::min(num_arguments, graph.inputs().size()); ++i) {
    arguments.insert(graph.inputs()[i]);
  }
  const std::vector<Node*> nodes(graph.nodes().begin(), graph.nodes().end());
  std::vector<Node*> order;
  std::vector<Node*> must_run(graph.control_outputs().begin(), graph.control_outputs().end());
  Node* last = nullptr;
  for (Node* node : nodes) {
    order.push_back(node);
    if (last && node->op().is_stateful_ever()) {
      const Effects effects = node->op().record().effects(node->op(), node->attrs());
      if (effects.must_run || effects.ordered || !effects.writes.empty()) {
        graph.add_control_input(node, last);
      }
    }
    if (node->id() < first_id || arguments.contains(node)) continue;
    for (int i = 0; i < node->num_outputs(); ++i) {
      const OutputType& type = node->output(i);
      if (!is_checked(node->op(), i, type.dtype)) continue;
      const OutputRef input{node, i};
      const CheckNumericsAttrs attrs{message_of(*node, i, *checks)};
      std::vector<OutputType> outputs(1);
      outputs[0].dtype = type.dtype;
      outputs[0].shape = type.shape;
      Node* check = graph.add({.op = kCheckNumericsV2.op,
                               .attrs = attrs,
                               .name = graph.unique_name(str_cat(node->name(), "/CheckNumericsV2")),
                               .inputs = {&input, 1},
                               .outputs = std::move(outputs),
                               .location = node->location()});
      graph.set_attribute(check, kStackHeight, number_of(checks->stack_height_limit));
      graph.set_attribute(check, kPathLength, number_of(checks->path_length_limit));
      if (last) graph.add_control_input(check, last);
      last = check;
      order.push_back(check);
      must_run.push_back(check);
    }
  }
  graph.set_order(std::move(order));
  graph.set_control_outputs(std::move(must_run));
}

}  // namespace graven::engine
