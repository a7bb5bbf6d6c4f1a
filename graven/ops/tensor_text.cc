#include "graven/ops/tensor_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "graven/base/strings.h"

// NumPy's rules (numpy.set_printoptions, "array printing" in the reference of NumPy 2.3): all
// elements of an array get one width. Floats show the fewest digits that tell them apart from their
// neighbours, at most 8 after the point; all of them are written with an exponent if the largest
// has more digits than the dtype holds (8 at most), the smallest is below 1e-4, or they are more
// than a thousandfold apart. Of a large array only three items at each edge are shown.

namespace graven::engine {
namespace {

constexpr int kPrecision = 8, kEdgeItems = 3, kLineWidth = 75, kThreshold = 1000;

// Prints element i.
using Format = std::function<std::string(int64_t i)>;

std::string padded(const std::string& text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

std::string to_text(auto value, std::chars_format style) {
  char buffer[512];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value, style).ptr};
}
std::string to_text(auto value, std::chars_format style, int digits) {
  char buffer[512];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value, style, digits).ptr};
}

// The digits before and after the point, "-12" and "5", and the exponent "-05" if there is one.
struct Parts {
  std::string whole, fraction, exponent;
};

template <typename T>
Parts parts_of(T value, bool with_exponent) {
  auto style = with_exponent ? std::chars_format::scientific : std::chars_format::fixed;
  auto split = [](const std::string& text) {
    Parts parts;
    size_t e = text.find('e');
    std::string mantissa = text.substr(0, e);
    if (e != std::string::npos) parts.exponent = text.substr(e + 1);
    size_t point = mantissa.find('.');
    parts.whole = mantissa.substr(0, point);
    if (point != std::string::npos) parts.fraction = mantissa.substr(point + 1);
    return parts;
  };
  Parts parts = split(to_text(value, style));
  if (parts.fraction.size() > kPrecision) {
    parts = split(to_text(value, style, kPrecision));
    parts.fraction.erase(parts.fraction.find_last_not_of('0') + 1);
  }
  return parts;
}

// How the elements at the given places are printed, and so all of them.
template <typename T>
class FloatFormat {
 public:
  FloatFormat(std::function<T(int64_t)> value, const std::vector<int64_t>& places, bool plus_sign)
      : value_(std::move(value)), plus_sign_(plus_sign) {
    double largest = 0, smallest = std::numeric_limits<double>::infinity();
    for (int64_t i : places) {
      double size = std::abs(static_cast<double>(value_(i)));
      if (!std::isfinite(size) || size == 0) continue;
      largest = std::max(largest, size);
      smallest = std::min(smallest, size);
    }
    double cutoff = std::pow(10.0, std::min(8, std::numeric_limits<T>::digits10));
    exponent_ = largest != 0 && (largest >= cutoff || smallest < 1e-4 || largest / smallest > 1000);
    size_t special = 0;
    for (int64_t i : places) {
      T x = value_(i);
      if (!std::isfinite(x)) {
        special = std::max<size_t>(special, std::isnan(x) ? 3 : 3 + (x < 0 || plus_sign));
        continue;
      }
      Parts parts = parts_of(x, exponent_);
      whole_ = std::max(whole_, signed_whole(parts).size());
      fraction_ = std::max(fraction_, parts.fraction.size());
      exponent_size_ = std::max(exponent_size_, parts.exponent.size());
    }
    size_t right = fraction_ + (exponent_ ? exponent_size_ + 1 : 0);
    if (special > whole_ + right + 1) whole_ = special - right - 1;
    width_ = whole_ + 1 + right;
  }

  std::string operator()(int64_t i) const {
    T x = value_(i);
    if (std::isnan(x)) return padded(plus_sign_ ? "+nan" : "nan", width_);
    if (std::isinf(x)) return padded(x < 0 ? "-inf" : plus_sign_ ? "+inf" : "inf", width_);
    Parts parts = parts_of(x, exponent_);
    std::string fraction = parts.fraction;
    fraction.resize(std::max(fraction.size(), fraction_), exponent_ ? '0' : ' ');
    std::string text = padded(signed_whole(parts), whole_) + "." + fraction;
    return exponent_ ? text + "e" + parts.exponent : text;
  }

 private:
  std::string signed_whole(const Parts& parts) const {
    return plus_sign_ && parts.whole[0] != '-' ? "+" + parts.whole : parts.whole;
  }
  std::function<T(int64_t)> value_;
  bool plus_sign_, exponent_ = false;
  size_t whole_ = 0, fraction_ = 0, exponent_size_ = 0, width_ = 0;
};

// One number on its own, as str() of a NumPy scalar: the shortest digits, with ".0" if whole.
template <typename T>
std::string scalar_text(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  double size = std::abs(static_cast<double>(value));
  if (size != 0 && (size >= 1e16 || size < 1e-4)) {
    return to_text(value, std::chars_format::scientific);
  }
  std::string text = to_text(value, std::chars_format::fixed);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

std::string quoted_bytes(const std::string& bytes) {
  bool double_quotes =
      bytes.find('\'') != std::string::npos && bytes.find('"') == std::string::npos;
  char quote = double_quotes ? '"' : '\'';
  std::string text = std::string("b") + quote;
  for (unsigned char c : bytes) {
    constexpr char kHex[] = "0123456789abcdef";
    if (c == '\\' || c == quote) {
      text += {'\\', static_cast<char>(c)};
    } else if (c == '\n') {
      text += "\\n";
    } else if (c == '\t') {
      text += "\\t";
    } else if (c == '\r') {
      text += "\\r";
    } else if (c < 32 || c >= 127) {
      text += {'\\', 'x', kHex[c >> 4], kHex[c & 15]};
    } else {
      text += static_cast<char>(c);
    }
  }
  return text + quote;
}

// float for the short floats, as NumPy prints bfloat16 and half by their own shortest digits only
// for scalars of half; their values are exact in float.
template <typename T>
auto as_float(T x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return static_cast<float>(x);
  } else {
    return x;
  }
}

Format format_of(const Tensor& tensor, const std::vector<int64_t>& places, bool is_scalar) {
  if (tensor.dtype() == DType::kString) {
    return [tensor](int64_t i) { return quoted_bytes(tensor.data<std::string>()[i]); };
  }
  if (!is_plain(tensor.dtype())) return [](int64_t) { return "<unprintable>"; };
  return visit_plain(tensor.dtype(), [&](auto zero) -> Format {
    using T = decltype(zero);
    auto element = [tensor](int64_t i) { return as_float(tensor.data<T>()[i]); };
    using V = decltype(element(0));
    if constexpr (std::is_same_v<T, bool>) {
      return [=](int64_t i) { return element(i) ? is_scalar ? "True" : " True" : "False"; };
    } else if constexpr (std::is_integral_v<T>) {
      size_t width = 0;
      for (int64_t i : places) width = std::max(width, str_cat(+element(i)).size());
      return [=](int64_t i) { return padded(str_cat(+element(i)), width); };
    } else if constexpr (std::is_floating_point_v<V>) {
      if (is_scalar) return [=](int64_t i) { return scalar_text(element(i)); };
      return FloatFormat<V>(element, places, false);
    } else {
      using R = typename V::value_type;
      if (is_scalar) {
        return [=](int64_t i) {
          std::string imaginary = scalar_text(element(i).imag());
          return str_cat("(", scalar_text(element(i).real()), imaginary[0] == '-' ? "" : "+",
                         imaginary, "j)");
        };
      }
      FloatFormat<R> real([=](int64_t i) { return element(i).real(); }, places, false);
      FloatFormat<R> imaginary([=](int64_t i) { return element(i).imag(); }, places, true);
      return [=](int64_t i) {
        std::string text = imaginary(i);
        size_t end = text.find_last_not_of(' ') + 1;  // the j stands at the last digit
        return real(i) + text.substr(0, end) + "j" + text.substr(end);
      };
    }
  });
}

// Brackets, separators, lines.
class Layout {
 public:
  Layout(const Tensor& tensor, std::string separator, std::string indent)
      : tensor_(tensor), separator_(std::move(separator)), indent_(std::move(indent)) {
    abridged_ = tensor.num_elements() > kThreshold;
    collect(0, 0);
    format_ = format_of(tensor, places_, false);
  }

  std::string text() const { return nested(0, 0, indent_ + " ", kLineWidth); }

 private:
  int64_t size(int axis) const { return tensor_.shape().size(axis); }
  // Items to print of an axis at its start and its end; all are at the end if none is left out.
  std::pair<int64_t, int64_t> edges(int axis) const {
    if (abridged_ && size(axis) > 2 * kEdgeItems) return {kEdgeItems, kEdgeItems};
    return {0, size(axis)};
  }

  void collect(int axis, int64_t offset) {
    if (axis == tensor_.rank()) {
      places_.push_back(offset);
      return;
    }
    auto [leading, trailing] = edges(axis);
    for (int64_t i = 0; i < leading; ++i) collect(axis + 1, offset * size(axis) + i);
    for (int64_t i = size(axis) - trailing; i < size(axis); ++i) {
      collect(axis + 1, offset * size(axis) + i);
    }
  }

  std::string nested(int axis, int64_t offset, const std::string& indent, size_t width) const {
    if (axis == tensor_.rank()) return format_(offset);
    auto [leading, trailing] = edges(axis);
    int64_t n = size(axis);
    std::vector<int64_t> items;
    for (int64_t i = 0; i < leading; ++i) items.push_back(i);
    if (leading) items.push_back(-1);
    for (int64_t i = n - trailing; i < n; ++i) items.push_back(i);
    auto item = [&](int64_t i) {
      return i < 0 ? std::string("...") : nested(axis + 1, offset * n + i, indent + " ", width - 1);
    };
    std::string text;
    bool is_row = axis + 1 == tensor_.rank();
    if (is_row) {
      std::string line = indent;
      for (size_t k = 0; k < items.size(); ++k) {
        std::string word = item(items[k]);
        if (line.size() + word.size() > width - 1 && line.size() > indent.size()) {
          text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
          line = indent;
        }
        line += word;
        if (k + 1 < items.size()) line += separator_;
      }
      text += line;
    } else {
      std::string end = separator_.substr(0, separator_.find_last_not_of(' ') + 1) +
                        std::string(tensor_.rank() - axis - 1, '\n');
      for (size_t k = 0; k < items.size(); ++k) {
        text += indent + item(items[k]);
        if (k + 1 < items.size()) text += end;
      }
    }
    return "[" + text.substr(indent.size()) + "]";
  }

  Tensor tensor_;
  std::string separator_, indent_;
  bool abridged_;
  std::vector<int64_t> places_;
  Format format_;
};

}  // namespace

std::string elements_text(const Tensor& tensor) {
  if (tensor.rank() == 0) return format_of(tensor, {0}, true)(0);
  if (tensor.num_elements() == 0) return "[]";
  return Layout(tensor, " ", "").text();
}

std::string elements_repr(const Tensor& tensor) {
  if (tensor.rank() == 0) return elements_text(tensor);
  DType type = tensor.dtype();
  int64_t n = tensor.num_elements();
  std::string text = "array(" + (n == 0 ? "[]" : Layout(tensor, ", ", "      ").text());
  // Shape and dtype stand there where the elements do not tell them.
  std::vector<std::string> extras;
  if ((n == 0 && tensor.rank() > 1) || n > kThreshold) {
    extras.push_back("shape=" + tensor.shape().to_text());
  }
  constexpr DTypeSet kTold = {DType::kBool, DType::kInt64, DType::kFloat64, DType::kComplex128};
  if (!kTold.contains(type) || n == 0) {
    extras.push_back(str_cat("dtype=", type == DType::kString ? "object" : dtype_name(type)));
  }
  if (extras.empty()) return text + ")";
  text += ",";
  std::string extra = str_join(extras, ", ") + ")";
  size_t last_line = text.size() - (text.rfind('\n') + 1);
  bool fits = last_line + 1 + extra.size() <= kLineWidth;
  return text + (fits ? " " : "\n      ") + extra;
}

}  // namespace graven::engine
