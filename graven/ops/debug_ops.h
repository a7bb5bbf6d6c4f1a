#pragma once
#include <string>
#include <vector>

#include "graven/ir/numerics_checks.h"
#include "graven/ir/op.h"

namespace graven::engine {

// Checks of values at run time, and ops that print values.

struct AssertAttrs {
  std::vector<DType> T;
  int64_t summarize = 3;
  static constexpr auto fields() {
    return std::tuple(field("T", &AssertAttrs::T), field("summarize", &AssertAttrs::summarize));
  }
};
GRAVEN_API inline OpHandle<AssertAttrs> kAssert;  // condition, data: T

// tensor -> output. Of the other version see ir/numerics_checks.h.
GRAVEN_API inline OpHandle<CheckNumericsAttrs> kCheckNumerics;

struct PrintAttrs {
  std::string output_stream = "stderr";  // "stdout", "log(info)", "file://path", ...
  std::string end = "\n";
  static constexpr auto fields() {
    return std::tuple(field("output_stream", &PrintAttrs::output_stream),
                      field("end", &PrintAttrs::end));
  }
};
GRAVEN_API inline OpHandle<PrintAttrs> kPrintV2;  // input

struct StringFormatAttrs {
  std::vector<DType> T;
  std::string text = "%s";  // OpDef: "template"
  std::string placeholder = "%s";
  int64_t summarize = 3;
  static constexpr auto fields() {
    using A = StringFormatAttrs;
    return std::tuple(field("T", &A::T), field("template", &A::text),
                      field("placeholder", &A::placeholder), field("summarize", &A::summarize));
  }
};
GRAVEN_API inline OpHandle<StringFormatAttrs> kStringFormat;  // inputs: T -> output

struct StringJoinAttrs {
  std::string separator;
  static constexpr auto fields() {
    return std::tuple(field("separator", &StringJoinAttrs::separator));
  }
};
GRAVEN_API inline OpHandle<StringJoinAttrs> kStringJoin;  // inputs: N * string -> output

}  // namespace graven::engine
