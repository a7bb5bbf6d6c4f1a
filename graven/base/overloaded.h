#pragma once

namespace graven::engine {

// One function object of several lambdas, for std::visit.
template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace graven::engine
