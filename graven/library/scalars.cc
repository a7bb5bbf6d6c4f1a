#include "graven/library/scalars.h"

#include <utility>

namespace graven::engine {

std::optional<Size> one_size(FunctionContext& c, const Tensor& number, std::string_view name) {
  if (!number) return std::nullopt;
  if (c.rank_if_known(number).value_or(0) != 0) {
    c.fail(value_error(name, ": Shape ", number.shape().to_text(), " must have rank 0"));
    return std::nullopt;
  }
  if (!is_integer(number.dtype())) {
    c.fail(value_error(name, " must be an integer. Got ", dtype_name(number.dtype())));
    return std::nullopt;
  }
  const auto known = c.number_if_known(number);
  if (!known) return Size(c.cast(number, DType::kInt32).tensor());
  if (std::in_range<int32_t>(*known)) return Size(*known);
  c.fail(value_error(name, " must fit into int32. Got ", *known));
  return std::nullopt;
}

}  // namespace graven::engine
