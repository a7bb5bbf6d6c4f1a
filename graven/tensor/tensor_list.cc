#include "graven/tensor/tensor_list.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "graven/tensor/tensor_sums.h"

namespace graven::engine {
namespace {

// A list that says how long it may become gets room for that at once, up to this size.
constexpr size_t kMaxReservedBytes = size_t{64} << 20;
constexpr uintptr_t kCacheLine = 64;

// Copies elements of any dtype; those of `to` are objects already.
void copy_elements(const Tensor& from, int64_t first, int64_t count, void* to) {
  if (count == 0) return;
  const auto at = static_cast<size_t>(first), n = static_cast<size_t>(count);
  if (from.dtype() == DType::kString) {
    std::ranges::copy(from.data<std::string>().subspan(at, n), static_cast<std::string*>(to));
  } else if (!is_plain(from.dtype())) {
    std::ranges::copy(from.data<Ref<Resource>>().subspan(at, n), static_cast<Ref<Resource>*>(to));
  } else {
    const size_t size = dtype_size(from.dtype());
    std::memcpy(to, static_cast<const std::byte*>(from.raw_data()) + at * size, n * size);
  }
}

// A view of elements that lie together, if there are many and it begins at a cache line, else a
// copy.
Result<Tensor> part_of(DType dtype, const Shape& shape, const Ref<Buffer>& buffer,
                       const std::byte* from, size_t bytes) {
  const bool may_be_view = buffer && bytes > TensorList::kMaxRowBytes;
  if (may_be_view && reinterpret_cast<uintptr_t>(from) % kCacheLine == 0) {
    const auto* start = static_cast<const std::byte*>(buffer->data());
    return Tensor::of_buffer(dtype, shape, buffer, static_cast<size_t>(from - start));
  }
  ASSIGN_OR_RETURN(Tensor made, Tensor::allocate(dtype, shape));
  if (bytes > 0) std::memcpy(made.mutable_raw_data(), from, bytes);
  return made;
}

// Row `row` of a tensor.
Result<Tensor> row_of(const Tensor& rows, int64_t row, const Shape& shape, int64_t num_elements) {
  if (is_plain(rows.dtype())) {
    const size_t bytes = static_cast<size_t>(num_elements) * dtype_size(rows.dtype());
    const auto* from = static_cast<const std::byte*>(rows.raw_data());
    return part_of(rows.dtype(), shape, rows.eager()->buffer(),
                   from + static_cast<size_t>(row) * bytes, bytes);
  }
  ASSIGN_OR_RETURN(Tensor made, Tensor::allocate(rows.dtype(), shape));
  copy_elements(rows, row * num_elements, num_elements, made.mutable_raw_data());
  return made;
}

Result<Ref<Buffer>> allocate_rows(DType dtype, int64_t rows, int64_t num_elements) {
  int64_t count;
  if (__builtin_mul_overflow(rows, num_elements, &count)) {
    count = std::numeric_limits<int64_t>::max();  // the allocation is refused
  }
  return Buffer::allocate(dtype, count);
}

}  // namespace

// --- Rows.

void TensorList::Rows::include(int64_t i) {
  if (missing.empty()) {
    if (first == last) {
      first = i;
      last = i + 1;
      return;
    }
    if (i >= first && i < last) return;
    if (i == last || i == first - 1) {
      i == last ? ++last : --first;
      return;
    }
    missing.assign(static_cast<size_t>(last), false);
    std::fill_n(missing.begin(), first, true);
    num_missing = first;
    first = 0;
  }
  if (i >= last) {
    missing.resize(static_cast<size_t>(i) + 1, true);
    num_missing += i + 1 - last;
    last = i + 1;
  }
  if (!missing[static_cast<size_t>(i)]) return;
  missing[static_cast<size_t>(i)] = false;
  if (--num_missing == 0) missing.clear();
}

void TensorList::Rows::truncate(int64_t length) {
  if (last <= length) return;
  if (!missing.empty()) {
    num_missing -= std::count(missing.begin() + length, missing.end(), true);
    missing.resize(static_cast<size_t>(length));
    if (num_missing == 0) missing.clear();
  }
  last = length;
  if (last > first && num_missing < last - first) return;
  first = last = num_missing = 0;
  missing.clear();
}

// The shape of rows, when there are none.
void TensorList::start_rows(const Shape& shape, int64_t num_elements, size_t bytes) {
  if (rows_.bytes != bytes) rows_ = Rows();
  rows_.shape = shape;
  rows_.num_elements = num_elements;
  rows_.bytes = bytes;
}

Status TensorList::set_row(int64_t i, const void* from) {
  RETURN_IF_ERROR(make_room(i));
  if (rows_.bytes > 0) std::memcpy(rows_.at(i), from, rows_.bytes);
  rows_.include(i);
  return {};
}

// Makes the buffer the list's own, with room for a row.
Status TensorList::make_room(int64_t i) {
  if (rows_.bytes == 0) return {};
  const bool has_place = rows_.buffer && i >= rows_.base && i < rows_.base + rows_.capacity;
  if (has_place && rows_.buffer->is_unique() && rows_.buffer->is_writable()) return {};
  return move_rows(i);
}

Status TensorList::move_rows(int64_t i) {
  int64_t capacity = std::max(length_, i + 1);
  if (rows_.buffer && i >= rows_.base + rows_.capacity) {
    capacity = std::max(capacity, 2 * rows_.capacity);
  }
  if (max_length_ > 0 && static_cast<size_t>(max_length_) <= kMaxReservedBytes / rows_.bytes) {
    capacity = std::max(length_, max_length_);
  }
  ASSIGN_OR_RETURN(Ref<Buffer> buffer, allocate_rows(dtype_, capacity, rows_.num_elements));
  auto* data = static_cast<std::byte*>(buffer->data());
  if (holds_rows()) {
    std::memcpy(data + static_cast<size_t>(rows_.first) * rows_.bytes, rows_.at(rows_.first),
                static_cast<size_t>(rows_.last - rows_.first) * rows_.bytes);
  }
  rows_.buffer = std::move(buffer);
  rows_.data = data;
  rows_.base = 0;
  rows_.capacity = capacity;
  return {};
}

Result<Tensor> TensorList::row(int64_t i) const {
  return part_of(dtype_, rows_.shape, rows_.buffer, rows_.at(i), rows_.bytes);
}

Status TensorList::become_tensors() {
  std::vector<Tensor> tensors(static_cast<size_t>(rows_.last));
  for (int64_t i = rows_.first; i < rows_.last; ++i) {
    if (!rows_.is_set(i)) continue;
    ASSIGN_OR_RETURN(tensors[static_cast<size_t>(i)], row(i));
  }
  tensors_ = std::move(tensors);
  rows_ = Rows();
  return {};
}

// --- The list.

Result<Ref<TensorList>> TensorList::of_rows(const Tensor& rows, Shape element_shape) {
  auto list = make_ref<TensorList>(rows.dtype(), std::move(element_shape));
  Shape element = rows.shape();
  const int64_t length = list->length_ = element.size(0);
  element.erase(0);
  if (length == 0) return list;
  const int64_t num_elements = rows.num_elements() / length;
  if (!is_plain(rows.dtype())) {
    for (int64_t i = 0; i < length; ++i) {
      ASSIGN_OR_RETURN(Tensor row, row_of(rows, i, element, num_elements));
      list->tensors_.push_back(std::move(row));
    }
    return list;
  }
  Rows& own = list->rows_;
  own.shape = std::move(element);
  own.num_elements = num_elements;
  own.bytes = rows.bytes() / static_cast<size_t>(length);
  own.last = own.capacity = length;
  own.buffer = rows.eager()->buffer();
  own.data = static_cast<std::byte*>(rows.mutable_raw_data());
  if (own.buffer || own.bytes == 0) return list;
  ASSIGN_OR_RETURN(own.buffer, Buffer::allocate(rows.dtype(), rows.num_elements()));
  own.data = static_cast<std::byte*>(own.buffer->data());
  std::memcpy(own.data, rows.raw_data(), rows.bytes());
  return list;
}

Ref<TensorList> TensorList::computed(DType dtype, Shape element_shape, int64_t length,
                                     Ref<ElementSource> source, int number) {
  auto list = make_ref<TensorList>(dtype, std::move(element_shape));
  list->length_ = length;
  if (length > 0) list->source_ = std::move(source);
  list->number_ = number;
  return list;
}

Status TensorList::compute_last() {
  if (!source_ || is_set(length_ - 1)) return {};
  ASSIGN_OR_RETURN(const std::vector<Tensor> elements,
                   source_->elements_up_to(number_, length_ - 1));
  return set_computed(length_ - static_cast<int64_t>(elements.size()), elements);
}

Status TensorList::compute_all() {
  if (!source_) return {};
  std::vector<Tensor> all(static_cast<size_t>(length_));
  for (size_t left = all.size(); left > 0;) {
    ASSIGN_OR_RETURN(std::vector<Tensor> some,
                     source_->elements_up_to(number_, static_cast<int64_t>(left) - 1));
    for (; !some.empty(); some.pop_back()) all[--left] = std::move(some.back());
  }
  rows_ = Rows();
  tensors_.clear();
  RETURN_IF_ERROR(set_computed(0, all));
  source_ = nullptr;
  return {};
}

// For a list of which nothing is set.
Status TensorList::set_computed(int64_t first, std::span<const Tensor> elements) {
  const auto end = first + static_cast<int64_t>(elements.size());
  RETURN_IF_ERROR(reserve(first, end, elements[0].shape()));
  for (const Tensor& element : elements) RETURN_IF_ERROR(set(first++, element));
  return {};
}

Ref<Variant> TensorList::clone() const {
  auto copy = make_ref<TensorList>(dtype_, element_shape_, max_length_);
  copy->length_ = length_;
  copy->rows_ = rows_;
  copy->tensors_ = tensors_;
  copy->source_ = source_;
  copy->number_ = number_;
  return copy;
}

Result<Ref<Resource>> TensorList::zeros_like() const {
  if (source_) {
    const Ref<Variant> copy = clone();
    RETURN_IF_ERROR(static_cast<TensorList*>(copy.get())->compute_all());
    return copy->zeros_like();
  }
  auto zeros = make_ref<TensorList>(dtype_, element_shape_, max_length_);
  zeros->length_ = length_;
  zeros->rows_ = rows_;
  if (Rows& rows = zeros->rows_; holds_rows() && rows.bytes > 0) {
    rows.base = rows.first;
    rows.capacity = rows.last - rows.first;
    ASSIGN_OR_RETURN(rows.buffer, allocate_rows(dtype_, rows.capacity, rows.num_elements));
    rows.data = static_cast<std::byte*>(rows.buffer->data());
    std::memset(rows.data, 0, static_cast<size_t>(rows.capacity) * rows.bytes);
  }
  for (const Tensor& element : tensors_) {
    Tensor zero;
    if (element) {
      ASSIGN_OR_RETURN(zero, zeros_of(element));
    }
    zeros->tensors_.push_back(std::move(zero));
  }
  return Ref<Resource>(std::move(zeros));
}

bool TensorList::is_set(int64_t i) const {
  if (tensors_.empty()) return rows_.is_set(i);
  const auto at = static_cast<size_t>(i);
  return at < tensors_.size() && tensors_[at];
}

Result<Shape> TensorList::merged_shape(Shape shape) const {
  if (holds_rows()) return merge_shapes(shape, rows_.shape);
  for (const Tensor& element : tensors_) {
    if (!element) continue;
    ASSIGN_OR_RETURN(shape, merge_shapes(shape, element.shape()));
  }
  return shape;
}

Result<Tensor> TensorList::get(int64_t i) const {
  if (!is_set(i)) return Tensor();
  return tensors_.empty() ? row(i) : tensors_[static_cast<size_t>(i)];
}

const Shape* TensorList::shape_of(int64_t i) const {
  if (!is_set(i)) return nullptr;
  return tensors_.empty() ? &rows_.shape : &tensors_[static_cast<size_t>(i)].shape();
}

void TensorList::copy_to(int64_t i, void* to) const {
  if (tensors_.empty()) {
    if (rows_.bytes > 0) std::memcpy(to, rows_.at(i), rows_.bytes);
  } else {
    const Tensor& value = tensors_[static_cast<size_t>(i)];
    copy_elements(value, 0, value.num_elements(), to);
  }
}

Result<Tensor> TensorList::stack(const Shape& element) const {
  auto check = [&](const Shape& shape) -> Status {
    if (shape == element) return {};
    return invalid_argument("Tried to stack elements of incompatible shapes: expected ",
                            element.to_message(), ", got ", shape.to_message());
  };
  Shape shape = element;
  shape.insert(0, length_);
  if (holds_rows()) {
    RETURN_IF_ERROR(check(rows_.shape));
    // A buffer that is mostly room for more is not kept for a few rows.
    const bool is_dense = 2 * length_ >= rows_.capacity;
    if (rows_.is_whole(length_) && rows_.bytes > 0 && is_dense) {
      const auto offset =
          static_cast<size_t>(rows_.at(0) - static_cast<const std::byte*>(rows_.buffer->data()));
      return Tensor::of_buffer(dtype_, shape, rows_.buffer, offset);
    }
  }
  ASSIGN_OR_RETURN(Tensor all, Tensor::allocate(dtype_, shape));
  const int64_t num_elements = length_ > 0 ? all.num_elements() / length_ : 0;
  if (num_elements == 0) return all;
  auto* to = static_cast<std::byte*>(all.mutable_raw_data());
  const size_t bytes = static_cast<size_t>(num_elements) * dtype_size(dtype_);
  if (rows_.is_whole(length_)) {
    std::memcpy(to, rows_.at(0), all.bytes());
    return all;
  }
  for (int64_t i = 0; i < length_; ++i, to += bytes) {
    if (const Shape* own = shape_of(i)) {
      RETURN_IF_ERROR(check(*own));
      copy_to(i, to);
    } else if (is_plain(dtype_)) {
      std::memset(to, 0, bytes);
    }
  }
  return all;
}

Status TensorList::set(int64_t i, const Tensor& value) {
  const bool may_be_row = tensors_.empty() && is_plain(dtype_) && value.bytes() <= kMaxRowBytes;
  if (may_be_row && !holds_rows()) {
    start_rows(value.shape(), value.num_elements(), value.bytes());
  }
  if (may_be_row && rows_.shape == value.shape()) return set_row(i, value.raw_data());
  if (holds_rows()) RETURN_IF_ERROR(become_tensors());
  const auto at = static_cast<size_t>(i);
  if (at >= tensors_.size()) tensors_.resize(at + 1);
  tensors_[at] = value;
  return {};
}

Status TensorList::set_to_row(int64_t i, const Tensor& rows, int64_t row) {
  Shape element = rows.shape();
  element.erase(0);
  const int64_t num_elements = element.num_elements();
  const size_t bytes = static_cast<size_t>(num_elements) * dtype_size(dtype_);
  if (tensors_.empty() && is_plain(dtype_) && bytes <= kMaxRowBytes) {
    if (!holds_rows()) start_rows(element, num_elements, bytes);
    if (rows_.shape == element) {
      return set_row(
          i, static_cast<const std::byte*>(rows.raw_data()) + static_cast<size_t>(row) * bytes);
    }
  }
  ASSIGN_OR_RETURN(Tensor value, row_of(rows, row, element, num_elements));
  return set(i, value);
}

Status TensorList::reserve(int64_t first, int64_t last, const Shape& element) {
  const int64_t num_elements = element.num_elements();
  const size_t bytes = static_cast<size_t>(num_elements) * dtype_size(dtype_);
  if (!is_plain(dtype_) || bytes > kMaxRowBytes || bytes == 0) return {};
  start_rows(element, num_elements, bytes);
  rows_.base = first;
  rows_.capacity = last - first;
  ASSIGN_OR_RETURN(rows_.buffer, allocate_rows(dtype_, rows_.capacity, num_elements));
  rows_.data = static_cast<std::byte*>(rows_.buffer->data());
  return {};
}

Status TensorList::push_back(const Tensor& value) {
  ++length_;
  Status status = set(length_ - 1, value);
  if (!status.ok()) --length_;
  return status;
}

void TensorList::resize(int64_t length) {
  length_ = length;
  if (length == 0) source_ = nullptr;  // which holds values
  rows_.truncate(length);
  if (static_cast<size_t>(length) < tensors_.size()) tensors_.resize(static_cast<size_t>(length));
}

// --- Sums.

Status TensorList::add_to(int64_t i, const Tensor& value) {
  if (!is_set(i)) return set(i, value);
  ASSIGN_OR_RETURN(Tensor own, get(i));
  ASSIGN_OR_RETURN(Tensor sum, sum_of(own, value));
  return set(i, sum);
}

Status TensorList::add_row_to(int64_t i, const Tensor& rows, int64_t row) {
  Shape element = rows.shape();
  element.erase(0);
  const int64_t num_elements = element.num_elements();
  ASSIGN_OR_RETURN(Tensor value, row_of(rows, row, element, num_elements));
  return add_to(i, value);
}

// Of the same shape, if there are own ones.
Status TensorList::add_rows(const Rows& other) {
  if (!holds_rows()) {
    rows_ = other;
    return {};
  }
  const bool is_within = other.first >= rows_.first && other.last <= rows_.last;
  if (is_within && rows_.missing.empty() && other.missing.empty() && other.bytes > 0) {
    RETURN_IF_ERROR(make_room(other.first));
    add_plain(dtype_, (other.last - other.first) * other.num_elements, other.at(other.first),
              rows_.at(other.first));
    return {};
  }
  for (int64_t i = other.first; i < other.last; ++i) {
    if (!other.is_set(i)) continue;
    RETURN_IF_ERROR(make_room(i));
    if (rows_.is_set(i)) {
      add_plain(dtype_, other.num_elements, other.at(i), rows_.at(i));
    } else {
      if (other.bytes > 0) std::memcpy(rows_.at(i), other.at(i), other.bytes);
      rows_.include(i);
    }
  }
  return {};
}

Status TensorList::add(const Variant& other) {
  const auto* list = dynamic_cast<const TensorList*>(&other);
  if (!list) return invalid_argument("a ", other.kind(), " cannot be added to a ", kName);
  RETURN_IF_ERROR(compute_all());
  if (list->source_) {
    const Ref<Variant> copy = list->clone();
    RETURN_IF_ERROR(static_cast<TensorList*>(copy.get())->compute_all());
    return add(*copy);
  }
  auto refuse = [](std::string_view what, const auto& own, const auto& others) {
    return invalid_argument("Trying to add two lists of tensors ", what, ". One is ", own,
                            " and the other is ", others);
  };
  if (list->dtype_ != dtype_) {
    return refuse("of different dtypes", dtype_op_def_name(dtype_),
                  dtype_op_def_name(list->dtype_));
  }
  if (list->length_ != length_) return refuse("with different lengths", length_, list->length_);
  auto merged = merge_shapes(element_shape_, list->element_shape_);
  if (!merged.ok()) {
    return refuse("with incompatible element shapes", element_shape_.to_message(),
                  list->element_shape_.to_message());
  }
  element_shape_ = *merged;
  const bool is_by_rows = list->holds_rows() && tensors_.empty();
  if (is_by_rows && (!holds_rows() || rows_.shape == list->rows_.shape)) {
    return add_rows(list->rows_);
  }
  for (int64_t i = 0; i < length_; ++i) {
    ASSIGN_OR_RETURN(Tensor value, list->get(i));
    if (value) RETURN_IF_ERROR(add_to(i, value));
  }
  return {};
}

}  // namespace graven::engine
