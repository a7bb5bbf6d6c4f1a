#pragma once
#include <span>

#include "graven/base/export.h"
#include "graven/ir/attributes.h"
#include "graven/ir/body.h"
#include "graven/ir/op.h"

namespace graven::engine {

// The ops of the structure itself, which code below `ops` must know by name. Their records are in
// graven/ops/structural_ops.cc; this code names no other op.

struct PlaceholderAttrs {
  DType dtype = DType::kInvalid;
  Shape shape = Shape::unknown_rank();
  static constexpr auto fields() {
    return std::tuple(required_field("dtype", &PlaceholderAttrs::dtype),
                      field("shape", &PlaceholderAttrs::shape));
  }
};
GRAVEN_API inline OpHandle<PlaceholderAttrs> kPlaceholder;

struct ConstAttrs {
  Tensor value;
  DType dtype = DType::kInvalid;
  static constexpr auto fields() {
    return std::tuple(required_field("value", &ConstAttrs::value),
                      required_field("dtype", &ConstAttrs::dtype));
  }
};
GRAVEN_API inline OpHandle<ConstAttrs> kConst;

GRAVEN_API inline OpHandle<NoAttrs> kIdentity;  // input -> output
struct IdentityNAttrs {
  std::vector<DType> T;
  static constexpr auto fields() { return std::tuple(field("T", &IdentityNAttrs::T)); }
};
GRAVEN_API inline OpHandle<IdentityNAttrs> kIdentityN;  // input: T -> output: T
GRAVEN_API inline OpHandle<NoAttrs> kNoOp;
GRAVEN_API inline OpHandle<NoAttrs> kAddN;         // inputs: N * T -> sum
GRAVEN_API inline OpHandle<NoAttrs> kZerosLike;    // x -> y
GRAVEN_API inline OpHandle<NoAttrs> kOnesLike;     // x -> y
GRAVEN_API inline OpHandle<NoAttrs> kFill;         // dims, value -> output
GRAVEN_API inline OpHandle<NoAttrs> kReshape;      // tensor, shape -> output
GRAVEN_API inline OpHandle<NoAttrs> kExpandDims;   // input, dim -> output
GRAVEN_API inline OpHandle<NoAttrs> kBroadcastTo;  // input, shape -> output
GRAVEN_API inline OpHandle<NoAttrs> kStopGradient;

struct CastAttrs {
  DType DstT = DType::kInvalid;
  bool Truncate = false;
  static constexpr auto fields() {
    return std::tuple(required_field("DstT", &CastAttrs::DstT),
                      field("Truncate", &CastAttrs::Truncate));
  }
};
GRAVEN_API inline OpHandle<CastAttrs> kCast;

struct ShapeAttrs {
  DType out_type = DType::kInt32;
  static constexpr auto fields() { return std::tuple(field("out_type", &ShapeAttrs::out_type)); }
};
GRAVEN_API inline OpHandle<ShapeAttrs> kShape;

// x, y -> z. The arithmetic of counters of loops.
GRAVEN_API inline OpHandle<NoAttrs> kAddV2, kSub, kLess, kGreater, kLogicalAnd;
GRAVEN_API inline OpHandle<NoAttrs> kConcatV2;  // values: N * T, axis -> output
GRAVEN_API inline OpHandle<NoAttrs>
    kUnsortedSegmentSum;  // data, segment_ids, num_segments -> output

// args: Tin -> output: Tout. Stateful if the body is.
struct CallAttrs {
  std::vector<DType> Tin, Tout;
  Ref<Body> f;
  std::string config, config_proto, executor_type;
  static constexpr auto fields() {
    return std::tuple(field("Tin", &CallAttrs::Tin), required_field("Tout", &CallAttrs::Tout),
                      required_field("f", &CallAttrs::f), field("config", &CallAttrs::config),
                      field("config_proto", &CallAttrs::config_proto),
                      field("executor_type", &CallAttrs::executor_type));
  }
};
GRAVEN_API inline OpHandle<CallAttrs> kPartitionedCall;
GRAVEN_API inline OpHandle<CallAttrs> kStatefulPartitionedCall;
// The call op that fits the body's effects, with its attributes.
GRAVEN_API const OpHandle<CallAttrs>& call_op(const Body& body);
GRAVEN_API CallAttrs call_attrs(const Ref<Body>& body);

// cond, input: Tin -> output: Tout, of the branch that the scalar `cond` chooses.
struct IfAttrs {
  std::vector<DType> Tin, Tout;
  Ref<Body> then_branch, else_branch;
  std::vector<Shape> output_shapes;
  static constexpr auto fields() {
    return std::tuple(field("Tin", &IfAttrs::Tin), required_field("Tout", &IfAttrs::Tout),
                      required_field("then_branch", &IfAttrs::then_branch),
                      required_field("else_branch", &IfAttrs::else_branch),
                      field("output_shapes", &IfAttrs::output_shapes));
  }
};
GRAVEN_API inline OpHandle<IfAttrs> kIf, kStatelessIf;

// branch_index, input: Tin -> output: Tout, of the branch of this number, else of the last one.
struct CaseAttrs {
  std::vector<DType> Tin, Tout;
  std::vector<Ref<Body>> branches;
  std::vector<Shape> output_shapes;
  static constexpr auto fields() {
    return std::tuple(field("Tin", &CaseAttrs::Tin), required_field("Tout", &CaseAttrs::Tout),
                      required_field("branches", &CaseAttrs::branches),
                      field("output_shapes", &CaseAttrs::output_shapes));
  }
};
GRAVEN_API inline OpHandle<CaseAttrs> kCase, kStatelessCase;

// input: T -> output: T, the input that `body` has changed as long as `cond` held.
struct WhileAttrs {
  std::vector<DType> T;
  Ref<Body> cond, body;
  std::vector<Shape> output_shapes;
  int64_t parallel_iterations = 10;
  static constexpr auto fields() {
    return std::tuple(field("T", &WhileAttrs::T), required_field("cond", &WhileAttrs::cond),
                      required_field("body", &WhileAttrs::body),
                      field("output_shapes", &WhileAttrs::output_shapes),
                      field("parallel_iterations", &WhileAttrs::parallel_iterations));
  }
};
GRAVEN_API inline OpHandle<WhileAttrs> kWhile, kStatelessWhile;

// The op of these bodies' kind: the stateful one of a pair if any body is.
GRAVEN_API const Op& op_for_bodies(const Op& op, std::span<const Ref<Body>> bodies);

// A value for an output of a branch that the branch does not have: nothing reads it.
struct FakeParamAttrs {
  DType dtype = DType::kInvalid;
  Shape shape = Shape::unknown_rank();
  static constexpr auto fields() {
    return std::tuple(required_field("dtype", &FakeParamAttrs::dtype),
                      required_field("shape", &FakeParamAttrs::shape));
  }
};
GRAVEN_API inline OpHandle<FakeParamAttrs> kFakeParam;

// args: Tin -> results: Tout. Scalar bodies and reductions computed together; see ir/fusion.h. Only
// the optimised copy of a graph has them.
struct FusionAttrs {
  std::vector<DType> Tin, Tout;
  Ref<const Fusion> fusion;
  static constexpr auto fields() {
    return std::tuple(field("Tin", &FusionAttrs::Tin), required_field("Tout", &FusionAttrs::Tout),
                      required_field("fusion", &FusionAttrs::fusion));
  }
};
GRAVEN_API inline OpHandle<FusionAttrs> kFusion;

// Lists of tensors in variants. The others are in ops/tensor_list_ops.h.
struct TensorListAttrs {
  DType element_dtype = DType::kInvalid;
  static constexpr auto fields() {
    return std::tuple(required_field("element_dtype", &TensorListAttrs::element_dtype));
  }
};
// element_shape, max_num_elements -> handle
GRAVEN_API inline OpHandle<TensorListAttrs> kEmptyTensorList;
GRAVEN_API inline OpHandle<NoAttrs> kTensorListPushBack;  // input_handle, tensor -> output_handle
// input_handle, element_shape -> output_handle, tensor
GRAVEN_API inline OpHandle<TensorListAttrs> kTensorListPopBack;
GRAVEN_API inline OpHandle<NoAttrs> kTensorListLength;  // input_handle -> length
struct TensorListElementShapeAttrs {
  DType shape_type = DType::kInvalid;
  static constexpr auto fields() {
    return std::tuple(required_field("shape_type", &TensorListElementShapeAttrs::shape_type));
  }
};
// input_handle -> element_shape
GRAVEN_API inline OpHandle<TensorListElementShapeAttrs> kTensorListElementShape;
// input_handle, element_shape, leading_dims -> tensor, lengths
GRAVEN_API inline OpHandle<TensorListAttrs> kTensorListConcatV2;
// element_shape, num_elements -> handle
GRAVEN_API inline OpHandle<TensorListAttrs> kTensorListReserve;
// input_handle, index, element_shape -> item
GRAVEN_API inline OpHandle<TensorListAttrs> kTensorListGetItem;
struct TensorListSetItemAttrs {
  bool resize_if_index_out_of_bounds = false;
  static constexpr auto fields() {
    return std::tuple(field("resize_if_index_out_of_bounds",
                            &TensorListSetItemAttrs::resize_if_index_out_of_bounds));
  }
};
// input_handle, index, item -> output_handle
GRAVEN_API inline OpHandle<TensorListSetItemAttrs> kTensorListSetItem;
struct TensorListStackAttrs {
  DType element_dtype = DType::kInvalid;
  int64_t num_elements = -1;
  static constexpr auto fields() {
    return std::tuple(required_field("element_dtype", &TensorListStackAttrs::element_dtype),
                      field("num_elements", &TensorListStackAttrs::num_elements));
  }
};
// input_handle, element_shape -> tensor
GRAVEN_API inline OpHandle<TensorListStackAttrs> kTensorListStack;
GRAVEN_API inline OpHandle<NoAttrs> kTensorListFromTensor;  // tensor, element_shape -> handle

struct ReadVariableAttrs {
  DType dtype = DType::kInvalid;
  static constexpr auto fields() {
    return std::tuple(required_field("dtype", &ReadVariableAttrs::dtype));
  }
};
GRAVEN_API inline OpHandle<ReadVariableAttrs> kReadVariable;  // resource -> value

struct AssignVariableAttrs {
  DType dtype = DType::kInvalid;
  bool validate_shape = false;
  static constexpr auto fields() {
    return std::tuple(field("dtype", &AssignVariableAttrs::dtype),
                      field("validate_shape", &AssignVariableAttrs::validate_shape));
  }
};
GRAVEN_API inline OpHandle<AssignVariableAttrs> kAssignVariable;   // resource, value
GRAVEN_API inline OpHandle<ReadVariableAttrs> kAssignAddVariable;  // resource, value
GRAVEN_API inline OpHandle<ReadVariableAttrs> kAssignSubVariable;  // resource, value

}  // namespace graven::engine
