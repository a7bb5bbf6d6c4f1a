#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "graven/base/status.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {
class KernelContext;
class ReadsContext;
struct Movement;

// Each of `outer` rows of a result is made of one row of each value, side by side; and the
// reverse. All have the dtype of the result, and the widths of the rows add up.
void concat_rows(std::span<const Tensor> values, int64_t outer, const Tensor& out);
void split_rows(const Tensor& x, int64_t outer, std::span<const Tensor> parts);

// The origins of their elements. For Reshape and other views, only if each axis on the one side is
// some axes on the other.
std::optional<Movement> reshape_reads(const ReadsContext& c);
std::optional<Movement> broadcast_to_reads(const ReadsContext& c);
std::optional<Movement> fill_reads(const ReadsContext& c);
std::optional<Movement> concat_reads(const ReadsContext& c);

// Kernels of structural ops that no expression can compute.
Status fill_kernel(KernelContext& c);
Status concat_kernel(KernelContext& c);
Status broadcast_to_kernel(KernelContext& c);
Status broadcast_gradient_args_kernel(KernelContext& c);

}  // namespace graven::engine
