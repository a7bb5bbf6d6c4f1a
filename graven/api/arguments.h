#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "graven/api/tensor.h"
#include "graven/base/export.h"

// What functions of ops take besides tensors.

namespace graven {

using Here = std::source_location;

// The sizes of a shape: {2, 3}, a Shape without unknown sizes (a ValueError with them), or an
// integer tensor of shape [rank].
class GRAVEN_API Sizes {
 public:
  Sizes(std::initializer_list<int64_t> sizes) : sizes_(sizes) {}
  Sizes(std::vector<int64_t> sizes) : sizes_(std::move(sizes)) {}
  Sizes(const Shape& shape, std::source_location location = std::source_location::current());
  Sizes(const Tensor& tensor) : tensor_(tensor) {}
  bool is_empty() const { return tensor_.is_none() && sizes_.empty(); }
  // An int32 vector, int64 where a size needs it; the tensor if one was given.
  Tensor as_tensor(const std::source_location& location) const;

 private:
  std::vector<int64_t> sizes_;
  Tensor tensor_;
};

// The seed of stateless random ops: two integers, or an integer tensor of shape [2].
using Seed = Sizes;

// Axes to reduce, negative ones count from the end: 1, {0, -1}, an integer tensor, or nothing for
// all of them.
class GRAVEN_API Axes {
 public:
  Axes() = default;
  Axes(int axis) : axes_{{axis}}, is_scalar_(true) {}
  Axes(std::initializer_list<int64_t> axes) : axes_(axes) {}
  Axes(std::vector<int64_t> axes) : axes_(std::move(axes)) {}
  Axes(const Tensor& tensor) : tensor_(tensor) {}
  // Those that are named here; none: all of them, or a tensor's.
  const std::optional<std::vector<int64_t>>& numbers() const { return axes_; }
  bool is_tensor() const { return !tensor_.is_none(); }
  // An int32 scalar or vector; of all axes of x if none are named.
  Tensor as_tensor(const Tensor& x, const std::source_location& location) const;

 private:
  std::optional<std::vector<int64_t>> axes_;
  bool is_scalar_ = false;
  Tensor tensor_;
};

// How far a window goes beyond the edges: "SAME" (as many windows as elements, for a stride of 1),
// "VALID" (not at all), or {before, after} for each dimension of the data format.
class Padding {
 public:
  Padding(const char* kind) : kind_(kind) {}
  Padding(std::string kind) : kind_(std::move(kind)) {}
  Padding(std::initializer_list<std::pair<int64_t, int64_t>> sizes) : kind_("EXPLICIT") {
    for (auto [before, after] : sizes)
      explicit_paddings_.insert(explicit_paddings_.end(), {before, after});
  }
  // before, after, before, after, ...
  explicit Padding(std::vector<int64_t> sizes)
      : kind_("EXPLICIT"), explicit_paddings_(std::move(sizes)) {}
  const std::string& kind() const { return kind_; }
  const std::vector<int64_t>& explicit_paddings() const { return explicit_paddings_; }

 private:
  std::string kind_;
  std::vector<int64_t> explicit_paddings_;
};

// One number for height and width, two, or four in the order of the data format.
class Window {
 public:
  Window(int64_t size) : sizes_{size} {}
  Window(std::vector<int64_t> sizes) : sizes_(std::move(sizes)) {}
  Window(std::initializer_list<int64_t> sizes) : sizes_(sizes) {}
  const std::vector<int64_t>& sizes() const { return sizes_; }

 private:
  std::vector<int64_t> sizes_;
};

}  // namespace graven
