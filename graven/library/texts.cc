#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/ops/string_ops.h"

// Functions of strings that are no op's own signature.

namespace graven::engine {
namespace {

struct ToNumberParameters {
  Tensor input;
  DType out_type = DType::kFloat32;
  static constexpr auto fields() {
    using P = ToNumberParameters;
    return std::tuple(
        required_field("input", &P::input, "string", "The strings."),
        field("out_type", &P::out_type, "float32, float64, or an integer's of 32 or 64 bits."));
  }
};

}  // namespace

void define_texts(FunctionRegistry& functions) {
  functions.define({
      .names = "strings.to_number",
      .scope = "StringToNumber",
      .summary = "The numbers that strings say in decimal.",
      .details = "Spaces around a number do not count. Floats may have an exponent, be written in "
                 "hexadecimal (`0x1.8p3`), or be `inf` or `nan`; those that are too large become "
                 "infinite.",
      .returns = "The numbers, in the shape of the input.",
      .raises = {{"InvalidArgumentError", "A string is no number of this dtype."}},
      .source = "OpDef \"StringToNumber\"",
      .body =
          [](FunctionContext& c, const ToNumberParameters& p) {
            return c(kStringToNumber, {p.input}, {p.out_type}, c.name());
          },
  });
}

}  // namespace graven::engine
