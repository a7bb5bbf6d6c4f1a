#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "graven/api/convert.h"
#include "graven/api/operand.h"
#include "graven/api/tensor.h"
#include "graven/api/user_callable.h"
#include "graven/base/export.h"
#include "graven/ir/callable.h"

namespace graven {

namespace internal {

GRAVEN_API engine::Value run_cond(const Operand& pred, engine::Ref<engine::Callable> true_fn,
                                  engine::Ref<engine::Callable> false_fn);
GRAVEN_API engine::Value run_switch_case(const Operand& branch_index,
                                         std::vector<engine::Ref<engine::Callable>> branch_fns,
                                         engine::Ref<engine::Callable> default_fn);
GRAVEN_API engine::Value run_case(
    std::vector<std::pair<Operand, engine::Ref<engine::Callable>>> pred_fn_pairs,
    engine::Ref<engine::Callable> default_fn, bool exclusive, const std::source_location& location);

}  // namespace internal

// The result of true_fn if pred holds, else that of false_fn: a tensor, or a tuple or struct of
// tensors, the same type from both. Where values are computed at once only the chosen function is
// called. While a function is traced both are called, each once, and the chosen one runs; what they
// read from outside is computed whichever runs.
//
// Throws TypeError if the results differ in dtype or number while a function is traced, and
// InvalidArgument, when it runs, if pred is no bool scalar.
template <typename True, typename False>
auto cond(const Operand& pred, True&& true_fn, False&& false_fn) {
  using R = std::invoke_result_t<True>;
  static_assert(std::is_same_v<R, std::invoke_result_t<False>>,
                "true_fn and false_fn must return the same type");
  const engine::Value result =
      internal::run_cond(pred, internal::callable(std::function<R()>(std::forward<True>(true_fn))),
                         internal::callable(std::function<R()>(std::forward<False>(false_fn))));
  if constexpr (!std::is_void_v<R>) return Convert<R>::from_value(result);
}

// The result of the function of this number, from 0; for other numbers that of default_fn, or
// without one that of the last function. They give a tensor, or what is named:
//
//   Tensor y = graven::switch_case(index, {[&] { return x; }, [&] { return x * x; }});
//   graven::switch_case<std::tuple<Tensor, Tensor>>(index, {f, g}, h);
//
// The rules and errors are those of cond; branch_index is an int32 scalar.
template <typename R = Tensor>
R switch_case(const Operand& branch_index, std::vector<std::function<R()>> branch_fns,
              std::type_identity_t<std::function<R()>> default_fn = nullptr) {
  std::vector<engine::Ref<engine::Callable>> branches;
  for (auto& function : branch_fns) branches.push_back(internal::callable(std::move(function)));
  const engine::Value result = internal::run_switch_case(branch_index, std::move(branches),
                                                         internal::callable(std::move(default_fn)));
  if constexpr (!std::is_void_v<R>) return Convert<R>::from_value(result);
}

// A predicate, which is a bool scalar, and its function.
template <typename R = Tensor>
struct Case {
  Operand pred;
  std::function<R()> fn;
};

// The result of the function of the first predicate that holds, or of default_fn:
//
//   Tensor y = graven::case_({{x < 0, [&] { return -x; }}, {x > 9, [&] { return x / 2; }}},
//                            [&] { return x; });
//
// While a function is traced all predicates are computed and all functions called, each once. The
// rules and errors are those of cond. InvalidArgument if no predicate holds and there is no
// default_fn, or if `exclusive` is set and several hold.
template <typename R = Tensor>
R case_(std::vector<Case<R>> pred_fn_pairs,
        std::type_identity_t<std::function<R()>> default_fn = nullptr, bool exclusive = false,
        std::source_location location = std::source_location::current()) {
  std::vector<std::pair<Operand, engine::Ref<engine::Callable>>> pairs;
  for (Case<R>& one : pred_fn_pairs) {
    pairs.emplace_back(one.pred, internal::callable(std::move(one.fn)));
  }
  const engine::Value result = internal::run_case(
      std::move(pairs), internal::callable(std::move(default_fn)), exclusive, location);
  if constexpr (!std::is_void_v<R>) return Convert<R>::from_value(result);
}

struct WhileLoopOptions {
  // The shapes that the variables keep, one for each, where they are tensors; none: those of the
  // first values.
  std::optional<std::vector<Shape>> shape_invariants = std::nullopt;
  std::optional<int64_t> maximum_iterations = std::nullopt;
  int64_t parallel_iterations = 10;
};

namespace internal {
GRAVEN_API engine::Value run_while_loop(engine::Ref<engine::Callable> cond,
                                        engine::Ref<engine::Callable> body, engine::Value loop_vars,
                                        const WhileLoopOptions& options,
                                        const std::source_location& location);
}  // namespace internal

// Repeats body as long as cond holds, and returns the loop variables after the last iteration. cond
// gets the variables and returns a bool scalar; body gets them and returns their next values, a
// tuple. Numbers among the first values become tensors.
//
//   auto [i, sum] = graven::while_loop([](Tensor i, Tensor sum) { return i < 10; },
//                                      [](Tensor i, Tensor sum) { return std::tuple(i + 1, sum +
//                                      i); }, std::tuple(0, 0));
//
// While a function is traced both are called once; tensors that they read from outside do not
// change from one iteration to the next. Throws TypeError if a variable changes its dtype then, and
// ValueError if it changes a size that shape_invariants do not leave open.
template <typename Cond, typename Body, typename... Variables>
auto while_loop(Cond&& cond, Body&& body, const std::tuple<Variables...>& loop_vars,
                const WhileLoopOptions& options = {},
                std::source_location location = std::source_location::current()) {
  using All = internal::AsTensorsOf<std::tuple<Variables...>>;
  std::function<Tensor(internal::AsTensorsOf<Variables>...)> condition(std::forward<Cond>(cond));
  std::function<All(internal::AsTensorsOf<Variables>...)> step(std::forward<Body>(body));
  return Convert<All>::from_value(internal::run_while_loop(
      internal::callable(std::move(condition)), internal::callable(std::move(step)),
      internal::value_of_tensors(loop_vars), options, location));
}

}  // namespace graven
