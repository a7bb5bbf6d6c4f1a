#include "graven/ops/diagonal_ops.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/sizes.h"
#include "graven/ops/strided_copy.h"

namespace graven::engine {
namespace {

// A band is the diagonals lower, ..., upper of a matrix: 0 is the main one, positive ones lie above
// it. Packed, it is a matrix whose rows are the diagonals, upper first, each padded to the length
// of the longest; a band of one diagonal is a vector.
struct Band {
  int64_t lower = 0, upper = 0;
  bool is_vector() const { return lower == upper; }
  int64_t count() const { return upper - lower + 1; }
};

// The band that the value of an input `k` names: one number, or two.
Result<Band> band_of(const Tensor& k) {
  if (k.rank() > 1) {
    return invalid_argument("diag_index must be a scalar or vector, received shape: ",
                            k.shape().to_message());
  }
  const int64_t n = k.num_elements();
  if (n != 1 && n != 2) {
    return invalid_argument("diag_index must have only one or two elements, received ", n,
                            " elements.");
  }
  const Band band = {integer_at(k, 0), integer_at(k, n - 1)};
  if (band.lower > band.upper) {
    return invalid_argument("lower_diag_index must not be larger than upper_diag_index: ",
                            band.lower, " > ", band.upper);
  }
  return band;
}

Status check_band(const Band& band, int64_t rows, int64_t columns) {
  for (const auto& [index, name] : {std::pair(band.lower, "lower"), std::pair(band.upper, "upper")})
    if (index != 0 && (index <= -rows || index >= columns)) {
      return invalid_argument(name, "_diag_index is out of bound: ", index, ". It must be between ",
                              -rows, " and ", columns);
    }
  return {};
}

int64_t length_of(int64_t diagonal, int64_t rows, int64_t columns) {
  return std::min(rows + std::min<int64_t>(diagonal, 0), columns - std::max<int64_t>(diagonal, 0));
}
// Of the longest diagonal of a band.
int64_t longest_of(const Band& band, int64_t rows, int64_t columns) {
  return std::min(rows + std::min<int64_t>(band.upper, 0),
                  columns - std::max<int64_t>(band.lower, 0));
}

Status check_align(const InferContext& c) {
  const std::string& align = c.attrs<DiagonalAttrs>().align;
  for (const char* known : {"LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"}) {
    if (align == known) return {};
  }
  return invalid_argument("Value for attr 'align' of \"", align,
                          "\" is not in the list of allowed values: \"LEFT_RIGHT\", "
                          "\"RIGHT_LEFT\", \"LEFT_LEFT\", \"RIGHT_RIGHT\"");
}

Status check_rank(const InferContext& c, int input, std::string_view name, int least) {
  const Shape& shape = c.shape(input);
  if (!shape.has_rank() || shape.rank() >= least) return {};
  return invalid_argument(name, " must be at least ", least,
                          "-dim, received shape: ", shape.to_message());
}

Status check_scalar(const InferContext& c, int input, std::string_view name) {
  if (!c.shape(input).has_rank() || c.shape(input).rank() == 0) return {};
  return invalid_argument(name, " must be a scalar, not of shape ", c.shape(input).to_message());
}

// Copies the diagonals of a band between matrices and their packed form.
void copy_band(const Tensor& matrix, const Tensor& packed, const Band& band,
               const std::string& align, bool to_matrix) {
  const DType dtype = matrix.dtype();
  const int64_t rows = matrix.shape().size(matrix.rank() - 2);
  const int64_t columns = matrix.shape().size(matrix.rank() - 1);
  const int64_t longest = packed.shape().size(packed.rank() - 1);
  if (matrix.num_elements() == 0 || packed.num_elements() == 0) return;
  const int64_t batch = matrix.num_elements() / (rows * columns);
  for (int64_t k = band.lower; k <= band.upper; ++k) {
    const int64_t length = length_of(k, rows, columns);
    if (length <= 0) continue;  // beyond a corner
    const bool is_left =
        (k >= 0 && align.starts_with("LEFT")) || (k <= 0 && align.ends_with("LEFT"));
    const int64_t at_matrix = k >= 0 ? k : -k * columns;
    const int64_t at_packed = (band.upper - k) * longest + (is_left ? 0 : longest - length);
    const int64_t of_matrix = rows * columns, of_packed = band.count() * longest;
    const CopyAxes box = to_matrix
                             ? CopyAxes{{batch, of_packed, of_matrix}, {length, 1, columns + 1}}
                             : CopyAxes{{batch, of_matrix, of_packed}, {length, columns + 1, 1}};
    const Tensor &from = to_matrix ? packed : matrix, &to = to_matrix ? matrix : packed;
    copy_strided(dtype, box, element_at(dtype, from.raw_data(), to_matrix ? at_packed : at_matrix),
                 element_at(dtype, to.mutable_raw_data(), to_matrix ? at_matrix : at_packed));
  }
}

constexpr const char* kBandDetails =
    "k: one diagonal, or [lower, upper], where 0 is the main one and positive ones lie above it. "
    "align: the side on which short diagonals lie in their rows, of those above the main one and "
    "of those below it. k, num_rows and num_cols are int32.";

// --- MatrixDiagV3.

// The sizes of the matrices; -1 in place of rows or columns takes the fewest that hold the band.
Result<std::pair<int64_t, int64_t>> matrix_sizes(const Band& band, int64_t longest, int64_t rows,
                                                 int64_t columns) {
  const int64_t fewest_rows = longest - std::min<int64_t>(band.upper, 0);
  const int64_t fewest_columns = longest + std::max<int64_t>(band.lower, 0);
  if (rows != -1 && rows < fewest_rows) {
    return invalid_argument("The number of rows is too small.");
  }
  if (columns != -1 && columns < fewest_columns) {
    return invalid_argument("The number of columns is too small.");
  }
  if (rows == -1 && columns == -1) {
    rows = columns = std::max(fewest_rows, fewest_columns);
  } else if (rows == -1) {
    rows = fewest_rows;
  } else if (columns == -1) {
    columns = fewest_columns;
  }
  if (rows != fewest_rows && columns != fewest_columns) {
    return invalid_argument(
        "The number of rows or columns is not consistent with the specified d_lower, d_upper, "
        "and diagonal.");
  }
  return std::pair(rows, columns);
}

Status matrix_diag_shape(InferContext& c) {
  RETURN_IF_ERROR(check_align(c));
  RETURN_IF_ERROR(check_rank(c, 0, "diagonal", 1));
  RETURN_IF_ERROR(check_scalar(c, 2, "num_rows"));
  RETURN_IF_ERROR(check_scalar(c, 3, "num_cols"));
  RETURN_IF_ERROR(check_scalar(c, 4, "padding_value"));
  const Shape& diagonal = c.shape(0);
  const Tensor k = c.value(1), rows = c.value(2), columns = c.value(3);
  c.set_shape(0, Shape::unknown_rank());
  if (!k || !diagonal.has_rank()) return {};
  ASSIGN_OR_RETURN(const Band band, band_of(k));
  const int batch = diagonal.rank() - (band.is_vector() ? 1 : 2);
  if (batch < 0 || (!band.is_vector() && diagonal[batch].is_number() &&
                    diagonal[batch].number() != band.count())) {
    return invalid_argument(
        "The number of diagonals provided in the input does not match the lower_diag_index and "
        "upper_diag_index range.");
  }
  Shape out(diagonal.dims().first(batch));
  const Dim longest = diagonal[diagonal.rank() - 1];
  Dim sizes[2] = {Dim::unknown(), Dim::unknown()};
  if (longest.is_number() && rows && columns) {
    ASSIGN_OR_RETURN(auto found, matrix_sizes(band, longest.number(), integer_at(rows, 0),
                                              integer_at(columns, 0)));
    sizes[0] = found.first;
    sizes[1] = found.second;
  }
  out.push_back(sizes[0]);
  out.push_back(sizes[1]);
  c.set_shape(0, std::move(out));
  return {};
}

Status matrix_diag_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(const Band band, band_of(c.input(1)));
  const Tensor& out = c.output(0);
  fill_elements(out.dtype(), c.input(4).raw_data(), out.num_elements(), out.mutable_raw_data());
  copy_band(out, c.input(0), band, c.attrs<DiagonalAttrs>().align, /*to_matrix=*/true);
  return {};
}

Tensor zero_like(GradientContext& c, const Tensor& dy) { return constant_like(Formula(c, dy), 0); }

void define_matrix_diag(OpRegistry& ops) {
  ops.define(kMatrixDiagV3,
             {
                 .name = "MatrixDiagV3",
                 .summary = "Matrices with given diagonals, and padding_value elsewhere.",
                 .details = kBandDetails,
                 .inputs = {"diagonal: T", "k: int32", "num_rows: int32", "num_cols: int32",
                            "padding_value: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kPlainTypes, kAllTypes}},
                 .infer = matrix_diag_shape,
                 .gradient =
                     [](GradientContext& c) {
                       const Tensor dy = c.dy();
                       c.set_dx(0, c(kMatrixDiagPartV3, {dy, c.x(1), zero_like(c, dy)},
                                     c.attrs<DiagonalAttrs>()));
                     },
                 .batch = batch_data_inputs<0>,
                 .body = kernel(matrix_diag_kernel),
                 .values_for_inference = {1, 2, 3},
             });
}

// --- MatrixDiagPartV3.

Status matrix_diag_part_shape(InferContext& c) {
  RETURN_IF_ERROR(check_align(c));
  RETURN_IF_ERROR(check_rank(c, 0, "input", 2));
  RETURN_IF_ERROR(check_scalar(c, 2, "padding_value"));
  const Shape& x = c.shape(0);
  const Tensor k = c.value(1);
  c.set_shape(0, Shape::unknown_rank());
  if (!k) return {};
  ASSIGN_OR_RETURN(const Band band, band_of(k));
  if (!x.has_rank()) return {};
  const Dim rows = x[x.rank() - 2], columns = x[x.rank() - 1];
  Shape out(x.dims().first(x.rank() - 2));
  if (!band.is_vector()) out.push_back(band.count());
  Dim longest = rows == columns && band.lower <= 0 && band.upper >= 0 ? rows : Dim::unknown();
  if (rows.is_number() && columns.is_number()) {
    RETURN_IF_ERROR(check_band(band, rows.number(), columns.number()));
    longest = longest_of(band, rows.number(), columns.number());
  }
  out.push_back(longest);
  c.set_shape(0, std::move(out));
  return {};
}

Status matrix_diag_part_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(const Band band, band_of(c.input(1)));
  const Tensor& out = c.output(0);
  if (!band.is_vector()) {
    fill_elements(out.dtype(), c.input(2).raw_data(), out.num_elements(), out.mutable_raw_data());
  }
  copy_band(c.input(0), out, band, c.attrs<DiagonalAttrs>().align, /*to_matrix=*/false);
  return {};
}

// As diagonals of zeros of x's shape.
void matrix_diag_part_gradient(GradientContext& c) {
  const Tensor dy = c.dy();
  const Tensor zeros = c(kFill, {c.shape_of_x(0), zero_like(c, dy)});
  c.set_dx(0, c(kMatrixSetDiagV3, {zeros, dy, c.x(1)}, c.attrs<DiagonalAttrs>()));
}

void define_matrix_diag_part(OpRegistry& ops) {
  ops.define(kMatrixDiagPartV3,
             {
                 .name = "MatrixDiagPartV3",
                 .summary = "Diagonals of matrices, the upper ones first; short ones are filled up "
                            "with padding_value.",
                 .details = kBandDetails,
                 .inputs = {"input: T", "k: int32", "padding_value: T"},
                 .outputs = {"diagonal: T"},
                 .types = {{"T", kPlainTypes, kAllTypes}},
                 .infer = matrix_diag_part_shape,
                 .gradient = matrix_diag_part_gradient,
                 .batch = batch_data_inputs<0>,
                 .body = kernel(matrix_diag_part_kernel),
                 .values_for_inference = {1},
             });
}

// --- MatrixSetDiagV3.

Status matrix_set_diag_shape(InferContext& c) {
  RETURN_IF_ERROR(check_align(c));
  RETURN_IF_ERROR(check_rank(c, 0, "input", 2));
  RETURN_IF_ERROR(check_rank(c, 1, "diagonal", 1));
  const Shape &x = c.shape(0), &diagonal = c.shape(1);
  c.set_shape(0, x);
  const Tensor k = c.value(2);
  if (!k) return {};
  ASSIGN_OR_RETURN(const Band band, band_of(k));
  if (!x.has_rank()) return {};
  const Dim rows = x[x.rank() - 2], columns = x[x.rank() - 1];
  if (rows.is_number() && columns.is_number()) {
    RETURN_IF_ERROR(check_band(band, rows.number(), columns.number()));
  }
  const int rank = x.rank() - (band.is_vector() ? 1 : 0);
  if (c.is_graph() && diagonal.has_rank() && diagonal.rank() != rank) {
    return invalid_argument("Shape must be rank ", rank, " but is rank ", diagonal.rank(),
                            ": the diagonals of shape ", diagonal.to_message(),
                            " for an input of shape ", x.to_message());
  }
  return {};
}

Status matrix_set_diag_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(const Band band, band_of(c.input(2)));
  const Tensor &x = c.input(0), &diagonal = c.input(1), &out = c.output(0);
  Shape expected(x.shape().dims().first(x.rank() - 2));
  if (!band.is_vector()) expected.push_back(band.count());
  expected.push_back(longest_of(band, x.shape().size(x.rank() - 2), x.shape().size(x.rank() - 1)));
  if (diagonal.shape() != expected) {
    return invalid_argument(
        "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] "
        "is not equal to the longests diagonal in range [lower_diag_index:upper_diag_index]. Input "
        "shape: ",
        x.shape().to_message(), ", diagonal shape: ", diagonal.shape().to_message(),
        ", which must be ", expected.to_message());
  }
  if (out.raw_data() != x.raw_data()) {
    copy_strided(x.dtype(), {{x.num_elements(), 1, 1}}, x.raw_data(), out.mutable_raw_data());
  }
  copy_band(out, diagonal, band, c.attrs<DiagonalAttrs>().align, /*to_matrix=*/true);
  return {};
}

void matrix_set_diag_gradient(GradientContext& c) {
  const auto& attrs = c.attrs<DiagonalAttrs>();
  const Tensor dy = c.dy();
  if (c.wants(0)) {
    const Tensor zeros = c(kFill, {c.shape_of_x(1), zero_like(c, dy)});
    c.set_dx(0, c(kMatrixSetDiagV3, {dy, zeros, c.x(2)}, attrs));
  }
  if (c.wants(1)) {
    c.set_dx(1, c(kMatrixDiagPartV3, {dy, c.x(2), zero_like(c, dy)}, attrs));
  }
}

void define_matrix_set_diag(OpRegistry& ops) {
  ops.define(kMatrixSetDiagV3, {
                                   .name = "MatrixSetDiagV3",
                                   .summary = "Matrices with some of their diagonals replaced.",
                                   .details = kBandDetails,
                                   .inputs = {"input: T", "diagonal: T", "k: int32"},
                                   .outputs = {"output: T"},
                                   .types = {{"T", kPlainTypes, kAllTypes}},
                                   .infer = matrix_set_diag_shape,
                                   .gradient = matrix_set_diag_gradient,
                                   .batch = batch_data_inputs<0, 1>,
                                   .body = kernel(matrix_set_diag_kernel),
                                   .values_for_inference = {2},
                                   .overwrites = 0,
                               });
}

// --- MatrixBandPart.

// How many diagonals on one side stay; a negative number means all.
Result<int64_t> kept_diagonals(const Tensor& given, std::string_view name, std::string_view axis,
                               int64_t size) {
  if (given.rank() != 0) {
    return invalid_argument(name, " must be scalar, got shape ", given.shape().to_message());
  }
  const int64_t number = integer_at(given, 0);
  if (number > size) {
    return invalid_argument(name, " must be negative or less or equal to number of ", axis, " (",
                            size, ") got: ", number);
  }
  return number < 0 ? size : number;
}

Status matrix_band_part_kernel(KernelContext& c) {
  constexpr int64_t kBytesOfChunk = 1 << 17;
  const Tensor &x = c.input(0), &out = c.output(0);
  if (x.rank() < 2) {
    return invalid_argument("input must be at least 2-dim, received shape: ",
                            x.shape().to_message());
  }
  const int64_t rows = x.shape().size(x.rank() - 2), columns = x.shape().size(x.rank() - 1);
  ASSIGN_OR_RETURN(const int64_t lower, kept_diagonals(c.input(1), "num_lower", "rows", rows));
  ASSIGN_OR_RETURN(const int64_t upper,
                   kept_diagonals(c.input(2), "num_upper", "columns", columns));
  if (x.num_elements() == 0) return {};
  const auto width = static_cast<int64_t>(dtype_size(x.dtype()));
  const auto* from = static_cast<const std::byte*>(x.raw_data());
  auto* to = static_cast<std::byte*>(out.mutable_raw_data());
  const int64_t all_rows = x.num_elements() / columns;
  for_ranges(all_rows, kBytesOfChunk / (columns * width), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t i = row % rows, at = row * columns;
      const int64_t first = std::clamp<int64_t>(i - lower, 0, columns);
      const int64_t last = std::clamp<int64_t>(i + upper + 1, first, columns);
      std::fill_n(to + at * width, first * width, std::byte{0});
      std::fill_n(to + (at + last) * width, (columns - last) * width, std::byte{0});
      if (from == to) continue;
      std::copy_n(from + (at + first) * width, (last - first) * width, to + (at + first) * width);
    }
  });
  return {};
}

void define_matrix_band_part(OpRegistry& ops) {
  ops.define(kMatrixBandPart,
             {
                 .name = "MatrixBandPart",
                 .python = "linalg.band_part",
                 .summary = "Matrices whose elements outside of a band around the main diagonal "
                            "are zero.",
                 .details = "num_lower, num_upper: how many diagonals below and above the main one "
                            "stay; negative means all.",
                 .inputs = {"input: T", "num_lower: Tindex", "num_upper: Tindex"},
                 .outputs = {"band: T"},
                 .types = {{"T", kPlainTypes, kAllTypes}, {"Tindex", kIndexTypes}},
                 .infer = same_as_input,
                 .gradient =
                     [](GradientContext& c) {
                       c.set_dx(0, c(kMatrixBandPart, {c.dy(), c.x(1), c.x(2)}));
                     },
                 .batch = batch_data_inputs<0>,
                 .body = kernel(matrix_band_part_kernel),
                 .overwrites = 0,
             });
}

// --- Diag and DiagPart: diagonals of tensors of even rank.

constexpr DTypeSet kDiagTypes =
    DTypeSet{DType::kHalf, DType::kFloat32, DType::kFloat64} | kComplexTypes | kIndexTypes;

// The tensor as a matrix, whose diagonal is the flat vector.
void copy_diagonal(const Tensor& matrix, const Tensor& diagonal, bool to_matrix) {
  const int64_t n = diagonal.num_elements();
  const CopyAxes box = {{n, to_matrix ? 1 : n + 1, to_matrix ? n + 1 : 1}};
  const Tensor &from = to_matrix ? diagonal : matrix, &to = to_matrix ? matrix : diagonal;
  if (n > 0) copy_strided(matrix.dtype(), box, from.raw_data(), to.mutable_raw_data());
}

// The main diagonals of the matrices of all rows, as tensors of a row's sizes once or twice.
void batch_diagonals(BatchContext& c, const OpHandle<DiagonalAttrs>& op) {
  const auto rank = c.rank(0);
  if (!rank) return c.use_loop();
  const bool to_matrix = &op == &kMatrixDiagV3;
  const int num_axes = to_matrix ? *rank : *rank / 2;
  // Whether the sizes of more axes are equal in pairs is not seen in the matrix.
  if (!to_matrix && num_axes > 1 && !c.row_shape(0).is_fully_known()) return c.use_loop();
  SizeList sizes = sizes_of(c, c.row_shape(0), [&] { return row_sizes(c, 0); });
  sizes.resize(static_cast<size_t>(num_axes), Size(1));
  const Size length = product(c, sizes);
  const auto known = c.num_rows_if_known();
  const Size rows = known ? Size(*known) : Size(c.num_rows());
  const Tensor zero = constant_like(Formula(c, c.x(0)), 0);
  const auto number = [&](int32_t value) { return c.constant(Tensor::scalar(value)); };
  Tensor made;
  if (to_matrix) {
    const Tensor vectors = c(kReshape, {c.x(0), vector_of(c, SizeList{rows, length})});
    made = c(op, {vectors, number(0), number(-1), number(-1), zero});
    const SizeList once = sizes;
    sizes.insert(sizes.end(), once.begin(), once.end());
  } else {
    const Tensor matrices = c(kReshape, {c.x(0), vector_of(c, SizeList{rows, length, length})});
    made = c(op, {matrices, number(0), zero});
  }
  sizes.insert(sizes.begin(), rows);
  c.set_y(0, c(kReshape, {made, vector_of(c, sizes)}));
}

void define_diag(OpRegistry& ops) {
  ops.define(kDiag, {
                        .name = "Diag",
                        .python = "linalg.tensor_diag",
                        .summary = "A tensor of shape [s..., s...] with the elements of one of "
                                   "shape [s...] at equal indices, zeros elsewhere.",
                        .inputs = {"diagonal: T"},
                        .outputs = {"output: T"},
                        .types = {{"T", kDiagTypes, kFloatTypes | kComplexTypes | kIndexTypes}},
                        .infer = [](InferContext& c) -> Status {
                          const Shape& x = c.shape(0);
                          if (!x.has_rank()) return unknown_outputs(c);
                          if (x.rank() == 0) {
                            return invalid_argument("Input must be at least rank 1, got 0");
                          }
                          Shape out = x;
                          for (Dim size : x.dims()) out.push_back(size);
                          c.set_shape(0, std::move(out));
                          return {};
                        },
                        .gradient = [](GradientContext& c) { c.set_dx(0, c(kDiagPart, {c.dy()})); },
                        .batch = [](BatchContext& c) { batch_diagonals(c, kMatrixDiagV3); },
                        .body = kernel([](KernelContext& c) -> Status {
                          const Tensor& out = c.output(0);
                          clear_elements(out.dtype(), out.num_elements(), out.mutable_raw_data());
                          copy_diagonal(out, c.input(0), /*to_matrix=*/true);
                          return {};
                        }),
                    });
}

Status diag_part_shape(InferContext& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return unknown_outputs(c);
  if (x.rank() % 2 != 0 || (c.is_graph() && x.rank() == 0)) {
    return invalid_argument("The rank of the tensor should be even and positive, got shape ",
                            x.to_message());
  }
  const int half = x.rank() / 2;
  Shape out;
  for (int i = 0; i < half; ++i) {
    auto size = c.merge(x[i], x[half + i]);
    if (!size.ok()) {
      return invalid_argument("Invalid shape ", x.to_message(), ": dimensions ", i, " and ",
                              half + i, " do not match.");
    }
    out.push_back(*size);
  }
  c.set_shape(0, std::move(out));
  return {};
}

void define_diag_part(OpRegistry& ops) {
  ops.define(kDiagPart,
             {
                 .name = "DiagPart",
                 .python = "linalg.tensor_diag_part",
                 .summary = "The elements at equal indices of a tensor of shape [s..., s...].",
                 .inputs = {"input: T"},
                 .outputs = {"diagonal: T"},
                 .types = {{"T", kDiagTypes, kFloatTypes | kComplexTypes | kIndexTypes}},
                 .infer = diag_part_shape,
                 .gradient = [](GradientContext& c) { c.set_dx(0, c(kDiag, {c.dy()})); },
                 .batch = [](BatchContext& c) { batch_diagonals(c, kMatrixDiagPartV3); },
                 .body = kernel([](KernelContext& c) -> Status {
                   copy_diagonal(c.input(0), c.output(0), /*to_matrix=*/false);
                   return {};
                 }),
             });
}

// --- Cross.

Status cross_shape(InferContext& c) {
  const Shape &a = c.shape(0), &b = c.shape(1);
  auto merged = merge_shapes(a, b);
  if (!merged.ok()) {
    return invalid_argument("Both inputs must be of same shape: ", a.to_message(), " vs. ",
                            b.to_message());
  }
  if (merged->has_rank()) {
    if (merged->rank() == 0) {
      return invalid_argument("Input must be at least 1D", merged->to_message());
    }
    if (!c.merge((*merged)[merged->rank() - 1], Dim(3)).ok()) {
      return Status(c.is_graph() ? Code::kInvalidArgument : Code::kFailedPrecondition,
                    "Cross-products are only defined for 3-element vectors.");
    }
  }
  c.set_shape(0, *merged);
  return {};
}

Status cross_kernel(KernelContext& c) {
  constexpr int64_t kVectorsOfChunk = 1 << 13;
  visit_plain(c.output(0).dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kRealTypes.contains(kDTypeOf<T>)) {
      // Integers wrap around; half and bfloat16 are computed in float32.
      using A = std::conditional_t<std::is_integral_v<T>, uint64_t,
                                   std::conditional_t<std::is_same_v<T, double>, double, float>>;
      const T *a = c.in<T>(0).data(), *b = c.in<T>(1).data();
      T* out = c.out<T>(0).data();
      for_ranges(c.output(0).num_elements() / 3, kVectorsOfChunk, [&](int64_t begin, int64_t end) {
        for (int64_t i = 3 * begin; i < 3 * end; i += 3) {
          const A x[] = {static_cast<A>(a[i]), static_cast<A>(a[i + 1]), static_cast<A>(a[i + 2])};
          const A y[] = {static_cast<A>(b[i]), static_cast<A>(b[i + 1]), static_cast<A>(b[i + 2])};
          out[i] = static_cast<T>(x[1] * y[2] - x[2] * y[1]);
          out[i + 1] = static_cast<T>(x[2] * y[0] - x[0] * y[2]);
          out[i + 2] = static_cast<T>(x[0] * y[1] - x[1] * y[0]);
        }
      });
    }
  });
  return {};
}

void define_cross(OpRegistry& ops) {
  ops.define(kCross,
             {
                 .name = "Cross",
                 .python = "linalg.cross",
                 .summary = "The cross products of vectors of three elements, the last axis.",
                 .inputs = {"a: T", "b: T"},
                 .outputs = {"product: T"},
                 .types = {{"T", kRealTypes}},
                 .infer = cross_shape,
                 .gradient =
                     [](GradientContext& c) {
                       if (c.wants(0)) c.set_dx(0, c(kCross, {c.x(1), c.dy()}));
                       if (c.wants(1)) c.set_dx(1, c(kCross, {c.dy(), c.x(0)}));
                     },
                 .batch = batch_leading_axes,
                 .body = kernel(cross_kernel),
             });
}

}  // namespace

void define_diagonal_ops(OpRegistry& ops) {
  define_matrix_diag(ops);
  define_matrix_diag_part(ops);
  define_matrix_set_diag(ops);
  define_matrix_band_part(ops);
  define_diag(ops);
  define_diag_part(ops);
  define_cross(ops);
}

}  // namespace graven::engine
