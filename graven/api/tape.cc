#include "graven/api/tape.h"

#include <algorithm>

#include "graven/api/apply.h"
#include "graven/api/location.h"
#include "graven/autodiff/add_gradients.h"
#include "graven/autodiff/tape.h"
#include "graven/ir/emitter.h"
#include "graven/ir/structural_ops.h"
#include "graven/runtime/eager_builder.h"

namespace graven {

using Location = std::source_location;

struct GradientTape::Impl {
  explicit Impl(TapeOptions options) : tape(options.persistent, options.watch_accessed_variables) {}
  engine::Tape tape;
  bool is_spent = false;  // not persistent, and has answered

  // A tape that is not persistent can give gradients only once.
  void check_use(const Location& location) const {
    if (!is_spent) return;
    throw_error(engine::Status(Code::kFailedPrecondition,
                               "A non-persistent GradientTape can only be used to compute one set "
                               "of gradients (or jacobians). See docs/errors/tape-used-twice.md",
                               ErrorKind::kRuntimeError),
                location);
  }

  // The value type of a source; for a variable, of the value that it holds.
  static std::pair<DType, Shape> value_type(const Tensor& source) {
    if (source.dtype() == DType::kResource && !source.is_symbolic()) {
      if (auto type = source.resource()->value_type()) return *type;
    }
    return {source.dtype(), source.shape()};
  }

  Tensor zeros_like(const Tensor& source, const Location& location) const {
    if (source.dtype() == DType::kResource) {
      const Tensor value = Variable::of_handle(source).value(location);
      return internal::apply(engine::kZerosLike, {Operand(value, location)});
    }
    return internal::apply(engine::kZerosLike, {Operand(source, location)});
  }

  static Tensor dense(const engine::Gradient& gradient, const Location& location) {
    if (gradient.dense || !gradient.slices.values) return Tensor(gradient.dense);
    engine::Emitter emitter(engine::current_builder());
    Tensor made(engine::densify(emitter, gradient.slices));
    throw_if_error(emitter.status(), location);
    return made;
  }

  // A tape that is not persistent stops, so that it does not record the rows, and answers once.
  void begin_jacobian() {
    if (tape.is_persistent()) return;
    if (tape.is_recording()) tape.stop();
    is_spent = true;
  }

  // One row of a jacobian: the gradient for a seed, zeros if there is no path. After the last row a
  // tape that is not persistent forgets its steps.
  Tensor row(const Tensor& y, const Tensor& source, const Tensor& seed, bool is_last,
             const Location& location) {
    const engine::Tensor to[] = {y}, from[] = {source}, seeds[] = {seed};
    bool keep = tape.is_persistent() || !is_last;
    auto gradients =
        value_or_throw(tape.gradient(to, from, seeds, engine::current_builder(), keep), location);
    Tensor row = dense(gradients[0], location);
    return row.is_none() ? zeros_like(source, location) : row;
  }
};

GradientTape::GradientTape(TapeOptions options) : impl_(std::make_unique<Impl>(options)) {
  impl_->tape.start();
}

GradientTape::~GradientTape() {
  if (impl_->tape.is_recording()) impl_->tape.stop();
}

void GradientTape::watch(const Source& source) {
  if (!source.tensor().is_none()) impl_->tape.watch(source.tensor());
}

void GradientTape::watch(const Sources& sources) {
  for (const Source& source : sources.list()) watch(source);
}

void GradientTape::stop(Location location) {
  if (!impl_->tape.is_recording()) {
    throw_error(engine::value_error("Tape is not recording."), location);
  }
  impl_->tape.stop();
}

void GradientTape::resume(Location location) {
  if (impl_->tape.is_recording()) {
    throw_error(engine::value_error("Tape is still recording."), location);
  }
  impl_->tape.start();
}

void GradientTape::reset(Location location) {
  if (!impl_->tape.is_recording()) {
    throw_error(engine::value_error("Tape is not recording, so it cannot be reset."), location);
  }
  impl_->tape.reset();
}

std::vector<Variable> GradientTape::watched_variables() const {
  std::vector<Variable> variables;
  for (const engine::Tensor& handle : impl_->tape.watched_variables()) {
    variables.push_back(Variable::of_handle(handle));
  }
  return variables;
}

GradientTape::Pause::Pause(GradientTape& tape)
    : tape_(tape), was_recording_(tape.impl_->tape.is_recording()) {
  if (was_recording_) tape.impl_->tape.stop();
}

GradientTape::Pause::~Pause() {
  if (was_recording_ && !tape_.impl_->tape.is_recording()) tape_.impl_->tape.start();
}

std::vector<Gradient> GradientTape::sparse_gradient(const std::vector<Tensor>& targets,
                                                    const Sources& sources,
                                                    const GradientOptions& options,
                                                    Location location) {
  internal::LocationScope scope(location);
  impl_->check_use(location);
  std::vector<engine::Tensor> from;
  for (const Source& source : sources.list()) {
    if (source.tensor().is_none()) {
      throw_error(engine::type_error("A source of a gradient is None"), location);
    }
    from.push_back(source.tensor());
  }
  for (const Tensor& target : targets) {
    if (target.is_none()) {
      throw_error(engine::type_error("Target should be a tensor, not None"), location);
    }
  }
  std::vector<engine::Tensor> to(targets.begin(), targets.end());
  std::vector<engine::Tensor> seeds(options.output_gradients.begin(),
                                    options.output_gradients.end());
  impl_->is_spent = !impl_->tape.is_persistent();
  auto gradients =
      value_or_throw(impl_->tape.gradient(to, from, seeds, engine::current_builder()), location);
  std::vector<Gradient> made;
  for (size_t i = 0; i < gradients.size(); ++i) {
    engine::Gradient& given = gradients[i];
    Gradient gradient{given.dense,
                      {given.slices.values, given.slices.indices, given.slices.dense_shape}};
    if (gradient.is_none() && options.unconnected_gradients == UnconnectedGradients::kZero) {
      gradient.dense = impl_->zeros_like(sources.list()[i].tensor(), location);
    }
    made.push_back(std::move(gradient));
  }
  return made;
}

std::vector<Tensor> GradientTape::gradient(const std::vector<Tensor>& targets,
                                           const Sources& sources, const GradientOptions& options,
                                           Location location) {
  std::vector<Tensor> dense;
  for (Gradient& gradient : sparse_gradient(targets, sources, options, location)) {
    if (!gradient.is_slices()) {
      dense.push_back(std::move(gradient.dense));
      continue;
    }
    internal::LocationScope scope(location);
    engine::Emitter emitter(engine::current_builder());
    const IndexedSlices& slices = gradient.slices;
    dense.push_back(engine::densify(
        emitter, engine::IndexedSlices{slices.values, slices.indices, slices.dense_shape}));
    throw_if_error(emitter.status(), location);
  }
  return dense;
}

std::vector<Tensor> GradientTape::gradient(const Operand& target, const Sources& sources,
                                           const GradientOptions& options) {
  return gradient(std::vector<Tensor>{target.as_tensor()}, sources, options, target.location());
}

Tensor GradientTape::gradient(const Operand& target, const Source& source,
                              const GradientOptions& options) {
  return gradient(target, Sources{source}, options)[0];
}

namespace {

std::vector<int64_t> known_sizes(const Shape& shape, const Location& location) {
  if (!shape.is_fully_known()) {
    throw_error(engine::value_error("A jacobian needs known shapes, not ", shape.to_text()),
                location);
  }
  std::vector<int64_t> sizes;
  for (Dim dim : shape.dims()) sizes.push_back(dim.number());
  return sizes;
}

Tensor int_vector(const std::vector<int64_t>& values, const Location& location) {
  std::vector<int32_t> small(values.begin(), values.end());
  return Tensor::of(small, Shape{Dim(static_cast<int64_t>(small.size()))}, location);
}

Tensor reshaped(const Tensor& tensor, const std::vector<int64_t>& sizes, const Location& location) {
  return internal::apply(engine::kReshape, {Operand(tensor, location),
                                            Operand(int_vector(sizes, location), location)});
}

// Ones where `is_one`, as a tensor of this dtype and these sizes.
Tensor seed_of(DType dtype, const std::vector<int64_t>& sizes, const std::vector<bool>& is_one,
               const Location& location) {
  std::vector<float> ones(is_one.begin(), is_one.end());
  Tensor flat = Tensor::of(ones, Shape{Dim(static_cast<int64_t>(ones.size()))}, location);
  if (dtype != DType::kFloat32) {
    flat = internal::apply(engine::kCast, {Operand(flat, location)}, {.DstT = dtype});
  }
  return reshaped(flat, sizes, location);
}

Tensor concatenated(const std::vector<Tensor>& parts, int axis, const Location& location) {
  std::vector<engine::Tensor> inputs(parts.begin(), parts.end());
  inputs.push_back(Tensor(axis, location));
  return internal::apply(*engine::kConcatV2, inputs, engine::AttrsRef(), location)[0];
}

}  // namespace

Tensor GradientTape::jacobian(const Operand& target, const Source& source) {
  const Location& location = target.location();
  internal::LocationScope scope(location);
  impl_->check_use(location);
  Tensor y = target.as_tensor();
  std::vector<int64_t> t = known_sizes(y.shape(), location);
  auto [dtype, source_shape] = Impl::value_type(source.tensor());
  std::vector<int64_t> s = known_sizes(source_shape, location);
  int64_t n = y.shape().num_elements();
  std::vector<int64_t> row = s, whole = t;
  row.insert(row.begin(), 1);
  whole.insert(whole.end(), s.begin(), s.end());
  if (n == 0) return seed_of(dtype, whole, {}, location);
  impl_->begin_jacobian();
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<bool> is_one(n);
    is_one[i] = true;
    Tensor seed = seed_of(y.dtype(), t, is_one, location);
    Tensor made = impl_->row(y, source.tensor(), seed, i + 1 == n, location);
    rows.push_back(reshaped(made, row, location));
  }
  return reshaped(rows.size() == 1 ? rows[0] : concatenated(rows, 0, location), whole, location);
}

Tensor GradientTape::batch_jacobian(const Operand& target, const Source& source) {
  const Location& location = target.location();
  internal::LocationScope scope(location);
  impl_->check_use(location);
  Tensor y = target.as_tensor();
  std::vector<int64_t> t = known_sizes(y.shape(), location);
  std::vector<int64_t> s = known_sizes(Impl::value_type(source.tensor()).second, location);
  if (t.size() < 2 || s.size() < 2 || t[0] != s[0]) {
    throw_error(engine::value_error("Need first dimension of target shape (", y.shape().to_text(),
                                    ") and source shape (", source.tensor().shape().to_text(),
                                    ") to match."),
                location);
  }
  // One element of every row of the target at a time: [b, 1, s...] each.
  int64_t b = t[0], n = b == 0 ? 0 : y.shape().num_elements() / b;
  std::vector<int64_t> part = s, whole = t;
  part.insert(part.begin() + 1, 1);
  whole.insert(whole.end(), s.begin() + 1, s.end());
  if (n == 0) return seed_of(y.dtype(), whole, {}, location);
  impl_->begin_jacobian();
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<bool> is_one(b * n);
    for (int64_t k = 0; k < b; ++k) is_one[k * n + i] = true;
    Tensor seed = seed_of(y.dtype(), t, is_one, location);
    Tensor made = impl_->row(y, source.tensor(), seed, i + 1 == n, location);
    parts.push_back(reshaped(made, part, location));
  }
  return reshaped(parts.size() == 1 ? parts[0] : concatenated(parts, 1, location), whole, location);
}

}  // namespace graven
