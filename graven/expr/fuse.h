#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "graven/base/export.h"
#include "graven/expr/expression.h"

namespace graven::engine {

// One expression in a group that fuses. sources[i] is the source of its input i: input `index` of
// the group, or output `index` of an earlier member.
struct FusionMember {
  struct Source {
    int member = -1;  // -1: an input of the group
    int index = 0;
  };
  const Expression* expression;
  std::vector<Source> sources;
  int number = -1;  // of its traps, ascending; -1: its place among the members
};

// An input of a group that is one known element; a constant replaces it.
struct KnownInput {
  int input = 0;
  uint64_t bits = 0;  // of the computing type; no complex numbers
};

// The group as one expression, whose inputs are those of the group and whose outputs are the
// listed outputs of members. Values that cross from member to member are rounded as if they had
// been stored (half, bfloat16), so fusing changes no bit. Traps of all members are kept.
GRAVEN_API Expression fuse_expressions(std::span<const DType> inputs,
                                       std::span<const FusionMember> members,
                                       std::span<const FusionMember::Source> outputs,
                                       std::span<const KnownInput> known = {});

}  // namespace graven::engine
