#pragma once
#include <initializer_list>
#include <memory>
#include <source_location>
#include <vector>

#include "graven/api/operand.h"
#include "graven/api/tensor.h"
#include "graven/api/variable.h"
#include "graven/base/export.h"

namespace graven {

// The gradient for a source on which the target does not depend: no tensor, or zeros.
enum class UnconnectedGradients { kNone, kZero };

// Options of a gradient besides target and sources.
struct GradientOptions {
  // One for each target, in place of ones.
  std::vector<Tensor> output_gradients = {};
  UnconnectedGradients unconnected_gradients = UnconnectedGradients::kNone;
};

// A source to differentiate with respect to: a tensor, or a variable, which stands for its value.
class GRAVEN_API Source {
 public:
  Source(const Tensor& tensor) : tensor_(tensor) {}
  Source(const Variable& variable) : tensor_(variable.handle()) {}
  const Tensor& tensor() const { return tensor_; }

 private:
  Tensor tensor_;
};

// Several of them: {x, w}, or a vector of tensors or variables.
class GRAVEN_API Sources {
 public:
  Sources(std::initializer_list<Source> sources) : sources_(sources) {}
  Sources(const std::vector<Variable>& variables) : sources_(variables.begin(), variables.end()) {}
  Sources(const std::vector<Tensor>& tensors) : sources_(tensors.begin(), tensors.end()) {}
  const std::vector<Source>& list() const { return sources_; }

 private:
  std::vector<Source> sources_;
};

// A gradient in its own form: IndexedSlices if the source was only gathered.
struct Gradient {
  Tensor dense;          // none if it is slices, or there is no gradient
  IndexedSlices slices;  // values are none unless it is slices
  bool is_none() const { return dense.is_none() && slices.values.is_none(); }
  bool is_slices() const { return !slices.values.is_none(); }
};

struct TapeOptions {
  bool persistent = false;               // gradients may be asked for more than once
  bool watch_accessed_variables = true;  // trainable variables are watched when they are read
};

// Records ops for differentiation (tf.GradientTape), from its making until stop() or its end:
//
//   graven::GradientTape tape;
//   graven::Tensor loss = reduce_mean(square(matmul(x, w) - y));
//   graven::Tensor dw = tape.gradient(loss, w);
//
// Trainable variables are watched when they are read. Tapes nest: outer tapes record the ops that
// compute an inner tape's gradients. Used by the thread that made it.
class GRAVEN_API GradientTape {
 public:
  explicit GradientTape(TapeOptions options = {});
  ~GradientTape();
  GradientTape(const GradientTape&) = delete;

  // Records later ops on the source.
  void watch(const Source& source);
  void watch(const Sources& sources);
  // Ends the recording; resume() goes on with the same tape. A ValueError if it has ended already.
  void stop(std::source_location location = std::source_location::current());
  void resume(std::source_location location = std::source_location::current());
  // Forgets everything; a ValueError if it is not recording.
  void reset(std::source_location location = std::source_location::current());
  // The watched variables, each once.
  std::vector<Variable> watched_variables() const;

  // No recording while it lives.
  class GRAVEN_API Pause {
   public:
    explicit Pause(GradientTape& tape);
    ~Pause();
    Pause(const Pause&) = delete;

   private:
    GradientTape& tape_;
    bool was_recording_;
  };
  // { auto pause = tape.stop_recording(); ... } is not recorded.
  Pause stop_recording() { return Pause(*this); }

  // The gradient of the target, summed over its elements, and over targets; dense. None where there
  // is no path. A tape that is not persistent stops, and gives gradients once (a RuntimeError the
  // second time).
  Tensor gradient(const Operand& target, const Source& source, const GradientOptions& options = {});
  std::vector<Tensor> gradient(const Operand& target, const Sources& sources,
                               const GradientOptions& options = {});
  std::vector<Tensor> gradient(const std::vector<Tensor>& targets, const Sources& sources,
                               const GradientOptions& options = {},
                               std::source_location location = std::source_location::current());
  // The same, but IndexedSlices are not made dense.
  std::vector<Gradient> sparse_gradient(
      const std::vector<Tensor>& targets, const Sources& sources,
      const GradientOptions& options = {},
      std::source_location location = std::source_location::current());

  // The derivatives of each element of the target: shape of the target, then shape of the source.
  // Element by element, so the shapes must be known. Zeros where there is no path. A tape that is
  // not persistent stops, and gives gradients once.
  Tensor jacobian(const Operand& target, const Source& source);
  // The same for targets [b, t...] and sources [b, s...] whose rows belong together: [b, t...,
  // s...].
  Tensor batch_jacobian(const Operand& target, const Source& source);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace graven
