#pragma once
#include <span>
#include <string_view>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/graph.h"
#include "graven/ir/op.h"
#include "graven/tensor/device_queues.h"

namespace graven::engine {

// On which device an op runs. Kernels in C++ and block programs are code for the host; a device may
// be of its kind (its memory is the host's, its name says CPU).
GRAVEN_API bool runs_host_code(const Device& device);

// The device of an op that was asked to run on the one of this name, "" if it was not asked. As
// with TensorFlow's soft placement it is the host where there is none of that name, or none that
// runs our kernels; and for what only the host holds: strings, handles, and outputs that the kernel
// takes from elsewhere (variables).
const Device& device_of(const Op& op, std::span<const DType> inputs, std::span<const DType> outputs,
                        std::string_view requested);
const Device& device_of(const Node& node);

// Whether input i of so many is read by the host wherever the op runs: strings, handles, and
// values that inference reads (axes, shapes).
bool is_host_input(const Op& op, int i, int num_inputs, DType dtype);

// kInternal if an input is elsewhere than a kernel on the device may read it. Debug builds ask
// before each kernel.
Status check_places(const Op& op, std::span<const Tensor> inputs, const Device& device);

}  // namespace graven::engine
