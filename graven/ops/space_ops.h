#pragma once
#include <cstdint>
#include <string>

#include "graven/ir/op.h"

namespace graven::engine {

// --- space_ops.cc: pixels moved to other axes and back.
struct BlockAttrs {
  int64_t block_size = 0;
  std::string data_format = "NHWC";  // or "NCHW"
  static constexpr auto fields() {
    return std::tuple(required_field("block_size", &BlockAttrs::block_size),
                      field("data_format", &BlockAttrs::data_format));
  }
};
GRAVEN_API inline OpHandle<BlockAttrs> kSpaceToDepth, kDepthToSpace;  // input -> output

GRAVEN_API inline OpHandle<NoAttrs> kSpaceToBatchND;  // input, block_shape, paddings -> output
GRAVEN_API inline OpHandle<NoAttrs> kBatchToSpaceND;  // input, block_shape, crops -> output

}  // namespace graven::engine
