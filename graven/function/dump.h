#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "graven/ir/graph.h"
#include "graven/optimize/pipeline.h"
#include "graven/runtime/program.h"

namespace graven::engine {

// The files of GRAVEN_DUMP=folder: how one body becomes a Program.
//
//   <folder>/0003_f_12/00_traced.txt            the graph as it was traced
//                      01_inline_calls.txt      after each pass that changed it, in order
//                      program.txt              the steps, with their estimated costs
//                      times.txt                the time of each pass and of the planning
//
// A dump never makes a run fail: the first file that cannot be written gives one warning on
// standard error, and nothing is written after it. Several threads may make Programs meanwhile;
// each has a folder of its own.
class Dump {
 public:
  // Null unless the variable is set. The environment is read once.
  static std::unique_ptr<Dump> begin(std::string_view body, const Graph& traced);

  void after_pass(const PassDone& pass, const Graph& graph);
  // Writes the rest; `microseconds` is the time of planning.
  void end(const Program& program, double microseconds);

 private:
  explicit Dump(std::filesystem::path folder) : folder_(std::move(folder)) {}
  void write(const std::string& file, const std::string& text) const;
  const std::filesystem::path folder_;
  int num_graphs_ = 0;
  std::string times_;
};

}  // namespace graven::engine
