#pragma once
#include <span>
#include <vector>

#include "graven/base/export.h"
#include "graven/expr/expression.h"

namespace graven::engine {

// One expression in a group that fuses. sources[i] says what its input i is: input `index` of
// the group, or output `index` of an earlier member.
struct FusionMember {
  struct Source {
    int member = -1;  // -1: an input of the group
    int index = 0;
  };
  const Expression* expression;
  std::vector<Source> sources;
};

// The group as one expression, whose inputs are those of the group and whose outputs are the
// listed outputs of members. Values that cross from member to member are rounded as if they had
// been stored (half, bfloat16), so fusing changes no bit.
GRAVEN_API Expression fuse_expressions(std::span<const DType> inputs,
                                       std::span<const FusionMember> members,
                                       std::span<const FusionMember::Source> outputs);

}  // namespace graven::engine
