#include "graven/api/tensor.h"

#include <algorithm>
#include <ostream>
#include <utility>

#include "graven/api/location.h"
#include "graven/base/strings.h"
#include "graven/ir/call_sizes.h"
#include "graven/ir/emitter.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph.h"
#include "graven/ops/tensor_text.h"
#include "graven/runtime/eager_builder.h"

namespace graven {
namespace {

using Location = std::source_location;

template <typename T, typename F>
engine::Tensor filled(std::initializer_list<Element> values, F&& get) {
  engine::Tensor made = *engine::Tensor::allocate(engine::kDTypeOf<T>,
                                                  Shape{Dim(static_cast<int64_t>(values.size()))});
  std::transform(values.begin(), values.end(), made.mutable_data<T>().begin(), get);
  return made;
}

template <typename T, typename From>
engine::Tensor matrix_of(std::initializer_list<std::initializer_list<From>> rows,
                         const Location& location) {
  size_t columns = rows.size() == 0 ? 0 : rows.begin()->size();
  engine::Tensor made = *engine::Tensor::allocate(
      engine::kDTypeOf<T>,
      Shape{Dim(static_cast<int64_t>(rows.size())), Dim(static_cast<int64_t>(columns))});
  auto out = made.mutable_data<T>().begin();
  for (const auto& row : rows) {
    if (row.size() != columns) {
      throw_error(engine::value_error("Can't convert non-rectangular sequence to Tensor: rows of ",
                                      columns, " and of ", row.size(), " elements"),
                  location);
    }
    out = std::transform(row.begin(), row.end(), out, [](From v) { return static_cast<T>(v); });
  }
  return made;
}

// How an error names a tensor of a graph that is asked for its value.
std::string symbolic_text(const Tensor& tensor) {
  const engine::SymbolicTensor& symbolic = engine::symbolic(tensor);
  return engine::str_cat(symbolic.node().name(), ":", symbolic.output().index);
}

}  // namespace

namespace internal {

Tensor constant(const engine::Tensor& value, const Location& location) {
  if (value.is_symbolic() || !engine::Frame::current().is_graph()) return value;
  LocationScope scope(location);
  engine::Emitter emitter(engine::current_builder());
  engine::Tensor made = emitter.constant(value);
  throw_if_error(emitter.status(), location);
  return made;
}

}  // namespace internal

Tensor::Tensor(double value, Location location)
    : Tensor(internal::constant(engine::Tensor::scalar(static_cast<float>(value)), location)) {}
Tensor::Tensor(float value, Location location)
    : Tensor(internal::constant(engine::Tensor::scalar(value), location)) {}
Tensor::Tensor(int value, Location location)
    : Tensor(internal::constant(engine::Tensor::scalar<int32_t>(value), location)) {}
Tensor::Tensor(int64_t value, Location location)
    : Tensor(internal::constant(engine::Tensor::scalar(value), location)) {}
Tensor::Tensor(bool value, Location location)
    : Tensor(internal::constant(engine::Tensor::scalar(value), location)) {}
Tensor::Tensor(const char* value, Location location) : Tensor(std::string(value), location) {}
Tensor::Tensor(const std::string& value, Location location)
    : Tensor(internal::constant(engine::Tensor::string_scalar(value), location)) {}
Tensor::Tensor(std::initializer_list<Element> values, Location location)
    : Tensor(internal::constant(vector_of(values, location), location)) {}
Tensor::Tensor(std::initializer_list<std::initializer_list<double>> rows, Location location)
    : Tensor(internal::constant(matrix_of<float>(rows, location), location)) {}
Tensor::Tensor(std::initializer_list<std::initializer_list<int>> rows, Location location)
    : Tensor(internal::constant(matrix_of<int32_t>(rows, location), location)) {}

engine::Tensor Tensor::vector_of(std::initializer_list<Element> values, const Location& location) {
  auto any = [&](auto has) { return std::any_of(values.begin(), values.end(), has); };
  auto all = [&](auto has) { return std::all_of(values.begin(), values.end(), has); };
  if (values.size() == 0) return *engine::Tensor::allocate(DType::kFloat32, Shape{0});
  if (all([](const Element& e) { return e.kind_ == Element::kString; })) {
    return filled<std::string>(values, [](const Element& e) { return std::string(e.text_); });
  }
  if (all([](const Element& e) { return e.kind_ == Element::kBool; })) {
    return filled<bool>(values, [](const Element& e) { return e.integer_ != 0; });
  }
  if (any([](const Element& e) {
        return e.kind_ == Element::kString || e.kind_ == Element::kBool;
      })) {
    throw_error(engine::value_error("Can't convert a list that mixes numbers with texts or truths "
                                    "to a tensor"),
                location);
  }
  if (any([](const Element& e) { return e.kind_ == Element::kFloat; })) {
    return filled<float>(values, [](const Element& e) { return static_cast<float>(e.number_); });
  }
  if (any([](const Element& e) { return !std::in_range<int32_t>(e.integer_); })) {
    return filled<int64_t>(values, [](const Element& e) { return e.integer_; });
  }
  return filled<int32_t>(values, [](const Element& e) { return static_cast<int32_t>(e.integer_); });
}

void Tensor::throw_none(const Location& location) {
  throw_error(engine::value_error("There is no tensor (None), where one is needed"), location);
}

void Tensor::check_is_value(const Location& location) const {
  if (!existing(location).is_symbolic()) return;
  throw_error(engine::Status(Code::kUnimplemented,
                             engine::str_cat("Cannot convert a symbolic tf.Tensor (",
                                             symbolic_text(*this), ") to values"),
                             ErrorKind::kNotImplementedError),
              location);
}

void Tensor::check_values(DType wanted, bool one, const Location& location) const {
  check_is_value(location);
  if (dtype() != wanted) {
    throw_error(engine::type_error("The tensor has dtype ", engine::dtype_name(dtype()),
                                   ", its values were asked for as ", engine::dtype_name(wanted)),
                location);
  }
  if (one && num_elements() != 1) {
    throw_error(engine::value_error("item() needs a tensor of one element, this has shape ",
                                    shape().to_text()),
                location);
  }
}

Tensor::operator bool() const {
  Location nowhere;
  if (is_none())
    throw_error(engine::value_error("There is no tensor, so it has no truth"), nowhere);
  if (is_symbolic()) {
    throw_error(engine::Status(Code::kInvalidArgument,
                               engine::str_cat("Using a symbolic `tf.Tensor` as a C++ `bool` is "
                                               "not allowed: ",
                                               symbolic_text(*this),
                                               " has no value while a function is traced. Ask "
                                               "graven::staged(...), or choose between values with "
                                               "graven::where. See docs/errors/symbolic-tensor.md"),
                               ErrorKind::kOperatorNotAllowedInGraphError),
                nowhere);
  }
  if (num_elements() != 1 || !engine::is_plain(dtype())) {
    throw_error(engine::value_error("The truth value of a tensor of shape ", shape().to_text(),
                                    " and dtype ", engine::dtype_name(dtype()), " is ambiguous"),
                nowhere);
  }
  return engine::visit_plain(dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      return static_cast<float>(engine::Tensor::item<T>()) != 0;
    } else {
      return engine::Tensor::item<T>() != T{};
    }
  });
}

const Shape& Tensor::shape(Location location) const {
  return engine::CallSizes::read_shape(existing(location));
}

std::optional<int64_t> Tensor::size(int axis, Location location) const {
  const engine::Tensor& tensor = existing(location);
  if (!tensor.shape().has_rank()) return std::nullopt;
  const int at = axis < 0 ? axis + tensor.rank() : axis;
  if (at < 0 || at >= tensor.rank()) {
    throw_error(engine::value_error("axis ", axis, " is out of valid range [", -tensor.rank(), ", ",
                                    tensor.rank(), ")"),
                location);
  }
  return engine::CallSizes::read(tensor, at);
}

std::string Tensor::to_string() const {
  if (is_none()) return "None";
  if (is_symbolic()) {
    return engine::str_cat("Tensor(\"", symbolic_text(*this), "\", shape=", shape().to_text(),
                           ", dtype=", engine::dtype_name(dtype()), ")");
  }
  std::string elements = engine::elements_text(*this);
  bool is_block = elements.find('\n') != std::string::npos;
  return engine::str_cat("tf.Tensor(", is_block ? "\n" : "", elements,
                         ", shape=", shape().to_text(), ", dtype=", engine::dtype_name(dtype()),
                         ")");
}

std::string Tensor::repr() const {
  if (is_none()) return "None";
  if (is_symbolic()) {
    return engine::str_cat("<tf.Tensor '", symbolic_text(*this), "' shape=", shape().to_text(),
                           " dtype=", engine::dtype_name(dtype()), ">");
  }
  std::string elements = engine::elements_repr(*this);
  bool is_block = elements.find('\n') != std::string::npos;
  return engine::str_cat("<tf.Tensor: shape=", shape().to_text(),
                         ", dtype=", engine::dtype_name(dtype()), ", numpy=", is_block ? "\n" : "",
                         elements, ">");
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << tensor.to_string();
}

}  // namespace graven
