#include "graven/api/loop_shapes.h"

#include "graven/function/trace_type.h"
#include "graven/ir/static_shape.h"

namespace graven::internal {
namespace {

using engine::Shape;
using engine::TensorType;
using engine::Value;

// The shapes of tensors, in their structure; None stands for all else, which keeps its type.
Value shapes_of(const Value& value) {
  if (value.kind == Value::Kind::kTensor) {
    return Value::of_type(engine::make_ref<TensorType>(engine::static_shape(value.tensor.shape()),
                                                       engine::DType::kInvalid));
  }
  if (value.kind != Value::Kind::kContainer) return Value();
  std::vector<Value> items;
  for (const Value& item : value.items) items.push_back(shapes_of(item));
  return Value::of_container(value.container, std::move(items));
}

bool widen_shapes(Value& shapes, const Value& after) {
  if (shapes.kind == Value::Kind::kContainer) {
    if (after.items.size() != shapes.items.size()) return false;  // while_loop says what is wrong
    bool any = false;
    for (size_t i = 0; i < shapes.items.size(); ++i) {
      any |= widen_shapes(shapes.items[i], after.items[i]);
    }
    return any;
  }
  const auto* type = dynamic_cast<const TensorType*>(shapes.type.get());
  if (!type || after.kind != Value::Kind::kTensor) return false;
  const Shape shape = engine::static_shape(after.tensor.shape());
  if (engine::is_subshape(shape, type->shape())) return false;
  shapes = Value::of_type(engine::make_ref<TensorType>(
      engine::common_supershape(type->shape(), shape), engine::DType::kInvalid));
  return true;
}

}  // namespace

bool LoopShapes::widen(const std::vector<Value>& variables, const Value& after) {
  std::vector<Value> shapes = shapes_of_all(variables);
  bool any = false;
  for (size_t i = 0; i < shapes.size() && i < after.items.size(); ++i) {
    any |= widen_shapes(shapes[i], after.items[i]);
  }
  if (any) shapes_ = std::move(shapes);
  return any;
}

engine::ShapeStructure LoopShapes::invariants(const std::vector<Value>& variables) const {
  if (shapes_.empty()) return {};
  return {Value::of_container(engine::Container::tuple(), shapes_of_all(variables))};
}

std::vector<Value> LoopShapes::shapes_of_all(const std::vector<Value>& variables) const {
  std::vector<Value> shapes = shapes_;
  for (size_t i = shapes.size(); i < variables.size(); ++i) {
    shapes.push_back(shapes_of(variables[i]));
  }
  return shapes;
}

}  // namespace graven::internal
