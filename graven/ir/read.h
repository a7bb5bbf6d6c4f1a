#pragma once
#include <optional>
#include <string>
#include <vector>

#include "graven/base/export.h"
#include "graven/tensor/shape.h"

namespace graven::engine {

// From which element of a tensor a point of an index space is read: for each axis of the tensor a
// sum of coefficients times indices of the space. Transposes, broadcasts, slices and steps are
// reads; what is no read is copied first.
//
//   at [i0,i1]     the element of the same index
//   at [i1,i0]     transposed
//   at [0,i1?]     axis 0 is read at its only index; axis 1 counts 0 if its size is 1 when it runs
struct Read {
  struct Term {
    int index = 0;  // of the space
    Dim coefficient = 1;
    friend bool operator==(const Term&, const Term&) = default;
  };
  struct Axis {
    Dim offset = 0;
    std::vector<Term> terms;
    bool broadcasts = false;  // its size may be 1 when it runs, and then its index is 0
    friend bool operator==(const Axis&, const Axis&) = default;
  };
  std::vector<Axis> axes;
  friend bool operator==(const Read&, const Read&) = default;

  // As NumPy broadcasts: axes are aligned from the last one on, and one of size 1 is read at 0.
  // None if a number of the shape fits neither the space nor 1. Dims that are not the same, and
  // might be 1 when it runs, broadcast then.
  GRAVEN_API static std::optional<Read> broadcasting(const Shape& shape, const Shape& space);
  // One element for each point of the space but for its last `axes`, which the tensor lacks.
  GRAVEN_API static Read of_leading_axes(int rank);

  // Whether points that differ in this index of the space may read different elements.
  GRAVEN_API bool varies_with(int index) const;
  // The index of the space itself, or 0: all that a kernel which only broadcasts can take.
  GRAVEN_API bool only_broadcasts() const;
  GRAVEN_API std::string to_text() const;  // "[i0,2*i1 + 1,i2?]"
};

}  // namespace graven::engine
