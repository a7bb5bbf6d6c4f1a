#include "graven/ir/body.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graven/base/heap_bytes.h"

namespace graven::engine {
namespace {

constinit thread_local std::vector<RefCounted*>* t_waiting = nullptr;

// Bodies hold bodies, in chains of any length. While an object is being freed on this thread, the
// references that it drops wait until that is done, so that the stack does not grow with the chain.
void let_go(RefCounted* object) {
  if (!object) return;
  if (t_waiting) {
    t_waiting->push_back(object);
    return;
  }
  std::vector<RefCounted*> waiting{object};
  t_waiting = &waiting;
  while (!waiting.empty()) {
    RefCounted* next = waiting.back();
    waiting.pop_back();
    next->drop_ref();
  }
  t_waiting = nullptr;
}

}  // namespace

void add_ref_to(const Body* body) { body->add_ref(); }
void drop_ref_of(const Body* body) { body->drop_ref(); }

int64_t next_uid() {
  static std::atomic<int64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

Body::~Body() {
  for (auto& slot : slots_) let_go(slot.load());
  let_go(graph_.release());
}

bool Body::fill(Slot slot, Ref<RefCounted> object) {
  RefCounted* empty = nullptr;
  if (!slots_[slot].compare_exchange_strong(empty, object.get(), std::memory_order_acq_rel)) {
    return false;
  }
  object.release();
  return true;
}

bool Body::charge_to(const void* owner) const {
  const void* nobody = nullptr;
  return charged_to_.compare_exchange_strong(nobody, owner, std::memory_order_acq_rel) ||
         nobody == owner;
}

void Body::release_from(const void* owner) const {
  charged_to_.compare_exchange_strong(owner, nullptr, std::memory_order_acq_rel);
}

int64_t Body::bytes_of_slots() const {
  int64_t total = 0;
  for (int i = 0; i < kNumSlots; ++i) {
    if (BytesFunction bytes = bytes_of_slot_[i].load(std::memory_order_acquire)) {
      total += bytes(*slots_[i].load(std::memory_order_acquire));
    }
  }
  return total;
}

int64_t Body::bytes_of(const Graph& graph, const Body* body) {
  ByteCount count;
  auto bytes_of_one = [](const Body& one) {
    return bytes_of_object<Body>() + heap_bytes(one.name_) + heap_bytes(one.effects_.reads) +
           heap_bytes(one.effects_.writes) + one.bytes_of_slots();
  };
  int64_t total = graph.bytes_without_bodies() + (body ? bytes_of_one(*body) : 0);
  std::vector<const Body*> todo = graph.charged_bodies();
  std::unordered_set<const Body*> counted{body};
  while (!todo.empty()) {
    const Body* next = todo.back();
    todo.pop_back();
    if (!counted.insert(next).second) continue;
    total += next->graph()->bytes_without_bodies() + bytes_of_one(*next);
    for (const Body* held : next->graph()->charged_bodies()) todo.push_back(held);
  }
  return total;
}

Ref<Body> Body::create(std::string name, Ref<Graph> graph) {
  Ref<Body> body(new Body(std::move(name), std::move(graph)));
  Effects& effects = body->effects_;
  const Graph& g = *body->graph_;
  std::unordered_map<const Node*, int> input_number;
  for (size_t i = 0; i < g.inputs().size(); ++i) {
    input_number.emplace(g.inputs()[i], static_cast<int>(i));
  }
  auto add = [&](const Node& node, std::span<const int> which, std::vector<int>& to) {
    for (int i : which) {
      auto at = input_number.find(node.inputs()[i].node);
      if (at == input_number.end()) continue;
      if (std::find(to.begin(), to.end(), at->second) == to.end()) to.push_back(at->second);
    }
  };
  for (const Node* node : g.nodes()) {
    if (!node->op().is_stateful_ever()) continue;
    Effects one = node->op().record().effects(node->op(), node->attrs());
    effects.stateful |= one.stateful;
    effects.ordered |= one.ordered;
    effects.must_run |= one.must_run;
    effects.may_block |= one.may_block;
    add(*node, one.reads, effects.reads);
    add(*node, one.writes, effects.writes);
  }
  std::erase_if(effects.reads, [&](int i) {
    return std::find(effects.writes.begin(), effects.writes.end(), i) != effects.writes.end();
  });
  return body;
}

}  // namespace graven::engine
