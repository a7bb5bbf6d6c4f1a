#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "graven/base/claim.h"
#include "graven/base/export.h"
#include "graven/base/function_ref.h"
#include "graven/base/mutex.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/function/cache.h"
#include "graven/function/explain.h"
#include "graven/function/generalizer.h"
#include "graven/function/hit_counter.h"
#include "graven/function/in_use.h"
#include "graven/function/index.h"
#include "graven/function/stale_traces.h"
#include "graven/function/trace_type.h"
#include "graven/function/watch.h"
#include "graven/ir/body.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/location.h"
#include "graven/ir/open_size.h"
#include "graven/ir/value.h"
#include "graven/runtime/eager_builder.h"
#include "graven/runtime/program.h"

namespace graven::engine {

class Function;

// The door to the user's function. A front end implements it.
class GRAVEN_API Tracer {
 public:
  virtual ~Tracer() = default;
  // Runs the user's function once, with the current frame building its graph. The arguments are
  // placeholders, one for each parameter of the type. The leaves of the result are tensors, None
  // literals, or objects that the front end converts to tensors before it returns.
  virtual Result<Value> trace(const FunctionType& type, std::span<const Value> arguments) = 0;
  // What the trace that has just ended on this thread watches, once; null if nothing.
  virtual Ref<Watches> take_watches() { return nullptr; }
};

// A variable that a trace created: its handle, and its initial value.
struct CreatedVariable {
  Tensor handle;
  Tensor initial_value;  // of the trace
};

// The rule for variables that are made while a Function is traced; the front end's Variable asks
// it.
class GRAVEN_API VariableCreation {
 public:
  enum class Policy { kRecord, kForbid };
  // The innermost of this thread, null outside of traces.
  static VariableCreation* current();

  explicit VariableCreation(Policy policy);
  ~VariableCreation();
  VariableCreation(const VariableCreation&) = delete;

  // Records the variable; an error if creation is forbidden.
  Status record(CreatedVariable variable);
  Policy policy() const { return policy_; }
  // How many variables were made, or refused, in traces on this thread.
  static int64_t num_recorded();
  std::span<const CreatedVariable> created() const { return created_; }

 private:
  Policy policy_;
  VariableCreation* outer_;
  std::vector<CreatedVariable> created_;
};

// Which traces a call may use: those made by the same rule for variables, and with the values
// checked as this thread wants it now (numerics_checks.h).
struct TraceScope {
  VariableCreation::Policy policy = VariableCreation::Policy::kRecord;
  bool checks_numerics = false;
  // Of a call or trace of this thread, now.
  static TraceScope now(VariableCreation::Policy policy);
  // Of its rows; not 0.
  uint64_t context() const {
    return (static_cast<uint64_t>(policy) + 1) | (checks_numerics ? 4 : 0);
  }
  friend bool operator==(const TraceScope&, const TraceScope&) = default;
};

// The door to a user's function that computes the value of a capture at each call.
class GRAVEN_API DeferredCapture : public RefCounted {
 public:
  virtual Result<Tensor> value() const = 0;
};

// One trace: TensorFlow's ConcreteFunction. Immutable but for counters; free to share.
class GRAVEN_API Entry : public RefCounted {
 public:
  const FunctionType& type() const { return type_; }
  const std::string& name() const { return body_->name(); }  // "__inference_f_12"
  // The graph as traced; nothing changes it.
  const Ref<Graph>& graph() const { return body_->graph(); }
  const Ref<Body>& body() const { return body_; }
  int num_arguments() const { return num_arguments_; }  // inputs before the captures
  std::span<const GraphBuilder::Capture> captures() const { return captures_; }
  // The values that are fed for the captures, in order.
  std::vector<Tensor> captured_inputs() const;
  // Changes the values that are fed for the captures; their shapes are not checked. A wrong number
  // or dtype is a ValueError. A run that goes on meanwhile uses either all the old values or all
  // the new ones.
  Status set_captured_inputs(std::vector<Tensor> values);
  // Feeds the result of `value`, computed at each call, for a captured tensor. A ValueError if
  // there is no such capture, or if its type does not fit the original's.
  Status defer_capture(const Tensor& captured, const TensorType& type, Ref<DeferredCapture> value);
  // The values that a call now would feed.
  Result<std::vector<Tensor>> current_captured_inputs() const;
  // The result with symbolic tensors as leaves.
  const Value& structured_outputs() const { return outputs_; }

  // Runs the entry on the flat tensors of the arguments and appends the captures: at once, or as a
  // call node where a graph is being built. Tapes of the current frame record it.
  Status run(std::span<const Tensor> arguments, Tensors& outputs, bool any_shapes = false);
  // The same for tensors that were not matched against the type: checks their number and dtypes,
  // and in a graph their shapes.
  Status run_checked(std::span<const Tensor> arguments, Tensors& outputs);
  // True if a run here and now takes long, or may have to make an object first (a Program, a
  // gradient pair, nodes) or wait for a thread that makes it: then a front end lets other threads
  // go on meanwhile, and holds no lock that they may need.
  bool is_long() const;
  // The result for flat outputs.
  Value pack(const Tensors& outputs) const;

  // "Input Parameters: ...", or one line.
  std::string signature_text(bool verbose) const;

  int64_t hits() const { return hits_.total(); }
  // Counts a call that found the entry and runs it on this thread.
  void count_hit() { hits_.add(ReaderSlot::own().number); }
  // True for a trace that leaves sizes open which its call knew: it serves other sizes too.
  bool has_open_sizes() const { return has_open_sizes_; }
  // True once its Function has dropped it; calls that had found it go on.
  bool is_retired() const { return is_retired_.load(std::memory_order_relaxed); }
  double trace_milliseconds() const { return trace_milliseconds_; }
  // Its number among the traces of its Function, from 1; why it was made, when, and for a call at
  // which line (null if that is not known).
  int64_t number() const { return account_.number; }
  const Miss& miss() const { return account_.miss; }
  std::chrono::steady_clock::time_point made_at() const { return account_.made_at; }
  const Ref<Location>& called_at() const { return account_.called_at; }
  // Null before the first run that no graph or tape recorded.
  Ref<Program> program_if_made() const;
  // Includes the eager tensors that it captured, each buffer once, because the entry may be their
  // only owner; also those that the user or other entries hold too. Values of variables are the
  // user's.
  int64_t bytes() const;
  // The part of these that are tensors it captured by value.
  int64_t captured_bytes() const;
  // False for an entry that may go: its Index alone refers to it, no graph calls its Body, and it
  // is not needed to give variables their first values. `announced` are the announced_entries.
  // The index that holds it is locked.
  bool is_held(std::span<const Entry* const> announced) const;
  // True while a variable that the trace created has no value: calls of this entry give it one.
  bool is_needed_to_initialize() const;
  // What the trace was made for, as the context of its row.
  uint64_t context() const { return scope_.context(); }
  // What the trace read of the front end's values; null if nothing is watched.
  Watches* watches() const { return watches_.get(); }
  // False if a value that it watches has changed, and calls may not run it for that.
  bool holds() const { return !watches_ || watches_->hold(); }

 private:
  friend class Cache;
  friend class Function;
  friend class Index;
  friend void retire(Ref<Entry> entry);
  // The run. Its errors do not name the function yet.
  Status run_unnamed(std::span<const Tensor> arguments, Tensors& outputs, bool any_shapes);
  FunctionType type_;
  Ref<Body> body_;
  std::vector<GraphBuilder::Capture> captures_;
  // The value of a capture: a tensor, or a function that is called at each call.
  struct Fed {
    Tensor tensor;
    Ref<DeferredCapture> deferred;
  };
  std::vector<Fed> fed() const;
  // Gives a copy to `change`; the changed copy takes effect unless `change` fails.
  Status change_fed(FunctionRef<Status(std::vector<Fed>& fed)> change);
  std::vector<Tensor> captured_;  // the captures of the trace
  std::atomic<bool> captures_were_set_{false};
  mutable Mutex fed_mutex_;
  std::vector<Fed> fed_ GUARDED_BY(fed_mutex_);  // the values fed instead, once they were set
  int num_arguments_ = 0;
  Value outputs_;
  std::vector<Tensor> created_handles_;          // variables that must be initialised first
  Ref<Entry> initializing_;                      // runs instead while one of them is not
  std::atomic<double> taped_nanoseconds_{1e18};  // the quickest run that a tape recorded
  std::atomic<Program*> program_{nullptr};       // the body's, which keeps it, once it is made
  std::atomic<bool> initialized_{false};         // all of created_handles_ have a value
  std::atomic<bool> may_initialize_{false};      // those two are set
  double trace_milliseconds_ = 0;
  Ref<Watches> watches_;
  bool has_open_sizes_ = false;
  HitCounter hits_;
  std::atomic<bool> is_retired_{false};
  uint64_t serial_ = 0;  // among the entries of its Function, of whose Index it is
  TraceScope scope_;
  EntryAccount account_;  // last: a hit does not read it
};

struct FunctionOptions {
  std::string name = "function";
  // In tables, explanations, logs and reports, such as "Model.__call__"; empty: the name.
  std::string shown_name = "";
  // For trace locks: with its module, where the language has such. Empty for the engine's own.
  std::string qualified_name = "";
  // The front end's language, and the lines of its calls.
  Language language = Language::kCpp;
  LocationSource* locations = nullptr;
  // True: the type of a trace covers those of all traces before that have a type in common with it.
  // None: where only sizes differ from those of a trace, the next one leaves them open, unless its
  // body reads them (generalizer.h). False: each type has a trace of its own.
  std::optional<bool> reduce_retracing = false;
  // Literals are one key if they are equal by Python's ==, as in TensorFlow.
  bool literals_equal_as_numbers = true;
  bool automatic_control_dependencies = true;
  // False for a pure function, which uses nothing but its arguments.
  bool may_capture = true;
  CacheBudget budget = {};
};

// The row of words of a call's arguments (key.h), if it has one.
struct CallRow {
  static CallRow of(const KeyWriter& key) {
    return {key.row(), /*is_known=*/true, key.has_addresses(), key.has_names()};
  }
  std::span<const uint64_t> words;
  // The words describe the arguments, also when these are read again later.
  bool is_known = false;
  // Objects are in the row by address: an equal object at another address may have an entry.
  bool has_addresses = false;
  // Specs have names. Names are part of the types, but not of the row.
  bool has_names = false;
  std::vector<Ref<LifeGuard>> guards = {};  // for each address

  // True if an entry found by the row is the right one.
  bool is_trusted() const { return is_known && !has_names; }
  // True if, besides, no entry fits when the row finds none.
  bool says_all() const { return is_trusted() && !has_addresses; }
};

// A polymorphic function: entries by type, and the tracer that makes more. Owned by its
// front end's object. Any thread may call it: hits run in parallel; two threads with the same new
// type cause one trace; others go on.
class GRAVEN_API Function : public RefCounted {
 public:
  Function(FunctionOptions options, std::unique_ptr<Tracer> tracer);
  ~Function() override;

  const FunctionOptions& options() const { return options_; }
  const std::string& shown_name() const {
    return options_.shown_name.empty() ? options_.name : options_.shown_name;
  }
  Tracer& tracer() { return *tracer_; }

  // --- A call has two steps: find looks up the row of words; on a miss, resolve looks for an entry
  // by the types of the arguments, or traces. The arguments belong to the parameters of `type`,
  // whose own types are filled in where they are null.

  // Returns none on a miss. A find counts as a hit of the entry. The entry stays valid until the
  // call ends, even if it is dropped meanwhile. Takes no lock.
  EntryInUse find(std::span<const uint64_t> row) const {
    EntryInUse found = index_.find(context_.load(std::memory_order_acquire), row);
    if (found) found->count_hit();
    return found;
  }
  // A call counts as a hit of its entry, or as a miss if it had to trace or its trace failed; a
  // look-up does not count. A look-up fails if an initial value of a variable depends on an
  // argument.
  enum class Purpose { kCall, kLookUp };
  struct Resolved {
    Ref<Entry> entry;
    bool has_traced = false;  // for this request
  };
  // `row` is the row of these arguments, kept for the next call; leave it out if they were cast.
  Result<Resolved> resolve(FunctionType type, std::span<const Value> arguments,
                           Purpose purpose = Purpose::kCall, CallRow row = {});
  // Traces, as the first call does, and returns a function without parameters. Each call of that
  // function gives all variables that the trace created their initial values. A RuntimeError after
  // the first call.
  Result<Ref<Entry>> initialization(FunctionType type, std::span<const Value> arguments);
  // --- Entries may go at any time, while other threads call them.

  // Drops an entry: the next call of its type traces again. False if it is not there any more. No
  // lock may be held, because objects that only the entry held may be destroyed on this thread.
  bool drop(const Entry& entry);
  // Drops all entries but those whose variables have no values yet. Calls that run go on, and a
  // trace that runs is kept when it is done. Counts, the history of what went, and the rules for
  // variables stay. No lock may be held.
  void clear_cache() { cache_->clear(); }
  // To be called after the first run of an entry that was traced, with the caller's only reference
  // to it: while the budgets are exceeded, entries go, this one perhaps. Returns a report for the
  // log, once in a Function's life. No lock may be held.
  std::optional<std::string> settle(Ref<Entry> traced) { return cache_->settle(std::move(traced)); }
  // Adds an entry of this Function that was dropped back, under the row of its arguments. False if
  // the row has an entry by now.
  bool put_back(Ref<Entry> entry, std::span<const uint64_t> row);
  // While a thread of the process checks numerics, find finds nothing, and resolve tells the traces
  // of one thread from those of another: so a hit asks for nothing more. Each call with true needs
  // one with false.
  static void pause_find(bool pauses);
  // For guards of objects in rows.
  const std::shared_ptr<LifeListener>& life_listener() const { return index_.listener(); }

  // Live entries in the order in which they were made.
  std::vector<Ref<Entry>> entries() const { return index_.entries(); }
  CacheInfo cache_info() const { return cache_->info(); }
  int64_t tracing_count() const { return cache_->traces.load(); }
  Cache& cache() const { return *cache_; }
  // What a call with these arguments would do now, without doing it or counting it: whether it
  // finds a trace, and which, or why it has to trace. The arguments are as resolve takes them.
  Result<ExplainedCall> explain_call(FunctionType type, std::span<const Value> arguments,
                                     const CallRow& row) const;
  // The sizes that each have a trace for each number, because a body reads them.
  std::vector<ArgumentSize> pinned_sizes() const { return generalizer_.pinned(); }

 private:
  enum class State { kNew, kNoVariables, kHasVariables };
  // What a call brings beside its type.
  struct Call {
    std::span<const Value> arguments;
    std::vector<bool> is_constrained;  // by parameter: its type is not the argument's own
    Purpose purpose;
    CallRow row;
    std::vector<uint64_t> words;  // of the row, if it was written anew
  };
  // What a call is traced with.
  struct Plan {
    FunctionType type;  // open sizes are unknown
    std::vector<ArgumentSize> open;
    std::vector<OpenSize> sizes;  // for each of these
    bool is_in_caller = false;    // some are those of a graph around
    // What had been made, and done at once, on this thread before the trace.
    int64_t variables_before = VariableCreation::num_recorded();
    int64_t effects_before = num_eager_effects();
    bool is_open() const {
      return std::ranges::any_of(sizes, [](const OpenSize& size) { return !size.is_read; });
    }
    // The type of the trace, when it is done: without the sizes that were read.
    FunctionType closed() const;
    // Tells the graph that is built now the numbers of the open sizes of its placeholders.
    void leave_open(std::span<const Value> placeholders);
  };
  // One thread traces a type; others that want the same type wait for it, by the address of this.
  struct Tracing {
    FunctionType type;
    TraceScope scope;
    std::thread::id thread;
  };
  // The traces that run at one moment. Comparing their types runs user code, and so may destroying
  // them: so they are copied, and never compared or destroyed under the lock.
  struct Snapshot {
    std::vector<std::shared_ptr<const Tracing>> traced_now;
    int64_t version = 0;
  };
  Snapshot snapshot() const;
  Status fill_types(FunctionType& type, std::span<const Value> arguments) const;
  // For arguments of a graph with open sizes: their shapes as they are by now, after reading the
  // sizes that are pinned here.
  void bring_up_to_date(std::span<const Value> arguments) const;
  // Makes this thread the first caller, unless the first call is over or is this thread's own.
  // Waits while another thread makes the first call. Returns the state; kNew for the first caller
  // alone. If the first caller itself waits for this call, it is a recursive one, whatever its
  // thread.
  Result<State> enter();
  Result<Resolved> first_call(const FunctionType& type, const Call& call);
  void finish_first_call(State state);
  // Undoes the effects of a first call that failed, and returns the error.
  Status fail_first_call(Status status);
  // The entry for this policy that fits, traced now if there is none. `created` gets the variables
  // that the trace made.
  Result<Resolved> find_or_trace(const FunctionType& type, TraceScope scope, const Call& call,
                                 std::vector<CreatedVariable>& created);
  Ref<Entry> find_by_type(const FunctionType& type, std::optional<uint64_t> skeleton,
                          TraceScope scope, const Call& call) const;
  // Remembers a result of find_by_type; `serial` is the next serial number at that time.
  void remember(const Entry& entry, const FunctionType& type, std::optional<uint64_t> skeleton,
                const CallRow& row, uint64_t serial);
  // The key of an entry of this type that was found or made for the row.
  static Index::Key key_of(const FunctionType& type, std::optional<uint64_t> skeleton,
                           TraceScope scope, const CallRow& row);
  static FunctionType generalized(std::span<const Ref<Entry>> entries, const FunctionType& type,
                                  TraceScope scope);
  // Pins a size, and says so in the Function's explanation.
  void pin(ArgumentSize size, const FunctionType& type, std::string_view why);
  std::vector<ArgumentSize> choose_open(const FunctionType& type, std::span<const Shape> shapes,
                                        std::span<const Value* const> shaped, uint64_t skeleton,
                                        TraceScope scope);
  Plan plan(const FunctionType& type, std::optional<uint64_t> skeleton, TraceScope scope,
            const Call& call);
  // If a trace with sizes open failed, it has not happened: prepares the plan for another one with
  // the sizes of the call. False if the error stays.
  bool prepare_exact(Plan& plan, const FunctionType& exact, const Status& failed,
                     std::vector<CreatedVariable>& created);
  // Makes an entry known that was traced by a plan.
  void publish(const Ref<Entry>& entry, const Plan& plan, const FunctionType& type,
               std::optional<uint64_t> skeleton, const CallRow& row, const Retrace& retrace);
  // The key of an entry of this type, which a call of this row has traced.
  static Index::Key key_of_trace(const FunctionType& type, std::optional<uint64_t> skeleton,
                                 TraceScope scope, const CallRow& row);
  Result<Ref<Entry>> trace(Plan& plan, TraceScope scope, std::vector<CreatedVariable>& created);
  // Notes why an entry was made, and for which arguments.
  void account_for(Entry& made, const FunctionType& type, std::optional<uint64_t> skeleton,
                   const CallRow& row) const;
  // The entries that may serve a call of this row, if what they watch had not changed.
  std::vector<Ref<Entry>> stale_candidates(std::optional<uint64_t> skeleton, TraceScope scope,
                                           const CallRow& row) const;
  // A hash of the arguments; 0 if there is none that costs little.
  uint64_t key_of_arguments(const FunctionType& type, std::optional<uint64_t> skeleton,
                            TraceScope scope, const CallRow& row) const;
  // Why arguments of this type, which no entry of this policy fits, must be traced; `number` is
  // the trace's.
  Miss miss_of(const FunctionType& type, TraceScope scope, uint64_t key, int64_t number) const;

  const FunctionOptions options_;
  const std::unique_ptr<Tracer> tracer_;
  const std::shared_ptr<Cache> cache_;
  Index& index_;  // of the cache
  StaleTraces stale_traces_;
  Generalizer generalizer_;
  // The context of the entries that calls may find. None during the first call: if that fails its
  // entries go, and if it creates variables later calls use others.
  static constexpr uint64_t kNoContext = 0;
  // That of the state; none while find is paused.
  void set_context() REQUIRES(mutex_);
  static VariableCreation::Policy policy_of(State state);
  std::atomic<uint64_t> context_{kNoContext};
  mutable Mutex mutex_;
  State state_ GUARDED_BY(mutex_) = State::kNew;
  // The thread that makes the first call, and its claim of this member, for threads that wait.
  std::optional<std::thread::id> first_caller_ GUARDED_BY(mutex_);
  Claim first_call_ GUARDED_BY(mutex_);
  uint64_t first_call_serial_ GUARDED_BY(mutex_) = 0;  // the first entry of the first call
  std::vector<std::shared_ptr<const Tracing>> traced_now_ GUARDED_BY(mutex_);
  int64_t version_ GUARDED_BY(mutex_) = 0;  // counts traces that begin or end
};

}  // namespace graven::engine
