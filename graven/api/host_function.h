#pragma once
#include <functional>
#include <string>
#include <vector>

#include "graven/api/arguments.h"
#include "graven/api/tensor.h"
#include "graven/base/export.h"

namespace graven {

struct HostFunctionOptions {
  // Whether gradients flow through what the function computes by ops of its arguments, to any
  // order. Without, nothing is recorded.
  bool has_gradient = true;
  // False: the function has no effects, and need not run where nothing reads its results. It has no
  // gradient then.
  bool stateful = true;
  std::string name = {};  // of the node
};

// Runs a function of the program on values, whenever the program comes here (tf.py_function): where
// a function is traced it becomes a node, which calls it each time that the graph runs, in the
// order of the program, on the thread that runs the graph:
//
//   graven::Tensor y = graven::host_function([](const auto& x) { return lookup(x[0]); }, {x},
//                                            DType::kFloat32);
//
// The results have these dtypes (else an InvalidArgument, when it runs), and shapes that are not
// known where it is traced: ensure_shape says more. An exception of the function is thrown where
// the graph was run, as the object that it is.
//
// The graph owns the function, so it must not hold tensors of the trace: they are its inputs.
// Nothing is fused with it, and it cannot be saved.
GRAVEN_API std::vector<Tensor> host_function(
    std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)> function,
    const std::vector<Tensor>& inputs, const std::vector<DType>& results,
    const HostFunctionOptions& options = {}, Here location = Here::current());
// The same for a function of one result.
GRAVEN_API Tensor host_function(std::function<Tensor(const std::vector<Tensor>& inputs)> function,
                                const std::vector<Tensor>& inputs, DType result,
                                const HostFunctionOptions& options = {},
                                Here location = Here::current());

}  // namespace graven
