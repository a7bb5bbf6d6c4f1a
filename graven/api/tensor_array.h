#pragma once
#include <optional>
#include <source_location>

#include "graven/api/convert.h"
#include "graven/api/operand.h"
#include "graven/api/tensor.h"
#include "graven/base/export.h"
#include "graven/control/tensor_array.h"
#include "graven/function/trace_type.h"

namespace graven {

struct TensorArrayOptions {
  bool dynamic_size = false;  // a write past the end makes the array longer
  bool infer_shape = true;    // all elements have one shape, that of the first that is written
  // What is known of the elements' shape; not given: nothing.
  std::optional<Shape> element_shape = std::nullopt;
};

// Tensors of one dtype by their numbers (tf.TensorArray), of which one is written or read at a
// time. It is a value, traced and at once: a write gives a new array, to be used in place of the
// old one. Functions take and return it, loops carry it as a variable, and gradients flow from
// reads to writes.
//
//   graven::TensorArray squares(DType::kFloat32, n);
//   std::tie(i, squares) = graven::while_loop(
//       [&](Tensor i, graven::TensorArray) { return i < n; },
//       [](Tensor i, graven::TensorArray a) { return std::tuple(i + 1, a.write(i, i * i)); },
//       std::tuple(0, squares));
//
// An element that was never written reads as zeros, if its shape is known. Errors that only values
// tell, such as an index out of range, come as InvalidArgument when the op runs.
class GRAVEN_API TensorArray {
 public:
  // No array; it can only be assigned another one.
  TensorArray() = default;
  TensorArray(DType dtype, const Operand& size, const TensorArrayOptions& options = {});

  bool is_none() const { return !array_.flow; }
  DType dtype() const { return array_.dtype; }
  const Shape& element_shape() const { return array_.element_shape; }
  bool dynamic_size() const { return array_.dynamic_size; }
  // The elements as a list of tensors in a variant.
  Tensor flow() const { return Tensor(array_.flow); }

  // The number of elements, an int32 scalar.
  Tensor size(std::source_location location = std::source_location::current()) const;
  // The element of an int32 scalar.
  Tensor read(const Operand& index) const;
  // All elements along a new first axis.
  Tensor stack(std::source_location location = std::source_location::current()) const;
  // Some elements along a new first axis; the indices, a vector of int32, may repeat.
  Tensor gather(const Operand& indices) const;
  // All elements one after another along their first axis.
  Tensor concat(std::source_location location = std::source_location::current()) const;

  // The array with another element. ValueError if the shape is known not to be that of the others,
  // InvalidArgument for another dtype.
  TensorArray write(const Operand& index, const Operand& value) const;
  // The array of the slices of a tensor along its first axis.
  TensorArray unstack(const Operand& value) const;
  // The array with the slices of a tensor as the elements of a vector of int32.
  TensorArray scatter(const Operand& indices, const Operand& value) const;
  // The array of the parts of a tensor along its first axis, whose lengths are a vector of
  // integers.
  TensorArray split(const Operand& value, const Operand& lengths) const;
  TensorArray identity() const { return *this; }
  // Does nothing, as in TensorFlow 2.
  void close() const {}

 private:
  friend struct Convert<TensorArray>;
  explicit TensorArray(engine::TensorArray array) : array_(std::move(array)) {}
  const engine::TensorArray& existing(const std::source_location& location) const;
  template <typename F>
  auto emitted(const std::source_location& location, F&& f) const;
  engine::TensorArray array_;
};

// It crosses as its flow, beside a type that says what is known of the elements.
template <>
struct GRAVEN_API Convert<TensorArray> {
  static void write_key(KeyWriter& key, const TensorArray& array);
  static engine::Value to_value(const TensorArray& array);
  static TensorArray from_value(const engine::Value& value);
};

}  // namespace graven
