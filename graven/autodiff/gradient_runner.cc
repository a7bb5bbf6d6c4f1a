#include "graven/autodiff/gradient_runner.h"

#include "graven/autodiff/add_gradients.h"
#include "graven/autodiff/backward_builder.h"
#include "graven/autodiff/op_memory.h"
#include "graven/autodiff/row_gradient.h"
#include "graven/base/hash.h"
#include "graven/base/heap_bytes.h"
#include "graven/base/strings.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/host_function.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

// Values up to this size are kept whether a gradient asks for them or not.
constexpr size_t kMaxSmallBytes = 1024;

// The shape of a tensor of a step where its gradient is built. Terms of another graph mean nothing
// there, or something else.
Shape shape_here(const StepTensor& tensor, Builder& builder) {
  Shape shape = tensor.shape;
  if (!shape.has_rank() || shape.is_fully_known()) return shape;
  const Graph* graph = tensor.tensor ? symbolic(tensor.tensor).graph().get() : nullptr;
  if (graph && graph == builder.graph()) return shape;
  auto* backward = dynamic_cast<BackwardBuilder*>(&builder.unrecorded());
  const bool is_of_forward = backward && graph == backward->forward_graph();
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i].is_number()) continue;
    shape.set(i, is_of_forward ? backward->inner_dim(*graph, shape[i]) : Dim::unknown());
  }
  return shape;
}

// The argument of an op's gradient function.
class OpGradient final : public GradientContext {
 public:
  OpGradient(Builder& builder, const TapeStep& step, std::span<const Gradient> dy,
             const std::vector<bool>& wants)
      : GradientContext(builder),
        step_(step),
        dy_(dy.begin(), dy.end()),
        wants_(wants),
        dx_(step.inputs.size()),
        asked_{std::vector<bool>(step.inputs.size()), std::vector<bool>(step.outputs.size())} {
    for (const StepTensor& input : step.inputs) shapes_of_x_.push_back(shape_here(input, builder));
    for (const StepTensor& output : step.outputs) {
      shapes_of_y_.push_back(shape_here(output, builder));
    }
  }

  const Op& op() const override { return *step_.op; }
  AttrsRef raw_attrs() const override { return *step_.attrs; }
  int num_inputs() const override { return static_cast<int>(step_.inputs.size()); }
  int num_outputs() const override { return static_cast<int>(step_.outputs.size()); }

  Tensor x(int i) override {
    asked_.inputs[i] = true;
    return kept(step_.inputs[i], "input", i);
  }
  Tensor y(int i) override {
    asked_.outputs[i] = true;
    return kept(step_.outputs[i], "output", i);
  }
  Tensor dy(int i) override {
    Gradient& dy = dy_[i];
    if (dy.is_none()) {
      dy.dense = zeros_like(*this, step_.outputs[i]);
    } else if (dy.is_slices()) {
      dy = Gradient{densify(*this, dy.slices), {}};
    }
    return dy.dense;
  }
  bool has_dy(int i) const override { return !dy_[i].is_none(); }
  const Shape& static_shape_of_x(int i) const override { return shapes_of_x_[i]; }
  DType dtype_of_x(int i) const override { return step_.inputs[i].dtype; }
  const Shape& static_shape_of_y(int i) const override { return shapes_of_y_[i]; }
  Tensor shape_of_x(int i) override { return shape_of(*this, step_.inputs[i]); }
  Tensor shape_of_y(int i) override { return shape_of(*this, step_.outputs[i]); }
  bool wants(int i) const override { return wants_[i]; }
  void set_dx(int i, Tensor dx) override {
    if (wants_[i]) dx_[i] = Gradient{std::move(dx), {}};
  }
  void set_dx(int i, IndexedSlices dx) override {
    if (wants_[i]) dx_[i] = Gradient{{}, std::move(dx)};
  }

  std::vector<Gradient>& dx() { return dx_; }
  const AskedFor& asked() const { return asked_; }

 private:
  Tensor kept(const StepTensor& tensor, std::string_view which, int i) {
    if (!tensor.tensor) {
      fail(internal_error("The gradient of ", op().name(), " asks for ", which, " ", i,
                          ", for which it did not ask on placeholders"));
    }
    return tensor.tensor;
  }
  const TapeStep& step_;
  std::vector<Gradient> dy_;
  const std::vector<bool>& wants_;
  std::vector<Gradient> dx_;
  AskedFor asked_;
  InlineVector<Shape, 2> shapes_of_x_, shapes_of_y_;
};

// "a/b/" of the node "a/b/c".
std::string_view scope_of(std::string_view node_name) {
  size_t slash = node_name.rfind('/');
  return slash == std::string_view::npos ? "" : node_name.substr(0, slash + 1);
}

// dtypes and ranks of the tensors: a dry run depends on these, besides op and attributes.
void add_types(std::span<const Tensor> tensors, std::vector<int>& types) {
  types.push_back(static_cast<int>(tensors.size()));
  for (const Tensor& tensor : tensors) {
    types.push_back(static_cast<int>(tensor.dtype()));
    types.push_back(tensor.shape().has_rank() ? tensor.rank() : -1);
  }
}

// By what add_types gives.
OpMemory<std::vector<int>, AskedFor>& memory() {
  static auto* memory = new OpMemory<std::vector<int>, AskedFor>();
  return *memory;
}

AskedFor everything(size_t num_inputs, size_t num_outputs) {
  return {std::vector<bool>(num_inputs, true), std::vector<bool>(num_outputs, true)};
}

AskedFor run_on_placeholders(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                             std::span<const Tensor> outputs) {
  GraphBuilder builder(make_ref<Graph>("dry_run"));
  Frame frame(&builder);
  frame.locations = nullptr;
  auto placeholder = [&](const Tensor& like) {
    Shape shape = like.shape();
    for (int i = 0; i < shape.rank(); ++i) shape.set(i, Dim::unknown());
    return builder.add_placeholder(like.dtype(), shape, "x");
  };
  std::vector<Tensor> x, y;
  std::vector<Gradient> dy;
  for (const Tensor& input : inputs) x.push_back(placeholder(input));
  for (const Tensor& output : outputs) {
    y.push_back(placeholder(output));
    dy.emplace_back();
    if (propagates(output.dtype())) dy.back().dense = placeholder(output);
  }
  TapeStepRef step = make_step(op, attrs, x, y);
  std::vector<bool> wants;
  for (const Tensor& input : inputs) wants.push_back(propagates(input.dtype()));
  OpGradient context(builder, *step, dy, wants);
  op.record().gradient(context);
  // A formula that does not work on placeholders may still work on values.
  return context.status().ok() ? context.asked() : everything(inputs.size(), outputs.size());
}

}  // namespace

bool hands_through(const Op& op) {
  return &op == kIdentity.op || &op == kIdentityN.op || &op == kReadVariable.op;
}

bool holds_objects(AttrsRef attrs) {
  for (const AttrField& field : attrs.type().fields) {
    if (field.is<Tensor>() || field.is<Ref<Body>>() || field.is<std::vector<Ref<Body>>>()) {
      return true;
    }
  }
  return false;
}

Tensor shape_of(Emitter& emit, const StepTensor& tensor) {
  if (!tensor.shape.is_fully_known()) return emit(kShape, {tensor.tensor}, {DType::kInt32});
  std::vector<int32_t> sizes;
  for (int i = 0; i < tensor.shape.rank(); ++i) {
    sizes.push_back(static_cast<int32_t>(tensor.shape.size(i)));
  }
  return emit.constant(Tensor::vector(std::span<const int32_t>(sizes)));
}

Tensor zeros_like(Emitter& emit, const StepTensor& tensor) {
  if (tensor.dtype == DType::kVariant) return emit(kZerosLike, {tensor.tensor});
  if (!is_plain(tensor.dtype)) return {};
  auto zero = Tensor::allocate(tensor.dtype, Shape());
  if (!zero.ok()) {
    emit.fail(zero.status());
    return {};
  }
  visit_plain(tensor.dtype, [&](auto none) { zero->mutable_data<decltype(none)>()[0] = none; });
  return emit(kFill, {shape_of(emit, tensor), emit.constant(*zero)});
}

TapeStepRef make_step(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                      std::span<const Tensor> outputs, BackwardRef backward) {
  auto step = std::make_shared<TapeStep>();
  step->op = &op;
  step->backward = std::move(backward);
  step->attrs.emplace(attrs);
  for (const Tensor& input : inputs) step->inputs.emplace_back(input);
  for (const Tensor& output : outputs) step->outputs.emplace_back(output);
  if (!outputs.empty() && outputs[0].is_symbolic()) {
    step->node_name = symbolic(outputs[0]).node().name();
  }
  return step;
}

TapeStepRef make_lean_step(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                           std::span<const Tensor> outputs,
                           FunctionRef<bool(const Tensor&)> is_watched) {
  auto is_large = [](const Tensor& tensor) {
    return !tensor.is_symbolic() && tensor.bytes() > kMaxSmallBytes;
  };
  TapeStepRef step = make_step(op, attrs, inputs, outputs);
  auto& lean = const_cast<TapeStep&>(*step);  // not shared yet
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!is_watched(inputs[i])) lean.inputs[i].id = 0;
  }
  bool any_large = std::any_of(inputs.begin(), inputs.end(), is_large) ||
                   std::any_of(outputs.begin(), outputs.end(), is_large);
  if (!any_large) return step;
  AskedFor asked = asked_for(op, attrs, inputs, outputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!asked.inputs[i] && is_large(inputs[i])) lean.inputs[i].tensor = Tensor();
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!asked.outputs[i] && is_large(outputs[i])) lean.outputs[i].tensor = Tensor();
  }
  return step;
}

AskedFor asked_for(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                   std::span<const Tensor> outputs) {
  if (hands_through(op) || !op.record().gradient) {
    return {std::vector<bool>(inputs.size()), std::vector<bool>(outputs.size())};
  }
  if (holds_objects(attrs)) return everything(inputs.size(), outputs.size());
  if (owns_host_function(attrs)) return run_on_placeholders(op, attrs, inputs, outputs);
  std::vector<int> types;
  add_types(inputs, types);
  add_types(outputs, types);
  uint64_t hash = hash_combine(attrs.hash(), static_cast<uint64_t>(op.index()));
  for (int type : types) hash = hash_combine(hash, static_cast<uint64_t>(type));
  if (auto known = memory().find(hash, op, attrs, types)) return std::move(*known);
  AskedFor asked = run_on_placeholders(op, attrs, inputs, outputs);
  memory().add(hash, op, attrs, std::move(types), asked);
  return asked;
}

int64_t bytes_of_gradients_asked_for() {
  return memory().bytes([](const std::vector<int>& types, const AskedFor& asked) {
    return heap_bytes(types) + heap_bytes(asked.inputs) + heap_bytes(asked.outputs);
  });
}

Status no_gradient_error(const TapeStep& step) {
  std::string text = step.node_name.empty()
                         ? str_cat("gradient registry has no entry for: ", step.op->name())
                         : str_cat("No gradient defined for operation '", step.node_name,
                                   "' (op type: ", step.op->name(), ")");
  return Status(Code::kUnimplemented, text + ". See docs/errors/no-gradient.md",
                ErrorKind::kLookupError);
}

Result<std::vector<Gradient>> run_gradient(const TapeStep& step, std::span<const Gradient> dy,
                                           const std::vector<bool>& wants, Builder& builder) {
  std::optional<NameScope> scope;
  if (builder.graph()) scope.emplace(str_cat("gradient_tape/", scope_of(step.name())));
  if (step.backward) {
    ASSIGN_OR_RETURN(auto dx, (*step.backward)(builder, dy));
    if (dx.size() != step.inputs.size()) {
      return value_error("The gradient of ", step.name(), " gave ", dx.size(),
                         " gradients for its ", step.inputs.size(), " inputs");
    }
    for (size_t i = 0; i < dx.size(); ++i) {
      if (!wants[i]) dx[i] = {};
    }
    return dx;
  }
  if (hands_through(*step.op)) {
    std::vector<Gradient> dx(dy.begin(), dy.end());
    dx.resize(step.inputs.size());
    return dx;
  }
  if (!step.op->record().gradient) return no_gradient_error(step);
  if (auto* backward = dynamic_cast<BackwardBuilder*>(&builder);
      backward && backward->gathers_rows) {
    ASSIGN_OR_RETURN(auto dx, gradient_of_row(step, dy, wants, builder));
    if (dx) return std::move(*dx);
  }
  OpGradient context(builder, step, dy, wants);
  step.op->record().gradient(context);
  RETURN_IF_ERROR(context.status());
  return std::move(context.dx());
}

}  // namespace graven::engine
