#pragma once
#include <string>
#include <vector>

#include "graven/ir/initialized_op.h"
#include "graven/ir/op.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {

// Variables. Reads and assignments that the structure knows by name are in ir/structural_ops.h. A
// write happens in place if there is no snapshot of the value.

struct VarHandleAttrs {
  std::string container, shared_name, debug_name;
  DType dtype = DType::kInvalid;
  Shape shape = Shape::unknown_rank();
  std::vector<std::string> allowed_devices;
  static constexpr auto fields() {
    return std::tuple(field("container", &VarHandleAttrs::container),
                      field("shared_name", &VarHandleAttrs::shared_name),
                      field("debug_name", &VarHandleAttrs::debug_name),
                      required_field("dtype", &VarHandleAttrs::dtype),
                      required_field("shape", &VarHandleAttrs::shape),
                      field("allowed_devices", &VarHandleAttrs::allowed_devices));
  }
};
GRAVEN_API inline OpHandle<VarHandleAttrs> kVarHandle;  // -> resource

GRAVEN_API inline OpHandle<ShapeAttrs> kVariableShape;  // input -> output

struct DestroyResourceAttrs {
  bool ignore_lookup_error = true;
  static constexpr auto fields() {
    return std::tuple(field("ignore_lookup_error", &DestroyResourceAttrs::ignore_lookup_error));
  }
};
GRAVEN_API inline OpHandle<DestroyResourceAttrs> kDestroyResource;  // resource

struct ResourceGatherAttrs {
  int64_t batch_dims = 0;
  bool validate_indices = true;
  DType dtype = DType::kInvalid;
  static constexpr auto fields() {
    return std::tuple(field("batch_dims", &ResourceGatherAttrs::batch_dims),
                      field("validate_indices", &ResourceGatherAttrs::validate_indices),
                      required_field("dtype", &ResourceGatherAttrs::dtype));
  }
};
GRAVEN_API inline OpHandle<ResourceGatherAttrs> kResourceGather;  // resource, indices -> output
GRAVEN_API inline OpHandle<ReadVariableAttrs> kResourceGatherNd;  // resource, indices -> output

// resource, indices, updates
GRAVEN_API inline OpHandle<ReadVariableAttrs> kResourceScatterAdd, kResourceScatterSub,
    kResourceScatterMul, kResourceScatterDiv, kResourceScatterMin, kResourceScatterMax,
    kResourceScatterUpdate;

struct ResourceScatterNdAttrs {
  bool use_locking = true;         // each write is atomic anyway
  std::string bad_indices_policy;  // "", "DEFAULT" or "ERROR"; "IGNORE" skips them
  static constexpr auto fields() {
    return std::tuple(field("use_locking", &ResourceScatterNdAttrs::use_locking),
                      field("bad_indices_policy", &ResourceScatterNdAttrs::bad_indices_policy));
  }
};
// ref, indices, updates
GRAVEN_API inline OpHandle<ResourceScatterNdAttrs> kResourceScatterNdAdd, kResourceScatterNdSub,
    kResourceScatterNdUpdate, kResourceScatterNdMin, kResourceScatterNdMax;

}  // namespace graven::engine
