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
  return graph_of(data.function, data.library);
}

Result<Ref<Graph>> round_trip(Ref<Graph> graph) {
  switch (g_round_trip.load(std::memory_order_relaxed)) {
    case RoundTrip::kNone:
      break;
    case RoundTrip::kText:
      return parse_graph(print_graph(*graph));
    case RoundTrip::kData: {
      ASSIGN_OR_RETURN(graph, through_data(*graph));
      // What was lost, such as which sizes are equal, is lost now: once more is the same.
      ASSIGN_OR_RETURN(Ref<Graph> again, through_data(*graph));
      if (print_graph(*graph) == print_graph(*again)) break;
      return internal_error("a graph is not the same after it was turned into data and back:\n",
                            print_graph(*graph), "\nbecame\n", print_graph(*again));
    }
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
