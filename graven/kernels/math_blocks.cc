// Elementary and special functions of floats.
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graven/kernels/math_blocks.cc"
#include "hwy/foreach_target.h"
//
#include "graven/kernels/block_functions.h"
#include "graven/kernels/simd_target.h"
#include "graven/kernels/special_functions.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace graven::engine::HWY_NAMESPACE {
namespace {

template <typename T, double (*kFunction)(double)>
void one(void* out, const void* a, const void*, const void*, int64_t n) {
  T* o = static_cast<T*>(out);
  const T* x = static_cast<const T*>(a);
  for (int64_t i = 0; i < n; ++i) o[i] = static_cast<T>(kFunction(static_cast<double>(x[i])));
}
template <typename T, double (*kFunction)(double, double)>
void two(void* out, const void* a, const void* b, const void*, int64_t n) {
  T* o = static_cast<T*>(out);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  for (int64_t i = 0; i < n; ++i) {
    o[i] = static_cast<T>(kFunction(static_cast<double>(x[i]), static_cast<double>(y[i])));
  }
}

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
inline double softplus(double x) {
  return (x > 0 ? x : x != x ? x : 0.0) + std::log1p(std::exp(-std::fabs(x)));
}
template <typename T>
BlockFunction of(Instruction instruction) {
  switch (instruction) {
    case Instruction::kExp:
      return one<T, std::exp>;
    case Instruction::kExpm1:
      return one<T, std::expm1>;
    case Instruction::kLog:
      return one<T, std::log>;
    case Instruction::kLog1p:
      return one<T, std::log1p>;
    case Instruction::kSin:
      return one<T, std::sin>;
    case Instruction::kCos:
      return one<T, std::cos>;
    case Instruction::kTan:
      return one<T, std::tan>;
    case Instruction::kAsin:
      return one<T, std::asin>;
    case Instruction::kAcos:
      return one<T, std::acos>;
    case Instruction::kAtan:
      return one<T, std::atan>;
    case Instruction::kSinh:
      return one<T, std::sinh>;
    case Instruction::kCosh:
      return one<T, std::cosh>;
    case Instruction::kTanh:
      return one<T, std::tanh>;
    case Instruction::kAsinh:
      return one<T, std::asinh>;
    case Instruction::kAcosh:
      return one<T, std::acosh>;
    case Instruction::kAtanh:
      return one<T, std::atanh>;
    case Instruction::kSigmoid:
      return one<T, sigmoid>;
    case Instruction::kSoftplus:
      return one<T, softplus>;
    case Instruction::kErf:
      return one<T, std::erf>;
    case Instruction::kErfc:
      return one<T, std::erfc>;
    case Instruction::kErfinv:
      return one<T, erfinv>;
    case Instruction::kNdtri:
      return one<T, ndtri>;
    case Instruction::kLgamma:
      return one<T, lgamma_of_magnitude>;
    case Instruction::kDigamma:
      return one<T, digamma>;
    case Instruction::kPow:
      return two<T, std::pow>;
    case Instruction::kAtan2:
      return two<T, std::atan2>;
    default:
      return nullptr;
  }
}

BlockFunction find(Instruction instruction, DType type) {
  if (type == DType::kFloat32) return of<float>(instruction);
  if (type == DType::kFloat64) return of<double>(instruction);
  return nullptr;
}

}  // namespace
}  // namespace graven::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graven::engine {
BlockFunction math_function(Instruction instruction, DType type) {
  return GRAVEN_SIMD_DISPATCH(find)(instruction, type);
}
}  // namespace graven::engine
#endif
