#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "graven/ir/structural_ops.h"
#include "graven/library/arithmetic.h"
#include "graven/ops/linear_algebra_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/python/apply.h"
#include "graven/python/convert.h"
#include "graven/python/errors.h"
#include "graven/python/numpy.h"
#include "graven/python/object.h"
#include "graven/python/replay.h"
#include "graven/python/tensor_object.h"
#include "graven/python/variable_object.h"
#include "graven/tensor/device_queues.h"

namespace graven::python {
namespace {

using engine::DType;
using engine::Result;
using engine::Status;
using engine::Tensor;

Result<Tensor> cast(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  return apply_op(engine::kCast, {x}, engine::CastAttrs{dtype}, "Cast");
}

using BinaryFunction = Result<Tensor> (*)(const Tensor& x, const Tensor& y, std::string_view name);

template <const auto& kOp>
Result<Tensor> plain(const Tensor& x, const Tensor& y, std::string_view name) {
  return apply_op(kOp, {x, y}, {}, name);
}

Result<Tensor> add(const Tensor& x, const Tensor& y, std::string_view name) {
  if (x.dtype() == DType::kString) return plain<engine::kAdd>(x, y, name);
  return plain<engine::kAddV2>(x, y, name);
}

// Bools are multiplied as int32.
Result<Tensor> multiply(const Tensor& x, const Tensor& y, std::string_view name) {
  if (x.dtype() != DType::kBool || y.dtype() != DType::kBool) {
    return plain<engine::kMul>(x, y, name);
  }
  ASSIGN_OR_RETURN(Tensor a, cast(x, DType::kInt32));
  ASSIGN_OR_RETURN(Tensor b, cast(y, DType::kInt32));
  ASSIGN_OR_RETURN(Tensor product, plain<engine::kMul>(a, b, name));
  return cast(product, DType::kBool);
}

Result<Tensor> true_divide(const Tensor& x, const Tensor& y, std::string_view name) {
  RETURN_IF_ERROR(engine::check_division(x.dtype(), y.dtype()));
  const DType dtype = engine::quotient_type(x.dtype());
  if (dtype == x.dtype()) return plain<engine::kRealDiv>(x, y, name);
  ASSIGN_OR_RETURN(Tensor a, cast(x, dtype));
  ASSIGN_OR_RETURN(Tensor b, cast(y, dtype));
  return plain<engine::kRealDiv>(a, b, name);
}

Result<Tensor> matmul(const Tensor& x, const Tensor& y, std::string_view name) {
  return engine::are_matrices(x, y) ? plain<engine::kMatMul>(x, y, name)
                                    : plain<engine::kBatchMatMulV2>(x, y, name);
}

// On bools the logical op is the node of the operator's name, on integers the bitwise one lies in
// its scope.
template <const auto& kLogical, const auto& kBitwise>
Result<Tensor> logical(const Tensor& x, const Tensor& y, std::string_view name) {
  if (x.dtype() == DType::kBool) return plain<kLogical>(x, y, name);
  return plain<kBitwise>(x, y, {});
}

Result<Tensor> logical_xor(const Tensor& x, const Tensor& y, std::string_view name) {
  if (x.dtype() != DType::kBool) return plain<engine::kBitwiseXor>(x, y, {});
  ASSIGN_OR_RETURN(Tensor either, plain<engine::kLogicalOr>(x, y, {}));
  ASSIGN_OR_RETURN(Tensor both, plain<engine::kLogicalAnd>(x, y, {}));
  ASSIGN_OR_RETURN(Tensor not_both, apply_op(engine::kLogicalNot, {both}));
  return plain<engine::kLogicalAnd>(either, not_both, name);
}

// One operator: its function, and the names of its nodes in a graph.
struct Operator {
  BinaryFunction apply;
  const char* scope;
  const char *x, *y;        // names of Python operands
  const char* reflected;    // the method of an operand on the right that knows tensors, if any
  bool takes_other_dtypes;  // int + 1.5 is tried as int + float (and refused by the op)
};

bool is_operand(PyObject* object) {
  return is_tensor(object) || (variable_base_type && is_variable(object));
}

Result<Tensor> operand(PyObject* object, std::string_view name) {
  if (is_tensor(object)) return operand_of(object);
  return to_tensor(object, std::nullopt, name);
}

Result<Tensor> apply_operator(const Operator& op, PyObject* a, PyObject* b) {
  NodeScope scope(op.scope);
  if (is_operand(a)) {
    ASSIGN_OR_RETURN(Tensor x, operand(a, op.x));
    ASSIGN_OR_RETURN(Tensor y, op.takes_other_dtypes ? to_tensor_like(b, x.dtype(), op.y)
                               : is_tensor(b)        ? Result<Tensor>(operand_of(b))
                               : is_operand(b)       ? operand(b, op.y)
                                                     : to_tensor(b, x.dtype(), op.y));
    return op.apply(x, y, scope.name());
  }
  ASSIGN_OR_RETURN(Tensor y, operand(b, op.y));
  ASSIGN_OR_RETURN(Tensor x, to_tensor(a, y.dtype(), op.x));
  return op.apply(x, y, scope.name());
}

PyObject* finish(Result<Tensor> result) {
  return result.ok() ? wrap(std::move(*result)) : raise(result.status());
}

// Objects that know how to treat tensors themselves come first (TensorFlow's own rule).
bool declines(PyObject* a, PyObject* b) {
  for (PyObject* object : {a, b}) {
    PyTypeObject* type = Py_TYPE(object);
    if (type == eager_tensor_type || type == symbolic_tensor_type || type == &PyFloat_Type ||
        type == &PyLong_Type) {
      continue;
    }
    if (PyType_Check(object)) return true;
    if (is_operand(object)) continue;
    Object priority = Object::take(run_python<PyObject_GetAttrString>(
        reinterpret_cast<PyObject*>(type), "__array_priority__"));
    if (!priority) {
      PyErr_Clear();
      continue;
    }
    double value = PyFloat_AsDouble(priority.get());
    if (PyErr_Occurred()) PyErr_Clear();
    if (value > 100) return true;
  }
  return false;
}

// Calls the own operator of an object that stands on the right of a tensor and cannot be converted.
// If it has none, declines or fails in the same way, the first error is raised.
PyObject* reflect(const Operator& op, PyObject* a, PyObject* b, const Status& status) {
  const bool is_refused = status.kind() == engine::ErrorKind::kTypeError ||
                          status.kind() == engine::ErrorKind::kValueError;
  if (!is_refused || !op.reflected || !is_operand(a) || is_operand(b) || is_numpy(b)) {
    return raise(status);
  }
  Object method = Object::take(
      run_python<PyObject_GetAttrString>(reinterpret_cast<PyObject*>(Py_TYPE(b)), op.reflected));
  if (!method) {
    PyErr_Clear();
    return raise(status);
  }
  Object result =
      Object::take(run_python<PyObject_CallFunctionObjArgs>(method.get(), b, a, nullptr));
  if (result) return result.get() == Py_NotImplemented ? raise(status) : result.release();
  if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError)) {
    return nullptr;
  }
  PyErr_Clear();
  return raise(status);
}

template <const Operator& kOperator>
PyObject* binary(PyObject* a, PyObject* b) {
  if (declines(a, b)) Py_RETURN_NOTIMPLEMENTED;
  Result<Tensor> result = apply_operator(kOperator, a, b);
  return result.ok() ? wrap(std::move(*result)) : reflect(kOperator, a, b, result.status());
}

constexpr Operator kAddOperator{add, "add", "x", "y", "__radd__", true};
constexpr Operator kSubOperator{plain<engine::kSub>, "sub", "x", "y", "__rsub__", false};
constexpr Operator kMulOperator{multiply, "mul", "x", "y", "__rmul__", false};
constexpr Operator kDivOperator{true_divide, "truediv", "x", "y", "__rtruediv__", false};
constexpr Operator kFloorDivOperator{plain<engine::kFloorDiv>, "floordiv", "x", "y",
                                     "__rfloordiv__",          false};
constexpr Operator kModOperator{plain<engine::kFloorMod>, "mod", "x", "y", "__rmod__", false};
constexpr Operator kPowOperator{plain<engine::kPow>, "pow", "x", "y", "__rpow__", false};
constexpr Operator kMatMulOperator{matmul, "matmul", "a", "b", "__rmatmul__", false};
constexpr Operator kAndOperator{
    logical<engine::kLogicalAnd, engine::kBitwiseAnd>, "and", "x", "y", "__rand__", false};
constexpr Operator kOrOperator{
    logical<engine::kLogicalOr, engine::kBitwiseOr>, "or", "x", "y", "__ror__", false};
constexpr Operator kXorOperator{logical_xor, "xor", "x", "y", "__rxor__", false};
constexpr Operator kLessOperator{plain<engine::kLess>, "Less", "x", "y", nullptr, false};
constexpr Operator kLessEqualOperator{
    plain<engine::kLessEqual>, "LessEqual", "x", "y", nullptr, false};
constexpr Operator kGreaterOperator{plain<engine::kGreater>, "Greater", "x", "y", nullptr, false};
constexpr Operator kGreaterEqualOperator{
    plain<engine::kGreaterEqual>, "GreaterEqual", "x", "y", nullptr, false};
constexpr Operator kEqualOperator{plain<engine::kEqual>, "Equal", "x", "y", nullptr, false};
constexpr Operator kNotEqualOperator{
    plain<engine::kNotEqual>, "NotEqual", "x", "y", nullptr, false};

PyObject* power(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) {
    PyErr_SetString(PyExc_TypeError, "pow() of a tensor takes no modulus");
    return nullptr;
  }
  return binary<kPowOperator>(a, b);
}

template <const auto& kOp>
PyObject* unary(PyObject* self) {
  return finish(apply_op(kOp, {operand_of(self)}));
}

PyObject* invert(PyObject* self) {
  return tensor_of(self).dtype() == DType::kBool ? unary<engine::kLogicalNot>(self)
                                                 : unary<engine::kInvert>(self);
}

PyObject* absolute(PyObject* self) {
  const DType dtype = tensor_of(self).dtype();
  if (!is_complex(dtype)) return unary<engine::kAbs>(self);
  return finish(
      apply_op(engine::kComplexAbs, {operand_of(self)}, {engine::real_part_type(dtype)}, "Abs"));
}

template <typename F>
auto visit_element(const Tensor& tensor, F&& f) {
  Tensor copy;
  if (!tensor.device().is_host()) copy = *engine::on_device(tensor, engine::Device::host());
  const Tensor& here = copy ? copy : tensor;
  return visit_plain(tensor.dtype(), [&](auto zero) { return f(here.item<decltype(zero)>()); });
}

int truth(PyObject* self) {
  const Tensor& tensor = tensor_of(self);
  if (tensor.is_symbolic()) {
    if (Object oracle = Object::borrow(truth_oracle); oracle) {
      Object answer = Object::take(run_python<PyObject_CallOneArg>(oracle.get(), self));
      if (!answer) return -1;
      if (answer.get() != Py_NotImplemented) return answer.get() == Py_True;
    }
    raise(
        Status(engine::Code::kInvalidArgument,
               "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed: it has no value "
               "while a function is traced, and AutoGraph does not convert this place: a function "
               "with autograph=False or do_not_convert, an assert, a comprehension, code of a "
               "library. Choose between values with tf.where, or write an `if` in a function "
               "that is converted. See docs/errors/symbolic-tensor.md",
               engine::ErrorKind::kOperatorNotAllowedInGraphError));
    return -1;
  }
  if (tensor.num_elements() == 0) return 0;
  if (tensor.num_elements() != 1) {
    PyErr_SetString(PyExc_ValueError,
                    "The truth value of an array with more than one element is ambiguous. Use "
                    "a.any() or a.all()");
    return -1;
  }
  if (tensor.dtype() == DType::kString) return !tensor.item<std::string>().empty();
  if (!is_plain(tensor.dtype())) return 1;
  return visit_element(tensor, [](auto value) { return value == decltype(value)() ? 0 : 1; });
}

constexpr char kUseCast[] = "Use tf.cast to change its dtype, or pass a Python number";

// The one element as a Python number; null without an exception if the tensor is no number.
Object number_of(PyObject* self, const char* wanted, const char* advice) {
  const Tensor& tensor = tensor_of(self);
  if (tensor.is_symbolic()) {
    PyErr_Format(PyExc_TypeError,
                 "%s is not possible: it has no value while a function is traced. %s. See "
                 "docs/errors/symbolic-tensor.md",
                 wanted, advice);
    return {};
  }
  if (tensor.rank() != 0) {
    PyErr_SetString(PyExc_TypeError,
                    "only 0-dimensional arrays can be converted to Python scalars");
    return {};
  }
  if (tensor.dtype() == DType::kString) {
    const auto& text = tensor.item<std::string>();
    return Object::take(
        PyBytes_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
  }
  if (!is_plain(tensor.dtype())) {
    PyErr_Format(PyExc_TypeError, "a tensor of dtype %s is no number",
                 std::string(dtype_name(tensor.dtype())).c_str());
    return {};
  }
  return visit_element(tensor, [](auto value) {
    using T = decltype(value);
    if constexpr (std::is_same_v<T, bool>) {
      return Object::take(PyBool_FromLong(value));
    } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      return Object::take(PyLong_FromLongLong(value));
    } else if constexpr (std::is_integral_v<T>) {
      return Object::take(PyLong_FromUnsignedLongLong(value));
    } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                         std::is_same_v<T, std::complex<double>>) {
      return Object::take(PyComplex_FromDoubles(value.real(), value.imag()));
    } else if constexpr (std::is_same_v<T, double>) {
      return Object::take(PyFloat_FromDouble(value));
    } else {
      return Object::take(PyFloat_FromDouble(static_cast<float>(value)));
    }
  });
}

// The number for int() and float(): of a complex one NumPy's scalar, which gives its real part,
// with a warning.
Object real_number_of(PyObject* self, const char* wanted) {
  Object number = number_of(self, wanted, kUseCast);
  return number && PyComplex_Check(number.get()) ? Object::take(to_numpy(tensor_of(self))) : number;
}

PyObject* to_int(PyObject* self) {
  Object number = real_number_of(self, "int() of a symbolic tensor");
  return number ? run_python<PyNumber_Long>(number.get()) : nullptr;
}

PyObject* to_float(PyObject* self) {
  Object number = real_number_of(self, "float() of a symbolic tensor");
  return number ? run_python<PyNumber_Float>(number.get()) : nullptr;
}

PyObject* to_index(PyObject* self) {
  const Tensor& tensor = tensor_of(self);
  if (!tensor.is_symbolic() && !is_integer(tensor.dtype())) {
    PyErr_Format(PyExc_TypeError, "a tensor of dtype %s cannot be used as an index",
                 std::string(dtype_name(tensor.dtype())).c_str());
    return nullptr;
  }
  return number_of(self, "Using a symbolic tensor as an index or in range()",
                   "Use tf.gather to pick elements and tf.range for a range of numbers, or pass a "
                   "Python number")
      .release();
}

}  // namespace

PyType_Slot tensor_operator_slots[] = {
    {Py_nb_add, reinterpret_cast<void*>(binary<kAddOperator>)},
    {Py_nb_subtract, reinterpret_cast<void*>(binary<kSubOperator>)},
    {Py_nb_multiply, reinterpret_cast<void*>(binary<kMulOperator>)},
    {Py_nb_true_divide, reinterpret_cast<void*>(binary<kDivOperator>)},
    {Py_nb_floor_divide, reinterpret_cast<void*>(binary<kFloorDivOperator>)},
    {Py_nb_remainder, reinterpret_cast<void*>(binary<kModOperator>)},
    {Py_nb_power, reinterpret_cast<void*>(power)},
    {Py_nb_matrix_multiply, reinterpret_cast<void*>(binary<kMatMulOperator>)},
    {Py_nb_and, reinterpret_cast<void*>(binary<kAndOperator>)},
    {Py_nb_or, reinterpret_cast<void*>(binary<kOrOperator>)},
    {Py_nb_xor, reinterpret_cast<void*>(binary<kXorOperator>)},
    {Py_nb_negative, reinterpret_cast<void*>(unary<engine::kNeg>)},
    {Py_nb_absolute, reinterpret_cast<void*>(absolute)},
    {Py_nb_invert, reinterpret_cast<void*>(invert)},
    {Py_nb_bool, reinterpret_cast<void*>(truth)},
    {Py_nb_int, reinterpret_cast<void*>(to_int)},
    {Py_nb_float, reinterpret_cast<void*>(to_float)},
    {Py_nb_index, reinterpret_cast<void*>(to_index)},
    {0, nullptr}};

PyObject* tensor_compare(PyObject* a, PyObject* b, int comparison) {
  bool is_equality = comparison == Py_EQ || comparison == Py_NE;
  if (is_equality && b == Py_None) return PyBool_FromLong(comparison == Py_NE);
  if (declines(a, b)) Py_RETURN_NOTIMPLEMENTED;
  static constexpr std::array<const Operator*, 6> kOperators = {
      &kLessOperator,     &kLessEqualOperator, &kEqualOperator,
      &kNotEqualOperator, &kGreaterOperator,   &kGreaterEqualOperator};
  auto result = apply_operator(*kOperators[comparison], a, b);
  if (result.ok() || !is_equality) return finish(std::move(result));
  // Shapes that do not broadcast are simply unequal.
  if (is_tensor(a)) {
    auto other =
        is_tensor(b) ? Result<Tensor>(tensor_of(b)) : to_eager_tensor(b, tensor_of(a).dtype());
    if (other.ok() && !other->is_symbolic() && !tensor_of(a).is_symbolic() &&
        other->dtype() == tensor_of(a).dtype()) {
      const auto &x = tensor_of(a).shape(), &y = other->shape();
      for (int i = 1; i <= std::min(x.rank(), y.rank()); ++i) {
        int64_t m = x.size(x.rank() - i), n = y.size(y.rank() - i);
        if (m != n && m != 1 && n != 1) return wrap(Tensor::scalar(comparison == Py_NE));
      }
    }
  }
  return raise(result.status());
}

}  // namespace graven::python
