#include "graven/api/debug_ops.h"

#include "graven/api/apply.h"
#include "graven/api/compose.h"
#include "graven/api/variable.h"
#include "graven/base/strings.h"
#include "graven/ir/graph_builder.h"
#include "graven/ops/debug_ops.h"

namespace graven {
namespace {

using internal::apply;
using internal::Composite;

std::string name_of(const Tensor& tensor) {
  if (!tensor.is_symbolic()) return "eager";
  const auto& symbolic = engine::symbolic(tensor);
  return engine::str_cat(symbolic.node().name(), ":", symbolic.output().index);
}

}  // namespace

// --- print.

Printable::Printable(const Variable& variable, std::source_location location)
    : tensor_(variable.value(location)) {}

// As Python's repr: 0.5, 3.0, 1e+16.
std::string Printable::float_text(double number) {
  std::string text = engine::shortest(number);
  bool is_whole = text.find_first_of(".einf") == std::string::npos;
  return is_whole ? text + ".0" : text;
}

void print(const std::vector<Printable>& inputs, const PrintOptions& options, Here location) {
  Composite composite("print", location);
  // A placeholder that no text holds.
  std::string texts;
  for (const Printable& input : inputs) texts += input.text() + " ";
  std::string placeholder = "{}";
  while (texts.find(placeholder) != std::string::npos) placeholder = "{" + placeholder + "}";
  std::string text;
  std::vector<engine::Tensor> tensors;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i > 0) text += options.sep;
    bool is_text = inputs[i].tensor().is_none();
    text += is_text ? inputs[i].text() : placeholder;
    if (!is_text) tensors.push_back(inputs[i].tensor());
  }
  // A string alone is written without quotes.
  bool is_string = inputs.size() == 1 && tensors.size() == 1 &&
                   tensors[0].dtype() == DType::kString && tensors[0].shape() == Shape();
  engine::StringFormatAttrs format{.T = internal::dtypes_of(tensors, location),
                                   .text = text,
                                   .placeholder = placeholder,
                                   .summarize = options.summarize};
  Tensor written = is_string ? Tensor(tensors[0])
                             : Tensor(apply(*engine::kStringFormat, tensors, format, location)[0]);
  engine::PrintAttrs attrs{.output_stream = options.output_stream, .end = options.end};
  const engine::Tensor lines[] = {written};
  apply(*engine::kPrintV2, lines, attrs, location, "PrintV2");
}

// --- Checks of values.

void Assert(const Operand& condition, const std::vector<Tensor>& data, int64_t summarize) {
  const Here& location = condition.location();
  std::vector<engine::Tensor> inputs(data.begin(), data.end());
  engine::AssertAttrs attrs{.T = internal::dtypes_of(inputs, location), .summarize = summarize};
  inputs.insert(inputs.begin(), condition.as_tensor(DType::kBool));
  apply(*engine::kAssert, inputs, attrs, location, "Assert");
}

namespace debugging {

DType assert_same_float_dtype(const std::vector<Tensor>& tensors, std::optional<DType> dtype,
                              Here location) {
  for (const Tensor& tensor : tensors) {
    if (!dtype) dtype = tensor.dtype();
    if (tensor.dtype() == *dtype) continue;
    throw_error(
        engine::value_error(name_of(tensor), ", type=tf.", engine::dtype_name(tensor.dtype()),
                            ", must be of the same type (tf.", engine::dtype_name(*dtype), ")."),
        location);
  }
  if (!dtype) return DType::kFloat32;
  if (engine::is_floating(*dtype)) return *dtype;
  throw_error(
      engine::value_error("Expected floating point type, got tf.", engine::dtype_name(*dtype), "."),
      location);
}

}  // namespace debugging

}  // namespace graven
