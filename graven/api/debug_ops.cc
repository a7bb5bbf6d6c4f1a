#include "graven/api/debug_ops.h"

#include "graven/api/location.h"
#include "graven/api/op_functions.h"
#include "graven/api/variable.h"
#include "graven/base/strings.h"
#include "graven/control/check_numerics.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"

namespace graven {
namespace {

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
  internal::LineScope line(location);
  engine::NameScope scope("print");
  // A placeholder that no text holds.
  std::string texts;
  for (const Printable& input : inputs) texts += input.text() + " ";
  std::string placeholder = "{}";
  while (texts.find(placeholder) != std::string::npos) placeholder = "{" + placeholder + "}";
  std::string text;
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i > 0) text += options.sep;
    bool is_text = inputs[i].tensor().is_none();
    text += is_text ? inputs[i].text() : placeholder;
    if (!is_text) tensors.push_back(inputs[i].tensor());
  }
  // A string alone is written without quotes.
  bool is_string = inputs.size() == 1 && tensors.size() == 1 &&
                   tensors[0].dtype() == DType::kString && tensors[0].shape() == Shape();
  const Tensor written = is_string ? tensors[0]
                                   : internal::debugging::format(tensors, text, placeholder,
                                                                 options.summarize, location);
  internal::debugging::print(Operand(written, location), options.output_stream, options.end);
}

// --- Checks of values.

void Assert(const Operand& condition, const std::vector<Tensor>& data, int64_t summarize) {
  internal::debugging::assert_(condition, data, summarize);
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

void enable_check_numerics(std::optional<int64_t> stack_height_limit,
                           std::optional<int64_t> path_length_limit) {
  engine::set_check_numerics(std::make_shared<const engine::NumericsChecks>(
      engine::NumericsChecks{stack_height_limit, path_length_limit}));
}

void disable_check_numerics() { engine::set_check_numerics(nullptr); }

}  // namespace debugging

}  // namespace graven
