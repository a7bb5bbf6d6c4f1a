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
  // For nodes that may be in a group: their scalar body, and the shape of the result, whose Dims
  // are all numbers or terms.
  const RecordedBody* body = nullptr;
  const Shape* shape = nullptr;
  // For a reduction over the last axes: how many axes, and the shape of its operand, input 0.
  int reduced_axes = 0;
  const Shape* reduced = nullptr;
  const Device* device = nullptr;  // the requested device; null: any
  // Neither joins a group nor lets others join: the product it alone reads will take it along.
  bool stays_alone = false;
};

// Groups scalar bodies that run on one device, whose results have the same shape, where one feeds
// the other: a chain of them is one pass over memory. A reduction over the last axes joins its
// operand, and the users of its result join it, as long as the whole group can go row by row:
// softmax or layer normalisation written from ops. Each candidate is in exactly one group, nodes in
// order; groups do not wait for each other in circles. Candidates come in a valid order.
std::vector<std::vector<Node*>> group_nodes(const std::vector<GroupCandidate>& candidates);

// --- Rows. All but the last `axes` axes of the space are its rows, the last ones its columns. A
// value has the shape of the space, or one element for each row: then the last axes have size 1, or
// are missing.

// Whether a value of this shape has one element for each row of the space.
bool is_per_row(const Shape& shape, const Shape& space, int axes);

// How an elementwise op, whose result has the shape of the space or one element per row, reads an
// operand while it goes row by row: each element, one for each row, one for each column, or one in
// all; none if it cannot. Shapes are compared as they are written: a Dim equals only itself.
std::optional<Read> row_read(const Shape& operand, const Shape& result, const Shape& space,
                             int axes);

}  // namespace graven::engine
