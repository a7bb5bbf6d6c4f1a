#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

#include "graven/base/export.h"
#include "graven/base/inline_vector.h"
#include "graven/base/status.h"
#include "graven/tensor/dim.h"

namespace graven::engine {

inline constexpr int kMaxRank = 254;

// A list of Dims, or of unknown rank. Up to rank 6 it allocates nothing.
class GRAVEN_API Shape {
 public:
  Shape() = default;  // rank 0
  Shape(std::initializer_list<Dim> dims) : dims_(dims) {}
  explicit Shape(std::span<const Dim> dims) : dims_(dims.begin(), dims.end()) {}
  explicit Shape(std::span<const int64_t> sizes);  // -1 is unknown
  static Shape unknown_rank();

  bool has_rank() const { return has_rank_; }
  int rank() const { return static_cast<int>(dims_.size()); }  // 0 if unknown
  Dim operator[](int i) const { return dims_[i]; }
  std::span<const Dim> dims() const { return {dims_.data(), dims_.size()}; }
  int64_t size(int i) const { return dims_[i].number(); }  // the Dim must be a number

  void push_back(Dim dim) { dims_.push_back(dim); }
  void set(int i, Dim dim) { dims_[i] = dim; }
  void insert(int i, Dim dim) { dims_.insert(dims_.begin() + i, dim); }
  void erase(int i) { dims_.erase(dims_.begin() + i); }
  void reserve(int rank) { dims_.reserve(rank); }

  // True if the rank is known and every Dim is a number.
  bool is_fully_known() const;
  // Product of the sizes; the shape is fully known and was checked by checked_num_elements.
  int64_t num_elements() const {
    // Beside a size of zero the others may be any: their product wraps around.
    uint64_t product = 1;
    for (Dim dim : dims_) product *= static_cast<uint64_t>(dim.number());
    return static_cast<int64_t>(product);
  }
  // The same, or none if the shape is not fully known or the product overflows int64.
  std::optional<int64_t> checked_num_elements() const;

  // "(2, None)", "(3,)", "()", "<unknown>": how Python prints it. Terms print as None.
  std::string to_text() const;
  // "[2,?]", "[]", "<unknown>": how messages of ops print it.
  std::string to_message() const;

  friend bool operator==(const Shape& a, const Shape& b) {
    return a.has_rank_ == b.has_rank_ && a.dims_ == b.dims_;
  }

 private:
  InlineVector<Dim, 6> dims_;
  bool has_rank_ = true;
};

// The algebra of types. Terms count as unknown here.
// True if every tensor of shape a also has shape b.
GRAVEN_API bool is_subshape(const Shape& a, const Shape& b);
// True if some tensor has both shapes.
GRAVEN_API bool are_compatible(const Shape& a, const Shape& b);
// The most special shape that covers both: with equal ranks, sizes that differ become unknown.
GRAVEN_API Shape common_supershape(const Shape& a, const Shape& b);
// The shape that satisfies both; kInvalidArgument if they contradict. Symbols win over unknown,
// numbers over symbols.
GRAVEN_API Result<Shape> merge_shapes(const Shape& a, const Shape& b);

}  // namespace graven::engine
