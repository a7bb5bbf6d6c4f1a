#include "graven/function/function.h"

#include <algorithm>

#include "graven/base/strings.h"
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
      "https://www.tensorflow.org/guide/function#creating_tfvariables for more information.");
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

Result<Ref<Entry>> Function::resolve(FunctionType type, std::span<const Value> arguments) {
  TypingContext context{options_.literals_equal_as_numbers, {}};
  for (size_t i = 0; i < type.parameters.size(); ++i) {
    if (type.parameters[i].type) continue;
    ASSIGN_OR_RETURN(type.parameters[i].type, type_of(arguments[i], context));
  }
  std::unique_lock lock(mutex_);
  auto is_own_first_call = [&] { return first_caller_ == std::this_thread::get_id(); };
  changed_.wait(lock, [&] { return !first_caller_ || is_own_first_call(); });
  if (state_ == State::kNew && !is_own_first_call()) return first_call(lock, type);

  std::vector<CreatedVariable> created;
  auto scope = state_ == State::kHasVariables ? VariableCreation::Policy::kForbid
                                              : VariableCreation::Policy::kRecord;
  auto entry = find_or_trace(lock, type, scope, created);
  if (entry.ok() && !created.empty()) {
    state_ = State::kHasVariables;
    table_.clear();
    return value_error(
        "Creating variables on a non-first call to a function decorated with tf.function.");
  }
  return entry;
}

void Function::remember(std::span<const uint64_t> row, Entry* entry,
                        std::vector<Ref<LifeGuard>> guards) {
  if (is_past_first_call_.load(std::memory_order_acquire)) {
    table_.insert(row, entry, std::move(guards));
  }
}

// S2.15. If anything fails it has not happened, and the next call is the first.
Result<Ref<Entry>> Function::first_call(std::unique_lock<std::mutex>& lock,
                                        const FunctionType& type) {
  first_caller_ = std::this_thread::get_id();
  size_t entries_before = entries_.size();
  auto finish = [&](State state) {
    state_ = state;
    is_past_first_call_.store(state != State::kNew, std::memory_order_release);
    first_caller_.reset();
    ++version_;
    changed_.notify_all();
  };
  auto fail = [&](Status status) {
    std::vector<Ref<Entry>> dropped(entries_.begin() + static_cast<ptrdiff_t>(entries_before),
                                    entries_.end());
    entries_.resize(entries_before);
    finish(State::kNew);
    lock.unlock();  // what entries hold may take a lock of the front end to go
    return status;
  };
  std::vector<CreatedVariable> created;
  auto first = find_or_trace(lock, type, VariableCreation::Policy::kRecord, created);
  if (!first.ok()) return fail(first.status());
  if (created.empty()) {
    finish(State::kNoVariables);
    return first;
  }
  Entry& creating = **first;
  lock.unlock();
  auto lifted = initialize_lifted(*creating.graph(), creating.captures_, created);
  lock.lock();
  if (!lifted.ok()) return fail(lifted.status());
  std::vector<CreatedVariable> none;
  auto second = find_or_trace(lock, type, VariableCreation::Policy::kForbid, none);
  if (!second.ok()) return fail(second.status());
  if (!*lifted) {
    for (const CreatedVariable& variable : created) {
      (*second)->created_handles_.push_back(variable.handle);
    }
    (*second)->initializing_ = *first;
  }
  finish(State::kHasVariables);
  return second;
}

// Types are compared without the lock, because user code may do it (a user's == or TraceType); what
// was found holds if nothing has changed meanwhile.
Result<Ref<Entry>> Function::find_or_trace(std::unique_lock<std::mutex>& lock,
                                           const FunctionType& type, VariableCreation::Policy scope,
                                           std::vector<CreatedVariable>& created) {
  auto me = std::this_thread::get_id();
  std::vector<Ref<Entry>> entries;
  for (;;) {
    entries = entries_;
    auto claims = claims_;
    int64_t version = version_;
    lock.unlock();
    Ref<Entry> entry = dispatch(entries, type, scope);
    bool is_claimed = !entry && std::any_of(claims.begin(), claims.end(), [&](const auto& claim) {
      return claim->scope == scope && claim->thread != me && claim->type.equals(type);
    });
    lock.lock();
    if (entry) return entry;
    if (version != version_) continue;
    if (!is_claimed) break;
    changed_.wait(lock, [&] { return version != version_; });
  }
  auto claim = std::make_shared<const Claim>(Claim{type, scope, me});
  claims_.push_back(claim);
  ++version_;
  misses_.fetch_add(1, std::memory_order_relaxed);
  lock.unlock();
  auto entry =
      trace(options_.reduce_retracing ? generalized(entries, type, scope) : type, scope, created);
  lock.lock();
  std::erase(claims_, claim);
  if (entry.ok()) {
    traces_.fetch_add(1, std::memory_order_relaxed);
    entries_.push_back(*entry);
  }
  ++version_;
  changed_.notify_all();
  return entry;
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
  entry->trace_milliseconds_ =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return entry;
}

std::vector<Ref<Entry>> Function::entries() const {
  std::lock_guard lock(mutex_);
  return entries_;
}

CacheInfo Function::cache_info() const {
  CacheInfo info;
  for (const Ref<Entry>& entry : entries()) {
    ++info.entries;
    info.bytes += entry->bytes();
    info.hits += entry->hits.load(std::memory_order_relaxed);
  }
  info.bytes += table_.bytes();
  info.traces = traces_.load();
  info.misses = misses_.load();
  return info;
}

}  // namespace graven::engine
