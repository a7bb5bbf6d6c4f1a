#include "graven/function/function.h"

#include <algorithm>
#include <unordered_set>

#include "graven/base/hash.h"
#include "graven/base/strings.h"
#include "graven/function/advice.h"
#include "graven/function/lift.h"
#include "graven/function/trace_body.h"
#include "graven/function/trace_chain.h"
#include "graven/function/trace_lock.h"
#include "graven/function/type_text.h"
#include "graven/function/watched_values.h"
#include "graven/ir/call_sizes.h"
#include "graven/ir/frame.h"
#include "graven/ir/numerics_checks.h"

namespace graven::engine {
namespace {

constinit thread_local VariableCreation* t_creation = nullptr;
constinit thread_local int64_t t_num_recorded = 0;

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

// The equal type, else the most specific type that fits, the earlier on a tie.
Ref<Entry> dispatch(std::span<const Ref<Entry>> entries, const FunctionType& type) {
  for (const Ref<Entry>& entry : entries) {
    if (type.equals(entry->type())) return entry;
  }
  Ref<Entry> best;
  for (const Ref<Entry>& entry : entries) {
    if (!type.is_subtype_of(entry->type())) continue;
    if (!best || entry->type().is_subtype_of(best->type())) best = entry;
  }
  return best;
}

// Of what a trace watches, which may be nothing; as of HasWatchedValues.
Leaves plain_values(const Watches* watches, bool now) {
  const auto* values = dynamic_cast<const HasWatchedValues*>(watches);
  return values ? values->plain_values(now) : Leaves();
}

// Before the trace of a plan. Where a lock lists the sizes of a call, and not the trace of any that
// is planned, it is traced with these.
template <typename Plan>
Status hold_to_trace_lock(Plan& plan, const FunctionType& exact, const std::string& function,
                          const Retrace& retrace) {
  if (!has_trace_lock()) return {};
  const Leaves now = plain_values(retrace.watches(), /*now=*/true);
  Status held = check_trace_lock(function, plan.type, now);
  if (held.ok() || !plan.is_open() || plan.is_in_caller) return held;
  held = check_trace_lock(function, exact, now);
  if (held.ok()) plan = {exact, {}, {}};
  return held;
}

// Writes the row of a call from an open trace anew, in which sizes may have been read meanwhile.
void renumber(CallRow& row, const FunctionType& type, std::vector<uint64_t>& words) {
  if (!row.is_known) return;
  auto numbered = with_numbers(row.words, type.shapes());
  if (!numbered) return;
  words = std::move(*numbered);
  row.words = words;
}

Miss miss_of_watched(const std::string& change, const Entry& stale, Language language) {
  return {.cause = Miss::Cause::kWatched,
          .text = change,
          .nearest = stale.number(),
          .advice = advice_for_watched(language)};
}

constexpr size_t kMaxCompared = 32;  // entries that a new one is compared with, for its reason

uint64_t hash_words(std::span<const uint64_t> words) {
  uint64_t h = words.size();
  for (uint64_t word : words) h = hash_combine(h, word);
  return h;
}

}  // namespace

VariableCreation* VariableCreation::current() { return t_creation; }

VariableCreation::VariableCreation(Policy policy) : policy_(policy), outer_(t_creation) {
  t_creation = this;
}

VariableCreation::~VariableCreation() { t_creation = outer_; }

int64_t VariableCreation::num_recorded() { return t_num_recorded; }

Status VariableCreation::record(CreatedVariable variable) {
  ++t_num_recorded;
  if (policy_ == Policy::kForbid) return singleton_error();
  created_.push_back(std::move(variable));
  return {};
}

TraceScope TraceScope::now(VariableCreation::Policy policy) {
  return {policy, numerics_checks() != nullptr};
}

namespace {

// The Functions that live, and how many threads pause their find.
struct Living {
  Mutex mutex;  // taken before a Function's
  std::unordered_set<Function*> functions GUARDED_BY(mutex);
  std::atomic<int> num_pauses{0};
  static Living& global() {
    static auto* living = new Living();  // Functions may outlive static destruction
    return *living;
  }
};

}  // namespace

Function::Function(FunctionOptions options, std::unique_ptr<Tracer> tracer)
    : options_(std::move(options)),
      tracer_(std::move(tracer)),
      cache_(Cache::create(shown_name(), options_.budget)),
      index_(cache_->index()) {
  Living& living = Living::global();
  MutexLock lock(living.mutex);
  living.functions.insert(this);
}

Function::~Function() {
  Living& living = Living::global();
  MutexLock lock(living.mutex);
  living.functions.erase(this);
}

void Function::pause_find(bool pauses) {
  Living& living = Living::global();
  MutexLock lock(living.mutex);
  living.num_pauses += pauses ? 1 : -1;
  for (Function* function : living.functions) {
    MutexLock own(function->mutex_);
    function->set_context();
  }
}

void Function::set_context() {
  const bool is_found = state_ != State::kNew && Living::global().num_pauses.load() == 0;
  const TraceScope unchecked{policy_of(state_), /*checks_numerics=*/false};
  context_.store(is_found ? unchecked.context() : kNoContext, std::memory_order_release);
}

VariableCreation::Policy Function::policy_of(State state) {
  return state == State::kHasVariables ? VariableCreation::Policy::kForbid
                                       : VariableCreation::Policy::kRecord;
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
  auto recursive = [](State state) { return state == State::kNew ? State::kNoVariables : state; };
  for (;;) {
    {
      MutexLock lock(mutex_);
      if (!first_caller_) {
        if (state_ != State::kNew) return state_;
        // No thread has the claim, so this does not wait.
        ASSIGN_OR_RETURN(first_call_, Claim::take(&first_caller_));
        first_caller_ = me;
        first_call_serial_ = index_.next_serial();
        return State::kNew;
      }
      if (first_caller_ == me) return recursive(state_);
    }
    ASSIGN_OR_RETURN(bool is_over, Claim::wait_for(&first_caller_));
    if (is_over) continue;
    MutexLock lock(mutex_);
    if (first_caller_) return recursive(state_);
  }
}

Result<Function::Resolved> Function::resolve(FunctionType type, std::span<const Value> arguments,
                                             Purpose purpose, CallRow row) {
  // Not on the stack, which holds one for each trace that goes on inside another.
  const auto made = std::make_unique<Call>(Call{arguments, {}, purpose, std::move(row), {}});
  Call& call = *made;
  for (const Parameter& parameter : type.parameters) {
    call.is_constrained.push_back(parameter.type != nullptr);
  }
  const bool is_in_open_trace = CallSizes::any();
  if (is_in_open_trace) bring_up_to_date(arguments);
  RETURN_IF_ERROR(fill_types(type, arguments));
  if (is_in_open_trace) renumber(call.row, type, call.words);
  std::vector<CreatedVariable> created;
  ASSIGN_OR_RETURN(State state, enter());
  const TraceScope scope = TraceScope::now(policy_of(state));
  auto resolved =
      state == State::kNew ? first_call(type, call) : find_or_trace(type, scope, call, created);
  if (purpose == Purpose::kCall) {
    if (resolved.ok() && !resolved->has_traced) {
      index_.count_hit(*resolved->entry);
    } else {
      cache_->misses.fetch_add(1, std::memory_order_relaxed);
    }
  }
  if (resolved.ok() && !created.empty()) {
    {
      MutexLock lock(mutex_);
      state_ = State::kHasVariables;
      set_context();
    }
    return value_error(
        "Creating variables on a non-first call to a function decorated with tf.function. See "
        "docs/errors/creating-variables.md");
  }
  return resolved;
}

bool Function::drop(const Entry& entry) { return cache_->drop(entry, "dropped by the program"); }

bool Function::put_back(Ref<Entry> entry, std::span<const uint64_t> row) {
  if (index_.find(entry->scope_.context(), row)) return false;
  const FunctionType& type = entry->type();
  Index::Key key = key_of(type, type.skeleton(), entry->scope_, {row, /*is_known=*/true});
  return index_.insert(std::move(entry), std::move(key));
}

void Function::finish_first_call(State state) {
  MutexLock lock(mutex_);
  state_ = state;
  set_context();
  first_caller_.reset();
  first_call_ = Claim();
  ++version_;
}

Status Function::fail_first_call(Status status) {
  uint64_t serial = 0;
  {
    MutexLock lock(mutex_);
    serial = first_call_serial_;
  }
  for (Ref<Entry>& entry : index_.remove_since(serial)) retire(std::move(entry));
  finish_first_call(State::kNew);
  return status;
}

// If anything fails it has not happened, and the next call is the first.
Result<Function::Resolved> Function::first_call(const FunctionType& type, const Call& call) {
  std::vector<CreatedVariable> created, none;
  auto first =
      find_or_trace(type, TraceScope::now(VariableCreation::Policy::kRecord), call, created);
  if (!first.ok()) return fail_first_call(first.status());
  if (created.empty()) {
    finish_first_call(State::kNoVariables);
    return first;
  }
  Entry& creating = *first->entry;
  Status liftable = check_liftable(*creating.graph(), creating.captures_, created);
  Status initialized = liftable.ok()
                           ? initialize_lifted(*creating.graph(), creating.captures_, created)
                           : (call.purpose == Purpose::kLookUp ? liftable : Status());
  if (!initialized.ok()) return fail_first_call(initialized);
  auto second = find_or_trace(type, TraceScope::now(VariableCreation::Policy::kForbid), call, none);
  if (!second.ok()) return fail_first_call(second.status());
  if (!liftable.ok()) {
    for (const CreatedVariable& variable : created) {
      second->entry->created_handles_.push_back(variable.handle);
    }
    second->entry->initializing_ = first->entry;
    second->entry->may_initialize_.store(true, std::memory_order_release);
  }
  // No call finds it, so it would take the room of another one.
  if (options_.budget.is_limited()) {
    cache_->drop(creating, "it made the variables; calls use the next trace");
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
  const Call call{arguments, std::vector<bool>(arguments.size(), true), Purpose::kLookUp, {}, {}};
  auto traced =
      find_or_trace(type, TraceScope::now(VariableCreation::Policy::kRecord), call, created);
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
  MutexLock lock(mutex_);
  return {traced_now_, version_};
}

Ref<Entry> Function::find_by_type(const FunctionType& type, std::optional<uint64_t> skeleton,
                                  TraceScope scope, const Call& call) const {
  const bool is_call = call.purpose == Purpose::kCall;
  // Whatever has a row that could be meant has been found by it.
  std::vector<Ref<Entry>> entries = is_call && call.row.says_all()
                                        ? index_.related_without_row(skeleton)
                                        : index_.related(skeleton);
  std::erase_if(entries, [&](const Ref<Entry>& entry) {
    return entry->scope_ != scope || !entry->holds() || (!is_call && entry->has_open_sizes());
  });
  return dispatch(entries, type);
}

Index::Key Function::key_of(const FunctionType& type, std::optional<uint64_t> skeleton,
                            TraceScope scope, const CallRow& row) {
  Index::Key key{scope.context(), std::nullopt, skeleton, {}};
  if (!row.is_known) return key;
  key.row = widened(row.words, type.shapes());
  if (key.row) key.guards = row.guards;
  return key;
}

// Not during the first call. A row with the wildcards of the entry's type is right if all that it
// leads to would lead there by comparison too: if no other entry is without a row.
void Function::remember(const Entry& entry, const FunctionType& type,
                        std::optional<uint64_t> skeleton, const CallRow& row, uint64_t serial) {
  const uint64_t context = entry.scope_.context();
  if (context_.load(std::memory_order_acquire) != context) return;
  const bool is_wide = row.says_all() && index_.is_only_one_without_row(entry);
  Index::Key key = key_of(is_wide ? entry.type() : type, skeleton, entry.scope_, row);
  if (key.row) index_.remember(entry, std::move(key), serial);
}

// A result found in a snapshot holds if nothing has changed meanwhile.
Result<Function::Resolved> Function::find_or_trace(const FunctionType& type, TraceScope scope,
                                                   const Call& call,
                                                   std::vector<CreatedVariable>& created) {
  auto me = std::this_thread::get_id();
  const CallRow& row = call.row;
  const std::optional<uint64_t> skeleton = type.skeleton();
  for (;;) {
    Snapshot seen = snapshot();
    if (row.is_trusted()) {
      EntryInUse found = index_.find(scope.context(), row.words);
      if (found && (call.purpose == Purpose::kCall || !found->has_open_sizes())) {
        return Resolved{Ref<Entry>(found.get()), false};
      }
    }
    const uint64_t serial = index_.next_serial();
    if (Ref<Entry> entry = find_by_type(type, skeleton, scope, call)) {
      if (row.is_trusted() && call.purpose == Purpose::kCall) {
        remember(*entry, type, skeleton, row, serial);
      }
      return Resolved{entry, false};
    }
    const auto planned = std::make_unique<Plan>(this->plan(type, skeleton, scope, call));
    Plan& plan = *planned;
    auto tracing = std::make_shared<const Tracing>(Tracing{plan.type, scope, me});
    auto same = std::ranges::find_if(seen.traced_now, [&](const auto& other) {
      return other->scope == scope && other->thread != me &&
             (other->type.equals(type) || (skeleton && type.is_subtype_of(other->type)));
    });
    if (same != seen.traced_now.end()) {
      ASSIGN_OR_RETURN(bool is_over, Claim::wait_for(same->get()));
      if (is_over) continue;
      // That trace needs what this thread makes: it gets a trace of its own, as a recursive call.
    }
    ASSIGN_OR_RETURN(Claim claim, Claim::take(tracing.get()));  // does not wait
    {
      MutexLock lock(mutex_);
      if (version_ != seen.version) continue;
      traced_now_.push_back(tracing);
      ++version_;
    }
    Retrace retrace(stale_candidates(skeleton, scope, row), type, plan.type, scope.context());
    const Status held = hold_to_trace_lock(plan, type, options_.qualified_name, retrace);
    auto entry = held.ok() ? trace(plan, scope, created) : Result<Ref<Entry>>(held);
    if (held.ok() && !entry.ok() && prepare_exact(plan, type, entry.status(), created)) {
      entry = trace(plan, scope, created);
    }
    if (Ref<Entry> kept = held.ok() ? retrace.end(entry, created) : nullptr) {
      // A trace was made, and is dropped.
      if (entry.ok()) cache_->traces.fetch_add(1, std::memory_order_relaxed);
      entry = std::move(kept);
    } else if (entry.ok()) {
      publish(*entry, plan, type, skeleton, row, retrace);
    }
    {
      MutexLock lock(mutex_);
      std::erase(traced_now_, tracing);
      ++version_;
    }
    if (!entry.ok()) {
      cache_->note_failed(entry.status());
      return entry.status();
    }
    return Resolved{*entry, true};
  }
}

std::vector<Ref<Entry>> Function::stale_candidates(std::optional<uint64_t> skeleton,
                                                   TraceScope scope, const CallRow& row) const {
  std::vector<Ref<Entry>> entries = index_.related_without_row(skeleton);
  if (row.is_trusted()) {
    for (Ref<Entry>& entry : index_.serving(scope.context(), row.words)) {
      entries.push_back(std::move(entry));
    }
  }
  return entries;
}

uint64_t Function::key_of_arguments(const FunctionType& type, std::optional<uint64_t> skeleton,
                                    TraceScope scope, const CallRow& row) const {
  if (row.is_trusted()) return hash_combine(scope.context(), hash_words(row.words));
  // Without a skeleton users' code hashes.
  if (!skeleton && !options_.budget.is_limited()) return 0;
  return hash_combine(scope.context(), type.hash());
}

void Function::account_for(Entry& made, const FunctionType& type, std::optional<uint64_t> skeleton,
                           const CallRow& row) const {
  EntryAccount& account = made.account_;
  account.number = cache_->traces.fetch_add(1, std::memory_order_relaxed) + 1;
  account.is_first = account.number == 1;
  account.key = key_of_arguments(type, skeleton, made.scope_, row);
  account.miss = miss_of(type, made.scope_, account.key, account.number);
  if (made.has_open_sizes_) {
    account.miss.text += "; serves other sizes too";
    if (account.miss.is_of_shapes) account.miss.advice.clear();
  } else if (std::string read = sizes_text(type, generalizer_.pinned()); !read.empty()) {
    account.miss.text += str_cat("; its body reads ", read);
    if (account.miss.is_of_shapes) account.miss.advice = advice_for_read_sizes(options_.language);
  }
  if (options_.locations) account.called_at = options_.locations->current();
}

Miss Function::miss_of(const FunctionType& type, TraceScope scope, uint64_t key,
                       int64_t number) const {
  if (scope.policy == VariableCreation::Policy::kForbid && number == 2) {
    return {.cause = Miss::Cause::kVariables,
            .text = "the first trace created variables, which calls use"};
  }
  if (auto gone = cache_->gone_for_budget(key)) {
    return {.cause = Miss::Cause::kGone,
            .text = str_cat("made again: trace ", gone->number, " of equal arguments went, ",
                            gone->why),
            .nearest = gone->number,
            .advice = "Raise the budget, or make traces that serve many types."};
  }
  std::vector<Ref<Entry>> others = index_.last_entries(kMaxCompared);
  const bool were_any = !others.empty();
  std::erase_if(others, [&](const Ref<Entry>& other) { return other->scope_ != scope; });
  if (others.empty() && were_any) {
    return {.text = scope.checks_numerics
                        ? "enable_check_numerics was called: the trace checks its values"
                        : "disable_check_numerics was called: the trace does not check its values"};
  }
  if (others.empty() && number > 1) {
    return {.cause = Miss::Cause::kAllGone, .text = "no trace was left: all went"};
  }
  return explain_miss(type, others, options_.language);
}

Result<ExplainedCall> Function::explain_call(FunctionType type, std::span<const Value> arguments,
                                             const CallRow& row) const {
  RETURN_IF_ERROR(fill_types(type, arguments));
  State state = State::kNew;
  {
    MutexLock lock(mutex_);
    state = state_;
  }
  const TraceScope scope = TraceScope::now(policy_of(state));
  const std::optional<uint64_t> skeleton = type.skeleton();
  ExplainedCall call{.signature = signature_text(type)};
  Ref<Entry> entry;
  if (row.is_trusted()) entry = Ref<Entry>(index_.find(scope.context(), row.words).get());
  if (!entry) entry = find_by_type(type, skeleton, scope, {arguments, {}, Purpose::kCall, row, {}});
  if (entry) {
    call.number = entry->number();
    call.entry_signature = signature_text(entry->type());
    return call;
  }
  const uint64_t key = key_of_arguments(type, skeleton, scope, row);
  call.miss = miss_of(type, scope, key, cache_->traces.load() + 1);
  if (!options_.reduce_retracing && call.miss->is_of_sizes) {
    const bool is_any_read = !sizes_text(type, generalizer_.pinned()).empty();
    call.miss->advice =
        is_any_read ? advice_for_read_sizes(options_.language) : advice_for_open_sizes();
  }
  for (const Ref<Entry>& stale : stale_candidates(skeleton, scope, row)) {
    if (stale->scope_ != scope || stale->holds() || !type.is_subtype_of(stale->type())) continue;
    const std::string change = stale->watches()->change();
    if (!change.empty()) call.miss = miss_of_watched(change, *stale, options_.language);
  }
  for (const Ref<Entry>& other : index_.entries()) {
    if (other->number() != call.miss->nearest) continue;
    call.usual_ms = other->trace_milliseconds();
    call.usual_bytes = other->bytes();
  }
  return call;
}

// Generalised with each entry in turn with which it has something in common.
FunctionType Function::generalized(std::span<const Ref<Entry>> entries, const FunctionType& type,
                                   TraceScope scope) {
  FunctionType running = type;
  for (const Ref<Entry>& entry : entries) {
    if (entry->scope_ != scope) continue;
    if (auto common = running.common_supertype(entry->type_)) running = std::move(*common);
  }
  return running;
}

void Function::publish(const Ref<Entry>& entry, const Plan& plan, const FunctionType& type,
                       std::optional<uint64_t> skeleton, const CallRow& row,
                       const Retrace& retrace) {
  for (size_t i = 0; i < plan.open.size(); ++i) {
    if (!plan.sizes[i].is_read) continue;
    pin(plan.open[i], type, "the body reads it");
  }
  account_for(*entry, type, skeleton, row);
  if (retrace.is_one()) {
    entry->account_.miss = miss_of_watched(retrace.why(), *retrace.old(), options_.language);
    entry->account_.key = 0;  // the arguments alone do not say which trace it is
  }
  cache_->note_traced(*entry);
  index_.insert(entry, key_of_trace(plan.closed(), skeleton, entry->scope_, row));
  stale_traces_.add(retrace, *cache_);
}

Index::Key Function::key_of_trace(const FunctionType& type, std::optional<uint64_t> skeleton,
                                  TraceScope scope, const CallRow& row) {
  CallRow numbered = row;
  std::vector<uint64_t> words;
  renumber(numbered, type, words);
  return key_of(type, skeleton, scope, numbered);
}

Result<Ref<Entry>> Function::trace(Plan& plan, TraceScope scope,
                                   std::vector<CreatedVariable>& created) {
  const FunctionType& type = plan.type;
  const TraceLink link(this, options_.name, type);
  RETURN_IF_ERROR(link.check());
  const TraceLockScope locking(options_.qualified_name, type);
  auto start = std::chrono::steady_clock::now();
  auto entry = make_ref<Entry>();
  auto placeholders = [&](GraphBuilder& builder) -> Result<std::vector<Value>> {
    PlaceholderContext context{builder, "", {}};
    std::vector<Value> arguments;
    for (const Parameter& parameter : type.parameters) {
      context.name = parameter.name;
      ASSIGN_OR_RETURN(Value argument, parameter.type->placeholder(context));
      arguments.push_back(std::move(argument));
    }
    plan.leave_open(arguments);
    return arguments;
  };
  auto run_tracer = [&](std::span<const Value> arguments) {
    VariableCreation creation(scope.policy);
    auto outputs = tracer_->trace(type, arguments);
    created.assign(creation.created().begin(), creation.created().end());
    if (!outputs.ok()) {
      GraphBuilder& builder = *Frame::current().graph_builder();
      initialize_left_behind(*builder.graph(), builder.captures(), created);
    }
    return outputs;
  };
  ASSIGN_OR_RETURN(TracedBody traced,
                   trace_body({options_.name, options_.automatic_control_dependencies},
                              placeholders, run_tracer));
  if (!options_.may_capture) {
    RETURN_IF_ERROR(check_pure(*traced.body->graph(), traced.captures.size()));
  }
  entry->body_ = std::move(traced.body);
  entry->body_->charge_to(entry.get());
  entry->num_arguments_ = traced.num_arguments;
  entry->outputs_ = std::move(traced.outputs);
  entry->captures_ = std::move(traced.captures);
  for (const auto& capture : entry->captures_) {
    entry->captured_.push_back(capture.external);
    entry->type_.captures.emplace_back(reinterpret_cast<uintptr_t>(capture.external.get()),
                                       type_of_output(Value::of_tensor(capture.external)));
  }
  const FunctionType closed = plan.closed();
  for (const Parameter& p : closed.parameters) {
    entry->type_.parameters.push_back({p.name, p.kind, p.optional, p.type->for_keeping()});
  }
  entry->has_open_sizes_ = plan.is_open();
  entry->type_.output = type_of_output(entry->outputs_);
  entry->scope_ = scope;
  entry->watches_ = tracer_->take_watches();
  entry->trace_milliseconds_ =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (has_trace_lock()) {
    const Leaves watched = plain_values(entry->watches(), /*now=*/false);
    // Of what the front end did not know before.
    RETURN_IF_ERROR(check_trace_lock(options_.qualified_name, type,
                                     plain_values(entry->watches(), /*now=*/true)));
    record_in_trace_lock(options_.qualified_name, closed, watched);
  }
  return entry;
}

}  // namespace graven::engine
