#include "graven/runtime/library_member.h"

#include "graven/base/heap_bytes.h"
#include "graven/base/waiting_lock.h"
#include "graven/ir/cost.h"
#include "graven/runtime/make_step.h"
#include "graven/runtime/run_op.h"

namespace graven::engine {

Result<std::unique_ptr<LibraryMember>> LibraryMember::create(const Node& node,
                                                             const Fusion& fusion) {
  const FusionParts::Member& member = fusion.members()[0];
  std::unique_ptr<LibraryMember> made(new LibraryMember(*member.op, member.attrs, member.dtype));
  std::vector<OutputRef> inputs;
  InlineVector<DType, 4> dtypes;
  InlineVector<const Shape*, 4> shapes;
  for (FusionParts::Source source : member.sources) {
    inputs.push_back(node.inputs()[static_cast<size_t>(source.index)]);
    const OutputType& type = inputs.back().node->output(inputs.back().index);
    dtypes.push_back(type.dtype);
    shapes.push_back(&type.shape);
    made->inputs_.push_back(source.index);
  }
  RETURN_IF_ERROR(member.op->bind_types(std::span<const DType>(dtypes.data(), dtypes.size()),
                                        member.attrs, /*eager=*/false, made->types_));
  made->shape_ = node.output(0).shape;
  made->shape_is_known_ = made->shape_.is_fully_known() && follows_from_numbers(*member.op, inputs);
  made->cost_ = estimated_cost(*member.op, {member.attrs, shapes, {&made->shape_, 1}});
  return made;
}

Status LibraryMember::find_shape(std::span<const Tensor* const> values, Shape& shape) const {
  if (shape_is_known_) {
    shape = shape_;
    return {};
  }
  InlineVector<Tensor, 4> inputs;
  for (int input : inputs_) inputs.push_back(*values[input]);
  RETURN_IF_ERROR(infer_shapes(op_, attrs_, inputs, types_, {&shape, 1}));
  if (shape.is_fully_known()) return {};
  return internal_error("[", op_.name(), "] the shape of the result is found by running only");
}

Status LibraryMember::run(Queue& queue, std::span<const Tensor* const> values, const Tensor& result,
                          const PanelDone* done) const {
  InlineVector<Tensor, 4> inputs;
  for (int input : inputs_) inputs.push_back(*values[input]);
  // If the planner knew the shapes, the Program's cost includes this op.
  const LetOthersRun others(!shape_is_known_ && cost(values, result.shape()) > kLongNanoseconds);
  Tensors outputs = {result};
  const Shape shape = result.shape();
  KernelContext context(op_, attrs_, inputs, outputs, /*state=*/nullptr, {&shape, 1}, done, queue);
  return with_op_name(op_, op_.record().body.kernel()(context));
}

double LibraryMember::cost(std::span<const Tensor* const> values, const Shape& shape) const {
  if (shape_is_known_) return cost_;
  InlineVector<const Shape*, 4> shapes;
  for (int input : inputs_) shapes.push_back(&values[input]->shape());
  return estimated_cost(op_, {attrs_, shapes, {&shape, 1}});
}

int64_t LibraryMember::bytes() const {
  return bytes_of_object<LibraryMember>() + heap_bytes(inputs_);
}

}  // namespace graven::engine
