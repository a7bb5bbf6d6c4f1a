#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/host_function.h"
#include "graven/tensor/dtype.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

enum class HostCall : uint8_t {
  kWithGradient,
  kWithoutGradient,
  kWithoutEffects,  // no gradient either; it need not run where nothing reads its results
};

// The name of such a call's op, which is that of its node by default.
GRAVEN_API std::string_view name_of(HostCall call);

// Calls a function of the program by the current builder: now, or whenever the graph runs. Gives
// its results, which must have these dtypes. A node owns the function.
GRAVEN_API Result<std::vector<Tensor>> apply_host_function(
    HostCall call, const std::shared_ptr<HostFunction>& function, std::span<const Tensor> inputs,
    std::span<const DType> results, std::string_view name = {});

}  // namespace graven::engine
