#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "graven/api/arguments.h"
#include "graven/api/operand.h"
#include "graven/api/tensor.h"
#include "graven/base/export.h"

// The order of elements.

namespace graven {

// --- Order.
// Sorted along an axis; "ASCENDING" or "DESCENDING", else a ValueError. NaN of floats is smallest.
GRAVEN_API Tensor sort(const Operand& values, int axis = -1,
                       std::string_view direction = "ASCENDING");
// The indices that sort, int32; equal elements keep their order.
GRAVEN_API Tensor argsort(const Operand& values, int axis = -1,
                          std::string_view direction = "ASCENDING");

namespace math {
// The k largest elements of each row, and their indices; largest first, and of equal ones that of
// the smaller index. InvalidArgument for a k that the rows are too short for.
struct TopK {
  Tensor values, indices;
};
GRAVEN_API TopK top_k(const Operand& input, const Operand& k = 1, bool sorted = true,
                      DType index_type = DType::kInt32);
}  // namespace math
namespace nn {
using graven::math::top_k;
}  // namespace nn

}  // namespace graven
