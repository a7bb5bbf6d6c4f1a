#include "graven/tensor/shape.h"

#include <algorithm>

#include "graven/base/strings.h"

namespace graven::engine {

Shape::Shape(std::span<const int64_t> sizes) {
  dims_.reserve(sizes.size());
  for (int64_t size : sizes) dims_.push_back(size < 0 ? Dim::unknown() : Dim(size));
}

Shape Shape::unknown_rank() {
  Shape shape;
  shape.has_rank_ = false;
  return shape;
}

bool Shape::is_fully_known() const {
  return has_rank_ &&
         std::all_of(dims_.begin(), dims_.end(), [](Dim dim) { return dim.is_number(); });
}

std::optional<int64_t> Shape::checked_num_elements() const {
  if (!has_rank_) return std::nullopt;
  int64_t product = 1;
  bool overflows = false, has_zero = false;
  for (Dim dim : dims_) {
    if (!dim.is_number()) return std::nullopt;
    overflows |= __builtin_mul_overflow(product, dim.number(), &product);
    has_zero |= dim.number() == 0;
  }
  // A size of zero makes the product zero whatever the others are.
  if (has_zero) return 0;
  return overflows ? std::nullopt : std::optional<int64_t>(product);
}

std::string Shape::to_text() const {
  if (!has_rank_) return "<unknown>";
  std::string text = "(";
  for (int i = 0; i < rank(); ++i) {
    if (i > 0) text += ", ";
    text += dims_[i].is_number() ? str_cat(dims_[i].number()) : "None";
  }
  return text + (rank() == 1 ? ",)" : ")");
}

std::string Shape::to_message() const {
  if (!has_rank_) return "<unknown>";
  std::string text = "[";
  for (int i = 0; i < rank(); ++i) {
    if (i > 0) text += ",";
    text += dims_[i].is_number() ? str_cat(dims_[i].number()) : "?";
  }
  return text + "]";
}

bool is_subshape(const Shape& a, const Shape& b) {
  if (!b.has_rank()) return true;
  if (!a.has_rank() || a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i) {
    if (b[i].is_number() && a[i] != b[i]) return false;
  }
  return true;
}

bool are_compatible(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return true;
  if (a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i) {
    if (a[i].is_number() && b[i].is_number() && a[i] != b[i]) return false;
  }
  return true;
}

Shape common_supershape(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return Shape::unknown_rank();
  Shape common = a;
  for (int i = 0; i < a.rank(); ++i) {
    if (a[i] != b[i]) common.set(i, Dim::unknown());
  }
  return common;
}

Result<Shape> merge_shapes(const Shape& a, const Shape& b) {
  if (!are_compatible(a, b)) {
    return invalid_argument("Shapes ", a.to_message(), " and ", b.to_message(),
                            " are not compatible");
  }
  if (!a.has_rank()) return b;
  if (!b.has_rank()) return a;
  Shape merged = a;
  for (int i = 0; i < a.rank(); ++i) {
    if (b[i].is_number() || a[i].is_unknown()) merged.set(i, b[i]);
  }
  return merged;
}

}  // namespace graven::engine
