#pragma once
#include <functional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "graven/api/convert.h"
#include "graven/api/error.h"
#include "graven/api/tensor.h"
#include "graven/base/export.h"
#include "graven/base/function_ref.h"
#include "graven/ir/callable.h"

// Functions of the program as the engine calls them; not for users.

namespace graven::internal {

// Calls a function of the program, which catches its exceptions: at once, or, where a graph is
// built, once for each sequence of answers that it gets from staged().
GRAVEN_API engine::Result<engine::Value> call_body(
    engine::FunctionRef<engine::Result<engine::Value>()> body);

// Calls a function with the values of its arguments. An exception is the payload of the status.
template <typename R, typename... Args>
engine::Result<engine::Value> call_with_values(
    const std::function<R(Args...)>& function,
    [[maybe_unused]] std::span<const engine::Value> values) {
  const auto call = [&]<size_t... i>(std::index_sequence<i...>)->R {
    return function(Convert<std::remove_cvref_t<Args>>::from_value(values[i])...);
  };
  return call_body([&]() -> engine::Result<engine::Value> {
    try {
      if constexpr (std::is_void_v<R>) {
        call(std::index_sequence_for<Args...>());
        return Convert<Nothing>::to_value(Nothing());
      } else {
        return Convert<R>::to_value(call(std::index_sequence_for<Args...>()));
      }
    } catch (...) {
      return status_of_current_exception();
    }
  });
}

// A function of the program, as functions that take functions call it.
template <typename R, typename... Args>
class UserCallable final : public engine::Callable {
 public:
  explicit UserCallable(std::function<R(Args...)> function) : function_(std::move(function)) {}
  engine::Result<engine::Value> call(std::span<const engine::Value> values, As) override {
    return call_with_values(function_, values);
  }

 private:
  const std::function<R(Args...)> function_;
};

// Null for an empty std::function.
template <typename R, typename... Args>
engine::Ref<engine::Callable> callable(std::function<R(Args...)> function) {
  if (!function) return nullptr;
  return engine::make_ref<UserCallable<R, Args...>>(std::move(function));
}

// The type that a value of a loop or branch has in functions of the program: numbers and texts
// become tensors, and variables are read.
template <typename T>
struct AsTensors {
  using type = std::conditional_t<std::is_arithmetic_v<T>, Tensor, T>;
};
template <>
struct AsTensors<std::string> {
  using type = Tensor;
};
template <>
struct AsTensors<Variable> {
  using type = Tensor;
};
template <typename... T>
struct AsTensors<std::tuple<T...>> {
  using type = std::tuple<typename AsTensors<T>::type...>;
};
template <typename A, typename B>
struct AsTensors<std::pair<A, B>> {
  using type = std::pair<typename AsTensors<A>::type, typename AsTensors<B>::type>;
};
template <typename T>
using AsTensorsOf = typename AsTensors<std::decay_t<T>>::type;

// A value with its numbers as tensors. Variables are read by what gets them.
template <typename T>
engine::Value value_of_tensors(const T& value) {
  if constexpr (std::is_constructible_v<AsTensorsOf<T>, const T&>) {
    return Convert<AsTensorsOf<T>>::to_value(AsTensorsOf<T>(value));
  } else {
    return Convert<T>::to_value(value);
  }
}

}  // namespace graven::internal
