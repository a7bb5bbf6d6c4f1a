#pragma once
#include <cstdint>

namespace graven::engine {

// The size of one dimension, in one word: a number, unknown, or a term over symbols.
//
// A number is 0 or more. Unknown says nothing, and is found in types only; each placeholder of
// such a type makes it a fresh symbol. A term is an index into the SymbolTable of the graph
// that it belongs to; terms are kept in canonical form there, so two Dims of one graph are
// equal if and only if their words are.
class Dim {
 public:
  constexpr Dim() = default;  // unknown
  constexpr Dim(int64_t number) : word_(number) {}
  static constexpr Dim unknown() { return Dim(); }
  static constexpr Dim term(int64_t index) { return Dim(-2 - index); }

  constexpr bool is_number() const { return word_ >= 0; }
  constexpr bool is_unknown() const { return word_ == -1; }
  constexpr bool is_term() const { return word_ < -1; }
  constexpr int64_t number() const { return word_; }
  constexpr int64_t term_index() const { return -2 - word_; }
  // The size as Python and TraceTypes see it: the number, or -1 for anything else.
  constexpr int64_t number_or_minus_one() const { return word_ >= 0 ? word_ : -1; }
  constexpr int64_t word() const { return word_; }
  friend constexpr bool operator==(Dim a, Dim b) = default;

 private:
  int64_t word_ = -1;
};

}  // namespace graven::engine
