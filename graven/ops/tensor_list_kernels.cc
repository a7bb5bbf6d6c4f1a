#include "graven/ops/tensor_list_kernels.h"

#include <algorithm>
#include <utility>

#include "graven/ir/kernel.h"
#include "graven/ops/elements.h"
#include "graven/ops/strided_copy.h"
#include "graven/ops/tensor_list_ops.h"
#include "graven/tensor/resource_as.h"
#include "graven/tensor/tensor_list.h"

namespace graven::engine {
namespace {

Result<const TensorList*> list_in(const KernelContext& c, int input = 0) {
  ASSIGN_OR_RETURN(TensorList * list, resource_as<TensorList>(c.input(input), TensorList::kName));
  return list;
}

Result<const TensorList*> list_of_dtype(const KernelContext& c, DType dtype) {
  ASSIGN_OR_RETURN(const TensorList* list, list_in(c));
  RETURN_IF_ERROR(check_list_dtype(dtype, list->dtype()));
  return list;
}

// A list whose elements are all there: the list itself, or a copy of a computed one.
class WholeList {
 public:
  static Result<WholeList> of(const TensorList* list) {
    if (!list->is_computed()) return WholeList(list, {});
    Ref<Variant> copy = list->clone();
    auto* computed = static_cast<TensorList*>(copy.get());
    RETURN_IF_ERROR(computed->compute_all());
    return WholeList(computed, std::move(copy));
  }
  const TensorList* operator->() const { return list_; }
  const TensorList& operator*() const { return *list_; }

 private:
  WholeList(const TensorList* list, Ref<Variant> owned) : list_(list), owned_(std::move(owned)) {}
  const TensorList* list_;
  Ref<Variant> owned_;
};

// The list of input 0, for kernels that read elements.
Result<WholeList> elements_of_dtype(const KernelContext& c, DType dtype) {
  ASSIGN_OR_RETURN(const TensorList* list, list_of_dtype(c, dtype));
  return WholeList::of(list);
}

// The list of input 0 as that of output 0, to be changed at its end.
Result<TensorList*> list_to_shorten(KernelContext& c) {
  if (!c.output(0)) RETURN_IF_ERROR(c.allocate_output(0, DType::kVariant, Shape()));
  if (!(c.output(0) == c.input(0))) c.out<Ref<Resource>>(0)[0] = c.input(0).resource();
  return changeable<TensorList>(c.output(0), TensorList::kName);
}

// The same, to be changed anywhere.
Result<TensorList*> list_to_change(KernelContext& c) {
  ASSIGN_OR_RETURN(TensorList * list, list_to_shorten(c));
  RETURN_IF_ERROR(list->compute_all());
  return list;
}

void give_list(KernelContext& c, Ref<TensorList> list) {
  c.out<Ref<Resource>>(0)[0] = std::move(list);
}

Result<int64_t> number_in(const KernelContext& c, int input) {
  const Tensor& x = c.input(input);
  if (x.num_elements() == 1) return integer_at(x, 0);
  return invalid_argument(c.op().inputs()[static_cast<size_t>(input)].name,
                          " must be one number, got shape ", x.shape().to_message());
}

// Whether a value has the shape that a reader asks for, which is not taken apart for this.
Status check_asked(const Shape& shape, const Tensor& asked) {
  bool fits = true;
  if (asked.rank() == 0) {
    fits = integer_at(asked, 0) == -1;
  } else {
    fits = asked.num_elements() == shape.rank();
    for (int i = 0; fits && i < shape.rank(); ++i) {
      const int64_t size = integer_at(asked, i);
      fits = size == -1 || size == shape.size(i);
    }
  }
  if (fits) return {};
  ASSIGN_OR_RETURN(Shape open, open_shape_of(asked));
  return invalid_argument("Incompatible shapes: an element of shape ", shape.to_message(),
                          " is read as one of shape ", open.to_message());
}

// The shape in which elements without a value are read, which may follow from the others.
Result<Shape> shape_of_zeros(const TensorList& list, const Tensor& asked) {
  ASSIGN_OR_RETURN(Shape open, open_shape_of(asked));
  ASSIGN_OR_RETURN(Shape shape, shape_to_read(list.element_shape(), open));
  if (shape.is_fully_known()) return shape;
  return list.merged_shape(std::move(shape));
}

Result<Tensor> zeros(DType dtype, const Shape& shape) {
  ASSIGN_OR_RETURN(Tensor made, Tensor::allocate(dtype, shape));
  clear_elements(dtype, made.num_elements(), made.mutable_raw_data());
  return made;
}

// An element as its readers get it.
Result<Tensor> read_element(const TensorList& list, int64_t i, const Tensor& asked) {
  if (const Shape* shape = list.shape_of(i)) {
    RETURN_IF_ERROR(check_asked(*shape, asked));
    return list.get(i);
  }
  ASSIGN_OR_RETURN(Shape shape, shape_of_zeros(list, asked));
  if (shape.is_fully_known()) return zeros(list.dtype(), shape);
  return invalid_argument("Trying to read an uninitialized tensor but element_shape is not fully ",
                          "defined: ", shape.to_message(), " and no list element is set");
}

}  // namespace

// --- Rules that inference knows too.

Result<Shape> open_shape_of(const Tensor& sizes) {
  if (sizes.rank() == 0) {
    if (integer_at(sizes, 0) == -1) return Shape::unknown_rank();
    return invalid_argument("The only valid scalar shape tensor is the fully unknown shape ",
                            "specified as -1, not ", integer_at(sizes, 0));
  }
  if (sizes.rank() != 1) {
    return invalid_argument("Shape must be at most rank 1 but is rank ", sizes.rank());
  }
  if (sizes.num_elements() > kMaxRank) {
    return invalid_argument("a shape of ", sizes.num_elements(), " dimensions: there are at most ",
                            kMaxRank);
  }
  Shape shape;
  for (int64_t i = 0; i < sizes.num_elements(); ++i) {
    const int64_t size = integer_at(sizes, i);
    if (size < -1) return invalid_argument("Dimension ", size, " must be >= -1");
    shape.push_back(size < 0 ? Dim::unknown() : Dim(size));
  }
  return shape;
}

Status check_list_dtype(DType op, DType list) {
  if (op == list) return {};
  return invalid_argument("Invalid data types; op elements ", dtype_op_def_name(op),
                          " but list elements ", dtype_op_def_name(list));
}

Status check_appended(const Shape& item, const Shape& element) {
  if (are_compatible(item, element)) return {};
  return invalid_argument("Tried to append a tensor with incompatible shape to a list. Op element ",
                          "shape: ", item.to_message(), " list shape: ", element.to_message());
}

Status check_written(const Shape& item, const Shape& element) {
  if (are_compatible(item, element)) return {};
  return invalid_argument("Tried to set a tensor with incompatible shape at a list index. Item ",
                          "element shape: ", item.to_message(),
                          " list shape: ", element.to_message());
}

Status check_rows(const Shape& tensor, const Shape& element) {
  if (!tensor.has_rank()) return {};
  if (tensor.rank() == 0) {
    return invalid_argument("Tensor must be at least a vector, but saw shape: []");
  }
  Shape row = tensor;
  row.erase(0);
  if (are_compatible(row, element)) return {};
  return invalid_argument("Specified a list with shape ", element.to_message(),
                          " from a tensor with shape ", row.to_message());
}

Result<Shape> shape_to_read(const Shape& element, const Shape& asked) {
  auto merged = merge_shapes(element, asked);
  if (merged.ok()) return merged;
  return invalid_argument("Incompatible shapes: elements of a list with shape ",
                          element.to_message(), " are read as ones of shape ", asked.to_message());
}

// --- Making lists, and what they are.

Status empty_tensor_list_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(Shape element, open_shape_of(c.input(0)));
  ASSIGN_OR_RETURN(int64_t max_length, number_in(c, 1));
  give_list(c, make_ref<TensorList>(c.attrs<TensorListAttrs>().element_dtype, std::move(element),
                                    max_length));
  return {};
}

Status tensor_list_reserve_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(Shape element, open_shape_of(c.input(0)));
  ASSIGN_OR_RETURN(int64_t length, number_in(c, 1));
  if (length < 0) {
    return invalid_argument("The num_elements to reserve must be a non negative number, but got ",
                            length);
  }
  auto list = make_ref<TensorList>(c.attrs<TensorListAttrs>().element_dtype, std::move(element));
  list->resize(length);
  give_list(c, std::move(list));
  return {};
}

Status tensor_list_element_shape_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(const TensorList* list, list_in(c));
  const Shape& shape = list->element_shape();
  Shape vector;
  if (shape.has_rank()) vector.push_back(shape.rank());
  RETURN_IF_ERROR(c.allocate_output(0, c.attrs<TensorListElementShapeAttrs>().shape_type, vector));
  visit_index_type(c.output(0).dtype(), [&](auto zero) {
    using T = decltype(zero);
    auto to = c.out<T>(0);
    if (!shape.has_rank()) to[0] = -1;
    for (int i = 0; i < shape.rank(); ++i) {
      to[static_cast<size_t>(i)] = static_cast<T>(shape[i].is_number() ? shape.size(i) : -1);
    }
  });
  return {};
}

Status tensor_list_length_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(const TensorList* list, list_in(c));
  if (list->length() != static_cast<int32_t>(list->length())) {
    return invalid_argument("A list of ", list->length(), " elements is longer than an int32 says");
  }
  c.out<int32_t>(0)[0] = static_cast<int32_t>(list->length());
  return {};
}

// --- One element.

Status tensor_list_push_back_kernel(KernelContext& c) {
  const Tensor& value = c.input(1);
  ASSIGN_OR_RETURN(const TensorList* before, list_of_dtype(c, value.dtype()));
  RETURN_IF_ERROR(check_appended(value.shape(), before->element_shape()));
  if (before->max_length() >= 0 && before->length() >= before->max_length()) {
    return invalid_argument("Tried to push item into a full list list size: ", before->length(),
                            " max_num_elements: ", before->max_length());
  }
  ASSIGN_OR_RETURN(TensorList * list, list_to_change(c));
  return list->push_back(value);
}

Status tensor_list_pop_back_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(const TensorList* before,
                   list_of_dtype(c, c.attrs<TensorListAttrs>().element_dtype));
  const int64_t last = before->length() - 1;
  if (last < 0) return invalid_argument("Trying to pop from an empty list");
  if (!before->is_computed()) {
    ASSIGN_OR_RETURN(Tensor value, read_element(*before, last, c.input(1)));
    c.set_output(1, std::move(value));
    ASSIGN_OR_RETURN(TensorList * list, list_to_shorten(c));
    list->resize(last);
    return {};
  }
  ASSIGN_OR_RETURN(TensorList * list, list_to_shorten(c));
  RETURN_IF_ERROR(list->compute_last());
  ASSIGN_OR_RETURN(Tensor value, read_element(*list, last, c.input(1)));
  c.set_output(1, std::move(value));
  list->resize(last);
  return {};
}

Status tensor_list_get_item_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(const WholeList list,
                   elements_of_dtype(c, c.attrs<TensorListAttrs>().element_dtype));
  ASSIGN_OR_RETURN(int64_t index, number_in(c, 1));
  if (index < 0 || index >= list->length()) {
    return invalid_argument("Trying to access element ", index, " in a list with ", list->length(),
                            " elements");
  }
  ASSIGN_OR_RETURN(Tensor value, read_element(*list, index, c.input(2)));
  c.set_output(0, std::move(value));
  return {};
}

Status tensor_list_set_item_kernel(KernelContext& c) {
  const Tensor& value = c.input(2);
  ASSIGN_OR_RETURN(const TensorList* before, list_of_dtype(c, value.dtype()));
  if (c.input(1).rank() != 0) {
    return invalid_argument("index must be a scalar, got shape ", c.input(1).shape().to_message());
  }
  ASSIGN_OR_RETURN(int64_t index, number_in(c, 1));
  const bool may_grow = c.attrs<TensorListSetItemAttrs>().resize_if_index_out_of_bounds;
  if (index < 0 || (!may_grow && index >= before->length())) {
    return invalid_argument("Trying to modify element ", index, " in a list with ",
                            before->length(), " elements");
  }
  RETURN_IF_ERROR(check_written(value.shape(), before->element_shape()));
  ASSIGN_OR_RETURN(TensorList * list, list_to_change(c));
  if (index >= list->length()) list->resize(index + 1);
  return list->set(index, value);
}

Status tensor_list_resize_kernel(KernelContext& c) {
  RETURN_IF_ERROR(list_in(c).status());
  ASSIGN_OR_RETURN(int64_t size, number_in(c, 1));
  if (size < 0) {
    return invalid_argument("TensorListResize expects size to be non-negative. Got: ", size);
  }
  ASSIGN_OR_RETURN(TensorList * list, list_to_change(c));
  list->resize(size);
  return {};
}

// --- All elements.

Status tensor_list_stack_kernel(KernelContext& c) {
  const auto& attrs = c.attrs<TensorListStackAttrs>();
  ASSIGN_OR_RETURN(const WholeList list, elements_of_dtype(c, attrs.element_dtype));
  if (attrs.num_elements != -1 && attrs.num_elements != list->length()) {
    return invalid_argument("Operation expected a list with ", attrs.num_elements,
                            " elements but got a list with ", list->length(), " elements");
  }
  ASSIGN_OR_RETURN(Shape element, shape_of_zeros(*list, c.input(1)));
  if (!element.is_fully_known()) {
    return invalid_argument(
        list->length() == 0
            ? "Tried to stack elements of an empty list with non-fully-defined element_shape: "
            : "Tried to stack list which only contains uninitialized tensors and has a "
              "non-fully-defined element_shape: ",
        element.to_message());
  }
  ASSIGN_OR_RETURN(Tensor all, list->stack(element));
  c.set_output(0, std::move(all));
  return {};
}

Status tensor_list_from_tensor_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(Shape element, open_shape_of(c.input(1)));
  RETURN_IF_ERROR(check_rows(c.input(0).shape(), element));
  ASSIGN_OR_RETURN(Ref<TensorList> list, TensorList::of_rows(c.input(0), std::move(element)));
  give_list(c, std::move(list));
  return {};
}

// --- Some elements.

Status tensor_list_gather_kernel(KernelContext& c) {
  const DType dtype = c.attrs<TensorListAttrs>().element_dtype;
  ASSIGN_OR_RETURN(const WholeList list, elements_of_dtype(c, dtype));
  const auto indices = c.in<int32_t>(1);
  ASSIGN_OR_RETURN(Shape open, open_shape_of(c.input(2)));
  ASSIGN_OR_RETURN(Shape element, shape_to_read(list->element_shape(), open));
  for (int32_t index : indices) {
    if (index < 0 || index >= list->length()) {
      return invalid_argument("Trying to gather element ", index, " in a list with ",
                              list->length(), " elements");
    }
    const Shape* shape = list->shape_of(index);
    if (!shape || *shape == element) continue;
    auto merged = merge_shapes(element, *shape);
    if (!merged.ok()) {
      return invalid_argument("Incompatible shapes: element ", index, " of a list has shape ",
                              shape->to_message(), ", others ", element.to_message());
    }
    element = *merged;
  }
  if (!element.is_fully_known()) {
    return invalid_argument(
        indices.empty() ? "Tried to gather 0-elements" : "Tried to gather uninitialized tensors",
        " from a list with non-fully-defined element_shape: ", element.to_message());
  }
  Shape whole = element;
  whole.insert(0, static_cast<int64_t>(indices.size()));
  RETURN_IF_ERROR(c.allocate_output(0, dtype, whole));
  if (indices.empty()) return {};
  const int64_t num_elements = element.num_elements();
  void* to = c.output(0).mutable_raw_data();
  for (int32_t index : indices) {
    if (list->is_set(index)) {
      list->copy_to(index, to);
    } else {
      clear_elements(dtype, num_elements, to);
    }
    to = element_at(dtype, to, num_elements);
  }
  return {};
}

namespace {

Status check_indices(const Tensor& tensor, std::span<const int32_t> indices) {
  if (tensor.rank() == 0 || tensor.shape().size(0) != static_cast<int64_t>(indices.size())) {
    return invalid_argument("Invalid number of rows in input tensor. Expected: ", indices.size(),
                            " Actual shape: ", tensor.shape().to_message());
  }
  if (std::ranges::any_of(indices, [](int32_t index) { return index < 0; })) {
    return invalid_argument("Indices in TensorListScatter must all be non-negative");
  }
  return {};
}

int64_t length_for(std::span<const int32_t> indices) {
  return indices.empty() ? 0 : int64_t{*std::ranges::max_element(indices)} + 1;
}

// The list of inputs tensor, indices, element_shape, num_elements, of which nothing is set yet. It
// has room for what indices name, and not for all: the gradient of a read of one element of a long
// list is short.
Result<Ref<TensorList>> list_for_scatter(KernelContext& c) {
  const Tensor& tensor = c.input(0);
  const auto indices = c.in<int32_t>(1);
  ASSIGN_OR_RETURN(Shape element, open_shape_of(c.input(2)));
  ASSIGN_OR_RETURN(int64_t length, number_in(c, 3));
  RETURN_IF_ERROR(check_rows(tensor.shape(), element));
  RETURN_IF_ERROR(check_indices(tensor, indices));
  if (length < -1) {
    return invalid_argument("TensorListScatter expects num_elements >= -1, found: ", length);
  }
  const int64_t needed = length_for(indices);
  if (length == -1) length = needed;
  if (needed > length) {
    return invalid_argument("TensorListScatter: Trying to scatter at index ", needed - 1,
                            " in list with size ", length);
  }
  auto list = make_ref<TensorList>(tensor.dtype(), std::move(element));
  list->resize(length);
  if (!indices.empty()) {
    Shape row = tensor.shape();
    row.erase(0);
    RETURN_IF_ERROR(list->reserve(*std::ranges::min_element(indices), needed, row));
  }
  return list;
}

}  // namespace

Status tensor_list_scatter_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(Ref<TensorList> list, list_for_scatter(c));
  int64_t row = 0;
  for (int32_t index : c.in<int32_t>(1)) {
    RETURN_IF_ERROR(list->set_to_row(index, c.input(0), row++));
  }
  give_list(c, std::move(list));
  return {};
}

Status tensor_list_scatter_add_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(Ref<TensorList> list, list_for_scatter(c));
  int64_t row = 0;
  for (int32_t index : c.in<int32_t>(1)) {
    if (list->is_set(index)) {
      RETURN_IF_ERROR(list->add_row_to(index, c.input(0), row++));
    } else {
      RETURN_IF_ERROR(list->set_to_row(index, c.input(0), row++));
    }
  }
  give_list(c, std::move(list));
  return {};
}

Status tensor_list_scatter_into_existing_list_kernel(KernelContext& c) {
  const Tensor& tensor = c.input(1);
  const auto indices = c.in<int32_t>(2);
  ASSIGN_OR_RETURN(const TensorList* before, list_of_dtype(c, tensor.dtype()));
  RETURN_IF_ERROR(check_rows(tensor.shape(), before->element_shape()));
  RETURN_IF_ERROR(check_indices(tensor, indices));
  ASSIGN_OR_RETURN(TensorList * list, list_to_change(c));
  if (const int64_t needed = length_for(indices); needed > list->length()) list->resize(needed);
  int64_t row = 0;
  for (int32_t index : indices) RETURN_IF_ERROR(list->set_to_row(index, tensor, row++));
  return {};
}

// --- Elements of different lengths.

namespace {

// The length of the elements that are set, if all have one.
std::optional<int64_t> common_length(const TensorList& list) {
  std::optional<int64_t> common;
  for (int64_t i = 0; i < list.length(); ++i) {
    const Shape* own = list.shape_of(i);
    if (!own || own->rank() == 0) continue;
    if (common && *common != own->size(0)) return std::nullopt;
    common = own->size(0);
  }
  return common;
}

// The shape of element i of a list that is joined; `element` is what is known of all, and `common`
// the length of those that are set.
Result<Shape> shape_to_join(const TensorList& list, int64_t i, const Shape& element,
                            std::span<const int64_t> leading_dims, std::optional<int64_t> common) {
  if (const Shape* own = list.shape_of(i)) {
    if (own->rank() > 0) return *own;
    return invalid_argument("Concat saw a scalar shape at index ", i,
                            " but requires at least vectors");
  }
  Shape shape = element;
  if (!shape.has_rank() || shape.rank() == 0 || shape[0].is_number()) return shape;
  if (i >= static_cast<int64_t>(leading_dims.size())) {
    if (common) {
      shape.set(0, *common);
      return shape;
    }
    return invalid_argument("List contains uninitialized tensor at index ", i,
                            " but leading_dims has only ", leading_dims.size(), " elements");
  }
  const int64_t length = leading_dims[static_cast<size_t>(i)];
  if (length < 0) return invalid_argument("leading_dims must not be negative, got ", length);
  shape.set(0, length);
  return shape;
}

// What is known of all elements: of the first axis only what the caller asks for.
Result<Shape> element_to_join(const TensorList& list, const Tensor& asked) {
  ASSIGN_OR_RETURN(Shape open, open_shape_of(asked));
  ASSIGN_OR_RETURN(Shape element, shape_to_read(list.element_shape(), open));
  if (element.has_rank() && element.rank() == 0) {
    return invalid_argument("Concat requires elements to be at least vectors, found scalars ",
                            "instead");
  }
  for (int64_t i = 0; i < list.length(); ++i) {
    const Shape* own = list.shape_of(i);
    if (!own || own->rank() == 0) continue;
    Shape rest = *own;
    rest.set(0, Dim::unknown());
    auto merged = merge_shapes(element, rest);
    if (!merged.ok() || !are_compatible(element, *own)) {
      return invalid_argument("Incompatible shapes: element ", i, " of a list has shape ",
                              own->to_message(), ", others ", element.to_message());
    }
    element = *merged;
  }
  return element;
}

}  // namespace

Status tensor_list_concat_kernel(KernelContext& c) {
  const DType dtype = c.attrs<TensorListAttrs>().element_dtype;
  ASSIGN_OR_RETURN(const WholeList list, elements_of_dtype(c, dtype));
  ASSIGN_OR_RETURN(Shape element, element_to_join(*list, c.input(1)));
  RETURN_IF_ERROR(c.allocate_output(1, DType::kInt64, {Dim(list->length())}));
  const auto lengths = c.out<int64_t>(1);
  const std::optional<int64_t> common = common_length(*list);
  int64_t sum = 0;
  for (int64_t i = 0; i < list->length(); ++i) {
    ASSIGN_OR_RETURN(Shape shape, shape_to_join(*list, i, element, c.in<int64_t>(2), common));
    if (!shape.has_rank()) continue;
    lengths[static_cast<size_t>(i)] = shape.size(0);
    if (__builtin_add_overflow(sum, shape.size(0), &sum)) {
      return invalid_argument("The sum of the elements' lengths is beyond int64");
    }
  }
  Shape whole = element;
  if (whole.has_rank()) whole.set(0, sum);
  if (!whole.is_fully_known()) {
    return invalid_argument("All except the first dimension must be fully defined when concating ",
                            "an empty tensor list. element_shape: ", element.to_message());
  }
  RETURN_IF_ERROR(c.allocate_output(0, dtype, whole));
  whole.set(0, 1);
  const int64_t in_row = whole.num_elements();
  void* to = c.output(0).mutable_raw_data();
  for (int64_t i = 0; i < list->length(); ++i) {
    const int64_t count = lengths[static_cast<size_t>(i)] * in_row;
    if (list->is_set(i)) {
      list->copy_to(i, to);
    } else {
      clear_elements(dtype, count, to);
    }
    to = element_at(dtype, to, count);
  }
  return {};
}

namespace {

Status check_lengths(const Shape& tensor, const Tensor& lengths) {
  if (lengths.rank() != 1) {
    return invalid_argument("Expected lengths to be a vector, received shape: ",
                            lengths.shape().to_message());
  }
  const int64_t whole = tensor.size(0);
  int64_t used = 0;
  for (int64_t length : lengths.data<int64_t>()) {
    if (length < 0) return invalid_argument("Invalid value in lengths: ", length);
    if (length > whole - used) {
      return invalid_argument("Attempting to slice ", length, " rows from row ", used,
                              " on, of a tensor with length ", whole);
    }
    used += length;
  }
  if (used == whole) return {};
  return invalid_argument("Unused values in tensor. Length of tensor: ", whole,
                          " Values used: ", used);
}

}  // namespace

Status tensor_list_split_kernel(KernelContext& c) {
  const Tensor& tensor = c.input(0);
  ASSIGN_OR_RETURN(Shape element, open_shape_of(c.input(1)));
  RETURN_IF_ERROR(check_rows(tensor.shape(), Shape::unknown_rank()));
  RETURN_IF_ERROR(check_lengths(tensor.shape(), c.input(2)));
  const auto lengths = c.in<int64_t>(2);
  Shape part = tensor.shape();
  for (int64_t length : lengths) {
    part.set(0, length);
    if (are_compatible(part, element)) continue;
    return invalid_argument("A part of shape ", part.to_message(),
                            " is not compatible with element_shape ", element.to_message());
  }
  // Parts of one length are the rows of another shape.
  if (!lengths.empty() && std::ranges::count(lengths, lengths[0]) == std::ssize(lengths)) {
    part.insert(0, static_cast<int64_t>(lengths.size()));
    ASSIGN_OR_RETURN(Ref<TensorList> list,
                     TensorList::of_rows(tensor.with_shape(part), std::move(element)));
    give_list(c, std::move(list));
    return {};
  }
  auto list = make_ref<TensorList>(tensor.dtype(), std::move(element));
  part.set(0, 1);
  const int64_t in_row = part.num_elements();
  int64_t first = 0;
  for (int64_t length : lengths) {
    part.set(0, length);
    Tensor value = view_of_elements(tensor, first, part);
    if (!value) {
      ASSIGN_OR_RETURN(value, Tensor::allocate(tensor.dtype(), part));
      copy_strided(tensor.dtype(), {{length * in_row, 1, 1}},
                   element_at(tensor.dtype(), tensor.raw_data(), first), value.mutable_raw_data());
    }
    RETURN_IF_ERROR(list->push_back(value));
    first += length * in_row;
  }
  give_list(c, std::move(list));
  return {};
}

// --- Tensors of lists.

Status tensor_list_concat_lists_kernel(KernelContext& c) {
  const Tensor &a = c.input(0), &b = c.input(1);
  if (!(a.shape() == b.shape())) {
    return invalid_argument("Incompatible input TensorList tensor shapes: ", a.shape().to_message(),
                            " vs. ", b.shape().to_message());
  }
  const DType dtype = c.attrs<TensorListAttrs>().element_dtype;
  const auto from_a = a.data<Ref<Resource>>(), from_b = b.data<Ref<Resource>>();
  for (size_t i = 0; i < from_a.size(); ++i) {
    const auto* x = dynamic_cast<const TensorList*>(from_a[i].get());
    const auto* y = dynamic_cast<const TensorList*>(from_b[i].get());
    if (!x || !y) return invalid_argument("element ", i, " of the inputs is no TensorList");
    RETURN_IF_ERROR(check_list_dtype(dtype, x->dtype()));
    RETURN_IF_ERROR(check_list_dtype(dtype, y->dtype()));
    if (!(x->element_shape() == y->element_shape())) {
      return invalid_argument("input_a and input_b TensorList element shapes are not identical at ",
                              "index ", i, ". Saw ", x->element_shape().to_message(), " vs. ",
                              y->element_shape().to_message());
    }
    ASSIGN_OR_RETURN(const WholeList more, WholeList::of(y));
    Ref<Variant> joined = x->clone();
    auto* list = static_cast<TensorList*>(joined.get());
    RETURN_IF_ERROR(list->compute_all());
    list->resize(x->length() + y->length());
    for (int64_t k = 0; k < y->length(); ++k) {
      ASSIGN_OR_RETURN(Tensor value, more->get(k));
      if (value) RETURN_IF_ERROR(list->set(x->length() + k, value));
    }
    c.out<Ref<Resource>>(0)[i] = std::move(joined);
  }
  return {};
}

Status tensor_list_push_back_batch_kernel(KernelContext& c) {
  const Tensor &handles = c.input(0), &tensor = c.input(1);
  if (handles.rank() != 1) {
    return invalid_argument("Expected input_handles to be a vector, but saw shape: ",
                            handles.shape().to_message());
  }
  RETURN_IF_ERROR(check_rows(tensor.shape(), Shape::unknown_rank()));
  if (tensor.shape().size(0) != handles.num_elements()) {
    return invalid_argument("Expected tensor.shape[0] == input_handles.size, but saw ",
                            tensor.shape().size(0), " vs. ", handles.num_elements());
  }
  Shape item = tensor.shape();
  item.erase(0);
  auto lists = c.out<Ref<Resource>>(0);
  if (!(c.output(0) == handles)) std::ranges::copy(handles.data<Ref<Resource>>(), lists.begin());
  for (size_t i = 0; i < lists.size(); ++i) {
    auto* list = dynamic_cast<TensorList*>(lists[i].get());
    if (!list) return invalid_argument("element ", i, " of input_handles is no TensorList");
    RETURN_IF_ERROR(check_list_dtype(tensor.dtype(), list->dtype()));
    RETURN_IF_ERROR(check_appended(item, list->element_shape()));
    if (!list->is_unique()) {
      lists[i] = list->clone();
      list = static_cast<TensorList*>(lists[i].get());
    }
    RETURN_IF_ERROR(list->compute_all());
    list->resize(list->length() + 1);
    RETURN_IF_ERROR(list->set_to_row(list->length() - 1, tensor, static_cast<int64_t>(i)));
  }
  return {};
}

}  // namespace graven::engine
