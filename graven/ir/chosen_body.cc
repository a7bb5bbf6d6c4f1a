#include "graven/ir/chosen_body.h"

#include <cstdint>

namespace graven::engine {

Result<size_t> chosen_body(const Tensor& choice, bool is_list, size_t num_bodies) {
  const DType expected = is_list ? DType::kInt32 : DType::kBool;
  if (choice.rank() != 0 || choice.dtype() != expected) {
    return invalid_argument("what chooses the branch must be a scalar of dtype ",
                            dtype_name(expected), ", not of dtype ", dtype_name(choice.dtype()),
                            " and shape ", choice.shape().to_message());
  }
  if (!is_list) return size_t{choice.item<bool>() ? 1U : 0U};
  const int32_t number = choice.item<int32_t>();
  const bool is_in_range = number >= 0 && static_cast<size_t>(number) < num_bodies;
  return is_in_range ? static_cast<size_t>(number) : num_bodies - 1;
}

}  // namespace graven::engine
