#pragma once
#include <compare>
#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/inline_vector.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// The arguments of a call as a row of words: tags, dtypes, sizes, literals by value, objects by
// address. Two calls of a Function whose rows are equal have equal types, so a row finds the entry
// without making types.
//
// A row is a sequence of elements, each a header and its payload. A container is a header that says
// how many elements follow, and these elements. The bits of a header:
//
//   0..7 tag   8..15 dtype   16..23 rank, 255 unknown   24..31 detail   32..63 length
//
// The length is that of the payload in words, or of a container in elements. A row does not depend
// on the language that wrote it.
using KeyWords = InlineVector<uint64_t, 96>;

enum class KeyTag : uint8_t {
  kTensor = 1,  // payload: the sizes
  kVariable,    // detail: is trainable; payload: the sizes, the number among the call's variables
  kNone,
  kBool,     // payload: 0 or 1
  kInteger,  // payload: the int64
  kFloat,    // payload: the bits of the double
  kComplex,  // payload: the bits of both parts
  kText,     // UTF-8; detail: bytes in the last word of the payload
  kBytes,    // the same
  kAddress,  // payload: the address of an object, or of the class of the next element
  kList,     // all from here on are containers
  kTuple,
  kDict,  // pairs of a text and a value, sorted by text
  kNamedTuple,
  kAttrs,
  kArguments,  // the values of *args
  kKeywords,   // the values of **kwargs: pairs as in a dict
};

// In the place of a size: unknown in a call, any size in a row of an entry.
inline constexpr uint64_t kAnySize = ~uint64_t{0};

// Writes a row and gathers the tensors to feed. Each front end calls it with its own objects.
class GRAVEN_API KeyWriter {
 public:
  // equal_as_numbers: 1, 1.0 and True are one literal (TensorFlow's profile).
  explicit KeyWriter(bool equal_as_numbers) : equal_as_numbers_(equal_as_numbers) {}

  void add_tensor(const Tensor& tensor) {
    add_shaped(KeyTag::kTensor, tensor.dtype(), tensor.shape(), 0, 0);
    tensors_.push_back(tensor);
  }
  // A variable goes in by its number among the variables of the call; an alias is fed once.
  void add_variable(const Tensor& handle, const Resource* variable, DType dtype, const Shape& shape,
                    bool trainable);
  // A spec, which stands for a tensor where a trace is asked for. Unknown sizes are wildcards; its
  // name, if any, is part of its type and not of the row.
  void add_spec(DType dtype, const Shape& shape, bool is_named) {
    add_shaped(KeyTag::kTensor, dtype, shape, 0, 0);
    has_names_ |= is_named;
  }
  void add_none() { words_.push_back(header(KeyTag::kNone, 0)); }
  void add_bool(bool value) {
    add_word(equal_as_numbers_ ? KeyTag::kInteger : KeyTag::kBool, value);
  }
  void add_integer(int64_t value) { add_word(KeyTag::kInteger, static_cast<uint64_t>(value)); }
  void add_float(double value);
  void add_complex(std::complex<double> value);
  void add_text(std::string_view utf8) { add_bytes(KeyTag::kText, utf8); }
  void add_bytes(std::string_view bytes) { add_bytes(KeyTag::kBytes, bytes); }
  // An object that is compared by identity, or the class of the container that follows. A row with
  // addresses may find an entry only while all of the objects live.
  void add_address(const void* object) {
    has_addresses_ = true;
    add_word(KeyTag::kAddress, reinterpret_cast<uintptr_t>(object));
  }
  // `size` elements follow, or pairs of elements.
  void begin(KeyTag container, size_t size) { words_.push_back(header(container, size)); }

  bool equal_as_numbers() const { return equal_as_numbers_; }
  bool has_addresses() const { return has_addresses_; }
  bool has_names() const { return has_names_; }
  std::span<const uint64_t> row() const { return {words_.data(), words_.size()}; }
  std::span<const Tensor> tensors() const { return {tensors_.data(), tensors_.size()}; }

 private:
  static uint64_t header(KeyTag tag, size_t length) {
    return static_cast<uint64_t>(tag) | static_cast<uint64_t>(length) << 32;
  }
  void add_word(KeyTag tag, uint64_t word) {
    words_.push_back(header(tag, 1));
    words_.push_back(word);
  }
  // `after` words of payload follow the sizes.
  void add_shaped(KeyTag tag, DType dtype, const Shape& shape, uint64_t detail, size_t after) {
    uint64_t rank = shape.has_rank() ? static_cast<uint64_t>(shape.rank()) : 255;
    words_.push_back(header(tag, shape.dims().size() + after) | static_cast<uint64_t>(dtype) << 8 |
                     rank << 16 | detail << 24);
    for (Dim dim : shape.dims()) {
      words_.push_back(static_cast<uint64_t>(dim.number_or_minus_one()));
    }
  }
  void add_bytes(KeyTag tag, std::string_view bytes);

  const bool equal_as_numbers_;
  bool has_addresses_ = false, has_names_ = false;
  KeyWords words_;
  InlineVector<Tensor, 24> tensors_;
  InlineVector<const Resource*, 8> variables_;  // by number
};

// The wildcards of a row: unknown sizes, and shapes of unknown rank, as (element, dimension).
class GRAVEN_API Wildcards {
 public:
  struct Place {
    static constexpr uint32_t kWholeShape = ~uint32_t{0};
    uint32_t element;  // position among the elements of the row
    uint32_t dimension;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  static Wildcards of_row(std::span<const uint64_t> row);

  bool empty() const { return places_.empty(); }
  // True if every size and shape that is a wildcard here is one in `other` too.
  bool is_within(const Wildcards& other) const;
  // Writes the row with these wildcards into `with_wildcards`. False if an element has no such
  // dimension.
  bool apply(std::span<const uint64_t> row, KeyWords& with_wildcards) const;
  friend bool operator==(const Wildcards&, const Wildcards&) = default;

 private:
  std::vector<Place> places_;  // in order
};

// The row with wildcards wherever a shape has unknown sizes or rank. `shapes` are those of the
// row's tensors and variables, in order; none if they do not fit the row.
GRAVEN_API std::optional<std::vector<uint64_t>> widened(std::span<const uint64_t> row,
                                                        std::span<const Shape> shapes);

// The row with the numbers of these shapes in the place of sizes that are unknown in it; none if
// they do not fit the row.
GRAVEN_API std::optional<std::vector<uint64_t>> with_numbers(std::span<const uint64_t> row,
                                                             std::span<const Shape> shapes);

}  // namespace graven::engine
