#pragma once
#include <any>
#include <concepts>
#include <cstdint>
#include <memory>
#include <source_location>
#include <type_traits>
#include <utility>

#include "graven/api/convert.h"
#include "graven/api/operand.h"
#include "graven/api/tensor.h"
#include "graven/base/export.h"

// Plain `if`, `while` and `for` on tensors, as an opt-in:
//
//   Tensor collatz(Tensor start) {
//     graven::State<Tensor> n = start, steps = 0;
//     while (graven::staged(n > 1)) {
//       if (graven::staged(graven::equal(n % 2, 0))) {
//         n = graven::cast(n / 2, graven::DType::kInt32);
//       } else {
//         n = 3 * n + 1;
//       }
//       steps = steps + 1;
//     }
//     return steps;
//   }
//
// Where values are computed at once this is C++ as it stands. While a function is traced its body,
// or a function given to cond or while_loop, is run once for each sequence of answers that staged()
// may give. Its ops become nodes once; a run of the same beginning finds them again. An `if`
// becomes a cond of all that follows it, so each branch may return; a condition that is asked again
// at the same place, of the same states, becomes a while_loop. What this asks of a body:
//
// - A tensor that a loop changes, or that is made in a loop and used behind its break or return, is
//   a State, declared before the loop. Nothing is asked of tensors that only an `if` changes.
// - Other values that a loop changes are Static: their value is part of the trace, and a loop in
//   which they change is unrolled until they do not.
// - Each run does the same. A body that did something else before a question it had been asked
//   before, because of a counter or a changed tensor that is no State, is a RuntimeError that names
//   both lines. Variables are made outside of the body.
// - staged() leaves a run that it needs no more by an exception that is no std::exception. It goes
//   through destructors; `catch (...)` must rethrow it, and no `noexcept` function may ask.
//
// A trace of more than 20 000 runs is a ResourceExhausted error: that many answers belong in cond
// and while_loop, which trace each branch once.

namespace graven {

// The truth of a bool scalar, which `if` and `while` may ask while a function is traced.
GRAVEN_API bool staged(const Operand& condition,
                       std::source_location location = std::source_location::current());

namespace internal {

class States;

// A value that the states of the traced body on this thread list while it lives.
class GRAVEN_API ListedState {
 public:
  ListedState();
  ListedState(const ListedState&) : ListedState() {}
  ListedState& operator=(const ListedState&) { return *this; }
  virtual ~ListedState();

 private:
  friend class States;
  // A State: its value, which is of tensors.
  virtual engine::Value value() const { return {}; }
  virtual void set(const engine::Value&) {}
  // A Static: a copy of its value, null for a State, and whether it equals such a copy.
  virtual std::shared_ptr<const void> copy() const { return nullptr; }
  virtual bool equals(const void*) const { return false; }

  std::shared_ptr<States> states_;  // null outside of traced bodies
  int64_t number_ = 0;
};

}  // namespace internal

// A variable that loops on staged() may change: a Tensor, TensorArray, or tuple or struct of these.
template <typename T>
class State final : public T, private internal::ListedState {
 public:
  State() = default;
  template <typename U>
  requires(std::convertible_to<U&&, T> && !std::same_as<std::remove_cvref_t<U>, State>)
      State(U&& value)
      : T(std::forward<U>(value)) {}
  State(const State& other) = default;
  State& operator=(const State& other) = default;
  template <typename U>
  requires(std::convertible_to<U&&, T> && !std::same_as<std::remove_cvref_t<U>, State>) State&
  operator=(U&& value) {
    static_cast<T&>(*this) = T(std::forward<U>(value));
    return *this;
  }

 private:
  engine::Value value() const override { return Convert<T>::to_value(*this); }
  void set(const engine::Value& value) override {
    static_cast<T&>(*this) = Convert<T>::from_value(value);
  }
};

// A variable of plain data, with ==, that loops on staged() may change while a body is traced.
template <std::equality_comparable T>
class Static final : private internal::ListedState {
 public:
  Static() = default;
  Static(T value) : value_(std::move(value)) {}
  operator const T&() const { return value_; }
  const T& get() const { return value_; }
  Static& operator=(T value) {
    value_ = std::move(value);
    return *this;
  }

 private:
  std::shared_ptr<const void> copy() const override { return std::make_shared<const T>(value_); }
  bool equals(const void* other) const override { return value_ == *static_cast<const T*>(other); }
  T value_ = {};
};

// The numbers from begin to limit, which is left out, for
//
//   for (Tensor i : graven::staged_range(n)) ...
class GRAVEN_API StagedRange {
 public:
  StagedRange(Tensor begin, Tensor limit, int64_t delta, std::source_location location)
      : begin_(std::move(begin)), limit_(std::move(limit)), delta_(delta), location_(location) {}
  struct End {};
  class GRAVEN_API Iterator {
   public:
    Tensor operator*() const { return number_; }
    Iterator& operator++();
    bool operator!=(End) const;

   private:
    friend class StagedRange;
    explicit Iterator(const StagedRange& range) : range_(range), number_(range.begin_) {}
    const StagedRange& range_;
    State<Tensor> number_;
  };
  Iterator begin() const { return Iterator(*this); }
  End end() const { return {}; }

 private:
  const Tensor begin_, limit_;
  const int64_t delta_;
  const std::source_location location_;
};

// From 0, by 1. The limit is an integer scalar, whose dtype the numbers have.
GRAVEN_API StagedRange
staged_range(const Operand& limit, std::source_location location = std::source_location::current());
// By a delta that is not 0; a negative one counts down.
GRAVEN_API StagedRange
staged_range(const Operand& begin, const Operand& limit, int64_t delta = 1,
             std::source_location location = std::source_location::current());

}  // namespace graven
