#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/attributes.h"
#include "graven/ir/op_body.h"
#include "graven/tensor/dtype.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

class BatchContext;
class CostContext;
class GradientContext;
class InferContext;
class Op;
class ReadsContext;
struct Movement;

// What an op does besides computing its outputs.
struct Effects {
  bool stateful = false;   // TensorFlow registers it stateful: never merged, never folded
  bool ordered = false;    // one of the chain of stateful ops without resources (prints, asserts)
  bool must_run = false;   // runs even if its outputs have no users
  bool may_block = false;  // waits for something outside of the engine: a stream, a file, a queue
  std::vector<int> reads = {}, writes = {};  // inputs: resources that the op reads, or changes
};
using EffectsFunction = Effects (*)(const Op& op, AttrsRef attrs);
// For records: the usual kinds.
GRAVEN_API Effects pure_effects(const Op& op, AttrsRef attrs);
// Stateful, but free to run in any order, or not at all: the old random ops.
GRAVEN_API Effects unordered_effects(const Op& op, AttrsRef attrs);
GRAVEN_API Effects ordered_effects(const Op& op, AttrsRef attrs);          // asserts
GRAVEN_API Effects blocking_effects(const Op& op, AttrsRef attrs);         // ordered: prints
GRAVEN_API Effects reads_resource_effects(const Op& op, AttrsRef attrs);   // input 0
GRAVEN_API Effects writes_resource_effects(const Op& op, AttrsRef attrs);  // input 0

// How the bodies of a node run. ir/bodies.h says what follows for inputs, outputs and the choice
// among several.
enum class BodyRun : uint8_t {
  kOnce,          // the one body, once: calls
  kOneOf,         // the body that input 0 chooses, once: If, Case
  kWhile,         // two bodies: the second is run as long as the first gives true: While
  kAsTheOpLikes,  // the op decides how often, when and on which thread: datasets
};
// The name of an attribute that is a Body, or a list of Bodies, and of the op's arguments that are
// inputs and outputs of the body.
struct BodyField {
  std::string attribute;
  // The op's input whose tensors are the last inputs of a body. The body's inputs before them (all
  // of them if this is empty) are not inputs of the node (the elements of a dataset).
  std::string inputs = {};
  // The op's output whose tensors are the outputs of a body. Empty: the body's outputs are not
  // outputs of the node (the condition of a While).
  std::string outputs = {};
};
struct OpBodies {
  BodyRun run = BodyRun::kAsTheOpLikes;
  std::vector<BodyField> fields = {};
};

using InferFunction = Status (*)(InferContext& context);
// The estimated time of one application in nanoseconds on one core, without the fixed time of a
// call.
using CostFunction = double (*)(const CostContext& context);
using GradientFunction = void (*)(GradientContext& context);
// How the op runs for many rows at once (ir/batch_context.h).
using BatchFunction = void (*)(BatchContext& context);
// The index of the input that is passed on as output 0, given the dtypes of the inputs; -1 if none.
using PassesOnFunction = int (*)(std::span<const DType> inputs, AttrsRef attrs);
GRAVEN_API int passes_on_input_0(std::span<const DType> inputs, AttrsRef attrs);

// Where the elements of an output come from (ir/movement.h); none if that is unknown or cannot be
// written as reads.
using ReadsFunction = std::optional<Movement> (*)(const ReadsContext& context);

// Which dtypes a type attribute may have.
struct TypeConstraint {
  std::string name;  // "T"
  DTypeSet allowed;
  // Further dtypes that TensorFlow's OpDef declares: one without a kernel is a NotFoundError, which
  // programs catch, and any other dtype an InvalidArgumentError.
  DTypeSet declared = {};
};

// Everything there is to know about an op, as its section in graven/ops writes it down
// (STYLE 2). Most fields have a default that is right for pure ops.
struct OpRecord {
  std::string name = {};     // TensorFlow's OpDef name
  std::string python = {};   // public name, "nn.relu"; empty: only in raw_ops
  std::string summary = {};  // what it computes, in one or two sentences
  // Args, Returns, Raises for the docstring, where the summary leaves doubt.
  std::string details = {};
  std::vector<std::string> inputs = {};   // OpDef's grammar: "x: T", "values: N * T", "args: Tin"
  std::vector<std::string> outputs = {};  // "y: T", "index: int64", "output: num * T"
  std::vector<TypeConstraint> types = {};
  InferFunction infer = nullptr;
  // Null: no gradient is defined, asking for it is a LookupError. See not_differentiable.
  GradientFunction gradient = nullptr;
  // Null: follows from the body, if it is of scalars or of other ops; an op that has neither is run
  // in a loop over the rows. An op without effects, none of whose inputs depends on the row, runs
  // once; the rule of one with effects is asked in that case too.
  BatchFunction batch = nullptr;
  OpBody body = {};
  // The kernel makes all outputs itself (a variable's value, a view): none is allocated for it,
  // even if their shapes are known.
  bool allocates_outputs = false;
  // The kernel keeps an object of its own from one run to the next (the position in a random
  // stream), one for each node: see KernelContext::state.
  bool keeps_state = false;
  EffectsFunction effects = pure_effects;
  // The attributes that are Bodies, all of them, and how they run. For instance
  //
  //   .bodies = {BodyRun::kOnce, {{"f", "args", "output"}}}                              a call
  //   .bodies = {BodyRun::kOneOf, {{"else_branch", "input", "output"},
  //                                {"then_branch", "input", "output"}}}                  If
  //   .bodies = {BodyRun::kOneOf, {{"branches", "input", "output"}}}                     Case
  //   .bodies = {BodyRun::kWhile, {{"cond", "input"}, {"body", "input", "output"}}}      While
  //   .bodies = {BodyRun::kAsTheOpLikes, {{"f", "other_arguments"}}}                     a dataset
  OpBodies bodies = {};
  // Inputs whose values shape inference needs (shapes, axes, paddings). Behind a list they count
  // from the end: -1 is the last.
  std::vector<int> values_for_inference = {};
  // The input whose elements output 0 shares, under another shape: Reshape, Identity. -1: none.
  int view_of = -1;
  // The view works for any shape of its input: only the number of elements counts (Reshape). So a
  // view of a view may read the first view's input.
  bool views_any_shape = false;
  // Says when output 0 equals one of the inputs, to the last bit, with its dtype and shape:
  // Identity, AddN of one tensor, Cast to the same dtype. Null: never.
  PassesOnFunction passes_on = nullptr;
  // The input whose memory output 0 of a kernel may take, if it has no other user: the kernel then
  // finds the input's values in the output instead of copying them. -1: none. Elementwise bodies
  // take any input that fits.
  int overwrites = -1;
  // For an op that only moves elements. Null: its outputs are computed.
  ReadsFunction reads = nullptr;
  // The kernel reports each rectangle of output 0 when it is final (KernelContext::done), so that
  // the steps after it may use the rectangle while it is in cache.
  bool panels = false;
  // Null: the time is proportional to the elements read and written.
  CostFunction cost = nullptr;
  // Inputs 0 and 1 may change places.
  bool commutative = false;
  // x op e = x, for the number e on the right (and on the left if commutative), bit for bit. The
  // sign of a zero counts where the dtype has one: that of a sum is -0.0, because x + 0.0 turns
  // -0.0 into 0.0, and that of a difference is 0.0. Complex dtypes have none.
  std::optional<double> identity_on_right = {};
  // Arguments and attributes that have another name in TensorFlow's functions than in the OpDef:
  // {"squeeze_dims", "axis"}. Nodes keep the OpDef's names.
  std::vector<std::pair<std::string, std::string>> renamed = {};
  // The default name of a node, where it is not the op's name.
  std::string default_node_name = {};
};

// The flow of gradients stops at the op, as TensorFlow's NotDifferentiable says.
GRAVEN_API void not_differentiable(GradientContext& context);

// An argument of an op as OpDef's grammar describes it.
struct ArgSpec {
  std::string name;
  DType fixed = DType::kInvalid;  // or one of the following
  int type_param = -1;            // index into type_params(), for "T" and "N * T"
  int type_list_attr = -1;        // index into attrs fields: "args: Tin"
  bool is_list = false;           // "N * T" or a list of types
  int count_attr = -1;            // index into attrs fields of N, if the struct has it
};

// The dtypes that the type attributes are bound to in one application, in the order of
// type_params().
using TypeBindings = InlineVector<DType, 4>;

// A record after define: its grammar is parsed. Lives for ever, never changes.
class GRAVEN_API Op {
 public:
  const OpRecord& record() const { return record_; }
  const std::string& name() const { return record_.name; }
  const AttrsType& attrs_type() const { return *attrs_type_; }
  // Position in the registry, for tables beside it.
  int index() const { return index_; }
  bool is_stateful_ever() const { return record_.effects != pure_effects; }

  std::span<const ArgSpec> inputs() const { return inputs_; }
  std::span<const ArgSpec> outputs() const { return outputs_; }
  std::span<const TypeConstraint> type_params() const { return record_.types; }
  // The name that functions of front ends use for an argument or attribute of the OpDef.
  const std::string& parameter_name(const std::string& name) const;
  // Some of the flat inputs, or of the flat outputs.
  struct Range {
    int first = 0, count = 0;
  };
  // The range of an argument, by its name. The argument, and the lists before it, must have listed
  // types or be counted by an attribute, as arguments of bodies are.
  Range input_range(std::string_view name, AttrsRef attrs) const;
  Range output_range(std::string_view name, AttrsRef attrs) const;

  // Binds the type attributes to the dtypes of the flat inputs and to attributes of the same
  // name, and checks them. The error is worded for the graph or, if eager, for an eager call.
  Status bind_types(std::span<const Tensor> inputs, AttrsRef attrs, bool eager,
                    TypeBindings& bindings) const;
  Status bind_types(std::span<const DType> inputs, AttrsRef attrs, bool eager,
                    TypeBindings& bindings) const;
  int num_outputs(AttrsRef attrs, int num_inputs) const;
  // The dtypes of the flat outputs.
  void output_dtypes(const TypeBindings& bindings, AttrsRef attrs, int num_inputs,
                     InlineVector<DType, 4>& dtypes) const;
  // The name of flat input i: "x", or "values_2" within a list.
  std::string flat_input_name(int i, int num_inputs) const;

 private:
  friend class OpRegistry;
  Status parse();
  Status check_bodies() const;
  bool is_single_input(int i) const;
  OpRecord record_;
  const AttrsType* attrs_type_ = nullptr;
  int index_ = -1;
  std::vector<ArgSpec> inputs_, outputs_;
  std::vector<int> type_attr_;        // for each type parameter: the attrs field of its name, or -1
  bool types_are_of_inputs_ = false;  // there are no lists, and no attribute is a type parameter
};

// The name of an op for code that must apply it: bound to its record by define, so using it costs
// no look-up, and typed by its attributes.
template <typename Attrs>
struct OpHandle {
  const Op* op = nullptr;
  const Op& operator*() const { return *op; }
};

// All ops. Filled when libgraven.so is loaded, constant afterwards.
class GRAVEN_API OpRegistry {
 public:
  static OpRegistry& global();

  // Records an op. A record that does not parse, or whose name exists, is a mistake of ours and
  // is remembered in errors(), which a test shows to be empty. `kSum = ops.define<SumAttrs>({...})`
  // binds a handle.
  template <typename Attrs>
  OpHandle<Attrs> define(OpRecord record) {
    return {add(std::move(record), attrs_type<Attrs>())};
  }
  // The same, and binds the handle.
  template <typename Attrs>
  void define(OpHandle<Attrs>& handle, OpRecord record) {
    handle.op = add(std::move(record), attrs_type<Attrs>());
  }

  // Null if there is none.
  const Op* find(std::string_view name) const;
  std::span<const std::unique_ptr<Op>> ops() const { return ops_; }
  std::span<const std::string> errors() const { return errors_; }

 private:
  const Op* add(OpRecord record, const AttrsType& attrs);
  std::vector<std::unique_ptr<Op>> ops_;
  std::vector<std::pair<uint64_t, const Op*>> by_name_;  // sorted by hash of the name
  std::vector<std::string> errors_;
};

}  // namespace graven::engine
