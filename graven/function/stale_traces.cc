#include "graven/function/stale_traces.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "graven/function/function.h"
#include "graven/function/same_graph.h"
#include "graven/ir/bodies.h"
#include "graven/ir/body.h"
#include "graven/ir/custom_gradient.h"
#include "graven/ir/host_function.h"

namespace graven::engine {
namespace {

// What nodes have of users' functions, of all nodes in order.
struct UserFunctions {
  std::vector<const CustomGradient*> gradients;
  std::vector<std::shared_ptr<HostFunction>> called;
};

void collect(const Graph& graph, UserFunctions& functions) {
  for (const Node* node : graph.nodes()) {
    if (node->custom_gradient()) functions.gradients.push_back(node->custom_gradient().get());
    if (auto called = host_function_of(node->attrs())) {
      functions.called.push_back(std::move(called));
    }
    for (const NodeBody& inner : bodies_of(*node).all) {
      if (inner.body) collect(*inner.body->graph(), functions);
    }
  }
}

bool same_user_functions(const Graph& a, const Graph& b) {
  UserFunctions ours, theirs;
  collect(a, ours);
  collect(b, theirs);
  const auto is_same = [](const auto& x, const auto& y) { return x->is_same(*y); };
  return std::ranges::equal(ours.gradients, theirs.gradients, is_same) &&
         std::ranges::equal(ours.called, theirs.called, is_same);
}

bool same_trace(const Entry& a, const Entry& b) {
  auto same_capture = [](const GraphBuilder::Capture& x, const GraphBuilder::Capture& y) {
    return x.external == y.external;
  };
  const bool same_outputs = a.type().output && b.type().output
                                ? a.type().output->equals(*b.type().output)
                                : a.type().output == b.type().output;
  return same_outputs && std::ranges::equal(a.captures(), b.captures(), same_capture) &&
         same_graph(*a.graph(), *b.graph()) && same_user_functions(*a.graph(), *b.graph());
}

}  // namespace

Retrace::Retrace(std::span<const Ref<Entry>> related, const FunctionType& call,
                 const FunctionType& traced, uint64_t context) {
  for (const Ref<Entry>& entry : related) {
    if (!entry->watches() || entry->context() != context || entry->holds()) continue;
    const bool is_same = traced.equals(entry->type());
    if (!is_same && (is_of_same_type_ || !call.is_subtype_of(entry->type()))) continue;
    old_ = entry;
    is_of_same_type_ = is_same;
  }
  if (!old_) return;
  why_ = old_->watches()->change();
  noted_ = old_->watches()->begin_retrace();
}

Watches* Retrace::watches() const { return old_ ? old_->watches() : nullptr; }

Ref<Entry> Retrace::end(const Result<Ref<Entry>>& traced, std::vector<CreatedVariable>& created) {
  if (!old_) return nullptr;
  Watches& watches = *old_->watches();
  if (!traced.ok() || !created.empty()) {
    const Status error = traced.ok()
                             ? value_error("it creates variables, and is not the first call")
                             : traced.status();
    if (!watches.revert(error, noted_.get())) return nullptr;
    created.clear();
    return old_;
  }
  Watches* fresh = (*traced)->watches();
  if (!fresh) return nullptr;
  const bool is_same = is_of_same_type_ && watches.gradients_hold() && same_trace(*old_, **traced);
  watches.precede(*fresh, (*traced)->trace_milliseconds());
  if (!is_same) return nullptr;
  watches.adopt(*fresh, noted_.get());
  return old_;
}

void StaleTraces::add(const Retrace& retrace, Cache& cache) {
  if (!retrace.is_one()) return;
  std::vector<uint64_t> gone;
  {
    const uint64_t serial = cache.index().serial_of(*retrace.old_);
    MutexLock lock(mutex_);
    std::erase(serials_, serial);
    serials_.push_back(serial);
    for (; serials_.size() > kMax; serials_.pop_front()) gone.push_back(serials_.front());
  }
  cache.evict(gone, "a value that it had read changed: " + retrace.why());
}

}  // namespace graven::engine
