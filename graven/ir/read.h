#pragma once
#include <optional>
#include <string>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/function_ref.h"
#include "graven/base/inline_vector.h"
#include "graven/tensor/shape.h"

namespace graven::engine {

// The element of a tensor that is read at each point of an index space: for each axis of the tensor
// a sum of coefficients times indices of the space. Transposes, broadcasts, slices and steps are
// reads; other movements need a copy first.
//
//   at [i0,i1]     the element of the same index
//   at [i1,i0]     transposed
//   at [0,i1?]     axis 0 is read at its only index; axis 1 counts 0 if its size is 1 when it runs
//   at [2*i0 + 1]  every other element from the second on
//   at [-1 - i0]   backwards from the last element; at [-3 - 2*i0] every other from the third last
struct Read {
  struct Term {
    int index = 0;  // of the space
    Dim coefficient = 1;
    friend bool operator==(const Term&, const Term&) = default;
  };
  struct Axis {
    Dim offset = 0;
    InlineVector<Term, 2> terms;
    bool broadcasts = false;  // its size may be 1 when it runs, and then its index is 0
    bool backwards = false;   // the sum counts from the last index on towards the first
    friend bool operator==(const Axis&, const Axis&) = default;
  };
  using Axes = InlineVector<Axis, 4>;
  Axes axes;
  friend bool operator==(const Read&, const Read&) = default;

  // As NumPy broadcasts: axes are aligned from the last one on, and an axis of size 1 is read at 0.
  // None if a number of the shape fits neither the space nor 1. An axis whose Dim differs from the
  // space's, and might be 1 at run time, broadcasts if it is.
  GRAVEN_API static std::optional<Read> broadcasting(const Shape& shape, const Shape& space);
  // One element for each point of the space but for its last `axes`, which the tensor lacks.
  GRAVEN_API static Read of_leading_axes(int rank);

  // Whether points that differ in this index of the space may read different elements.
  GRAVEN_API bool varies_with(int index) const;
  // Whether the tensor of this shape is read as NumPy broadcasts it, except that its axes may be
  // any of the space's, in order: each axis is read whole at its own index, or at 0.
  GRAVEN_API bool only_broadcasts(const Shape& shape, const Shape& space) const;
  GRAVEN_API std::string to_text() const;  // "[i0,2*i1 + 1,i2?]"
};

// The highest index that an axis reaches while indices go over the space, counted from the first
// element or, backwards, from the last; none if nothing is read, or a Dim is not known. `value`
// gives the number of a Dim, or a negative number if it is not known.
GRAVEN_API std::optional<int64_t> last_index(const Read::Axis& axis, const Shape& space,
                                             FunctionRef<int64_t(Dim)> value);

}  // namespace graven::engine
