#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "graven/api/tensor.h"
#include "graven/base/export.h"
#include "graven/library/parameters.h"

// The kinds of arguments of ops' functions besides tensors.

namespace graven {

using Here = std::source_location;

// The sizes of a shape: {2, 3}, a Shape without unknown sizes (a ValueError with them), or an
// integer tensor of shape [rank].
class GRAVEN_API Sizes : public engine::Sizes {
 public:
  Sizes(std::nullopt_t) {}  // none, where that is allowed
  Sizes(std::initializer_list<int64_t> sizes) { set(sizes.begin(), sizes.end()); }
  Sizes(const std::vector<int64_t>& sizes) { set(sizes.begin(), sizes.end()); }
  // A number where one will do: tf.split(x, 3).
  template <std::integral T>
  Sizes(T number) {
    numbers = {static_cast<int64_t>(number)};
    is_scalar = true;
  }
  Sizes(const Shape& shape, std::source_location location = std::source_location::current());
  Sizes(const Tensor& tensor) { this->tensor = tensor; }

 private:
  template <typename It>
  void set(It first, It last) {
    numbers.emplace(first, last);
  }
};

// The seed of stateless random ops: two integers, or an integer tensor of shape [2].
using Seed = Sizes;

// Axes of a tensor, negative ones count from the end: 1, {0, -1}, an integer tensor, or nothing for
// all of them.
class GRAVEN_API Axes : public engine::Axes {
 public:
  Axes() = default;
  Axes(int axis) {
    numbers = {axis};
    is_scalar = true;
  }
  Axes(std::initializer_list<int64_t> axes) { numbers.emplace(axes.begin(), axes.end()); }
  Axes(const std::vector<int64_t>& axes) { numbers.emplace(axes.begin(), axes.end()); }
  Axes(const Tensor& tensor) { this->tensor = tensor; }
};

// Sizes, where -1 stands for the size of another tensor, as the function says.
class OpenSizes : public engine::OpenSizes {
 public:
  OpenSizes() = default;
  OpenSizes(std::initializer_list<int64_t> sizes) { numbers.emplace(sizes.begin(), sizes.end()); }
  OpenSizes(const std::vector<int64_t>& sizes) { numbers.emplace(sizes.begin(), sizes.end()); }
  OpenSizes(const Tensor& tensor) { this->tensor = tensor; }
};

// The axes that two tensors are joined over: so many last axes of the first and first axes of the
// second, or as many axes of each.
class AxisPairs : public engine::AxisPairs {
 public:
  AxisPairs(int count) { this->count = count; }
  AxisPairs(std::vector<int64_t> first, std::vector<int64_t> second) {
    this->first = std::move(first);
    this->second = std::move(second);
  }
  AxisPairs(const Tensor& tensor) { this->tensor = tensor; }
};

// A number of no dtype yet, or a tensor.
class Number : public engine::Number {
 public:
  template <typename T>
  requires std::is_arithmetic_v<T> Number(T number) { this->number = static_cast<double>(number); }
  Number(const Tensor& tensor) { this->tensor = tensor; }
};
// "euclidean", or 2.
class NumberOrText : public engine::NumberOrText {
 public:
  NumberOrText(double number) : engine::NumberOrText(number) {}
  NumberOrText(const char* text) : engine::NumberOrText(std::string(text)) {}
  NumberOrText(std::string text) : engine::NumberOrText(std::move(text)) {}
};

// How far a window goes beyond the edges: "SAME" (as many windows as elements, for a stride of 1),
// "VALID" (not at all), or {before, after} for each dimension of the data format.
class Padding : public engine::Padding {
 public:
  Padding(const char* kind) { this->kind = kind; }
  Padding(std::string kind) { this->kind = std::move(kind); }
  Padding(std::initializer_list<std::pair<int64_t, int64_t>> pairs) {
    kind = "EXPLICIT";
    for (auto [before, after] : pairs) {
      sizes.push_back(before);
      sizes.push_back(after);
    }
  }
  // before, after, before, after, ...
  explicit Padding(const std::vector<int64_t>& all) {
    kind = "EXPLICIT";
    for (int64_t size : all) sizes.push_back(size);
  }
};

// One number for all spatial axes, one for each, or one for each axis in the order of the data
// format.
class Window : public engine::Window {
 public:
  Window() = default;
  template <std::integral T>
  Window(T size) {
    sizes = {static_cast<int64_t>(size)};
  }
  Window(const std::vector<int64_t>& all) : Window(all.begin(), all.end()) {}
  Window(std::initializer_list<int64_t> all) : Window(all.begin(), all.end()) {}

 private:
  template <typename It>
  Window(It first, It last) {
    for (; first != last; ++first) sizes.push_back(*first);
  }
};

}  // namespace graven
