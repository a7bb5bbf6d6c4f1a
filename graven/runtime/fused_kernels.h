#pragma once
#include "graven/runtime/compiler.h"

namespace graven::engine {

// The kinds of kernels that the block compiler makes of Fusions, a file each.

// Members that have an element for each point of the space: one list of block instructions.
Result<Ref<const Kernel>> compile_map(const Fusion& fusion);
// The same behind a library member, rectangle by rectangle.
Result<Ref<const Kernel>> compile_panels(const Fusion& fusion);
// Reductions over any axes, which are all the outputs. The other members serve only them, and are
// computed while they reduce.
Result<Ref<const Kernel>> compile_reduction(const Fusion& fusion);
// Members and reductions over the last axes, row by row (kernels/row_program.h), if each input has
// all rows, or is the same in all of them.
Result<Ref<const Kernel>> compile_rows(const Fusion& fusion);
bool can_go_by_rows(const Fusion& fusion);

// The inputs of a run as operands of programs over memory. Everything that depends on no symbol is
// computed when the kernel is made.
class FusionOperands {
 public:
  // How a strided input is read, which is not read as it broadcasts: the offset of the first
  // element, and the distance of neighbours along each axis of the space.
  struct Steps {
    int64_t first = 0;
    InlineVector<int64_t, 6> strides;
  };
  struct Sizes {
    Shape space;
    InlineVector<Shape, 8> inputs;
    InlineVector<Steps, 8> steps;  // of strided inputs, in order
  };
  struct Found {
    Sizes made;
    const Sizes* sizes = nullptr;
    InlineVector<StridedInput, 8> operands;
    const Shape& space() const { return sizes->space; }
  };
  explicit FusionOperands(const Fusion& fusion);
  // Fills `found`; the operands then point into it. Fails if an input would be read beyond its end.
  Status find(const Kernel::Arguments& arguments, Found& found) const;
  // Whether the input is read otherwise than as it broadcasts.
  bool is_strided(size_t input) const { return is_strided_[input]; }
  // The inputs whose memory a member's elements may take, where these are computed in any order, as
  // Kernel::may_overwrite says: each element of such an input is read only for the element of the
  // member that takes its place. `fusion` is the one that this was made of.
  uint64_t overwritable_by(const Fusion& fusion, int member) const;
  int64_t bytes() const;

 private:
  Status fill(std::span<const int64_t> symbols, Sizes& sizes) const;
  bool has_symbols_;
  Shape space_;
  std::vector<FusionParts::Input> inputs_;  // empty once all operands are known
  InlineVector<bool, 8> is_strided_;
  Sizes sizes_;
};

// kUnimplemented if an input is strided: not read as it broadcasts.
Status must_broadcast(const Fusion& fusion);

// The members as one expression over the inputs of the Fusion. It computes `outputs`; for a
// reduction, the value to combine. With a library member: all other members, over the inputs that
// are not read whole and, behind these, its result.
Expression fused_expression(const Fusion& fusion, std::span<const int> outputs);
// The same for some members, which read none of the others. reads: the inputs of the Fusion that
// the expression takes.
Expression fused_expression(const Fusion& fusion, std::span<const int> outputs,
                            const std::vector<bool>& is_member, InlineVector<int, 8>* reads);
// The members that these outputs need.
std::vector<bool> needed_members(const Fusion& fusion, std::span<const int> outputs);

}  // namespace graven::engine
