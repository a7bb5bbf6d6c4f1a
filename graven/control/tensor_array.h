#pragma once
#include <cstdint>
#include <optional>

#include "graven/base/export.h"
#include "graven/ir/emitter.h"
#include "graven/tensor/dtype.h"
#include "graven/tensor/shape.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// Tensors of one dtype by their numbers, as a value: a list in a variant (tensor/tensor_list.h),
// and what is known of it. A change gives another array. Errors go to the Emitter; those that only
// values tell, such as a number out of range, come when the ops run.
struct GRAVEN_API TensorArray {
  DType dtype = DType::kInvalid;
  Shape element_shape = Shape::unknown_rank();  // numbers and unknown sizes
  bool infer_shape = true;    // all elements have one shape, that of the first that is written
  bool dynamic_size = false;  // a write past the end makes it longer
  Tensor flow = {};
  std::optional<int64_t> known_size = {};

  // The array with `size` elements that are not set, and read as zeros.
  TensorArray reserved(Emitter& emit, const Tensor& size) const;

  Tensor size(Emitter& emit) const;
  Tensor read(Emitter& emit, const Tensor& index) const;
  Tensor stack(Emitter& emit) const;
  Tensor gather(Emitter& emit, const Tensor& indices) const;
  Tensor concat(Emitter& emit) const;

  TensorArray write(Emitter& emit, const Tensor& index, const Tensor& value) const;
  TensorArray unstack(Emitter& emit, const Tensor& value) const;
  TensorArray scatter(Emitter& emit, const Tensor& indices, const Tensor& value) const;
  // lengths: int64.
  TensorArray split(Emitter& emit, const Tensor& value, const Tensor& lengths) const;

 private:
  // This array, with what `element` says of the shape of all elements. An error if it does not fit.
  TensorArray with_element(Emitter& emit, const Tensor& value, const Shape& element) const;
};

}  // namespace graven::engine
