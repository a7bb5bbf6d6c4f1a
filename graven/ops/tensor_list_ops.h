#pragma once
#include "graven/ir/op.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {

// Lists of tensors (tensor/tensor_list.h) in variants. Those that `ir` must know are in
// ir/structural_ops.h.
//
// An op that changes a list changes it in place if nobody else holds it.

GRAVEN_API inline OpHandle<NoAttrs> kTensorListResize;  // input_handle, size -> output_handle

// input_handle, indices, element_shape -> values
GRAVEN_API inline OpHandle<TensorListAttrs> kTensorListGather;
// tensor, indices, element_shape, num_elements -> output_handle
GRAVEN_API inline OpHandle<NoAttrs> kTensorListScatterV2, kTensorListScatterAdd;
// input_handle, tensor, indices -> output_handle
GRAVEN_API inline OpHandle<NoAttrs> kTensorListScatterIntoExistingList;

// tensor, element_shape, lengths -> output_handle
GRAVEN_API inline OpHandle<NoAttrs> kTensorListSplit;

// input_a, input_b -> output
GRAVEN_API inline OpHandle<TensorListAttrs> kTensorListConcatLists;
// input_handles, tensor -> output_handles
GRAVEN_API inline OpHandle<NoAttrs> kTensorListPushBackBatch;

}  // namespace graven::engine
