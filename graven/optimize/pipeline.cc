#include "graven/optimize/pipeline.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <span>

#include "graven/optimize/accumulate_products.h"
#include "graven/optimize/choose_branches.h"
#include "graven/optimize/constants_into_bodies.h"
#include "graven/optimize/copy_operands.h"
#include "graven/optimize/drop_unused_control_edges.h"
#include "graven/optimize/expand_composites.h"
#include "graven/optimize/find_promises.h"
#include "graven/optimize/fold_constants.h"
#include "graven/optimize/fold_shapes.h"
#include "graven/optimize/fuse.h"
#include "graven/optimize/hoist_invariants.h"
#include "graven/optimize/inline_calls.h"
#include "graven/optimize/merge_common_subexpressions.h"
#include "graven/optimize/remove_dead_nodes.h"
#include "graven/optimize/simplify.h"
#include "graven/optimize/trim_bodies.h"
#include "graven/optimize/unify_sizes.h"

namespace graven::engine {
namespace {

struct Pass {
  std::string_view name;
  Result<bool> (*run)(Graph& graph, Builder& evaluate);
};

// Once: these leave nothing for themselves to do.
constexpr Pass kOpeningPasses[] = {
    {"remove_dead_nodes", [](Graph& g, Builder&) { return Result<bool>(remove_dead_nodes(g)); }},
    {"inline_calls", [](Graph& g, Builder&) { return inline_calls(g); }},
    {"expand_composites", [](Graph& g, Builder&) { return expand_composites(g); }},
};

// Each of these may find more to do after the others, so they are repeated until nothing changes.
constexpr Pass kRepeatedPasses[] = {
    {"fold_shapes", [](Graph& g, Builder&) { return Result<bool>(fold_shapes(g)); }},
    {"fold_constants", [](Graph& g, Builder& e) { return Result<bool>(fold_constants(g, e)); }},
    {"simplify", [](Graph& g, Builder&) { return Result<bool>(simplify(g)); }},
    {"drop_unused_control_edges",
     [](Graph& g, Builder&) { return Result<bool>(drop_unused_control_edges(g)); }},
    {"merge_common_subexpressions",
     [](Graph& g, Builder&) { return Result<bool>(merge_common_subexpressions(g)); }},
    {"choose_branches", [](Graph& g, Builder&) { return choose_branches(g); }},
    {"constants_into_bodies",
     [](Graph& g, Builder&) { return Result<bool>(constants_into_bodies(g)); }},
    {"trim_bodies", [](Graph& g, Builder&) { return Result<bool>(trim_bodies(g)); }},
    {"unify_sizes", [](Graph& g, Builder&) { return Result<bool>(unify_sizes(g)); }},
    {"hoist_invariants", [](Graph& g, Builder& e) { return Result<bool>(hoist_invariants(g, e)); }},
    {"remove_dead_nodes", [](Graph& g, Builder&) { return Result<bool>(remove_dead_nodes(g)); }},
};

// Once, last: the other passes know neither promises nor Fusions.
constexpr Pass kClosingPasses[] = {
    {"find_promises", [](Graph& g, Builder&) { return find_promises(g); }},
    {"copy_operands", [](Graph& g, Builder&) { return copy_operands(g); }},
    {"accumulate_products", [](Graph& g, Builder&) { return accumulate_products(g); }},
    {"fuse", [](Graph& g, Builder&) { return fuse(g); }},
};

// Programs run without these too, so they may be left out: bit i of g_disabled for the i-th.
constexpr std::string_view kOptionalPasses[] = {"inline_calls",
                                                "fold_shapes",
                                                "fold_constants",
                                                "simplify",
                                                "drop_unused_control_edges",
                                                "merge_common_subexpressions",
                                                "choose_branches",
                                                "constants_into_bodies",
                                                "trim_bodies",
                                                "unify_sizes",
                                                "hoist_invariants",
                                                "copy_operands",
                                                "accumulate_products",
                                                "fuse"};
std::atomic<uint32_t> g_disabled{0};

// The bit of a pass, 0 if it is not optional.
uint32_t bit_of(std::string_view pass) {
  auto at = std::ranges::find(kOptionalPasses, pass);
  return at == std::end(kOptionalPasses) ? 0 : 1u << (at - std::begin(kOptionalPasses));
}

// Graphs that are still changing after so many rounds gain little from more.
constexpr int kMaxRounds = 4;

Result<bool> run(std::span<const Pass> passes, Graph& graph, Builder& evaluate,
                 const AfterPass& after_pass) {
  bool changed = false;
  for (const Pass& pass : passes) {
    if (g_disabled.load(std::memory_order_relaxed) & bit_of(pass.name)) continue;
    const auto start = std::chrono::steady_clock::now();
    ASSIGN_OR_RETURN(bool one, pass.run(graph, evaluate));
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    changed |= one;
    if (after_pass) RETURN_IF_ERROR(after_pass({pass.name, one, took.count()}, graph));
  }
  return changed;
}

}  // namespace

std::span<const std::string_view> optional_passes() { return kOptionalPasses; }

bool set_pass_enabled(std::string_view pass, bool enabled) {
  uint32_t bit = bit_of(pass);
  if (enabled) {
    g_disabled &= ~bit;
  } else {
    g_disabled |= bit;
  }
  return bit != 0;
}

Status optimize(Graph& graph, Builder& evaluate, const AfterPass& after_pass) {
  RETURN_IF_ERROR(run(kOpeningPasses, graph, evaluate, after_pass).status());
  for (int round = 0; round < kMaxRounds; ++round) {
    ASSIGN_OR_RETURN(bool changed, run(kRepeatedPasses, graph, evaluate, after_pass));
    if (!changed) break;
  }
  return run(kClosingPasses, graph, evaluate, after_pass).status();
}

}  // namespace graven::engine
