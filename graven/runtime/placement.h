#pragma once
#include <span>
#include <string_view>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/graph.h"
#include "graven/ir/op.h"
#include "graven/tensor/device_queues.h"

namespace graven::engine {

// Whether the device runs host code. Kernels in C++ and block programs are code for the host;
// another device may run them too (its memory is the host's, its name says CPU).
GRAVEN_API bool runs_host_code(const Device& device);

// The device that an op runs on, given the name of the requested one ("" for no request). As with
// TensorFlow's soft placement, it is the host if there is no device of that name, or if it does not
// run our kernels. It is also the host for values that only the host holds: strings, handles, and
// outputs that the kernel takes from elsewhere (variables).
const Device& device_of(const Op& op, std::span<const DType> inputs, std::span<const DType> outputs,
                        std::string_view requested);
const Device& device_of(const Node& node);

// Whether the host reads this input on whatever device the op runs: strings, handles, and values
// that inference reads (axes, shapes).
bool is_host_input(const Op& op, int i, int num_inputs, DType dtype);

// kInternal if an input is where a kernel on the device may not read it. Debug builds check this
// before each kernel.
Status check_places(const Op& op, std::span<const Tensor> inputs, const Device& device);

}  // namespace graven::engine
