#include "graven/optimize/fused_reads.h"

#include <algorithm>
#include <utility>

#include "graven/ir/fusion.h"
#include "graven/optimize/rewriter.h"
#include "graven/tensor/device_queues.h"

namespace graven::engine {
namespace {

// The steps between neighbours in memory that kernels take along the last axis of a space.
enum class Stride : uint8_t { kNone, kOne, kOther };

Stride stride_along(int index, const Read& read, const Shape& shape) {
  if (!read.varies_with(index)) return Stride::kNone;
  Stride stride = Stride::kNone;
  bool is_innermost = true;  // all axes behind have one element
  for (int k = shape.rank() - 1; k >= 0; --k) {
    const Read::Axis& axis = read.axes[k];
    for (const Read::Term& term : axis.terms) {
      if (term.index != index) continue;
      const bool is_one =
          is_innermost && stride == Stride::kNone && !axis.backwards && term.coefficient == Dim(1);
      stride = is_one ? Stride::kOne : Stride::kOther;
    }
    is_innermost &= shape[k] == Dim(1);
  }
  return stride;
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
  return last >= 0 && stride_along(last, read, shape) == Stride::kOther;
}

bool varies_with_reduced(const FusedReader& reader, const Read& read) {
  return std::ranges::any_of(reader.reduced, [&](int axis) { return read.varies_with(axis); });
}

// Whether the reader can replace its read `outer` by `read`, of another tensor.
bool can_read(const FusedReader& reader, const Read& outer, const Read& read,
              const OutputType& type) {
  if (reader.takes_only_rows) return false;
  // Whether a member has elements along the reduced axes depends on its inputs.
  if (varies_with_reduced(reader, outer) && !varies_with_reduced(reader, read)) return false;
  if (!must_gather(reader, read, type.shape)) return true;
  const int last = reader.space.rank() - 1;
  const bool by_columns = !reader.reduced.empty() && reader.reduced.back() != last;
  const int before = index_before_last(reader);
  if (by_columns || before < 0 || stride_along(before, read, type.shape) != Stride::kOne)
    return false;
  const Dim row = reader.space[last];
  return !row.is_number() || row.number() <= FusionLimits::kMaxGatheredRowBytes /
                                                 static_cast<int64_t>(dtype_size(type.dtype));
}

const OutputType& type_of(OutputRef value) { return value.node->output(value.index); }

}  // namespace

// The movements of the outputs that have readers. All are reads of one input.
std::optional<FusedReads::Movements> FusedReads::movements_to_read(Node* node) const {
  const auto users = users_.find(node);
  if (must_stay_.contains(node) || refused_.contains(node) || users == users_.end() ||
      !node->op().record().reads || !node->control_inputs().empty() || !is_pure(*node)) {
    return std::nullopt;
  }
  Movements movements;
  movements.of_output.resize(static_cast<size_t>(node->num_outputs()));
  for (const Node* user : users->second) {
    for (OutputRef input : user->inputs()) {
      if (input.node != node) continue;
      auto& movement = movements.of_output[input.index];
      if (movement) continue;
      movement = node->output(input.index).is_promised ? std::nullopt
                                                       : movement_of(*node, input.index, graph_);
      if (!movement || !movement->is_one_read()) return std::nullopt;
      const int from = movement->pieces[0].input;
      if (movements.input >= 0 && movements.input != from) return std::nullopt;
      movements.input = from;
    }
  }
  return movements;
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
    if (auto movements = movements_to_read(nodes[i])) {
      auto chosen = chosen_of(nodes[i], std::move(*movements));
      if (chosen) chosen_.emplace(nodes[i], std::move(*chosen));
    }
  }
  drop_unreadable(nodes);
}

// The reads of the node's input by all readers of its outputs, perhaps through further movements;
// none if one of them would not be a read.
std::optional<FusedReads::Chosen> FusedReads::chosen_of(Node* node, Movements movements) const {
  Chosen chosen;
  chosen.is_readable = true;
  const OutputType& from = type_of(node->inputs()[movements.input]);
  for (int i = 0; i < node->num_outputs(); ++i) {
    const auto& movement = movements.of_output[static_cast<size_t>(i)];
    if (movement && !add_uses({node, i}, movement->pieces[0].read, from, chosen)) {
      return std::nullopt;
    }
  }
  chosen.movements = std::move(movements);
  return chosen;
}

// Adds how an output is read of a tensor of type `from`, of which it is the read `inner`.
bool FusedReads::add_uses(OutputRef value, const Read& inner, const OutputType& from,
                          Chosen& chosen) const {
  const DimArithmetic dims(&graph_.symbols());
  int gatherer = -1;
  auto add = [&](const FusedReader& reader, const Read& outer) {
    auto read = compose(outer, type_of(value).shape, inner, from.shape, dims);
    if (!read) return false;
    chosen.is_readable &= can_read(reader, outer, *read, from);
    if (must_gather(reader, *read, from.shape)) {
      chosen.is_readable &= gatherer < 0 || gatherer == reader.group;
      gatherer = reader.group;
    }
    chosen.uses.push_back({reader, std::move(*read)});
    return true;
  };
  for (const Node* user : users_.at(value.node)) {
    const auto inputs = user->inputs();
    if (std::ranges::count(inputs, value) == 0) continue;
    const bool is_elsewhere =
        has_other_devices() && Device::find(user->device()) != Device::find(value.node->device());
    if (is_elsewhere) return false;
    if (auto through = chosen_.find(user); through != chosen_.end()) {
      // It may need the value elsewhere than where it reads it: as a shape.
      const bool is_moved = inputs[through->second.movements.input] == value;
      if (!is_moved || std::ranges::count(inputs, value) > 1) return false;
      for (const Use& use : through->second.uses) {
        if (!add(use.reader, use.read)) return false;
      }
      continue;
    }
    auto reader = reader_(*user);
    auto outer = reader ? read_(*user, value) : std::nullopt;
    if (!outer || !add(*reader, *outer)) return false;
  }
  return true;
}

// A movement that kernels cannot read through runs, and they read through the movements behind it.
// A view costs nothing, so it is read through only together with a movement behind it.
void FusedReads::drop_unreadable(std::span<Node* const> nodes) {
  for (Node* node : nodes) {
    auto chosen = chosen_.find(node);
    if (chosen == chosen_.end()) continue;
    if (chosen_.contains(node->inputs()[chosen->second.movements.input].node)) continue;
    const bool is_lone_view =
        node->op().record().view_of >= 0 &&
        std::ranges::none_of(users_.at(node), [&](Node* user) { return chosen_.contains(user); });
    if (is_lone_view || !chosen->second.is_readable) chosen_.erase(chosen);
  }
}

FusedReads::Source FusedReads::source_of(OutputRef value, Read read) const {
  const DimArithmetic dims(&graph_.symbols());
  for (auto at = chosen_.find(value.node); at != chosen_.end(); at = chosen_.find(value.node)) {
    const Movements& movements = at->second.movements;
    const Movement& movement = *movements.of_output[static_cast<size_t>(value.index)];
    const OutputRef from = value.node->inputs()[movements.input];
    // It was composed before, when the movement was chosen.
    read = *compose(read, type_of(value).shape, movement.pieces[0].read, type_of(from).shape, dims);
    value = from;
  }
  return {value, std::move(read)};
}

}  // namespace graven::engine
