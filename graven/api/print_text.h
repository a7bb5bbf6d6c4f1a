#pragma once
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graven/tensor/dtype.h"

// Helpers shared by the parts of the build tool graven_print_functions.

namespace graven::engine {

// By namespace ("", "::nn"), the root first. Aliases are using-declarations.
struct PrintedFunctions {
  std::map<std::string, std::string> declarations, definitions, aliases;
};

// Prints a function under all its names. The name with the fewest points, the first of these, gets
// the declaration and the definition. A name in another namespace gets an alias, or, if its last
// part differs, a function of its own. `declare` and `define` give the text for a name.
template <typename Declare, typename Define>
void print_names(PrintedFunctions& out, std::vector<std::string> names, Declare&& declare,
                 Define&& define);

std::vector<std::string> split(const std::string& text, std::string_view separator);
// A name of C++: words of the language get an underscore.
std::string identifier(std::string_view name);
std::string dtype_constant(DType type);
std::string quoted(const std::string& text);
// Text as a comment of lines that fit.
std::string comment(const std::string& text);
// "nn.relu" as namespace and name: {"::nn", "relu"}.
std::pair<std::string, std::string> scope_and_name(const std::string& name);

// Prints the functions of the library that have no name in `taken`, and adds their names to it.
void print_library(PrintedFunctions& out, std::set<std::string>& taken);

// --- Templates.

template <typename Declare, typename Define>
void print_names(PrintedFunctions& out, std::vector<std::string> names, Declare&& declare,
                 Define&& define) {
  const auto points = [](const std::string& name) {
    return std::count(name.begin(), name.end(), '.');
  };
  std::stable_sort(names.begin(), names.end(),
                   [&](const auto& a, const auto& b) { return points(a) < points(b); });
  const auto [first_scope, first_name] = scope_and_name(names[0]);
  for (const std::string& each : names) {
    const auto [scope, name] = scope_and_name(each);
    if (&each != &names[0] && name == first_name) {
      out.aliases[scope] += "using graven" + first_scope + "::" + name + ";\n";
    } else {  // a declaration cannot rename a function
      out.declarations[scope] += declare(name) + "\n";
      out.definitions[scope] += define(name) + "\n";
    }
  }
}

}  // namespace graven::engine
