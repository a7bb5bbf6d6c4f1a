#pragma once
#include "graven/ir/op.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {

// Element by element. Binary ops broadcast.

// Dtypes of functions that TensorFlow does not compute in half or bfloat16.
inline constexpr DTypeSet kWideFloats = {DType::kFloat32, DType::kFloat64};

// --- unary_math_ops.cc: x -> y. The ...Grad ops take y and dy.
GRAVEN_API inline OpHandle<NoAttrs> kNeg, kAbs, kSign, kSquare, kSqrt, kRsqrt, kReciprocal, kInv;
GRAVEN_API inline OpHandle<NoAttrs> kSqrtGrad, kRsqrtGrad, kReciprocalGrad, kInvGrad;
GRAVEN_API inline OpHandle<NoAttrs> kExp, kExpm1, kLog, kLog1p, kSigmoid, kSigmoidGrad;
GRAVEN_API inline OpHandle<NoAttrs> kSin, kCos, kTan, kAsin, kAcos, kAtan;
GRAVEN_API inline OpHandle<NoAttrs> kSinh, kCosh, kTanh, kTanhGrad, kAsinh, kAcosh, kAtanh;
GRAVEN_API inline OpHandle<NoAttrs> kErf, kErfc, kErfinv, kNdtri, kLgamma, kDigamma;
GRAVEN_API inline OpHandle<NoAttrs> kFloor, kCeil, kRint, kRound, kIsNan, kIsInf, kIsFinite;

// --- binary_math_ops.cc: x, y -> z.
GRAVEN_API inline OpHandle<NoAttrs> kAdd, kMul, kMulNoNan, kSquaredDifference;
GRAVEN_API inline OpHandle<NoAttrs> kRealDiv, kDiv, kTruncateDiv, kFloorDiv, kDivNoNan;
GRAVEN_API inline OpHandle<NoAttrs> kFloorMod, kMod, kTruncateMod, kXdivy, kXlogy, kXlog1py;
GRAVEN_API inline OpHandle<NoAttrs> kMaximum, kMinimum, kPow, kAtan2, kNextAfter;
GRAVEN_API inline OpHandle<NoAttrs> kClipByValue;  // t, clip_value_min, clip_value_max -> output
GRAVEN_API inline OpHandle<NoAttrs> kZeta;         // x, q -> z
GRAVEN_API inline OpHandle<NoAttrs> kPolygamma;    // a, x -> z

// --- complex_ops.cc.
struct RealPartAttrs {
  DType Tout = DType::kFloat32;  // the dtype of the parts of the input's dtype
  static constexpr auto fields() { return std::tuple(field("Tout", &RealPartAttrs::Tout)); }
};
GRAVEN_API inline OpHandle<RealPartAttrs> kReal, kImag, kAngle, kComplexAbs;  // input -> output

struct ComplexAttrs {
  DType Tout = DType::kComplex64;  // the dtype whose parts have the dtype of the inputs
  static constexpr auto fields() { return std::tuple(field("Tout", &ComplexAttrs::Tout)); }
};
GRAVEN_API inline OpHandle<ComplexAttrs> kComplex;  // real, imag -> out
GRAVEN_API inline OpHandle<NoAttrs> kConj;          // input -> output

}  // namespace graven::engine
