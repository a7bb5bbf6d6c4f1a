#include <numbers>
#include <string>
#include <utility>

#include "graven/ir/structural_ops.h"
#include "graven/library/arithmetic.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/nn_ops.h"

namespace graven::engine {
namespace {

// --- x and y.

struct Pair {
  Tensor x, y;
};
template <typename P>
constexpr auto pair_fields(std::string_view type_of_x, std::string_view type_of_y,
                           std::string_view doc) {
  return std::tuple(required_field("x", &P::x, type_of_x, doc),
                    required_field("y", &P::y, type_of_y, "The same dtype; the shapes broadcast."));
}
// y takes the dtype of x where it can.
struct AddParameters : Pair {
  static constexpr auto fields() {
    return pair_fields<AddParameters>("T", "like T", "Of any shape.");
  }
};
// Each takes the dtype of the other one.
struct DivideParameters : Pair {
  static constexpr auto fields() {
    return pair_fields<DivideParameters>("mutual T", "T", "Of any shape.");
  }
};
struct EqualParameters : Pair {
  static constexpr auto fields() {
    return pair_fields<EqualParameters>("T", "T", "Of any dtype and shape.");
  }
};
struct LogicalParameters : Pair {
  static constexpr auto fields() { return pair_fields<LogicalParameters>("bool", "bool", "bool."); }
};

Outputs add(FunctionContext& c, const AddParameters& p) {
  return c(p.x.dtype() == DType::kString ? kAdd : kAddV2, {p.x, p.y}, {}, c.name());
}

constexpr Raised kDoNotFit = {"InvalidArgumentError", "The dtypes differ, or the shapes."};

Outputs quotient(FunctionContext& c, const OpHandle<NoAttrs>& op, const Pair& p) {
  Status status = check_division(p.x.dtype(), p.y.dtype());
  if (!status.ok()) return c.fail(std::move(status));
  const DType dtype = quotient_type(p.x.dtype());
  if (dtype == p.x.dtype()) return c(op, {p.x, p.y}, {}, c.name());
  return c(op, {c.cast(p.x, dtype), c.cast(p.y, dtype)}, {}, c.name());
}

constexpr const char* kQuotients =
    "The quotients; float64 of int32 and int64, float32 of shorter integers.";

constexpr Raised kNoQuotient = {"TypeError", "The dtypes differ, or are bool or string."};

void define_add_and_divide(FunctionRegistry& functions) {
  functions.define({
      .names = "math.add, add",
      .scope = "Add",
      .types = {{"T", kNumberTypes | DTypeSet{DType::kString}}},
      .summary = "x + y, element by element; strings are joined.",
      .returns = "The sums.",
      .raises = {kDoNotFit},
      .source = "OpDefs \"AddV2\" and \"Add\"",
      .body = add,
  });
  functions.define({
      .names = "math.divide, divide",
      .scope = "truediv",
      .types = {{"T", kNumberTypes}},
      .summary = "x / y as Python divides: integers as floats.",
      .returns = kQuotients,
      .raises = {kNoQuotient},
      .body = [](FunctionContext& c,
                 const DivideParameters& p) { return quotient(c, kRealDiv, p); },
  });
}

Outputs logical_xor(FunctionContext& c, const LogicalParameters& p) {
  const Tensor either = c(kLogicalOr, {p.x, p.y}), both = c(kLogicalAnd, {p.x, p.y});
  return c(kLogicalAnd, {either, c(kLogicalNot, {both})}, {}, c.name());
}

void define_truediv_and_kin(FunctionRegistry& functions) {
  functions.define({
      .names = "math.truediv, truediv",
      .scope = "truediv",
      .types = {{"T", kNumberTypes}},
      .summary = "x / y as Python divides: integers as floats.",
      .details = "As divide, but x does not take the dtype of y.",
      .returns = kQuotients,
      .raises = {kNoQuotient},
      .body = [](FunctionContext& c, const AddParameters& p) { return quotient(c, kRealDiv, p); },
  });
  functions.define({
      .names = "math.divide_no_nan",
      .scope = "div_no_nan",
      .types = {{"T", kNumberTypes}},
      .summary = "x / y, element by element, and 0 where y is 0.",
      .returns = kQuotients,
      .raises = {kNoQuotient},
      .source = "OpDef \"DivNoNan\"",
      .body = [](FunctionContext& c,
                 const DivideParameters& p) { return quotient(c, kDivNoNan, p); },
  });
  functions.define({
      .names = "math.equal, equal",
      .scope = "Equal",
      .summary = "x == y, element by element.",
      .returns = "bool.",
      .raises = {kDoNotFit},
      .source = "OpDef \"Equal\"",
      .body =
          [](FunctionContext& c, const EqualParameters& p) {
            return c(kEqual, {p.x, p.y}, {}, c.name());
          },
  });
  functions.define({
      .names = "math.not_equal, not_equal",
      .scope = "NotEqual",
      .summary = "x != y, element by element.",
      .returns = "bool.",
      .raises = {kDoNotFit},
      .source = "OpDef \"NotEqual\"",
      .body =
          [](FunctionContext& c, const EqualParameters& p) {
            return c(kNotEqual, {p.x, p.y}, {}, c.name());
          },
  });
  functions.define({
      .names = "math.logical_xor",
      .scope = "LogicalXor",
      .summary = "Whether one of x and y holds and the other does not.",
      .returns = "bool.",
      .raises = {kDoNotFit},
      .body = logical_xor,
  });
}

struct PolyvalParameters {
  TensorList coeffs;
  Tensor x;
  static constexpr auto fields() {
    using P = PolyvalParameters;
    return std::tuple(
        required_field("coeffs", &P::coeffs, "any", "The coefficients, the highest power first."),
        required_field("x", &P::x, "any", "Numbers of their dtype, of any shape."));
  }
};

// By Horner's rule.
Outputs polyval(FunctionContext& c, const PolyvalParameters& p) {
  if (!p.coeffs.is_list) {
    return c.fail(value_error("Argument coeffs must be list type. Received type Tensor."));
  }
  const auto& coeffs = p.coeffs.tensors;
  if (coeffs.empty()) return c(kZerosLike, {p.x}, {}, c.name());
  Formula value = c(coeffs[0]), x = c(p.x);
  for (size_t i = 1; i < coeffs.size(); ++i) value = c(coeffs[i]) + value * x;
  return value;
}

struct ScalarMulParameters {
  Tensor scalar, x;
  static constexpr auto fields() {
    using P = ScalarMulParameters;
    return std::tuple(
        required_field("scalar", &P::scalar, "mutual T", "A scalar of x's dtype."),
        required_field("x", &P::x, "T", "Of any shape; IndexedSlices stay what they are."));
  }
};

Outputs scalar_mul(FunctionContext& c, const ScalarMulParameters& p) {
  if (p.scalar.dtype() != p.x.dtype()) {
    return c.fail(value_error("Tensor conversion requested dtype ", dtype_name(p.x.dtype()),
                              " for Tensor with dtype ", dtype_name(p.scalar.dtype())));
  }
  if (c.rank_if_known(p.scalar).value_or(0) != 0) {
    return c.fail(value_error("The input scalar must be a 0-D value. Received shape ",
                              p.scalar.shape().to_text(), "."));
  }
  return c(kMul, {p.scalar, p.x}, {}, c.name());
}

void define_polyval_and_scalar_mul(FunctionRegistry& functions) {
  functions.define({
      .names = "math.polyval",
      .scope = "polyval",
      .summary = "Evaluates a polynomial, element by element.",
      .returns = "The values; 0 without coefficients.",
      .raises = {{"ValueError", "coeffs is no list."},
                 {"InvalidArgumentError", "The dtypes differ, or the shapes do not broadcast."}},
      .body = polyval,
  });
  functions.define({
      .names = "math.scalar_mul, scalar_mul",
      .scope = "scalar_mul",
      .types = {{"T", kNumberTypes}},
      .summary = "Multiplies a tensor by a scalar.",
      .returns = "The products, as x was given.",
      .raises = {{"ValueError", "The scalar has axes, or another dtype."}},
      .source = "OpDef \"Mul\"",
      .body = scalar_mul,
  });
}

// --- Functions of one tensor, named x or input.

struct XParameters {
  Tensor x;
  static constexpr auto fields() {
    return std::tuple(required_field("x", &XParameters::x, "T", "The numbers, of any shape."));
  }
};
struct InputParameters {
  Tensor input;
  static constexpr auto fields() {
    return std::tuple(
        required_field("input", &InputParameters::input, "T", "The numbers, of any shape."));
  }
};

// A real part of complex numbers.
Tensor part(FunctionContext& c, const OpHandle<RealPartAttrs>& op, const Tensor& x) {
  return c(op, {x}, {.Tout = real_part_type(x.dtype())}, c.name());
}

Outputs real(FunctionContext& c, const InputParameters& p) {
  if (is_complex(p.input.dtype())) return part(c, kReal, p.input);
  if (kNumberTypes.contains(p.input.dtype())) return p.input;
  return c.fail(type_error("input must be a numeric tensor, but got tensor with dtype ",
                           dtype_name(p.input.dtype())));
}

struct ComplexParameters {
  Tensor real, imag;
  static constexpr auto fields() {
    using P = ComplexParameters;
    return std::tuple(
        required_field("real", &P::real, "any", "float32 or float64."),
        required_field("imag", &P::imag, "any", "The same dtype; the shapes broadcast."));
  }
};

Outputs complex(FunctionContext& c, const ComplexParameters& p) {
  const DType dtype = p.real.dtype();
  if (dtype != p.imag.dtype() || (dtype != DType::kFloat32 && dtype != DType::kFloat64)) {
    return c.fail(
        type_error("The `real` and `imag` components have incorrect types: ", dtype_name(dtype),
                   " ", dtype_name(p.imag.dtype()), ". They must both be float32, or float64."));
  }
  const DType both = dtype == DType::kFloat32 ? DType::kComplex64 : DType::kComplex128;
  return c(kComplex, {p.real, p.imag}, {.Tout = both}, c.name());
}

void define_abs_and_real(FunctionRegistry& functions) {
  functions.define({
      .names = "math.abs, abs",
      .scope = "Abs",
      .types = {{"T", kSignedIntTypes | kDifferentiableTypes}},
      .summary = "|x|, element by element; of complex numbers a real number.",
      .returns = "The absolute values.",
      .source = "OpDefs \"Abs\" and \"ComplexAbs\"",
      .body = [](FunctionContext& c, const XParameters& p) -> Outputs {
        return is_complex(p.x.dtype()) ? part(c, kComplexAbs, p.x) : c(kAbs, {p.x}, {}, c.name());
      },
  });
  functions.define({
      .names = "math.real",
      .scope = "Real",
      .types = {{"T", kNumberTypes}},
      .summary = "The real part, element by element.",
      .returns = "The real dtype; a real input itself.",
      .raises = {{"TypeError", "The input is bool or string."}},
      .source = "OpDef \"Real\"",
      .body = real,
  });
}

Outputs angle(FunctionContext& c, const InputParameters& p) {
  const DType dtype = p.input.dtype();
  if (is_complex(dtype)) return part(c, kAngle, p.input);
  if (!is_floating(dtype)) {
    return c.fail(type_error("Cannot convert ", std::numbers::pi, " to a tensor of dtype ",
                             dtype_name(dtype)));
  }
  const Tensor zero = c.zero(dtype), is_negative = c(kLess, {p.input, zero});
  return c(kSelectV2, {is_negative, c.scalar(std::numbers::pi, dtype), zero}, {}, c.name());
}

Outputs conjugate(FunctionContext& c, const XParameters& p) {
  if (is_complex(p.x.dtype())) return c(kConj, {p.x}, {}, c.name());
  if (kNumberTypes.contains(p.x.dtype())) return p.x;
  return c.fail(type_error("Expected numeric or variant tensor, got dtype tf.",
                           dtype_name(p.x.dtype()), "."));
}

void define_imag_and_kin(FunctionRegistry& functions) {
  functions.define({
      .names = "math.imag",
      .scope = "Imag",
      .summary = "The imaginary part, element by element.",
      .returns = "The real dtype; zeros for a real input.",
      .source = "OpDef \"Imag\"",
      .body = [](FunctionContext& c, const InputParameters& p) -> Outputs {
        return is_complex(p.input.dtype()) ? part(c, kImag, p.input)
                                           : c(kZerosLike, {p.input}, {}, c.name());
      },
  });
  functions.define({
      .names = "math.angle",
      .scope = "Angle",
      .types = {{"T", kFloatTypes | kComplexTypes}},
      .summary = "The angle of complex numbers, element by element.",
      .returns = "The real dtype, in [-pi, pi]; 0 or pi for a real input.",
      .raises = {{"TypeError", "The input is neither floating nor complex."}},
      .source = "OpDef \"Angle\"",
      .body = angle,
  });
  functions.define({
      .names = "math.conj",
      .scope = "Conj",
      .types = {{"T", kNumberTypes}},
      .summary = "The complex conjugate, element by element.",
      .returns = "The conjugates; a real x itself.",
      .raises = {{"TypeError", "x is bool or string."}},
      .source = "OpDef \"Conj\"",
      .body = conjugate,
  });
  functions.define({
      .names = "complex, dtypes.complex",
      .scope = "Complex",
      .summary = "Complex numbers of their two parts, element by element.",
      .returns = "complex64 or complex128.",
      .raises = {{"TypeError", "The parts are not both float32, or float64."}},
      .source = "OpDef \"Complex\"",
      .body = complex,
  });
  functions.define({
      .names = "math.log_sigmoid",
      .scope = "LogSigmoid",
      .types = {{"T", kFloatTypes}},
      .summary = "log(sigmoid(x)), element by element, without overflow.",
      .returns = "The logarithms.",
      .body = [](FunctionContext& c, const XParameters& p) -> Outputs {
        return c(kNeg, {call(kSoftplus, -c(p.x))}, {}, c.name());
      },
  });
}

}  // namespace

void define_numbers(FunctionRegistry& functions) {
  define_add_and_divide(functions);
  define_truediv_and_kin(functions);
  define_polyval_and_scalar_mul(functions);
  define_abs_and_real(functions);
  define_imag_and_kin(functions);
}

}  // namespace graven::engine
