#include "graven/tensor/symbol_table.h"

#include <algorithm>
#include <map>

#include "graven/base/strings.h"

namespace graven::engine {
namespace {

using Product = std::vector<int64_t>;    // symbol indices, sorted; empty is 1
using Sum = std::map<Product, int64_t>;  // product to factor, factors not 0

int64_t compute(SymbolTable::Function function, int64_t a, int64_t b) {
  switch (function) {
    case SymbolTable::Function::kFloorDiv:
      return b > 0 ? a / b - (a % b < 0) : -1;
    case SymbolTable::Function::kCeilDiv:
      return b > 0 ? a / b + (a % b > 0) : -1;
    case SymbolTable::Function::kMax:
      return std::max(a, b);
    case SymbolTable::Function::kMin:
      return std::min(a, b);
    case SymbolTable::Function::kBroadcast:
      return a == 1 ? b : a;
    case SymbolTable::Function::kMod:
      return b > 0 ? (a % b + b) % b : -1;
  }
  return -1;
}

constexpr std::string_view kFunctionNames[] = {"floordiv", "ceildiv",   "max",
                                               "min",      "broadcast", "mod"};

std::string_view function_name(SymbolTable::Function function) {
  return kFunctionNames[static_cast<int>(function)];
}

bool commutes(SymbolTable::Function function) {
  return function == SymbolTable::Function::kMax || function == SymbolTable::Function::kMin ||
         function == SymbolTable::Function::kBroadcast;
}

}  // namespace

struct SymbolTable::State {
  struct Symbol {
    std::string name;
    bool is_function = false;
    Function function = Function::kMax;
    Dim a = Dim::unknown(), b = Dim::unknown();
  };
  std::vector<Symbol> symbols;
  std::vector<Sum> terms;
  std::map<Sum, int64_t> term_index;
  std::map<std::tuple<Function, int64_t, int64_t>, int64_t> function_symbols;

  Sum sum_of(Dim dim) const {
    if (dim.is_term()) return terms[dim.term_index()];
    Sum sum;
    if (dim.number() != 0) sum[{}] = dim.number();
    return sum;
  }
  Dim intern(Sum sum) {
    std::erase_if(sum, [](const auto& entry) { return entry.second == 0; });
    if (sum.empty()) return Dim(0);
    if (sum.size() == 1 && sum.begin()->first.empty()) {
      // A negative constant can only come from sizes that contradict each other.
      int64_t number = sum.begin()->second;
      return number >= 0 ? Dim(number) : Dim::unknown();
    }
    auto [at, is_new] = term_index.try_emplace(sum, static_cast<int64_t>(terms.size()));
    if (is_new) terms.push_back(std::move(sum));
    return Dim::term(at->second);
  }
  Dim symbol_dim(int64_t symbol) { return intern(Sum{{Product{symbol}, 1}}); }
};

SymbolTable::SymbolTable() : state_(std::make_unique<State>()) {}
SymbolTable::~SymbolTable() = default;

void SymbolTable::copy_from(const SymbolTable& other) { *state_ = *other.state_; }

Dim SymbolTable::new_symbol(std::string name) {
  state_->symbols.push_back({.name = std::move(name)});
  return state_->symbol_dim(static_cast<int64_t>(state_->symbols.size()) - 1);
}

Dim SymbolTable::add(Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown()) return Dim::unknown();
  if (a.is_number() && b.is_number()) return Dim(a.number() + b.number());
  Sum sum = state_->sum_of(a);
  for (const auto& [product, factor] : state_->sum_of(b)) sum[product] += factor;
  return state_->intern(std::move(sum));
}

Dim SymbolTable::subtract(Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown()) return Dim::unknown();
  Sum sum = state_->sum_of(a);
  for (const auto& [product, factor] : state_->sum_of(b)) sum[product] -= factor;
  return state_->intern(std::move(sum));
}

Dim SymbolTable::multiply(Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown()) return Dim::unknown();
  Sum sum;
  for (const auto& [pa, fa] : state_->sum_of(a)) {
    for (const auto& [pb, fb] : state_->sum_of(b)) {
      Product product;
      std::merge(pa.begin(), pa.end(), pb.begin(), pb.end(), std::back_inserter(product));
      sum[product] += fa * fb;
    }
  }
  return state_->intern(std::move(sum));
}

Dim SymbolTable::apply(Function function, Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown()) return Dim::unknown();
  if (a.is_number() && b.is_number()) {
    int64_t number = compute(function, a.number(), b.number());
    return number >= 0 ? Dim(number) : Dim::unknown();
  }
  switch (function) {
    case Function::kBroadcast:
      if (a == b || b == Dim(1)) return a;
      if (a == Dim(1)) return b;
      if (a.is_number()) return a;
      if (b.is_number()) return b;
      break;
    case Function::kMax:
    case Function::kMin:
      if (a == b) return a;
      break;
    case Function::kFloorDiv:
    case Function::kCeilDiv:
    case Function::kMod: {
      if (a == b && function != Function::kMod) return Dim(1);  // sizes of 0 are found when run
      if (!b.is_number() || b.number() == 0) break;
      // 6*n + 3 by 3 needs no function.
      Sum quotient = state_->sum_of(a);
      bool exact = std::all_of(quotient.begin(), quotient.end(),
                               [&](const auto& entry) { return entry.second % b.number() == 0; });
      if (!exact) break;
      if (function == Function::kMod) return Dim(0);
      for (auto& entry : quotient) entry.second /= b.number();
      return state_->intern(std::move(quotient));
    }
  }
  if (commutes(function) && b.word() < a.word()) std::swap(a, b);
  auto [at, is_new] = state_->function_symbols.try_emplace(
      {function, a.word(), b.word()}, static_cast<int64_t>(state_->symbols.size()));
  if (is_new) state_->symbols.push_back({"", true, function, a, b});
  return state_->symbol_dim(at->second);
}

Dim SymbolTable::substitute(const SymbolTable& from, Dim dim, FunctionRef<Dim(int64_t symbol)> of) {
  if (!dim.is_term()) return dim;
  // Additions come before subtractions, because a Dim cannot be negative on the way.
  Dim added(0), subtracted(0);
  for (const auto& [product, factor] : from.state_->terms[dim.term_index()]) {
    Dim term(factor >= 0 ? factor : -factor);
    for (int64_t symbol : product) {
      const auto& made = from.state_->symbols[symbol];
      Dim value = made.is_function ? apply(made.function, substitute(from, made.a, of),
                                           substitute(from, made.b, of))
                                   : of(symbol);
      term = multiply(term, value);
    }
    Dim& total = factor >= 0 ? added : subtracted;
    total = add(total, term);
  }
  return subtract(added, subtracted);
}

int64_t SymbolTable::evaluate(Dim dim, std::span<const int64_t> symbol_values) const {
  if (!dim.is_term()) return dim.number_or_minus_one();
  int64_t total = 0;
  for (const auto& [product, factor] : state_->terms[dim.term_index()]) {
    int64_t term = factor;
    for (int64_t symbol : product) {
      const auto& made = state_->symbols[symbol];
      int64_t value = -1;
      if (made.is_function) {
        int64_t a = evaluate(made.a, symbol_values), b = evaluate(made.b, symbol_values);
        if (a >= 0 && b >= 0) value = compute(made.function, a, b);
      } else if (symbol < static_cast<int64_t>(symbol_values.size())) {
        value = symbol_values[symbol];
      }
      if (value < 0) return -1;
      term *= value;
    }
    total += term;
  }
  return total;
}

int64_t SymbolTable::num_symbols() const { return static_cast<int64_t>(state_->symbols.size()); }

int64_t SymbolTable::as_symbol(Dim dim) const {
  if (!dim.is_term()) return -1;
  const Sum& sum = state_->terms[dim.term_index()];
  if (sum.size() != 1 || sum.begin()->second != 1 || sum.begin()->first.size() != 1) return -1;
  return sum.begin()->first[0];
}

Dim SymbolTable::dim_of(int64_t symbol) { return state_->symbol_dim(symbol); }

bool SymbolTable::is_function(int64_t symbol) const { return state_->symbols[symbol].is_function; }

const std::string& SymbolTable::symbol_name(int64_t symbol) const {
  return state_->symbols[symbol].name;
}

bool SymbolTable::contains(Dim dim) const {
  return !dim.is_term() || dim.term_index() < static_cast<int64_t>(state_->terms.size());
}

std::string SymbolTable::to_text(Dim dim, FunctionRef<std::string(int64_t symbol)> name) const {
  if (dim.is_number()) return str_cat(dim.number());
  if (dim.is_unknown()) return "?";
  struct Part {
    size_t degree;
    std::string factors;
    int64_t factor;
  };
  std::vector<Part> parts;
  for (const auto& [product, factor] : state_->terms[dim.term_index()]) {
    std::vector<std::string> symbols;
    for (int64_t symbol : product) {
      const auto& made = state_->symbols[symbol];
      if (!made.is_function) {
        symbols.push_back(name(symbol));
        continue;
      }
      std::string a = to_text(made.a, name), b = to_text(made.b, name);
      if (commutes(made.function) && b < a) std::swap(a, b);
      symbols.push_back(str_cat(function_name(made.function), "(", a, ", ", b, ")"));
    }
    std::sort(symbols.begin(), symbols.end());
    parts.push_back({product.size(), str_join(symbols, "*"), factor});
  }
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return a.degree != b.degree ? a.degree > b.degree : a.factors < b.factors;
  });
  std::string text;
  for (const Part& part : parts) {
    if (text.empty()) {
      if (part.factor < 0) text += "-";
    } else {
      text += part.factor < 0 ? " - " : " + ";
    }
    int64_t magnitude = part.factor < 0 ? -part.factor : part.factor;
    if (part.factors.empty() || magnitude != 1) {
      text += str_cat(magnitude, part.factors.empty() ? "" : "*");
    }
    text += part.factors;
  }
  return text;
}

std::string SymbolTable::to_text(Dim dim) const {
  if (dim.is_number()) return str_cat(dim.number());
  if (dim.is_unknown()) return "?";
  std::string text;
  const Sum& sum = state_->terms[dim.term_index()];
  for (auto entry = sum.rbegin(); entry != sum.rend(); ++entry) {  // the constant comes last
    auto [product, factor] = *entry;
    if (!text.empty()) text += factor < 0 ? " - " : " + ";
    if (text.empty() && factor < 0) text += "-";
    int64_t magnitude = factor < 0 ? -factor : factor;
    std::string factors = product.empty() || magnitude != 1 ? str_cat(magnitude) : "";
    for (int64_t symbol : product) {
      const auto& made = state_->symbols[symbol];
      if (!factors.empty()) factors += "*";
      if (made.is_function) {
        factors +=
            str_cat(function_name(made.function), "(", to_text(made.a), ", ", to_text(made.b), ")");
      } else {
        factors += made.name;
      }
    }
    text += factors;
  }
  return text;
}

}  // namespace graven::engine
