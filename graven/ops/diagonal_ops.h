#pragma once
#include <string>
#include <tuple>

#include "graven/ir/op.h"

namespace graven::engine {

// Where diagonals that are shorter than the longest of a band lie in their rows: at the left or the
// right, those above the main diagonal and those below it.
struct DiagonalAttrs {
  std::string align = "RIGHT_LEFT";
  static constexpr auto fields() { return std::tuple(field("align", &DiagonalAttrs::align)); }
};
// diagonal, k, num_rows, num_cols, padding_value -> output
GRAVEN_API inline OpHandle<DiagonalAttrs> kMatrixDiagV3;
GRAVEN_API inline OpHandle<DiagonalAttrs> kMatrixDiagPartV3;  // input, k, padding_value -> diagonal
GRAVEN_API inline OpHandle<DiagonalAttrs> kMatrixSetDiagV3;   // input, diagonal, k -> output

GRAVEN_API inline OpHandle<NoAttrs> kMatrixBandPart;  // input, num_lower, num_upper -> band
GRAVEN_API inline OpHandle<NoAttrs> kDiag;            // diagonal -> output
GRAVEN_API inline OpHandle<NoAttrs> kDiagPart;        // input -> diagonal
GRAVEN_API inline OpHandle<NoAttrs> kCross;           // a, b -> product

}  // namespace graven::engine
