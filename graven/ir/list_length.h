#pragma once
#include <algorithm>

#include "graven/ir/op.h"

namespace graven::engine {

// How many of an op's flat inputs are in each of its lists, which are equally long; -1 if so many
// inputs fit no length.
inline int list_length(const Op& op, size_t num_inputs) {
  const auto lists = std::ranges::count_if(op.inputs(), &ArgSpec::is_list);
  const auto in_lists = static_cast<int64_t>(num_inputs) - (std::ssize(op.inputs()) - lists);
  if (lists == 0) return in_lists == 0 ? 0 : -1;
  return in_lists < 0 || in_lists % lists != 0 ? -1 : static_cast<int>(in_lists / lists);
}

}  // namespace graven::engine
