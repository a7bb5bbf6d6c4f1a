#pragma once
#include <string_view>

#include "graven/ir/attributes.h"

namespace graven::engine::graph_syntax {

// The conventions shared by the printer and the parser of graphs (text.h).

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Characters of names of nodes and graphs that need no quotes.
inline bool is_name_char(char c) {
  return is_letter(c) || is_digit(c) || std::string_view("_./\\>-").find(c) != std::string::npos;
}
// Characters of names of symbols: without the operators of terms.
inline bool is_symbol_char(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == '/';
}
inline bool starts_symbol(char c) { return is_letter(c) || c == '_'; }

// Constants of more elements are written as bytes.
inline constexpr int64_t kMaxElementsAsNumbers = 16;

// The word that stands before the value of an attribute that is set on one node only, by its
// index in AttrValue; empty where the text of the value shows the kind.
inline constexpr std::string_view kKindWords[] = {
    "nothing", "",     "",       "",        "",       "",       "shape",  "tensor",
    "body",    "ints", "floats", "strings", "dtypes", "shapes", "bodies", "fusion",
};
static_assert(std::size(kKindWords) == std::variant_size_v<AttrValue>);

}  // namespace graven::engine::graph_syntax
