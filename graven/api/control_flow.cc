#include "graven/api/control_flow.h"

#include "graven/api/library_call.h"
#include "graven/function/trace_type.h"

namespace graven::internal {
namespace {

// A tuple of shapes.
engine::ShapeStructure structure_of(const std::vector<Shape>& shapes) {
  std::vector<engine::Value> items;
  for (const Shape& shape : shapes) {
    items.push_back(
        engine::Value::of_type(engine::make_ref<engine::TensorType>(shape, DType::kInvalid)));
  }
  return {engine::Value::of_container(engine::Container::tuple(), std::move(items))};
}

}  // namespace

engine::Value run_cond(const Operand& pred, engine::Ref<engine::Callable> true_fn,
                       engine::Ref<engine::Callable> false_fn) {
  static const engine::PublicFunction& function = library_function("cond");
  LibraryCall call(function, pred.location());
  call.set(0, engine::Value::of_tensor(pred.as_tensor()));
  call.set(1, true_fn);
  call.set(2, false_fn);
  return call.run().structure;
}

engine::Value run_switch_case(const Operand& branch_index,
                              std::vector<engine::Ref<engine::Callable>> branch_fns,
                              engine::Ref<engine::Callable> default_fn) {
  static const engine::PublicFunction& function = library_function("switch_case");
  engine::Choices choices;
  for (engine::Ref<engine::Callable>& fn : branch_fns) {
    if (!fn) {
      throw_error(engine::type_error("A function of branch_fns is empty"), branch_index.location());
    }
    choices.all.push_back({engine::Value(), std::move(fn)});
  }
  LibraryCall call(function, branch_index.location());
  call.set(0, engine::Value::of_tensor(branch_index.as_tensor()));
  call.set(1, choices);
  call.set(2, default_fn);
  return call.run().structure;
}

engine::Value run_case(std::vector<std::pair<Operand, engine::Ref<engine::Callable>>> pred_fn_pairs,
                       engine::Ref<engine::Callable> default_fn, bool exclusive,
                       const std::source_location& location) {
  static const engine::PublicFunction& function = library_function("case");
  engine::Choices choices;
  for (auto& [pred, fn] : pred_fn_pairs) {
    if (!fn) throw_error(engine::type_error("A function of pred_fn_pairs is empty"), location);
    choices.all.push_back({engine::Value::of_tensor(pred.as_tensor()), std::move(fn)});
  }
  LibraryCall call(function, location);
  call.set(0, choices);
  call.set(1, default_fn);
  call.set(2, exclusive);
  call.set(3, true);  // strict: the result has the type that the functions return
  return call.run().structure;
}

engine::Value run_while_loop(engine::Ref<engine::Callable> cond, engine::Ref<engine::Callable> body,
                             engine::Value loop_vars, const WhileLoopOptions& options,
                             const std::source_location& location) {
  static const engine::PublicFunction& function = library_function("while_loop");
  LibraryCall call(function, location);
  call.set(0, cond);
  call.set(1, body);
  call.set(2, loop_vars);
  if (options.shape_invariants) call.set(3, structure_of(*options.shape_invariants));
  call.set(4, options.parallel_iterations);
  if (options.maximum_iterations) {
    // Beside the ignored swap_memory, the last of the record.
    call.set(7, engine::Tensor::scalar(static_cast<int32_t>(*options.maximum_iterations)));
  }
  return call.run().structure;
}

}  // namespace graven::internal
