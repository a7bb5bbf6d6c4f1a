#include "graven/tensor/tensor_sums.h"

#include <algorithm>
#include <cstring>

#include "graven/tensor/add_elements.h"
#include "graven/tensor/variant.h"

namespace graven::engine {

void add_plain(DType dtype, int64_t count, const void* from, void* to) {
  visit_plain(dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* x = static_cast<const T*>(from);
    T* sum = static_cast<T*>(to);
    for (int64_t i = 0; i < count; ++i) sum[i] = add_elements(sum[i], x[i]);
  });
}

Result<Tensor> sum_of(const Tensor& x, const Tensor& y) {
  if (!(x.shape() == y.shape())) {
    return invalid_argument("Trying to add two tensors with incompatible element shapes. One is ",
                            x.shape().to_message(), " and the other is ", y.shape().to_message());
  }
  ASSIGN_OR_RETURN(Tensor sum, Tensor::allocate(x.dtype(), x.shape()));
  if (x.dtype() == DType::kVariant) {
    std::ranges::copy(x.data<Ref<Resource>>(), sum.mutable_data<Ref<Resource>>().begin());
    auto elements = sum.mutable_data<Ref<Resource>>();
    RETURN_IF_ERROR(add_variants(elements, y.data<Ref<Resource>>(), elements));
  } else if (is_plain(x.dtype())) {
    if (x.bytes() > 0) std::memcpy(sum.mutable_raw_data(), x.raw_data(), x.bytes());
    add_plain(x.dtype(), x.num_elements(), y.raw_data(), sum.mutable_raw_data());
  } else {
    return unimplemented("elements of ", dtype_name(x.dtype()), " cannot be added");
  }
  return sum;
}

Result<Tensor> zeros_of(const Tensor& x) {
  ASSIGN_OR_RETURN(Tensor zeros, Tensor::allocate(x.dtype(), x.shape()));
  if (x.dtype() == DType::kVariant) {
    RETURN_IF_ERROR(
        zeros_like_variants(x.data<Ref<Resource>>(), zeros.mutable_data<Ref<Resource>>()));
  } else if (is_plain(x.dtype()) && x.bytes() > 0) {
    std::memset(zeros.mutable_raw_data(), 0, x.bytes());
  }
  return zeros;
}

}  // namespace graven::engine
