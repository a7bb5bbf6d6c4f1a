#include "graven/ir/out_of_scope.h"

#include <cstdint>

#include "graven/base/strings.h"
#include "graven/ir/graph.h"

namespace graven::engine {
namespace {

constexpr std::string_view kGuide =
    "https://www.tensorflow.org/guide/function#all_outputs_of_a_tffunction_must_be_return_values";

}  // namespace

std::string out_of_scope_text(const Tensor& tensor, const Graph* accessing) {
  const SymbolicTensor& leaked = symbolic(tensor);
  const Node& node = leaked.node();
  auto named = [](const Graph& graph) {
    return str_cat("FuncGraph(name=", graph.name(), ", id=", reinterpret_cast<uintptr_t>(&graph),
                   ")");
  };
  std::string repr =
      str_cat("<tf.Tensor '", node.name(), ":", leaked.output().index,
              "' shape=", tensor.shape().to_text(), " dtype=", dtype_name(tensor.dtype()), ">");
  std::string text = str_cat(repr,
                             " is out of scope and cannot be used here. Use return values, "
                             "explicit Python locals or TensorFlow collections to access it.\n"
                             "Please see ",
                             kGuide, " for more information.\n\n", repr, " was defined here:\n");
  if (node.location()) {
    for (const SourceFrame& frame : node.location()->frames()) {
      text += str_cat("    File \"", frame.file, "\", line ", frame.line, ", in ", frame.function,
                      "\n");
      if (!frame.text.empty()) text += str_cat("      ", frame.text, "\n");
    }
  }
  const Graph* outer = leaked.graph()->outer();
  if (accessing && outer && accessing->outer() == outer) {
    return text + str_cat("\nThe tensor ", repr, " of '", leaked.graph()->name(),
                          "' is accessed from '", accessing->name(),
                          "', which runs apart from it. See docs/errors/out-of-scope.md");
  }
  return text + str_cat("\nThe tensor ", repr, " cannot be accessed from ",
                        accessing ? named(*accessing) : "here", ", because it was defined in ",
                        named(*leaked.graph()),
                        ", which is out of scope. See docs/errors/out-of-scope.md");
}

}  // namespace graven::engine
