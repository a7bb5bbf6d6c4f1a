#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "graven/api/convert.h"
#include "graven/api/tensor.h"
#include "graven/api/tensor_spec.h"
#include "graven/api/user_callable.h"
#include "graven/base/export.h"
#include "graven/ir/callable.h"

// Functions over the rows of tensors: the slices along their first axes. `elems` is a tensor, or a
// tuple or struct of tensors of one length, and the function gets the rows of one number in the
// same form; the parts of a tuple may be parameters of their own. Where values are computed at once
// it is called for each row. While a function is traced it is called once, as the body of a loop.

namespace graven {

struct MapOptions {
  // The dtype, and what is known of the shape, of each tensor in fn's result. To be given if the
  // result has another dtype or another number of tensors than elems.
  std::optional<std::vector<TensorSpec>> fn_output_signature = std::nullopt;
  std::optional<int64_t> parallel_iterations = std::nullopt;
};
struct VectorizedMapOptions {
  bool fallback_to_while_loop = true;  // an op without a rule for many rows runs in a loop
  bool warn = true;                    // tell of such ops
};
struct FoldOptions {
  int64_t parallel_iterations = 10;
};
struct ScanOptions {
  int64_t parallel_iterations = 10;
  bool reverse = false;  // begin with the last row
};

namespace internal {

// The result of a call with the values `arguments`, or with the parts of the last one, a tuple.
template <typename F, typename... Args>
decltype(auto) invoke_or_apply(F& function, const Args&... arguments) {
  if constexpr (std::is_invocable_v<F&, const Args&...>) {
    return function(arguments...);
  } else {
    auto all = std::tuple<const Args&...>(arguments...);
    constexpr size_t kLast = sizeof...(Args) - 1;
    return [&]<size_t... i>(std::index_sequence<i...>)->decltype(auto) {
      return std::apply(function,
                        std::tuple_cat(std::tie(std::get<i>(all)...), std::get<kLast>(all)));
    }
    (std::make_index_sequence<kLast>());
  }
}

GRAVEN_API engine::Value run_map(engine::Ref<engine::Callable> fn, engine::Value elems,
                                 engine::Value empty_result, const MapOptions& options,
                                 const std::source_location& location);
GRAVEN_API engine::Value run_vectorized_map(engine::Ref<engine::Callable> fn, engine::Value elems,
                                            const VectorizedMapOptions& options,
                                            const std::source_location& location);
GRAVEN_API engine::Value run_fold(const char* name, engine::Ref<engine::Callable> fn,
                                  engine::Value elems, engine::Value initializer,
                                  const ScanOptions& options, const std::source_location& location);

// What fn makes of the rows of an Elems.
template <typename Fn, typename Elems>
using MappedBy = AsTensorsOf<decltype(invoke_or_apply(std::declval<Fn&>(),
                                                      std::declval<const AsTensorsOf<Elems>&>()))>;
template <typename Elems, typename Fn>
engine::Ref<engine::Callable> callable_on_rows(Fn& fn) {
  using Row = AsTensorsOf<Elems>;
  using R = MappedBy<Fn, Elems>;
  std::function<R(Row)> function = [&](const Row& row) { return R(invoke_or_apply(fn, row)); };
  return callable(std::move(function));
}

// The call of one of foldl's kind; `initializer` has the value of an Accumulated, or is None.
template <typename Accumulated, typename Fn, typename Elems>
Accumulated fold_rows(const char* name, Fn& fn, const Elems& elems, engine::Value initializer,
                      const ScanOptions& options, const std::source_location& location) {
  using Row = AsTensorsOf<Elems>;
  std::function<Accumulated(Accumulated, Row)> function = [&](const Accumulated& accumulated,
                                                              const Row& row) {
    return Accumulated(invoke_or_apply(fn, accumulated, row));
  };
  return Convert<Accumulated>::from_value(run_fold(name, callable(std::move(function)),
                                                   Convert<Elems>::to_value(elems),
                                                   std::move(initializer), options, location));
}

}  // namespace internal

// The results of fn for the rows of elems, stacked.
//
//   Tensor y = graven::map_fn([](Tensor row) { return graven::reduce_sum(row); }, x);
//
// Throws ValueError if elems holds no tensor, a scalar or tensors of several lengths, or if fn
// returns another structure than expected or rows of several shapes; InvalidArgument if it returns
// another dtype.
template <typename Fn, typename Elems>
auto map_fn(Fn&& fn, const Elems& elems, const MapOptions& options = {},
            std::source_location location = std::source_location::current()) {
  using R = internal::MappedBy<std::remove_reference_t<Fn>, Elems>;
  return Convert<R>::from_value(internal::run_map(internal::callable_on_rows<Elems>(fn),
                                                  Convert<Elems>::to_value(elems),
                                                  Convert<R>::to_value(R()), options, location));
}

// The results of fn for the rows of elems, stacked, like map_fn's: fn is traced once, and each of
// its ops runs for all rows at once.
//
//   Tensor y = graven::vectorized_map([&](Tensor row) { return graven::linalg::matvec(w, row); },
//   x);
//
// Throws ValueError as map_fn does, and for an op without a rule if it may not run in a loop.
template <typename Fn, typename Elems>
auto vectorized_map(Fn&& fn, const Elems& elems, const VectorizedMapOptions& options = {},
                    std::source_location location = std::source_location::current()) {
  using R = internal::MappedBy<std::remove_reference_t<Fn>, Elems>;
  return Convert<R>::from_value(internal::run_vectorized_map(
      internal::callable_on_rows<Elems>(fn), Convert<Elems>::to_value(elems), options, location));
}

// What fn accumulates over the rows of elems, after each of them: fn gets what was accumulated so
// far and the rows of one number, and returns what is accumulated then. Without an initializer the
// first row is what there is at first, and stands in its place.
//
//   Tensor sums = graven::scan([](Tensor sum, Tensor row) { return sum + row; }, x, 0.0);
//
// Throws ValueError if fn changes the structure or a shape of what is accumulated, TypeError if it
// changes a dtype, InvalidArgument if there is no row and no initializer.
template <typename Fn, typename Elems>
auto scan(Fn&& fn, const Elems& elems, const ScanOptions& options = {},
          std::source_location location = std::source_location::current()) {
  return internal::fold_rows<internal::AsTensorsOf<Elems>>("scan", fn, elems, engine::Value(),
                                                           options, location);
}
template <typename Fn, typename Elems, typename Initializer>
requires(!std::same_as<Initializer, ScanOptions>) auto scan(
    Fn&& fn, const Elems& elems, const Initializer& initializer, const ScanOptions& options = {},
    std::source_location location = std::source_location::current()) {
  return internal::fold_rows<internal::AsTensorsOf<Initializer>>(
      "scan", fn, elems, internal::value_of_tensors(initializer), options, location);
}

// What fn accumulates over the rows of elems, from the first to the last; as scan, without the
// values on the way.
template <typename Fn, typename Elems>
auto foldl(Fn&& fn, const Elems& elems, const FoldOptions& options = {},
           std::source_location location = std::source_location::current()) {
  return internal::fold_rows<internal::AsTensorsOf<Elems>>(
      "foldl", fn, elems, engine::Value(), {.parallel_iterations = options.parallel_iterations},
      location);
}
template <typename Fn, typename Elems, typename Initializer>
requires(!std::same_as<Initializer, FoldOptions>) auto foldl(
    Fn&& fn, const Elems& elems, const Initializer& initializer, const FoldOptions& options = {},
    std::source_location location = std::source_location::current()) {
  return internal::fold_rows<internal::AsTensorsOf<Initializer>>(
      "foldl", fn, elems, internal::value_of_tensors(initializer),
      {.parallel_iterations = options.parallel_iterations}, location);
}

// The same from the last row to the first.
template <typename Fn, typename Elems>
auto foldr(Fn&& fn, const Elems& elems, const FoldOptions& options = {},
           std::source_location location = std::source_location::current()) {
  return internal::fold_rows<internal::AsTensorsOf<Elems>>(
      "foldr", fn, elems, engine::Value(), {.parallel_iterations = options.parallel_iterations},
      location);
}
template <typename Fn, typename Elems, typename Initializer>
requires(!std::same_as<Initializer, FoldOptions>) auto foldr(
    Fn&& fn, const Elems& elems, const Initializer& initializer, const FoldOptions& options = {},
    std::source_location location = std::source_location::current()) {
  return internal::fold_rows<internal::AsTensorsOf<Initializer>>(
      "foldr", fn, elems, internal::value_of_tensors(initializer),
      {.parallel_iterations = options.parallel_iterations}, location);
}

}  // namespace graven
