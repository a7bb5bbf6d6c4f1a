#include <atomic>
#include <chrono>

#include "graven/function/dump.h"
#include "graven/function/round_trip.h"
#include "graven/ir/graph_def.h"
#include "graven/ir/import_graph_def.h"
#include "graven/ir/text.h"
#include "graven/optimize/pipeline.h"
#include "graven/runtime/eager_builder.h"
#include "graven/runtime/program.h"

namespace graven::engine {
namespace {

std::atomic<RoundTrip> g_round_trip{RoundTrip::kNone};

Result<Ref<Graph>> through_data(const Graph& graph) {
  const FunctionAndLibrary data = function_def_of(graph.name(), graph);
  ASSIGN_OR_RETURN(Ref<Graph> made, graph_of(data.function, data.library));
  const std::string before = to_text(data), after = to_text(function_def_of(made->name(), *made));
  if (before == after) return made;
  return internal_error("a graph that was made of data is other data:\n", before, "\nbecame\n",
                        after);
}

Result<Ref<Graph>> round_trip(Ref<Graph> graph) {
  switch (g_round_trip.load(std::memory_order_relaxed)) {
    case RoundTrip::kNone:
      return graph;
    case RoundTrip::kText:
      return parse_graph(print_graph(*graph));
    case RoundTrip::kData:
      return through_data(*graph);
  }
  return graph;
}

Result<Ref<Program>> make_program(const Body& body, Ref<Graph> graph) {
  ASSIGN_OR_RETURN(graph, round_trip(std::move(graph)));
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

void set_round_trip(RoundTrip form) { g_round_trip = form; }

}  // namespace graven::engine
