#pragma once
#include <cstdint>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/tensor/dtype.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// Sums and zeros of what variants hold: the values through which gradients flow.

// to += from, for elements of a plain dtype.
void add_plain(DType dtype, int64_t count, const void* from, void* to);
// A new tensor; kInvalidArgument if the shapes differ, kUnimplemented for strings and handles.
Result<Tensor> sum_of(const Tensor& x, const Tensor& y);
// Zeros of the dtype and shape; strings are empty.
Result<Tensor> zeros_of(const Tensor& x);

}  // namespace graven::engine
