#pragma once
#include <algorithm>
#include <array>
#include <complex>
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

#include "graven/base/inline_vector.h"
#include "graven/base/ref.h"
#include "graven/base/strings.h"
#include "graven/base/thread_pool.h"
#include "graven/tensor/dtype.h"
#include "graven/tensor/resource.h"
#include "graven/tensor/shape.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// Helpers of kernels that move elements.

// Calls f with a value of the type in which elements of a dtype are copied: an unsigned integer
// (or complex) of their size, std::string, or Ref<Resource>.
template <typename F>
auto visit_copied(DType dtype, F&& f) {
  if (dtype == DType::kString) return f(std::string());
  if (!is_plain(dtype)) return f(Ref<Resource>());
  return visit_element_size(dtype_size(dtype), std::forward<F>(f));
}

// An integer of an int16, int32 or int64 tensor, by its number.
inline int64_t integer_at(const Tensor& tensor, int64_t i) {
  switch (tensor.dtype()) {
    case DType::kInt16:
      return tensor.data<int16_t>()[i];
    case DType::kInt32:
      return tensor.data<int32_t>()[i];
    default:
      return tensor.data<int64_t>()[i];
  }
}

// Calls f with a zero of the type of an int16, int32 or int64 tensor.
template <typename F>
auto visit_index_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kInt16:
      return f(int16_t{});
    case DType::kInt32:
      return f(int32_t{});
    default:
      return f(int64_t{});
  }
}

// "[1,2]": the place of element i of a tensor, for messages; nothing for a scalar.
inline std::string place_text(const Shape& shape, int64_t i) {
  if (shape.rank() == 0) return "";
  InlineVector<int64_t, 6> index(static_cast<size_t>(shape.rank()));
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    index[axis] = i % shape.size(axis);
    i /= shape.size(axis);
  }
  return str_cat("[", str_join(index, ","), "]");
}

// Calls body(begin, end) for ranges that cover [0, n), each of at most `grain`, on the pool if
// there are several.
template <typename F>
void for_ranges(int64_t n, int64_t grain, F&& body) {
  if (n <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  if (n <= grain) return body(int64_t{0}, n);
  ThreadPool::shared().run((n + grain - 1) / grain, [&](int64_t chunk) {
    body(chunk * grain, std::min(n, (chunk + 1) * grain));
  });
}

// Calls body(i, offsets) for each element i of a result of shape `out`, in order, where offsets[k]
// is the place of the element of input k that is broadcast to it.
template <size_t n, typename F>
void for_each_broadcast(const Shape& out, const std::array<const Shape*, n>& inputs, F&& body) {
  const int rank = out.rank();
  const int64_t num_elements = out.num_elements();
  std::array<InlineVector<int64_t, 6>, n> strides;  // 0 where the input is repeated
  for (size_t k = 0; k < n; ++k) {
    strides[k].resize(rank, 0);
    int64_t stride = 1;
    for (int i = inputs[k]->rank() - 1; i >= 0; --i) {
      int64_t size = inputs[k]->size(i);
      if (size != 1) strides[k][rank - inputs[k]->rank() + i] = stride;
      stride *= size;
    }
  }
  InlineVector<int64_t, 6> index(static_cast<size_t>(rank), 0);
  std::array<int64_t, n> offsets = {};
  for (int64_t element = 0; element < num_elements; ++element) {
    body(element, offsets);
    for (int axis = rank - 1; axis >= 0; --axis) {
      for (size_t k = 0; k < n; ++k) offsets[k] += strides[k][axis];
      if (++index[axis] < out.size(axis)) break;
      for (size_t k = 0; k < n; ++k) offsets[k] -= strides[k][axis] * index[axis];
      index[axis] = 0;
    }
  }
}

// The type in which elements are summed or multiplied: float32 for half and bfloat16, and for
// integers without signs, so that they wrap around (32 bits at least: smaller ones would become
// signed when they are multiplied).
template <typename T>
struct AccumulatorOf {
  using type = T;
};

template <>
struct AccumulatorOf<Half> {
  using type = float;
};

template <>
struct AccumulatorOf<BFloat16> {
  using type = float;
};

template <std::integral T>
struct AccumulatorOf<T> {
  using type = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
};

template <typename T>
using Accumulator = typename AccumulatorOf<T>::type;

}  // namespace graven::engine
