#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "graven/base/strings.h"
#include "graven/ir/emitter.h"
#include "graven/ir/frame.h"
#include "graven/ir/structural_ops.h"
#include "graven/python/apply.h"
#include "graven/python/bind.h"
#include "graven/python/convert.h"
#include "graven/python/errors.h"
#include "graven/python/tensor_object.h"
#include "graven/runtime/eager_builder.h"
#include "graven/tensor/device_queues.h"

namespace nb = nanobind;

namespace graven::python {
namespace {

using engine::DType;
using engine::Result;
using engine::Tensor;

nb::object finish(Result<Tensor> result) {
  PyObject* object = result.ok() ? wrap(std::move(*result)) : raise(result.status());
  if (!object) throw nb::python_error();
  return nb::steal(object);
}

Result<std::optional<DType>> optional_dtype(nb::handle object) {
  if (object.is_none()) return std::optional<DType>();
  ASSIGN_OR_RETURN(DType dtype, to_dtype(object.ptr()));
  return std::optional<DType>(dtype);
}

std::string text_or(nb::handle text, const char* otherwise) {
  return text.is_none() ? otherwise : nb::cast<std::string>(text);
}

// The value under another shape: repeated if it is one element.
Result<Tensor> with_constant_shape(const Tensor& value, const engine::Shape& shape) {
  auto n = shape.checked_num_elements();
  if (!n) {
    return engine::type_error("tf.constant needs a fully known shape, not ", shape.to_text());
  }
  if (*n == value.num_elements()) return value.with_shape(shape);
  if (value.num_elements() != 1) {
    return engine::type_error("tf.constant got a value of ", value.num_elements(),
                              " elements and a shape ", shape.to_text(), " of ", *n, " elements");
  }
  engine::Emitter emit(engine::eager_builder());
  std::vector<int64_t> sizes;
  for (int i = 0; i < shape.rank(); ++i) sizes.push_back(shape.size(i));
  Tensor result = emit(engine::kFill, {Tensor::vector<int64_t>(sizes), value.with_shape({})});
  RETURN_IF_ERROR(emit.status());
  return result;
}

Result<Tensor> constant(nb::handle value, nb::handle dtype, nb::handle shape,
                        std::string_view name) {
  if (engine::Frame::current().is_graph()) RETURN_IF_ERROR(check_node_name(name));
  ASSIGN_OR_RETURN(auto wanted, optional_dtype(dtype));
  if (is_tensor(value.ptr()) && tensor_of(value.ptr()).is_symbolic()) {
    if (wanted && *wanted != tensor_of(value.ptr()).dtype()) {
      return engine::type_error("Expected tensor with dtype tf.", dtype_name(*wanted),
                                ", but got dtype tf.", dtype_name(tensor_of(value.ptr()).dtype()),
                                ".");
    }
    if (!shape.is_none())
      return engine::type_error("tf.constant of a symbolic tensor has no shape");
    return tensor_of(value.ptr());
  }
  if (is_tensor(value.ptr()) && wanted && *wanted != tensor_of(value.ptr()).dtype()) {
    return engine::type_error("Expected tensor with dtype tf.", dtype_name(*wanted),
                              ", but got dtype tf.", dtype_name(tensor_of(value.ptr()).dtype()),
                              ".");
  }
  if (shape.is_none()) {
    if (is_tensor(value.ptr())) return as_operand(tensor_of(value.ptr()), name);
    return to_constant(value.ptr(), wanted, name);
  }
  ASSIGN_OR_RETURN(engine::Shape wanted_shape, to_shape(shape.ptr()));
  ASSIGN_OR_RETURN(Tensor tensor, to_eager_tensor(value.ptr(), wanted));
  ASSIGN_OR_RETURN(Tensor shaped, with_constant_shape(tensor, wanted_shape));
  return as_operand(shaped, name);
}

Result<Tensor> convert(nb::handle value, nb::handle dtype, nb::handle hint, std::string_view name) {
  ASSIGN_OR_RETURN(auto wanted, optional_dtype(dtype));
  if (wanted || hint.is_none()) return to_tensor(value.ptr(), wanted, name);
  ASSIGN_OR_RETURN(auto hinted, optional_dtype(hint));
  return to_tensor_like(value.ptr(), *hinted, name);
}

// A new eager tensor goes to the device that is asked for, if that is there.
Result<Tensor> placed(Result<Tensor> made) {
  if (!engine::has_other_devices() || !made.ok() || made->is_symbolic()) return made;
  const engine::Device* device = engine::Device::find(engine::Frame::current().device);
  return device ? engine::on_device(*made, *device) : std::move(made);
}

// Whether the value is a tensor that a conversion to this dtype, or to any, gives back as it is.
bool stays_itself(nb::handle value, nb::handle dtype) {
  if (!is_tensor(value.ptr())) return false;
  if (dtype.is_none()) return true;
  Result<DType> wanted = to_dtype(dtype.ptr());
  return wanted.ok() && *wanted == tensor_of(value.ptr()).dtype();
}

// The sizes that an int64 vector of a graph holds, as far as they are known.
engine::Shape known_sizes(const Tensor& tensor) {
  const auto& known = engine::symbolic(tensor);
  engine::Shape shape;
  auto add = [&](engine::Dim size) {
    shape.push_back(size.is_number() && size.number() < 0 ? engine::Dim::unknown() : size);
  };
  if (&known.node().op() == engine::kConst.op && tensor.dtype() == DType::kInt64) {
    const Tensor& value = known.node().attrs().as<engine::ConstAttrs>().value;
    for (int64_t size : value.data<int64_t>()) add(engine::Dim(size));
    return shape;
  }
  if (const auto& sizes = known.node().output(known.output().index).sizes) {
    for (engine::Dim size : *sizes) add(size);
    return shape;
  }
  auto count = tensor.shape().has_rank() ? tensor.shape().checked_num_elements() : std::nullopt;
  if (!count || *count > engine::kMaxRank) return engine::Shape::unknown_rank();
  for (int64_t i = 0; i < *count; ++i) shape.push_back(engine::Dim::unknown());
  return shape;
}

constexpr char kConstantDoc[] = R"(Makes a tensor of a value.

Args:
  value: A number, a bool, a string, a NumPy array or an eager tensor, or nested lists of them.
  dtype: The dtype of the tensor; None takes int32, float32, complex128, bool or string of Python's
    values and that of arrays.
  shape: Its shape; None takes that of the value. One element fills any shape.
  name: A name for the node while a function is traced.

Returns:
  An eager tensor; while a function is traced a constant of its graph.

Raises:
  TypeError: The dtype cannot hold the value, or the shape does not fit it.
  ValueError: The lists are of different lengths, or hold tensors (while a function is traced that
    is a TypeError), or there is no such tensor.

Source: tf.constant, OpDef "Const".)";

constexpr char kConvertDoc[] =
    R"(Makes a tensor of what stands for one, and gives tensors back as they are.

Args:
  value: A tensor, a variable, what tf.constant takes, lists that hold tensors, or an object with
    __tf_tensor__.
  dtype: The dtype that it must have; None takes what comes.
  dtype_hint: The dtype that Python's values take if they can.
  name: A name for the node while a function is traced.

Returns:
  A tensor.

Raises:
  TypeError: The dtype cannot hold the value.
  ValueError: A tensor has another dtype, or the value is none.

Source: tf.convert_to_tensor.)";

}  // namespace

void bind_convert(nb::module_& m) {
  m.def(
      "constant",
      [](nb::handle value, nb::handle dtype, nb::handle shape, nb::handle name) {
        const bool is_value = shape.is_none() && !engine::Frame::current().is_graph();
        if (is_value && stays_itself(value, dtype)) return nb::borrow(value);
        return finish(placed(constant(value, dtype, shape, text_or(name, "Const"))));
      },
      nb::arg("value").none(), nb::arg("dtype").none() = nb::none(),
      nb::arg("shape").none() = nb::none(), nb::arg("name").none() = "Const", kConstantDoc);
  m.def(
      "convert_to_tensor",
      [](nb::handle value, nb::handle dtype, nb::handle dtype_hint, nb::handle name) {
        if (stays_itself(value, dtype)) {
          (void)operand_of(value.ptr());  // a graph is told of it
          return nb::borrow(value);
        }
        return finish(placed(convert(value, dtype, dtype_hint, text_or(name, ""))));
      },
      nb::arg("value").none(), nb::arg("dtype").none() = nb::none(),
      nb::arg("dtype_hint").none() = nb::none(), nb::arg("name").none() = nb::none(), kConvertDoc);
  m.def(
      "is_array_like", [](nb::handle object) { return is_array_like(object.ptr()); },
      nb::arg("object").none());
  m.def(
      "known_sizes",
      [](nb::handle tensor) {
        if (!is_tensor(tensor.ptr()) || !tensor_of(tensor.ptr()).is_symbolic()) {
          throw nb::type_error("a symbolic tensor is needed");
        }
        PyObject* shape = wrap(known_sizes(tensor_of(tensor.ptr())));
        if (!shape) throw nb::python_error();
        return nb::steal(shape);
      },
      nb::arg("tensor"));
}

}  // namespace graven::python
