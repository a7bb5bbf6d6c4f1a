#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "graven/base/export.h"
#include "graven/ir/op.h"

namespace graven::engine {

struct EinsumAttrs {
  std::string equation;
  static constexpr auto fields() {
    return std::tuple(required_field("equation", &EinsumAttrs::equation));
  }
};
GRAVEN_API inline OpHandle<EinsumAttrs> kEinsum;  // inputs: N * T -> output

// The subscripts of an equation, "...ij,jk->...ik": a letter for each axis, and kEllipsis for the
// axes that broadcast.
inline constexpr char kEllipsis = '.';
struct EinsumEquation {
  std::vector<std::string> inputs;
  std::optional<std::string> output;  // none without "->"

  std::string text() const;
};
// None if it is not written as an equation. Blanks count for nothing.
GRAVEN_API std::optional<EinsumEquation> parse_einsum(std::string_view text);

}  // namespace graven::engine
