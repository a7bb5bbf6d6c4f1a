#include "graven/ir/output_names.h"

#include "graven/base/strings.h"

namespace graven::engine {
namespace {

// The number of tensors in each of the node's outputs: given by attributes, but for one list that
// has what the others leave.
int count_of(const Node& node, const ArgSpec& arg) {
  const Op& op = node.op();
  if (!arg.is_list) return 1;
  if (arg.type_list_attr >= 0 || arg.count_attr >= 0) {
    return op.output_range(arg.name, node.attrs()).count;
  }
  return node.num_outputs() - (static_cast<int>(op.outputs().size()) - 1);
}

}  // namespace

std::string output_name(OutputRef output) {
  int index = output.index;
  for (const ArgSpec& arg : output.node->op().outputs()) {
    const int count = count_of(*output.node, arg);
    if (index < count) return str_cat(arg.name, ":", index);
    index -= count;
  }
  return str_cat("output:", output.index);
}

std::optional<int> output_index(const Node& node, std::string_view output, int index) {
  int first = 0;
  for (const ArgSpec& arg : node.op().outputs()) {
    const int count = count_of(node, arg);
    if (arg.name == output) {
      return index >= 0 && index < count ? std::optional(first + index) : std::nullopt;
    }
    first += count;
  }
  return std::nullopt;
}

}  // namespace graven::engine
