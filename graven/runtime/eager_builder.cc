#include "graven/runtime/eager_builder.h"

#include <cstdint>

#include "graven/ir/frame.h"
#include "graven/ir/graph.h"
#include "graven/ir/graph_builder.h"
#include "graven/runtime/run_op.h"

namespace graven::engine {
namespace {

constexpr std::string_view kGuide =
    "https://www.tensorflow.org/guide/function#all_outputs_of_a_tffunction_must_be_return_values";

// S5.33 (b): a tensor of a graph reached an op that computes.
Status out_of_scope(const Tensor& tensor) {
  const SymbolicTensor& leaked = symbolic(tensor);
  const Node& node = leaked.node();
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
  text +=
      str_cat("\nThe tensor ", repr,
              " cannot be accessed from here, because it was defined in FuncGraph(name=",
              leaked.graph()->name(), ", id=", reinterpret_cast<uintptr_t>(leaked.graph().get()),
              "), which is out of scope.");
  return type_error(text);
}

class EagerBuilder final : public Builder {
 public:
  Result<Tensors> apply(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs,
                        std::string_view /*name*/) override {
    for (const Tensor& input : inputs) {
      if (!input) return internal_error("[", op.name(), "] an input is missing");
      if (input.is_symbolic()) return out_of_scope(input);
    }
    // With nothing reusable the inputs are only read.
    std::span<Tensor> values(const_cast<Tensor*>(inputs.data()), inputs.size());
    Tensors outputs;
    RETURN_IF_ERROR(run_op(op, attrs, values, /*reusable=*/0, /*state=*/nullptr, outputs));
    return outputs;
  }
};

}  // namespace

Builder& eager_builder() {
  static constinit EagerBuilder builder;
  return builder;
}

Builder& current_builder() {
  Frame& frame = Frame::current();
  Builder& plain = frame.is_graph() ? *frame.graph_builder() : eager_builder();
  if (frame.listeners.empty()) return plain;
  if (!frame.recording) frame.recording.emplace(plain);
  return *frame.recording;
}

Result<Tensors> apply(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs,
                      std::string_view name) {
  return current_builder().apply(op, inputs, attrs, name);
}

}  // namespace graven::engine
