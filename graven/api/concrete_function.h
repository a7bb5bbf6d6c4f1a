#pragma once
#include <source_location>
#include <string>
#include <vector>

#include "graven/api/tensor.h"
#include "graven/api/tensor_spec.h"
#include "graven/api/variable.h"
#include "graven/base/export.h"
#include "graven/function/function.h"

namespace graven {

// One trace of a function (tf's ConcreteFunction): a graph, and its captures. A handle.
class GRAVEN_API ConcreteFunction {
 public:
  explicit ConcreteFunction(engine::Ref<engine::Entry> entry) : entry_(std::move(entry)) {}

  // The flat convention: one tensor for each argument placeholder in order, flat results.
  // InvalidArgument for another dtype, ValueError for another number.
  std::vector<Tensor> call_flat(
      const std::vector<Tensor>& arguments,
      std::source_location location = std::source_location::current()) const;

  std::string name() const { return entry_->name(); }  // "__inference_f_12"
  // Types of parameters, results and captures; not verbose: the first two, in one line.
  std::string signature(bool verbose = true) const { return entry_->signature_text(verbose); }
  std::string to_string() const { return "ConcreteFunction " + signature(); }
  // Placeholders of arguments and captures, and the outputs, as symbolic tensors.
  std::vector<Tensor> inputs() const;
  std::vector<Tensor> outputs() const;
  // The values that are fed for the captures.
  std::vector<Tensor> captured_inputs() const;
  // Changes these values; the same number of tensors.
  void set_external_captures(const std::vector<Tensor>& values,
                             std::source_location location = std::source_location::current()) const;
  // Variables that the trace used and that were no arguments, in the order of first use.
  std::vector<Variable> variables() const;
  std::vector<Variable> trainable_variables() const;
  // The graph as traced; it never changes.
  const engine::Graph& graph() const { return *entry_->graph(); }

  const engine::Ref<engine::Entry>& entry() const { return entry_; }
  friend bool operator==(const ConcreteFunction& a, const ConcreteFunction& b) {
    return a.entry_ == b.entry_;
  }

 protected:
  // The structured convention: throws a TypeError unless the arguments are of the trace's types.
  void check_types(std::span<const engine::Value> arguments,
                   const std::source_location& location) const;
  engine::Tensors run(std::span<const engine::Tensor> arguments,
                      const std::source_location& location) const;

 private:
  engine::Ref<engine::Entry> entry_;
};

}  // namespace graven
