#include "graven/tensor/tensor_bytes.h"

#include <algorithm>
#include <bit>
#include <string>

namespace graven::engine {
namespace {

// A block of the allocator: four sizes to each power of two, cache lines at least.
int64_t bytes_of_elements(size_t bytes) {
  const size_t lines = (std::max<size_t>(bytes, 1) + 63) / 64 * 64;
  const size_t step = std::max<size_t>(64, std::bit_floor(lines) / 4);
  return static_cast<int64_t>((lines + step - 1) / step * step);
}

}  // namespace

int64_t bytes_of_tensor(const Tensor& tensor, ByteCount& count) {
  if (!tensor || tensor.is_symbolic() || !count.is_first(tensor.get())) return 0;
  int64_t total = bytes_of_object<EagerTensor>();
  const Ref<Buffer>& buffer = tensor.eager()->buffer();
  if (!buffer || !count.is_first(buffer.get())) return total;
  total += bytes_of_object<Buffer>();
  if (!buffer->is_writable()) return total;  // borrowed memory has another owner
  total += bytes_of_elements(buffer->bytes());
  if (tensor.dtype() == DType::kString) {
    for (const std::string& text : tensor.data<std::string>()) total += heap_bytes(text);
  }
  return total;
}

}  // namespace graven::engine
