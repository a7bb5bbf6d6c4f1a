#include "graven/ir/literal.h"

#include <bit>
#include <cmath>

#include "graven/base/heap_bytes.h"
#include "graven/base/overloaded.h"
#include "graven/base/strings.h"

namespace graven::engine {
namespace {

std::string float_repr(double value) {
  std::string text = shortest(value);
  bool is_plain_integer = text.find_first_of(".einf") == std::string::npos;
  return is_plain_integer ? text + ".0" : text;
}

std::string quoted(const std::string& text) {
  char quote =
      text.find('\'') != std::string::npos && text.find('"') == std::string::npos ? '"' : '\'';
  std::string out(1, quote);
  for (char c : text) {
    if (c == '\\' || c == quote) {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else {
      out += c;
    }
  }
  return out + quote;
}

std::optional<int64_t> as_integer(const Literal& literal) {
  if (const auto* v = std::get_if<bool>(&literal)) return *v;
  if (const auto* v = std::get_if<int64_t>(&literal)) return *v;
  return std::nullopt;
}

bool is_nan(const std::complex<double>& z) { return std::isnan(z.real()) || std::isnan(z.imag()); }

}  // namespace

std::string literal_repr(const Literal& literal) {
  return std::visit(Overloaded{
                        [](None) { return std::string("None"); },
                        [](bool v) { return std::string(v ? "True" : "False"); },
                        [](int64_t v) { return str_cat(v); },
                        [](double v) { return float_repr(v); },
                        [](std::complex<double> z) {
                          std::string imaginary = shortest(z.imag()) + "j";
                          if (z.real() == 0 && !std::signbit(z.real())) return imaginary;
                          const char* sign = std::signbit(z.imag()) ? "" : "+";
                          return str_cat("(", shortest(z.real()), sign, imaginary, ")");
                        },
                        [](const std::string& v) { return quoted(v); },
                        [](const Bytes& v) { return "b" + quoted(v.data); },
                        [](const Ref<Opaque>& v) { return v->repr(); },
                    },
                    literal);
}

std::optional<std::complex<double>> literal_as_number(const Literal& literal) {
  if (const auto* v = std::get_if<bool>(&literal)) return *v ? 1.0 : 0.0;
  if (const auto* v = std::get_if<int64_t>(&literal)) return static_cast<double>(*v);
  if (const auto* v = std::get_if<double>(&literal)) return *v;
  if (const auto* v = std::get_if<std::complex<double>>(&literal)) return *v;
  return std::nullopt;
}

bool literals_equal_as_numbers(const Literal& a, const Literal& b) {
  auto i = as_integer(a), j = as_integer(b);
  if (i && j) return *i == *j;
  auto x = literal_as_number(a), y = literal_as_number(b);
  if (x && y) {
    if (is_nan(*x) || is_nan(*y)) return is_nan(*x) && is_nan(*y);
    if (*x != *y) return false;
    // A large integer equals a float only if the float is exactly it.
    if (i || j) {
      double real = i ? y->real() : x->real();
      int64_t integer = i ? *i : *j;
      return std::abs(real) < 0x1p63 && static_cast<int64_t>(real) == integer;
    }
    return true;
  }
  const auto* p = std::get_if<Ref<Opaque>>(&a);
  const auto* q = std::get_if<Ref<Opaque>>(&b);
  if (p && q) return (*p)->equals(**q);
  if (p) return (*p)->equals(b);
  if (q) return (*q)->equals(a);
  return a == b;
}

bool literals_identical(const Literal& a, const Literal& b) {
  if (a.index() != b.index()) return false;
  if (const auto* x = std::get_if<double>(&a)) {
    double y = std::get<double>(b);
    return std::isnan(*x) ? std::isnan(y)
                          : std::bit_cast<uint64_t>(*x) == std::bit_cast<uint64_t>(y);
  }
  if (const auto* z = std::get_if<std::complex<double>>(&a)) {
    if (is_nan(*z)) return is_nan(std::get<std::complex<double>>(b));
  }
  return literals_equal_as_numbers(a, b);
}

int64_t heap_bytes_of(const Literal& literal) {
  if (const auto* text = std::get_if<std::string>(&literal)) return heap_bytes(*text);
  if (const auto* bytes = std::get_if<Bytes>(&literal)) return heap_bytes(bytes->data);
  return 0;
}

}  // namespace graven::engine
