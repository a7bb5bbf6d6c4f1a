#pragma once
#include <string_view>

#include "graven/base/status.h"
#include "graven/tensor/dtype.h"
#include "graven/tensor/shape.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {
class KernelContext;

// The shape that a tensor says: a vector of sizes, -1 where any will do, or the scalar -1 for any
// shape.
Result<Shape> open_shape_of(const Tensor& sizes);

// What both inference and kernels say of a list and of what is given to it.
Status check_list_dtype(DType op, DType list);
Status check_appended(const Shape& item, const Shape& element);
Status check_written(const Shape& item, const Shape& element);
// The rows of `tensor` as elements.
Status check_rows(const Shape& tensor, const Shape& element);
// The shape of elements as the list and the reader of one say it.
Result<Shape> shape_to_read(const Shape& element, const Shape& asked);

// Kernels.
Status empty_tensor_list_kernel(KernelContext& c);
Status tensor_list_reserve_kernel(KernelContext& c);
Status tensor_list_element_shape_kernel(KernelContext& c);
Status tensor_list_length_kernel(KernelContext& c);
Status tensor_list_push_back_kernel(KernelContext& c);
Status tensor_list_pop_back_kernel(KernelContext& c);
Status tensor_list_get_item_kernel(KernelContext& c);
Status tensor_list_set_item_kernel(KernelContext& c);
Status tensor_list_resize_kernel(KernelContext& c);
Status tensor_list_stack_kernel(KernelContext& c);
Status tensor_list_from_tensor_kernel(KernelContext& c);
Status tensor_list_gather_kernel(KernelContext& c);
Status tensor_list_scatter_kernel(KernelContext& c);
Status tensor_list_scatter_add_kernel(KernelContext& c);
Status tensor_list_scatter_into_existing_list_kernel(KernelContext& c);
Status tensor_list_concat_kernel(KernelContext& c);
Status tensor_list_split_kernel(KernelContext& c);
Status tensor_list_concat_lists_kernel(KernelContext& c);
Status tensor_list_push_back_batch_kernel(KernelContext& c);

}  // namespace graven::engine
