#include "graven/optimize/merge_common_subexpressions.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "graven/base/hash.h"
#include "graven/ir/structural_ops.h"
#include "graven/optimize/rewriter.h"

namespace graven::engine {
namespace {

// Of a large constant only the beginning is hashed; it is compared whole.
constexpr size_t kMaxHashedBytes = 64;

uint64_t hash_of_constant(const Tensor& value) {
  uint64_t h = static_cast<uint64_t>(value.dtype());
  if (value.shape().has_rank()) {
    for (Dim dim : value.shape().dims()) h = hash_combine(h, static_cast<uint64_t>(dim.word()));
  }
  if (!is_plain(value.dtype())) return h;
  size_t bytes = std::min(value.bytes(), kMaxHashedBytes);
  return hash_combine(h, hash_text({static_cast<const char*>(value.raw_data()), bytes}));
}

// Which of two NaNs an op gives back depends on their order, so only dtypes without NaN.
bool may_swap(const Node& node) {
  if (!node.op().record().commutative || node.inputs().size() != 2) return false;
  OutputRef x = node.inputs()[0];
  DType dtype = x.node->output(x.index).dtype;
  return is_integer(dtype) || dtype == DType::kBool;
}

uint64_t hash_of_input(OutputRef input) {
  return static_cast<uint64_t>(input.node->id()) * 64 + static_cast<uint64_t>(input.index);
}

uint64_t hash_of_node(const Node& node) {
  uint64_t h = static_cast<uint64_t>(node.op().index());
  if (&node.op() == kConst.op) {
    h = hash_combine(h, hash_of_constant(node.attrs().as<ConstAttrs>().value));
  } else if (!node.attrs().type().fields.empty()) {
    h = hash_combine(h, node.attrs().hash());
  }
  if (may_swap(node)) {
    // A list, as std::minmax of two temporaries would give references to them.
    auto [x, y] = std::minmax({hash_of_input(node.inputs()[0]), hash_of_input(node.inputs()[1])});
    return hash_combine(hash_combine(h, x), y);
  }
  for (OutputRef input : node.inputs()) h = hash_combine(h, hash_of_input(input));
  return h;
}

bool same_extra_attributes(const Node& a, const Node& b) {
  auto x = a.extra_attributes(), y = b.extra_attributes();
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const auto& p, const auto& q) {
    return p.first == q.first && equal(p.second, q.second);
  });
}

bool compute_the_same(const Node& a, const Node& b) {
  if (&a.op() != &b.op() || a.device() != b.device() || !(a.attrs() == b.attrs()) ||
      a.num_outputs() != b.num_outputs() || a.inputs().size() != b.inputs().size() ||
      !same_extra_attributes(a, b)) {
    return false;
  }
  // A type parameter that no input binds shows in the outputs alone.
  for (int i = 0; i < a.num_outputs(); ++i) {
    if (a.output(i).dtype != b.output(i).dtype) return false;
  }
  bool same_inputs = std::equal(a.inputs().begin(), a.inputs().end(), b.inputs().begin());
  if (!same_inputs &&
      !(may_swap(a) && a.inputs()[0] == b.inputs()[1] && a.inputs()[1] == b.inputs()[0])) {
    return false;
  }
  return std::is_permutation(a.control_inputs().begin(), a.control_inputs().end(),
                             b.control_inputs().begin(), b.control_inputs().end());
}

}  // namespace

bool merge_common_subexpressions(Graph& graph) {
  Rewriter rewriter(graph);
  std::unordered_multimap<uint64_t, Node*> seen;
  seen.reserve(rewriter.nodes().size());
  for (Node* node : rewriter.nodes()) {
    rewriter.visit(node);
    if (rewriter.is_input(node) || &node->op() == kPlaceholder.op || node->num_outputs() == 0 ||
        !is_pure(*node)) {
      continue;
    }
    uint64_t hash = hash_of_node(*node);
    auto [begin, end] = seen.equal_range(hash);
    auto same = std::find_if(
        begin, end, [&](const auto& entry) { return compute_the_same(*entry.second, *node); });
    if (same == end) {
      seen.emplace(hash, node);
      continue;
    }
    for (int i = 0; i < node->num_outputs(); ++i) {
      rewriter.replace({node, i}, {same->second, i});
    }
    rewriter.replace_control(node, {same->second});
    rewriter.remove(node);
  }
  return rewriter.finish();
}

}  // namespace graven::engine
