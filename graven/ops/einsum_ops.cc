#include "graven/ops/einsum_ops.h"

#include <algorithm>
#include <array>

#include "graven/base/inline_vector.h"
#include "graven/ir/emitter.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/diagonal_ops.h"
#include "graven/ops/formulas.h"
#include "graven/ops/linear_algebra_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/sizes.h"

namespace graven::engine {

std::optional<EinsumEquation> parse_einsum(std::string_view text) {
  EinsumEquation equation = {.inputs = {""}, .output = {}};
  std::string* part = &equation.inputs.back();
  for (size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (letter == ' ') continue;
    if ((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z')) {
      *part += letter;
    } else if (text.substr(i).starts_with("...") && part->find(kEllipsis) == part->npos) {
      *part += kEllipsis;
      i += 2;
    } else if (letter == ',' && !equation.output) {
      part = &equation.inputs.emplace_back();
    } else if (text.substr(i).starts_with("->") && !equation.output) {
      part = &equation.output.emplace();
      ++i;
    } else {
      return {};
    }
  }
  return equation;
}

std::string EinsumEquation::text() const {
  std::string text;
  const auto add = [&text](const std::string& part) {
    for (char letter : part) letter == kEllipsis ? text += "..." : text += letter;
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i > 0) text += ',';
    add(inputs[i]);
  }
  if (output) {
    text += "->";
    add(*output);
  }
  return text;
}

namespace {

bool has(std::string_view labels, char label) { return labels.find(label) != labels.npos; }

// Each axis of a tensor has a label: its letter, or, of the axes of an ellipsis, kBroadcast plus
// its distance from the last of them.
using Labels = InlineVector<int, 8>;
constexpr int kBroadcast = 256;
bool contains(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

Labels labels_of(std::string_view subscripts, int ellipsis_rank) {
  Labels labels;
  for (char letter : subscripts) {
    if (letter != kEllipsis) {
      labels.push_back(letter);
      continue;
    }
    for (int i = ellipsis_rank - 1; i >= 0; --i) labels.push_back(kBroadcast + i);
  }
  return labels;
}

Result<EinsumEquation> equation_of(const std::string& text, int num_inputs) {
  auto equation = parse_einsum(text);
  if (!equation || !equation->output) {
    return invalid_argument("Invalid einsum equation: ", text);
  }
  if (num_inputs < 1 || num_inputs > 2 ||
      equation->inputs.size() != static_cast<size_t>(num_inputs)) {
    return invalid_argument("Expected 1 or 2 inputs, as many as the equation ", text,
                            " has, but got ", num_inputs);
  }
  for (size_t i = 0; i < equation->output->size(); ++i) {
    const char label = (*equation->output)[i];
    bool is_known = label == kEllipsis;
    for (const std::string& input : equation->inputs) is_known |= has(input, label);
    if (!is_known || equation->output->find(label, i + 1) != std::string::npos) {
      return invalid_argument("The output subscripts of ", text,
                              " have a label twice, or one that no input has");
    }
  }
  return *equation;
}

// How many axes the ellipsis of an input stands for; none at unknown rank.
std::optional<int> ellipsis_rank(const Shape& shape, std::string_view subscripts) {
  if (!has(subscripts, kEllipsis)) return 0;
  if (!shape.has_rank()) return {};
  return shape.rank() - static_cast<int>(subscripts.size()) + 1;
}

Status check_rank(const InferContext& c, int i, const std::string& subscripts) {
  const Shape& shape = c.shape(i);
  if (!shape.has_rank()) return {};
  const bool has_ellipsis = has(subscripts, kEllipsis);
  const int least = static_cast<int>(subscripts.size()) - (has_ellipsis ? 1 : 0);
  if (has_ellipsis ? shape.rank() >= least : shape.rank() == least) return {};
  return invalid_argument("Expected input ", i, " to have rank ", has_ellipsis ? "at least " : "",
                          least, " but got: ", shape.rank());
}

// The sizes that labels have so far.
struct LabelSizes {
  Labels labels = {};
  InlineVector<Dim, 8> sizes = {};
  Dim* find(int label) {
    const auto at = std::find(labels.begin(), labels.end(), label);
    return at == labels.end() ? nullptr : &sizes[static_cast<size_t>(at - labels.begin())];
  }
};

Status merge_size(const InferContext& c, int label, Dim size, int input, int axis,
                  LabelSizes& known) {
  Dim* other = known.find(label);
  if (!other) {
    known.labels.push_back(label);
    known.sizes.push_back(size);
    return {};
  }
  if (label >= kBroadcast) {
    ASSIGN_OR_RETURN(const Shape both, c.broadcast({*other}, {size}));
    *other = both[0];
    return {};
  }
  auto merged = c.merge(*other, size);
  if (!merged.ok()) {
    return invalid_argument("Expected dimension ", other->number(), " at axis ", axis,
                            " of the input ", input, " shaped ", c.shape(input).to_message(),
                            " but got dimension ", size.number());
  }
  *other = *merged;
  return {};
}

Status einsum_shape(InferContext& c) {
  ASSIGN_OR_RETURN(const EinsumEquation equation,
                   equation_of(c.attrs<EinsumAttrs>().equation, c.num_inputs()));
  LabelSizes known;
  std::optional<int> of_output = 0;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const std::string& subscripts = equation.inputs[static_cast<size_t>(i)];
    RETURN_IF_ERROR(check_rank(c, i, subscripts));
    const Shape& shape = c.shape(i);
    const auto of_input = ellipsis_rank(shape, subscripts);
    if (!of_input) of_output = {};
    if (of_output) of_output = std::max(*of_output, *of_input);
    const Labels labels = labels_of(subscripts, of_input.value_or(0));
    for (size_t axis = 0; axis < labels.size(); ++axis) {
      const Dim size = shape.has_rank() ? shape[static_cast<int>(axis)] : Dim::unknown();
      RETURN_IF_ERROR(merge_size(c, labels[axis], size, i, static_cast<int>(axis), known));
    }
  }
  if (of_output && *of_output > 0 && !has(*equation.output, kEllipsis)) {
    return invalid_argument("Output contains ", *of_output,
                            " broadcasting dimension(s) but no ellipsis (...) was found in the "
                            "output subscripts.");
  }
  if (!of_output && has(*equation.output, kEllipsis)) return unknown_outputs(c);
  Shape out;
  for (int label : labels_of(*equation.output, of_output.value_or(0))) {
    out.push_back(*known.find(label));
  }
  c.set_shape(0, std::move(out));
  return {};
}

// --- The body: diagonals, sums, then one product: of matrices, or of elements if no label is
// summed over or the inputs have all labels in common.

struct Term {
  Tensor x;
  Labels labels;
};

Tensor ints(Emitter& emit, std::span<const int> values) {
  return int32_vector(emit, {values.data(), values.size()});
}

Tensor transposed(Emitter& emit, const Tensor& x, std::span<const int> perm) {
  const bool moves = !std::ranges::is_sorted(perm);
  return moves ? emit(kTranspose, {x, ints(emit, perm)}) : x;
}

// The axes in another order, of the same labels.
Term ordered(Emitter& emit, const Term& term, const Labels& order) {
  InlineVector<int, 8> perm;
  for (int label : order) {
    const auto at = std::find(term.labels.begin(), term.labels.end(), label);
    perm.push_back(static_cast<int>(at - term.labels.begin()));
  }
  return {transposed(emit, term.x, perm), order};
}

// The first two places of one label, if there are any.
std::optional<std::pair<size_t, size_t>> repeated_label(const Labels& labels) {
  for (size_t i = 0; i < labels.size(); ++i) {
    for (size_t j = i + 1; j < labels.size(); ++j) {
      if (labels[i] == labels[j]) return std::pair(i, j);
    }
  }
  return {};
}

// Of axes with one label their diagonal; axes whose label is not kept are summed over.
Term simplified(Emitter& emit, Term term, const Labels& kept) {
  while (const auto pair = repeated_label(term.labels)) {
    InlineVector<int, 8> perm;
    Labels left;
    for (size_t i = 0; i < term.labels.size(); ++i) {
      if (i == pair->first || i == pair->second) continue;
      perm.push_back(static_cast<int>(i));
      left.push_back(term.labels[i]);
    }
    perm.push_back(static_cast<int>(pair->first));
    perm.push_back(static_cast<int>(pair->second));
    left.push_back(term.labels[pair->first]);
    const Formula moved(emit, transposed(emit, term.x, perm));
    const Tensor main = constant(emit, Tensor::scalar(int32_t{0}));
    term = {emit(kMatrixDiagPartV3, {moved, main, constant_like(moved, 0)}), left};
  }
  InlineVector<int, 8> summed;
  Labels left;
  for (size_t i = 0; i < term.labels.size(); ++i) {
    if (contains(kept, term.labels[i])) {
      left.push_back(term.labels[i]);
    } else {
      summed.push_back(static_cast<int>(i));
    }
  }
  return summed.empty() ? term : Term{emit(kSum, {term.x, ints(emit, summed)}), left};
}

SizeList sizes_of_term(Emitter& emit, const Tensor& x) {
  return sizes_of(emit, x ? x.shape() : Shape(), [&] { return emit(kShape, {x}); });
}

// In the order of `all`, with axes of size 1 for labels that the term lacks.
Tensor spread(Emitter& emit, const Term& term, const Labels& all) {
  Labels own;
  for (int label : all) {
    if (contains(term.labels, label)) own.push_back(label);
  }
  const Term moved = ordered(emit, term, own);
  size_t lacking = 0;  // those in front are of no account
  while (lacking < all.size() && !contains(own, all[lacking])) ++lacking;
  if (!moved.x || all.size() - lacking == own.size()) return moved.x;
  const SizeList sizes = sizes_of_term(emit, moved.x);
  SizeList shape;
  for (size_t i = lacking, next = 0; i < all.size(); ++i) {
    shape.push_back(contains(own, all[i]) ? sizes[next++] : Size(1));
  }
  return emit(kReshape, {moved.x, vector_of(emit, shape)});
}

Labels joined(const Labels& a, const Labels& b) {
  Labels all = a;
  for (int label : b) all.push_back(label);
  return all;
}

// A term as matrices, [batch..., rows, columns], where each group of labels is one axis.
Tensor as_matrices(Emitter& emit, const Term& term, const Labels& batch, const Labels& rows,
                   const Labels& columns) {
  const Term moved = ordered(emit, term, joined(joined(batch, rows), columns));
  if (!moved.x || (rows.size() == 1 && columns.size() == 1)) return moved.x;
  const SizeList sizes = sizes_of_term(emit, moved.x);
  const std::span<const Size> all(sizes);
  SizeList shape(all.begin(), all.begin() + static_cast<int64_t>(batch.size()));
  shape.push_back(product(emit, all.subspan(batch.size(), rows.size())));
  shape.push_back(product(emit, all.subspan(batch.size() + rows.size())));
  return emit(kReshape, {moved.x, vector_of(emit, shape)});
}

struct Groups {
  Labels batch, summed, of_a, of_b;
};
Groups groups_of(const Term& a, const Term& b, const Labels& out) {
  Groups groups;
  for (int label : out) {
    const bool in_a = contains(a.labels, label), in_b = contains(b.labels, label);
    (in_a && in_b ? groups.batch : in_a ? groups.of_a : groups.of_b).push_back(label);
  }
  for (int label : a.labels) {
    if (!contains(out, label)) groups.summed.push_back(label);
  }
  return groups;
}

// Products of elements, summed over the labels that are not in the output.
Tensor summed_product(Emitter& emit, const Term& a, const Term& b, const Labels& out,
                      const Labels& summed) {
  const Labels all = joined(out, summed);
  const Tensor product = emit(kMul, {spread(emit, a, all), spread(emit, b, all)});
  if (summed.empty()) return product;
  InlineVector<int, 8> axes;
  for (size_t i = out.size(); i < all.size(); ++i) axes.push_back(static_cast<int>(i));
  return emit(kSum, {product, ints(emit, axes)});
}

Tensor matrix_product(Emitter& emit, const Term& a, const Term& b, const Groups& groups,
                      const Labels& out) {
  const auto& [batch, summed, of_a, of_b] = groups;
  if (!a.x || !b.x) return {};  // after an error
  // An adjoint is a transpose for real numbers only; a single product of matrices has that, too.
  const bool can_transpose = batch.empty() || !is_complex(a.x.dtype());
  const bool a_is_transposed = can_transpose && contains(of_a, a.labels.back());
  const bool b_is_transposed = can_transpose && contains(summed, b.labels.back());
  const Tensor x = a_is_transposed ? as_matrices(emit, a, batch, summed, of_a)
                                   : as_matrices(emit, a, batch, of_a, summed);
  const Tensor y = b_is_transposed ? as_matrices(emit, b, batch, of_b, summed)
                                   : as_matrices(emit, b, batch, summed, of_b);
  Tensor product = batch.empty() ? emit(kMatMul, {x, y}, {a_is_transposed, b_is_transposed})
                                 : emit(kBatchMatMulV2, {x, y}, {a_is_transposed, b_is_transposed});
  if (!product) return {};
  if (of_a.size() != 1 || of_b.size() != 1) {
    const SizeList made = sizes_of_term(emit, product);
    const SizeList sizes_of_a = sizes_of_term(emit, a.x), sizes_of_b = sizes_of_term(emit, b.x);
    SizeList shape(made.begin(), made.begin() + static_cast<int64_t>(batch.size()));
    const auto add = [&shape](const Labels& labels, const Term& term, const SizeList& sizes) {
      for (int label : labels) {
        const auto at = std::find(term.labels.begin(), term.labels.end(), label);
        shape.push_back(sizes[static_cast<size_t>(at - term.labels.begin())]);
      }
    };
    add(of_a, a, sizes_of_a);
    add(of_b, b, sizes_of_b);
    product = emit(kReshape, {product, vector_of(emit, shape)});
  }
  return ordered(emit, {product, joined(joined(batch, of_a), of_b)}, out).x;
}

Tensor product_of_terms(Emitter& emit, Term a, Term b, const Labels& out) {
  a = simplified(emit, std::move(a), joined(b.labels, out));
  b = simplified(emit, std::move(b), joined(a.labels, out));
  Groups groups = groups_of(a, b, out);
  const bool is_elementwise = groups.of_a.empty() && groups.of_b.empty();
  if (groups.summed.empty() || is_elementwise) {
    return summed_product(emit, a, b, out, groups.summed);
  }
  // The one whose own axes come first in the output is the left one.
  const auto first = std::find_if(out.begin(), out.end(),
                                  [&](int label) { return !contains(groups.batch, label); });
  if (contains(groups.of_b, *first)) {
    std::swap(a, b);
    std::swap(groups.of_a, groups.of_b);
  }
  return matrix_product(emit, a, b, groups, out);
}

// Whether the sizes of axes with one letter are known to be equal. If they are not, broadcasting
// could hide that they differ.
bool surely_fit(std::span<const Term> terms) {
  LabelSizes known;
  for (const Term& term : terms) {
    for (size_t i = 0; i < term.labels.size(); ++i) {
      const int label = term.labels[i];
      const Dim size = term.x.shape()[static_cast<int>(i)];
      if (label >= kBroadcast) continue;
      const Dim* other = known.find(label);
      if (other && (*other != size || size.is_unknown())) return false;
      known.labels.push_back(label);
      known.sizes.push_back(size);
    }
  }
  return true;
}

void einsum(CompositeContext& c) {
  const int n = static_cast<int>(c.inputs().size());
  auto equation = equation_of(c.attrs<EinsumAttrs>().equation, n);
  if (!equation.ok()) return c.fail(equation.status());
  InlineVector<Term, 2> terms;
  int of_output = 0;
  for (int i = 0; i < n; ++i) {
    const std::string& subscripts = equation->inputs[static_cast<size_t>(i)];
    if (!c.x(i).shape().has_rank()) return c.stay_whole();
    const int of_input = *ellipsis_rank(c.x(i).shape(), subscripts);
    of_output = std::max(of_output, of_input);
    terms.push_back({c.x(i), labels_of(subscripts, of_input)});
  }
  if (!surely_fit({terms.data(), terms.size()})) return c.stay_whole();
  const Labels out = labels_of(*equation->output, of_output);
  c.set_output(n == 1 ? ordered(c, simplified(c, terms[0], out), out).x
                      : product_of_terms(c, terms[0], terms[1], out));
}

// --- The gradient, by Einsum again.

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

// The subscripts with a letter of its own for each axis; the first axis of a letter keeps it.
std::string with_own_letters(std::string_view subscripts) {
  std::string own;
  for (char label : subscripts) {
    if (has(own, label)) {
      label = *std::ranges::find_if(
          kLetters, [&](char free) { return !has(own, free) && !has(subscripts, free); });
    }
    own += label;
  }
  return own;
}

// Ones where axes with one letter have one index, zeros elsewhere, like an input. `own` are its
// subscripts with_own_letters.
Tensor diagonal_mask(GradientContext& c, int input, std::string_view subscripts,
                     const std::string& own) {
  Tensor mask = c(kFill, {c.shape_of_x(input), constant_like(Formula(c, c.dy()), 1)});
  const auto reordered = [&](const Tensor& x, const std::string& from, const std::string& to) {
    return c(kEinsum, {x}, {EinsumEquation{{from}, to}.text()});
  };
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i] == subscripts[i]) continue;
    const char first = subscripts[i];
    std::string moved = own;
    std::erase_if(moved, [&](char label) { return label == first || label == own[i]; });
    moved += {first, own[i]};
    const Tensor none = constant(c, Tensor::scalar(int64_t{0}));
    const Tensor band = c(kMatrixBandPart, {reordered(mask, own, moved), none, none});
    mask = reordered(band, moved, own);
  }
  return mask;
}

// The sum over those first axes of an ellipsis inside of the subscripts that the input lacks. Those
// of one in front are left to reduce_to_shape.
Tensor without_extra_axes(GradientContext& c, const Tensor& dx, int input,
                          const std::string& subscripts) {
  const size_t at = subscripts.find(kEllipsis);
  if (at == subscripts.npos || at == 0 || !dx) return dx;
  const Shape& x = c.static_shape_of_x(input);
  if (!x.has_rank() || !dx.shape().has_rank()) {
    const Formula first(c, Size(static_cast<int64_t>(at)).tensor(c));
    const Formula more = Formula(c, c(kRank, {dx})) - Formula(c, c(kSize, {c.shape_of_x(input)}));
    return c(kSum, {dx, c(kRange, {first, first + more, Size(1).tensor(c)})});
  }
  InlineVector<int, 8> extra;
  for (int i = 0; i < dx.rank() - x.rank(); ++i) extra.push_back(static_cast<int>(at) + i);
  return extra.empty() ? dx : c(kSum, {dx, ints(c, extra)});
}

Tensor einsum_gradient_of(GradientContext& c, const EinsumEquation& equation, int input) {
  const std::string& own = equation.inputs[static_cast<size_t>(input)];
  const std::string& output = *equation.output;
  const std::string other =
      c.num_inputs() == 2 ? equation.inputs[static_cast<size_t>(1 - input)] : "";
  // The labels that dy or the other input has; any other label was summed over.
  std::string given;
  bool is_all = true;
  for (char label : own) {
    const bool is_known = has(output, label) || has(other, label);
    if (is_known && !has(given, label)) {
      given += label;
    } else {
      is_all = false;
    }
  }
  std::string target = own;
  if (has(output, kEllipsis) && !has(own, kEllipsis)) {
    given.insert(given.begin(), kEllipsis);
    target.insert(target.begin(), kEllipsis);
  }
  Tensor dx = c.num_inputs() == 1 ? c(kEinsum, {c.dy()}, {EinsumEquation{{output}, given}.text()})
                                  : c(kEinsum, {c.dy(), conj(Formula(c, c.x(1 - input)))},
                                      {EinsumEquation{{output, other}, given}.text()});
  if (!is_all) {
    if (own.size() > kLetters.size()) {
      c.fail(invalid_argument("[Einsum] the gradient needs more letters than there are"));
      return {};
    }
    const std::string distinct = with_own_letters(own);
    target = target == own ? distinct : kEllipsis + distinct;
    dx = c(kEinsum, {dx, diagonal_mask(c, input, own, distinct)},
           {EinsumEquation{{given, distinct}, target}.text()});
  }
  return reduce_to_shape(c, without_extra_axes(c, dx, input, target), input);
}

void einsum_gradient(GradientContext& c) {
  auto equation = equation_of(c.attrs<EinsumAttrs>().equation, c.num_inputs());
  if (!equation.ok()) return c.fail(equation.status());
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (c.wants(i)) c.set_dx(i, einsum_gradient_of(c, *equation, i));
  }
}

}  // namespace

// A letter of its own for the axis of the rows.
void batch_einsum(BatchContext& c) {
  auto equation = parse_einsum(c.attrs<EinsumAttrs>().equation);
  if (!equation || !equation->output) return c.use_loop();
  std::string used = *equation->output;
  for (const std::string& input : equation->inputs) used += input;
  const std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const size_t free = letters.find_first_not_of(used);
  if (free == std::string_view::npos) return c.use_loop();
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    inputs.push_back(c.x(i));
    std::string& input = equation->inputs[static_cast<size_t>(i)];
    if (c.is_batched(i)) input.insert(input.begin(), letters[free]);
  }
  equation->output->insert(equation->output->begin(), letters[free]);
  apply_to_rows(c, inputs, EinsumAttrs{equation->text()});
}

void define_einsum_ops(OpRegistry& ops) {
  ops.define(kEinsum,
             {
                 .name = "Einsum",
                 .summary = "Sums of products of one or two tensors, in Einstein's notation.",
                 .details = "equation: a letter for each axis of the inputs, which commas "
                            "separate, \"->\", and the letters of the output: \"bij,bjk->bik\". "
                            "\"...\" stands for axes that broadcast. A letter that is missing in "
                            "the output is summed over; one that an input has twice means its "
                            "diagonal.",
                 .inputs = {"inputs: N * T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kDifferentiableTypes | kIndexTypes, kAllTypes}},
                 .infer = einsum_shape,
                 .gradient = einsum_gradient,
                 .batch = batch_einsum,
                 .body = composite(einsum),
             });
}

}  // namespace graven::engine
