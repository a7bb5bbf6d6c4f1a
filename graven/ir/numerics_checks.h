#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graven/base/export.h"
#include "graven/ir/attributes.h"
#include "graven/ir/op.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

class Graph;

// enable_check_numerics: every floating output of every op is looked at, and NaN or an infinity in
// it is an error. control/check_numerics.h switches it on; here is what graphs need.
struct NumericsChecks {
  // Of the stack in messages: how many lines, and how many characters of a path, the last ones.
  // None: all.
  std::optional<int64_t> stack_height_limit = 30, path_length_limit = 50;
};

// What this thread has switched on; null if nothing.
GRAVEN_API const std::shared_ptr<const NumericsChecks>& numerics_checks();
GRAVEN_API void set_numerics_checks(std::shared_ptr<const NumericsChecks> checks);

struct CheckNumericsAttrs {
  std::string message;
  static constexpr auto fields() {
    return std::tuple(required_field("message", &CheckNumericsAttrs::message));
  }
};
GRAVEN_API inline OpHandle<CheckNumericsAttrs> kCheckNumericsV2;  // tensor -> output

// For the room of ops, when it defines them: outputs of an op that are not looked at, a bit each.
inline constexpr uint64_t kAllOutputs = ~uint64_t{0};
void leave_unchecked(const Op& op, uint64_t outputs);

// True if the output of this number and dtype is looked at. Complex ones are not, as in TensorFlow.
GRAVEN_API bool is_checked(const Op& op, int output, DType dtype);

// The message of a check, which is TensorFlow's. `op` is the name of an op, or of a function.
struct CheckedOutput {
  std::string op;
  bool is_of_graph = false;
  int number = 0, num_outputs = 1;
  DType dtype = DType::kInvalid;
  Shape shape;
  std::string counts = {};               // of NaN and infinities, where they are known: a line each
  std::vector<std::string> inputs = {};  // a text for each
};
GRAVEN_API std::string numerics_message(const CheckedOutput& of);

// What checks the values of a graph that is done, and those of the graphs of gradients and tangents
// that are made of it; null if nothing does.
std::shared_ptr<const NumericsChecks> numerics_checks_of(const Graph& graph);

// Puts a check behind each node from the number first_id on, but not behind the first num_arguments
// inputs, which are the caller's. The checks run in order, before later effects, whether anything
// uses their nodes or not. So no pass hides a value from them. The graph is not done yet; its
// effects are put in order after this.
GRAVEN_API void add_numerics_checks(Graph& graph,
                                    const std::shared_ptr<const NumericsChecks>& checks,
                                    size_t num_arguments, int first_id = 0);

}  // namespace graven::engine
