// Makes a Program of a graph.
//
// 1. Nodes that an output or a control output depends on are kept; of each it is found out how it
//    is computed and what inference knows of its outputs' shapes.
// 2. Nodes that compute nothing (NoOp, Identity, constants) become no steps: who waits for them
//    waits for what they wait for.
// 3. Scalar bodies of equal shape, and reductions of rows among them, are put together into groups
//    (group_elementwise.h).
// 4. Groups and other nodes are put into an order, as close to the graph's as groups allow.
// 5. Slots are numbered; last uses, and what each step waits for, are found.
#include <algorithm>
#include <cstring>
#include <queue>
#include <unordered_map>

#include "graven/base/strings.h"
#include "graven/expr/fuse.h"
#include "graven/ir/bodies.h"
#include "graven/ir/cost.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/structural_ops.h"
#include "graven/kernels/block_program.h"
#include "graven/runtime/compiled_body.h"
#include "graven/runtime/group_elementwise.h"
#include "graven/runtime/plan_rows.h"
#include "graven/runtime/program.h"
#include "graven/runtime/run_op.h"

namespace graven::engine {
namespace {

// True if the rank is known and each Dim is a number or a term: then equal means equal.
bool is_definite(const Shape& shape) {
  return shape.has_rank() &&
         std::ranges::none_of(shape.dims(), [](Dim dim) { return dim.is_unknown(); });
}

}  // namespace

class Planner {
 public:
  explicit Planner(Ref<Graph> graph) : graph_(std::move(graph)) {}

  Result<Ref<Program>> plan() {
    program_ = Ref<Program>(new Program());
    program_->graph_ = graph_;
    mark_needed();
    RETURN_IF_ERROR(put_in_order());
    for (Node* node : nodes_) RETURN_IF_ERROR(describe(node));
    std::vector<Group> groups = group_elementwise(candidates());
    split_rows_without_matrix(groups);
    append_reductions(groups);
    RETURN_IF_ERROR(order_groups(groups));
    assign_leading_slots();
    for (const Group& group : ordered_) RETURN_IF_ERROR(add_step(group));
    find_last_uses();
    for (const Program::Step& step : program_->steps_) program_->cost_ += step.cost;
    return program_;
  }

 private:
  using Step = Program::Step;
  using Group = std::vector<Node*>;
  enum class Kind { kInput, kConstant, kNothing, kAlias, kScalar, kOther };

  struct Info {
    bool is_needed = false;
    Kind kind = Kind::kOther;
    OutputRef alias;               // kAlias
    Ref<const CompiledBody> body;  // kScalar, and reductions of rows
    int reduced_axes = 0;          // of a reduction of rows: the last axes, so many
    bool is_appended = false;      // a reduction that took a group in: see append_reductions
    bool shapes_known = false;
    TypeBindings types;
    InlineVector<DType, 4> dtypes;
    InlineVector<Shape, 2> shapes;    // as known for the run
    InlineVector<bool, 2> unchecked;  // the graph promises more: see Output::must_be_checked
    InlineVector<int, 2> slots;
    std::vector<Tensor> symbolic;  // of the outputs, for inference
    // Nodes that become steps and that this one waits for, directly or through nodes that do not.
    std::vector<const Node*> waits_for;
    int step = -1;
    int position = -1;
  };
  Info& info(const Node* node) { return infos_[node->id()]; }

  static bool becomes_a_step(const Info& info) {
    return info.kind == Kind::kScalar || info.kind == Kind::kOther;
  }

  OutputRef resolved(OutputRef output) {
    while (info(output.node).kind == Kind::kAlias) output = info(output.node).alias;
    return output;
  }

  void mark_needed() {
    int max_id = 0;
    for (const Node* node : graph_->nodes()) max_id = std::max(max_id, node->id());
    for (const Node* node : graph_->inputs()) max_id = std::max(max_id, node->id());
    infos_.resize(max_id + 1);
    std::vector<const Node*> todo;
    auto need = [&](const Node* node) {
      if (info(node).is_needed) return;
      info(node).is_needed = true;
      todo.push_back(node);
    };
    for (const Node* node : graph_->inputs()) info(node).kind = Kind::kInput;
    for (OutputRef output : graph_->outputs()) need(output.node);
    for (const Node* node : graph_->control_outputs()) need(node);
    while (!todo.empty()) {
      const Node* node = todo.back();
      todo.pop_back();
      if (info(node).kind == Kind::kInput) continue;  // fed: nothing before it is run
      for (OutputRef input : node->inputs()) need(input.node);
      for (const Node* before : node->control_inputs()) need(before);
    }
  }

  Status put_in_order() {
    auto collect = [&] {
      nodes_.clear();
      for (Node* node : graph_->nodes()) {
        if (!info(node).is_needed) continue;
        info(node).position = static_cast<int>(nodes_.size());
        nodes_.push_back(node);
      }
    };
    auto is_ordered = [&] {
      for (Node* node : nodes_) {
        if (info(node).kind == Kind::kInput) continue;
        int here = info(node).position;
        for (OutputRef input : node->inputs()) {
          if (info(input.node).position >= here) return false;
        }
        for (const Node* before : node->control_inputs()) {
          if (info(before).position >= here) return false;
        }
      }
      return true;
    };
    collect();
    if (is_ordered()) return {};
    graph_->sort();
    collect();
    if (is_ordered()) return {};
    return internal_error("The graph '", graph_->name(), "' has a cycle");
  }

  // How the node is computed, and what is known of its outputs.
  Status describe(Node* node) {
    Info& about = info(node);
    const Op& op = node->op();
    for (int i = 0; i < node->num_outputs(); ++i) {
      about.symbolic.push_back(symbolic_tensor(graph_, {node, i}));
    }
    about.slots.resize(node->num_outputs(), -1);
    if (about.kind == Kind::kInput) {
      about.shapes.push_back(node->output(0).shape);
      about.dtypes.push_back(node->output(0).dtype);
      return {};
    }
    find_waits(node);
    if (&op == kConst.op) {
      about.kind = Kind::kConstant;
      about.shapes_known = true;
      about.shapes.push_back(node->attrs().as<ConstAttrs>().value.shape());
      about.dtypes.push_back(node->attrs().as<ConstAttrs>().value.dtype());
      return {};
    }
    if (&op == kNoOp.op) {
      about.kind = Kind::kNothing;
      return {};
    }
    RETURN_IF_ERROR(infer(node));
    if (is_alias(node)) {
      about.kind = Kind::kAlias;
      about.alias = node->inputs()[op.record().view_of];
    } else if (!node->inputs().empty() && body_kind(node) == OpBody::Kind::kElementwise) {
      about.kind = Kind::kScalar;
      InlineVector<DType, 4> dtypes;
      for (OutputRef input : node->inputs()) dtypes.push_back(dtype_of(input));
      ASSIGN_OR_RETURN(about.body, BodyCache::get(op, node->attrs(), dtypes, about.dtypes[0]));
    } else {
      about.kind = Kind::kOther;
      about.reduced_axes = reduced_rows(node);
      if (about.reduced_axes > 0) {
        DType x = dtype_of(node->inputs()[0]);
        ASSIGN_OR_RETURN(about.body, BodyCache::get(op, node->attrs(), {&x, 1}, about.dtypes[0]));
      }
    }
    return {};
  }

  // How many axes a reduction takes, if they are the last ones of several and there may be many
  // rows and columns that fit a cache; else 0.
  int reduced_rows(Node* node) {
    Info& about = info(node);
    if (node->inputs().size() != 2 || body_kind(node) != OpBody::Kind::kReduction ||
        about.unchecked[0] || !is_definite(about.shapes[0])) {
      return 0;
    }
    OutputRef x = resolved(node->inputs()[0]), axes = resolved(node->inputs()[1]);
    const Shape& shape = info(x.node).shapes[x.index];
    if (!is_definite(shape) || info(axes.node).kind != Kind::kConstant) return 0;
    auto reduced = normalized_axes(axes.node->attrs().as<ConstAttrs>().value, shape.rank());
    if (!reduced.ok() || reduced->empty()) return 0;
    const int count = static_cast<int>(reduced->size()), rank = shape.rank();
    auto product = [&](int begin, int end) {
      double n = 1;
      for (int i = begin; i < end; ++i) {
        if (!shape[i].is_number()) return guessed_size(Dim::unknown());
        n *= static_cast<double>(shape[i].number());
      }
      return n;
    };
    const bool are_last = std::ranges::all_of(*reduced, [&](int i) { return i >= rank - count; });
    const double columns = product(rank - count, rank);
    const bool is_good = are_last && product(0, rank - count) > 1 && columns > 1 &&
                         columns <= RowProgram::kMaxColumns &&
                         is_per_row(about.shapes[0], shape, count);
    return is_good ? count : 0;
  }

  static DType dtype_of(OutputRef output) { return output.node->output(output.index).dtype; }
  static OpBody::Kind body_kind(const Node* node) {
    return node->op().record().body.kind_for(dtype_of(node->inputs().back()), node->attrs());
  }

  void find_waits(Node* node) {
    std::vector<const Node*>& waits = info(node).waits_for;
    auto wait_for = [&](const Node* before) {
      const Info& about = info(before);
      if (about.kind == Kind::kInput) return;
      if (becomes_a_step(about)) {
        waits.push_back(before);
      } else {
        waits.insert(waits.end(), about.waits_for.begin(), about.waits_for.end());
      }
    };
    for (OutputRef input : node->inputs()) wait_for(input.node);
    for (const Node* before : node->control_inputs()) wait_for(before);
    auto by_position = [&](const Node* a, const Node* b) {
      return info(a).position < info(b).position;
    };
    std::sort(waits.begin(), waits.end(), by_position);
    waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
  }

  // Runs inference again: what the graph says may have been promised by the user (set_shape), and
  // a promise is checked when it runs. Shapes are known for the run if they are numbers that
  // follow from numbers; from symbols, inference must be asked again, as its checks then count.
  Status infer(Node* node) {
    Info& about = info(node);
    const Op& op = node->op();
    InlineVector<Tensor, 4> inputs;
    bool inputs_known = true;
    for (OutputRef input : node->inputs()) {
      const Info& from = info(input.node);
      inputs.push_back(from.symbolic[input.index]);
      inputs_known &= inputs.back().shape().is_fully_known();
    }
    RETURN_IF_ERROR(op.bind_types(inputs, node->attrs(), /*eager=*/false, about.types));
    op.output_dtypes(about.types, node->attrs(), static_cast<int>(inputs.size()), about.dtypes);
    int n = static_cast<int>(about.dtypes.size());
    if (n != node->num_outputs()) {
      return internal_error("Node '", node->name(), "' has ", node->num_outputs(),
                            " outputs, its op ", op.name(), " makes ", n);
    }
    InferContext context(op, node->attrs(), inputs, about.types, n, &graph_->symbols());
    bool is_good = op.record().infer && op.record().infer(context).ok();
    bool all_known = is_good && inputs_known;
    for (int i : op.record().values_for_inference) {
      all_known &= static_cast<bool>(context.value(i < 0 ? i + context.num_inputs() : i));
    }
    for (int i = 0; i < n; ++i) {
      const Shape& declared = node->output(i).shape;
      const Shape& found = is_good ? context.shapes()[i] : Shape::unknown_rank();
      all_known &= found.is_fully_known();
      about.unchecked.push_back(!is_subshape(found, declared));
      about.shapes.push_back(found.is_fully_known() && all_known ? found : declared);
    }
    about.shapes_known = all_known;
    return {};
  }

  // The output is the input itself: Identity, a Reshape to the same shape.
  bool is_alias(Node* node) {
    const OpRecord& record = node->op().record();
    if (record.view_of < 0 || node->op().is_stateful_ever()) return false;
    Info& about = info(node);
    OutputRef source = node->inputs()[record.view_of];
    if (about.unchecked[0] || dtype_of(source) != about.dtypes[0]) return false;
    const Shape& shape = about.shapes[0];
    return is_definite(shape) && shape == source.node->output(source.index).shape;
  }

  // Whether the shape of an elementwise result is the broadcast of the inputs' for certain, so
  // that no record needs to be asked when it runs.
  bool follows_from_broadcast(const Node* node) {
    const Info& about = info(node);
    if (about.unchecked[0]) return false;
    if (about.shapes_known || about.body->broadcasts()) return true;
    for (OutputRef input : node->inputs()) {
      if (!(input.node->output(input.index).shape == about.shapes[0])) return false;
    }
    return is_definite(about.shapes[0]);
  }

  std::vector<GroupCandidate> candidates() {
    std::vector<GroupCandidate> all;
    for (Node* node : nodes_) {
      Info& about = info(node);
      if (!becomes_a_step(about)) continue;
      GroupCandidate candidate;
      candidate.node = node;
      candidate.waits_for = about.waits_for;
      if (about.kind == Kind::kScalar && is_definite(about.shapes[0]) &&
          follows_from_broadcast(node)) {
        candidate.body = about.body.get();
        candidate.shape = &about.shapes[0];
        for (OutputRef input : node->inputs()) {
          OutputRef source = resolved(input);
          candidate.inputs.push_back(source);
          candidate.input_shapes.push_back(&info(source.node).shapes[source.index]);
        }
      } else if (about.reduced_axes > 0) {
        OutputRef source = resolved(node->inputs()[0]);
        candidate.body = about.body.get();
        candidate.shape = &about.shapes[0];
        candidate.reduced_axes = about.reduced_axes;
        candidate.reduced = &info(source.node).shapes[source.index];
        candidate.inputs.push_back(source);
      }
      all.push_back(std::move(candidate));
    }
    return all;
  }

  bool goes_by_rows(const Group& group) {
    return group.size() > 1 && !info(group.back()).is_appended &&
           std::ranges::any_of(group, [&](Node* node) { return info(node).reduced_axes > 0; });
  }

  // Of a group that goes by rows; all of them reduce the same axes of the same matrix.
  const Node* first_reduction(const Group& group) {
    return *std::ranges::find_if(group,
                                 [&](const Node* node) { return info(node).reduced_axes > 0; });
  }

  // The matrix that a reduction of rows reduces.
  const Shape& matrix_of(const Node* reduction) {
    OutputRef reduced = resolved(reduction->inputs()[0]);
    return info(reduced.node).shapes[reduced.index];
  }

  // A step that goes by rows takes the sizes of its matrix from an operand that is one, if they are
  // not known before. Where columns meet rows there may be none; then each node is a step.
  void split_rows_without_matrix(std::vector<Group>& groups) {
    for (size_t g = 0, num_groups = groups.size(); g < num_groups; ++g) {
      if (!goes_by_rows(groups[g])) continue;
      const Shape& matrix = matrix_of(first_reduction(groups[g]));
      auto reads_matrix = [&](Node* node) {
        return std::ranges::any_of(node->inputs(), [&](OutputRef input) {
          OutputRef source = resolved(input);
          return std::ranges::count(groups[g], source.node) == 0 &&
                 info(source.node).shapes[source.index] == matrix;
        });
      };
      auto is_known = [&](Node* node) { return info(node).shapes_known; };
      if (std::ranges::all_of(groups[g], is_known)) continue;
      if (std::ranges::any_of(groups[g], reads_matrix)) continue;
      for (size_t i = 1; i < groups[g].size(); ++i) groups.push_back({groups[g][i]});
      groups[g].resize(1);
    }
  }

  // A reduction that alone needs what a group computes takes the group in, so that the values it
  // reduces are never stored. Nothing else waits for the group, so no circle can come of it.
  void append_reductions(std::vector<Group>& groups) {
    std::vector<int> group_of(infos_.size(), -1);
    for (size_t g = 0; g < groups.size(); ++g) {
      for (const Node* node : groups[g]) group_of[node->id()] = static_cast<int>(g);
    }
    std::vector<int> user = users_of(groups, group_of);
    for (size_t g = 0; g < groups.size(); ++g) {
      if (groups[g].size() != 1 || !may_take_in(groups[g][0])) continue;
      Node* reduction = groups[g][0];
      const Node* producer = resolved(reduction->inputs()[0]).node;
      if (info(producer).kind != Kind::kScalar) continue;
      int from = group_of[producer->id()];
      bool axes_from_it = group_of[resolved(reduction->inputs()[1]).node->id()] == from;
      if (user[from] != static_cast<int>(g) || axes_from_it) continue;
      bool is_elementwise = true;
      for (const Node* node : groups[from]) {
        is_elementwise &= info(node).kind == Kind::kScalar && !info(node).unchecked[0] &&
                          is_definite(info(node).shapes[0]) && follows_from_broadcast(node);
      }
      if (!is_elementwise) continue;
      groups[from].push_back(reduction);
      info(reduction).is_appended = true;
      groups[g].clear();
      group_of[reduction->id()] = from;
      user[from] = user[g];
    }
    std::erase_if(groups, [](const Group& group) { return group.empty(); });
  }

  // For each group the one group that waits for it; negative if there is none, or several, or what
  // it computes is returned.
  std::vector<int> users_of(const std::vector<Group>& groups, const std::vector<int>& group_of) {
    constexpr int kSeveral = -2;
    std::vector<int> user(groups.size(), -1);
    for (size_t g = 0; g < groups.size(); ++g) {
      for (const Node* node : groups[g]) {
        for (const Node* before : info(node).waits_for) {
          int from = group_of[before->id()];
          if (from == static_cast<int>(g)) continue;
          bool is_same = user[from] == -1 || user[from] == static_cast<int>(g);
          user[from] = is_same ? static_cast<int>(g) : kSeveral;
        }
      }
    }
    for (OutputRef output : graph_->outputs()) {
      int g = group_of[resolved(output).node->id()];
      if (g >= 0) user[g] = kSeveral;
    }
    return user;
  }

  bool may_take_in(const Node* node) {
    const Info& about = info(node);
    return about.kind == Kind::kOther && node->inputs().size() == 2 && !about.unchecked[0] &&
           about.shapes[0].has_rank() && body_kind(node) == OpBody::Kind::kReduction &&
           node->inputs()[0].node->output(node->inputs()[0].index).shape.rank() <= 64;
  }

  // Topological order of the groups, each at about the place of its last node.
  Status order_groups(std::vector<Group>& groups) {
    std::vector<int> group_of(infos_.size(), -1), missing(groups.size(), 0);
    std::vector<std::vector<int>> users(groups.size());
    for (size_t g = 0; g < groups.size(); ++g) {
      for (Node* node : groups[g]) group_of[node->id()] = static_cast<int>(g);
    }
    for (size_t g = 0; g < groups.size(); ++g) {
      for (Node* node : groups[g]) {
        for (const Node* before : info(node).waits_for) {
          int from = group_of[before->id()];
          if (from == static_cast<int>(g)) continue;
          users[from].push_back(static_cast<int>(g));
          ++missing[g];
        }
      }
    }
    using Ready = std::pair<int, int>;  // position of the last node, group
    std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
    auto push = [&](int g) { ready.push({info(groups[g].back()).position, g}); };
    for (size_t g = 0; g < groups.size(); ++g) {
      if (missing[g] == 0) push(static_cast<int>(g));
    }
    while (!ready.empty()) {
      int g = ready.top().second;
      ready.pop();
      for (int user : users[g]) {
        if (--missing[user] == 0) push(user);
      }
      ordered_.push_back(std::move(groups[g]));
    }
    if (ordered_.size() != groups.size()) {
      return internal_error("The groups of '", graph_->name(), "' wait for each other");
    }
    for (size_t s = 0; s < ordered_.size(); ++s) {
      for (Node* node : ordered_[s]) info(node).step = static_cast<int>(s);
    }
    return {};
  }

  void assign_leading_slots() {
    program_->num_inputs_ = static_cast<int>(graph_->inputs().size());
    int slot = 0;
    for (Node* node : graph_->inputs()) {
      Info& about = info(node);
      about.slots.resize(1, -1);
      about.slots[0] = slot;
      if (&node->op() == kPlaceholder.op) {
        const Shape& given = node->attrs().as<PlaceholderAttrs>().shape;
        if (!is_subshape(given, node->output(0).shape)) {
          program_->checked_inputs_.emplace_back(slot, node->output(0).shape);
        }
      }
      ++slot;
    }
    for (Node* node : nodes_) {
      if (info(node).kind != Kind::kConstant) continue;
      info(node).slots[0] = slot++;
      program_->constants_.push_back(node->attrs().as<ConstAttrs>().value);
    }
    next_slot_ = slot;
    // Who reads what outside of its group, or returns it.
    is_read_.resize(infos_.size());
    auto read = [&](OutputRef output) {
      auto& outputs = is_read_[output.node->id()];
      outputs.resize(std::max<size_t>(outputs.size(), output.index + 1), false);
      outputs[output.index] = true;
    };
    for (OutputRef output : graph_->outputs()) read(resolved(output));
    for (const Group& group : ordered_) {
      for (const Node* node : group) {
        for (OutputRef input : node->inputs()) {
          OutputRef source = resolved(input);
          bool inside =
              becomes_a_step(info(source.node)) && info(source.node).step == info(node).step;
          if (!inside) read(source);
        }
      }
    }
  }

  bool is_read(const Node* node, int output) const {
    const auto& outputs = is_read_[node->id()];
    return output < static_cast<int>(outputs.size()) && outputs[output];
  }

  int slot_of(OutputRef output) {
    OutputRef source = resolved(output);
    return info(source.node).slots[source.index];
  }

  Step::Output output_of(Node* node, int i) {
    Info& about = info(node);
    Step::Output output;
    output.dtype = about.dtypes[i];
    output.shape = about.shapes[i];
    output.must_be_checked = about.unchecked[i];
    if (is_read(node, i)) output.slot = about.slots[i] = next_slot_++;
    return output;
  }

  Status add_step(const Group& group) {
    Step step;
    Node* last = group.back();
    step.node = last;
    for (Node* node : group) {
      for (const Node* before : info(node).waits_for) {
        if (info(before).step != info(node).step) step.waits_for.push_back(info(before).step);
      }
    }
    std::sort(step.waits_for.begin(), step.waits_for.end());
    step.waits_for.erase(std::unique(step.waits_for.begin(), step.waits_for.end()),
                         step.waits_for.end());
    if (goes_by_rows(group)) {
      RETURN_IF_ERROR(describe_rows(step, group));
    } else if (info(last).kind == Kind::kScalar) {
      RETURN_IF_ERROR(describe_elementwise(step, group));
    } else if (group.size() > 1) {
      RETURN_IF_ERROR(describe_reduction(step, group));
    } else {
      RETURN_IF_ERROR(describe_op(step, last));
    }
    program_->steps_.push_back(std::move(step));
    return {};
  }

  Status describe_op(Step& step, Node* node) {
    Info& about = info(node);
    const Op& op = node->op();
    step.op = &op;
    step.attrs = Attrs(node->attrs());
    step.types = about.types;
    step.shapes_known = about.shapes_known;
    InlineVector<const Shape*, 4> shapes;
    for (OutputRef input : node->inputs()) {
      step.inputs.push_back(slot_of(input));
      shapes.push_back(&input.node->output(input.index).shape);
    }
    for (int i = 0; i < node->num_outputs(); ++i) step.outputs.push_back(output_of(node, i));
    step.cost = estimated_cost(op, {node->attrs(), shapes, about.shapes});
    if (Ref<Body> called = called_body(*node)) {
      step.kind = Step::Kind::kCall;
      step.body = std::move(called);
      ASSIGN_OR_RETURN(step.program, program_of(step.body));
      step.cost = step.program->cost();
      program_->may_block_ |= step.program->may_block();
    } else if (op.record().view_of >= 0 && about.shapes_known && is_read(node, 0)) {
      step.kind = Step::Kind::kView;
      step.view_of = op.record().view_of;
      step.cost = 30;
    }
    if (op.is_stateful_ever()) {
      Effects effects = op.record().effects(op, node->attrs());
      program_->may_block_ |= effects.ordered;
      // Stateful, but in no order and on no resource: what it keeps is its own.
      if (effects.stateful && !effects.ordered && effects.reads.empty() && effects.writes.empty()) {
        step.state = std::make_unique<Step::State>();
      }
    }
    return {};
  }

  // Members of a step that compute in scalars, as fuse_expressions takes them.
  struct Members {
    std::vector<DType> inputs;
    std::vector<FusionMember> members;
    std::vector<FusionMember::Source> read;  // by others
    std::vector<KnownInput> known;
    std::unordered_map<const Node*, int> number_of;
  };

  Members describe_members(Step& step, std::span<Node* const> group) {
    Members all;
    step.shapes_known = true;
    for (Node* node : group) {
      Info& about = info(node);
      step.shapes_known &= about.shapes_known;
      FusionMember member{&about.body->block()->expression(), {}};
      Step::Member named{node, {}};
      for (OutputRef input : node->inputs()) {
        OutputRef source = resolved(input);
        if (auto at = all.number_of.find(source.node); at != all.number_of.end()) {
          member.sources.push_back({at->second, 0});
          named.inputs.push_back(-1 - at->second);
          continue;
        }
        int slot = slot_of(source);
        auto known = std::find(step.inputs.begin(), step.inputs.end(), slot);
        int i = static_cast<int>(known - step.inputs.begin());
        if (known == step.inputs.end()) {
          step.inputs.push_back(slot);
          all.inputs.push_back(info(source.node).dtypes[source.index]);
        }
        if (!member.expression->traps().empty()) add_known_integer(all.known, source, i);
        member.sources.push_back({-1, i});
        named.inputs.push_back(i);
      }
      int number = static_cast<int>(all.members.size());
      all.number_of.emplace(node, number);
      if (is_read(node, 0)) all.read.push_back({number, 0});
      all.members.push_back(std::move(member));
      step.members.push_back(std::move(named));
    }
    return all;
  }

  // What a trapping member reads is made a constant where it can: one that is not 0 divides
  // faster, and traps nothing.
  void add_known_integer(std::vector<KnownInput>& known, OutputRef source, int input) {
    if (info(source.node).kind != Kind::kConstant) return;
    const Tensor& value = source.node->attrs().as<ConstAttrs>().value;
    if (!is_integer(value.dtype()) || value.num_elements() != 1) return;
    uint64_t bits = 0;
    std::memcpy(&bits, value.raw_data(), dtype_size(value.dtype()));
    known.push_back({input, bits});
  }

  Status describe_reduction(Step& step, const Group& group) {
    step.kind = Step::Kind::kReduction;
    Node* node = group.back();
    Info& about = info(node);
    Members all = describe_members(step, {group.data(), group.size() - 1});
    step.members.push_back({node, {}});
    OutputRef source = resolved(node->inputs()[0]);
    DType x = info(source.node).dtypes[0];
    ASSIGN_OR_RETURN(auto body,
                     BodyCache::get(node->op(), node->attrs(), {&x, 1}, about.dtypes[0]));
    ReductionParts parts = body->parts();
    all.members.push_back({&body->parts().prepare, {{all.number_of.at(source.node), 0}}});
    FusionMember::Source prepared[] = {{static_cast<int>(all.members.size()) - 1, 0}};
    parts.prepare = fuse_expressions(all.inputs, all.members, prepared, all.known);
    ASSIGN_OR_RETURN(step.reduction, ReductionProgram::compile(parts));
    step.shapes_known &= about.shapes_known;
    step.reduced_shape = info(source.node).shapes[0];
    step.inputs.push_back(slot_of(node->inputs()[1]));
    step.outputs.push_back(output_of(node, 0));
    step.cost = 200 + guessed_elements(step.reduced_shape) * parts.prepare.cost() * 0.1;
    return {};
  }

  Status describe_rows(Step& step, const Group& group) {
    step.kind = Step::Kind::kRows;
    step.shapes_known = true;
    const Node* reduction = first_reduction(group);
    const Shape& matrix = matrix_of(reduction);
    step.reduced_axes = info(reduction).reduced_axes;
    step.reduced_shape = matrix;

    std::vector<RowInput> inputs;
    std::vector<RowMember> members;
    std::unordered_map<const Node*, int> number_of;
    // A slot may be one value per row here and one per column there.
    auto input_of = [&](OutputRef source, RowExtent extent) {
      const int slot = slot_of(source);
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (step.inputs[i] == slot && inputs[i].extent == extent) return static_cast<int>(i);
      }
      if (extent == RowExtent::kMatrix) step.matrix_input = static_cast<int>(inputs.size());
      step.inputs.push_back(slot);
      inputs.push_back({info(source.node).dtypes[source.index], extent});
      return static_cast<int>(inputs.size()) - 1;
    };
    for (Node* node : group) {
      Info& about = info(node);
      step.shapes_known &= about.shapes_known;
      RowMember member;
      member.body = about.body.get();
      member.is_reduction = about.reduced_axes > 0;
      member.is_per_row = !(about.shapes[0] == matrix);
      member.is_read = is_read(node, 0);
      const size_t read = member.is_reduction ? 1 : node->inputs().size();
      for (size_t i = 0; i < read; ++i) {
        OutputRef source = resolved(node->inputs()[i]);
        if (auto at = number_of.find(source.node); at != number_of.end()) {
          member.sources.push_back({at->second, 0});
          continue;
        }
        auto extent =
            row_extent(info(source.node).shapes[source.index],
                       member.is_reduction ? matrix : about.shapes[0], matrix, step.reduced_axes);
        if (!extent) return internal_error("'", node->name(), "' does not go by rows");
        member.sources.push_back({-1, input_of(source, *extent)});
      }
      number_of.emplace(node, static_cast<int>(members.size()));
      members.push_back(std::move(member));
      step.members.push_back({node, {}});
    }
    if (!step.shapes_known && step.matrix_input < 0) {
      return internal_error("[", reduction->op().name(), "] rows of a matrix that nothing reads");
    }
    // Somebody waits for them, nobody reads them.
    if (std::ranges::none_of(members, &RowMember::is_read)) members.back().is_read = true;
    for (const RowInput& input : inputs) step.row_extents.push_back(input.extent);
    ASSIGN_OR_RETURN(RowPlan plan, plan_rows(inputs, members));
    for (const RowPlan::Output& output : plan.outputs) {
      step.outputs.push_back(output_of(group[output.member], 0));
      step.row_outputs.push_back({!members[output.member].is_per_row, output.may_overwrite});
    }
    step.rows = plan.program;
    step.cost = 100 + guessed_elements(matrix) * plan.program->cost() * 0.1;
    return {};
  }

  Status describe_elementwise(Step& step, const Group& group) {
    step.kind = Step::Kind::kElementwise;
    Members all = describe_members(step, group);
    std::vector<FusionMember::Source>& outputs = all.read;
    // Somebody waits for them, nobody reads them.
    if (outputs.empty()) outputs.push_back({static_cast<int>(all.members.size()) - 1, 0});
    if (group.size() == 1) {
      Node* node = group[0];
      Info& about = info(node);
      // As its body was compiled: inputs that are the same tensor stay two.
      step.inputs.clear();
      for (OutputRef input : node->inputs()) step.inputs.push_back(slot_of(input));
      for (size_t i = 0; i < step.inputs.size(); ++i) {
        step.members[0].inputs[i] = static_cast<int>(i);
      }
      step.op = &node->op();
      step.attrs = Attrs(node->attrs());
      step.block = about.body->block();
      step.broadcasts = follows_from_broadcast(node);
      step.types = about.types;
    } else {
      Expression fused = fuse_expressions(all.inputs, all.members, outputs, all.known);
      ASSIGN_OR_RETURN(step.block, BlockProgram::compile(fused));
    }
    for (const FusionMember::Source& output : outputs) {
      step.outputs.push_back(output_of(group[output.member], 0));
    }
    step.cost = nanoseconds_of_blocks(guessed_elements(step.outputs[0].shape),
                                      step.block->expression().cost());
    return {};
  }

  // For each slot the last step that reads it, and who else does.
  void find_last_uses() {
    auto& steps = program_->steps_;
    int first_made = program_->num_inputs_ + static_cast<int>(program_->constants_.size());
    std::vector<std::vector<int>> readers(next_slot_);
    for (size_t s = 0; s < steps.size(); ++s) {
      for (int slot : steps[s].inputs) {
        if (readers[slot].empty() || readers[slot].back() != static_cast<int>(s)) {
          readers[slot].push_back(static_cast<int>(s));
        }
      }
    }
    std::vector<bool> is_returned(next_slot_, false);
    for (OutputRef output : graph_->outputs()) {
      program_->outputs_.push_back(slot_of(output));
      is_returned[program_->outputs_.back()] = true;
    }
    for (size_t s = 0; s < steps.size(); ++s) {
      Step& step = steps[s];
      for (size_t i = 0; i < step.inputs.size(); ++i) {
        int slot = step.inputs[i];
        if (slot < first_made || is_returned[slot] || readers[slot].back() != static_cast<int>(s)) {
          continue;
        }
        // The last mention counts, as the handle is given up there.
        bool is_again =
            std::find(step.inputs.begin() + i + 1, step.inputs.end(), slot) != step.inputs.end();
        if (is_again) continue;
        step.frees.push_back(slot);
        if (i >= 64) continue;
        step.last_use |= uint64_t{1} << i;
        // It may be overwritten once the other readers are done.
        step.waits_for.insert(step.waits_for.end(), readers[slot].begin(), readers[slot].end() - 1);
      }
      std::sort(step.waits_for.begin(), step.waits_for.end());
      step.waits_for.erase(std::unique(step.waits_for.begin(), step.waits_for.end()),
                           step.waits_for.end());
    }
    program_->num_slots_ = next_slot_;
  }

  Ref<Graph> graph_;
  Ref<Program> program_;
  std::vector<Info> infos_;   // by id
  std::vector<Node*> nodes_;  // needed ones, in order
  std::vector<Group> ordered_;
  std::vector<std::vector<bool>> is_read_;
  int next_slot_ = 0;
};

Result<Ref<Program>> plan_program(Ref<Graph> graph) { return Planner(std::move(graph)).plan(); }

}  // namespace graven::engine
