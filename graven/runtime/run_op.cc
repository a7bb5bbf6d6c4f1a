#include "graven/runtime/run_op.h"

#include <algorithm>

#include "graven/base/denormals.h"
#include "graven/base/waiting_lock.h"
#include "graven/ir/bodies.h"
#include "graven/ir/cost.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/structural_ops.h"
#include "graven/runtime/compiler.h"
#include "graven/runtime/placement.h"
#include "graven/runtime/run_bodies.h"
#include "graven/runtime/run_composite.h"

namespace graven::engine {
namespace {

using Dtypes = InlineVector<DType, 4>;

Dtypes dtypes_of(std::span<const Tensor> inputs) {
  Dtypes dtypes;
  for (const Tensor& input : inputs) dtypes.push_back(input.dtype());
  return dtypes;
}

OpBody::Kind kind_of(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs) {
  const OpBody& body = op.record().body;
  return inputs.empty() ? body.kind() : body.kind_for(inputs.back().dtype(), attrs);
}

// The shape to which the operands broadcast, if that is one of theirs and easy to see.
const Shape* common_shape(std::span<const Tensor> inputs) {
  const Shape* shape = &inputs[0].shape();
  for (size_t i = 1; i < inputs.size(); ++i) {
    const Shape& other = inputs[i].shape();
    if (other.rank() == 0 || other == *shape) continue;
    if (shape->rank() != 0) return nullptr;
    shape = &other;
    for (size_t j = 0; j < i; ++j) {
      if (inputs[j].shape().rank() != 0) return nullptr;
    }
  }
  return shape;
}

bool is_long(const BodyKernel& kernel, const Shape& shape) {
  constexpr double kSmall = 2048;  // most eager calls are, and need not ask for the cost
  const double elements = guessed_elements(shape);
  return elements > kSmall && nanoseconds_of_blocks(elements, kernel.cost()) > kLongNanoseconds;
}

// The same of another op.
bool is_long_or_blocks(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                       std::span<const Shape> outputs) {
  if (op.is_stateful_ever() && op.record().effects(op, attrs).may_block) return true;
  InlineVector<const Shape*, 4> shapes;
  for (const Tensor& input : inputs) shapes.push_back(&input.shape());
  return estimated_cost(op, {attrs, shapes, outputs}) > kLongNanoseconds;
}

Status run_elementwise_body(Queue& queue, const Op& op, const RecordedBody& body,
                            std::span<Tensor> inputs, const Shape& shape, uint64_t reusable,
                            Tensors& outputs) {
  ASSIGN_OR_RETURN(const BodyKernel* kernel, body_kernel(body, queue.device()));
  InlineVector<Tensor*, 4> operands;
  for (Tensor& input : inputs) operands.push_back(&input);
  outputs.resize(1);
  LetOthersRun others(is_long(*kernel, shape));
  TrapNotes traps;
  Status status =
      run_map(queue, *kernel, operands, reusable, body.output(), shape, outputs[0], traps);
  if (status.ok() && traps.first()) status = trapped(*traps.first());
  return with_op_name(op, status);
}

// Over the axes that `axes` holds, or all if it is null; inference has checked them.
Status run_reduction_body(Queue& queue, const RecordedBody& body, const Tensor& x,
                          const Tensor* axes, const Shape& shape, Tensor& output) {
  ASSIGN_OR_RETURN(const BodyKernel* kernel, body_kernel(body, queue.device()));
  uint64_t mask = 0;
  if (axes) {
    ASSIGN_OR_RETURN(auto reduced, normalized_axes(*axes, x.rank()));
    for (int axis : reduced) mask |= uint64_t{1} << axis;
  } else {
    for (int axis = 0; axis < x.rank(); ++axis) mask |= uint64_t{1} << axis;
  }
  ASSIGN_OR_RETURN(output, Tensor::allocate(body.output(), shape, queue.device()));
  TrapNotes traps;
  RETURN_IF_ERROR(
      kernel->reduce(queue, {x.raw_data(), &x.shape()}, mask, output.mutable_raw_data(), traps));
  return traps.first() ? trapped(*traps.first()) : Status();
}

// Over the last axis.
Status run_rows_body(Queue& queue, const RecordedBody& body, std::span<const Tensor> inputs,
                     Tensor& output) {
  ASSIGN_OR_RETURN(const BodyKernel* kernel, body_kernel(body, queue.device()));
  const Shape& shape = inputs[0].shape();
  ASSIGN_OR_RETURN(output, Tensor::allocate(body.output(), shape, queue.device()));
  const int64_t columns = shape.size(shape.rank() - 1);
  if (output.num_elements() == 0) return {};
  InlineVector<const void*, 4> from;
  for (const Tensor& input : inputs) {
    if (!(input.shape() == shape)) {
      return internal_error("operands of ", shape.to_message(), " and ", input.shape().to_message(),
                            " do not go by rows together");
    }
    from.push_back(input.raw_data());
  }
  TrapNotes traps;
  RETURN_IF_ERROR(kernel->go_by_rows(queue, output.num_elements() / columns, columns, from,
                                     output.mutable_raw_data(), traps));
  return traps.first() ? trapped(*traps.first()) : Status();
}

Status run_structural(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                      Tensors& outputs) {
  if (&op == kConst.op) {
    outputs.push_back(attrs.as<ConstAttrs>().value);
    return {};
  }
  if (const NodeBodies bodies = bodies_of(op, attrs); !bodies.empty()) {
    return run_bodies(bodies, inputs, outputs);
  }
  if (&op == kNoOp.op) return {};
  if (&op == kPlaceholder.op) {
    const auto& placeholder = attrs.as<PlaceholderAttrs>();
    return invalid_argument(
        "[Placeholder] You must feed a value for placeholder tensor with dtype ",
        dtype_op_def_name(placeholder.dtype), " and shape ", placeholder.shape.to_message(),
        ": it is no argument of the function that is called");
  }
  return unimplemented("[", op.name(), "] the op has no kernel");
}

}  // namespace

Status with_op_name(const Op& op, Status status) {
  const bool is_about_op = status.code() == Code::kInvalidArgument ||
                           status.code() == Code::kResourceExhausted ||
                           status.code() == Code::kUnimplemented;
  if (!is_about_op || status.kind() == ErrorKind::kUserException ||
      status.message().starts_with('[')) {
    return status;
  }
  return status.with_prefix(str_cat("[", op.name(), "] "));
}

Status infer_shapes(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                    const TypeBindings& bindings, std::span<Shape> shapes) {
  if (!op.record().infer) {
    for (Shape& shape : shapes) shape = Shape::unknown_rank();
    return {};
  }
  InferContext context(op, attrs, inputs, bindings, static_cast<int>(shapes.size()), nullptr);
  if (Status status = infer_outputs(context); !status.ok()) return with_op_name(op, status);
  for (size_t i = 0; i < shapes.size(); ++i) shapes[i] = std::move(context.shapes()[i]);
  return {};
}

Status run_kernel(Queue& queue, const Op& op, AttrsRef attrs, KernelFunction kernel,
                  std::span<Tensor> inputs, std::span<const DType> dtypes,
                  std::span<const Shape> shapes, uint64_t reusable, Ref<RefCounted>* state,
                  Tensors& outputs) {
  outputs.resize(dtypes.size());
  const int overwritten = op.record().overwrites;
  if (overwritten >= 0 && (reusable >> overwritten & 1) && shapes[0].is_fully_known()) {
    Tensor& input = inputs[static_cast<size_t>(overwritten)];
    outputs[0] = take_memory(input, dtypes[0], shapes[0]);
    if (outputs[0]) input = outputs[0];
  }
  const bool is_given_outputs = !op.record().allocates_outputs;
  for (size_t i = 0; i < dtypes.size(); ++i) {
    if (outputs[i] || !is_given_outputs || !shapes[i].is_fully_known()) continue;
    auto made = Tensor::allocate(dtypes[i], shapes[i], queue.device());
    if (!made.ok()) return with_op_name(op, made.status());
    outputs[i] = std::move(*made);
  }
  KernelContext context(op, attrs, inputs, outputs, state, shapes, /*done=*/nullptr, queue);
  if (Status status = kernel(context); !status.ok()) return with_op_name(op, status);
  return check_made(op, outputs, dtypes);
}

Status check_made(const Op& op, std::span<const Tensor> outputs, std::span<const DType> dtypes) {
  for (size_t i = 0; i < dtypes.size(); ++i) {
    if (!outputs[i]) return internal_error("[", op.name(), "] the kernel made no output ", i);
    if (outputs[i].dtype() != dtypes[i]) {
      return internal_error("[", op.name(), "] the kernel made output ", i, " of ",
                            dtype_name(outputs[i].dtype()), " instead of ", dtype_name(dtypes[i]));
    }
  }
  return {};
}

Tensor take_memory(Tensor& from, DType dtype, const Shape& shape) {
  // Objects are only overwritten by others of their kind.
  const bool fits = is_plain(from.dtype()) ? dtype_size(from.dtype()) == dtype_size(dtype)
                                           : from.dtype() == dtype;
  if (!fits || !from.owns_its_elements() || !(from.shape() == shape)) {
    return {};
  }
  const EagerTensor& eager = *from.eager();
  // An object whose id is remembered somewhere must stay the tensor that it was.
  if (from.dtype() == dtype && eager.known_id() == 0) return std::move(from);
  if (!eager.buffer()) return {};
  size_t offset = static_cast<const std::byte*>(eager.data()) -
                  static_cast<const std::byte*>(eager.buffer()->data());
  Tensor taken = Tensor::of_buffer(dtype, shape, eager.buffer(), offset);
  from = Tensor();
  return taken;
}

Status run_map(Queue& queue, const BodyKernel& kernel, std::span<Tensor* const> inputs,
               uint64_t reusable, DType dtype, const Shape& shape, Tensor& output,
               TrapNotes& traps) {
  InlineVector<StridedInput, 4> operands;
  for (const Tensor* input : inputs) operands.push_back({input->raw_data(), &input->shape()});
  // The object of an input goes when its memory is taken, and with it the shape that operands
  // point to: from then on they point to that of the output, which is the same.
  const Shape* result = &shape;
  for (size_t k = 0; reusable && !output && k < std::min<size_t>(inputs.size(), 64); ++k) {
    if (!(reusable >> k & 1) || !*inputs[k]) continue;
    output = take_memory(*inputs[k], dtype, shape);
    if (!output) continue;
    result = &output.shape();
    for (size_t j = 0; j < inputs.size(); ++j) {
      if (inputs[j] == inputs[k]) operands[j].shape = result;
    }
    break;
  }
  if (!output) {
    ASSIGN_OR_RETURN(output, Tensor::allocate(dtype, shape, queue.device()));
  }
  return kernel.map(queue, operands, *result, output.mutable_raw_data(), traps);
}

Status trapped(const Trap& trap) { return invalid_argument(trap.message); }

Status run_typed_op(Queue& queue, const Op& op, AttrsRef attrs, std::span<Tensor> inputs,
                    const OutputTypes& types, uint64_t reusable, Ref<RefCounted>* state,
                    Tensors& outputs) {
  const OpRecord& record = op.record();
  OpBody::Kind kind = kind_of(op, attrs, inputs);
#ifndef NDEBUG
  RETURN_IF_ERROR(check_places(op, inputs, queue.device()));
#endif
  if (kind == OpBody::Kind::kComposite) {
    if (record.infer) {
      std::vector<Shape> shapes(types.dtypes.size());
      RETURN_IF_ERROR(infer_shapes(op, attrs, inputs, types.bindings, shapes));
    }
    return run_composite(op, attrs, inputs, queue.device(), outputs);
  }
  if (kind == OpBody::Kind::kNone && record.view_of < 0) {
    return run_structural(op, attrs, inputs, outputs);
  }
  // If the planner knew the shapes, the Program's cost includes this op.
  const bool is_counted = types.shapes != nullptr;
  InlineVector<Shape, 2> inferred;
  std::span<const Shape> shapes(types.shapes, types.shapes ? types.dtypes.size() : 0);
  if (!types.shapes) {
    inferred.resize(types.dtypes.size());
    RETURN_IF_ERROR(
        infer_shapes(op, attrs, inputs, types.bindings, {inferred.data(), inferred.size()}));
    shapes = inferred;
  }
  if (record.view_of >= 0 && shapes[0].is_fully_known()) {
    const Tensor& source = inputs[record.view_of];
    if (shapes[0].num_elements() == source.num_elements()) {
      outputs.push_back(source.with_shape(shapes[0]));
      return {};
    }
    return internal_error("[", op.name(), "] a view of ", source.shape().to_message(), " as ",
                          shapes[0].to_message());
  }
  switch (kind) {
    case OpBody::Kind::kElementwise: {
      ASSIGN_OR_RETURN(auto body, RecordedBody::get(op, attrs, dtypes_of(inputs), types.dtypes[0]));
      return run_elementwise_body(queue, op, *body, inputs, shapes[0], reusable, outputs);
    }
    case OpBody::Kind::kReduction: {
      if (inputs[0].rank() > 64) {
        return unimplemented("[", op.name(), "] reductions of more than 64 dimensions");
      }
      DType x = inputs[0].dtype();
      ASSIGN_OR_RETURN(auto body, RecordedBody::get(op, attrs, {&x, 1}, types.dtypes[0]));
      outputs.resize(1);
      LetOthersRun others(!is_counted && is_long_or_blocks(op, attrs, inputs, shapes));
      return with_op_name(
          op, run_reduction_body(queue, *body, inputs[0], inputs.size() > 1 ? &inputs[1] : nullptr,
                                 shapes[0], outputs[0]));
    }
    case OpBody::Kind::kRows: {
      ASSIGN_OR_RETURN(auto body, RecordedBody::get(op, attrs, dtypes_of(inputs), types.dtypes[0]));
      outputs.resize(1);
      LetOthersRun others(!is_counted && is_long_or_blocks(op, attrs, inputs, shapes));
      return with_op_name(op, run_rows_body(queue, *body, inputs, outputs[0]));
    }
    case OpBody::Kind::kKernel: {
      LetOthersRun others(!is_counted && is_long_or_blocks(op, attrs, inputs, shapes));
      return run_kernel(queue, op, attrs, record.body.kernel(), inputs, types.dtypes, shapes,
                        reusable, state, outputs);
    }
    default:
      return unimplemented("[", op.name(), "] the op has no kernel");
  }
}

namespace {

// Where there are several devices: inputs are copied to where the op runs.
Status run_placed_op(const Op& op, AttrsRef attrs, std::span<Tensor> inputs, uint64_t reusable,
                     Ref<RefCounted>* state, Tensors& outputs, std::string_view requested) {
  TypeBindings bindings;
  RETURN_IF_ERROR(op.bind_types(inputs, attrs, /*eager=*/true, bindings));
  InlineVector<DType, 4> dtypes;
  const int count = static_cast<int>(inputs.size());
  op.output_dtypes(bindings, attrs, count, dtypes);
  const Device& device = device_of(op, dtypes_of(inputs), dtypes, requested);
  std::vector<Tensor> placed;
  for (int i = 0; i < count; ++i) {
    const Tensor& input = inputs[static_cast<size_t>(i)];
    const bool is_hosts = is_host_input(op, i, count, input.dtype());
    ASSIGN_OR_RETURN(Tensor there, on_device(input, is_hosts ? Device::host() : device));
    placed.push_back(std::move(there));
  }
  return run_typed_op(queue_of(device), op, attrs, placed, {bindings, dtypes}, reusable, state,
                      outputs);
}

}  // namespace

Status run_op(const Op& op, AttrsRef attrs, std::span<Tensor> inputs, uint64_t reusable,
              Ref<RefCounted>* state, Tensors& outputs, std::string_view device) {
  FlushDenormals flush;
  outputs.clear();
  if (has_other_devices()) {
    return run_placed_op(op, attrs, inputs, reusable, state, outputs, device);
  }
  if (!inputs.empty() && kind_of(op, attrs, inputs) == OpBody::Kind::kElementwise) {
    // The way of most eager calls. That the body is there says that the types are right.
    const RecordedBody* body = RecordedBody::find(op, attrs, inputs);
    if (body && body->broadcasts()) {
      if (const Shape* shape = common_shape(inputs)) {
        return run_elementwise_body(Queue::host(), op, *body, inputs, *shape, reusable, outputs);
      }
    }
  }
  TypeBindings bindings;
  RETURN_IF_ERROR(op.bind_types(inputs, attrs, /*eager=*/true, bindings));
  InlineVector<DType, 4> dtypes;
  op.output_dtypes(bindings, attrs, static_cast<int>(inputs.size()), dtypes);
  return run_typed_op(Queue::host(), op, attrs, inputs, {bindings, dtypes}, reusable, state,
                      outputs);
}

}  // namespace graven::engine
