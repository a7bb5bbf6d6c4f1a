#pragma once
#include "graven/runtime/compiler.h"

namespace graven::engine {

// The kinds of kernels that the block compiler makes of Fusions, a file each.

// Members that have an element for each point of the space: one list of block instructions.
Result<Ref<const Kernel>> compile_map(const Fusion& fusion);
// The same behind a library member, rectangle by rectangle.
Result<Ref<const Kernel>> compile_panels(const Fusion& fusion);
// A reduction over any axes that alone needs what the other members compute: they are computed
// while it reduces.
Result<Ref<const Kernel>> compile_reduction(const Fusion& fusion);
// Members and reductions over the last axes, row by row (kernels/row_program.h), if each input is
// all rows, or the same in all of them.
Result<Ref<const Kernel>> compile_rows(const Fusion& fusion);
bool can_go_by_rows(const Fusion& fusion);

// The inputs of a run as operands of programs over memory. Shapes without symbols are known when
// the kernel is made.
class FusionShapes {
 public:
  struct Found {
    InlineVector<Shape, 4> inputs;
    Shape space;
  };
  explicit FusionShapes(const Fusion& fusion);
  // The shapes where symbols have these values: those kept here, or `found`, which it fills.
  const Found& at(std::span<const int64_t> symbols, Found& found) const;
  int64_t bytes() const;

 private:
  bool has_symbols_;
  Found shapes_;
};

// kUnimplemented if an input is read otherwise than as it broadcasts.
Status must_broadcast(const Fusion& fusion);

// All members as one expression over the inputs of the Fusion, which gives these; of a reduction
// the value that it combines, so it can be the last only. With a library member: all others, over
// the inputs that are not read whole and, behind these, its result.
Expression fused_expression(const Fusion& fusion, std::span<const int> outputs);

}  // namespace graven::engine
