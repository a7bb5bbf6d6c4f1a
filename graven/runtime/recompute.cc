#include "graven/runtime/recompute.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "graven/base/heap_bytes.h"
#include "graven/base/interrupt.h"
#include "graven/base/mutex.h"
#include "graven/ir/graph.h"
#include "graven/ir/recompute.h"
#include "graven/ir/same_input.h"
#include "graven/ir/structural_ops.h"
#include "graven/runtime/part_of_body.h"
#include "graven/runtime/variable.h"
#include "graven/tensor/resource_as.h"

namespace graven::engine {
namespace {

// The push that makes output i of a body from its input i, if its values are to be computed again.
struct Push {
  OutputRef value;
  int64_t every;
};
std::optional<Push> push_at(const Graph& graph, size_t i) {
  const OutputRef output = graph.outputs()[i];
  if (&output.node->op() != kTensorListPushBack.op) return std::nullopt;
  const AttrValue noted = output.node->attribute(kRecompute);
  const auto* every = std::get_if<int64_t>(&noted);
  const bool is_own = output.node->inputs()[0] == OutputRef{graph.inputs()[i], 0};
  if (!every || *every <= 0 || !is_own) return std::nullopt;
  return Push{output.node->inputs()[1], *every};
}

// A variable with the value that another has now. Other handles are themselves.
Tensor as_it_is_now(const Tensor& handle) {
  auto* variable = dynamic_cast<Variable*>(held_resource(handle));
  if (!variable) return handle;
  auto value = variable->read();
  if (!value.ok()) return handle;  // The loop fails when it reads it.
  auto copy = make_ref<Variable>(variable->dtype(), variable->shape(), variable->name());
  auto made = Tensor::allocate(DType::kResource, Shape());
  if (!made.ok() || !copy->assign(std::move(*value)).ok()) return handle;
  made->mutable_data<Ref<Resource>>()[0] = std::move(copy);
  return *made;
}

}  // namespace

Result<std::unique_ptr<const Recompute>> Recompute::create(const Body& body) {
  const Graph& graph = *body.graph();
  std::vector<OutputRef> rest(graph.outputs().begin(), graph.outputs().end()), values;
  std::vector<int> lists;
  int64_t every = 0;
  for (size_t i = 0; i < rest.size(); ++i) {
    const auto push = push_at(graph, i);
    if (!push) continue;
    lists.push_back(static_cast<int>(i));
    values.push_back(push->value);
    every = push->every;
    rest[i] = {graph.inputs()[i], 0};
  }
  if (lists.empty()) return std::unique_ptr<const Recompute>();
  // The variables that the values depend on, and those that these depend on in turn.
  std::vector<bool> is_input(rest.size(), false), is_state(rest.size(), false);
  std::vector<OutputRef> all = values;
  for (bool has_grown = true; has_grown;) {
    is_input = inputs_needed(graph, all);
    has_grown = false;
    for (size_t i = 0; i < rest.size(); ++i) {
      if (!is_input[i] || is_state[i] || returns_input(graph, static_cast<int>(i))) continue;
      is_state[i] = has_grown = true;
      all.push_back(rest[i]);
    }
  }
  std::vector<int> inputs;
  std::vector<size_t> state;
  std::vector<OutputRef> outputs;
  for (size_t i = 0; i < rest.size(); ++i) {
    if (!is_input[i]) continue;
    if (is_state[i]) {
      state.push_back(inputs.size());
      outputs.push_back(rest[i]);
    }
    inputs.push_back(static_cast<int>(i));
  }
  outputs.insert(outputs.end(), values.begin(), values.end());
  const std::vector<bool> all_inputs(rest.size(), true);
  Ref<Body> body_of_values = part_of_body(body, outputs, is_input, /*with_effects=*/false);
  ASSIGN_OR_RETURN(PlannedBody planned, PlannedBody::create(body_of_values));
  std::unique_ptr<Recompute> made(
      new Recompute(part_of_body(body, rest, all_inputs, /*with_effects=*/true),
                    std::move(body_of_values), std::move(planned)));
  made->every_ = every;
  made->lists_ = std::move(lists);
  made->inputs_ = std::move(inputs);
  made->state_ = std::move(state);
  return std::unique_ptr<const Recompute>(std::move(made));
}

int64_t Recompute::bytes() const {
  return bytes_of_object<Recompute>() + values_->bytes() + heap_bytes(lists_) +
         heap_bytes(inputs_) + heap_bytes(state_);
}

// The elements of the lists of one run of the loop.
class Recompute::Run::Source final : public ElementSource {
 public:
  // The bodies of `recompute` are kept, not the object itself, which belongs to a Program.
  Source(const Recompute& recompute, std::vector<Tensor> inputs)
      : planned_(recompute.planned_),
        every_(recompute.every_),
        state_(recompute.state_),
        num_lists_(recompute.lists_.size()),
        inputs_(std::move(inputs)) {}

  // While the loop runs.
  void keep(std::vector<Tensor> state) { states_.push_back(std::move(state)); }

  Result<std::vector<Tensor>> elements_up_to(int number, int64_t last) override {
    MutexLock lock(mutex_);
    const auto list = static_cast<size_t>(number);
    const bool is_there = last == last_ && !made_[list].empty();
    if (!is_there) RETURN_IF_ERROR(compute(last));
    return std::exchange(made_[list], {});
  }

 private:
  // Computes the values of the iterations from the last state on, up to iteration `last`.
  Status compute(int64_t last) REQUIRES(mutex_) {
    made_.assign(num_lists_, {});
    const int64_t chunk = last / every_;
    std::vector<Tensor> values = inputs_;
    InlineVector<bool, 8> given_up;
    for (size_t i = 0; i < values.size(); ++i) given_up.push_back(false);
    const std::vector<Tensor>& state = states_[static_cast<size_t>(chunk)];
    for (size_t s = 0; s < state_.size(); ++s) values[state_[s]] = state[s];
    const InterruptCheck interrupt = interrupt_check();
    Tensors outputs;
    for (int64_t i = chunk * every_; i <= last; ++i) {
      RETURN_IF_ERROR(
          planned_.run(std::span<Tensor>(values), {given_up.data(), given_up.size()}, outputs));
      for (size_t l = 0; l < num_lists_; ++l) {
        made_[l].push_back(std::move(outputs[state_.size() + l]));
      }
      for (size_t s = 0; s < state_.size(); ++s) values[state_[s]] = std::move(outputs[s]);
      if (interrupt) RETURN_IF_ERROR(interrupt());
    }
    last_ = last;
    return {};
  }

  const PlannedBody planned_;
  const int64_t every_;
  const std::vector<size_t> state_;
  const size_t num_lists_;
  const std::vector<Tensor> inputs_;  // those that the loop changes are empty
  std::vector<std::vector<Tensor>> states_;
  Mutex mutex_;
  int64_t last_ GUARDED_BY(mutex_) = -1;
  std::vector<std::vector<Tensor>> made_ GUARDED_BY(mutex_);  // by list; empty once they were taken
};

Result<Recompute::Run> Recompute::Run::start(const Recompute& recompute,
                                             std::span<const Tensor> values) {
  Run run(recompute);
  std::vector<Tensor> inputs;
  for (int i : recompute.inputs_) inputs.push_back(as_it_is_now(values[static_cast<size_t>(i)]));
  for (size_t s : recompute.state_) inputs[s] = Tensor();
  for (int i : recompute.lists_) {
    ASSIGN_OR_RETURN(const TensorList* list,
                     resource_as<TensorList>(values[static_cast<size_t>(i)], TensorList::kName));
    if (list->length() != 0) return internal_error("a list that is computed again is not empty");
  }
  Ref<Source> source = make_ref<Source>(recompute, std::move(inputs));
  run.source_ = source.get();
  run.elements_ = std::move(source);
  return run;
}

void Recompute::Run::before_iteration(std::span<const Tensor> values) {
  if (num_iterations_++ % recompute_->every_ != 0) return;
  std::vector<Tensor> state;
  for (size_t s : recompute_->state_) {
    state.push_back(values[static_cast<size_t>(recompute_->inputs_[s])]);
  }
  source_->keep(std::move(state));
}

Status Recompute::Run::finish(std::span<Tensor> values) {
  for (size_t l = 0; l < recompute_->lists_.size(); ++l) {
    Tensor& value = values[static_cast<size_t>(recompute_->lists_[l])];
    ASSIGN_OR_RETURN(const TensorList* list, resource_as<TensorList>(value, TensorList::kName));
    ASSIGN_OR_RETURN(Tensor made, Tensor::allocate(DType::kVariant, Shape()));
    made.mutable_data<Ref<Resource>>()[0] = TensorList::computed(
        list->dtype(), list->element_shape(), num_iterations_, elements_, static_cast<int>(l));
    value = std::move(made);
  }
  return {};
}

}  // namespace graven::engine
