// 1. For each node: the nodes that it waits for, and whether it may share a kernel.
// 2. Groups (group_nodes.h); then a reduction that is the only user of a group takes it in,
//    reductions over the same axes of one matrix become one group, and a group that is the only
//    user of a matrix product or a convolution takes that in.
// 3. Movements that need not run, because groups read through them (fused_reads.h).
// 4. Groups and other nodes are put into an order, as close to the graph's as groups allow.
// 5. Each group of several nodes, or that reads through a movement, becomes a Fusion.
#include "graven/optimize/fuse.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graven/base/strings.h"
#include "graven/ir/cost.h"
#include "graven/ir/fusion.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/structural_ops.h"
#include "graven/optimize/fused_reads.h"
#include "graven/optimize/fusion_groups.h"
#include "graven/optimize/join_reductions.h"
#include "graven/optimize/library_groups.h"
#include "graven/optimize/rewriter.h"
#include "graven/tensor/device_queues.h"

namespace graven::engine {
namespace {

const OutputType& type_of(OutputRef value) { return value.node->output(value.index); }

// The Dims of a graph as those of a Fusion: symbols in the order of their first appearance.
class SymbolNumbers {
 public:
  Dim number(Dim dim) {
    if (!dim.is_term()) return dim;
    auto at = std::ranges::find(seen_, dim);
    if (at == seen_.end()) at = seen_.insert(at, dim);
    return Dim::term(at - seen_.begin());
  }
  Shape number(const Shape& shape) {
    Shape numbered;
    for (Dim dim : shape.dims()) numbered.push_back(number(dim));
    return numbered;
  }
  Read number(Read read) {
    for (Read::Axis& axis : read.axes) {
      axis.offset = number(axis.offset);
      for (Read::Term& term : axis.terms) term.coefficient = number(term.coefficient);
    }
    return read;
  }

 private:
  std::vector<Dim> seen_;
};

class Fuser {
 public:
  explicit Fuser(Graph& graph) : graph_(graph), rewriter_(graph), readers_(graph), all_(graph) {}

  Result<bool> run() {
    RETURN_IF_ERROR(describe());
    all_.groups = group_nodes(all_.candidates);
    all_.number();
    append_reductions();
    join_reductions(all_);
    take_in_libraries();
    split_unsolvable();
    find_readers();
    choose_reads();
    RETURN_IF_ERROR(order_groups());
    for (const Group& group : all_.groups) {
      if (group.size() == 1 && !reads_through(group[0])) {
        rewriter_.visit(group[0]);
        if (reads_.is_chosen(group[0])) rewriter_.remove(group[0]);
      } else {
        RETURN_IF_ERROR(make_fusion(group));
      }
    }
    return rewriter_.finish();
  }

 private:
  using Group = FusionGroups::Group;
  using Info = FusionGroups::Info;
  Info& info(const Node* node) { return all_.info(node); }

  Status describe() {
    for (Node* node : rewriter_.nodes()) {
      if (rewriter_.is_input(node)) continue;
      info(node).position = static_cast<int>(all_.candidates.size());
      GroupCandidate candidate;
      candidate.node = node;
      if (has_other_devices()) candidate.device = Device::find(node->device());
      auto wait_for = [&](const Node* before) {
        auto& all = candidate.waits_for;
        if (!rewriter_.is_input(before) && std::ranges::count(all, before) == 0) {
          all.push_back(before);
        }
      };
      for (OutputRef input : node->inputs()) wait_for(input.node);
      for (const Node* before : node->control_inputs()) wait_for(before);
      if (node->num_outputs() == 1 && !node->inputs().empty() && !node->output(0).is_promised) {
        RETURN_IF_ERROR(describe_elementwise(node));
        RETURN_IF_ERROR(describe_reduction(node));
        RETURN_IF_ERROR(describe_rows(node));
      }
      const Info& about = info(node);
      if (about.is_elementwise || about.goes_by_rows) {
        candidate.body = about.body.get();
        candidate.shape = &node->output(0).shape;
        candidate.stays_alone = about.is_elementwise && is_link_of_products(*node);
      }
      if (about.goes_by_rows) {
        candidate.reduced_axes = static_cast<int>(about.axes.size());
        candidate.reduced = about.reduced;
      }
      all_.candidates.push_back(std::move(candidate));
    }
    return {};
  }

  // Whether a node stands between two products: both are to take in what they alone are read by,
  // so that neither need be stored.
  bool is_link_of_products(const Node& node) const {
    const Node* reader = readers_.of(&node);
    return reader && has_own_product(node, nullptr) && has_own_product(*reader, &node) &&
           body_kind(reader) == OpBody::Kind::kElementwise &&
           reader->output(0).shape == node.output(0).shape;
  }

  bool has_own_product(const Node& node, const Node* besides) const {
    return std::ranges::any_of(node.inputs(), [&](OutputRef input) {
      return input.node != besides && readers_.is_own_product(input, node);
    });
  }

  // Whether a shape broadcasts to another whatever their symbols are.
  static bool surely_broadcasts(const Shape& shape, const Shape& space) {
    auto read = Read::broadcasting(shape, space);
    return read && std::ranges::none_of(read->axes, &Read::Axis::broadcasts);
  }

  static OpBody::Kind body_kind(const Node* node) {
    return node->op().record().body.kind_for(type_of(node->inputs().back()).dtype, node->attrs());
  }

  Status describe_elementwise(Node* node) {
    const Shape& shape = node->output(0).shape;
    if (body_kind(node) != OpBody::Kind::kElementwise || !is_definite(shape) ||
        shape.rank() > FusionLimits::kMaxRank || !is_pure(*node)) {
      return {};
    }
    InlineVector<DType, 4> dtypes;
    bool are_definite = true, surely_broadcast = true, are_known = shape.is_fully_known();
    for (OutputRef input : node->inputs()) {
      const OutputType& type = type_of(input);
      dtypes.push_back(type.dtype);
      are_definite &= is_definite(type.shape);
      surely_broadcast &= surely_broadcasts(type.shape, shape);
      are_known &= type.shape.is_fully_known();
    }
    if (!are_definite) return {};
    Info& about = info(node);
    ASSIGN_OR_RETURN(about.body,
                     RecordedBody::get(node->op(), node->attrs(), dtypes, node->output(0).dtype));
    // Only then is the shape of the result the broadcast of the inputs' for certain.
    const bool follows = about.body->broadcasts() || surely_broadcast || are_known;
    about.is_elementwise = follows;
    return {};
  }

  Status describe_reduction(Node* node) {
    if (body_kind(node) != OpBody::Kind::kReduction) return {};
    const OutputRef x = node->inputs()[0];
    const Shape &shape = type_of(x).shape, &result = node->output(0).shape;
    if (!is_definite(shape) || !is_definite(result) || shape.rank() > FusionLimits::kMaxRank) {
      return {};
    }
    auto axes = axes_of(node, shape.rank());
    // Over no axes, each element is its own result: nothing that a Fusion's reductions do.
    if (!axes || axes->empty()) return {};
    Info& about = info(node);
    about.reduced = &shape;
    about.axes = std::move(*axes);
    const DType x_dtype = type_of(x).dtype;
    ASSIGN_OR_RETURN(about.body, RecordedBody::get(node->op(), node->attrs(), {&x_dtype, 1},
                                                   node->output(0).dtype));
    about.is_reduction = true;
    const int count = static_cast<int>(about.axes.size());
    about.goes_by_rows = about.axes[0] == shape.rank() - count && are_good_rows(shape, count) &&
                         is_per_row(result, shape, count);
    return {};
  }

  // The axes that a reduction reduces, ascending; none if they are not known.
  std::optional<std::vector<int>> axes_of(const Node* node, int rank) {
    std::vector<int> all(static_cast<size_t>(rank));
    std::iota(all.begin(), all.end(), 0);
    if (node->inputs().size() == 1) return all;
    const Node* axes = node->inputs()[1].node;
    if (&axes->op() != kConst.op || rewriter_.is_input(axes)) return std::nullopt;
    auto reduced = normalized_axes(axes->attrs().as<ConstAttrs>().value, rank);
    if (!reduced.ok()) return std::nullopt;
    std::vector<int> ascending(reduced->begin(), reduced->end());
    std::ranges::sort(ascending);
    return ascending;
  }

  // A body over rows, which have the shape of the result.
  Status describe_rows(Node* node) {
    const Shape& shape = node->output(0).shape;
    if (body_kind(node) != OpBody::Kind::kRows || !is_definite(shape) || shape.rank() == 0 ||
        shape.rank() > FusionLimits::kMaxRank || !are_good_rows(shape, 1)) {
      return {};
    }
    InlineVector<DType, 4> dtypes;
    for (OutputRef input : node->inputs()) {
      if (!(type_of(input).shape == shape)) return {};
      dtypes.push_back(type_of(input).dtype);
    }
    Info& about = info(node);
    about.reduced = &shape;
    about.axes = {shape.rank() - 1};
    about.goes_by_rows = true;
    ASSIGN_OR_RETURN(about.body,
                     RecordedBody::get(node->op(), node->attrs(), dtypes, node->output(0).dtype));
    return {};
  }

  // Rows are worth it if there may be many of them, each of which fits a cache.
  static bool are_good_rows(const Shape& shape, int axes) {
    const int rows = shape.rank() - axes;
    auto product = [&](int begin, int end) {
      double n = 1;
      for (int i = begin; i < end; ++i) {
        if (!shape[i].is_number()) return guessed_size(Dim::unknown());
        n *= static_cast<double>(shape[i].number());
      }
      return n;
    };
    const double columns = product(rows, shape.rank());
    return product(0, rows) > 1 && columns > 1 && columns <= FusionLimits::kMaxRow;
  }

  bool goes_by_rows(const Group& group) {
    return group.size() > 1 && !info(group.back()).is_appended &&
           std::ranges::any_of(group, [&](Node* node) { return info(node).goes_by_rows; });
  }

  // A reduction that is the only user of a group takes the group in, so that the values it reduces
  // are never stored. No other node waits for the group, so this makes no circle.
  void append_reductions() {
    std::vector<int> user = users_of_groups();
    for (size_t g = 0; g < all_.groups.size(); ++g) {
      if (all_.groups[g].size() != 1 || !info(all_.groups[g][0]).is_reduction) continue;
      Node* reduction = all_.groups[g][0];
      const OutputRef x = reduction->inputs()[0];
      if (rewriter_.is_input(x.node) || !info(x.node).is_elementwise) continue;
      const int from = info(x.node).group;
      const bool axes_from_it =
          reduction->inputs().size() > 1 && info(reduction->inputs()[1].node).group == from;
      if (user[from] != static_cast<int>(g) || axes_from_it) continue;
      if (all_.device_of(reduction) != all_.device_of(x.node)) continue;
      const bool is_elementwise = std::ranges::all_of(
          all_.groups[from], [&](Node* node) { return info(node).is_elementwise; });
      if (!is_elementwise) continue;
      all_.groups[from].push_back(reduction);
      all_.groups[g].clear();
      info(reduction).is_appended = true;
      info(reduction).group = from;
      user[from] = user[g];
    }
    all_.number();
  }

  // A group of elementwise members that alone reads a matrix product or a convolution of its shape
  // takes it in: of several the last one. Nothing else waits for that, so no circle can come of it.
  void take_in_libraries() {
    const std::vector<int> user = users_of_groups();
    for (size_t g = all_.groups.size(); g-- > 0;) {
      if (all_.groups[g].size() != 1 || user[g] < 0) continue;
      Node* node = all_.groups[g][0];
      Group& reader = all_.groups[static_cast<size_t>(user[g])];
      if (!can_be_library_member(*node) || !reads(reader, node) ||
          all_.device_of(node) != all_.device_of(reader.front()))
        continue;
      const bool is_elementwise =
          std::ranges::all_of(reader, [&](Node* member) { return info(member).is_elementwise; });
      if (!is_elementwise || !(space_of(reader) == node->output(0).shape)) continue;
      info(node).is_library = true;
      reader.insert(reader.begin(), node);
      all_.groups[g].clear();
    }
    all_.number();
  }

  static bool reads(const Group& group, const Node* node) {
    return std::ranges::any_of(group, [&](const Node* member) {
      return std::ranges::any_of(member->inputs(),
                                 [&](OutputRef input) { return input.node == node; });
    });
  }

  // For each group the one group that waits for it; negative if there is none, or several, or if
  // its result is returned.
  std::vector<int> users_of_groups() {
    constexpr int kSeveral = -2;
    std::vector<int> user(all_.groups.size(), -1);
    for (const GroupCandidate& candidate : all_.candidates) {
      const int g = info(candidate.node).group;
      for (const Node* before : candidate.waits_for) {
        const int from = info(before).group;
        if (from == g) continue;
        user[from] = user[from] == -1 || user[from] == g ? g : kSeveral;
      }
    }
    auto returned = [&](const Node* node) {
      if (!rewriter_.is_input(node)) user[info(node).group] = kSeveral;
    };
    for (OutputRef output : graph_.outputs()) returned(output.node);
    for (const Node* node : graph_.control_outputs()) returned(node);
    return user;
  }

  const Shape& space_of(const Group& group) {
    for (const Node* node : group) {
      if (info(node).reduced) return *info(node).reduced;
    }
    return group.back()->output(0).shape;
  }

  // The Dims that an input tells by its shape.
  static void tell(const Shape& shape, const Shape& space, std::vector<Dim>& told) {
    told.insert(told.end(), shape.dims().begin(), shape.dims().end());
    // Inputs that broadcast to a size of the space give that size too.
    const int missing = space.rank() - shape.rank();
    for (int i = 0; i < shape.rank() && missing >= 0; ++i) {
      if (!(shape[i] == Dim(1))) told.push_back(space[i + missing]);
    }
  }

  // The kernel computes the sizes of its space from the shapes of its inputs. If no input has a
  // size, the nodes stay apart.
  void split_unsolvable() {
    for (size_t g = 0, num_groups = all_.groups.size(); g < num_groups; ++g) {
      if (all_.groups[g].size() == 1) continue;
      if (info(all_.groups[g][0]).is_library) continue;  // its result has these sizes
      const Shape& space = space_of(all_.groups[g]);
      std::vector<Dim> told;
      for (const Node* node : all_.groups[g]) {
        for (OutputRef input : node->inputs()) {
          const Shape& shape = type_of(input).shape;
          if (!rewriter_.is_input(input.node) && info(input.node).group == info(node).group) {
            continue;
          }
          tell(shape, space, told);
        }
      }
      const bool is_solvable = std::ranges::all_of(space.dims(), [&](Dim dim) {
        return dim.is_number() || std::ranges::count(told, dim) > 0;
      });
      if (is_solvable) continue;
      for (size_t i = 1; i < all_.groups[g].size(); ++i) all_.groups.push_back({all_.groups[g][i]});
      all_.groups[g].resize(1);
    }
    all_.number();
  }

  // The reader that a node is part of: its group's kernel. A node on its own counts if its kernel
  // could take such reads.
  std::optional<FusedReader> reader_of(const Node& node) {
    if (rewriter_.is_input(&node)) return std::nullopt;
    const Info& about = info(&node);
    const Group& group = all_.groups[about.group];
    // Panels of a library member are computed as they lie.
    const bool has_library =
        std::ranges::any_of(group, [&](Node* member) { return info(member).is_library; });
    if (has_library) return std::nullopt;
    if (group.size() == 1 && !about.is_elementwise && !about.is_reduction) {
      return std::nullopt;
    }
    FusedReader reader{about.group, space_of(group), {}, false};
    for (const Node* member : group) {
      if (info(member).reduced) reader.reduced = info(member).axes;
    }
    reader.takes_only_rows = goes_by_rows(group) && !is_reduced_chain(group);
    return reader;
  }

  // The group ends in one reduction, its only output: it may read its operand in any way.
  bool is_reduced_chain(const Group& group) {
    for (const Node* node : group) {
      const Info& about = info(node);
      const bool is_last = node == group.back();
      if (is_last ? !about.is_reduction : !about.is_elementwise || about.is_read) return false;
    }
    // A member with a value for each row only would go by rows.
    return std::ranges::all_of(group, [&](Node* node) {
      return info(node).is_reduction || node->output(0).shape == space_of(group);
    });
  }

  std::optional<Read> read_in_group(const Node& node, OutputRef value) {
    const Group& group = all_.groups[info(&node).group];
    const Shape &space = space_of(group), &shape = type_of(value).shape;
    const size_t num_read = info(&node).is_reduction ? 1 : node.inputs().size();
    for (size_t i = num_read; i < node.inputs().size(); ++i) {
      if (node.inputs()[i] == value) return std::nullopt;
    }
    if (!goes_by_rows(group) || info(&node).reduced) return Read::broadcasting(shape, space);
    int reduced = 0;
    for (const Node* member : group) {
      if (info(member).reduced) reduced = static_cast<int>(info(member).axes.size());
    }
    return row_read(shape, node.output(0).shape, space, reduced);
  }

  // Sizes of the space, and offsets of reads, must follow from the inputs that are read then.
  void choose_reads() {
    for (bool all_solvable = false; !all_solvable;) {
      reads_.choose(rewriter_.nodes());
      all_solvable = true;
      for (const Group& group : all_.groups) {
        std::vector<const Node*> through;
        const bool is_usual =
            std::ranges::none_of(group, [&](Node* node) { return reads_through(node); });
        if (is_usual || is_solvable_through(group, through)) continue;
        all_solvable = false;
        for (const Node* movement : through) reads_.refuse(movement);
      }
    }
  }

  // Fills in the movements whose outputs the group would read.
  bool is_solvable_through(const Group& group, std::vector<const Node*>& through) {
    // told: sizes of inputs, and sizes that inputs broadcast to if all those inputs are read as
    // they broadcast. untold: sizes for which some are read otherwise.
    std::vector<Dim> told, broadcast, untold;
    std::vector<Dim> asked, cut;
    auto ask = [&](std::span<const Dim> dims) {
      asked.insert(asked.end(), dims.begin(), dims.end());
    };
    bool all_fit = true;
    const Shape& space = space_of(group);
    ask(space.dims());
    for (Node* node : group) {
      const size_t num_read = info(node).is_reduction ? 1 : node->inputs().size();
      for (size_t i = 0; i < num_read; ++i) {
        const OutputRef value = node->inputs()[i];
        if (std::ranges::count(group, value.node) > 0) continue;
        auto read = reads_.is_chosen(value.node) ? read_in_group(*node, value) : std::nullopt;
        if (!read) {
          const auto dims = type_of(value).shape.dims();
          told.insert(told.end(), dims.begin(), dims.end());
          tell(type_of(value).shape, space, broadcast);
          continue;
        }
        through.push_back(value.node);
        const Read as_moved = *read;
        const FusedReads::Source source = reads_.source_of(value, std::move(*read));
        all_fit &= tells_sizes(type_of(value).shape, as_moved, source.read, space, untold);
        const auto dims = type_of(source.from).shape.dims();
        told.insert(told.end(), dims.begin(), dims.end());
        for (const Read::Axis& axis : source.read.axes) {
          ask({&axis.offset, 1});
          for (const Read::Term& term : axis.terms) {
            ask({&term.coefficient, 1});
            cut.push_back(space[term.index]);
          }
          if (axis.broadcasts) broadcast.push_back(space[axis.terms[0].index]);
        }
      }
    }
    for (Dim dim : broadcast) {
      if (std::ranges::count(untold, dim) == 0) told.push_back(dim);
    }
    // The step computes sizes that only outputs have from told ones. Elements that do not vary with
    // an index may have been filled, with a size that may be negative: their op refuses that.
    const bool gives_space = std::ranges::none_of(
        group, [&](Node* node) { return info(node).reduced || info(node).is_reduction; });
    return all_fit && std::ranges::all_of(asked, [&](Dim dim) {
             return dim.is_number() || std::ranges::count(told, dim) > 0 ||
                    (gives_space && std::ranges::count(cut, dim) > 0 && follows_from(told, dim));
           });
  }

  // A group that reads `read` of a source, instead of `as_moved` of a value of this shape, may no
  // longer see the value's sizes. Notes the sizes of the space that are lost; other inputs must
  // have them then. False if a size that only might broadcast is lost: no input would tell whether
  // it does, and to what.
  static bool tells_sizes(const Shape& shape, const Read& as_moved, const Read& read,
                          const Shape& space, std::vector<Dim>& untold) {
    for (int k = 0; k < shape.rank(); ++k) {
      const Read::Axis& axis = as_moved.axes[k];
      if (shape[k].is_number() || axis.terms.empty()) continue;
      const int index = axis.terms[0].index;
      const bool is_kept = std::ranges::any_of(read.axes, [&](const Read::Axis& other) {
        return other.broadcasts && other.terms[0].index == index;
      });
      if (is_kept) continue;
      if (axis.broadcasts) return false;
      untold.push_back(space[index]);
    }
    return true;
  }

  // Whether a size can be computed from the told ones.
  bool follows_from(const std::vector<Dim>& told, Dim dim) {
    SymbolTable found;
    return !found
                .substitute(graph_.symbols(), dim,
                            [&](int64_t symbol) {
                              const bool is_told =
                                  std::ranges::count(told, graph_.symbols().dim_of(symbol)) > 0;
                              return is_told ? found.new_symbol("") : Dim::unknown();
                            })
                .is_unknown();
  }

  bool reads_through(const Node* node) {
    return std::ranges::any_of(node->inputs(), [&](OutputRef input) {
      return reads_.is_chosen(input.node) && !reads_.is_chosen(node);
    });
  }

  void find_readers() {
    for (const GroupCandidate& candidate : all_.candidates) {
      for (OutputRef input : candidate.node->inputs()) {
        if (rewriter_.is_input(input.node)) continue;
        Info& from = info(input.node);
        from.is_read |= from.group != info(candidate.node).group;
      }
    }
    for (OutputRef output : graph_.outputs()) info(output.node).is_read = true;
  }

  Status order_groups() {
    std::vector<Group> ordered;
    const size_t num_visited = all_.visit_in_order(
        [&](int g, std::span<const int>) { ordered.push_back(all_.groups[g]); });
    if (num_visited != all_.groups.size()) {
      return internal_error("The groups of '", graph_.name(), "' wait for each other");
    }
    all_.groups = std::move(ordered);
    all_.number();
    for (Node* node : rewriter_.nodes()) {
      if (rewriter_.is_input(node)) rewriter_.visit(node);
    }
    return {};
  }

  // The bits of a constant that is one integer.
  std::optional<uint64_t> known_integer(OutputRef value) {
    if (&value.node->op() != kConst.op || rewriter_.is_input(value.node)) return std::nullopt;
    const Tensor& constant = value.node->attrs().as<ConstAttrs>().value;
    if (!is_integer(constant.dtype()) || constant.num_elements() != 1) return std::nullopt;
    uint64_t bits = 0;
    std::memcpy(&bits, constant.raw_data(), dtype_size(constant.dtype()));
    return bits;
  }

  Status make_fusion(const Group& group) {
    const Node* last = group.back();
    const Shape& space = space_of(group);
    const bool by_rows = goes_by_rows(group);
    SymbolNumbers symbols;
    FusionParts parts;
    parts.space = symbols.number(space);
    for (const Node* node : group) {
      if (info(node).reduced) parts.reduced = info(node).axes;
    }
    std::vector<OutputRef> inputs;
    std::vector<Node*> controls;
    std::unordered_map<const Node*, int> number_of;
    for (Node* node : group) {
      rewriter_.visit(node);
      FusionParts::Member member{&node->op(), Attrs(node->attrs()), node->output(0).dtype, {}};
      const size_t num_read = info(node).is_reduction ? 1 : node->inputs().size();
      for (size_t i = 0; i < num_read; ++i) {
        OutputRef from = node->inputs()[i];
        if (auto at = number_of.find(from.node); at != number_of.end()) {
          member.sources.push_back({at->second, 0});
          continue;
        }
        const bool whole = info(node).is_library;
        auto read = whole ? Read()
                    : by_rows && !info(node).reduced
                        ? row_read(type_of(from).shape, node->output(0).shape, space,
                                   static_cast<int>(parts.reduced.size()))
                        : Read::broadcasting(type_of(from).shape, space);
        if (!read) {
          return internal_error("'", node->name(), "' cannot read '", from.node->name(),
                                "' in its group");
        }
        FusedReads::Source source = reads_.source_of(from, std::move(*read));
        from = source.from;
        const OutputType& type = type_of(from);
        // A tensor may be one value per row here and one per column there.
        size_t at = 0;
        while (at < inputs.size() && !(inputs[at] == from && parts.inputs[at].whole == whole &&
                                       parts.inputs[at].read == source.read)) {
          ++at;
        }
        if (at == inputs.size()) {
          inputs.push_back(from);
          const Shape shape = symbols.number(type.shape);
          parts.inputs.push_back({type.dtype, shape, symbols.number(std::move(source.read)),
                                  whole ? std::nullopt : known_integer(from), whole});
        }
        member.sources.push_back({-1, static_cast<int>(at)});
      }
      for (Node* before : node->control_inputs()) {
        const bool is_inside = number_of.contains(before);
        if (!is_inside && std::ranges::count(controls, before) == 0) controls.push_back(before);
      }
      number_of.emplace(node, static_cast<int>(parts.members.size()));
      if (info(node).is_read) parts.outputs.push_back(static_cast<int>(parts.members.size()));
      parts.members.push_back(std::move(member));
      parts.origins.push_back({node->name(), node->location()});
      rewriter_.remove(node);
    }
    // Other nodes wait for the members, but none reads them.
    if (parts.outputs.empty()) parts.outputs.push_back(static_cast<int>(group.size()) - 1);

    FusionAttrs attrs;
    for (const FusionParts::Input& input : parts.inputs) attrs.Tin.push_back(input.dtype);
    std::vector<OutputType> outputs;
    for (int output : parts.outputs) {
      const OutputType& type = group[output]->output(0);
      attrs.Tout.push_back(type.dtype);
      outputs.push_back({type.dtype, type.shape, false, nullptr, nullptr});
    }
    const std::vector<int> members = parts.outputs;
    ASSIGN_OR_RETURN(attrs.fusion, Fusion::create(std::move(parts)));
    Node* fusion = graph_.add({.op = kFusion.op,
                               .attrs = attrs,
                               .name = graph_.unique_name(last->name()),
                               .inputs = inputs,
                               .outputs = std::move(outputs),
                               .control_inputs = std::move(controls),
                               .device = last->device(),
                               .location = last->location()});
    rewriter_.place(fusion);
    for (size_t i = 0; i < members.size(); ++i) {
      rewriter_.replace({group[members[i]], 0}, {fusion, static_cast<int>(i)});
    }
    for (Node* node : group) rewriter_.replace_control(node, {fusion});
    return {};
  }

  Graph& graph_;
  Rewriter rewriter_;
  SoleReaders readers_;
  FusionGroups all_;
  FusedReads reads_{
      graph_, [this](const Node& node) { return reader_of(node); },
      [this](const Node& node, OutputRef value) { return read_in_group(node, value); }};
};

}  // namespace

Result<bool> fuse(Graph& graph) { return Fuser(graph).run(); }

}  // namespace graven::engine
