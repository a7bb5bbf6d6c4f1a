#include "graven/ir/movement.h"

#include <algorithm>

#include "graven/ir/graph.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

bool is_definite(const Shape& shape) {
  return shape.has_rank() && std::ranges::none_of(shape.dims(), &Dim::is_unknown);
}

bool is_definite(const Movement& movement) {
  auto are_known = [](std::span<const Dim> dims) {
    return std::ranges::none_of(dims, &Dim::is_unknown);
  };
  return is_definite(movement.space) &&
         std::ranges::all_of(movement.pieces, [&](const Movement::Piece& piece) {
           return are_known(piece.start) && are_known(piece.size) &&
                  std::ranges::all_of(piece.read.axes, [](const Read::Axis& axis) {
                    return !axis.offset.is_unknown() &&
                           std::ranges::none_of(axis.terms, [](const Read::Term& term) {
                             return term.coefficient.is_unknown();
                           });
                  });
         });
}

std::optional<Movement> ask(const Op& op, const ReadsContext& context) {
  auto movement = op.record().reads(context);
  if (movement && !is_definite(*movement)) return std::nullopt;
  return movement;
}

// The axis of the tensor where it is read at the term's index, and nothing else is added.
bool is_plain(const Read::Axis& axis) {
  return axis.offset == Dim(0) && !axis.backwards && axis.terms.size() == 1 &&
         axis.terms[0].coefficient == Dim(1);
}

// A term of an inner read whose index runs backwards: an offset from one end of the tensor becomes
// one from the other end.
std::optional<Read::Axis> turned(const Read::Axis& inner, Dim size, const Read::Axis& outer,
                                 Dim middle, const DimArithmetic& dims) {
  if (inner.terms.size() != 1 || outer.broadcasts) return std::nullopt;
  const Dim step = inner.terms[0].coefficient;
  const Dim last = dims.add(inner.offset, dims.multiply(step, dims.subtract(middle, 1)));
  Read::Axis axis;
  axis.backwards = !inner.backwards;
  axis.offset = dims.subtract(dims.add(size, dims.multiply(step, outer.offset)), dims.add(last, 1));
  for (const Read::Term& term : outer.terms) {
    axis.terms.push_back({term.index, dims.multiply(step, term.coefficient)});
  }
  return axis;
}

std::optional<Read::Axis> composed_axis(const Read::Axis& inner, Dim size, const Read& outer,
                                        const Shape& middle, const DimArithmetic& dims) {
  // Whether its sizes fit is for the op to say.
  if (inner.broadcasts) return std::nullopt;
  Read::Axis axis{inner.offset, {}, false, inner.backwards};
  for (const Read::Term& term : inner.terms) {
    const Read::Axis& at = outer.axes[term.index];
    if (at.broadcasts) {
      if (is_plain(inner) && size == middle[term.index]) return at;
      return std::nullopt;
    }
    if (at.backwards) return turned(inner, size, at, middle[term.index], dims);
    axis.offset = dims.add(axis.offset, dims.multiply(term.coefficient, at.offset));
    for (const Read::Term& part : at.terms) {
      axis.terms.push_back({part.index, dims.multiply(term.coefficient, part.coefficient)});
    }
  }
  return axis;
}

}  // namespace

Movement one_read(const Shape& output, Read read, int input) {
  Movement movement;
  movement.space = output;
  movement.pieces.push_back({input, std::move(read), {}, {}, {}});
  return movement;
}

Dim DimArithmetic::add(Dim a, Dim b) const {
  int64_t sum;
  if (a.is_number() && b.is_number()) {
    return __builtin_add_overflow(a.number(), b.number(), &sum) ? Dim::unknown() : Dim(sum);
  }
  return symbols_ ? symbols_->add(a, b) : Dim::unknown();
}

Dim DimArithmetic::subtract(Dim a, Dim b) const {
  if (a.is_number() && b.is_number()) {
    return a.number() < b.number() ? Dim::unknown() : Dim(a.number() - b.number());
  }
  return symbols_ ? symbols_->subtract(a, b) : Dim::unknown();
}

Dim DimArithmetic::multiply(Dim a, Dim b) const {
  int64_t product;
  if (a.is_number() && b.is_number()) {
    return __builtin_mul_overflow(a.number(), b.number(), &product) ? Dim::unknown() : Dim(product);
  }
  if (a == Dim(0) || b == Dim(0)) return 0;
  if (a == Dim(1)) return b;
  if (b == Dim(1)) return a;
  return symbols_ ? symbols_->multiply(a, b) : Dim::unknown();
}

// False where the shape of an output rests on what an input will tell, so that only the kernel can
// check it: BroadcastTo takes a size of its operand for that of a shape that is not known yet.
static bool knows_sizes_given(const Node& node) {
  return std::ranges::all_of(node.op().record().values_for_inference, [&](int i) {
    const auto inputs = node.inputs();
    const OutputRef from = i < 0 ? inputs.end()[i] : inputs.begin()[i];
    if (&from.node->op() == kConst.op) return true;
    const auto& sizes = from.node->output(from.index).sizes;
    return sizes && std::ranges::none_of(*sizes, &Dim::is_unknown);
  });
}

std::optional<Movement> movement_of(const Node& node, int output, Graph& graph) {
  if (!node.op().record().reads || output >= node.num_outputs()) return std::nullopt;
  const Shape& shape = node.output(output).shape;
  InlineVector<const Shape*, 4> shapes;
  for (OutputRef input : node.inputs()) {
    shapes.push_back(&input.node->output(input.index).shape);
    if (!is_definite(*shapes.back())) return std::nullopt;
  }
  if (!is_definite(shape) || !knows_sizes_given(node)) return std::nullopt;
  // An input of the graph has no known value, even if it is a constant: each call feeds another
  // one.
  auto is_known = [&](const Node* from) {
    return &from->op() == kConst.op && std::ranges::count(graph.inputs(), from) == 0;
  };
  InlineVector<Tensor, 4> values;
  for (OutputRef input : node.inputs()) {
    values.push_back(is_known(input.node) ? input.node->attrs().as<ConstAttrs>().value : Tensor());
  }
  return ask(node.op(),
             ReadsContext(node.attrs(), {shapes.data(), shapes.size()},
                          {values.data(), values.size()}, shape, output, &graph.symbols()));
}

std::optional<Movement> movement_of(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                                    const Shape& shape, int output) {
  if (!op.record().reads) return std::nullopt;
  InlineVector<const Shape*, 4> shapes;
  for (const Tensor& input : inputs) shapes.push_back(&input.shape());
  return ask(op,
             ReadsContext(attrs, {shapes.data(), shapes.size()}, inputs, shape, output, nullptr));
}

std::optional<Read> compose(const Read& outer, const Shape& middle, const Read& inner,
                            const Shape& from, const DimArithmetic& dims) {
  Read read;
  for (size_t k = 0; k < inner.axes.size(); ++k) {
    auto axis = composed_axis(inner.axes[k], from[static_cast<int>(k)], outer, middle, dims);
    if (!axis || axis->offset.is_unknown()) return std::nullopt;
    for (const Read::Term& term : axis->terms) {
      if (term.coefficient.is_unknown()) return std::nullopt;
    }
    read.axes.push_back(std::move(*axis));
  }
  return read;
}

}  // namespace graven::engine
