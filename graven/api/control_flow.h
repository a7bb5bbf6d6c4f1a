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
#include "graven/api/error.h"
#include "graven/api/operand.h"
#include "graven/api/tensor.h"
#include "graven/base/export.h"
#include "graven/ir/callable.h"

namespace graven {

namespace internal {

// A function of the program, as functions that take functions call it.
template <typename R, typename... Args>
class UserCallable final : public engine::Callable {
 public:
  explicit UserCallable(std::function<R(Args...)> function) : function_(std::move(function)) {}
  engine::Result<engine::Value> call(std::span<const engine::Value> values, As) override {
    try {
      return call(values, std::index_sequence_for<Args...>());
    } catch (...) {
      return status_of_current_exception();
    }
  }

 private:
  template <size_t... i>
  engine::Value call([[maybe_unused]] std::span<const engine::Value> values,
                     std::index_sequence<i...>) {
    if constexpr (std::is_void_v<R>) {
      function_(Convert<Args>::from_value(values[i])...);
      return Convert<Nothing>::to_value(Nothing());
    } else {
      return Convert<R>::to_value(function_(Convert<Args>::from_value(values[i])...));
    }
  }
  std::function<R(Args...)> function_;
};

template <typename R, typename... Args, typename F>
engine::Ref<engine::Callable> callable(F&& function) {
  return engine::make_ref<UserCallable<R, Args...>>(
      std::function<R(Args...)>(std::forward<F>(function)));
}

GRAVEN_API engine::Value run_cond(const Operand& pred, engine::Ref<engine::Callable> true_fn,
                                  engine::Ref<engine::Callable> false_fn);

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
      internal::run_cond(pred, internal::callable<R>(std::forward<True>(true_fn)),
                         internal::callable<R>(std::forward<False>(false_fn)));
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
// tuple.
//
//   auto [i, sum] = graven::while_loop([](Tensor i, Tensor sum) { return i < 10; },
//                                      [](Tensor i, Tensor sum) { return std::tuple(i + 1, sum +
//                                      i); }, std::tuple(Tensor(0), Tensor(0)));
//
// While a function is traced both are called once; tensors that they read from outside do not
// change from one iteration to the next. Throws TypeError if a variable changes its dtype then, and
// ValueError if it changes a size that shape_invariants do not leave open.
template <typename Cond, typename Body, typename... Variables>
auto while_loop(Cond&& cond, Body&& body, const std::tuple<Variables...>& loop_vars,
                const WhileLoopOptions& options = {},
                std::source_location location = std::source_location::current()) {
  using All = std::tuple<Variables...>;
  return Convert<All>::from_value(
      internal::run_while_loop(internal::callable<Tensor, Variables...>(std::forward<Cond>(cond)),
                               internal::callable<All, Variables...>(std::forward<Body>(body)),
                               Convert<All>::to_value(loop_vars), options, location));
}

}  // namespace graven
