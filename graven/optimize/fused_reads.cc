#include "graven/optimize/fused_reads.h"

#include <algorithm>
#include <utility>

#include "graven/ir/fusion.h"
#include "graven/optimize/rewriter.h"
#include "graven/tensor/device_queues.h"

namespace graven::engine {
namespace {

// The steps between neighbours in memory that kernels take along the last axis of a space.
enum class Step : uint8_t { kNone, kOne, kOther };

Step step_along(int index, const Read& read, const Shape& shape) {
  if (!read.varies_with(index)) return Step::kNone;
  Step step = Step::kNone;
  bool is_innermost = true;  // all axes behind have one element
  for (int k = shape.rank() - 1; k >= 0; --k) {
    const Read::Axis& axis = read.axes[k];
    for (const Read::Term& term : axis.terms) {
      if (term.index != index) continue;
      const bool is_one =
          is_innermost && step == Step::kNone && !axis.backwards && term.coefficient == Dim(1);
      step = is_one ? Step::kOne : Step::kOther;
    }
    is_innermost &= shape[k] == Dim(1);
  }
  return step;
}

// The index outside of the last one in the order in which elements are computed: kept axes come
// before reduced ones. -1: none.
int index_before_last(const FusedReader& reader) {
  std::vector<int> order;
  for (const bool reduced : {false, true}) {
    for (int i = 0; i < reader.space.rank(); ++i) {
      if ((std::ranges::count(reader.reduced, i) > 0) == reduced) order.push_back(i);
    }
  }
  return order.size() < 2 ? -1 : order[order.size() - 2];
}

// Whether it takes a few rows to be gathered together.
bool must_gather(const FusedReader& reader, const Read& read, const Shape& shape) {
  const int last = reader.space.rank() - 1;
  return last >= 0 && step_along(last, read, shape) == Step::kOther;
}

bool varies_with_reduced(const FusedReader& reader, const Read& read) {
  return std::ranges::any_of(reader.reduced, [&](int axis) { return read.varies_with(axis); });
}

// Whether what was read at `outer` may be read at `read`, of another tensor.
bool can_read(const FusedReader& reader, const Read& outer, const Read& read,
              const OutputType& type) {
  if (reader.takes_only_rows) return false;
  // A member is reduced, or has elements along the reduced axes, by what its inputs are.
  if (varies_with_reduced(reader, outer) && !varies_with_reduced(reader, read)) return false;
  if (!must_gather(reader, read, type.shape)) return true;
  const int last = reader.space.rank() - 1;
  const bool by_columns = !reader.reduced.empty() && reader.reduced.back() != last;
  const int before = index_before_last(reader);
  if (by_columns || before < 0 || step_along(before, read, type.shape) != Step::kOne) return false;
  const Dim row = reader.space[last];
  return !row.is_number() || row.number() <= FusionLimits::kMaxGatheredRowBytes /
                                                 static_cast<int64_t>(dtype_size(type.dtype));
}

const OutputType& type_of(OutputRef value) { return value.node->output(value.index); }

}  // namespace

std::optional<Movement> FusedReads::movement_to_read(Node* node) const {
  if (must_stay_.contains(node) || refused_.contains(node) || node->num_outputs() != 1 ||
      node->output(0).is_promised || !is_pure(*node)) {
    return std::nullopt;
  }
  auto movement = movement_of(*node, graph_);
  if (!movement || !movement->is_one_read()) return std::nullopt;
  return movement;
}

void FusedReads::choose(std::span<Node* const> nodes) {
  chosen_.clear();
  users_.clear();
  must_stay_.clear();
  for (Node* node : graph_.inputs()) must_stay_[node] = true;
  for (OutputRef output : graph_.outputs()) must_stay_[output.node] = true;
  for (Node* node : graph_.control_outputs()) must_stay_[node] = true;
  for (Node* node : nodes) {
    for (OutputRef input : node->inputs()) {
      auto& users = users_[input.node];
      if (users.empty() || users.back() != node) users.push_back(node);
    }
    for (Node* before : node->control_inputs()) must_stay_[before] = true;
  }
  for (size_t i = nodes.size(); i-- > 0;) {
    if (auto movement = movement_to_read(nodes[i])) {
      auto chosen = chosen_of(nodes[i], std::move(*movement));
      if (chosen) chosen_.emplace(nodes[i], std::move(*chosen));
    }
  }
  drop_unreadable(nodes);
}

// How all that read the node's output, perhaps through further movements, would read what it moves;
// none if that is no read for one of them.
std::optional<FusedReads::Chosen> FusedReads::chosen_of(Node* node, Movement movement) const {
  const auto users = users_.find(node);
  if (users == users_.end() || !node->control_inputs().empty()) return std::nullopt;
  const OutputRef value{node, 0};
  const Movement::Piece& piece = movement.pieces[0];
  const OutputType& type = type_of(node->inputs()[piece.input]);
  const DimArithmetic dims(&graph_.symbols());
  Chosen chosen;
  chosen.is_readable = true;
  int gatherer = -1;
  auto add = [&](const FusedReader& reader, const Read& outer) {
    auto read = compose(outer, type_of(value).shape, piece.read, type.shape, dims);
    if (!read) return false;
    chosen.is_readable &= can_read(reader, outer, *read, type);
    if (must_gather(reader, *read, type.shape)) {
      chosen.is_readable &= gatherer < 0 || gatherer == reader.group;
      gatherer = reader.group;
    }
    chosen.uses.push_back({reader, std::move(*read)});
    return true;
  };
  for (const Node* user : users->second) {
    const bool is_elsewhere =
        has_other_devices() && Device::find(user->device()) != Device::find(node->device());
    if (is_elsewhere) return std::nullopt;
    if (auto through = chosen_.find(user); through != chosen_.end()) {
      // It may need the value elsewhere than where it reads it: as a shape.
      const int moved = through->second.movement.pieces[0].input;
      for (int i = 0; i < static_cast<int>(user->inputs().size()); ++i) {
        if (user->inputs()[i] == value && i != moved) return std::nullopt;
      }
      for (const Use& use : through->second.uses) {
        if (!add(use.reader, use.read)) return std::nullopt;
      }
      continue;
    }
    auto reader = reader_(*user);
    auto outer = reader ? read_(*user, value) : std::nullopt;
    if (!outer || !add(*reader, *outer)) return std::nullopt;
  }
  chosen.movement = std::move(movement);
  return chosen;
}

// What kernels cannot read is moved first, and they read the rest of the way through. A view costs
// nothing: only what lies behind it is worth reading through it.
void FusedReads::drop_unreadable(std::span<Node* const> nodes) {
  for (Node* node : nodes) {
    auto chosen = chosen_.find(node);
    if (chosen == chosen_.end()) continue;
    const int moved = chosen->second.movement.pieces[0].input;
    if (chosen_.contains(node->inputs()[moved].node)) continue;
    const bool is_lone_view =
        node->op().record().view_of >= 0 &&
        std::ranges::none_of(users_.at(node), [&](Node* user) { return chosen_.contains(user); });
    if (is_lone_view || !chosen->second.is_readable) chosen_.erase(chosen);
  }
}

FusedReads::Source FusedReads::source_of(OutputRef value, Read read) const {
  const DimArithmetic dims(&graph_.symbols());
  for (auto at = chosen_.find(value.node); at != chosen_.end(); at = chosen_.find(value.node)) {
    const Movement::Piece& piece = at->second.movement.pieces[0];
    const OutputRef from = value.node->inputs()[piece.input];
    // It was composed before, when the movement was chosen.
    read = *compose(read, type_of(value).shape, piece.read, type_of(from).shape, dims);
    value = from;
  }
  return {value, std::move(read)};
}

}  // namespace graven::engine
