#include "graven/ops/string_ops.h"

#include <locale.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <complex>
#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <type_traits>

#include "graven/base/strings.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/shape_rules.h"

namespace graven::engine {
namespace {

// Strings for each of which a thread of the pool is worth its while.
constexpr int64_t kGrain = 1 << 10;

// Numbers are read and written with a point, whatever locale the program has chosen.
locale_t c_locale() {
  static const locale_t c = ::newlocale(LC_ALL_MASK, "C", nullptr);
  return c;
}

class InCLocale {
 public:
  InCLocale() : before_(::uselocale(c_locale())) {}
  ~InCLocale() { ::uselocale(before_); }
  InCLocale(const InCLocale&) = delete;

 private:
  const locale_t before_;
};

constexpr std::string_view kSpaces = " \t\n\v\f\r";

std::string_view without_spaces(std::string_view text) {
  const size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

// --- StringToNumber.

template <std::floating_point Float>
bool parse(const std::string& text, Float& number) {
  char* end = nullptr;
  if constexpr (std::is_same_v<Float, float>) {
    number = ::strtof_l(text.c_str(), &end, c_locale());
  } else {
    number = ::strtod_l(text.c_str(), &end, c_locale());
  }
  return end != text.c_str() && without_spaces({end, text.c_str() + text.size()}).empty();
}

template <std::integral Integer>
bool parse(const std::string& text, Integer& number) {
  std::string_view digits = without_spaces(text);
  if (digits.starts_with("+")) {
    digits.remove_prefix(1);
    if (digits.starts_with("-")) return false;
  }
  const char* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, number);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

template <typename T>
Status parse_all(KernelContext& c) {
  const auto texts = c.in<std::string>(0);
  T* numbers = c.out<T>(0).data();
  std::atomic<int64_t> first_wrong{static_cast<int64_t>(texts.size())};
  for_ranges(static_cast<int64_t>(texts.size()), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (parse(texts[i], numbers[i])) continue;
      int64_t first = first_wrong.load();
      while (i < first && !first_wrong.compare_exchange_weak(first, i)) {
      }
      return;
    }
  });
  const int64_t wrong = first_wrong.load();
  if (wrong == static_cast<int64_t>(texts.size())) return {};
  return invalid_argument("StringToNumberOp could not correctly convert string: ", texts[wrong]);
}

Status string_to_number_kernel(KernelContext& c) {
  switch (c.attrs<StringToNumberAttrs>().out_type) {
    case DType::kFloat32:
      return parse_all<float>(c);
    case DType::kFloat64:
      return parse_all<double>(c);
    case DType::kInt32:
      return parse_all<int32_t>(c);
    case DType::kInt64:
      return parse_all<int64_t>(c);
    case DType::kUInt32:
      return parse_all<uint32_t>(c);
    default:
      return parse_all<uint64_t>(c);
  }
}

void define_string_to_number(OpRegistry& ops) {
  kStringToNumber = ops.define<StringToNumberAttrs>({
      .name = "StringToNumber",
      .summary = "The numbers that strings say in decimal.",
      .details = "Spaces around a number do not count. Floats may have an exponent, be written in "
                 "hexadecimal "
                 "(`0x1.8p3`), or be `inf` or `nan`; those that are too large become infinite.\n\n"
                 "Raises:\n  InvalidArgumentError: A string is no number of this dtype.",
      .inputs = {"string_tensor: string"},
      .outputs = {"output: out_type"},
      .types = {{"out_type",
                 {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64, DType::kUInt32,
                  DType::kUInt64}}},
      .infer = same_as_input,
      .gradient = not_differentiable,
      .batch = batch_data_inputs<0>,
      .body = kernel(string_to_number_kernel),
  });
}

// --- AsString.

constexpr int64_t kMostCharacters = 10'000'000;  // of one number

// When it runs, as in TensorFlow.
Status check_format(const AsStringAttrs& attrs, DType dtype) {
  if (!is_floating(dtype) && !is_complex(dtype) && dtype != DType::kString) {
    if (attrs.scientific || attrs.shortest) {
      return invalid_argument("scientific and shortest format not supported for datatype ",
                              dtype_name(dtype));
    }
    if (attrs.precision > -1) {
      return invalid_argument("precision not supported for datatype ", dtype_name(dtype));
    }
  }
  if (attrs.fill.size() > 1) {
    return invalid_argument("Fill string must be one or fewer characters, got \"", attrs.fill,
                            "\"");
  }
  if (attrs.scientific && attrs.shortest) {
    return invalid_argument("Cannot select both scientific and shortest notation");
  }
  if (std::string_view(" +-0#").find(attrs.fill) == std::string_view::npos) {
    return invalid_argument("Fill argument not supported: \"", attrs.fill, "\"");
  }
  if (attrs.width > kMostCharacters || attrs.precision > kMostCharacters) {
    return invalid_argument("width and precision must be at most ", kMostCharacters, ", got ",
                            attrs.width, " and ", attrs.precision);
  }
  return {};
}

// printf's conversion of one number, such as "%-8.3f".
std::string conversion(const AsStringAttrs& attrs, std::string_view letters) {
  std::string text = "%" + attrs.fill;
  if (attrs.width > -1) text += str_cat(attrs.width);
  if (attrs.precision > -1) text += str_cat(".", attrs.precision);
  return text.append(letters);
}

template <typename T>
void append(std::string& text, const std::string& conversion, T number) {
  char usual[64];
  const int n = std::snprintf(usual, sizeof(usual), conversion.c_str(), number);
  if (n < static_cast<int>(sizeof(usual))) {
    text.append(usual, static_cast<size_t>(std::max(n, 0)));
    return;
  }
  const size_t at = text.size();
  text.resize(at + static_cast<size_t>(n) + 1);
  std::snprintf(text.data() + at, static_cast<size_t>(n) + 1, conversion.c_str(), number);
  text.pop_back();
}

// write(text, i) makes the text of element i.
template <typename F>
void write_all(KernelContext& c, F&& write) {
  std::string* texts = c.out<std::string>(0).data();
  for_ranges(c.output(0).num_elements(), kGrain, [&](int64_t begin, int64_t end) {
    const InCLocale locale;
    for (int64_t i = begin; i < end; ++i) {
      texts[i].clear();
      write(texts[i], i);
    }
  });
}

template <typename T>
void write_integers(KernelContext& c, const AsStringAttrs& attrs) {
  using Widest = std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>;
  const T* numbers = c.in<T>(0).data();
  const std::string format = conversion(attrs, std::is_signed_v<T> ? "lld" : "llu");
  write_all(c, [&](std::string& text, int64_t i) {
    append(text, format, static_cast<Widest>(numbers[i]));
  });
}

// Pads to the width, and cuts where there is one, as printf does but for zeros within.
void write_texts(KernelContext& c, const AsStringAttrs& attrs) {
  const auto given = c.in<std::string>(0);
  write_all(c, [&](std::string& text, int64_t i) {
    text = given[i];
    if (attrs.width <= 0) return;
    const auto width = static_cast<size_t>(attrs.width);
    if (attrs.precision > -1) text = text.substr(0, static_cast<size_t>(attrs.precision));
    if (text.size() >= width) return;
    text.insert(attrs.fill == "-" ? text.size() : 0, width - text.size(), ' ');
  });
}

Status as_string_kernel(KernelContext& c) {
  const auto& attrs = c.attrs<AsStringAttrs>();
  const DType dtype = c.input(0).dtype();
  RETURN_IF_ERROR(check_format(attrs, dtype));
  if (dtype == DType::kString) {
    write_texts(c, attrs);
    return {};
  }
  const std::string format = conversion(attrs, attrs.shortest ? "g" : attrs.scientific ? "e" : "f");
  visit_plain(dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* values = c.in<T>(0).data();
    if constexpr (std::is_same_v<T, bool>) {
      write_all(c, [&](std::string& text, int64_t i) { text = values[i] ? "true" : "false"; });
    } else if constexpr (std::is_integral_v<T>) {
      write_integers<T>(c, attrs);
    } else if constexpr (is_complex(kDTypeOf<T>)) {
      write_all(c, [&](std::string& text, int64_t i) {
        text = "(";
        append(text, format, static_cast<double>(values[i].real()));
        text += ",";
        append(text, format, static_cast<double>(values[i].imag()));
        text += ")";
      });
    } else {
      write_all(c, [&](std::string& text, int64_t i) {
        if constexpr (std::is_floating_point_v<T>) {
          append(text, format, static_cast<double>(values[i]));
        } else {  // half and bfloat16
          append(text, format, static_cast<double>(static_cast<float>(values[i])));
        }
      });
    }
  });
  return {};
}

void define_as_string(OpRegistry& ops) {
  kAsString = ops.define<AsStringAttrs>({
      .name = "AsString",
      .python = "strings.as_string, as_string",
      .summary = "Writes each element as a string.",
      .details =
          "Floats have `precision` digits behind the point, six by default; `scientific` writes an "
          "exponent, `shortest` what is shorter of both. A complex number is `(real,imaginary)`. "
          "Numbers are padded to `width` with spaces, or as `fill` says: \"0\", \"-\" (on the "
          "right), \"+\" and \" \" (a sign), as printf does.\n\n"
          "Raises:\n  InvalidArgumentError: The options fit neither each other nor the dtype.",
      .inputs = {"input: T"},
      .outputs = {"output: string"},
      .types = {{"T", kPlainTypes | DTypeSet{DType::kString},
                 kPlainTypes | DTypeSet{DType::kString, DType::kVariant}}},
      .infer = same_as_input,
      .gradient = not_differentiable,
      .batch = batch_data_inputs<0>,
      .body = kernel(as_string_kernel),
  });
}

// --- StringLength.

Status string_length_shape(InferContext& c) {
  const std::string& unit = c.attrs<StringLengthAttrs>().unit;
  if (unit != "BYTE" && unit != "UTF8_CHAR") {
    return invalid_argument("Value for attr 'unit' of \"", unit,
                            "\" is not in the list of allowed values: \"BYTE\", \"UTF8_CHAR\"");
  }
  return same_as_input(c);
}

Status string_length_kernel(KernelContext& c) {
  const auto texts = c.in<std::string>(0);
  int32_t* lengths = c.out<int32_t>(0).data();
  const bool counts_bytes = c.attrs<StringLengthAttrs>().unit == "BYTE";
  for_ranges(static_cast<int64_t>(texts.size()), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      // A character of UTF-8 has one byte that does not go on another.
      lengths[i] = static_cast<int32_t>(
          counts_bytes
              ? static_cast<int64_t>(texts[i].size())
              : std::ranges::count_if(texts[i], [](char byte) { return (byte & 0xC0) != 0x80; }));
    }
  });
  return {};
}

void define_string_length(OpRegistry& ops) {
  kStringLength = ops.define<StringLengthAttrs>({
      .name = "StringLength",
      .python = "strings.length",
      .summary = "How long each string is, in bytes or characters.",
      .details = "`unit` is \"BYTE\" or \"UTF8_CHAR\".",
      .inputs = {"input: string"},
      .outputs = {"output: int32"},
      .infer = string_length_shape,
      .gradient = not_differentiable,
      .batch = batch_data_inputs<0>,
      .body = kernel(string_length_kernel),
  });
}

// --- StringLower and StringUpper.

Status letters_shape(InferContext& c) {
  if (c.attrs<LettersAttrs>().encoding == "utf-8") {
    return Status(Code::kUnimplemented,
                  "encoding \"utf-8\" is not there yet: without it the letters of ASCII change",
                  ErrorKind::kNotImplementedError);
  }
  return same_as_input(c);
}

template <char first, char last>
Status letters_kernel(KernelContext& c) {
  if (const std::string& encoding = c.attrs<LettersAttrs>().encoding; !encoding.empty()) {
    return invalid_argument("only utf-8 or '' (no encoding) is supported, received ", encoding);
  }
  const auto given = c.in<std::string>(0);
  std::string* texts = c.out<std::string>(0).data();
  for_ranges(static_cast<int64_t>(given.size()), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      texts[i] = given[i];
      for (char& letter : texts[i]) {
        if (first <= letter && letter <= last) letter = static_cast<char>(letter ^ 0x20);
      }
    }
  });
  return {};
}

void define_letters(OpRegistry& ops, OpHandle<LettersAttrs>& handle, const char* name,
                    const char* python, const char* summary, KernelFunction f) {
  ops.define(handle, {
                         .name = name,
                         .python = python,
                         .summary = summary,
                         .details = "Bytes that are no letters of ASCII stay.\n\n"
                                    "Raises:\n  NotImplementedError: The encoding is \"utf-8\".",
                         .inputs = {"input: string"},
                         .outputs = {"output: string"},
                         .infer = letters_shape,
                         .gradient = not_differentiable,
                         .batch = batch_data_inputs<0>,
                         .body = kernel(f),
                     });
}

}  // namespace

void define_string_ops(OpRegistry& ops) {
  define_string_to_number(ops);
  define_as_string(ops);
  define_string_length(ops);
  define_letters(ops, kStringLower, "StringLower", "strings.lower", "Strings in small letters.",
                 letters_kernel<'A', 'Z'>);
  define_letters(ops, kStringUpper, "StringUpper", "strings.upper", "Strings in capital letters.",
                 letters_kernel<'a', 'z'>);
}

}  // namespace graven::engine
