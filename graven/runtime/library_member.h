#pragma once
#include <memory>
#include <span>
#include <vector>

#include "graven/ir/fusion.h"
#include "graven/ir/graph.h"
#include "graven/ir/kernel.h"

namespace graven::engine {

// The library member of a Fusion node: runs the op's own kernel, after checking the inputs as the
// op does. Errors are the op's, with its name. Never changes; any thread may run it.
class LibraryMember {
 public:
  static Result<std::unique_ptr<LibraryMember>> create(const Node& node, const Fusion& fusion);

  // values: the inputs of the Fusion. Finds the shape of the result; shapes that do not fit give
  // the op's error.
  Status find_shape(std::span<const Tensor* const> values, Shape& shape) const;
  // Computes the result, a tensor of that shape; all on the device of the queue.
  Status run(Queue& queue, std::span<const Tensor* const> values, const Tensor& result,
             const PanelDone* done) const;
  // The estimated time of a run: as far as the graph says, and for these inputs.
  double cost() const { return cost_; }
  double cost(std::span<const Tensor* const> values, const Shape& shape) const;
  DType dtype() const { return dtype_; }
  int64_t bytes() const;
  // The inputs of the Fusion that it reads.
  std::span<const int> inputs() const { return inputs_; }

 private:
  LibraryMember(const Op& op, AttrsRef attrs, DType dtype)
      : op_(op), attrs_(attrs), dtype_(dtype) {}
  const Op& op_;
  const Attrs attrs_;
  const DType dtype_;
  std::vector<int> inputs_;
  TypeBindings types_;
  Shape shape_;  // of the result, as the graph says
  bool shape_is_known_ = false;
  double cost_ = 0;
};

}  // namespace graven::engine
