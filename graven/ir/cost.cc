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

double CostContext::elements() const {
  double elements = output_elements();
  for (const Shape* shape : inputs_) elements += guessed_elements(*shape);
  return elements;
}

double CostContext::output_elements() const {
  double elements = 0;
  for (const Shape& shape : outputs_) elements += guessed_elements(shape);
  return elements;
}

double cost_of_outputs(const CostContext& context) { return 2 * context.output_elements(); }

double estimated_cost(const Op& op, const CostContext& context) {
  CostFunction cost = op.record().cost;
  return kCall + (cost ? cost(context) : context.elements());
}

}  // namespace graven::engine
