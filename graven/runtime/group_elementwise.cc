#include "graven/runtime/group_elementwise.h"

namespace graven::engine {

std::vector<std::vector<Node*>> group_elementwise(const std::vector<GroupCandidate>& candidates) {
  std::vector<std::vector<Node*>> groups;
  for (const GroupCandidate& candidate : candidates) groups.push_back({candidate.node});
  return groups;
}

}  // namespace graven::engine
