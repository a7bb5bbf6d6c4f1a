#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/function_ref.h"
#include "graven/tensor/dim.h"

namespace graven::engine {

// The symbols and terms of one graph's dimensions.
//
// A term is a sum of products of symbols with integer factors, such as 2*n*m + 3. It is kept
// in canonical form (symbols sorted within a product, products sorted within the sum, equal
// products merged) and interned, so terms are equal if and only if their Dims are.
//
// A symbol is one of three: an unknown dimension of an argument; a named function of other Dims
// that sums and products cannot say (floordiv(n + 1, 2), max(n, m), broadcast(n, m)), interned by
// its arguments; or a value that is known only at run time.
//
// Not for use by several threads at once. An operation with an unknown operand gives unknown.
class GRAVEN_API SymbolTable {
 public:
  enum class Function : uint8_t { kFloorDiv, kCeilDiv, kMax, kMin, kBroadcast, kMod };

  SymbolTable();
  ~SymbolTable();
  SymbolTable(const SymbolTable&) = delete;

  // Makes this a copy of another table, in which all Dims of the other mean the same.
  void copy_from(const SymbolTable& other);

  // A fresh symbol; the name is for printing ("n", "x.0") and need not be unique.
  Dim new_symbol(std::string name);

  Dim add(Dim a, Dim b);
  Dim subtract(Dim a, Dim b);
  Dim multiply(Dim a, Dim b);
  // Divisors and moduli are positive. kBroadcast: equal Dims give themselves, 1 gives the
  // other, a number above 1 gives that number (the other must then be it or 1).
  Dim apply(Function function, Dim a, Dim b);

  // The term with each symbol replaced, for a call that binds a callee's symbols to its own
  // Dims, in this table. `of` maps symbol indices of `from` (see symbols_of) to Dims of this.
  Dim substitute(const SymbolTable& from, Dim dim, FunctionRef<Dim(int64_t symbol)> of);

  // The value of a Dim when symbols have the given values; -1 if it depends on a symbol without
  // value (a negative one). Function symbols are computed from their arguments.
  int64_t evaluate(Dim dim, std::span<const int64_t> symbol_values) const;

  int64_t num_symbols() const;
  // The symbol of a Dim that is one symbol alone, else -1.
  int64_t as_symbol(Dim dim) const;
  // The Dim that is the symbol alone.
  Dim dim_of(int64_t symbol);
  // True if the symbol stands for a function of other Dims, and so has no name of its own.
  bool is_function(int64_t symbol) const;
  const std::string& symbol_name(int64_t symbol) const;
  // True if the Dim is no term, or a term of this table.
  bool contains(Dim dim) const;
  std::string to_text(Dim dim) const;
  // The same with other names for the symbols that are no functions. The names alone decide the
  // order in sums, products and commutative functions, so two tables whose terms were made in
  // another order give the same text.
  std::string to_text(Dim dim, FunctionRef<std::string(int64_t symbol)> name) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace graven::engine
