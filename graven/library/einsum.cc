#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/ops/einsum_ops.h"

namespace graven::engine {
namespace {

struct EinsumParameters {
  std::string equation;
  TensorList inputs;
  static constexpr auto fields() {
    using P = EinsumParameters;
    constexpr const char* kOrder = "The order is found here, and depends on sizes alone.";
    return std::tuple(
        required_field(
            "equation", &P::equation,
            "A letter for each axis of the inputs, which commas separate; \"->\" and the "
            "letters of the output, or else those that come once, by the alphabet. "
            "\"...\" stands for axes that broadcast."),
        variadic_field("inputs", &P::inputs, "T", "A tensor for each group of letters."),
        ignored_field("optimize", kOrder), ignored_field("greedy", kOrder));
  }
};

// The equation with an output, or none after an error.
std::optional<EinsumEquation> resolved(FunctionContext& c, const EinsumParameters& p) {
  auto equation = parse_einsum(p.equation);
  if (!equation) {
    c.fail(value_error("Subscripts have incorrect format: ", p.equation));
    return {};
  }
  const size_t given = p.inputs.tensors.size(), wanted = equation->inputs.size();
  if (given != wanted) {
    c.fail(value_error("Got ", given, " inputs for equation \"", p.equation, "\", expecting ",
                       wanted));
    return {};
  }
  std::array<int, 128> counts = {};
  for (const std::string& input : equation->inputs) {
    for (char label : input) ++counts[static_cast<size_t>(label)];
  }
  if (!equation->output) {
    equation->output.emplace();
    for (size_t label = 'A'; label <= 'z'; ++label) {
      if (counts[label] == 1) *equation->output += static_cast<char>(label);
    }
    return equation;
  }
  for (const char label : *equation->output) {
    if (std::ranges::count(*equation->output, label) > 1) {
      c.fail(
          value_error("Output subscripts contain a label appearing more than once: ", p.equation));
      return {};
    }
    if (counts[static_cast<size_t>(label)] == 0 && label != kEllipsis) {
      c.fail(value_error("Output subscripts contain the label ", std::string(1, label),
                         " not present in the input subscripts."));
      return {};
    }
  }
  // An ellipsis in the output alone stands for no axes.
  if (counts[kEllipsis] == 0) std::erase(*equation->output, kEllipsis);
  return equation;
}

// A set of labels, one bit for each.
using LabelSet = uint64_t;
LabelSet bit_of(char label) {
  const int place = label == kEllipsis ? 52 : label >= 'a' ? label - 'a' : label - 'A' + 26;
  return LabelSet{1} << place;
}
LabelSet set_of(const std::string& subscripts) {
  LabelSet set = 0;
  for (char label : subscripts) set |= bit_of(label);
  return set;
}

struct Term {
  Tensor x;
  std::string subscripts;
};

// Contracts several terms in pairs, in an order with few multiplications.
class Contraction {
 public:
  Contraction(FunctionContext& c, std::vector<Term> terms, std::string output)
      : c_(c), terms_(std::move(terms)), output_(std::move(output)) {
    sizes_.fill(1);
    for (const Term& term : terms_) note_sizes(term);
  }

  Tensor run() {
    constexpr size_t kMostInBestOrder = 6;
    while (terms_.size() > kMostInBestOrder) join_cheapest();
    find_best_order();
    return contracted((size_t{1} << terms_.size()) - 1).x;
  }

 private:
  // An unknown size counts as a medium one.
  void note_sizes(const Term& term) {
    constexpr double kUnknownSize = 64;
    const auto rank = c_.rank_if_known(term.x);
    const size_t ellipsis = term.subscripts.find(kEllipsis);
    for (size_t i = 0; i < term.subscripts.size(); ++i) {
      if (i == ellipsis) continue;
      const auto place = static_cast<int64_t>(i);
      const int64_t axis =
          i < ellipsis ? place : place - static_cast<int64_t>(term.subscripts.size());
      const bool is_there = rank && axis >= -*rank && axis < *rank;
      const auto size = is_there ? c_.size_if_known(term.x, axis) : std::nullopt;
      double& known = size_of(bit_of(term.subscripts[i]));
      known = std::max(known, size ? static_cast<double>(*size) : kUnknownSize);
    }
    if (ellipsis != std::string::npos) size_of(bit_of(kEllipsis)) = kUnknownSize;
  }
  double& size_of(LabelSet bit) { return sizes_[static_cast<size_t>(std::countr_zero(bit))]; }
  double product(LabelSet set) {
    double product = 1;
    for (; set != 0; set &= set - 1) product *= size_of(set & -set);
    return product;
  }

  // The labels of some terms, given by their places, that the other terms or the output need.
  LabelSet kept(const auto& is_inside) const {
    LabelSet inside = 0, outside = set_of(output_);
    for (size_t i = 0; i < terms_.size(); ++i) {
      (is_inside(i) ? inside : outside) |= set_of(terms_[i].subscripts);
    }
    return inside & outside;
  }
  LabelSet kept_of_pair(size_t a, size_t b) const {
    return kept([=](size_t i) { return i == a || i == b; });
  }
  LabelSet kept_of_set(size_t set) const {
    return kept([=](size_t i) { return (set >> i & 1) != 0; });
  }

  Term joined(const Term& a, const Term& b, LabelSet kept, bool is_last) {
    std::string batch, rest;
    for (const Term* term : {&a, &b}) {
      for (char label : term->subscripts) {
        if (!(bit_of(label) & kept) || (batch + rest).find(label) != std::string::npos) continue;
        const bool in_both = (set_of(a.subscripts) & set_of(b.subscripts) & bit_of(label)) != 0;
        if (label == kEllipsis) {
          batch.insert(batch.begin(), label);
        } else {
          (in_both ? batch : rest) += label;
        }
      }
    }
    const EinsumEquation equation = {{a.subscripts, b.subscripts},
                                     is_last ? output_ : batch + rest};
    return {c_(kEinsum, {a.x, b.x}, {equation.text()}), *equation.output};
  }

  // Joins the two terms whose result is the smallest.
  void join_cheapest() {
    size_t first = 0, second = 1;
    double least = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < terms_.size(); ++i) {
      for (size_t j = i + 1; j < terms_.size(); ++j) {
        const double size = product(kept_of_pair(i, j));
        if (size >= least) continue;
        least = size;
        first = i;
        second = j;
      }
    }
    const LabelSet labels = kept_of_pair(first, second);
    terms_[first] = joined(terms_[first], terms_[second], labels, false);
    terms_.erase(terms_.begin() + static_cast<int64_t>(second));
  }

  // For each set of terms, the part that is contracted separately from the rest.
  void find_best_order() {
    const size_t all = size_t{1} << terms_.size();
    std::vector<double> costs(all, 0);
    std::vector<LabelSet> labels(all, 0);
    parts_.assign(all, 0);
    for (size_t set = 1; set < all; ++set) {
      labels[set] = kept_of_set(set);
      if (std::has_single_bit(set)) continue;
      costs[set] = std::numeric_limits<double>::infinity();
      for (size_t part = (set - 1) & set; part > 0; part = (part - 1) & set) {
        const size_t rest = set & ~part;
        if (part < rest) continue;  // the same two parts
        const double cost = costs[part] + costs[rest] + product(labels[part] | labels[rest]);
        if (parts_[set] != 0 && cost >= costs[set]) continue;
        costs[set] = cost;
        parts_[set] = rest;
      }
    }
  }
  Term contracted(size_t set) {
    if (std::has_single_bit(set)) return terms_[static_cast<size_t>(std::countr_zero(set))];
    const Term a = contracted(parts_[set]), b = contracted(set & ~parts_[set]);
    return joined(a, b, kept_of_set(set), set + 1 == size_t{1} << terms_.size());
  }

  FunctionContext& c_;
  std::vector<Term> terms_;
  std::string output_;
  std::array<double, 64> sizes_;
  std::vector<size_t> parts_;
};

Outputs einsum(FunctionContext& c, const EinsumParameters& p) {
  auto equation = resolved(c, p);
  if (!equation) return {};
  const size_t n = p.inputs.tensors.size();
  if (n <= 2) return c.apply(*kEinsum, p.inputs.tensors, EinsumAttrs{equation->text()});
  std::vector<Term> terms;
  for (size_t i = 0; i < n; ++i) terms.push_back({p.inputs.tensors[i], equation->inputs[i]});
  return Contraction(c, std::move(terms), *equation->output).run();
}

}  // namespace

void define_einsum(FunctionRegistry& functions) {
  functions.define({
      .names = "einsum, linalg.einsum",
      .scope = "einsum",
      .types = {{"T", kDifferentiableTypes | kIndexTypes}},
      .summary = "Sums of products of tensors, in Einstein's notation.",
      .details =
          "\"ij,jk->ik\" multiplies matrices, \"bij,bjk->bik\" batches of them, \"ii->i\" is "
          "a diagonal, \"...ij->...ji\" a transpose. Several tensors are multiplied two by "
          "two, in an order that depends on the sizes that are known.",
      .returns = "The sums.",
      .raises = {{"ValueError", "The equation is not one, or not for so many inputs."},
                 {"InvalidArgumentError", "Sizes or ranks differ; a ValueError in a graph."}},
      .source = "OpDef \"Einsum\"",
      .body = einsum,
  });
}

}  // namespace graven::engine
