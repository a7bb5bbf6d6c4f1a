#pragma once
#include "graven/base/status.h"

namespace graven::engine {
class KernelContext;

Status gather_kernel(KernelContext& c);  // GatherV2, and Gather, which has no axis
Status gather_nd_kernel(KernelContext& c);
Status scatter_nd_kernel(KernelContext& c);
// How an update is combined with the tensor's element at its place.
enum class TensorScatter { kUpdate, kAdd, kSub, kMin, kMax };
template <TensorScatter kind>
Status tensor_scatter_kernel(KernelContext& c);

}  // namespace graven::engine
