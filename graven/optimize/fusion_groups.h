#pragma once
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "graven/ir/recorded_body.h"
#include "graven/optimize/group_nodes.h"

namespace graven::engine {

// The nodes of a graph while fusion puts them into groups: the facts about each node that decide
// its group, and the groups so far. Each group becomes one Fusion, or stays a lone node.
class FusionGroups {
 public:
  using Group = std::vector<Node*>;  // in the order of the graph
  struct Info {
    Ref<const RecordedBody> body;    // of nodes that may share a kernel, and of reductions
    const Shape* reduced = nullptr;  // of reductions and bodies over rows: the operand's shape
    std::vector<int> axes;           // ascending
    bool is_reduction = false;       // else, if `reduced` is set, a body over rows
    bool goes_by_rows = false;       // reduces the last axes, so that it can go row by row
    bool is_elementwise = false;     // may share a kernel
    bool is_appended = false;        // a reduction that took a group in, or joined another
    bool is_library = false;         // taken in by the group that reads it
    bool is_read = false;            // has a reader outside of its group
    int position = -1;               // among the candidates; -1: an input of the graph
    int group = -1;
  };

  explicit FusionGroups(const Graph& graph) : infos_(static_cast<size_t>(graph.id_bound())) {}

  Info& info(const Node* node) { return infos_[static_cast<size_t>(node->id())]; }
  bool is_input(const Node* node) { return info(node).position < 0; }
  const Device* device_of(const Node* node) { return candidates[info(node).position].device; }

  // Call it after groups have changed: removes empty groups, and tells nodes the number of their
  // group.
  void number() {
    std::erase_if(groups, [](const Group& group) { return group.empty(); });
    for (size_t g = 0; g < groups.size(); ++g) {
      for (const Node* node : groups[g]) info(node).group = static_cast<int>(g);
    }
  }

  // Calls visit(group, the groups that wait for it) for each group in a valid order, each at about
  // the place of its last node. Returns the number of calls: one for each group, unless groups wait
  // for each other in a circle.
  template <typename F>
  size_t visit_in_order(const F& visit) {
    std::vector<int> missing(groups.size(), 0);
    std::vector<std::vector<int>> users(groups.size());
    for (const GroupCandidate& candidate : candidates) {
      const int g = info(candidate.node).group;
      for (const Node* before : candidate.waits_for) {
        const int from = info(before).group;
        if (from == g) continue;
        users[from].push_back(g);
        ++missing[g];
      }
    }
    using Ready = std::pair<int, int>;  // position of the last node, group
    std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
    auto push = [&](int g) { ready.push({info(groups[g].back()).position, g}); };
    for (size_t g = 0; g < groups.size(); ++g) {
      if (missing[g] == 0) push(static_cast<int>(g));
    }
    size_t num_visited = 0;
    for (; !ready.empty(); ++num_visited) {
      const int g = ready.top().second;
      ready.pop();
      visit(g, std::span<const int>(users[g]));
      for (int user : users[g]) {
        if (--missing[user] == 0) push(user);
      }
    }
    return num_visited;
  }

  std::vector<GroupCandidate> candidates;  // all nodes but inputs, in the order of the graph
  std::vector<Group> groups;

 private:
  std::vector<Info> infos_;  // by id
};

}  // namespace graven::engine
