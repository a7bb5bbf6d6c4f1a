// A node joins the group of a producer that takes its kind, unless that would make groups wait for
// each other in a circle: unless another node it waits for itself depends on the group. If several
// producers' groups may take it, they become one.
//
// The dependencies on groups are kept as a set of up to 64 groups that still take nodes, one bit
// each, for every node and group. A group may come to depend on more after others came to depend on
// it, so the sets are closed over when they are read. When the bits run out the oldest group is
// closed, and its bit is replaced by its own dependencies.
#include "graven/optimize/group_nodes.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>

namespace graven::engine {
namespace {

bool is_one_element(const Shape& shape) {
  return shape.has_rank() && std::ranges::all_of(shape.dims(), [](Dim d) { return d == Dim(1); });
}

bool varies(const Read& read, int begin, int end) {
  for (int i = begin; i < end; ++i) {
    if (read.varies_with(i)) return true;
  }
  return false;
}

class Grouping {
 public:
  explicit Grouping(const std::vector<GroupCandidate>& candidates) : candidates_(candidates) {
    places_.resize(candidates.size());
    for (size_t c = 0; c < candidates.size(); ++c) number_of_[candidates[c].node] = int(c);
  }

  std::vector<std::vector<Node*>> run() {
    for (size_t c = 0; c < candidates_.size(); ++c) place(static_cast<int>(c));
    std::vector<std::vector<Node*>> result;
    for (const Group& group : groups_) {
      if (!group.members.empty()) cut(group, result);
    }
    return result;
  }

 private:
  struct Place {
    int group = -1;
    uint64_t depends = 0;  // groups that it is in, or comes after
  };
  struct Group {
    std::vector<int> members;
    const Shape* matrix = nullptr;  // of elementwise results, but those that are per row
    int row_axes = 0;               // how many of its axes reductions take; 0: there are none
    size_t expression_nodes = 0;
    uint64_t bits = 0;     // 0: closed
    uint64_t depends = 0;  // of members, on other groups
  };

  // The nodes and groups whose set may have a group's bit, to find them when the bit is replaced.
  struct Holders {
    std::vector<int> places, groups;
  };

  // The groups, and all that they depend on.
  uint64_t closure(uint64_t groups) const {
    uint64_t done = 0;
    while (uint64_t todo = groups & ~done) {
      uint64_t bit = todo & -todo;
      done |= bit;
      groups |= groups_[group_of_bit_[std::countr_zero(bit)]].depends;
    }
    return groups;
  }

  bool is_fusable(int c) const {
    return candidates_[c].body != nullptr && !candidates_[c].stays_alone;
  }
  static size_t expression_nodes(const GroupCandidate& candidate) {
    return candidate.body->num_nodes();
  }

  // A reduction reads its axes too, but they are numbers.
  static size_t num_read(const GroupCandidate& candidate) {
    return candidate.reduced ? 1 : candidate.node->inputs().size();
  }

  void place(int c) {
    const GroupCandidate& candidate = candidates_[c];
    if (!is_fusable(c)) {
      uint64_t depends = 0;
      for (const Node* before : candidate.waits_for) {
        depends |= places_[number_of_.at(before)].depends;
      }
      set_depends(c, depends);
      join_group(c, new_group());
      return;
    }
    std::vector<int> homes = find_homes(c);
    if (homes.empty()) homes.push_back(open_group());
    for (size_t i = 1; i < homes.size(); ++i) merge(homes[0], homes[i]);
    Group& home = groups_[homes[0]];
    if (!home.matrix) home.matrix = candidate.reduced ? candidate.reduced : candidate.shape;
    home.row_axes = std::max(home.row_axes, candidate.reduced_axes);
    join_group(c, homes[0]);
  }

  // The groups that c joins. A group that goes by rows comes first, because it decides which others
  // can become one with it.
  std::vector<int> find_homes(int c) const {
    const GroupCandidate& candidate = candidates_[c];
    std::vector<int> of_producers;
    for (size_t i = 0; i < num_read(candidate); ++i) {
      int g = group_of(candidate.node->inputs()[i].node);
      if (g < 0 || groups_[g].bits == 0) continue;
      if (std::ranges::count(of_producers, g) == 0) of_producers.push_back(g);
    }
    std::ranges::stable_partition(of_producers, [&](int g) { return groups_[g].row_axes > 0; });
    std::vector<int> homes;
    size_t nodes = expression_nodes(candidate);
    for (int g : of_producers) {
      const Group& group = groups_[g];
      if (nodes + group.expression_nodes > FusionLimits::kMaxExpressionNodes || !may_join(c, g))
        continue;
      if (!(homes.empty() ? takes(group, g, c) : may_merge(groups_[homes[0]], homes[0], g, c))) {
        continue;
      }
      nodes += group.expression_nodes;
      homes.push_back(g);
    }
    return homes;
  }

  // The group of a node that may share a step, or -1.
  int group_of(const Node* node) const {
    auto number = number_of_.find(node);
    bool is_placed = number != number_of_.end() && is_fusable(number->second);
    return is_placed ? places_[number->second].group : -1;
  }

  bool takes(const Group& group, int g, int c) const {
    const GroupCandidate& candidate = candidates_[c];
    if (candidate.device != device_of(group)) return false;
    if (candidate.reduced) {
      if (!(*candidate.reduced == *group.matrix)) return false;
      if (group.row_axes > 0) return group.row_axes == candidate.reduced_axes;
      return std::ranges::all_of(group.members, [&](int m) {
        return goes_by_rows(m, *group.matrix, candidate.reduced_axes, -1);
      });
    }
    if (group.row_axes == 0) return *candidate.shape == *group.matrix;
    return goes_by_rows(c, *group.matrix, group.row_axes, g);
  }

  const Device* device_of(const Group& group) const { return candidates_[group.members[0]].device; }

  // Whether c, which joins the first group, makes it one with the other.
  bool may_merge(const Group& first, int f, int g, int c) const {
    const Group& other = groups_[g];
    if (device_of(first) != device_of(other)) return false;
    if (first.row_axes == 0) return other.row_axes == 0 && *other.matrix == *first.matrix;
    if (other.row_axes > 0 &&
        (other.row_axes != first.row_axes || !(*other.matrix == *first.matrix))) {
      return false;
    }
    if (!goes_by_rows(c, *first.matrix, first.row_axes, f) ||
        !goes_by_rows(c, *first.matrix, first.row_axes, g)) {
      return false;
    }
    return other.row_axes > 0 || std::ranges::all_of(other.members, [&](int m) {
             return goes_by_rows(m, *first.matrix, first.row_axes, -1);
           });
  }

  // Whether an elementwise op can go by rows of the matrix. It also reads results of group g row by
  // row, so a value per row is not taken for one per column.
  bool goes_by_rows(int c, const Shape& matrix, int axes, int g) const {
    const GroupCandidate& candidate = candidates_[c];
    const bool is_matrix = *candidate.shape == matrix;
    if (!is_matrix && !is_per_row(*candidate.shape, matrix, axes)) return false;
    for (OutputRef input : candidate.node->inputs()) {
      auto read = row_read(input.node->output(input.index).shape, *candidate.shape, matrix, axes);
      if (!read) return false;
      bool is_inside = g >= 0 && group_of(input.node) == g;
      if (is_inside && !varies(*read, 0, matrix.rank() - axes)) return false;
    }
    return true;
  }

  // Whether nothing else that c waits for comes after the group.
  bool may_join(int c, int g) const {
    for (const Node* before : candidates_[c].waits_for) {
      const Place& place = places_[number_of_.at(before)];
      if (place.group != g && (closure(place.depends) & groups_[g].bits)) return false;
    }
    return true;
  }

  int new_group() {
    groups_.emplace_back();
    return static_cast<int>(groups_.size()) - 1;
  }

  int open_group() {
    if (free_bits_ == 0) close_oldest();
    uint64_t bit = free_bits_ & -free_bits_;
    free_bits_ &= ~bit;
    int g = new_group();
    groups_[g].bits = bit;
    group_of_bit_[std::countr_zero(bit)] = g;
    open_.push_back(g);
    return g;
  }

  void close_oldest() {
    int g = open_.front();
    open_.erase(open_.begin());
    uint64_t bits = groups_[g].bits, instead = closure(groups_[g].depends) & ~bits;
    for (uint64_t left = bits; left; left &= left - 1) {
      Holders holders = std::exchange(holders_[std::countr_zero(left)], {});
      for (int c : holders.places) {
        const uint64_t depends = places_[c].depends;
        if (depends & bits) set_depends(c, (depends & ~bits) | instead);
      }
      for (int h : holders.groups) {
        const uint64_t depends = groups_[h].depends;
        if (depends & bits) set_depends(groups_[h], h, (depends & ~bits) | instead);
      }
    }
    groups_[g].bits = 0;
    free_bits_ |= bits;
  }

  void set_depends(int c, uint64_t depends) {
    for (uint64_t added = depends & ~places_[c].depends; added; added &= added - 1) {
      holders_[std::countr_zero(added)].places.push_back(c);
    }
    places_[c].depends = depends;
  }
  void set_depends(Group& group, int g, uint64_t depends) {
    for (uint64_t added = depends & ~group.depends; added; added &= added - 1) {
      holders_[std::countr_zero(added)].groups.push_back(g);
    }
    group.depends = depends;
  }

  void merge(int into, int from) {
    Group& a = groups_[into];
    Group& b = groups_[from];
    for (int c : b.members) places_[c].group = into;
    std::vector<int> both;
    std::merge(a.members.begin(), a.members.end(), b.members.begin(), b.members.end(),
               std::back_inserter(both));
    a.members = std::move(both);
    if (b.row_axes > 0) a.matrix = b.matrix;
    a.row_axes = std::max(a.row_axes, b.row_axes);
    a.expression_nodes += b.expression_nodes;
    for (uint64_t bits = b.bits; bits; bits &= bits - 1) {
      group_of_bit_[std::countr_zero(bits)] = into;
    }
    a.bits |= b.bits;
    set_depends(a, into, (a.depends | b.depends) & ~a.bits);
    open_.erase(std::find(open_.begin(), open_.end(), from));
    b = Group();
  }

  void join_group(int c, int g) {
    Group& group = groups_[g];
    uint64_t depends = group.depends;
    for (const Node* before : candidates_[c].waits_for) {
      depends |= places_[number_of_.at(before)].depends;
    }
    set_depends(group, g, depends & ~group.bits);
    group.members.push_back(c);
    if (is_fusable(c)) {
      group.expression_nodes += expression_nodes(candidates_[c]);
      set_depends(c, group.bits);
    }
    places_[c].group = g;
  }

  // Cuts a group where more values would be alive than stay in L1. A first part never waits for a
  // later one, and no other group stands between them, so the parts may be groups of their own. One
  // that goes by rows stays whole: its stages hand rows on in cache, and parts would do so in
  // memory.
  void cut(const Group& group, std::vector<std::vector<Node*>>& result) const {
    std::vector<Node*> part;
    if (group.members.size() == 1 || group.row_axes > 0) {
      for (int m : group.members) part.push_back(candidates_[m].node);
      result.push_back(std::move(part));
      return;
    }
    std::unordered_map<const Node*, size_t> last_reader;
    for (size_t m = 0; m < group.members.size(); ++m) {
      for (OutputRef input : candidates_[group.members[m]].node->inputs()) {
        last_reader[input.node] = m;
      }
    }
    int64_t block = FusionLimits::kBlockElements;
    const Shape& shape = *candidates_[group.members[0]].shape;
    if (shape.is_fully_known()) block = std::min(block, shape.num_elements());
    std::vector<int64_t> ends(group.members.size(), 0);  // bytes whose last reader is a member
    int64_t live = 0;
    for (size_t m = 0; m < group.members.size(); ++m) {
      const GroupCandidate& candidate = candidates_[group.members[m]];
      int64_t bytes = block * static_cast<int64_t>(dtype_size(candidate.body->output()));
      if (live + bytes > FusionLimits::kMaxLiveBytes && !part.empty()) {
        result.push_back(std::move(part));
        part.clear();
        // Values that cross the cut go through memory, as inputs.
        std::fill(ends.begin(), ends.end(), 0);
        live = 0;
      }
      part.push_back(candidate.node);
      live -= ends[m];
      auto reader = last_reader.find(candidate.node);
      if (reader != last_reader.end()) {
        live += bytes;
        ends[reader->second] += bytes;
      }
    }
    result.push_back(std::move(part));
  }

  const std::vector<GroupCandidate>& candidates_;
  std::unordered_map<const Node*, int> number_of_;
  std::vector<Place> places_;
  std::vector<Group> groups_;
  std::vector<int> open_;  // in order of age
  int group_of_bit_[64] = {};
  Holders holders_[64];
  uint64_t free_bits_ = ~uint64_t{0};
};

}  // namespace

std::vector<std::vector<Node*>> group_nodes(const std::vector<GroupCandidate>& candidates) {
  return Grouping(candidates).run();
}

bool is_per_row(const Shape& shape, const Shape& space, int axes) {
  const int rows = space.rank() - axes;
  if (!shape.has_rank() || (shape.rank() != rows && shape.rank() != space.rank())) return false;
  for (int i = 0; i < shape.rank(); ++i) {
    if (!(shape[i] == (i < rows ? space[i] : Dim(1)))) return false;
  }
  return true;
}

std::optional<Read> row_read(const Shape& operand, const Shape& result, const Shape& space,
                             int axes) {
  if (is_one_element(operand)) return Read{Read::Axes(static_cast<size_t>(operand.rank()))};
  const int rows = space.rank() - axes;
  if (!(result == space)) {
    if (!(operand == result)) return std::nullopt;
    return operand.rank() == rows ? Read::of_leading_axes(rows)
                                  : Read::broadcasting(operand, space);
  }
  if (!operand.has_rank() || operand.rank() > space.rank()) return std::nullopt;
  const bool is_row = operand.rank() == space.rank() && is_per_row(operand, space, axes);
  if (operand == space || is_row) return Read::broadcasting(operand, space);
  // The same in all rows: the last axes, and perhaps ones before them.
  const int missing = space.rank() - operand.rank();
  if (missing > rows) return std::nullopt;
  for (int i = 0; i < operand.rank(); ++i) {
    bool is_column = i + missing >= rows;
    if (!(operand[i] == (is_column ? space[i + missing] : Dim(1)))) return std::nullopt;
  }
  return Read::broadcasting(operand, space);
}

}  // namespace graven::engine
