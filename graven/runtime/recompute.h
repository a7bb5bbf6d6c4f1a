#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/body.h"
#include "graven/runtime/planned_body.h"
#include "graven/tensor/tensor.h"
#include "graven/tensor/tensor_list.h"

namespace graven::engine {

// A loop whose body pushes values that are to be computed again instead of being kept
// (ir/recompute.h). The loop runs the body without these pushes, and keeps the variables that the
// pushed values depend on every k iterations. After the loop each list is a computed one
// (TensorList): what the next k pops need is computed by one more run of k iterations. So a loop of
// n iterations keeps n/k states and the values of k iterations. Constant once made.
class Recompute {
 public:
  // Null if the body pushes no such values.
  static Result<std::unique_ptr<const Recompute>> create(const Body& body);

  // The body without the pushes: it returns the lists as it got them.
  const Ref<Body>& rest() const { return rest_; }

  // One run of the loop.
  class Run {
   public:
    // Keeps what the first iteration starts from. `values`: the variables before the loop.
    // Variables of the program (tf.Variable) have the value that they have now when something is
    // computed again.
    static Result<Run> start(const Recompute& recompute, std::span<const Tensor> values);
    // Called with the variables before each iteration.
    void before_iteration(std::span<const Tensor> values);
    // Called after the loop: the lists take their places among the variables.
    Status finish(std::span<Tensor> values);

   private:
    class Source;
    explicit Run(const Recompute& recompute) : recompute_(&recompute) {}
    const Recompute* recompute_;
    Ref<ElementSource> elements_;
    Source* source_ = nullptr;  // what elements_ holds
    int64_t num_iterations_ = 0;
  };

  // Without the rest, which the step runs.
  int64_t bytes() const;

 private:
  Recompute(Ref<Body> rest, Ref<Body> values, PlannedBody planned)
      : rest_(std::move(rest)), values_(std::move(values)), planned_(std::move(planned)) {}
  Ref<Body> rest_;
  // What is computed again: takes the variables of inputs_, and gives those of state_ after an
  // iteration, then the values that were pushed.
  Ref<Body> values_;
  PlannedBody planned_;
  int64_t every_ = 0;
  std::vector<int> lists_;     // the variables that are lists
  std::vector<int> inputs_;    // the variables that the pushed values depend on
  std::vector<size_t> state_;  // those of inputs_ that the loop changes
};

}  // namespace graven::engine
