#include "graven/optimize/join_reductions.h"

#include <algorithm>
#include <unordered_map>

#include "graven/ir/fusion.h"

namespace graven::engine {
namespace {

using Group = FusionGroups::Group;
using Info = FusionGroups::Info;

// More reductions in one pass read more at a time than a cache holds.
constexpr int kMaxJoined = 4;

const OutputType& type_of(OutputRef value) { return value.node->output(value.index); }

class Joiner {
 public:
  explicit Joiner(FusionGroups& all) : all_(all) {}

  // Each is compared with the last one before it that reads the matrix.
  void run() {
    std::vector<int> reducing;
    for (size_t g = 0; g < all_.groups.size(); ++g) {
      if (is_reducing(all_.groups[g])) reducing.push_back(static_cast<int>(g));
    }
    auto position = [&](int g) { return all_.info(all_.groups[g].back()).position; };
    std::ranges::sort(reducing, {}, position);
    find_latest();
    std::unordered_map<const Node*, int> last_reader;  // a group
    for (int g : reducing) {
      const std::vector<OutputRef> matrices = matrices_of(all_.groups[g]);
      int home = g;
      for (OutputRef matrix : matrices) {
        auto reader = last_reader.find(matrix.node);
        if (home != g || reader == last_reader.end()) continue;
        const int other = reader->second;
        if (other != g && may_join(other, g)) home = other;
      }
      if (home != g) join(home, g);
      for (OutputRef matrix : matrices) last_reader[matrix.node] = home;
    }
    all_.number();
  }

 private:
  // Whether a group is a reduction with nodes that only it needs.
  bool is_reducing(const Group& group) {
    return all_.info(group.back()).is_reduction &&
           (group.size() == 1 || all_.info(group.back()).is_appended);
  }

  // The inputs of the group that are as large as its reduced matrix.
  std::vector<OutputRef> matrices_of(const Group& group) {
    std::vector<OutputRef> matrices;
    for (Node* node : group) {
      const size_t num_read = all_.info(node).is_reduction ? 1 : node->inputs().size();
      for (OutputRef value : node->inputs().first(num_read)) {
        const bool is_inside = !all_.is_input(value.node) &&
                               all_.info(value.node).group == all_.info(group.back()).group;
        if (!is_inside && type_of(value).shape == *all_.info(group.back()).reduced) {
          matrices.push_back(value);
        }
      }
    }
    return matrices;
  }

  bool may_join(int home, int g) {
    const Group &a = all_.groups[home], &b = all_.groups[g];
    const Info &of_a = all_.info(a.back()), &of_b = all_.info(b.back());
    if (!(*of_a.reduced == *of_b.reduced) || of_a.axes != of_b.axes ||
        all_.device_of(a.back()) != all_.device_of(b.back())) {
      return false;
    }
    size_t expression_nodes = 0;
    int reductions = 0;
    for (const Group* group : {&a, &b}) {
      for (Node* node : *group) {
        expression_nodes += all_.info(node).body->num_nodes();
        reductions += all_.info(node).is_reduction;
      }
    }
    return reductions <= kMaxJoined && expression_nodes <= FusionLimits::kMaxExpressionNodes &&
           !waits_for(g, home) && !waits_for(home, g);
  }

  void join(int home, int g) {
    Group& all = all_.groups[home];
    for (Node* node : all_.groups[g]) {
      all_.info(node).group = home;
      all.push_back(node);
    }
    all_.groups[g].clear();
    std::ranges::sort(all, {}, [&](Node* node) { return all_.info(node).position; });
    for (Node* node : all) all_.info(node).is_appended |= all_.info(node).is_reduction;
    note_join(home, g);
  }

  // Whether a group comes after another, or might: the search ends after so many groups.
  bool waits_for(int group, int other) {
    constexpr size_t kMaxSeen = 256;
    // Nodes that wait for the group stand behind its first reduction.
    int begin = all_.info(all_.groups[other].back()).position;
    for (Node* node : all_.groups[other]) {
      if (all_.info(node).is_reduction) begin = std::min(begin, all_.info(node).position);
    }
    std::vector<int> seen = {group};
    for (size_t next = 0; next < seen.size(); ++next) {
      if (next == kMaxSeen) return true;
      for (const Node* node : all_.groups[seen[next]]) {
        for (const Node* before : all_.candidates[all_.info(node).position].waits_for) {
          const int from = all_.info(before).group;
          if (from == other) return true;
          const bool may_wait = latest_[from] > begin;
          if (may_wait && std::ranges::find(seen, from) == seen.end()) seen.push_back(from);
        }
      }
    }
    return false;
  }

  // Finds for each group the last position of its nodes, or of a group that it waits for, directly
  // or through others: it does not wait for nodes behind that position.
  void find_latest() {
    latest_.assign(all_.groups.size(), -1);
    users_.resize(all_.groups.size());
    home_of_.resize(all_.groups.size());
    for (size_t g = 0; g < all_.groups.size(); ++g) {
      latest_[g] = all_.info(all_.groups[g].back()).position;
      home_of_[g] = static_cast<int>(g);
    }
    all_.visit_in_order([&](int g, std::span<const int> users) {
      users_[g].assign(users.begin(), users.end());
      for (int user : users) latest_[user] = std::max(latest_[user], latest_[g]);
    });
  }

  void note_join(int home, int g) {
    home_of_[g] = home;
    users_[home].insert(users_[home].end(), users_[g].begin(), users_[g].end());
    const int latest = std::max(latest_[home], latest_[g]);
    latest_[home] = latest;
    std::vector<int> raised = {home};
    while (!raised.empty()) {
      const int from = raised.back();
      raised.pop_back();
      for (int user : users_[from]) {
        int& of_user = latest_[home_of_[user]];
        if (of_user >= latest) continue;
        of_user = latest;
        raised.push_back(home_of_[user]);
      }
    }
  }

  FusionGroups& all_;
  // By group: see find_latest; the groups that wait for it; the group that it has joined, or
  // itself.
  std::vector<int> latest_;
  std::vector<std::vector<int>> users_;
  std::vector<int> home_of_;
};

}  // namespace

void join_reductions(FusionGroups& all) { Joiner(all).run(); }

}  // namespace graven::engine
