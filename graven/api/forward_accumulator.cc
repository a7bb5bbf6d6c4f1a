#include "graven/api/forward_accumulator.h"

#include <algorithm>

#include "graven/api/apply.h"
#include "graven/api/error.h"
#include "graven/api/location.h"
#include "graven/autodiff/forward_accumulator.h"
#include "graven/base/strings.h"
#include "graven/ir/structural_ops.h"
#include "graven/runtime/eager_builder.h"

namespace graven {

using Location = std::source_location;

struct ForwardAccumulator::Impl {
  engine::ForwardAccumulator forward{engine::eager_builder()};

  void watch(const Source& primal, const Tensor& tangent, const Location& location) {
    const engine::Tensor tensor = primal.tensor();
    if (!tensor || tangent.is_none()) {
      throw_error(engine::type_error("A primal and its tangent are tensors, not None"), location);
    }
    const engine::Tensor given = tangent;
    auto [dtype, shape] = std::pair(tensor.dtype(), tensor.shape());
    if (dtype == DType::kResource && !tensor.is_symbolic()) {
      if (auto type = tensor.resource()->value_type()) std::tie(dtype, shape) = *type;
    }
    if (dtype != DType::kResource &&
        (dtype != given.dtype() || !engine::are_compatible(shape, given.shape()))) {
      throw_error(engine::value_error("The tangent of a primal has its dtype and shape, ",
                                      engine::dtype_name(dtype), shape.to_text(), ", not ",
                                      engine::dtype_name(given.dtype()), given.shape().to_text()),
                  location);
    }
    value_or_throw(forward.watch(tensor, given), location);
  }

  Tensor tangent(const Source& target, UnconnectedGradients unconnected,
                 const Location& location) const {
    if (target.tensor().is_none()) {
      throw_error(engine::type_error("Target should be a tensor, not None"), location);
    }
    Tensor found(value_or_throw(forward.tangent(target.tensor()), location));
    if (!found.is_none() || unconnected == UnconnectedGradients::kNone) return found;
    const bool is_handle = target.tensor().dtype() == DType::kResource;
    const Tensor like =
        is_handle ? Variable::of_handle(target.tensor()).value(location) : target.tensor();
    return internal::apply(engine::kZerosLike, {Operand(like, location)});
  }
};

ForwardAccumulator::ForwardAccumulator(const Source& primal, const Tensor& tangent,
                                       Location location)
    : ForwardAccumulator(Sources{primal}, {tangent}, location) {}

ForwardAccumulator::ForwardAccumulator(const Sources& primals, const std::vector<Tensor>& tangents,
                                       Location location)
    : impl_(std::make_unique<Impl>()) {
  const std::vector<Source>& all = primals.list();
  if (all.size() != tangents.size()) {
    throw_error(engine::value_error("There are ", tangents.size(), " tangents for ", all.size(),
                                    " primals"),
                location);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const auto is_same = [&](const Source& other) {
      return engine::Tensor(other.tensor()) == engine::Tensor(all[i].tensor());
    };
    if (std::any_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i), is_same)) {
      throw_error(engine::value_error("A tensor was specified as a primal multiple times. If it "
                                      "was intended, sum the corresponding tangents."),
                  location);
    }
    impl_->watch(all[i], tangents[i], location);
  }
  impl_->forward.start();
}

ForwardAccumulator::~ForwardAccumulator() = default;

void ForwardAccumulator::stop(Location location) {
  if (!impl_->forward.is_recording()) {
    throw_error(engine::value_error("Accumulator is not recording."), location);
  }
  impl_->forward.stop();
}

void ForwardAccumulator::resume(Location location) {
  if (impl_->forward.is_recording()) {
    throw_error(engine::value_error("Accumulator is already recording."), location);
  }
  impl_->forward.start();
}

Tensor ForwardAccumulator::jvp(const Source& target, UnconnectedGradients unconnected_gradients,
                               Location location) const {
  internal::LocationScope scope(location);
  return impl_->tangent(target, unconnected_gradients, location);
}

std::vector<Tensor> ForwardAccumulator::jvp(const Sources& targets,
                                            UnconnectedGradients unconnected_gradients,
                                            Location location) const {
  internal::LocationScope scope(location);
  std::vector<Tensor> found;
  for (const Source& target : targets.list()) {
    found.push_back(impl_->tangent(target, unconnected_gradients, location));
  }
  return found;
}

}  // namespace graven
