#include "graven/api/print_text.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include "graven/base/strings.h"

namespace graven::engine {

std::vector<std::string> split(const std::string& text, std::string_view separator) {
  std::vector<std::string> parts;
  for (size_t start = 0, end = 0; end != std::string::npos; start = end + separator.size()) {
    end = text.find(separator, start);
    parts.push_back(text.substr(start, end - start));
  }
  return parts;
}

// A name of C++: words of the language, and a macro, get an underscore.
std::string identifier(std::string_view name) {
  static const std::set<std::string_view> kWords = {
      "and",    "assert",   "bool", "case",  "default", "delete",   "double",
      "export", "float",    "int",  "new",   "not",     "operator", "or",
      "switch", "template", "this", "union", "xor"};
  return kWords.contains(name) ? str_cat(name, "_") : std::string(name);
}

std::string dtype_constant(DType type) {
  std::string name(dtype_name(type));
  if (type == DType::kHalf) return "DType::kHalf";
  if (type == DType::kBFloat16) return "DType::kBFloat16";
  size_t capitals = name.starts_with("uint") ? 2 : 1;
  for (size_t i = 0; i < capitals; ++i) name[i] = static_cast<char>(std::toupper(name[i]));
  return "DType::k" + name;
}

std::string quoted(const std::string& text) {
  std::string literal = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') literal += '\\';
    literal += c == '\n' ? "\\n" : std::string(1, c);
  }
  return literal + "\"";
}

// Text as a comment of lines that fit.
std::string comment(const std::string& text) {
  std::string out;
  for (const std::string& paragraph : split(text, "\n")) {
    std::istringstream words(paragraph);
    std::string line = "//", word;
    size_t indent = std::min(paragraph.find_first_not_of(' '), paragraph.size());
    line += std::string(indent, ' ');
    while (words >> word) {
      if (line.size() + 1 + word.size() > 100) {
        out += line + "\n";
        line = "//" + std::string(indent, ' ');
      }
      line += " " + word;
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

// "nn.relu" as namespace and name. Those that front ends alone call, "random._generator_key", are
// internal: graven::internal::random::generator_key.
std::pair<std::string, std::string> scope_and_name(const std::string& name) {
  const size_t point = name.rfind('.');
  const bool has_scope = point != std::string::npos;
  std::string scope = has_scope ? "::" + name.substr(0, point) : "";
  std::string last = has_scope ? name.substr(point + 1) : name;
  for (size_t at; (at = scope.find('.')) != std::string::npos;) scope.replace(at, 1, "::");
  if (last.starts_with('_')) return {"::internal" + scope, identifier(last.substr(1))};
  return {scope, identifier(last)};
}

}  // namespace graven::engine
