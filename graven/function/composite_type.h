#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graven/base/status.h"
#include "graven/function/trace_type.h"
#include "graven/tensor/shape.h"

namespace graven::engine {

// A type of values that are made of tensors, such as ragged tensors, as a front end defines it.
class GRAVEN_API CompositeType : public ForeignType {
 public:
  // The types of a value's tensors, in the order of collect_tensors.
  virtual Result<std::vector<Ref<const TensorType>>> tensor_types() const = 0;
  // How a value's tensors are cut into rows. A number for each part, in order: 0 for a tensor that
  // is cut along its first axis; else a ragged part, flat values and so many row splits behind
  // them, outer ones first. None if such values have no rows.
  virtual Result<std::optional<std::vector<int>>> ragged_ranks() const = 0;
  // The type of each row of a value that has rows; and of the value of a number of rows of this
  // type, which may be unknown. Null if there is none.
  virtual Result<TraceTypeRef> type_of_row() const = 0;
  virtual Result<TraceTypeRef> type_of_rows(std::optional<int64_t> count) const = 0;
  // The type of values that are of this one but for their shape; null if they have no shape.
  virtual Result<TraceTypeRef> with_shape(const Shape& shape) const = 0;
  // Whether it is a spec, which is compared and printed by what it says; else it is of a class of
  // the program's that only has a name.
  virtual bool is_spec() const = 0;
  // A spec as its front end prints it, "RaggedTensorSpec(TensorShape([2, None]), tf.float32, 1,
  // tf.int64)". The same in each run of a program, or empty, as it is of what is no spec.
  virtual std::string spec_text() const = 0;
  // A spec as a program of its front end writes it, "tf.RaggedTensorSpec(tf.TensorShape([2, ...";
  // empty where spec_text is.
  virtual std::string spec_code() const = 0;
  // Whether a value of the other type may be of this one, too, as far as is known.
  virtual bool is_compatible_with(const TraceType& other) const = 0;
};

}  // namespace graven::engine
