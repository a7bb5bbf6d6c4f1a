#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/tensor/buffer.h"
#include "graven/tensor/dtype.h"
#include "graven/tensor/shape.h"
#include "graven/tensor/tensor.h"
#include "graven/tensor/variant.h"

namespace graven::engine {

// Computes elements of lists that are not kept (TensorList::computed). Any thread may call it.
class GRAVEN_API ElementSource : public RefCounted {
 public:
  // Elements of list `number` that follow each other, one or more, of which the last is element
  // `last`. The lists of one source are computed together, so it is quick to ask for the same
  // `last` of each.
  virtual Result<std::vector<Tensor>> elements_up_to(int number, int64_t last) = 0;
};

// A list of tensors of one dtype in a variant: the value of TensorFlow's TensorList ops. An element
// that was never set has no value; readers take it for zeros.
//
// Elements of one shape and of few plain bytes lie as rows in one buffer, which doubles when it is
// full. So to change one is to copy its bytes, and to stack them all copies nothing. Long elements,
// strings, handles, and elements of different shapes are tensors of their own, which the list holds
// by handle. A list finds out by its elements which of the two it is.
//
// A list may be computed: its elements are made when they are needed, some at a time, and dropped
// with those that are popped. compute_last and compute_all make them; other members take elements
// that were not made for ones that were never set.
//
// Members that change the list are for the owner of its only handle.
class GRAVEN_API TensorList final : public Variant {
 public:
  static constexpr std::string_view kName = "TensorList";
  // Longer elements are tensors of their own: from this size on pushes and stacks cost the same
  // either way, and a read of a tensor copies nothing.
  static constexpr size_t kMaxRowBytes = 4096;

  // An empty list. max_length: the number of elements that push_back may reach, -1 for any.
  TensorList(DType dtype, Shape element_shape, int64_t max_length = -1)
      : dtype_(dtype), element_shape_(std::move(element_shape)), max_length_(max_length) {}
  // The rows of a tensor of rank >= 1, with which the list shares their memory.
  static Result<Ref<TensorList>> of_rows(const Tensor& rows, Shape element_shape);

  // A computed list of so many elements.
  static Ref<TensorList> computed(DType dtype, Shape element_shape, int64_t length,
                                  Ref<ElementSource> source, int number);

  std::string_view kind() const override { return kName; }
  std::vector<std::pair<DType, Shape>> components() const override {
    return {{dtype_, element_shape_}};
  }
  Result<Ref<Resource>> zeros_like() const override;
  Status add(const Variant& other) override;
  Ref<Variant> clone() const override;

  DType dtype() const { return dtype_; }
  // What the list was made for, and what each element must fit.
  const Shape& element_shape() const { return element_shape_; }
  int64_t max_length() const { return max_length_; }
  int64_t length() const { return length_; }
  bool is_set(int64_t i) const;
  // The given shape merged with those of all elements that are set; kInvalidArgument if they
  // contradict.
  Result<Shape> merged_shape(Shape shape) const;
  // An element; empty if it was never set.
  Result<Tensor> get(int64_t i) const;
  // The shape of an element; null if it was never set.
  const Shape* shape_of(int64_t i) const;
  // Writes the elements of a tensor that is set into memory for them; objects are there already.
  void copy_to(int64_t i, void* to) const;
  // All elements along a new first axis, zeros for those never set. element: fully known;
  // kInvalidArgument if one has another shape. May share the list's memory.
  Result<Tensor> stack(const Shape& element) const;

  bool is_computed() const { return source_ != nullptr; }

  // --- Changes. The caller has checked dtype, shape and index.

  // Of a computed list, makes the last element, and perhaps some before it; or all.
  Status compute_last();
  Status compute_all();

  // On failure the element is as it was, or never set.
  Status set(int64_t i, const Tensor& value);
  // The same with row `row` of a tensor.
  Status set_to_row(int64_t i, const Tensor& rows, int64_t row);
  // Adds a row of a tensor to an element that is set.
  Status add_row_to(int64_t i, const Tensor& rows, int64_t row);
  // For a list of which nothing is set: the first elements that are set to such rows will lie in
  // [first, last).
  Status reserve(int64_t first, int64_t last, const Shape& element);
  Status push_back(const Tensor& value);
  // Drops the last elements, or adds some that are not set.
  void resize(int64_t length);

 private:
  // Elements [first, last) as rows: row 0 of `data` is element `base`. Those outside are not set,
  // and of the others those that are not missing.
  struct Rows {
    Shape shape;
    int64_t num_elements = 0;  // of each row
    size_t bytes = 0;          // of each row
    Ref<Buffer> buffer;        // null if bytes is 0, or nothing was ever set
    std::byte* data = nullptr;
    int64_t base = 0, capacity = 0;
    int64_t first = 0, last = 0;
    std::vector<bool> missing;  // empty: none; otherwise first is 0, and it has `last` bits
    int64_t num_missing = 0;

    bool is_whole(int64_t length) const { return first == 0 && last == length && missing.empty(); }
    bool is_set(int64_t i) const {
      return i >= first && i < last && (missing.empty() || !missing[static_cast<size_t>(i)]);
    }
    std::byte* at(int64_t i) const { return data + static_cast<size_t>(i - base) * bytes; }
    void include(int64_t i);  // marks an element as set
    void truncate(int64_t length);
  };

  bool holds_rows() const { return rows_.last > rows_.first; }
  void start_rows(const Shape& shape, int64_t num_elements, size_t bytes);
  Status set_row(int64_t i, const void* from);
  Status make_room(int64_t i);
  Status move_rows(int64_t i);
  Status become_tensors();
  Status add_to(int64_t i, const Tensor& value);
  Status add_rows(const Rows& other);
  Result<Tensor> row(int64_t i) const;
  Status set_computed(int64_t first, std::span<const Tensor> elements);

  DType dtype_;
  Shape element_shape_;
  int64_t max_length_;
  int64_t length_ = 0;
  Rows rows_;                    // used unless there are tensors
  std::vector<Tensor> tensors_;  // of elements [0, size); empty ones and those behind are not set
  Ref<ElementSource> source_;    // null: the list is not computed
  int number_ = 0;               // of the list in its source
};

}  // namespace graven::engine
