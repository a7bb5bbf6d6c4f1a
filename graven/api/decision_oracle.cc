#include "graven/api/decision_oracle.h"

#include <algorithm>
#include <string_view>
#include <typeinfo>
#include <unordered_map>

#include "graven/api/control_flow.h"
#include "graven/api/error.h"
#include "graven/api/library_call.h"
#include "graven/api/location.h"
#include "graven/api/op_functions.h"
#include "graven/api/user_callable.h"
#include "graven/base/strings.h"
#include "graven/function/same_graph.h"
#include "graven/ir/bodies.h"
#include "graven/ir/body.h"
#include "graven/ir/emitter.h"
#include "graven/ir/frame.h"
#include "graven/ir/host_function.h"
#include "graven/runtime/eager_builder.h"

namespace graven::internal {
namespace {

using engine::Frame;
using engine::Node;
using engine::Status;
using engine::Value;

constexpr int64_t kMaxRuns = 20'000;
// How often a question of the same states may be asked at one place without being a loop.
constexpr size_t kMaxUnrolled = 64;
// How often one place may ask in a run when Statics differ each time.
constexpr size_t kMaxRounds = 128;
// How far a loop is followed to see that its iterations are alike.
constexpr size_t kMaxCheckedIterations = 64, kMaxCheckedEvents = 4096;
// How many ways through a loop are followed each by itself to see that they change nothing behind
// it; more are followed one behind the other.
constexpr size_t kMaxTwins = 8;

constinit thread_local DecisionOracle* t_oracle = nullptr;

// What decide throws to leave a run.
struct RunIsOver {};

Status runtime_error(std::string message) {
  return Status(engine::Code::kFailedPrecondition, std::move(message),
                engine::ErrorKind::kRuntimeError);
}

bool is_same_place(const std::source_location& a, const std::source_location& b) {
  return a.line() == b.line() && a.column() == b.column() &&
         std::string_view(a.file_name()) == b.file_name();
}

std::string text_of(const std::source_location& where) {
  return engine::str_cat(where.file_name(), ":", where.line());
}
std::string text_of(const engine::Ref<engine::Location>& location) {
  if (!location || location->frames().empty()) return "an unknown line";
  const engine::SourceFrame frame = location->frames().back();
  return engine::str_cat(frame.file, ":", frame.line);
}

bool is_same(const engine::Tensor& a, const engine::Tensor& b) {
  if (a == b) return true;
  if (!a || !b || a.is_symbolic() != b.is_symbolic()) return false;
  if (a.is_symbolic()) return engine::symbolic(a).output() == engine::symbolic(b).output();
  if (a.dtype() != b.dtype() || a.dtype() != DType::kResource) return false;
  return a.resource() == b.resource();
}
bool are_same(std::span<const engine::Tensor> a, std::span<const engine::Tensor> b) {
  return std::ranges::equal(a, b, is_same);
}
std::vector<engine::Tensor> tensors_in(const std::vector<Value>& values) {
  std::vector<engine::Tensor> tensors;
  for (const Value& value : values) collect_tensors(value, tensors);
  return tensors;
}

// An error if a tensor is of a graph that is not built now: of an iteration of a loop that was
// left.
Status check_scope(std::span<const engine::Tensor> tensors) {
  for (const engine::Tensor& tensor : tensors) {
    if (!tensor || !tensor.is_symbolic()) continue;
    const engine::SymbolicTensor& made = engine::symbolic(tensor);
    Frame* frame = &Frame::current();
    while (frame && frame->graph() != made.graph().get()) frame = frame->below();
    if (frame) continue;
    return Status(engine::Code::kInvalidArgument,
                  engine::str_cat("The tensor ", made.node().name(), " that was made at ",
                                  text_of(made.node().location()),
                                  " cannot be used here. If it was made in a loop on staged() that "
                                  "was left, assign it to a graven::State that is declared before "
                                  "the loop"),
                  engine::ErrorKind::kInaccessibleTensorError);
  }
  return {};
}

bool are_alike(const engine::Graph& a, const engine::Graph& b);

// True if two applications of an op do the same.
bool are_alike(const engine::Op& op, engine::AttrsRef a, engine::AttrsRef b) {
  if (a == b) return true;
  // Bodies are traced anew in each run.
  const engine::NodeBodies of_a = engine::bodies_of(op, a), of_b = engine::bodies_of(op, b);
  if (!of_a.empty()) {
    bool all = of_a.all.size() == of_b.all.size();
    for (size_t i = 0; all && i < of_a.all.size(); ++i) {
      const engine::Ref<engine::Body>&x = of_a.all[i].body, &y = of_b.all[i].body;
      all = x == y || (x && y && are_alike(*x->graph(), *y->graph()));
    }
    return all;
  }
  // Functions of the program are made anew in each run, too.
  if (engine::owns_host_function(a)) return engine::same_attributes(a, b);
  // A default seed is the number of such ops in a graph, and a run may begin in another graph.
  return !std::holds_alternative<std::monostate>(a.get("seed2"));
}

bool are_alike(const engine::Graph& a, const engine::Graph& b) {
  if (a.nodes().size() != b.nodes().size() || a.inputs().size() != b.inputs().size()) return false;
  std::unordered_map<const Node*, const Node*> in_b;
  const auto is_alike = [&](engine::OutputRef x, engine::OutputRef y) {
    const auto at = in_b.find(x.node);
    return at != in_b.end() && at->second == y.node && x.index == y.index;
  };
  for (size_t i = 0; i < a.nodes().size(); ++i) {
    const Node &x = *a.nodes()[i], &y = *b.nodes()[i];
    if (&x.op() != &y.op() || !are_alike(x.op(), x.attrs(), y.attrs())) return false;
    if (!std::ranges::equal(x.inputs(), y.inputs(), is_alike)) return false;
    in_b[&x] = &y;
  }
  return std::ranges::equal(a.outputs(), b.outputs(), is_alike);
}

// A function of the engine's own for cond and while_loop, which may throw.
class OracleCallable final : public engine::Callable {
 public:
  using Function = std::function<Value(std::span<const Value> arguments)>;
  explicit OracleCallable(Function function) : function_(std::move(function)) {}
  engine::Result<Value> call(std::span<const Value> arguments, As) override {
    try {
      return function_(arguments);
    } catch (...) {
      return status_of_current_exception();
    }
  }

 private:
  const Function function_;
};

engine::Tensor number(int32_t value) { return engine::Tensor::scalar(value); }

engine::Ref<engine::Callable> callable_of(OracleCallable::Function function) {
  return engine::make_ref<OracleCallable>(std::move(function));
}

Value run_loop(const engine::Ref<engine::Callable>& condition,
               const engine::Ref<engine::Callable>& body, const std::vector<Value>& variables,
               const engine::ShapeStructure& shapes, const std::source_location& where) {
  static const engine::PublicFunction& function = library_function("while_loop");
  LibraryCall call(function, where);
  call.set(0, condition);
  call.set(1, body);
  call.set(2, Value::of_container(engine::Container::tuple(), variables));
  if (shapes.value.kind == Value::Kind::kContainer) call.set(3, shapes);
  return call.run().structure;
}

}  // namespace

// --- States.

ListedState::ListedState() {
  if (!t_oracle) return;
  states_ = DecisionOracle::current_states();
  number_ = states_->add(this);
}

ListedState::~ListedState() {
  if (states_) states_->remove(number_);
}

// --- The builder of a run.

// Adds nodes to the graph of another builder, or finds those of the path.
class PathBuilder final : public engine::GraphBuilder {
 public:
  PathBuilder(DecisionOracle& oracle, engine::GraphBuilder& below)
      : GraphBuilder(below.graph_ref()), oracle_(oracle), below_(below) {
    control_inputs = below.control_inputs;
  }

  engine::Result<engine::Tensors> apply(const engine::Op& op,
                                        std::span<const engine::Tensor> inputs,
                                        engine::AttrsRef attrs, std::string_view name) override {
    const engine::OpRecord& record = op.record();
    if (record.body.kind() == engine::OpBody::Kind::kComposite && !record.infer) {
      return GraphBuilder::apply(op, inputs, attrs, name);  // comes here with its parts
    }
    if (oracle_.is_over_ || oracle_.failure_) {
      return runtime_error(
          "This run of the body has ended at staged(): do not catch what it throws");
    }
    if (oracle_.next_ < oracle_.path_.size()) return known(op, inputs, attrs);
    if (oracle_.purpose_ != DecisionOracle::Purpose::kTrace) return fail(nullptr, op);
    if (oracle_.was_in_loop()) RETURN_IF_ERROR(check_scope(inputs));
    ASSIGN_OR_RETURN(engine::Tensors outputs, GraphBuilder::apply(op, inputs, attrs, name));
    DecisionOracle::Event event;
    event.inputs.assign(inputs.begin(), inputs.end());
    event.outputs = outputs;
    event.node = graph()->nodes().back();
    event.graph = graph_ref();
    oracle_.path_.push_back(std::move(event));
    ++oracle_.next_;
    return outputs;
  }
  engine::Result<engine::Tensor> capture(const engine::Tensor& external,
                                         std::string_view name) override {
    return below_.capture(external, name);
  }

 private:
  engine::Result<engine::Tensors> known(const engine::Op& op,
                                        std::span<const engine::Tensor> inputs,
                                        engine::AttrsRef attrs) {
    const DecisionOracle::Event& event = oracle_.path_[oracle_.next_];
    const bool is_same_op = event.node && &event.node->op() == &op &&
                            are_same(event.inputs, inputs) &&
                            are_alike(op, event.node->attrs(), attrs);
    if (!is_same_op) return fail(&event, op);
    ++oracle_.next_;
    return event.outputs;
  }
  Status fail(const DecisionOracle::Event* expected, const engine::Op& op) {
    const std::string now = engine::str_cat(op.name(), " at ", text_of(cpp_locations().current()));
    oracle_.failure_ = oracle_.other_line(expected, now);
    return *oracle_.failure_;
  }

  DecisionOracle& oracle_;
  engine::GraphBuilder& below_;
};

// --- Tapes.

void DecisionOracle::tell_listeners(const Event& question) const {
  const auto& listeners = Frame::current().listeners;
  if (listeners.empty()) return;
  const std::vector<engine::Tensor> before = tensors_in(question.seen.values);
  const std::vector<engine::Tensor> now = tensors_in(*question.values);
  // Of an iteration: what the tape does not see. The gradient goes on as it is, because a run that
  // leaves the loop may ask for it before that is known; one that asks the loop again is an error.
  const auto earlier = engine::backward_of(
      "staged()",
      [used = used_earlier_iterations_](engine::Builder&, std::span<const engine::Gradient> dy)
          -> engine::Result<std::vector<engine::Gradient>> {
        *used = true;
        return std::vector<engine::Gradient>(dy.begin(), dy.end());
      });
  for (engine::Listener* listener : listeners) {
    if (question.steps) {
      question.steps->tell(*listener);
    } else if (listener->wants(before)) {
      listener->on_step(before, now, earlier);
    }
  }
}

// --- Runs.

DecisionOracle* DecisionOracle::current() { return t_oracle; }
const std::shared_ptr<States>& DecisionOracle::current_states() { return t_oracle->states_; }

Status DecisionOracle::other_line(const Event* expected, std::string_view now) const {
  std::string before = "the end of the body";
  if (expected && expected->node) {
    before =
        engine::str_cat(expected->node->op().name(), " at ", text_of(expected->node->location()));
  } else if (expected) {
    before = engine::str_cat("staged() at ", text_of(expected->where));
  }
  return runtime_error(
      engine::str_cat("A body with staged() did not do the same when it was run again: it came "
                      "to ",
                      now, ", where it had come to ", before,
                      ". A tensor that a loop changes must be a graven::State, other values "
                      "that it changes "
                      "graven::Static, and nothing else may differ between runs"));
}

bool DecisionOracle::is_next(const engine::Tensor& condition,
                             const std::source_location& where) const {
  const Event& event = path_[next_];
  return !event.node && is_same_place(event.where, where) && is_same(event.inputs[0], condition) &&
         states_->are_as(event.seen) &&
         are_same(tensors_in(event.seen.values), tensors_in(states_->see().values));
}

bool DecisionOracle::decide(const engine::Tensor& condition, const std::source_location& where) {
  if (Frame::current().id() != frame_) {
    throw_error(runtime_error("staged() asks about a tensor of a graph that is not built here"),
                where);
  }
  if (is_over_ || failure_) throw RunIsOver();
  if (next_ < path_.size() && is_next(condition, where)) {
    const Event& event = path_[next_];
    ++next_;
    if (next_ == path_.size() && purpose_ == Purpose::kCheckToQuestion) {
      is_over_ = true;
      throw RunIsOver();
    }
    if (event.values) {
      tell_listeners(event);
      states_->set(*event.values);
    }
    return event.answer;
  }
  // A tensor does not change its truth.
  for (size_t i = 0; i < next_; ++i) {
    const Event& before = path_[i];
    if (before.node || before.values || !is_same(before.inputs[0], condition)) continue;
    if (++num_known_ < kMaxRuns) return before.answer;
    throw_error(Status(engine::Code::kResourceExhausted,
                       engine::str_cat("staged() was asked about one tensor ", kMaxRuns,
                                       " times: the condition of the loop does not change")),
                where);
  }
  if (next_ < path_.size() || purpose_ != Purpose::kTrace) {
    failure_ = other_line(next_ < path_.size() ? &path_[next_] : nullptr,
                          engine::str_cat("staged() at ", text_of(where)));
    throw RunIsOver();
  }
  Event question;
  question.inputs.push_back(condition);
  question.where = where;
  question.seen = states_->see();
  question.has_listeners = !Frame::current().listeners.empty();
  size_t rounds = 0;
  for (size_t i = path_.size(); i-- > 0;) {
    const Event& before = path_[i];
    if (before.node || !is_same_place(before.where, where)) continue;
    ++rounds;
    if (states_->are_as(before.seen)) question.same.push_back(i);
  }
  if (rounds >= kMaxRounds) {
    throw_error(Status(engine::Code::kResourceExhausted,
                       engine::str_cat("staged() was asked here ", kMaxRounds,
                                       " times in one run, each time with other values of a "
                                       "graven::Static: what a loop changes as often as a tensor "
                                       "says must be a graven::State")),
                where);
  }
  path_.push_back(std::move(question));
  is_over_ = true;
  throw RunIsOver();
}

void DecisionOracle::count_run() {
  DecisionOracle* outermost = this;
  while (outermost->outer_) outermost = outermost->outer_;
  if (++outermost->num_runs_ <= kMaxRuns) return;
  throw_error(Status(engine::Code::kResourceExhausted,
                     engine::str_cat("A body with staged() was run ", kMaxRuns,
                                     " times, and has more sequences of answers: trace its "
                                     "branches by graven::cond, or its loop by "
                                     "graven::while_loop")),
              path_.empty() ? std::source_location() : path_.back().where);
}

std::optional<Value> DecisionOracle::run() {
  count_run();
  const UsersLines lines;
  // Not on the stack, of which traces in traces need much.
  const auto builder = std::make_unique<PathBuilder>(*this, *Frame::current().graph_builder());
  const auto frame = std::make_unique<Frame>(builder.get());
  frame->name_scope = frame->below()->name_scope;
  frame->device = frame->below()->device;
  frame_ = frame->id();
  next_ = 0;
  num_known_ = 0;
  is_over_ = false;
  failure_.reset();
  states_ = std::make_shared<States>();
  used_earlier_iterations_ = std::make_shared<bool>(false);
  t_oracle = this;
  engine::Result<Value> result = body_();
  t_oracle = outer_;
  if (is_over_ && !failure_ && !result.ok()) return std::nullopt;
  check_end(result);
  return std::move(*result);
}

void DecisionOracle::check_end(const engine::Result<Value>& result) const {
  const std::source_location where = path_.empty() ? std::source_location() : path_.back().where;
  if (failure_) throw LeftPath{*failure_};
  if (is_over_) {
    throw_error(runtime_error("What staged() throws to leave a run of the body was caught: rethrow "
                              "what `catch (...)` catches"),
                where);
  }
  if (!result.ok()) throw_error(result.status(), where);
  if (next_ < path_.size()) throw LeftPath{other_line(&path_[next_], "the end of the body")};
  if (was_in_loop()) throw_if_error(check_scope(tensors_in({result.value()})), where);
}

bool DecisionOracle::was_in_loop() const {
  return std::ranges::any_of(path_, [](const Event& event) { return event.values.has_value(); });
}

Status DecisionOracle::check(Path path, const Value* result) {
  std::swap(path, path_);
  purpose_ = result ? Purpose::kCheckToEnd : Purpose::kCheckToQuestion;
  Status status;
  try {
    const std::optional<Value> again = run();
    if (result && !are_same(tensors_in({*result}), tensors_in({*again}))) {
      status = runtime_error(
          "A body with staged() returned other tensors when a loop had run before: what a loop "
          "changes must be a graven::State, declared before the loop");
    }
  } catch (const LeftPath& left) {
    status = left.status;
  } catch (...) {
    purpose_ = Purpose::kTrace;
    throw;
  }
  purpose_ = Purpose::kTrace;
  std::swap(path, path_);
  return status;
}

// --- The graph.

Value DecisionOracle::trace() {
  try {
    return explore({}).value;
  } catch (const LeftPath& left) {
    throw_error(left.status, {});
  }
}

DecisionOracle::Outcome DecisionOracle::explore(const Way& way) {
  path_ = way.path;
  std::optional<Value> result = run();
  const Way now = checked_way(way, result ? &*result : nullptr);
  if (result) return {std::move(*result), {}};
  return explore_question(now);
}

DecisionOracle::Way DecisionOracle::checked_way(const Way& way, const Value* result) {
  Way now{path_, way.twins};
  const auto behind = path_.begin() + static_cast<ptrdiff_t>(way.path.size());
  for (Path& twin : now.twins) {
    twin.insert(twin.end(), behind, path_.end());
    throw_if_error(check(twin, result), {});
  }
  return now;
}

DecisionOracle::Outcome DecisionOracle::explore_question(const Way& way) {
  const size_t at = way.path.size() - 1;
  for (const size_t i : path_[at].same) {
    const auto loop = std::ranges::find(loops_, i, &Loop::at);
    if (loop != loops_.end()) return {loop + 1 == loops_.end() ? ask_again() : Value(), i};
    if (path_[i].values) continue;  // a loop that was left
    // Only the last one: if that is no loop, it is a function that is called again.
    if (!no_loops_.contains(loop_path(i, path_))) throw FoundLoop{i, path_[i].answer};
    break;
  }
  const Operand condition(path_[at].inputs[0], path_[at].where);
  const Way on_true = answered(way, true), on_false = answered(way, false);
  for (;;) {
    std::optional<FoundLoop> loop;
    try {
      return choose({on_true, on_false}, [&](std::vector<engine::Ref<engine::Callable>> functions) {
        return run_cond(condition, functions[0], functions[1]);
      });
    } catch (const FoundLoop& found) {
      if (found.at != at) throw;
      loop = found;
    }
    try {
      path_ = way.path;
      return trace_loop(way, loop->answer);
    } catch (const FoundNoLoop& found) {
      if (found.path.first != at) throw;
      if (on_true.path[at].same.size() >= kMaxUnrolled) throw_error(found.reason, {});
      no_loops_.insert(found.path);
    }
  }
}

DecisionOracle::Way DecisionOracle::answered(Way way, bool answer, const std::vector<Value>* values,
                                             std::shared_ptr<const LoopSteps> steps) {
  const auto set = [&](Event& question) {
    question.answer = answer;
    if (values) question.values = *values;
    question.steps = steps;
  };
  set(way.path.back());
  for (Path& twin : way.twins) set(twin.back());
  return way;
}

DecisionOracle::LoopPath DecisionOracle::loop_path(size_t loop, const Path& path) {
  LoopPath made{loop, {}};
  for (const Event& event : path) {
    if (!event.node) made.second.push_back(event.answer);
  }
  return made;
}

bool DecisionOracle::is_leave(const Way& way) const {
  return !loops_.empty() && leaves_.contains(loop_path(loops_.back().at, way.path));
}

DecisionOracle::Outcome DecisionOracle::choose(const std::vector<Way>& ways, const Apply& apply) {
  for (;;) {
    std::vector<std::optional<Outcome>> outcomes(ways.size());
    std::optional<size_t> again;  // of the first that was explored
    bool differ = false;
    const auto function = [&](size_t i) {
      return callable_of([&, i](std::span<const Value>) {
        Outcome outcome =
            is_leave(ways[i]) ? Outcome{leave(ways[i].path), loops_.back().at} : explore(ways[i]);
        Value value = outcome.value;
        const bool is_first = std::ranges::none_of(outcomes, [](const auto& o) { return !!o; });
        if (is_first) again = outcome.again;
        outcomes[i] = std::move(outcome);
        differ = outcomes[i]->again != again;
        if (differ) throw RunIsOver();
        return value;
      });
    };
    std::vector<engine::Ref<engine::Callable>> functions;
    for (size_t i = 0; i < ways.size(); ++i) functions.push_back(function(i));
    try {
      return {apply(std::move(functions)), again};
    } catch (const RunIsOver&) {
      if (!differ) throw;
    }
    // Some ways ask the loop again, and some leave it.
    const Loop& loop = loops_.back();
    for (size_t i = 0; i < ways.size(); ++i) {
      if (outcomes[i] && outcomes[i]->again != loop.at) {
        leaves_.insert(loop_path(loop.at, ways[i].path));
      }
    }
  }
}

DecisionOracle::Outcome DecisionOracle::trace_loop(const Way& way, bool answer) {
  const Path& path = way.path;
  const size_t at = path.size() - 1;
  const engine::Tensor condition = path[at].inputs[0];
  const std::source_location where = path[at].where;
  const size_t num_states = path[at].seen.values.size();
  Loop loop{.at = at, .answer = answer};
  const auto holds = callable_of([&](std::span<const Value> now) {
    const Value& asked = now[num_states];
    return answer ? asked : Value::of_tensor(logical_not(Operand(asked.tensor, where)));
  });
  std::vector<Value> variables;
  const auto body = callable_of([&](std::span<const Value> now) {
    const std::vector<Value> values(now.begin(), now.begin() + static_cast<ptrdiff_t>(num_states));
    loops_.back().iterations.clear();
    loops_.back().leaves.clear();
    Outcome outcome = explore(answered(way, answer, &values));
    if (outcome.again != at) {
      throw_error(runtime_error("A loop on staged() was not asked again when it was run again"),
                  where);
    }
    if (loops_.back().shapes.widen(variables, outcome.value)) throw FoundShapes{at};
    return std::move(outcome.value);
  });
  Value after;
  std::shared_ptr<LoopSteps> steps;
  for (;;) {
    variables = path[at].seen.values;
    variables.push_back(Value::of_tensor(condition));
    if (loop.is_left) variables.push_back(Value::of_tensor(constant(number(0), where)));
    steps = path[at].has_listeners ? std::make_shared<LoopSteps>() : nullptr;
    loops_.push_back(loop);
    try {
      const LoopSteps::Listening listening(steps.get());
      after = run_loop(holds, body, variables, loop.shapes.invariants(variables), where);
      break;
    } catch (const FoundLeave& found) {
      loops_.pop_back();
      if (found.at != at) throw;
      loop.is_left = true;
    } catch (const FoundShapes& found) {
      if (found.at == at) loop.shapes = std::move(loops_.back().shapes);
      loops_.pop_back();
      if (found.at != at) throw;
    } catch (...) {
      loops_.pop_back();
      throw;
    }
  }
  loop = std::move(loops_.back());
  loops_.pop_back();
  check_iterations(loop);

  const std::vector<Value> states(after.items.begin(),
                                  after.items.begin() + static_cast<ptrdiff_t>(num_states));
  // The ways behind the loop: the answer that ends it, and each that leaves it; each also behind
  // one more iteration.
  const std::vector<Path> iterations = twins_of(loop);
  std::vector<Way> ways = {way};
  ways[0].twins.insert(ways[0].twins.end(), iterations.begin(), iterations.end());
  ways[0] = answered(std::move(ways[0]), !answer, &states, steps);
  for (const Path& leave : loop.leaves) {
    const States::Seen& seen = leave.back().seen;
    const auto inside = leave.begin() + static_cast<ptrdiff_t>(at) + 1;
    Way left{leave};
    Way twins{{path[at]}, way.twins};
    twins.twins.insert(twins.twins.end(), iterations.begin(), iterations.end());
    left.twins = answered(std::move(twins), answer, &*leave[at].values).twins;
    for (Path& twin : left.twins) twin.insert(twin.end(), inside, leave.end());
    const std::vector<Value> values = seen.with(path[at].seen, states, seen.values);
    ways.push_back(answered(std::move(left), leave.back().answer, &values, steps));
  }
  if (ways.size() == 1) return explore(ways[0]);
  const Operand left(after.items.back().tensor, where);
  return choose(ways, [&](std::vector<engine::Ref<engine::Callable>> functions) {
    return run_switch_case(left, std::move(functions), nullptr);
  });
}

Value DecisionOracle::ask_again() {
  Loop& loop = loops_.back();
  const Event& question = path_.back();
  if (*used_earlier_iterations_) {
    throw_error(Status(engine::Code::kUnimplemented,
                       "A gradient in this loop on staged() goes through iterations before: make "
                       "the tape in the loop, or ask it for gradients behind the loop",
                       engine::ErrorKind::kLookupError),
                question.where);
  }
  std::vector<Value> next = question.seen.values;
  next.push_back(Value::of_tensor(question.inputs[0]));
  if (loop.is_left) next.push_back(Value::of_tensor(constant(number(0), question.where)));
  if (loop.iterations.empty()) {
    const size_t length = path_.size() - 1 - loop.at;
    const size_t times = std::clamp(kMaxCheckedEvents / length, size_t{1}, kMaxCheckedIterations);
    Status status = check(followed(loop, path_, std::vector<const Path*>(times, &path_)), nullptr);
    if (!status.ok()) throw FoundNoLoop{loop_path(loop.at, path_), std::move(status)};
  }
  const LoopPath answers = loop_path(loop.at, path_);
  std::erase_if(loop.iterations, [&](const Path& iteration) {
    return loop_path(loop.at, iteration) == answers;  // traced before, in a graph that was given up
  });
  loop.iterations.push_back(path_);
  return Value::of_container(engine::Container::tuple(), std::move(next));
}

DecisionOracle::Path DecisionOracle::followed(const Loop& loop, Path path,
                                              const std::vector<const Path*>& iterations) {
  for (const Path* iteration : iterations) {
    path.back().answer = loop.answer;
    path.back().values = (*iteration)[loop.at].values;
    path.insert(path.end(), iteration->begin() + static_cast<ptrdiff_t>(loop.at) + 1,
                iteration->end());
  }
  return path;
}

std::vector<DecisionOracle::Path> DecisionOracle::twins_of(const Loop& loop) {
  const std::vector<Path>& paths = loop.iterations;
  if (paths.size() <= kMaxTwins) return paths;
  std::vector<const Path*> others;
  for (const Path& path : paths) others.push_back(&path);
  std::vector<Path> twins = {followed(loop, paths.front(), others)};
  std::ranges::reverse(others);
  twins.push_back(followed(loop, paths.back(), others));
  return twins;
}

void DecisionOracle::check_iterations(const Loop& loop) {
  const std::vector<Path>& paths = loop.iterations;
  if (paths.size() < 2) return;  // was checked when it was found
  // Each behind each other and itself, or, of many, each behind the first and itself, and the first
  // behind each.
  const size_t num_others = paths.size() <= kMaxTwins ? paths.size() : 1;
  std::vector<const Path*> order;
  for (size_t i = 0; i < paths.size(); ++i) {
    order.push_back(&paths[i]);
    for (size_t j = 0; j < num_others; ++j) {
      order.push_back(&paths[j]);
      order.push_back(&paths[i]);
    }
    order.push_back(&paths[i]);
  }
  throw_if_error(check(followed(loop, paths[0], order), nullptr), {});
}

Value DecisionOracle::leave(const Path& path) {
  Loop& loop = loops_.back();
  if (!loop.is_left) throw FoundLeave{loop.at};
  const Event& last = path.back();
  auto known = std::ranges::find(loop.leaves, loop_path(loop.at, path),
                                 [&](const Path& leave) { return loop_path(loop.at, leave); });
  const auto place = static_cast<int32_t>(known - loop.leaves.begin());
  if (known == loop.leaves.end()) loop.leaves.push_back(path);
  // States that were made since end with the loop; those that ended before keep their values.
  const Event& first = path[loop.at];
  std::vector<Value> variables =
      first.seen.with(last.seen, last.values ? *last.values : last.seen.values, *first.values);
  variables.push_back(Value::of_tensor(constant(engine::Tensor::scalar(!loop.answer), last.where)));
  variables.push_back(Value::of_tensor(constant(number(place + 1), last.where)));
  return Value::of_container(engine::Container::tuple(), std::move(variables));
}

engine::Result<Value> call_body(engine::FunctionRef<engine::Result<Value>()> body) {
  const UsersLines lines;
  if (!Frame::current().is_graph()) return body();
  try {
    return std::make_unique<DecisionOracle>([&] { return body(); })->trace();
  } catch (...) {
    return status_of_current_exception();
  }
}

}  // namespace graven::internal
