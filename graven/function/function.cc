#include "graven/function/function.h"

#include <algorithm>

#include "graven/base/strings.h"
#include "graven/base/waiting_lock.h"
#include "graven/function/control_dependencies.h"
#include "graven/function/lift.h"
#include "graven/ir/frame.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

constinit thread_local VariableCreation* t_creation = nullptr;

Status singleton_error() {
  return value_error(
      "tf.function only supports singleton tf.Variables created on the first call. Make sure the "
      "tf.Variable is only created once or created outside tf.function. See "
      "https://www.tensorflow.org/guide/function#creating_tfvariables for more information, and "
      "docs/errors/creating-variables.md");
}

Status check_pure(const Graph& graph, size_t num_captures) {
  bool has_resource = std::ranges::any_of(
      graph.inputs(), [](const Node* input) { return input->output(0).dtype == DType::kResource; });
  if (num_captures == 0 && !has_resource) return {};
  return Status(Code::kInvalidArgument,
                "A function with the attribute _implements must be pure: it may capture no tensors "
                "or variables and take no resources",
                ErrorKind::kAssertionError);
}

// Gives each tensor of a result an Identity of its own, which becomes an output (S5.14).
Status add_outputs(GraphBuilder& builder, Value& value, std::vector<OutputRef>& outputs) {
  switch (value.kind) {
    case Value::Kind::kTensor: {
      ASSIGN_OR_RETURN(Tensors identity,
                       builder.apply(*kIdentity, std::span(&value.tensor, 1), NoAttrs()));
      value.tensor = identity[0];
      outputs.push_back(symbolic(value.tensor).output());
      return {};
    }
    case Value::Kind::kLiteral:
      if (std::holds_alternative<None>(value.literal)) return {};
      break;
    case Value::Kind::kDict: {
      ASSIGN_OR_RETURN(std::vector<int> order, sorted_key_order(value.keys));
      for (int i : order) RETURN_IF_ERROR(add_outputs(builder, value.items[i], outputs));
      return {};
    }
    case Value::Kind::kList:
    case Value::Kind::kTuple:
    case Value::Kind::kNamedTuple:
    case Value::Kind::kAttrs:
    case Value::Kind::kTyped:
      for (Value& item : value.items) RETURN_IF_ERROR(add_outputs(builder, item, outputs));
      return {};
    default:
      break;
  }
  return type_error("A function must return zero or more Tensors or ExtensionTypes or None values");
}

}  // namespace

VariableCreation* VariableCreation::current() { return t_creation; }

VariableCreation::VariableCreation(Policy policy) : policy_(policy), outer_(t_creation) {
  t_creation = this;
}

VariableCreation::~VariableCreation() { t_creation = outer_; }

Status VariableCreation::record(CreatedVariable variable) {
  if (policy_ == Policy::kForbid) return singleton_error();
  created_.push_back(std::move(variable));
  return {};
}

Status Function::fill_types(FunctionType& type, std::span<const Value> arguments) const {
  TypingContext context{options_.literals_equal_as_numbers, {}};
  for (size_t i = 0; i < type.parameters.size(); ++i) {
    if (type.parameters[i].type) continue;
    ASSIGN_OR_RETURN(type.parameters[i].type, type_of(arguments[i], context));
  }
  return {};
}

Result<Function::State> Function::enter() {
  const auto me = std::this_thread::get_id();
  auto recursive = [&] { return state_ == State::kNew ? State::kNoVariables : state_; };
  for (;;) {
    {
      std::lock_guard lock(mutex_);
      if (!first_caller_) {
        if (state_ != State::kNew) return state_;
        // Nobody has it, so this does not wait.
        ASSIGN_OR_RETURN(first_call_, Claim::take(&first_caller_));
        first_caller_ = me;
        entries_before_first_call_ = entries_.size();
        return State::kNew;
      }
      if (first_caller_ == me) return recursive();
    }
    ASSIGN_OR_RETURN(bool is_over, Claim::wait_for(&first_caller_));
    if (is_over) continue;
    std::lock_guard lock(mutex_);
    if (first_caller_) return recursive();
  }
}

Result<Function::Resolved> Function::resolve(FunctionType type, std::span<const Value> arguments,
                                             Purpose purpose) {
  RETURN_IF_ERROR(fill_types(type, arguments));
  std::vector<CreatedVariable> created;
  ASSIGN_OR_RETURN(State state, enter());
  auto scope = state == State::kHasVariables ? VariableCreation::Policy::kForbid
                                             : VariableCreation::Policy::kRecord;
  auto resolved =
      state == State::kNew ? first_call(type, purpose) : find_or_trace(type, scope, created);
  if (purpose == Purpose::kCall) {
    bool is_hit = resolved.ok() && !resolved->has_traced;
    (is_hit ? resolved->entry->hits : misses_).fetch_add(1, std::memory_order_relaxed);
  }
  if (resolved.ok() && !created.empty()) {
    {
      std::lock_guard lock(mutex_);
      state_ = State::kHasVariables;
    }
    table_.clear();
    return value_error(
        "Creating variables on a non-first call to a function decorated with tf.function. See "
        "docs/errors/creating-variables.md");
  }
  return resolved;
}

void Function::remember(std::span<const uint64_t> row, Entry* entry,
                        std::vector<Ref<LifeGuard>> guards) {
  if (is_past_first_call_.load(std::memory_order_acquire)) {
    table_.insert(row, entry, std::move(guards));
  }
}

void Function::finish_first_call(State state) {
  {
    std::lock_guard lock(mutex_);
    state_ = state;
    is_past_first_call_.store(state != State::kNew, std::memory_order_release);
    first_caller_.reset();
    first_call_ = Claim();
    ++version_;
  }
}

Status Function::fail_first_call(Status status) {
  std::vector<Ref<Entry>> dropped;
  {
    std::lock_guard lock(mutex_);
    auto first = entries_.begin() + static_cast<ptrdiff_t>(entries_before_first_call_);
    dropped.assign(first, entries_.end());
    entries_.erase(first, entries_.end());
  }
  for (const Ref<Entry>& entry : dropped) hits_of_dropped_ += entry->hits.load();
  finish_first_call(State::kNew);
  return status;
}

// S2.15. If anything fails it has not happened, and the next call is the first.
Result<Function::Resolved> Function::first_call(const FunctionType& type, Purpose purpose) {
  std::vector<CreatedVariable> created, none;
  auto first = find_or_trace(type, VariableCreation::Policy::kRecord, created);
  if (!first.ok()) return fail_first_call(first.status());
  if (created.empty()) {
    finish_first_call(State::kNoVariables);
    return first;
  }
  Entry& creating = *first->entry;
  Status liftable = check_liftable(*creating.graph(), creating.captures_, created);
  Status initialized = liftable.ok()
                           ? initialize_lifted(*creating.graph(), creating.captures_, created)
                           : (purpose == Purpose::kLookUp ? liftable : Status());
  if (!initialized.ok()) return fail_first_call(initialized);
  auto second = find_or_trace(type, VariableCreation::Policy::kForbid, none);
  if (!second.ok()) return fail_first_call(second.status());
  if (!liftable.ok()) {
    for (const CreatedVariable& variable : created) {
      second->entry->created_handles_.push_back(variable.handle);
    }
    second->entry->initializing_ = first->entry;
  }
  finish_first_call(State::kHasVariables);
  return second;
}

Result<Ref<Entry>> Function::initialization(FunctionType type, std::span<const Value> arguments) {
  RETURN_IF_ERROR(fill_types(type, arguments));
  ASSIGN_OR_RETURN(State before, enter());
  if (before != State::kNew) {
    return Status(Code::kFailedPrecondition,
                  "get_initialization_function cannot be called after the function has been used",
                  ErrorKind::kRuntimeError);
  }
  Frame eager(nullptr);
  std::vector<CreatedVariable> created;
  auto traced = find_or_trace(type, VariableCreation::Policy::kRecord, created);
  if (!traced.ok()) return fail_first_call(traced.status());
  Entry& creating = *traced->entry;
  Status liftable = check_liftable(*creating.graph(), creating.captures_, created);
  if (!liftable.ok()) return fail_first_call(liftable);
  State state = created.empty() ? State::kNoVariables : State::kHasVariables;
  Function initializer({.name = "initialize_variables"},
                       initializing_tracer(creating.graph(), creating.captures_, created));
  auto made = initializer.resolve({}, {}, Purpose::kLookUp);
  if (!made.ok()) return fail_first_call(made.status());
  finish_first_call(state);
  return made->entry;
}

Function::Snapshot Function::snapshot() const {
  std::lock_guard lock(mutex_);
  return {entries_, traced_now_, version_};
}

// What was found in a snapshot holds if nothing has changed meanwhile.
Result<Function::Resolved> Function::find_or_trace(const FunctionType& type,
                                                   VariableCreation::Policy scope,
                                                   std::vector<CreatedVariable>& created) {
  auto me = std::this_thread::get_id();
  auto tracing = std::make_shared<const Tracing>(Tracing{type, scope, me});
  for (;;) {
    Snapshot seen = snapshot();
    if (Ref<Entry> entry = dispatch(seen.entries, type, scope)) return Resolved{entry, false};
    auto same = std::ranges::find_if(seen.traced_now, [&](const auto& other) {
      return other->scope == scope && other->thread != me && other->type.equals(type);
    });
    if (same != seen.traced_now.end()) {
      ASSIGN_OR_RETURN(bool is_over, Claim::wait_for(same->get()));
      if (is_over) continue;
      // That trace needs what this thread makes: it gets a trace of its own, as a recursive call.
    }
    ASSIGN_OR_RETURN(Claim claim, Claim::take(tracing.get()));  // does not wait
    {
      std::lock_guard lock(mutex_);
      if (version_ != seen.version) continue;
      traced_now_.push_back(tracing);
      ++version_;
    }
    FunctionType traced = options_.reduce_retracing ? generalized(seen.entries, type, scope) : type;
    auto entry = trace(traced, scope, created);
    {
      std::lock_guard lock(mutex_);
      std::erase(traced_now_, tracing);
      if (entry.ok()) {
        traces_.fetch_add(1, std::memory_order_relaxed);
        entries_.push_back(*entry);
      }
      ++version_;
    }
    if (!entry.ok()) return entry.status();
    return Resolved{*entry, true};
  }
}

// S4.6, S4.7: the equal type, else the most specific of those that fit, the earlier on a tie.
Ref<Entry> Function::dispatch(std::span<const Ref<Entry>> entries, const FunctionType& type,
                              VariableCreation::Policy scope) {
  for (const Ref<Entry>& entry : entries) {
    if (entry->scope_ == scope && type.equals(entry->type_)) return entry;
  }
  Ref<Entry> best;
  for (const Ref<Entry>& entry : entries) {
    if (entry->scope_ != scope || !type.is_subtype_of(entry->type_)) continue;
    if (!best || entry->type_.is_subtype_of(best->type_)) best = entry;
  }
  return best;
}

// S4.12: generalised with each entry in turn with which it has something in common.
FunctionType Function::generalized(std::span<const Ref<Entry>> entries, const FunctionType& type,
                                   VariableCreation::Policy scope) {
  FunctionType running = type;
  for (const Ref<Entry>& entry : entries) {
    if (entry->scope_ != scope) continue;
    if (auto common = running.common_supertype(entry->type_)) running = std::move(*common);
  }
  return running;
}

Result<Ref<Entry>> Function::trace(const FunctionType& type, VariableCreation::Policy scope,
                                   std::vector<CreatedVariable>& created) {
  auto start = std::chrono::steady_clock::now();
  auto graph = make_ref<Graph>(options_.name);
  graph->set_outer(Frame::current().graph());
  GraphBuilder builder(graph);
  auto entry = make_ref<Entry>();
  std::vector<OutputRef> outputs;
  size_t num_bound = 0;
  {
    Frame frame(&builder);
    PlaceholderContext placeholders{builder, "", {}};
    std::vector<Value> arguments;
    for (const Parameter& parameter : type.parameters) {
      placeholders.name = parameter.name;
      ASSIGN_OR_RETURN(Value argument, parameter.type->placeholder(placeholders));
      arguments.push_back(std::move(argument));
    }
    num_bound = builder.captures().size();
    entry->num_arguments_ = static_cast<int>(graph->inputs().size());
    VariableCreation creation(scope);
    ASSIGN_OR_RETURN(entry->outputs_, tracer_->trace(type, arguments));
    RETURN_IF_ERROR(add_outputs(builder, entry->outputs_, outputs));
    created.assign(creation.created().begin(), creation.created().end());
  }
  if (!options_.may_capture) RETURN_IF_ERROR(check_pure(*graph, builder.captures().size()));
  graph->set_outputs(std::move(outputs));
  if (options_.automatic_control_dependencies) add_control_dependencies(*graph);

  auto captures = builder.captures().subspan(num_bound);
  entry->captures_.assign(captures.begin(), captures.end());
  for (const auto& capture : entry->captures_) {
    entry->captured_.push_back(capture.external);
    entry->type_.captures.emplace_back(reinterpret_cast<uintptr_t>(capture.external.get()),
                                       type_of_output(Value::of_tensor(capture.external)));
  }
  for (const Parameter& p : type.parameters) {
    entry->type_.parameters.push_back({p.name, p.kind, p.optional, p.type->for_keeping()});
  }
  entry->type_.output = type_of_output(entry->outputs_);
  entry->scope_ = scope;
  entry->body_ =
      Body::create(str_cat("__inference_", options_.name, "_", next_uid()), std::move(graph));
  entry->body_->charge_to(entry.get());
  entry->trace_milliseconds_ =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return entry;
}

std::vector<Ref<Entry>> Function::entries() const {
  WaitingLock lock(mutex_);
  return entries_;
}

CacheInfo Function::cache_info() const {
  CacheInfo info;
  for (const Ref<Entry>& entry : entries()) {
    ++info.entries;
    info.bytes += entry->bytes();
    info.hits += entry->hits.load(std::memory_order_relaxed);
  }
  info.hits += hits_of_dropped_.load();
  info.bytes += table_.bytes();
  info.traces = traces_.load();
  info.misses = misses_.load();
  return info;
}

}  // namespace graven::engine
