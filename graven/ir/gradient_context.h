#pragma once
#include <span>
#include <vector>

#include "graven/base/export.h"
#include "graven/ir/emitter.h"
#include "graven/ir/op.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// Some rows of a gradient: the others are zero. Rows may repeat; their values add up.
struct IndexedSlices {
  Tensor values;       // [n, ...]
  Tensor indices;      // [n], int32 or int64
  Tensor dense_shape;  // of the whole, an int32 or int64 vector; may be empty
};

// The gradient for one input: none, dense, or IndexedSlices.
struct Gradient {
  Tensor dense;
  IndexedSlices slices;  // used if slices.values is there
  bool is_none() const { return !dense && !slices.values; }
  bool is_slices() const { return static_cast<bool>(slices.values); }
};

// The argument of an op's gradient: the op's inputs x and outputs y, the gradients dy of its
// outputs, and which gradients are wanted. Tapes keep every value that a gradient asks for: ask for
// shapes where they are enough. It applies ops as an Emitter, so the same function works eagerly,
// in a graph, and a second time.
class GRAVEN_API GradientContext : public Emitter {
 public:
  using Emitter::Emitter;
  virtual const Op& op() const = 0;
  virtual AttrsRef raw_attrs() const = 0;
  template <typename A>
  const A& attrs() const {
    return raw_attrs().as<A>();
  }
  virtual int num_inputs() const = 0;
  virtual int num_outputs() const = 0;

  virtual Tensor x(int i) = 0;
  virtual Tensor y(int i) = 0;
  // The incoming gradient; zeros like y(i) if only other outputs have one.
  virtual Tensor dy(int i = 0) = 0;
  virtual bool has_dy(int i) const = 0;
  // The static shape and dtype of an input or output, without keeping it.
  virtual const Shape& static_shape_of_x(int i) const = 0;
  virtual DType dtype_of_x(int i) const = 0;
  virtual const Shape& static_shape_of_y(int i) const = 0;
  // The shape of an input as an int32 vector: a constant if it is known now.
  virtual Tensor shape_of_x(int i) = 0;
  virtual Tensor shape_of_y(int i) = 0;
  // True if the gradient of input i will be used.
  virtual bool wants(int i) const = 0;

  virtual void set_dx(int i, Tensor dx) = 0;
  virtual void set_dx(int i, IndexedSlices dx) = 0;
};

}  // namespace graven::engine
