#pragma once
#include "graven/ir/op.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {

// Lists of tensors (tensor/tensor_list.h) in variants. EmptyTensorList, TensorListPushBack,
// TensorListPopBack and TensorListLength are in ir/structural_ops.h.
//
// An op that changes a list changes it in place if nobody else holds it.

// element_shape, num_elements -> handle
GRAVEN_API inline OpHandle<TensorListAttrs> kTensorListReserve;

struct TensorListElementShapeAttrs {
  DType shape_type = DType::kInvalid;
  static constexpr auto fields() {
    return std::tuple(required_field("shape_type", &TensorListElementShapeAttrs::shape_type));
  }
};
// input_handle -> element_shape
GRAVEN_API inline OpHandle<TensorListElementShapeAttrs> kTensorListElementShape;

// input_handle, index, element_shape -> item
GRAVEN_API inline OpHandle<TensorListAttrs> kTensorListGetItem;

struct TensorListSetItemAttrs {
  bool resize_if_index_out_of_bounds = false;
  static constexpr auto fields() {
    return std::tuple(field("resize_if_index_out_of_bounds",
                            &TensorListSetItemAttrs::resize_if_index_out_of_bounds));
  }
};
// input_handle, index, item -> output_handle
GRAVEN_API inline OpHandle<TensorListSetItemAttrs> kTensorListSetItem;
GRAVEN_API inline OpHandle<NoAttrs> kTensorListResize;  // input_handle, size -> output_handle

struct TensorListStackAttrs {
  DType element_dtype = DType::kInvalid;
  int64_t num_elements = -1;
  static constexpr auto fields() {
    return std::tuple(required_field("element_dtype", &TensorListStackAttrs::element_dtype),
                      field("num_elements", &TensorListStackAttrs::num_elements));
  }
};
// input_handle, element_shape -> tensor
GRAVEN_API inline OpHandle<TensorListStackAttrs> kTensorListStack;
GRAVEN_API inline OpHandle<NoAttrs> kTensorListFromTensor;  // tensor, element_shape -> handle

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
