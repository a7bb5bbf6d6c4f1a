#pragma once
#include <optional>
#include <vector>

#include "graven/ir/fusion.h"
#include "graven/ir/graph.h"
#include "graven/tensor/device.h"

namespace graven::engine {

// A node that may be computed together with others.
struct GroupCandidate {
  Node* node = nullptr;
  std::vector<const Node*> waits_for;  // other candidates: data and control
  // Of nodes that may be in a group: their scalar body, and the shape of the result, all of whose
  // Dims are numbers or terms.
  const RecordedBody* body = nullptr;
  const Shape* shape = nullptr;
  // Of a reduction over the last axes: how many, and the shape of what it reduces, input 0.
  int reduced_axes = 0;
  const Shape* reduced = nullptr;
  const Device* device = nullptr;  // that it was asked to run on; null: any
};

// Puts scalar bodies whose results have the same shape together where one feeds the other, so
// that a chain of them is one pass over memory, if they run on one device. A reduction over the
// last axes joins what it reduces, and what is made of its result joins it, as long as all of it
// can go row by row: softmax or layer normalisation written from ops. Gives each candidate in
// exactly one group, nodes in order; groups do not wait for each other in circles. Candidates come
// in a valid order.
std::vector<std::vector<Node*>> group_nodes(const std::vector<GroupCandidate>& candidates);

// --- Rows. All but the last `axes` axes of the space are its rows, the last ones its columns.
// Values are of its shape, or have one element for each row: then the last axes have size 1, or
// are missing.

// Whether a value of this shape has one element for each row of the space.
bool is_per_row(const Shape& shape, const Shape& space, int axes);

// How an elementwise op, whose result is of the space or a value per row, reads an operand while
// it goes row by row: each element, one for each row, one for each column, or one in all; none if
// it cannot. Shapes are compared as they are written: a Dim equals only itself.
std::optional<Read> row_read(const Shape& operand, const Shape& result, const Shape& space,
                             int axes);

}  // namespace graven::engine
