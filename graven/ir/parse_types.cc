#include <algorithm>
#include <utility>

#include "graven/ir/graph_parser.h"

namespace graven::engine::graph_syntax {
namespace {

// Factors and the number of products in a text are bounded too.
constexpr int64_t kMaxFactor = int64_t{1} << 40;
constexpr int kMaxProducts = 1000;

}  // namespace

Result<DType> GraphParser::dtype() {
  std::string_view name = cursor_.word();
  auto type = dtype_from_name(name);
  if (!type) return cursor_.error("'", name, "' is no dtype");
  return *type;
}

Result<OutputType> GraphParser::output_type(Scope& scope) {
  OutputType type;
  ASSIGN_OR_RETURN(type.dtype, dtype());
  ASSIGN_OR_RETURN(type.shape, shape(scope));
  type.is_promised = cursor_.accept("!");
  if (cursor_.accept("(")) {
    type.sizes = std::make_unique<SymbolicValue>();
    RETURN_IF_ERROR(dims(scope, ")", [&](Dim dim) { type.sizes->push_back(dim); }));
  }
  if (cursor_.accept("<")) {
    type.handle_data = std::make_unique<HandleData>();
    do {
      HeldType& held = type.handle_data->components.emplace_back();
      ASSIGN_OR_RETURN(held.dtype, dtype());
      ASSIGN_OR_RETURN(held.shape, shape(scope));
    } while (cursor_.accept(","));
    RETURN_IF_ERROR(cursor_.expect(">"));
  }
  return type;
}

Result<Shape> GraphParser::shape(Scope& scope) {
  RETURN_IF_ERROR(cursor_.expect("["));
  if (cursor_.accept("...")) {
    RETURN_IF_ERROR(cursor_.expect("]"));
    return Shape::unknown_rank();
  }
  Shape shape;
  RETURN_IF_ERROR(dims(scope, "]", [&](Dim dim) { shape.push_back(dim); }));
  if (shape.rank() > kMaxRank) return cursor_.error("a shape has more than 254 dimensions");
  return shape;
}

template <typename F>
Status GraphParser::dims(Scope& scope, std::string_view end, F&& add) {
  if (cursor_.accept(end)) return {};
  do {
    if (cursor_.accept("?")) {
      add(Dim::unknown());
    } else {
      ASSIGN_OR_RETURN(Dim dim, sum(scope));
      add(dim);
    }
  } while (cursor_.accept(","));
  return cursor_.expect(end);
}

// A lone number may be any; within a term it is bounded, so that arithmetic cannot overflow.
Result<Dim> GraphParser::sum(Scope& scope) {
  if (is_digit(cursor_.peek())) {
    size_t before = cursor_.at();
    ASSIGN_OR_RETURN(int64_t number, cursor_.number<int64_t>());
    if (char next = cursor_.peek(); next != '+' && next != '-' && next != '*') {
      return Dim(number);
    }
    cursor_.go_to(before);
  }
  SymbolTable& symbols = scope.graph->symbols();
  // Subtrahends are subtracted last: a Dim is not negative on the way.
  Dim added(0), subtracted(0);
  bool is_minus = cursor_.accept("-");
  for (int products = 1;; ++products) {
    if (products > kMaxProducts) return cursor_.error("a dimension has too many terms");
    ASSIGN_OR_RETURN(Dim term, product(scope));
    Dim& total = is_minus ? subtracted : added;
    total = symbols.add(total, term);
    if (cursor_.accept("+")) {
      is_minus = false;
    } else if (cursor_.accept("-")) {
      is_minus = true;
    } else {
      return symbols.subtract(added, subtracted);
    }
  }
}

Result<Dim> GraphParser::product(Scope& scope) {
  Dim product(1);
  if (is_digit(cursor_.peek())) {
    ASSIGN_OR_RETURN(int64_t number, cursor_.number<int64_t>());
    if (number > kMaxFactor) return cursor_.error("a factor of a dimension is too large");
    product = Dim(number);
    if (!cursor_.accept("*")) return product;
  }
  SymbolTable& symbols = scope.graph->symbols();
  for (int factors = 1;; ++factors) {
    if (factors > kMaxNesting) return cursor_.error("a dimension has too many factors");
    ASSIGN_OR_RETURN(Dim factor, symbol(scope));
    bool more = cursor_.accept("*");
    // A function that comes out as a number or a sum is no factor: factors would multiply.
    if (symbols.as_symbol(factor) < 0 && (more || !(product == Dim(1)))) {
      return cursor_.error("a factor of a dimension is not a symbol");
    }
    product = symbols.multiply(product, factor);
    if (!more) return product;
  }
}

// A symbol, or a function of Dims.
Result<Dim> GraphParser::symbol(Scope& scope) {
  using Function = SymbolTable::Function;
  static constexpr std::pair<std::string_view, Function> kFunctions[] = {
      {"floordiv", Function::kFloorDiv},
      {"ceildiv", Function::kCeilDiv},
      {"max", Function::kMax},
      {"min", Function::kMin},
      {"broadcast", Function::kBroadcast},
      {"mod", Function::kMod}};
  if (!starts_symbol(cursor_.peek())) {
    return cursor_.expected("a dimension");
  }
  std::string_view name = cursor_.take_while(is_symbol_char);
  if (!cursor_.accept("(")) {
    auto at = scope.symbols.find(name);
    if (at == scope.symbols.end()) {
      Dim made = scope.graph->symbols().new_symbol(std::string(name));
      at = scope.symbols.emplace(std::string(name), made).first;
    }
    return at->second;
  }
  auto function = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                               [&](const auto& entry) { return entry.first == name; });
  if (function == std::end(kFunctions)) {
    return cursor_.error("'", name, "' is no function of dimensions");
  }
  if (nesting_ >= kMaxNesting) return cursor_.error("dimensions are nested too deeply");
  ++nesting_;
  ASSIGN_OR_RETURN(Dim a, sum(scope));
  RETURN_IF_ERROR(cursor_.expect(","));
  ASSIGN_OR_RETURN(Dim b, sum(scope));
  RETURN_IF_ERROR(cursor_.expect(")"));
  --nesting_;
  Dim dim = scope.graph->symbols().apply(function->second, a, b);
  if (dim.is_number() && dim.number() > kMaxFactor) {
    return cursor_.error("a factor of a dimension is too large");
  }
  return dim;
}

}  // namespace graven::engine::graph_syntax
