#include "graven/runtime/placement.h"

#include <algorithm>

#include "graven/ir/structural_ops.h"

namespace graven::engine {

bool runs_host_code(const Device& device) {
  return device.is_host() || device.name().find("/device:CPU:") != std::string::npos;
}

const Device& device_of(const Op& op, std::span<const DType> inputs, std::span<const DType> outputs,
                        std::string_view requested) {
  if (requested.empty() || !has_other_devices()) return Device::host();
  const Device* device = Device::find(requested);
  const OpRecord& record = op.record();
  const bool is_elsewhere = record.allocates_outputs && record.view_of < 0;
  const bool is_structural =
      record.body.kind() == OpBody::Kind::kNone && record.view_of < 0 && &op != kFusion.op;
  if (!device || !runs_host_code(*device) || is_elsewhere || is_structural) return Device::host();
  return std::ranges::all_of(inputs, is_plain) && std::ranges::all_of(outputs, is_plain)
             ? *device
             : Device::host();
}

const Device& device_of(const Node& node) {
  if (node.device().empty() || !has_other_devices()) return Device::host();
  InlineVector<DType, 4> inputs, outputs;
  for (OutputRef input : node.inputs()) inputs.push_back(input.node->output(input.index).dtype);
  for (int i = 0; i < node.num_outputs(); ++i) outputs.push_back(node.output(i).dtype);
  return device_of(node.op(), {inputs.data(), inputs.size()}, {outputs.data(), outputs.size()},
                   node.device());
}

bool is_host_input(const Op& op, int i, int num_inputs, DType dtype) {
  if (!is_plain(dtype)) return true;
  return std::ranges::any_of(op.record().values_for_inference, [&](int value) {
    return i == (value < 0 ? num_inputs + value : value);
  });
}

Status check_places(const Op& op, std::span<const Tensor> inputs, const Device& device) {
  const int count = static_cast<int>(inputs.size());
  for (int i = 0; i < count; ++i) {
    const Tensor& input = inputs[static_cast<size_t>(i)];
    const Device& wanted = is_host_input(op, i, count, input.dtype()) ? Device::host() : device;
    if (&input.device() == &wanted) continue;
    return internal_error("[", op.name(), "] input ", i, " is on ", input.device().name(),
                          ", where a kernel on ", device.name(), " must not read it");
  }
  return {};
}

}  // namespace graven::engine
