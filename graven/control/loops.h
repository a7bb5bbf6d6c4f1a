#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "graven/ir/callable.h"
#include "graven/library/function.h"
#include "graven/library/function_context.h"
#include "graven/library/parameters.h"

namespace graven::engine {

inline constexpr std::string_view kRecomputeDoc =
    "k above 0 saves memory in a graph: for its gradient the loop keeps its variables every k "
    "iterations and computes the other values again, k iterations at a time. Gradients are the "
    "same to the last bit. 0 keeps all values.";

struct WhileLoopParameters {
  Ref<Callable> cond, body;
  Value loop_vars;
  ShapeStructure shape_invariants;
  int64_t parallel_iterations = 10;
  bool back_prop = true;
  Tensor maximum_iterations;
  int64_t recompute = 0;
  static constexpr auto fields() {
    using P = WhileLoopParameters;
    return std::tuple(
        required_field("cond", &P::cond, "Called with the loop variables; gives a bool scalar."),
        required_field("body", &P::body,
                       "Called with the loop variables; gives their next values, a list or tuple "
                       "of the same structure."),
        required_field("loop_vars", &P::loop_vars,
                       "A list or tuple of the first values, which may be nested."),
        field("shape_invariants", &P::shape_invariants,
              "The shapes that the loop variables keep, a TensorShape or a TypeSpec for each; None "
              "means those of the first values. In a graph only."),
        field("parallel_iterations", &P::parallel_iterations, "At least 1; results are the same."),
        field("back_prop", &P::back_prop, "False stops gradients of a loop in a graph."),
        ignored_field("swap_memory", "Results are the same."),
        field("maximum_iterations", &P::maximum_iterations, "int32",
              "The most iterations there may be, a scalar."),
        name_field(), field("recompute", &P::recompute, kRecomputeDoc));
  }
};

// The loop variables after the loop, in the structure of loop_vars: at once or as a node.
Outputs while_loop(FunctionContext& c, const WhileLoopParameters& p);

// A function of the engine's own, where one of the program's is expected.
class OwnCallable final : public Callable {
 public:
  using Function = std::function<Result<Value>(std::span<const Value> arguments, As as)>;
  explicit OwnCallable(Function function) : function_(std::move(function)) {}
  Result<Value> call(std::span<const Value> arguments, As as) override {
    return function_(arguments, as);
  }

 private:
  Function function_;
};

// The condition of a loop in a graph whose first variable counts its iterations.
Ref<Callable> counts_up_to(Tensor limit);

}  // namespace graven::engine
