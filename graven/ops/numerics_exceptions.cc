#include "graven/ops/numerics_exceptions.h"

#include "graven/ir/numerics_checks.h"
#include "graven/ir/op.h"

namespace graven::engine {
namespace {

// Ops of which TensorFlow's enable_check_numerics trusts the outputs, as they move or choose
// elements. That is a choice of TensorFlow's and no property of theirs: it looks at those of Tile,
// Pad and GatherV2. Programs rely on it, so it is a list.
constexpr const char* kTrusted[] = {
    "CheckNumericsV2",
    "ConcatV2",
    "ExpandDims",
    "Fill",
    "Gather",
    "Identity",
    "Maximum",
    "Minimum",
    "Reshape",
    "Slice",
    "Squeeze",
    "StridedSlice",
    "StridedSliceGrad",
    "TensorListConcatV2",
    "TensorListGather",
    "TensorListGetItem",
    "TensorListPopBack",
    "TensorListStack",
    "Transpose",
    "Unpack",
};

}  // namespace

void define_numerics_exceptions(const OpRegistry& ops) {
  for (const char* name : kTrusted) {
    if (const Op* op = ops.find(name)) leave_unchecked(*op, kAllOutputs);
  }
  // What stands in for an output of a branch that was not chosen: nothing reads it.
  if (const Op* op = ops.find("FakeParam")) leave_unchecked(*op, kAllOutputs);
  // Its statistics of an empty batch are NaN.
  if (const Op* op = ops.find("FusedBatchNormV3")) leave_unchecked(*op, 0b111110);
}

}  // namespace graven::engine
