#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "graven/api/concrete_function.h"
#include "graven/api/convert.h"
#include "graven/api/error.h"
#include "graven/api/location.h"
#include "graven/api/module.h"
#include "graven/api/user_callable.h"
#include "graven/api/watched.h"
#include "graven/function/function.h"
#include "graven/ir/frame.h"

namespace graven {

// Options for tracing a function.
struct FunctionOptions {
  std::string name = "function";
  // Names of the parameters, for placeholders and messages, because C++ does not tell them.
  std::vector<std::string> parameters = {};
  // The only accepted types, one for each parameter; all parameters are tensors then.
  std::optional<std::vector<TensorSpec>> input_signature = std::nullopt;
  // None: where only sizes differ from those of a trace, the next trace leaves these sizes open,
  // unless the body reads them (docs/sizes.md). True: trace the second shape of a rank with unknown
  // dimensions. False: trace each shape.
  std::optional<bool> reduce_retracing = std::nullopt;
  // How many traces are kept at most, and how many bytes of them, as cache_info() counts them
  // without captured tensors. Beyond that the trace goes that is worth least: calls lately, times
  // milliseconds to trace it, per byte. A new trace that is worth no more than those there runs
  // once, and goes. A ValueError unless positive.
  std::optional<int64_t> max_traces = std::nullopt;
  std::optional<int64_t> max_bytes = std::nullopt;
  // What to do when a watched value of its captures() has changed.
  Stale stale = Stale::kRetrace;
};

// The contents of a function's cache: counts, a line for each live trace, and the last ones that
// went. to_text() makes a table of it.
using engine::CacheInfo;
// What a function has traced and why, and what a call would do. to_text(), to_json() and to_html()
// show it; write_html (explain.h) makes a page of it.
using engine::Explanation;
using engine::GoneTrace;
using engine::TraceInfo;

template <typename Signature>
class Function;

// The things that a function uses besides its arguments; the program lists them, because C++ cannot
// see a lambda's captures. Each is a Tensor, Variable, Module, Function or watched<T>, or a vector
// of these, checked at compile time. Tensors and variables are kept alive. A Module adds the
// variables that it has at that time, a Function the captures of its traces.
class GRAVEN_API CaptureList {
 public:
  void add(const Tensor& tensor) { tensors_.push_back(tensor); }
  void add(const Variable& variable) { tensors_.push_back(variable.handle()); }
  void add(const Module& module) {
    for (const Variable& variable : module.variables()) add(variable);
  }
  template <typename R, typename... Args>
  void add(const Function<R(Args...)>& function) {
    functions_.push_back(function.engine_function());
  }
  template <typename T>
  void add(const watched<T>& value) {
    cells_.push_back(value.cell());
  }
  template <typename T>
  void add(const std::vector<T>& values) {
    for (const T& value : values) add(value);
  }
  // True if the list has a tensor that a trace captured.
  bool covers(const engine::Tensor& captured) const;
  const std::vector<engine::Ref<internal::WatchedCell>>& cells() const { return cells_; }

 private:
  std::vector<engine::Tensor> tensors_;  // and handles of variables
  std::vector<engine::Ref<engine::Function>> functions_;
  std::vector<engine::Ref<internal::WatchedCell>> cells_;  // of watched values
};

namespace internal {

// A function of another language that a Function stands for (graven/python_api.h).
template <typename R>
class ForeignFunction {
 public:
  virtual ~ForeignFunction() = default;
  // What holds its traces.
  virtual const engine::Ref<engine::Function>& function() const = 0;
  // The object of its language, with a reference for the caller.
  virtual void* object() const = 0;
  virtual R call(std::span<const engine::Value> arguments,
                 const std::source_location& location) const = 0;
  virtual Explanation explain(std::span<const engine::Value> arguments) const = 0;
};

}  // namespace internal

// The common part of all functions, whatever their arguments are.
class GRAVEN_API FunctionBase {
 public:
  // How many traces were ever made, and what is in the cache now.
  int64_t experimental_get_tracing_count() const { return function_->tracing_count(); }
  CacheInfo cache_info() const { return function_->cache_info(); }
  // Its traces: why each was made, for which call, what it cost, and how to need fewer.
  Explanation explain() const { return {{engine::explain(function_->cache())}}; }
  // Lets all traces go; the next call of each type traces again. Calls of other threads go on, and
  // a trace that is being made is kept when it is done. Counts, the history, and the rule that
  // variables are created on the first call only stay. A concrete function stays usable. A trace
  // whose variables have no values yet stays.
  void clear_cache() const { function_->clear_cache(); }
  // The signatures of all traces, a block each or, not verbose, a line each.
  std::string pretty_printed_concrete_signatures(bool verbose = true) const;
  const std::string& name() const { return function_->options().name; }
  // Tensors that the traces captured, and handles of variables, that are not in captures(): all
  // captures, for a function made without captures().
  std::vector<Tensor> untold_captures() const;
  const engine::Ref<engine::Function>& engine_function() const { return function_; }

 protected:
  FunctionBase(FunctionOptions options, size_t num_parameters,
               std::unique_ptr<engine::Tracer> tracer, CaptureList captures,
               const std::source_location& location);
  // Of another language's.
  explicit FunctionBase(engine::Ref<engine::Function> function);
  // A trace that a call made. Its destructor, after all other references to it are gone, lets
  // traces over the budgets go; what there is to report it writes to standard error.
  class GRAVEN_API NewTrace {
   public:
    explicit NewTrace(engine::Function& function) : function_(function) {}
    ~NewTrace() {
      if (entry_) settle();
    }
    NewTrace(const NewTrace&) = delete;

   private:
    friend class FunctionBase;
    void settle();
    engine::Function& function_;
    engine::Ref<engine::Entry> entry_;
  };
  // The trace for these arguments, made now if there is none.
  engine::Ref<engine::Entry> resolve(std::span<const engine::Value> arguments,
                                     engine::Function::Purpose purpose, const KeyWriter& key,
                                     const std::source_location& location,
                                     NewTrace& new_trace) const;
  // The same with `call`: what a call with these arguments would do.
  Explanation explain_call(std::span<const engine::Value> arguments, const KeyWriter& key) const;
  // An error of what a function of another language does not do here.
  [[noreturn]] void throw_foreign() const;
  // The names of the parameters, and what an input_signature says of them.
  const engine::FunctionType& type() const { return *type_; }
  KeyWriter new_key() const { return KeyWriter(function_->options().literals_equal_as_numbers); }

  engine::Ref<engine::Function> function_;

 private:
  // A TypeError unless the arguments fit the types that a signature fixes.
  void check_arguments(std::span<const engine::Value> arguments,
                       const std::source_location& location) const;
  std::shared_ptr<const engine::FunctionType> type_;  // the types that a signature fixes, else null
  std::shared_ptr<const CaptureList> told_;
};

// A trace that knows the C++ types of its function.
template <typename Signature>
class ConcreteFunctionOf;

// A polymorphic function: a C++ callable, traced once per type of its arguments, then run.
// Copies share the traces. Any thread may call it.
template <typename R, typename... Args>
class Function<R(Args...)> : public FunctionBase {
  static_assert(!std::is_arithmetic_v<R>, "a function returns tensors, or structures of them");

 public:
  using Body = std::function<R(Args...)>;
  Function(Body body, FunctionOptions options, std::source_location location,
           CaptureList captures = {});
  // For graven/python_api.h.
  explicit Function(std::shared_ptr<const internal::ForeignFunction<R>> foreign)
      : FunctionBase(foreign->function()), foreign_(std::move(foreign)) {}
  const auto& foreign() const { return foreign_; }

  // Runs the trace for the types of the arguments, which is made now if there is none. Throws
  // errors of ops, and the exceptions of the body while it is traced, as the same objects.
  R operator()(const std::remove_cvref_t<Args>&... arguments,
               std::source_location location = std::source_location::current()) const;

  // The trace for arguments, or for TensorSpecs in place of tensors, also inside of vectors. An
  // Unimplemented error for a function of Python's, which gives it there.
  template <typename... Given>
  requires(sizeof...(Given) == sizeof...(Args))
      ConcreteFunctionOf<R(Args...)> get_concrete_function(const Given&... arguments)
  const;

  // What a call with these arguments would do, and the traces that there are: which trace it would
  // find, or why it would have to make one. Nothing is traced or counted. TensorSpecs may stand in
  // place of tensors.
  using FunctionBase::explain;
  template <typename... Given>
  requires(sizeof...(Given) == sizeof...(Args) && sizeof...(Args) > 0) Explanation
      explain(const Given&... arguments)
  const;

 private:
  class Tracer;
  // Not inline: calls of C++ functions are to be short.
  [[gnu::noinline, gnu::cold]] R call_foreign(const std::remove_cvref_t<Args>&... arguments,
                                              const std::source_location& location) const;
  std::shared_ptr<const internal::ForeignFunction<R>> foreign_;  // else null
};

template <typename R, typename... Args>
class ConcreteFunctionOf<R(Args...)> : public ConcreteFunction {
 public:
  using ConcreteFunction::ConcreteFunction;
  // The structured convention: arguments as the function takes them, of the trace's types.
  R operator()(const std::remove_cvref_t<Args>&... arguments,
               std::source_location location = std::source_location::current()) const;
};

// The types of arguments of captures().
template <typename T>
inline constexpr bool kIsCapture = std::is_base_of_v<Module, T>;
template <>
inline constexpr bool kIsCapture<Tensor> = true;
template <>
inline constexpr bool kIsCapture<Variable> = true;
template <typename T>
inline constexpr bool kIsCapture<watched<T>> = true;
template <typename T>
inline constexpr bool kIsCapture<std::vector<T>> = kIsCapture<T>;
template <typename R, typename... Args>
inline constexpr bool kIsCapture<Function<R(Args...)>> = true;

// The first argument of function(), below.
template <typename... T>
CaptureList captures(const T&... told) {
  static_assert(
      (kIsCapture<T> && ...),
      "captures() takes tensors, variables, modules, functions and graven::watched values: "
      "a plain value is frozen by a trace, so make it a graven::watched<T>");
  CaptureList list;
  (list.add(told), ...);
  return list;
}

// --- Making functions.

namespace internal {
template <typename F>
struct SignatureOf : SignatureOf<decltype(&F::operator())> {};
template <typename C, typename R, typename... Args>
struct SignatureOf<R (C::*)(Args...) const> {
  using type = R(Args...);
};
template <typename C, typename R, typename... Args>
struct SignatureOf<R (C::*)(Args...)> {
  using type = R(Args...);
};
template <typename R, typename... Args>
struct SignatureOf<R (*)(Args...)> {
  using type = R(Args...);
};
}  // namespace internal

// graven::function([](const Tensor& x, const Tensor& y) { return x * y; })
template <typename F>
auto function(F body, FunctionOptions options = {},
              std::source_location location = std::source_location::current()) {
  using Signature = typename internal::SignatureOf<F>::type;
  return Function<Signature>(std::move(body), std::move(options), location);
}

// graven::function(captures(w, rate), [=](const Tensor& x) { ... })
template <typename F>
auto function(CaptureList captures, F body, FunctionOptions options = {},
              std::source_location location = std::source_location::current()) {
  using Signature = typename internal::SignatureOf<F>::type;
  return Function<Signature>(std::move(body), std::move(options), location, std::move(captures));
}

// --- Templates.

namespace internal {

// The result of a body, from the outputs of a run.
template <typename R>
R result_of(const engine::Entry& entry, engine::Tensors& outputs) {
  if constexpr (std::is_same_v<R, Tensor>) {
    return outputs.empty() ? Tensor() : Tensor(std::move(outputs[0]));
  } else if constexpr (!std::is_void_v<R>) {
    return Convert<R>::from_value(entry.pack(outputs));
  }
}

// An argument of get_concrete_function: a specification, or a value that converts to the parameter.
template <typename Parameter, typename Given>
engine::Value value_of_given(const Given& given) {
  if constexpr (std::is_convertible_v<const Given&, Parameter>) {
    return Convert<Parameter>::to_value(given);
  } else {
    return Convert<Given>::to_value(given);
  }
}

template <typename Parameter, typename Given>
void write_key_of_given(KeyWriter& key, const Given& given) {
  if constexpr (std::is_convertible_v<const Given&, Parameter>) {
    Convert<Parameter>::write_key(key, given);
  } else {
    Convert<Given>::write_key(key, given);
  }
}

}  // namespace internal

template <typename R, typename... Args>
class Function<R(Args...)>::Tracer final : public engine::Tracer {
 public:
  Tracer(Body body, Stale stale, std::vector<engine::Ref<internal::WatchedCell>> cells)
      : body_(std::move(body)), stale_(stale), cells_(std::move(cells)) {}
  engine::Result<engine::Value> trace(const engine::FunctionType&,
                                      std::span<const engine::Value> values) override {
    engine::Frame::current().locations = &internal::cpp_locations();
    internal::WatchScope scope(cells_, stale_);
    return internal::call_with_values(body_, values);
  }
  engine::Ref<engine::Watches> take_watches() override { return internal::take_watches(); }

 private:
  const Body body_;
  const Stale stale_;
  const std::vector<engine::Ref<internal::WatchedCell>> cells_;
};

template <typename R, typename... Args>
Function<R(Args...)>::Function(Body body, FunctionOptions options, std::source_location location,
                               CaptureList captures)
    : FunctionBase(options, sizeof...(Args),
                   std::make_unique<Tracer>(std::move(body), options.stale, captures.cells()),
                   captures, location) {}

template <typename R, typename... Args>
R Function<R(Args...)>::operator()(const std::remove_cvref_t<Args>&... arguments,
                                   std::source_location location) const {
  if (foreign_) return call_foreign(arguments..., location);
  KeyWriter key = new_key();
  (Convert<std::remove_cvref_t<Args>>::write_key(key, arguments), ...);
  internal::LocationScope scope(location);
  NewTrace new_trace(*function_);  // before the other references
  engine::EntryInUse entry = function_->find(key.row());
  if (!entry) {
    const engine::Value values[] = {Convert<std::remove_cvref_t<Args>>::to_value(arguments)...,
                                    engine::Value()};
    entry = engine::EntryInUse(resolve(std::span(values, sizeof...(Args)),
                                       engine::Function::Purpose::kCall, key, location, new_trace));
  }
  if (entry->watches()) internal::note_watches(*entry->watches(), name(), location);
  engine::Tensors outputs;
  throw_if_error(entry->run(key.tensors(), outputs), location);
  return internal::result_of<R>(*entry, outputs);
}

template <typename R, typename... Args>
R Function<R(Args...)>::call_foreign(const std::remove_cvref_t<Args>&... arguments,
                                     const std::source_location& location) const {
  const engine::Value values[] = {Convert<std::remove_cvref_t<Args>>::to_value(arguments)...,
                                  engine::Value()};
  return foreign_->call(std::span(values, sizeof...(Args)), location);
}

template <typename R, typename... Args>
template <typename... Given>
requires(sizeof...(Given) == sizeof...(Args))
    ConcreteFunctionOf<R(Args...)> Function<R(Args...)>::get_concrete_function(
        const Given&... arguments)
const {
  if (foreign_) throw_foreign();
  KeyWriter key = new_key();
  (internal::write_key_of_given<std::remove_cvref_t<Args>>(key, arguments), ...);
  const engine::Value values[] = {internal::value_of_given<std::remove_cvref_t<Args>>(arguments)...,
                                  engine::Value()};
  NewTrace new_trace(*function_);
  return ConcreteFunctionOf<R(Args...)>(resolve(std::span(values, sizeof...(Args)),
                                                engine::Function::Purpose::kLookUp, key,
                                                std::source_location(), new_trace));
}

template <typename R, typename... Args>
template <typename... Given>
requires(sizeof...(Given) == sizeof...(Args) &&
         sizeof...(Args) > 0) Explanation Function<R(Args...)>::explain(const Given&... arguments)
const {
  KeyWriter key = new_key();
  (internal::write_key_of_given<std::remove_cvref_t<Args>>(key, arguments), ...);
  const engine::Value values[] = {internal::value_of_given<std::remove_cvref_t<Args>>(arguments)...,
                                  engine::Value()};
  if (foreign_) return foreign_->explain(std::span(values, sizeof...(Args)));
  return explain_call(std::span(values, sizeof...(Args)), key);
}

template <typename R, typename... Args>
R ConcreteFunctionOf<R(Args...)>::operator()(const std::remove_cvref_t<Args>&... arguments,
                                             std::source_location location) const {
  KeyWriter key(/*equal_as_numbers=*/false);  // for its tensors
  (Convert<std::remove_cvref_t<Args>>::write_key(key, arguments), ...);
  const engine::Value values[] = {Convert<std::remove_cvref_t<Args>>::to_value(arguments)...,
                                  engine::Value()};
  check_types(std::span(values, sizeof...(Args)), location);
  engine::Tensors outputs = run(key.tensors(), location);
  return internal::result_of<R>(*entry(), outputs);
}

}  // namespace graven
