#pragma once
#include <optional>
#include <source_location>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "graven/api/arguments.h"
#include "graven/api/location.h"
#include "graven/api/operand.h"
#include "graven/base/export.h"
#include "graven/library/function.h"

// A C++ call of a function of the library; for the printed functions, not for users.

namespace graven::internal {

// The function of this name, which must exist.
const engine::PublicFunction& library_function(const char* name);

// One call: set each parameter by its place in the record, then ask for the results once. Every
// member throws, with the user's line.
class LibraryCall {
 public:
  LibraryCall(const engine::PublicFunction& function, const std::source_location& location);

  // Operands are converted once all are known, because numbers take the dtype of the tensors beside
  // them. They must live as long as the call.
  void operand(size_t field, const Operand& operand) { operands_.emplace_back(field, &operand); }
  void set(size_t field, const std::vector<Tensor>& tensors);
  void set(size_t field, const Axes& axes) { member<engine::Axes>(field) = axes; }
  void set(size_t field, const Sizes& sizes) { member<engine::Sizes>(field) = sizes; }
  void set(size_t field, const OpenSizes& sizes) { member<engine::OpenSizes>(field) = sizes; }
  void set(size_t field, const AxisPairs& axes) { member<engine::AxisPairs>(field) = axes; }
  void set(size_t field, const Number& number) { member<engine::Number>(field) = number; }
  void set(size_t field, const NumberOrText& value) { member<engine::NumberOrText>(field) = value; }
  void set(size_t field, const Window& window) { member<engine::Window>(field) = window; }
  void set(size_t field, const Padding& padding) { member<engine::Padding>(field) = padding; }
  template <typename T>
  void set(size_t field, const T& value) {
    member<T>(field) = value;
  }

  engine::Outputs run();
  Tensor one() { return Tensor(std::move(run().tensors[0])); }
  std::vector<Tensor> list();

 private:
  template <typename T>
  T& member(size_t field) {
    return *std::get<T*>(function_.parameters().fields[field].ref(parameters_.get()));
  }
  void convert_operands();

  const engine::PublicFunction& function_;
  const LineScope line_;
  const std::source_location& location_;
  engine::ParameterValues parameters_;
  engine::InlineVector<std::pair<size_t, const Operand*>, 6> operands_;
};

}  // namespace graven::internal
