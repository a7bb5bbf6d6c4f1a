#include <array>
#include <string>
#include <tuple>

#include "graven/library/axes.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/ops/diagonal_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/reduction_ops.h"

namespace graven::engine {
namespace {

constexpr const char* kMatrices = "Shape [..., rows, columns].";
constexpr const char* kDiagonals =
    "The diagonals: [..., length] of one, or [..., count, longest] of a band, upper ones first.";
constexpr const char* kBand =
    "Which diagonals: one, or [lower, upper]. 0 is the main one, positive ones lie above it.";
constexpr const char* kAlign =
    "The side of the row at which short diagonals lie, of those above the main one and of those "
    "below it: \"LEFT_RIGHT\", \"RIGHT_LEFT\", \"LEFT_LEFT\" or \"RIGHT_RIGHT\".";

struct DiagParameters {
  Tensor diagonal, k, num_rows, num_cols, padding_value;
  std::string align = "RIGHT_LEFT";
  static constexpr auto fields() {
    using P = DiagParameters;
    constexpr const char* kSize = "A size of the matrices; -1 means the fewest that hold the band.";
    return std::tuple(required_field("diagonal", &P::diagonal, "T", kDiagonals), name_field(),
                      field("k", &P::k, "int32", 0, kBand),
                      field("num_rows", &P::num_rows, "int32", -1, kSize),
                      field("num_cols", &P::num_cols, "int32", -1, kSize),
                      field("padding_value", &P::padding_value, "T", 0, "All other elements."),
                      field("align", &P::align, kAlign));
  }
};

Tensor or_number(FunctionContext& c, const Tensor& given, int64_t number, const char* name) {
  return given ? given : c.scalar(number, DType::kInt32, name);
}
Tensor padding(FunctionContext& c, const Tensor& given, const Tensor& like) {
  return given ? given : c.scalar(0, like.dtype(), "padding_value");
}

constexpr Raised kBadBand = {"InvalidArgumentError",
                             "The band has no such diagonals; a ValueError in a graph."};

struct DiagPartParameters {
  Tensor input, k, padding_value;
  std::string align = "RIGHT_LEFT";
  static constexpr auto fields() {
    using P = DiagPartParameters;
    return std::tuple(required_field("input", &P::input, "T", kMatrices), name_field(),
                      field("k", &P::k, "int32", 0, kBand),
                      field("padding_value", &P::padding_value, "T", 0,
                            "What fills the rows of short diagonals."),
                      field("align", &P::align, kAlign));
  }
};

void define_diag_and_diag_part(FunctionRegistry& functions) {
  functions.define({
      .names = "linalg.diag",
      .scope = "diag",
      .types = {{"T", kPlainTypes}},
      .summary = "Makes matrices of their diagonals.",
      .returns = "Matrices, [..., num_rows, num_cols].",
      .raises = {kBadBand},
      .source = "OpDef \"MatrixDiagV3\"",
      .body =
          [](FunctionContext& c, const DiagParameters& p) {
            return c(
                kMatrixDiagV3,
                {p.diagonal, or_number(c, p.k, 0, "k"), or_number(c, p.num_rows, -1, "num_rows"),
                 or_number(c, p.num_cols, -1, "num_cols"), padding(c, p.padding_value, p.diagonal)},
                {p.align}, c.name());
          },
  });
  functions.define({
      .names = "linalg.diag_part",
      .scope = "diag_part",
      .types = {{"T", kPlainTypes}},
      .summary = "Takes diagonals out of matrices.",
      .returns = kDiagonals,
      .raises = {kBadBand},
      .source = "OpDef \"MatrixDiagPartV3\"",
      .body =
          [](FunctionContext& c, const DiagPartParameters& p) {
            return c(kMatrixDiagPartV3,
                     {p.input, or_number(c, p.k, 0, "k"), padding(c, p.padding_value, p.input)},
                     {p.align}, c.name());
          },
  });
}

struct SetDiagParameters {
  Tensor input, diagonal, k;
  std::string align = "RIGHT_LEFT";
  static constexpr auto fields() {
    using P = SetDiagParameters;
    return std::tuple(required_field("input", &P::input, "T", kMatrices),
                      required_field("diagonal", &P::diagonal, "T", kDiagonals), name_field(),
                      field("k", &P::k, "int32", 0, kBand), field("align", &P::align, kAlign));
  }
};

struct TraceParameters {
  Tensor x;
  static constexpr auto fields() {
    return std::tuple(required_field("x", &TraceParameters::x, "T", kMatrices));
  }
};

Outputs trace(FunctionContext& c, const TraceParameters& p) {
  const Tensor diagonal =
      c(kMatrixDiagPartV3, {p.x, c.scalar(0, DType::kInt32, "k"), padding(c, {}, p.x)}, {},
        "diag_part");
  return c(kSum, {diagonal, c.vector(std::array<int64_t, 1>{-1})}, {}, c.name());
}

struct MatrixTransposeParameters {
  Tensor a;
  bool conjugate = false;
  static constexpr auto fields() {
    using P = MatrixTransposeParameters;
    return std::tuple(required_field("a", &P::a, "T", kMatrices), name_field(),
                      field("conjugate", &P::conjugate, "Take the complex conjugate, too."));
  }
};

Outputs transposed(FunctionContext& c, const Tensor& a, bool conjugates) {
  if (const auto rank = c.rank_if_known(a); rank && *rank < 2) {
    return c.fail(
        value_error("Argument `a` should be a (batch) matrix with rank >= 2. Its shape "
                    "is ",
                    a.shape().to_text()));
  }
  return c(conjugates && is_complex(a.dtype()) ? kConjugateTranspose : kTranspose,
           {a, swapped_with_last(c, a, -2)});
}

constexpr Raised kNoMatrix = {"ValueError", "There are less than two axes."};

void define_set_diag_and_kin(FunctionRegistry& functions) {
  functions.define({
      .names = "linalg.set_diag",
      .scope = "set_diag",
      .types = {{"T", kPlainTypes}},
      .summary = "Replaces diagonals of matrices.",
      .returns = "Matrices like input.",
      .raises = {kBadBand},
      .source = "OpDef \"MatrixSetDiagV3\"",
      .body =
          [](FunctionContext& c, const SetDiagParameters& p) {
            return c(kMatrixSetDiagV3, {p.input, p.diagonal, or_number(c, p.k, 0, "k")}, {p.align},
                     c.name());
          },
  });
  functions.define({
      .names = "linalg.trace",
      .scope = "Trace",
      .types = {{"T", kNumberTypes}},
      .summary = "The sums of the main diagonals of matrices.",
      .returns = "The sums, shape [...].",
      .raises = {kBadBand},
      .body = trace,
  });
  functions.define({
      .names = "linalg.matrix_transpose",
      .scope = "matrix_transpose",
      .summary = "Swaps the last two axes.",
      .returns = "The transposed matrices.",
      .raises = {kNoMatrix},
      .body = [](FunctionContext& c,
                 const MatrixTransposeParameters& p) { return transposed(c, p.a, p.conjugate); },
  });
}

struct AdjointParameters {
  Tensor matrix;
  static constexpr auto fields() {
    return std::tuple(required_field("matrix", &AdjointParameters::matrix, "T", kMatrices));
  }
};

void define_adjoint(FunctionRegistry& functions) {
  functions.define({
      .names = "linalg.adjoint",
      .scope = "adjoint",
      .summary = "Swaps the last two axes and takes the complex conjugate.",
      .returns = "The adjoint matrices.",
      .raises = {kNoMatrix},
      .body = [](FunctionContext& c,
                 const AdjointParameters& p) { return transposed(c, p.matrix, true); },
  });
}

}  // namespace

void define_diagonals(FunctionRegistry& functions) {
  define_diag_and_diag_part(functions);
  define_set_diag_and_kin(functions);
  define_adjoint(functions);
}

}  // namespace graven::engine
