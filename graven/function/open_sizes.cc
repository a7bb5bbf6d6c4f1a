// Function's part that is about sizes of arguments: which of them a trace leaves open.
#include <algorithm>

#include "graven/base/strings.h"
#include "graven/function/function.h"
#include "graven/function/trace_type.h"
#include "graven/function/type_text.h"
#include "graven/ir/call_sizes.h"

namespace graven::engine {
namespace {

constexpr size_t kMaxCompared = 32;  // traces before that a new one is compared with

// The tensors and variables of a value, in the order of TraceType::add_shapes.
void add_shaped(const Value& value, std::vector<const Value*>& shaped) {
  if (value.kind == Value::Kind::kTensor || value.kind == Value::Kind::kVariable) {
    shaped.push_back(&value);
  } else if (value.kind == Value::Kind::kContainer) {
    for (size_t i = 0; i < value.items.size(); ++i) {
      add_shaped(value.items[value.container->position(i)], shaped);
    }
  }
}

std::vector<const Value*> shaped_values(std::span<const Value> arguments) {
  std::vector<const Value*> shaped;
  for (const Value& argument : arguments) add_shaped(argument, shaped);
  return shaped;
}

// Whether types of these shapes differ in sizes of tensors only, given that they have a type in
// common.
bool differ_in_sizes(std::span<const Shape> shapes, std::span<const Shape> other,
                     std::span<const Value* const> shaped) {
  if (shapes.size() != other.size()) return false;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const Shape &a = shapes[i], &b = other[i];
    if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return false;
    if (shaped[i]->kind == Value::Kind::kVariable && !(a == b)) return false;
  }
  return true;
}

// True for errors that trying again would not help: interrupts, recursion without end.
bool must_not_repeat(const Status& status) {
  return status.code() == Code::kCancelled || status.code() == Code::kResourceExhausted;
}

// Puts the call's numbers in the place of sizes that the caller's graph leaves open, and returns
// which these are.
std::vector<ArgumentSize> number_sizes_of_caller(std::span<const Value> arguments,
                                                 const std::vector<bool>& is_constrained,
                                                 std::span<const Value* const> shaped,
                                                 std::span<Shape> shapes) {
  std::vector<bool> has_own_type;  // by tensor
  for (size_t i = 0; i < arguments.size(); ++i) {
    has_own_type.resize(has_own_type.size() + shaped_values(arguments.subspan(i, 1)).size(),
                        !is_constrained[i]);
  }
  std::vector<ArgumentSize> in_caller;
  for (uint32_t t = 0; t < shapes.size(); ++t) {
    const Value& value = *shaped[t];
    if (!has_own_type[t] || value.kind != Value::Kind::kTensor || !value.tensor) continue;
    for (int d = 0; d < shapes[t].rank(); ++d) {
      if (shapes[t][d].is_number()) continue;
      const auto number = CallSizes::number(value.tensor, d);
      if (!number) continue;
      shapes[t].set(d, Dim(*number));
      in_caller.push_back({t, static_cast<uint32_t>(d)});
    }
  }
  return in_caller;
}

}  // namespace

// Here and not beside their callers, also because frames must not stay on the stack while the body
// is traced, which may trace other functions, a thousand deep.

void Function::bring_up_to_date(std::span<const Value> arguments) const {
  const std::vector<const Value*> shaped = shaped_values(arguments);
  const auto pinned = options_.reduce_retracing ? std::vector<ArgumentSize>() : pinned_sizes();
  for (ArgumentSize at : pinned) {
    if (at.tensor >= shaped.size()) break;
    const Value& value = *shaped[at.tensor];
    const auto axis = static_cast<int>(at.dimension);
    if (value.kind == Value::Kind::kTensor && value.tensor && axis < value.tensor.rank()) {
      CallSizes::read(value.tensor, axis);
    }
  }
  for (const Value* value : shaped) {
    if (value->tensor) CallSizes::refresh(value->tensor);
  }
}

FunctionType Function::Plan::closed() const {
  std::vector<Shape> shapes = type.shapes();
  bool is_any_read = false;
  for (size_t i = 0; i < open.size(); ++i) {
    if (!sizes[i].is_read) continue;
    is_any_read = true;
    shapes[open[i].tensor].set(static_cast<int>(open[i].dimension), Dim(sizes[i].number));
  }
  return is_any_read ? type.with_shapes(shapes) : type;
}

void Function::pin(ArgumentSize size, const FunctionType& type, std::string_view why) {
  generalizer_.pin(size);
  cache_->add_fact(str_cat("pinned: ", sizes_text(type, std::span(&size, 1)), ", because ", why,
                           ": each number of it is a trace of its own"));
}

void Function::Plan::leave_open(std::span<const Value> placeholders) {
  if (open.empty()) return;
  const std::vector<const Value*> shaped = shaped_values(placeholders);
  for (size_t i = 0; i < open.size(); ++i) {
    const Tensor& tensor = shaped[open[i].tensor]->tensor;
    CallSizes::current()->open(tensor.shape()[static_cast<int>(open[i].dimension)], sizes[i]);
  }
}

// The sizes that a call of these shapes is traced with open, by what has been traced before.
std::vector<ArgumentSize> Function::choose_open(const FunctionType& type,
                                                std::span<const Shape> shapes,
                                                std::span<const Value* const> shaped,
                                                uint64_t skeleton, TraceScope scope) {
  std::vector<std::vector<Shape>> traced;
  for (const Ref<Entry>& entry : index_.last_related(skeleton, kMaxCompared)) {
    if (entry->scope_ != scope) continue;
    std::vector<Shape> other = entry->type_.shapes();
    if (std::ranges::equal(shapes, other) || !differ_in_sizes(shapes, other, shaped)) continue;
    if (type.common_supertype(entry->type_)) traced.push_back(std::move(other));
  }
  std::vector<ArgumentSize> open = generalizer_.choose(shapes, traced);
  std::erase_if(open, [&](ArgumentSize at) {
    return shaped[at.tensor]->kind == Value::Kind::kVariable ||
           !shapes[at.tensor][static_cast<int>(at.dimension)].is_number();
  });
  return open;
}

Function::Plan Function::plan(const FunctionType& type, std::optional<uint64_t> skeleton,
                              TraceScope scope, const Call& call) {
  const std::optional<bool>& reduce = options_.reduce_retracing;
  const bool may_choose = !reduce && call.purpose == Purpose::kCall;
  const bool is_in_open_trace = CallSizes::any();
  const bool is_wide = reduce.value_or(false);
  auto widest = [&](const FunctionType& of) {
    return is_wide ? generalized(index_.related(skeleton), of, scope) : of;
  };
  if (!skeleton || (!may_choose && !is_in_open_trace)) return {widest(type), {}, {}};
  const std::vector<const Value*> shaped = shaped_values(call.arguments);
  std::vector<Shape> shapes = type.shapes();
  if (shapes.size() != shaped.size()) return {widest(type), {}, {}};

  const std::vector<ArgumentSize> in_caller =
      is_in_open_trace ? number_sizes_of_caller(call.arguments, call.is_constrained, shaped, shapes)
                       : std::vector<ArgumentSize>();
  FunctionType base = in_caller.empty() ? type : type.with_shapes(shapes);
  std::vector<ArgumentSize> open;
  if (may_choose) open = choose_open(base, shapes, shaped, *skeleton, scope);
  base = widest(base);
  Plan plan{{}, std::move(open), {}, !in_caller.empty()};
  std::vector<Shape> wide = base.shapes();
  for (ArgumentSize at : in_caller) {
    // A size that is wide anyway is unknown to the body, as in TensorFlow.
    const bool is_known =
        wide[at.tensor].has_rank() && wide[at.tensor][static_cast<int>(at.dimension)].is_number();
    if (is_known && std::ranges::find(plan.open, at) == plan.open.end()) plan.open.push_back(at);
  }
  for (ArgumentSize at : plan.open) {
    const auto d = static_cast<int>(at.dimension);
    OpenSize size{.number = shapes[at.tensor][d].number()};
    if (std::ranges::find(in_caller, at) != in_caller.end()) {
      const Tensor& tensor = shaped[at.tensor]->tensor;
      size.caller = symbolic(tensor).graph().get();
      size.in_caller = tensor.shape()[d];
    }
    plan.sizes.push_back(size);
    wide[at.tensor].set(d, Dim::unknown());
  }
  plan.type = plan.open.empty() ? std::move(base) : base.with_shapes(wide);
  return plan;
}

bool Function::prepare_exact(Plan& plan, const FunctionType& exact, const Status& failed,
                             std::vector<CreatedVariable>& created) {
  // A variable that was made, or an effect that happened at once, must not come about twice. What
  // happens around the trace decides where sizes are those of a graph around it.
  const bool may_repeat = plan.is_open() && !plan.is_in_caller &&
                          VariableCreation::num_recorded() == plan.variables_before &&
                          num_eager_effects() == plan.effects_before;
  if (!may_repeat || must_not_repeat(failed)) return false;
  for (ArgumentSize at : plan.open) {
    pin(at, exact, "a trace that left it open failed");
  }
  plan = {exact, {}, {}};
  created.clear();
  return true;
}

}  // namespace graven::engine
