#pragma once
#include <cstdint>
#include <span>

#include "graven/base/export.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// The arguments of a run of a trace that leaves sizes open, on this thread while it lives; of a run
// of another trace none. For state of ops that a trace of its own for each size would have by
// itself: streams of random numbers begin anew with each size.
class GRAVEN_API OpenRun {
 public:
  explicit OpenRun(std::span<const Tensor> arguments) : outer_(t_arguments) {
    t_arguments = arguments;
  }
  ~OpenRun() { t_arguments = outer_; }
  OpenRun(const OpenRun&) = delete;
  // False if a trace that leaves no sizes open needs none of these.
  static bool is_any() { return !t_arguments.empty(); }
  // A hash of the shapes, not 0; 0 if no sizes are open.
  static uint64_t hash_of_shapes();

 private:
  [[gnu::tls_model("initial-exec")]] static constinit thread_local std::span<const Tensor>
      t_arguments;
  const std::span<const Tensor> outer_;
};

}  // namespace graven::engine
