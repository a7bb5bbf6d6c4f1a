#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "graven/ir/graph.h"
#include "graven/optimize/pipeline.h"
#include "graven/runtime/program.h"

namespace graven::engine {

// What GRAVEN_DUMP=folder asks for: how one body becomes a Program, as files.
//
//   <folder>/0003_f_12/00_traced.txt            the graph as it was traced
//                      01_inline_calls.txt      after each pass that changed it, in order
//                      program.txt              the steps, with their estimated costs
//                      times.txt                what each pass and the planning took
//
// Nothing fails because of it: what cannot be written is one warning on standard error, and from
// then on nothing is written. Any thread may make Programs meanwhile; each has a folder of its own.
class Dump {
 public:
  // Null unless the variable is set, which is read once.
  static std::unique_ptr<Dump> begin(std::string_view body, const Graph& traced);

  void after_pass(const PassDone& pass, const Graph& graph);
  // All is done; planning took so long.
  void end(const Program& program, double microseconds);

 private:
  explicit Dump(std::filesystem::path folder) : folder_(std::move(folder)) {}
  void write(const std::string& file, const std::string& text) const;
  const std::filesystem::path folder_;
  int num_graphs_ = 0;
  std::string times_;
};

}  // namespace graven::engine
