#include "graven/function/key.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace graven::engine {
namespace {

constexpr uint64_t kUnknownRank = 255;

// One element of a row that starts at `words`.
struct Element {
  const uint64_t* words;
  KeyTag tag() const { return static_cast<KeyTag>(*words & 255); }
  size_t rank() const { return *words >> 16 & 255; }
  size_t num_sizes() const { return rank() == kUnknownRank ? 0 : rank(); }
  size_t payload() const { return tag() >= KeyTag::kList ? 0 : *words >> 32; }
  bool has_shape() const { return tag() == KeyTag::kTensor || tag() == KeyTag::kVariable; }
};

// Calls visit(index, element) for each element; ends, with false, if that gives false.
template <typename Visit>
bool for_each_element(std::span<const uint64_t> row, Visit&& visit) {
  uint32_t index = 0;
  for (size_t at = 0; at < row.size(); ++index) {
    Element element{&row[at]};
    if (!visit(index, element)) return false;
    at += 1 + element.payload();
  }
  return true;
}

template <typename Words>
void append(Words& words, const uint64_t* first, size_t size) {
  for (size_t i = 0; i < size; ++i) words.push_back(first[i]);
}

// The element with a shape of unknown rank.
template <typename Words>
void append_without_shape(Words& words, const Element& element) {
  size_t rest = element.payload() - element.num_sizes();
  words.push_back((*element.words & 0xff00ffff) | kUnknownRank << 16 |
                  static_cast<uint64_t>(rest) << 32);
  append(words, element.words + 1 + element.num_sizes(), rest);
}

}  // namespace

void KeyWriter::add_variable(const Tensor& handle, const Resource* variable, DType dtype,
                             const Shape& shape, bool trainable) {
  auto* at = std::find(variables_.begin(), variables_.end(), variable);
  add_shaped(KeyTag::kVariable, dtype, shape, trainable, 1);
  words_.push_back(static_cast<uint64_t>(at - variables_.begin()));
  if (at != variables_.end()) return;
  variables_.push_back(variable);
  tensors_.push_back(handle);
}

void KeyWriter::add_float(double value) {
  if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
  bool is_integer = std::abs(value) < 0x1p63 && value == std::trunc(value);
  if (equal_as_numbers_ && is_integer) {
    add_integer(static_cast<int64_t>(value));
  } else {
    add_word(KeyTag::kFloat, std::bit_cast<uint64_t>(value));
  }
}

void KeyWriter::add_complex(std::complex<double> value) {
  const bool is_nan = std::isnan(value.real()) || std::isnan(value.imag());
  if (is_nan) value = std::numeric_limits<double>::quiet_NaN();
  if (equal_as_numbers_ && value.imag() == 0) return add_float(value.real());
  words_.push_back(header(KeyTag::kComplex, 2));
  // Zeros of both signs are equal in a complex number.
  words_.push_back(std::bit_cast<uint64_t>(value.real() + 0.0));
  words_.push_back(std::bit_cast<uint64_t>(value.imag() + 0.0));
}

void KeyWriter::add_bytes(KeyTag tag, std::string_view bytes) {
  const size_t words = (bytes.size() + 7) / 8;
  words_.push_back(header(tag, words) | static_cast<uint64_t>(bytes.size() % 8) << 24);
  for (size_t i = 0; i < bytes.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min<size_t>(8, bytes.size() - i));
    words_.push_back(word);
  }
}

Wildcards Wildcards::of_row(std::span<const uint64_t> row) {
  Wildcards found;
  for_each_element(row, [&](uint32_t index, const Element& element) {
    if (!element.has_shape()) return true;
    if (element.rank() == kUnknownRank) found.places_.push_back({index, Place::kWholeShape});
    for (uint32_t i = 0; i < element.num_sizes(); ++i) {
      if (element.words[1 + i] == kAnySize) found.places_.push_back({index, i});
    }
    return true;
  });
  return found;
}

bool Wildcards::is_within(const Wildcards& other) const {
  return std::ranges::all_of(places_, [&](const Place& place) {
    return std::ranges::binary_search(other.places_, place) ||
           std::ranges::binary_search(other.places_, Place{place.element, Place::kWholeShape});
  });
}

bool Wildcards::apply(std::span<const uint64_t> row, KeyWords& with_wildcards) const {
  auto next = places_.begin();
  bool all_fit = for_each_element(row, [&](uint32_t index, const Element& element) {
    if (next == places_.end() || next->element != index) {
      append(with_wildcards, element.words, 1 + element.payload());
      return true;
    }
    if (!element.has_shape()) return false;
    if (next->dimension == Place::kWholeShape) {
      append_without_shape(with_wildcards, element);
      ++next;
      return true;
    }
    const size_t sizes = with_wildcards.size() + 1;
    append(with_wildcards, element.words, 1 + element.payload());
    for (; next != places_.end() && next->element == index; ++next) {
      if (next->dimension >= element.num_sizes()) return false;
      with_wildcards[sizes + next->dimension] = kAnySize;
    }
    return true;
  });
  return all_fit && next == places_.end();
}

std::optional<std::vector<uint64_t>> widened(std::span<const uint64_t> row,
                                             std::span<const Shape> shapes) {
  std::vector<uint64_t> wide;
  auto shape = shapes.begin();
  bool all_fit = for_each_element(row, [&](uint32_t, const Element& element) {
    if (!element.has_shape()) {
      append(wide, element.words, 1 + element.payload());
      return true;
    }
    if (shape == shapes.end()) return false;
    const Shape& given = *shape++;
    if (!given.has_rank()) {
      append_without_shape(wide, element);
      return true;
    }
    if (static_cast<size_t>(given.rank()) != element.num_sizes()) return false;
    const size_t sizes = wide.size() + 1;
    append(wide, element.words, 1 + element.payload());
    for (int i = 0; i < given.rank(); ++i) {
      if (!given[i].is_number()) wide[sizes + i] = kAnySize;
    }
    return true;
  });
  if (!all_fit || shape != shapes.end()) return std::nullopt;
  return wide;
}

std::optional<std::vector<uint64_t>> with_numbers(std::span<const uint64_t> row,
                                                  std::span<const Shape> shapes) {
  std::vector<uint64_t> numbered;
  auto shape = shapes.begin();
  bool all_fit = for_each_element(row, [&](uint32_t, const Element& element) {
    const size_t sizes = numbered.size() + 1;
    append(numbered, element.words, 1 + element.payload());
    if (!element.has_shape()) return true;
    if (shape == shapes.end()) return false;
    const Shape& given = *shape++;
    if (static_cast<size_t>(given.rank()) != element.num_sizes()) return false;
    for (int i = 0; i < given.rank(); ++i) {
      uint64_t& word = numbered[sizes + i];
      if (word == kAnySize && given[i].is_number()) word = static_cast<uint64_t>(given[i].number());
    }
    return true;
  });
  if (!all_fit || shape != shapes.end()) return std::nullopt;
  return numbered;
}

}  // namespace graven::engine
