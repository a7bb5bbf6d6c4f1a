#include <atomic>
#include <chrono>

#include "graven/function/dump.h"
#include "graven/function/round_trip.h"
#include "graven/ir/text.h"
#include "graven/optimize/pipeline.h"
#include "graven/runtime/eager_builder.h"
#include "graven/runtime/program.h"

namespace graven::engine {
namespace {

std::atomic<bool> g_round_trip{false};

Result<Ref<Program>> make_program(const Body& body, Ref<Graph> graph) {
  if (g_round_trip.load(std::memory_order_relaxed)) {
    ASSIGN_OR_RETURN(graph, parse_graph(print_graph(*graph)));
  }
  const std::unique_ptr<Dump> dump = Dump::begin(body.name(), *graph);
  if (!dump) {
    RETURN_IF_ERROR(optimize(*graph, eager_builder()));
    return plan_program(std::move(graph));
  }
  auto after_pass = [&](const PassDone& pass, const Graph& changed) -> Status {
    dump->after_pass(pass, changed);
    return {};
  };
  RETURN_IF_ERROR(optimize(*graph, eager_builder(), after_pass));
  auto start = std::chrono::steady_clock::now();
  auto program = plan_program(std::move(graph));
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  if (program.ok()) dump->end(**program, took.count());
  return program;
}

// This is the lowest room that knows both the passes and the Programs that they are for.
const bool kInstalled = [] {
  set_program_maker(make_program);
  return true;
}();

}  // namespace

void set_round_trip(bool on) { g_round_trip = on; }

}  // namespace graven::engine
