#include "graven/ops/tensor_summary.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "graven/base/strings.h"

namespace graven::engine {
namespace {

std::string float_text(float value) {
  if (std::isnan(value)) return "nan";
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", static_cast<double>(value));
  if (std::isfinite(value) && std::strtof(text, nullptr) != value) {
    std::snprintf(text, sizeof(text), "%.9g", static_cast<double>(value));
  }
  return text;
}
std::string double_text(double value) {
  if (std::isnan(value)) return "nan";
  char text[40];
  std::snprintf(text, sizeof(text), "%.15g", value);
  if (std::isfinite(value) && std::strtod(text, nullptr) != value) {
    std::snprintf(text, sizeof(text), "%.17g", value);
  }
  return text;
}

// C's escapes. Bytes from 128 on stay, as they are UTF-8.
std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '"':
      case '\'':
      case '\\':
        out += '\\';
        out += c;
        break;
      default:
        if (auto byte = static_cast<unsigned char>(c); byte < 32 || byte == 127) {
          char octal[8];
          std::snprintf(octal, sizeof(octal), "\\%03o", byte);
          out += octal;
        } else {
          out += c;
        }
    }
  }
  return out;
}

std::string element_text(const Tensor& x, int64_t i, bool quotes) {
  if (x.dtype() == DType::kString) {
    std::string text = escaped(x.data<std::string>()[i]);
    return quotes ? str_cat('"', text, '"') : text;
  }
  if (!is_plain(x.dtype())) {
    const auto& resource = x.data<Ref<Resource>>()[i];
    return resource ? str_cat("<", resource->kind(), ">") : "<empty>";
  }
  return visit_plain(x.dtype(), [&](auto zero) -> std::string {
    using T = decltype(zero);
    const T value = x.data<T>()[i];
    if constexpr (std::is_same_v<T, bool>) {
      return value ? "1" : "0";
    } else if constexpr (std::is_integral_v<T>) {
      return std::to_string(value);
    } else if constexpr (std::is_same_v<T, double>) {
      return double_text(value);
    } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                         std::is_same_v<T, std::complex<double>>) {
      return "?";
    } else {
      return float_text(static_cast<float>(value));
    }
  });
}

// The separator of two neighbours along an axis.
void add_spacing(int axis, int rank, std::string& out) {
  if (axis == rank - 1) {
    out += ' ';
    return;
  }
  const int after = rank - axis - 1, indent = axis + 1;
  out.append(static_cast<size_t>(after), '\n');
  out.append(static_cast<size_t>(indent), ' ');
}

void add_ends(const Tensor& x, int axis, int64_t ends, int64_t first, int64_t width,
              std::string& out) {
  if (axis == x.rank()) {
    out += element_text(x, first, true);
    return;
  }
  const int64_t size = x.shape().size(axis);
  width = size > 0 ? width / size : 0;  // elements of one step along the axis
  out += '[';
  for (int64_t i = 0; i < std::min(ends, size); ++i) {
    if (i > 0) add_spacing(axis, x.rank(), out);
    add_ends(x, axis + 1, ends, first + i * width, width, out);
  }
  if (size - ends > ends) {
    add_spacing(axis, x.rank(), out);
    out += "...";
  }
  for (int64_t i = std::max(ends, size - ends); i < size; ++i) {
    add_spacing(axis, x.rank(), out);
    add_ends(x, axis + 1, ends, first + i * width, width, out);
  }
  out += ']';
}

void add_first(const Tensor& x, int axis, int64_t limit, int64_t& next, std::string& out) {
  if (next >= limit) return;
  const int64_t size = x.shape().size(axis);
  if (axis == x.rank() - 1) {
    for (int64_t i = 0; i < size; ++i) {
      if (next >= limit) {
        if (axis != 0) out += "...";
        return;
      }
      if (i > 0) out += ' ';
      out += element_text(x, next++, false);
    }
    return;
  }
  for (int64_t i = 0; i < size; ++i) {
    bool opens = next < limit;
    if (opens) out += '[';
    add_first(x, axis + 1, limit, next, out);
    if (opens) out += ']';
  }
}

int64_t limited(int64_t limit, const Tensor& x) {
  return limit < 0 ? x.num_elements() : std::min(limit, x.num_elements());
}

}  // namespace

std::string summarize_ends(const Tensor& x, int64_t ends) {
  std::string out;
  add_ends(x, 0, limited(ends, x), 0, x.num_elements(), out);
  return out;
}

std::string summarize_first(const Tensor& x, int64_t limit) {
  limit = limited(limit, x);
  std::string out;
  if (x.rank() == 0) {
    if (limit > 0) out = element_text(x, 0, false);
  } else {
    int64_t next = 0;
    add_first(x, 0, limit, next, out);
  }
  if (x.num_elements() > limit) out += "...";
  return out;
}

}  // namespace graven::engine
