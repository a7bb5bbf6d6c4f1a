#include "graven/ops/tensor_list_ops.h"

#include <limits>

#include "graven/ir/cost.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ops/batch_lists.h"
#include "graven/ops/formulas.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/sizes.h"
#include "graven/ops/tensor_list_kernels.h"

namespace graven::engine {
namespace {

// --- Inference. In graphs, handle data carries the dtype and the shape that a list was made for
// from list to list: what may be an element, not what is known of those that are. Eagerly only the
// kernels check, which know the list itself.

Result<Shape> open_shape(const InferContext& c, int input) {
  if (Tensor value = c.value(input)) return open_shape_of(value);
  const Shape& shape = c.shape(input);
  if (shape.has_rank() && shape.rank() > 1) {
    return invalid_argument("Shape must be at most rank 1 but is rank ", shape.rank());
  }
  const bool is_vector = shape.has_rank() && shape.rank() == 1;
  auto sizes = is_vector ? c.sizes(input) : std::nullopt;
  if (!sizes) return Shape::unknown_rank();
  return Shape(std::span<const Dim>(sizes->data(), sizes->size()));
}

Status check_scalar_handle(const InferContext& c) {
  if (!c.shape(0).has_rank() || c.shape(0).rank() == 0) return {};
  return invalid_argument("Input list must be a scalar saw: ", c.shape(0).to_message());
}

HeldType held_in(const InferContext& c, int input = 0) {
  auto data = c.handle_data(input);
  return data ? data->value() : HeldType();
}

// The element shape of the list of input 0, as far as it is known.
Result<Shape> element_of(const InferContext& c, DType dtype) {
  RETURN_IF_ERROR(check_scalar_handle(c));
  HeldType held = held_in(c);
  if (held.dtype != DType::kInvalid) RETURN_IF_ERROR(check_list_dtype(dtype, held.dtype));
  return held.shape;
}

// What a reader of the list of input 0 gets, whose input `asked` is the shape that it asks for.
Result<Shape> element_to_read(const InferContext& c, DType dtype, int asked) {
  ASSIGN_OR_RETURN(Shape element, element_of(c, dtype));
  ASSIGN_OR_RETURN(Shape open, open_shape(c, asked));
  return shape_to_read(element, open);
}

Shape with_leading(Dim first, const Shape& element) {
  if (!element.has_rank()) return element;
  Shape shape = element;
  shape.insert(0, first);
  return shape;
}

// A new list, whose input 0 is its element shape.
Status new_list(InferContext& c) {
  if (!c.is_graph()) return {};
  ASSIGN_OR_RETURN(Shape element, open_shape(c, 0));
  c.set_handle_data(0, {c.attrs<TensorListAttrs>().element_dtype, std::move(element)});
  return {};
}

// A list of the rows of input 0; input `element` says their shape.
Status list_of_rows(InferContext& c, int element) {
  if (!c.is_graph()) return {};
  ASSIGN_OR_RETURN(Shape open, open_shape(c, element));
  RETURN_IF_ERROR(check_rows(c.shape(0), open));
  c.set_handle_data(0, {c.dtype(0), std::move(open)});
  return {};
}

// The list of input 0 with other elements. Whether these fit is found when it runs.
Status same_list(InferContext& c) {
  if (!c.is_graph()) return {};
  RETURN_IF_ERROR(check_scalar_handle(c));
  if (auto data = c.handle_data(0)) c.set_handle_data(0, *data);
  return {};
}

// --- Gradients. That of a list is a list as long, of the gradients of its elements; those that
// were never set are zeros.

// A shape as an argument of list ops: -1 where it is not known.
Tensor as_open_shape(Emitter& emit, const Shape& shape) {
  if (!shape.has_rank()) return constant(emit, Tensor::scalar<int32_t>(-1));
  std::vector<int32_t> sizes;
  for (Dim dim : shape.dims()) {
    const bool fits = dim.is_number() && dim.number() <= std::numeric_limits<int32_t>::max();
    sizes.push_back(fits ? static_cast<int32_t>(dim.number()) : -1);
  }
  return int32_vector(emit, sizes);
}

Shape without_first(Shape shape) {
  if (shape.has_rank() && shape.rank() > 0) shape.erase(0);
  return shape;
}

// The shape of the rows of input i: all of it, so that rows without a value can be zeros.
Tensor shape_of_row(GradientContext& c, int i) {
  const Shape row = without_first(c.static_shape_of_x(i));
  if (row.is_fully_known()) return as_open_shape(c, row);
  const int32_t second[] = {1};
  return elements_between(c, c.shape_of_x(i), int32_vector(c, second));
}

Tensor zeros_like_x(GradientContext& c, int i) {
  auto zero = Tensor::allocate(c.dtype_of_x(i), Shape());
  if (!zero.ok()) {
    c.fail(zero.status());
    return {};
  }
  visit_plain(c.dtype_of_x(i),
              [&](auto value) { zero->mutable_data<decltype(value)>()[0] = value; });
  return c(kFill, {c.shape_of_x(i), constant(c, *zero)});
}

Tensor length_of_x(GradientContext& c) { return c(kTensorListLength, {c.x(0)}); }
// What the list was made for: its elements may have other shapes than the one that was read.
Tensor element_shape_of_x(GradientContext& c) {
  return c(kTensorListElementShape, {c.x(0)}, {DType::kInt32});
}

// --- Records.

Status element_shape_shape(InferContext& c) {
  const Shape element = held_in(c).shape;
  if (!element.has_rank()) return unknown_outputs(c);
  c.set_shape(0, {Dim(element.rank())});
  SymbolicValue sizes;
  for (Dim dim : element.dims()) sizes.push_back(dim);
  c.set_sizes(0, std::move(sizes));
  return {};
}

void define_empty_list_and_kin(OpRegistry& ops) {
  ops.define(kEmptyTensorList,
             {
                 .name = "EmptyTensorList",
                 .summary = "A list without elements.",
                 .details = "Args:\n  element_shape: The shape of all elements, -1 where any will "
                            "do.\n  max_num_elements: How many elements may be pushed; -1 for any "
                            "number.",
                 .inputs = {"element_shape: shape_type", "max_num_elements: int32"},
                 .outputs = {"handle: variant"},
                 .types = {{"element_dtype", kAllTypes}, {"shape_type", kIndexTypes}},
                 .infer = new_list,
                 .gradient = not_differentiable,
                 .body = kernel(empty_tensor_list_kernel),
                 .values_for_inference = {0},
             });
  ops.define(kTensorListReserve,
             {
                 .name = "TensorListReserve",
                 .summary = "A list of some elements that are not set yet, and read as zeros.",
                 .inputs = {"element_shape: shape_type", "num_elements: int32"},
                 .outputs = {"handle: variant"},
                 .types = {{"element_dtype", kAllTypes}, {"shape_type", kIndexTypes}},
                 .infer = new_list,
                 .gradient = not_differentiable,
                 .body = kernel(tensor_list_reserve_kernel),
                 .values_for_inference = {0},
             });
  ops.define(kTensorListLength, {
                                    .name = "TensorListLength",
                                    .summary = "The number of elements of a list.",
                                    .inputs = {"input_handle: variant"},
                                    .outputs = {"length: int32"},
                                    .infer = [](InferContext& c) { return check_scalar_handle(c); },
                                    .gradient = not_differentiable,
                                    .batch = batch_list_length,
                                    .body = kernel(tensor_list_length_kernel),
                                });
  ops.define(kTensorListElementShape,
             {
                 .name = "TensorListElementShape",
                 .summary = "The shape that a list was made for: a vector of sizes, -1 where any "
                            "will do, or the scalar -1.",
                 .inputs = {"input_handle: variant"},
                 .outputs = {"element_shape: shape_type"},
                 .types = {{"shape_type", kIndexTypes}},
                 .infer = element_shape_shape,
                 .gradient = not_differentiable,
                 .batch = batch_list_element_shape,
                 .body = kernel(tensor_list_element_shape_kernel),
                 .allocates_outputs = true,
             });
}

// --- TensorListPushBack and TensorListPopBack.

Status push_back_list(InferContext& c) {
  if (!c.is_graph()) return {};
  ASSIGN_OR_RETURN(Shape element, element_of(c, c.dtype(1)));
  RETURN_IF_ERROR(check_appended(c.shape(1), element));
  c.set_handle_data(0, {c.dtype(1), std::move(element)});
  return {};
}

void push_back_gradient(GradientContext& c) {
  Tensors popped = c.apply(kTensorListPopBack, {c.dy(), c.shape_of_x(1)}, {c.dtype_of_x(1)});
  if (popped.empty()) return;
  c.set_dx(0, popped[0]);
  c.set_dx(1, popped[1]);
}

void define_push_back(OpRegistry& ops) {
  ops.define(kTensorListPushBack, {
                                      .name = "TensorListPushBack",
                                      .summary = "The list with one element more, its last.",
                                      .inputs = {"input_handle: variant", "tensor: element_dtype"},
                                      .outputs = {"output_handle: variant"},
                                      .types = {{"element_dtype", kAllTypes}},
                                      .infer = push_back_list,
                                      .gradient = push_back_gradient,
                                      .batch = batch_list_push_back,
                                      .body = kernel(tensor_list_push_back_kernel),
                                      .overwrites = 0,
                                  });
}

Status pop_back_list(InferContext& c) {
  if (!c.is_graph()) {
    c.set_shape(1, Shape::unknown_rank());
    return {};
  }
  const DType dtype = c.attrs<TensorListAttrs>().element_dtype;
  ASSIGN_OR_RETURN(Shape element, element_to_read(c, dtype, 1));
  c.set_shape(1, std::move(element));
  c.set_handle_data(0, {dtype, held_in(c).shape});
  return {};
}

void define_pop_back(OpRegistry& ops) {
  ops.define(kTensorListPopBack,
             {
                 .name = "TensorListPopBack",
                 .summary = "The list without its last element, and that element.",
                 .inputs = {"input_handle: variant", "element_shape: int32"},
                 .outputs = {"output_handle: variant", "tensor: element_dtype"},
                 .types = {{"element_dtype", kAllTypes}},
                 .infer = pop_back_list,
                 .gradient =
                     [](GradientContext& c) {
                       c.set_dx(0, c(kTensorListPushBack, {c.dy(0), c.dy(1)}));
                     },
                 .batch = batch_list_pop_back,
                 .body = kernel(tensor_list_pop_back_kernel),
                 .allocates_outputs = true,
                 .values_for_inference = {1},
                 .overwrites = 0,
                 .cost = cost_of_outputs,
             });
}

// --- TensorListGetItem, TensorListSetItem, TensorListResize.

Status get_item_shape(InferContext& c) {
  if (!c.is_graph()) return unknown_outputs(c);
  ASSIGN_OR_RETURN(Shape element, element_to_read(c, c.attrs<TensorListAttrs>().element_dtype, 2));
  c.set_shape(0, std::move(element));
  return {};
}

void get_item_gradient(GradientContext& c) {
  const int32_t one[] = {1};
  Tensor row = c(kExpandDims, {c.dy(), constant(c, Tensor::scalar<int32_t>(0))});
  Tensor index = c(kReshape, {c.x(1), int32_vector(c, one)});
  c.set_dx(0, c(kTensorListScatterAdd, {row, index, element_shape_of_x(c), length_of_x(c)}));
}

void define_get_item(OpRegistry& ops) {
  kTensorListGetItem = ops.define<TensorListAttrs>({
      .name = "TensorListGetItem",
      .summary = "An element of a list.",
      .details = "Raises:\n  InvalidArgumentError: The index is out of range, or the element was "
                 "never set and its shape is not known.",
      .inputs = {"input_handle: variant", "index: int32", "element_shape: Tshape"},
      .outputs = {"item: element_dtype"},
      .types = {{"element_dtype", kAllTypes}, {"Tshape", kIndexTypes}},
      .infer = get_item_shape,
      .gradient = get_item_gradient,
      .batch = batch_list_get_item,
      .body = kernel(tensor_list_get_item_kernel),
      .allocates_outputs = true,
      .values_for_inference = {2},
      .cost = cost_of_outputs,
  });
}

Status set_item_list(InferContext& c) {
  if (!c.is_graph()) return {};
  RETURN_IF_ERROR(check_written(c.shape(2), held_in(c).shape));
  return same_list(c);
}

void set_item_gradient(GradientContext& c) {
  // The reader stands before the writer, which may then work in place.
  if (c.wants(2)) {
    c.set_dx(2, c(kTensorListGetItem, {c.dy(), c.x(1), c.shape_of_x(2)}, {c.dtype_of_x(2)}));
  }
  if (!c.wants(0)) return;
  Tensor rest = c(kTensorListSetItem, {c.dy(), c.x(1), zeros_like_x(c, 2)});
  if (c.attrs<TensorListSetItemAttrs>().resize_if_index_out_of_bounds) {
    rest = c(kTensorListResize, {rest, length_of_x(c)});
  }
  c.set_dx(0, rest);
}

void define_set_item(OpRegistry& ops) {
  kTensorListSetItem = ops.define<TensorListSetItemAttrs>({
      .name = "TensorListSetItem",
      .summary = "The list with another value for one element.",
      .details = "Args:\n  resize_if_index_out_of_bounds: An index behind the end makes the list "
                 "longer; it is an error otherwise.",
      .inputs = {"input_handle: variant", "index: int32", "item: element_dtype"},
      .outputs = {"output_handle: variant"},
      .types = {{"element_dtype", kAllTypes}},
      .infer = set_item_list,
      .gradient = set_item_gradient,
      .batch = batch_list_set_item,
      .body = kernel(tensor_list_set_item_kernel),
      .overwrites = 0,
  });
}

void define_resize(OpRegistry& ops) {
  kTensorListResize = ops.define<NoAttrs>({
      .name = "TensorListResize",
      .summary = "The list without its last elements, or with some more that are not set.",
      .inputs = {"input_handle: variant", "size: int32"},
      .outputs = {"output_handle: variant"},
      .infer = same_list,
      .gradient =
          [](GradientContext& c) {
            c.set_dx(0, c(kTensorListResize, {c.dy(), length_of_x(c)}));
          },
      .batch = batch_list_resize,
      .body = kernel(tensor_list_resize_kernel),
      .overwrites = 0,
  });
}

// --- TensorListStack and TensorListFromTensor.

Status stack_shape(InferContext& c) {
  if (!c.is_graph()) return unknown_outputs(c);
  const auto& attrs = c.attrs<TensorListStackAttrs>();
  ASSIGN_OR_RETURN(Shape element, element_to_read(c, attrs.element_dtype, 1));
  const Dim length = attrs.num_elements >= 0 ? Dim(attrs.num_elements) : Dim::unknown();
  c.set_shape(0, with_leading(length, element));
  return {};
}

void define_stack(OpRegistry& ops) {
  kTensorListStack = ops.define<TensorListStackAttrs>({
      .name = "TensorListStack",
      .summary = "All elements of a list along a new first axis.",
      .details = "Args:\n  num_elements: How many there must be; -1 for any number.",
      .inputs = {"input_handle: variant", "element_shape: int32"},
      .outputs = {"tensor: element_dtype"},
      .types = {{"element_dtype", kAllTypes}},
      .infer = stack_shape,
      .gradient =
          [](GradientContext& c) {
            Tensor shape = as_open_shape(c, without_first(c.static_shape_of_y(0)));
            c.set_dx(0, c(kTensorListFromTensor, {c.dy(), shape}));
          },
      .batch = batch_list_stack,
      .body = kernel(tensor_list_stack_kernel),
      .allocates_outputs = true,
      .values_for_inference = {1},
  });
}

void from_tensor_gradient(GradientContext& c) {
  const Shape& x = c.static_shape_of_x(0);
  const bool is_known = x.has_rank() && x.rank() > 0 && x[0].is_number();
  c.set_dx(0, c(kTensorListStack, {c.dy(), shape_of_row(c, 0)},
                {c.dtype_of_x(0), is_known ? x.size(0) : -1}));
}

void define_from_tensor(OpRegistry& ops) {
  kTensorListFromTensor = ops.define<NoAttrs>({
      .name = "TensorListFromTensor",
      .summary = "A list of the slices of a tensor along its first axis.",
      .inputs = {"tensor: element_dtype", "element_shape: shape_type"},
      .outputs = {"output_handle: variant"},
      .types = {{"element_dtype", kAllTypes}, {"shape_type", kIndexTypes}},
      .infer = [](InferContext& c) -> Status { return list_of_rows(c, 1); },
      .gradient = from_tensor_gradient,
      .batch = batch_list_from_tensor,
      .body = kernel(tensor_list_from_tensor_kernel),
      .values_for_inference = {1},
  });
}

// --- TensorListGather, TensorListScatterV2 and their kin.

Status gather_shape(InferContext& c) {
  if (!c.is_graph()) return unknown_outputs(c);
  ASSIGN_OR_RETURN(Shape element, element_to_read(c, c.attrs<TensorListAttrs>().element_dtype, 2));
  const Shape& indices = c.shape(1);
  Dim count = Dim::unknown();
  if (indices.has_rank()) {
    count = 1;
    for (Dim dim : indices.dims()) count = c.multiply(count, dim);
  }
  c.set_shape(0, with_leading(count, element));
  return {};
}

// Elements that are read twice get the sum.
void gather_gradient(GradientContext& c) {
  c.set_dx(0, c(kTensorListScatterAdd, {c.dy(), c.x(1), element_shape_of_x(c), length_of_x(c)}));
}

void define_gather(OpRegistry& ops) {
  kTensorListGather = ops.define<TensorListAttrs>({
      .name = "TensorListGather",
      .summary = "Elements of a list along a new first axis, in the order of their indices.",
      .inputs = {"input_handle: variant", "indices: int32", "element_shape: int32"},
      .outputs = {"values: element_dtype"},
      .types = {{"element_dtype", kAllTypes}},
      .infer = gather_shape,
      .gradient = gather_gradient,
      .batch = batch_list_gather,
      .body = kernel(tensor_list_gather_kernel),
      .allocates_outputs = true,
      .values_for_inference = {2},
  });
}

Status scattered_list(InferContext& c) { return list_of_rows(c, 2); }

void scatter_gradient(GradientContext& c) {
  c.set_dx(0, c(kTensorListGather, {c.dy(), c.x(1), shape_of_row(c, 0)}, {c.dtype_of_x(0)}));
}

void define_scatter(OpRegistry& ops) {
  kTensorListScatterV2 = ops.define<NoAttrs>({
      .name = "TensorListScatterV2",
      .summary = "A list whose elements at the indices are the slices of a tensor along its first "
                 "axis. The others are not set.",
      .details = "Args:\n  num_elements: The length of the list; -1 for as many as the indices "
                 "need.",
      .inputs = {"tensor: element_dtype", "indices: int32", "element_shape: shape_type",
                 "num_elements: int32"},
      .outputs = {"output_handle: variant"},
      .types = {{"element_dtype", kAllTypes}, {"shape_type", kIndexTypes}},
      .infer = scattered_list,
      .gradient = scatter_gradient,
      .batch = batch_list_scatter,
      .body = kernel(tensor_list_scatter_kernel),
      .values_for_inference = {2},
  });
  kTensorListScatterAdd = ops.define<NoAttrs>({
      .name = "_TensorListScatterAdd",
      .summary = "TensorListScatterV2 where slices for the same index add up: the gradient of "
                 "TensorListGather.",
      .inputs = {"tensor: element_dtype", "indices: int32", "element_shape: shape_type",
                 "num_elements: int32"},
      .outputs = {"output_handle: variant"},
      .types = {{"element_dtype", kNumberTypes}, {"shape_type", kIndexTypes}},
      .infer = scattered_list,
      .gradient = scatter_gradient,
      .batch = batch_list_scatter,
      .body = kernel(tensor_list_scatter_add_kernel),
      .values_for_inference = {2},
  });
}

Status scattered_into(InferContext& c) {
  if (!c.is_graph()) return {};
  RETURN_IF_ERROR(check_rows(c.shape(1), held_in(c).shape));
  return same_list(c);
}

void scatter_into_gradient(GradientContext& c) {
  if (c.wants(1)) {
    c.set_dx(1, c(kTensorListGather, {c.dy(), c.x(2), shape_of_row(c, 1)}, {c.dtype_of_x(1)}));
  }
  if (!c.wants(0)) return;
  Tensor rest = c(kTensorListScatterIntoExistingList, {c.dy(), zeros_like_x(c, 1), c.x(2)});
  c.set_dx(0, c(kTensorListResize, {rest, length_of_x(c)}));
}

void define_scatter_into(OpRegistry& ops) {
  kTensorListScatterIntoExistingList = ops.define<NoAttrs>({
      .name = "TensorListScatterIntoExistingList",
      .summary = "The list with the slices of a tensor along its first axis as the elements at the "
                 "indices; as long as these need.",
      .inputs = {"input_handle: variant", "tensor: element_dtype", "indices: int32"},
      .outputs = {"output_handle: variant"},
      .types = {{"element_dtype", kAllTypes}},
      .infer = scattered_into,
      .gradient = scatter_into_gradient,
      .batch = batch_list_scatter_into,
      .body = kernel(tensor_list_scatter_into_existing_list_kernel),
      .overwrites = 0,
  });
}

// --- TensorListConcatV2 and TensorListSplit.

Status concat_shapes(InferContext& c) {
  c.set_shape(0, Shape::unknown_rank());
  c.set_shape(1, {Dim::unknown()});
  if (!c.is_graph()) return {};
  ASSIGN_OR_RETURN(Shape element, element_to_read(c, c.attrs<TensorListAttrs>().element_dtype, 1));
  if (!element.has_rank()) return {};
  if (element.rank() == 0) {
    return invalid_argument("Concat requires elements to be at least vectors, found scalars ",
                            "instead");
  }
  element.set(0, Dim::unknown());
  c.set_shape(0, std::move(element));
  return {};
}

// [-1, sizes of a row]: what is known of parts of a tensor.
Shape as_part(Shape shape) {
  if (shape.has_rank() && shape.rank() > 0) shape.set(0, Dim::unknown());
  return shape;
}

void define_concat(OpRegistry& ops) {
  kTensorListConcatV2 = ops.define<TensorListAttrs>({
      .name = "TensorListConcatV2",
      .summary = "All elements of a list one after another along their first axis, and the length "
                 "of each.",
      .details = "Args:\n  leading_dims: The lengths of elements that were never set, where "
                 "element_shape leaves them open.",
      .inputs = {"input_handle: variant", "element_shape: shape_type", "leading_dims: int64"},
      .outputs = {"tensor: element_dtype", "lengths: int64"},
      .types = {{"element_dtype", kAllTypes}, {"shape_type", kIndexTypes}},
      .infer = concat_shapes,
      .gradient =
          [](GradientContext& c) {
            Tensor shape = as_open_shape(c, as_part(c.static_shape_of_y(0)));
            c.set_dx(0, c(kTensorListSplit, {c.dy(0), shape, c.y(1)}));
          },
      .batch = batch_list_concat,
      .body = kernel(tensor_list_concat_kernel),
      .allocates_outputs = true,
      .values_for_inference = {1},
  });
}

Status split_list(InferContext& c) {
  if (!c.is_graph()) return {};
  ASSIGN_OR_RETURN(Shape open, open_shape(c, 1));
  RETURN_IF_ERROR(check_rows(c.shape(0), Shape::unknown_rank()));
  const Shape& lengths = c.shape(2);
  if (lengths.has_rank() && lengths.rank() != 1) {
    return invalid_argument("Expected lengths to be a vector, received shape: ",
                            lengths.to_message());
  }
  auto part = merge_shapes(open, as_part(c.shape(0)));
  if (!part.ok()) {
    return invalid_argument("tensor shape ", c.shape(0).to_message(),
                            " is not compatible with element_shape ", open.to_message());
  }
  c.set_handle_data(0, {c.dtype(0), std::move(open)});
  return {};
}

void split_gradient(GradientContext& c) {
  const Shape rest = without_first(c.static_shape_of_x(0));
  const int32_t any[] = {-1};
  Tensor shape = rest.is_fully_known() ? as_open_shape(c, with_leading(Dim::unknown(), rest))
                                       : joined(c, int32_vector(c, any), shape_of_row(c, 0));
  c.set_dx(0, c(kTensorListConcatV2, {c.dy(), shape, c.x(2)}, {c.dtype_of_x(0)}));
}

void define_split(OpRegistry& ops) {
  kTensorListSplit = ops.define<NoAttrs>({
      .name = "TensorListSplit",
      .summary = "A list of the parts of a tensor along its first axis, whose lengths are given.",
      .inputs = {"tensor: element_dtype", "element_shape: shape_type", "lengths: int64"},
      .outputs = {"output_handle: variant"},
      .types = {{"element_dtype", kAllTypes}, {"shape_type", kIndexTypes}},
      .infer = split_list,
      .gradient = split_gradient,
      .body = kernel(tensor_list_split_kernel),
      .values_for_inference = {1},
  });
}

// --- TensorListConcatLists and TensorListPushBackBatch.

Status concat_lists(InferContext& c) {
  auto merged = merge_shapes(c.shape(0), c.shape(1));
  if (!merged.ok()) {
    return invalid_argument("Incompatible input TensorList tensor shapes: ",
                            c.shape(0).to_message(), " vs. ", c.shape(1).to_message());
  }
  c.set_shape(0, *merged);
  if (!c.is_graph()) return {};
  c.set_handle_data(0, {c.attrs<TensorListAttrs>().element_dtype, held_in(c).shape});
  return {};
}

Status push_back_batch_lists(InferContext& c) {
  c.set_shape(0, c.shape(0));
  if (!c.is_graph()) return {};
  RETURN_IF_ERROR(check_rows(c.shape(1), Shape::unknown_rank()));
  c.set_handle_data(0, {c.dtype(1), held_in(c).shape});
  return {};
}

void define_concat_lists_and_push_back_batch(OpRegistry& ops) {
  kTensorListConcatLists = ops.define<TensorListAttrs>({
      .name = "TensorListConcatLists",
      .summary = "Lists of the elements of one list, then of another, for each pair of lists.",
      .inputs = {"input_a: variant", "input_b: variant"},
      .outputs = {"output: variant"},
      .types = {{"element_dtype", kAllTypes}},
      .infer = concat_lists,
      .gradient = not_differentiable,
      .batch = batch_list_concat_lists,
      .body = kernel(tensor_list_concat_lists_kernel),
  });
  kTensorListPushBackBatch = ops.define<NoAttrs>({
      .name = "TensorListPushBackBatch",
      .summary = "Each list of a vector of lists with one element more, a slice of a tensor.",
      .inputs = {"input_handles: variant", "tensor: element_dtype"},
      .outputs = {"output_handles: variant"},
      .types = {{"element_dtype", kAllTypes}},
      .infer = push_back_batch_lists,
      .gradient = not_differentiable,
      .body = kernel(tensor_list_push_back_batch_kernel),
      .overwrites = 0,
  });
}

}  // namespace

void define_tensor_list_ops(OpRegistry& ops) {
  define_empty_list_and_kin(ops);
  define_push_back(ops);
  define_pop_back(ops);
  define_get_item(ops);
  define_set_item(ops);
  define_resize(ops);
  define_stack(ops);
  define_from_tensor(ops);
  define_gather(ops);
  define_scatter(ops);
  define_scatter_into(ops);
  define_concat(ops);
  define_split(ops);
  define_concat_lists_and_push_back_batch(ops);
}

}  // namespace graven::engine
