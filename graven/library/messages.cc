#include <cstdint>
#include <optional>
#include <string>

#include "graven/library/asserts.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/ops/debug_ops.h"

// How print and Assert of both languages show tensors. The front ends make the texts around them.

namespace graven::engine {
namespace {

struct FormatParameters {
  TensorList inputs;
  std::string text, placeholder;
  int64_t summarize = 3;
  static constexpr auto fields() {
    using P = FormatParameters;
    return std::tuple(
        required_field("inputs", &P::inputs, "any", "Tensors of any dtypes and shapes."),
        required_field("template", &P::text, "The text."),
        required_field("placeholder", &P::placeholder, "Where a tensor stands in the text."),
        field("summarize", &P::summarize, "Elements shown at both ends of an axis; -1: all."));
  }
};

Outputs format(FunctionContext& c, const FormatParameters& p) {
  StringFormatAttrs attrs;
  attrs.text = p.text;
  attrs.placeholder = p.placeholder;
  attrs.summarize = p.summarize;
  for (const Tensor& tensor : p.inputs.tensors) attrs.T.push_back(tensor.dtype());
  return c.apply(*kStringFormat, p.inputs.tensors, attrs, c.name());
}

struct PrintParameters {
  Tensor input;
  std::string output_stream = "stderr", end = "\n";
  static constexpr auto fields() {
    using P = PrintParameters;
    return std::tuple(
        required_field("input", &P::input, "string", "The line, a scalar."),
        field("output_stream", &P::output_stream,
              "\"stdout\", \"stderr\", \"log(info)\", \"log(warning)\", \"log(error)\", or "
              "\"file://\" and a path."),
        field("end", &P::end, "What stands at the end."));
  }
};

Outputs print(FunctionContext& c, const PrintParameters& p) {
  c(kPrintV2, {p.input}, {p.output_stream, p.end}, c.name());
  return Tensors();
}

struct AssertParameters {
  Tensor condition;
  TensorList data;
  std::optional<int64_t> summarize;
  static constexpr auto fields() {
    using P = AssertParameters;
    return std::tuple(required_field("condition", &P::condition, "bool", "A scalar."),
                      required_field("data", &P::data, "any", "What the message shows."),
                      field("summarize", &P::summarize, kAssertSummarizeDoc));
  }
};

Outputs assert_condition(FunctionContext& c, const AssertParameters& p) {
  assert_later(c, p.condition, p.data.tensors, p.summarize, c.name());
  return Tensors();
}

}  // namespace

void define_messages(FunctionRegistry& functions) {
  functions.define({
      .names = "debugging._format",
      .scope = "StringFormat",
      .summary = "Puts the elements of tensors into a text.",
      .returns = "The text, a scalar.",
      .source = "OpDef \"StringFormat\"",
      .body = format,
  });
  functions.define({
      .names = "debugging._print",
      .scope = "PrintV2",
      .results = nothing(),
      .summary = "Writes a line when it runs.",
      .returns = "None eagerly; the operation in a graph.",
      .source = "OpDef \"PrintV2\"",
      .body = print,
  });
  functions.define({
      .names = "debugging._assert",
      .scope = "Assert",
      .results = nothing(),
      .summary = "Checks a condition when it runs.",
      .returns = "None eagerly; the operation in a graph.",
      .raises = {{"InvalidArgumentError", "The condition does not hold."}},
      .source = "OpDef \"Assert\"",
      .body = assert_condition,
  });
}

}  // namespace graven::engine
