#include "graven/ir/cost.h"

#include <algorithm>

namespace graven::engine {
namespace {

constexpr double kGuessedSize = 64;
// To call a kernel at all.
constexpr double kCall = 300;

}  // namespace

double guessed_size(Dim dim) {
  return dim.is_number() ? static_cast<double>(dim.number()) : kGuessedSize;
}

double guessed_elements(const Shape& shape) {
  return shape.has_rank() ? guessed_elements(shape, 0) : kGuessedSize;
}

double guessed_elements(const Shape& shape, int first) {
  if (!shape.has_rank()) return kGuessedSize;
  if (first < 0) first = std::max(first + shape.rank(), 0);
  double product = 1;
  for (int i = first; i < shape.rank(); ++i) product *= guessed_size(shape[i]);
  return product;
}

double estimated_cost(const Op& op, AttrsRef attrs, std::span<const Shape> inputs,
                      std::span<const Shape> outputs) {
  if (CostFunction cost = op.record().cost) return kCall + cost(attrs, inputs, outputs);
  double elements = 0;
  for (const Shape& shape : inputs) elements += guessed_elements(shape);
  for (const Shape& shape : outputs) elements += guessed_elements(shape);
  return kCall + elements;
}

}  // namespace graven::engine
