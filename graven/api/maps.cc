#include "graven/api/maps.h"

#include "graven/api/library_call.h"

namespace graven::internal {
namespace {

// Puts the types in the places of the leaves, in order.
void put_types(engine::Value& value, const std::vector<TensorSpec>& types, size_t& next) {
  if (value.kind != engine::Value::Kind::kContainer) {
    if (next < types.size()) value = engine::Value::of_type(types[next].type());
    ++next;
  }
  for (size_t i = 0; i < value.items.size(); ++i) put_types(value.item_in_order(i), types, next);
}

}  // namespace

engine::Value run_map(engine::Ref<engine::Callable> fn, engine::Value elems,
                      engine::Value empty_result, const MapOptions& options,
                      const std::source_location& location) {
  const engine::PublicFunction& function = library_function("map_fn");
  LibraryCall call(function, location);
  call.set(0, fn);
  call.set(1, elems);
  if (const auto& types = options.fn_output_signature) {
    size_t num_leaves = 0;
    put_types(empty_result, *types, num_leaves);
    if (num_leaves != types->size()) {
      throw_error(engine::value_error("fn_output_signature must hold a type for each of ",
                                      num_leaves, " tensors of fn's result, not ", types->size()),
                  location);
    }
    call.set(8, engine::ShapeStructure{std::move(empty_result)});
  }
  if (options.parallel_iterations) call.set(3, options.parallel_iterations);
  return call.run().structure;
}

engine::Value run_vectorized_map(engine::Ref<engine::Callable> fn, engine::Value elems,
                                 const VectorizedMapOptions& options,
                                 const std::source_location& location) {
  const engine::PublicFunction& function = library_function("vectorized_map");
  LibraryCall call(function, location);
  call.set(0, fn);
  call.set(1, elems);
  call.set(2, options.fallback_to_while_loop);
  call.set(3, options.warn);
  return call.run().structure;
}

engine::Value run_fold(const char* name, engine::Ref<engine::Callable> fn, engine::Value elems,
                       engine::Value initializer, const ScanOptions& options,
                       const std::source_location& location) {
  const engine::PublicFunction& function = library_function(name);
  LibraryCall call(function, location);
  call.set(0, fn);
  call.set(1, elems);
  call.set(2, initializer);
  call.set(3, options.parallel_iterations);
  if (options.reverse) call.set(7, options.reverse);  // of scan alone
  return call.run().structure;
}

}  // namespace graven::internal
