// The gradient of a loop. Its forward half runs the forward half of the body's gradient pair,
// counts the iterations, and pushes what the backward half of the body needs onto lists, one for
// each side output that changes from iteration to iteration. Its backward half is a loop of as many
// iterations, which pops what it needs and runs the backward half of the body. What a loop returns
// as it got it (captures) gathers its gradient by addition; where an iteration reads only some rows
// of it, it gathers slices in lists, which are added up behind the loop.
//
// A loop may recompute (ir/recompute.h): its pushes are marked, and what runs the loop keeps its
// variables now and then in place of what is pushed. The graphs are the same as without, so that
// gradients of any order have the same bits.
//
// A gradient of a gradient needs no more than that: the gradients of the lists are lists, which the
// backward loop pops too.
#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graven/autodiff/add_gradients.h"
#include "graven/autodiff/apply_bodies.h"
#include "graven/autodiff/call_gradient.h"
#include "graven/autodiff/extended_node.h"
#include "graven/autodiff/gradient_pair.h"
#include "graven/autodiff/inner_builder.h"
#include "graven/autodiff/step.h"
#include "graven/base/strings.h"
#include "graven/ir/bodies.h"
#include "graven/ir/merge_captures.h"
#include "graven/ir/numerics_checks.h"
#include "graven/ir/order_effects.h"
#include "graven/ir/recompute.h"
#include "graven/ir/same_input.h"
#include "graven/ir/static_shape.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

// Where the backward half of the body finds an output of the forward half.
struct Source {
  enum Kind { kUnused, kInput, kConstant, kList };
  Kind kind = kUnused;
  int number = 0;  // of the loop's input, or of the list
  Tensor constant = {};
};

// Which list tells what shape a variable has before an iteration: one of its values, or one of its
// shapes. Neither, -1, where that is the shape after the iteration too, or no gradient needs it.
struct ShapeBefore {
  int values = -1, shapes = -1;
};

struct Loop {
  Ref<GradientPair> pair;                      // of the body
  int num_variables = 0;                       // of the node before it was extended
  std::vector<bool> is_kept;                   // for each variable: see keeps_gradient
  std::vector<ShapeBefore> shapes_before;      // for each variable
  std::vector<Source> sources;                 // for each output of the forward half
  std::vector<HeldType> elements;              // of the lists
  int count() const { return num_variables; }  // the output that counts the iterations
  int list(int number) const { return num_variables + 1 + number; }
};

const OutputType& type_of(OutputRef output) { return output.node->output(output.index); }

// True if a body returns a variable as it got it, and its gradient too: StopGradient passes on the
// value alone.
bool keeps_gradient(const Graph& body, int i) {
  if (!returns_input(body, i)) return false;
  const Node* input = body.inputs()[static_cast<size_t>(i)];
  OutputRef output = body.outputs()[static_cast<size_t>(i)];
  while (output.node != input) {
    if (&output.node->op() != kIdentity.op) return false;
    output = output.node->inputs()[0];
  }
  return true;
}

// True if a variable has one shape before and after an iteration, which may not be known.
bool keeps_shape(const Graph& body, int i) {
  const Shape& before = body.inputs()[static_cast<size_t>(i)]->output(0).shape;
  const Shape& after = type_of(body.outputs()[static_cast<size_t>(i)]).shape;
  const auto is_unknown = [](Dim dim) { return dim.is_unknown(); };
  return before.has_rank() && before == after && std::ranges::none_of(before.dims(), is_unknown);
}

ShapeBefore shape_before(const Graph& body, Loop& loop, int i) {
  const Graph& forward = *loop.pair->forward()->graph();
  const Node* variable = forward.inputs()[static_cast<size_t>(i)];
  const OutputType& type = variable->output(0);
  if (loop.is_kept[static_cast<size_t>(i)] || keeps_shape(body, i) || !propagates(type.dtype)) {
    return {};
  }
  for (size_t o = 0; o < loop.sources.size(); ++o) {
    const bool is_list = loop.sources[o].kind == Source::kList;
    if (is_list && forward.outputs()[o].node == variable) {
      return {.values = loop.sources[o].number};
    }
  }
  const Dim rank = type.shape.has_rank() ? Dim(type.shape.rank()) : Dim::unknown();
  loop.elements.push_back({DType::kInt32, {rank}});
  return {.shapes = static_cast<int>(loop.elements.size()) - 1};
}

Result<std::shared_ptr<Loop>> loop_of(const Body& body, Ref<GradientPair> pair) {
  auto loop = std::make_shared<Loop>();
  const Graph& forward = *pair->forward()->graph();
  loop->num_variables = static_cast<int>(body.graph()->outputs().size());
  for (int i = 0; i < loop->num_variables; ++i) {
    loop->is_kept.push_back(keeps_gradient(*body.graph(), i));
  }
  const auto uses = pair->output_uses();
  for (size_t o = 0; o < forward.outputs().size(); ++o) {
    Source& source = loop->sources.emplace_back();
    if (!uses[o].is_side_value) continue;
    const OutputRef output = forward.outputs()[o];
    const auto at = std::ranges::find(forward.inputs(), output.node);
    const bool is_input = at != forward.inputs().end();
    const size_t input = is_input ? static_cast<size_t>(at - forward.inputs().begin()) : o;
    if (input < loop->is_kept.size() && loop->is_kept[input]) {
      source = {Source::kInput, static_cast<int>(input)};
    } else if (!is_input && &output.node->op() == kConst.op) {
      source = {Source::kConstant, 0, output.node->attrs().as<ConstAttrs>().value};
    } else {
      const OutputType& type = type_of(output);
      if (type.dtype == DType::kResource) {
        return unimplemented("There is no gradient of a loop that changes a handle");
      }
      source = {Source::kList, static_cast<int>(loop->elements.size())};
      loop->elements.push_back({type.dtype, static_shape(type.shape)});
    }
  }
  loop->pair = std::move(pair);
  for (int i = 0; i < loop->num_variables; ++i) {
    loop->shapes_before.push_back(shape_before(*body.graph(), *loop, i));
  }
  return loop;
}

// --- The forward half.

void add_counter_and_lists(GraphBuilder& builder, const Loop& loop, Tensor& count,
                           std::vector<Tensor>& lists) {
  count = builder.add_placeholder(DType::kInt32, Shape(), "count");
  for (const HeldType& element : loop.elements) {
    lists.push_back(builder.add_placeholder(DType::kVariant, Shape(), "list",
                                            HandleData(element.dtype, element.shape)));
  }
}

Result<Ref<Body>> forward_body(const Loop& loop, int64_t recompute) {
  const Body& half = loop.pair->forward_body();
  Ref<Graph> graph = half.graph()->clone();
  graph->set_name(str_cat(half.graph()->name(), "_loop"));
  GraphBuilder builder(graph);
  Frame frame(&builder);
  frame.locations = nullptr;
  Tensor count;
  std::vector<Tensor> lists;
  add_counter_and_lists(builder, loop, count, lists);
  Emitter emit(builder);
  std::vector<OutputRef> outputs(graph->outputs().begin(),
                                 graph->outputs().begin() + loop.num_variables);
  const Tensor next = emit(kAddV2, {count, emit.constant(Tensor::scalar<int32_t>(1))});
  std::vector<Tensor> pushed = lists;
  const auto push = [&](int list, const Tensor& element) {
    const auto number = static_cast<size_t>(list);
    pushed[number] = emit(kTensorListPushBack, {lists[number], element});
    if (pushed[number] && recompute > 0) {
      graph->set_attribute(&symbolic(pushed[number]).node(), std::string(kRecompute), recompute);
    }
  };
  for (size_t o = 0; o < loop.sources.size(); ++o) {
    if (loop.sources[o].kind != Source::kList) continue;
    push(loop.sources[o].number, symbolic_tensor(graph, graph->outputs()[o]));
  }
  for (size_t i = 0; i < loop.shapes_before.size(); ++i) {
    const int list = loop.shapes_before[i].shapes;
    if (list >= 0) push(list, emit(kShape, {symbolic_tensor(graph, {graph->inputs()[i], 0})}));
  }
  RETURN_IF_ERROR(emit.status());
  outputs.push_back(symbolic(next).output());
  for (const Tensor& list : pushed) outputs.push_back(symbolic(list).output());
  graph->set_outputs(std::move(outputs));
  std::string name = str_cat(graph->name(), "_", next_uid());
  return Body::create(std::move(name), std::move(graph));
}

// The condition, which takes the counter and the lists and does not use them.
Ref<Body> forward_condition(const Body& condition, const Loop& loop) {
  Ref<Graph> graph = condition.graph()->clone();
  GraphBuilder builder(graph);
  Frame frame(&builder);
  Tensor count;
  std::vector<Tensor> lists;
  add_counter_and_lists(builder, loop, count, lists);
  std::string name = str_cat("__forward_", graph->name(), "_", next_uid());
  return Body::create(std::move(name), std::move(graph));
}

// --- The backward half.

// One run of building the backward loop, for a set of variables whose gradients go round it.
class BackwardLoop {
 public:
  BackwardLoop(Builder& builder, const Loop& loop, std::span<const Tensor> inputs,
               std::span<const Tensor> outputs, std::span<const Gradient> dy)
      : builder_(builder), outer_(builder), loop_(loop), inputs_(inputs), outputs_(outputs) {
    for (size_t i = 0; i < outputs.size(); ++i) {
      const bool has_dy = i < dy.size() && !dy[i].is_none();
      dy_.push_back(has_dy ? densify(outer_, dy[i]) : Tensor());
    }
  }

  Result<std::vector<Gradient>> run(const Op& op, AttrsRef attrs) {
    RETURN_IF_ERROR(outer_.status());
    std::vector<bool> goes_round(static_cast<size_t>(loop_.num_variables));
    for (size_t i = 0; i < goes_round.size(); ++i) {
      goes_round[i] = !loop_.is_kept[i] && dy_[i] && propagates(dy_[i].dtype());
    }
    for (;;) {
      ASSIGN_OR_RETURN(const bool is_complete, build(goes_round));
      if (is_complete) break;
    }
    return apply(op, attrs, goes_round);
  }

 private:
  // A value that goes round the loop: what it enters with, and which it is.
  struct Carried {
    Tensor before, inner, after;
    std::optional<Shape> shape = {};  // inside; none: that of `before`
    HeldType element = {};            // of a list that slices are pushed on
  };
  // Slices of the gradient of a value that does not change, in lists.
  struct Slices {
    Carried *values = nullptr, *indices = nullptr;
    Tensor dense_shape;
  };

  // Of a tensor that the outer graph could not give, nothing: outer_ says why.
  Carried& carry(Tensor before, std::optional<Shape> shape = std::nullopt) {
    Carried& carried = carried_.emplace_back();
    carried.before = std::move(before);
    carried.shape = std::move(shape);
    if (!carried.before) return carried;
    carried.inner = add_argument(*inner_, carried);
    arguments_.push_back(&symbolic(carried.inner).node());
    return carried;
  }
  static Tensor add_argument(GraphBuilder& builder, const Carried& carried) {
    const Tensor& before = carried.before;
    if (!carried.shape || before.dtype() == DType::kVariant) {
      return builder.add_placeholder_like(before, "carried");
    }
    return builder.add_placeholder(before.dtype(), *carried.shape, "carried");
  }

  // Builds the body. False if more variables have a gradient than were said to go round; they are
  // added then.
  Result<bool> build(std::vector<bool>& goes_round) {
    body_ = {};
    body_.graph = make_ref<Graph>(str_cat(loop_.pair->forward_body().name(), "_gradient"));
    carried_.clear();
    arguments_.clear();
    gradient_of_.assign(goes_round.size(), nullptr);
    slices_of_.assign(goes_round.size(), {});
    InnerBuilder inner(body_.graph, builder_);
    inner_ = &inner;
    Frame frame(&inner);
    Emitter emit(inner);
    Carried& left = carry(outputs_[static_cast<size_t>(loop_.count())]);
    left.after = emit(kSub, {left.inner, emit.constant(Tensor::scalar<int32_t>(1))});
    for (size_t i = 0; i < goes_round.size(); ++i) {
      if (!goes_round[i]) continue;
      // Its gradient has the shape that the variable has in the body: each iteration may have
      // another one than the last, whose gradient is dy.
      const Node& variable = *loop_.pair->forward_body().graph()->inputs()[i];
      gradient_of_[i] = &carry(dy_[i] ? dy_[i] : zeros_like_gradient_of(outer_, outputs_[i]),
                               static_shape(variable.output(0).shape));
    }
    RETURN_IF_ERROR(outer_.status());
    ASSIGN_OR_RETURN(std::vector<Gradient> found, run_half(emit, goes_round));
    bool is_complete = true;
    for (size_t i = 0; i < goes_round.size(); ++i) {
      const bool has_one = !found[i].is_none();
      if (loop_.is_kept[i]) {
        RETURN_IF_ERROR(gather(emit, i, found[i]));
      } else if (goes_round[i]) {
        gradient_of_[i]->after = has_one ? densify(emit, found[i]) : emit(kZerosLike, {before_[i]});
      } else if (has_one && propagates(outputs_[i].dtype())) {
        goes_round[i] = true;
        is_complete = false;
      }
    }
    RETURN_IF_ERROR(outer_.status());
    RETURN_IF_ERROR(emit.status());
    if (is_complete) RETURN_IF_ERROR(finish(inner));
    inner_ = nullptr;
    return is_complete;
  }

  // The gradients of the variables before an iteration, from those after it.
  Result<std::vector<Gradient>> run_half(Emitter& emit, const std::vector<bool>& goes_round) {
    std::vector<Tensor> popped, popped_gradients(loop_.elements.size());
    for (size_t l = 0; l < loop_.elements.size(); ++l) {
      const auto output = static_cast<size_t>(loop_.list(static_cast<int>(l)));
      popped.push_back(pop(emit, outputs_[output], loop_.elements[l]));
      if (dy_[output]) popped_gradients[l] = pop(emit, dy_[output], loop_.elements[l]);
    }
    RETURN_IF_ERROR(emit.status());
    const Graph& forward = *loop_.pair->forward_body().graph();
    std::vector<Tensor> outputs;
    before_.clear();
    for (size_t i = 0; i < goes_round.size(); ++i) {
      before_.push_back(goes_round[i] ? before(emit, i, popped) : inputs_[i]);
    }
    std::vector<Gradient> dy;
    for (size_t o = 0; o < loop_.sources.size(); ++o) {
      const Source& source = loop_.sources[o];
      std::vector<Gradient> terms;
      if (o < goes_round.size() && goes_round[o]) terms.push_back({gradient_of_[o]->inner, {}});
      switch (source.kind) {
        case Source::kInput:
          outputs.push_back(inputs_[static_cast<size_t>(source.number)]);
          break;
        case Source::kConstant:
          outputs.push_back(emit.constant(source.constant));
          break;
        case Source::kList: {
          const auto number = static_cast<size_t>(source.number);
          outputs.push_back(popped[number]);
          if (popped_gradients[number]) terms.push_back({popped_gradients[number], {}});
          break;
        }
        case Source::kUnused: {
          const OutputType& type = type_of(forward.outputs()[o]);
          outputs.push_back(o < goes_round.size()
                                ? goes_round[o] ? gradient_of_[o]->inner : outputs_[o]
                                : emit(kFakeParam, {}, {type.dtype, static_shape(type.shape)}));
          break;
        }
      }
      dy.push_back(add_gradients(emit, terms));
    }
    RETURN_IF_ERROR(emit.status());
    return (*backward_of_call(loop_.pair, before_, outputs))(emit.builder(), dy);
  }

  // What has the shape that a variable had before an iteration; its value does not count.
  Tensor before(Emitter& emit, size_t i, std::span<const Tensor> popped) const {
    const ShapeBefore& shape = loop_.shapes_before[i];
    if (shape.values >= 0) return popped[static_cast<size_t>(shape.values)];
    const Tensor& gradient = gradient_of_[i]->inner;
    if (shape.shapes < 0) return gradient;
    const Tensor zero = emit.constant(Tensor::scalar(0.0f));
    return emit(kFill, {popped[static_cast<size_t>(shape.shapes)],
                        emit(kCast, {zero}, {gradient.dtype(), false})});
  }

  // Takes the last element off a list, which goes round the loop.
  Tensor pop(Emitter& emit, const Tensor& list, const HeldType& element) {
    Carried& carried = carry(list);
    const Tensors made = emit.apply(
        kTensorListPopBack, {carried.inner, shape_constant(emit, element.shape)}, {element.dtype});
    if (made.empty()) return {};
    carried.after = made[0];
    return made[1];
  }

  // Adds the gradient of one iteration to that of a value that does not change.
  Status gather(Emitter& emit, size_t i, const Gradient& found) {
    if (found.is_none() && !dy_[i]) return {};
    if (inputs_[i].dtype() != DType::kResource && !propagates(inputs_[i].dtype())) return {};
    if (found.is_slices() && gather_slices(emit, i, found.slices)) return emit.status();
    Carried& sum = carry(dy_[i] ? dy_[i] : zeros_like_gradient_of(outer_, inputs_[i]));
    RETURN_IF_ERROR(outer_.status());
    const Gradient terms[] = {{sum.inner, {}}, found};
    sum.after = densify(emit, add_gradients(emit, terms));
    gradient_of_[i] = &sum;
    return emit.status();
  }

  // Gathers slices in lists, so that an iteration costs no more than its own rows. False where the
  // slices do not say enough for that.
  bool gather_slices(Emitter& emit, size_t i, const IndexedSlices& slices) {
    const Shape &values = slices.values.shape(), &indices = slices.indices.shape();
    const bool is_known =
        values.has_rank() && values.rank() > 0 && indices.has_rank() && indices.rank() == 1;
    if (!is_known) return false;
    Slices& gathered = slices_of_[i];
    gathered.dense_shape = shape_of_gradient_of(outer_, inputs_[i]);
    gathered.values = &push(emit, slices.values);
    gathered.indices = &push(emit, slices.indices);
    return true;
  }
  // A list that goes round the loop and gets one more element in each iteration.
  Carried& push(Emitter& emit, const Tensor& element) {
    Carried& list = carry(outer_(
        kEmptyTensorList,
        {shape_constant(outer_, rows_of(element)), outer_.constant(Tensor::scalar<int32_t>(-1))},
        {element.dtype()}));
    if (!list.before) return list;
    list.after = emit(kTensorListPushBack, {list.inner, element});
    list.element = {element.dtype(), rows_of(element)};
    return list;
  }
  // The shape of rows like those of a tensor, of any number of them where that is not known.
  static Shape rows_of(const Tensor& tensor) {
    Shape shape = static_shape(tensor.shape());
    if (!shape[0].is_number()) shape.set(0, Dim::unknown());
    return shape;
  }

  Status finish(InnerBuilder& inner) {
    std::vector<OutputRef> outputs;
    for (const Carried& carried : carried_) {
      ASSIGN_OR_RETURN(Tensor own, inner.capture(carried.after, "gradient"));
      outputs.push_back(symbolic(own).output());
    }
    body_.graph->set_outputs(std::move(outputs));
    add_numerics_checks(*body_.graph, numerics_checks_of(*loop_.pair->forward_body().graph()),
                        body_.graph->inputs().size());
    order_effects(*body_.graph);
    std::vector<Node*> all = arguments_;
    for (const GraphBuilder::Capture& capture : inner.captures()) {
      all.push_back(&symbolic(capture.internal).node());
    }
    body_.graph->set_inputs(std::move(all));
    body_.num_arguments = static_cast<int>(arguments_.size());
    body_.captures.assign(inner.captures().begin(), inner.captures().end());
    return {};
  }

  // The condition: an iteration is left.
  Result<OpenGraph> make_condition() {
    OpenGraph condition;
    condition.graph = make_ref<Graph>(str_cat(body_.graph->name(), "_condition"));
    InnerBuilder inner(condition.graph, builder_);
    Frame frame(&inner);
    std::vector<Tensor> arguments;
    for (const Carried& carried : carried_) arguments.push_back(add_argument(inner, carried));
    condition.num_arguments = static_cast<int>(arguments.size());
    Emitter emit(inner);
    const Tensor holds = emit(kGreater, {arguments[0], emit.constant(Tensor::scalar<int32_t>(0))});
    RETURN_IF_ERROR(emit.status());
    condition.graph->set_outputs({symbolic(holds).output()});
    return condition;
  }

  Result<std::vector<Gradient>> apply(const Op& op, AttrsRef attrs,
                                      const std::vector<bool>& goes_round) {
    std::vector<Gradient> dx(inputs_.size());
    const bool has_dense = std::ranges::any_of(gradient_of_, [](const auto* c) { return c; });
    const bool has_slices = std::ranges::any_of(slices_of_, &Slices::values);
    if (!has_dense && !has_slices) return dx;
    ASSIGN_OR_RETURN(OpenGraph condition, make_condition());
    OpenGraph* const graphs[] = {&condition, &body_};
    const std::vector<Tensor> captured = merge_captures(graphs);
    std::vector<OutputRef> outputs(body_.graph->outputs().begin(), body_.graph->outputs().end());
    for (Node* input : body_.graph->inputs().subspan(outputs.size())) {
      outputs.push_back({input, 0});
    }
    body_.graph->set_outputs(std::move(outputs));
    const Ref<Body> bodies[] = {
        Body::create(str_cat(condition.graph->name(), "_", next_uid()), condition.graph),
        Body::create(str_cat("__backward_", body_.graph->name(), "_", next_uid()), body_.graph)};
    std::vector<Tensor> inputs;
    for (const Carried& carried : carried_) inputs.push_back(carried.before);
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    const Attrs backward = with_bodies(op, attrs, bodies);
    ASSIGN_OR_RETURN(Tensors made,
                     apply_bodies(builder_, op_for_bodies(op, bodies), inputs, backward));
    const auto after = [&](const Carried* one) {
      const auto at =
          std::ranges::find_if(carried_, [&](const Carried& carried) { return &carried == one; });
      return made[static_cast<size_t>(at - carried_.begin())];
    };
    for (size_t i = 0; i < goes_round.size(); ++i) {
      if (gradient_of_[i]) dx[i].dense = after(gradient_of_[i]);
      const Slices& slices = slices_of_[i];
      if (!slices.values) continue;
      const Gradient terms[] = {
          {dy_[i], {}},
          {{},
           {concatenated(after(slices.values), slices.values->element, slices.dense_shape),
            concatenated(after(slices.indices), slices.indices->element, {}), slices.dense_shape}}};
      dx[i].dense = densify(outer_, add_gradients(outer_, terms));
    }
    RETURN_IF_ERROR(outer_.status());
    return dx;
  }

  // The elements of a list as one tensor. Behind their first axis they have the sizes of
  // dense_shape, where these are not known now.
  Tensor concatenated(const Tensor& list, const HeldType& element, const Tensor& dense_shape) {
    return outer_(kTensorListConcatV2,
                  {list, open_shape(element.shape, dense_shape),
                   outer_.constant(Tensor::vector(std::span<const int64_t>()))},
                  {element.dtype});
  }
  Tensor open_shape(const Shape& element, const Tensor& dense_shape) {
    std::vector<int32_t> segments{-1};
    bool is_known = true;
    for (int d = 1; d < element.rank(); ++d) {
      is_known &= element[d].is_number();
      segments.push_back(d - 1);
    }
    if (is_known) return shape_constant(outer_, element);
    // A sum of segments, where rows of negative numbers are left out, takes the sizes behind the
    // first.
    const Tensor sizes = outer_(kCast, {dense_shape}, {DType::kInt32, false});
    const auto rest = static_cast<int32_t>(segments.size() - 1);
    const int32_t any[] = {-1};
    const Tensor parts[] = {
        outer_.constant(Tensor::vector<int32_t>(any)),
        outer_(kUnsortedSegmentSum,
               {sizes, outer_.constant(Tensor::vector(std::span<const int32_t>(segments))),
                outer_.constant(Tensor::scalar<int32_t>(rest))}),
        outer_.constant(Tensor::scalar<int32_t>(0))};
    const Tensors joined = outer_.apply(*kConcatV2, parts, NoAttrs());
    return joined.empty() ? Tensor() : joined[0];
  }

  Builder& builder_;
  Emitter outer_;
  const Loop& loop_;
  const std::span<const Tensor> inputs_, outputs_;
  std::vector<Tensor> dy_;  // dense, one for each output; empty where there is none
  InnerBuilder* inner_ = nullptr;
  OpenGraph body_;
  std::deque<Carried> carried_;
  std::vector<Node*> arguments_;
  std::vector<Carried*> gradient_of_;  // of each variable, if it is dense; null if it is not
  std::vector<Tensor> before_;         // for each variable: see `before`
  std::vector<Slices> slices_of_;      // of each variable, if it is slices
};

class LoopBackward final : public Backward {
 public:
  LoopBackward(const Op& op, Attrs attrs, std::shared_ptr<const Loop> loop,
               std::span<const Tensor> inputs, std::span<const Tensor> outputs)
      : op_(op),
        attrs_(std::move(attrs)),
        loop_(std::move(loop)),
        inputs_(inputs.begin(), inputs.end()),
        outputs_(outputs.begin(), outputs.end()) {}

  std::string_view name() const override { return op_.name(); }
  Result<std::vector<Gradient>> operator()(Builder& builder,
                                           std::span<const Gradient> dy) const override {
    return BackwardLoop(builder, *loop_, inputs_, outputs_, dy).run(op_, attrs_);
  }

 private:
  const Op& op_;
  const Attrs attrs_;
  const std::shared_ptr<const Loop> loop_;
  const std::vector<Tensor> inputs_, outputs_;
};

}  // namespace

Result<ExtendedNode> extend_loop(const Op& op, AttrsRef attrs, Builder& builder,
                                 int64_t recompute) {
  const NodeBodies bodies = bodies_of(op, attrs);
  const Ref<Body>&condition = bodies.all[0].body, &body = bodies.all[1].body;
  ASSIGN_OR_RETURN(Ref<GradientPair> pair, gradient_pair(body, PairOf::kLoop));
  ASSIGN_OR_RETURN(std::shared_ptr<Loop> loop, loop_of(*body, std::move(pair)));
  ASSIGN_OR_RETURN(Ref<Body> forward, forward_body(*loop, recompute));
  const Ref<Body> halves[] = {forward_condition(*condition, *loop), std::move(forward)};
  ExtendedNode extended(op, with_bodies(op, attrs, halves));
  Emitter emit(builder);
  extended.more_inputs.push_back(emit.constant(Tensor::scalar<int32_t>(0), "count"));
  for (const HeldType& element : loop->elements) {
    extended.more_inputs.push_back(
        emit(kEmptyTensorList,
             {shape_constant(emit, element.shape), emit.constant(Tensor::scalar<int32_t>(-1))},
             {element.dtype}));
  }
  RETURN_IF_ERROR(emit.status());
  extended.backward = [&op, attrs = extended.attrs, loop](
                          std::span<const Tensor> inputs,
                          std::span<const Tensor> outputs) -> BackwardRef {
    return std::make_shared<LoopBackward>(op, attrs, loop, inputs, outputs);
  };
  return extended;
}

}  // namespace graven::engine
