#pragma once
#include <string>

#include "graven/ir/op.h"

namespace graven::engine {

// Texts as numbers, numbers as texts, and the letters of texts. A string is bytes; where it is read
// as text it is UTF-8. (Joining and formatting are in debug_ops.h.)

struct StringToNumberAttrs {
  DType out_type = DType::kFloat32;
  static constexpr auto fields() {
    return std::tuple(field("out_type", &StringToNumberAttrs::out_type));
  }
};
GRAVEN_API inline OpHandle<StringToNumberAttrs> kStringToNumber;  // string_tensor -> output

struct AsStringAttrs {
  int64_t precision = -1;
  bool scientific = false, shortest = false;
  int64_t width = -1;
  std::string fill;
  static constexpr auto fields() {
    using A = AsStringAttrs;
    return std::tuple(field("precision", &A::precision), field("scientific", &A::scientific),
                      field("shortest", &A::shortest), field("width", &A::width),
                      field("fill", &A::fill));
  }
};
GRAVEN_API inline OpHandle<AsStringAttrs> kAsString;  // input -> output

struct StringLengthAttrs {
  std::string unit = "BYTE";  // or "UTF8_CHAR"
  static constexpr auto fields() { return std::tuple(field("unit", &StringLengthAttrs::unit)); }
};
GRAVEN_API inline OpHandle<StringLengthAttrs> kStringLength;  // input -> output

struct LettersAttrs {
  std::string encoding;
  static constexpr auto fields() { return std::tuple(field("encoding", &LettersAttrs::encoding)); }
};
GRAVEN_API inline OpHandle<LettersAttrs> kStringLower, kStringUpper;  // input -> output

}  // namespace graven::engine
