#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "graven/base/denormals.h"
#include "graven/base/thread_pool.h"
#include "graven/kernels/accuracy.h"
#include "graven/kernels/block_functions.h"
#include "graven/kernels/simd_target.h"
#include "graven/kernels/testing.h"

namespace graven::engine {
namespace {

using Real = long double;

// --- References, in long double. libm's are good to about one of its units, 2^-11 of a double's.

Real reference_digamma(Real x) {
  if (x <= 0) {
    if (std::floor(x) == x) return std::nanl("");
    Real rest = x - std::round(x);
    Real cotangent = std::fabs(rest) == 0.5L ? 0 : 1 / std::tan(std::numbers::pi_v<Real> * rest);
    return reference_digamma(1 - x) - std::numbers::pi_v<Real> * cotangent;
  }
  Real sum = 0;
  for (; x < 40; x += 1) sum += 1 / x;
  Real z = 1 / (x * x);
  Real series = z * (1.0L / 12 - z * (1.0L / 120 - z * (1.0L / 252 - z * (1.0L / 240 - z / 132))));
  return std::log(x) - 0.5L / x - series - sum;
}

// The x with erfc(x) = tail, tail <= 1/2 .. 1, by Newton's method on log(erfc(x)).
Real inverse_erfc(Real tail) {
  Real x = std::sqrt(-std::log(tail * (2 - tail)) + 1e-30L);
  for (int i = 0; i < 100; ++i) {
    Real slope = -2 / std::sqrt(std::numbers::pi_v<Real>) * std::exp(-x * x) / std::erfc(x);
    Real step = (std::log(std::erfc(x)) - std::log(tail)) / slope;
    x -= step;
    if (std::fabs(step) < 1e-19L * std::fabs(x)) break;
  }
  return x;
}
Real reference_erfinv(Real y) {
  if (!(std::fabs(y) <= 1)) return std::nanl("");
  if (std::fabs(y) == 1) return y * HUGE_VALL;
  if (y == 0) return y;
  if (std::fabs(y) > 0.5L) return std::copysign(inverse_erfc(1 - std::fabs(y)), y);
  Real x = y * std::sqrt(std::numbers::pi_v<Real>) / 2;
  for (int i = 0; i < 100; ++i) {
    Real step = (std::erf(x) - y) / (2 / std::sqrt(std::numbers::pi_v<Real>) * std::exp(-x * x));
    x -= step;
    if (std::fabs(step) <= 1e-19L * std::fabs(x)) break;
  }
  return x;
}
Real reference_ndtri(Real p) {
  if (!(p >= 0 && p <= 1)) return std::nanl("");
  if (p == 0 || p == 1) return p == 0 ? -HUGE_VALL : HUGE_VALL;
  Real root2 = std::numbers::sqrt2_v<Real>;
  if (p < 0.25L) return -root2 * inverse_erfc(2 * p);
  if (p > 0.75L) return root2 * inverse_erfc(2 * (1 - p));
  return root2 * reference_erfinv(2 * p - 1);
}
Real reference_sigmoid(Real x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
Real reference_softplus(Real x) {
  return std::isnan(x) ? x : std::fmax(x, 0.0L) + std::log1p(std::exp(-std::fabs(x)));
}
Real reference_lgamma(Real x) {
  int sign;
  return ::lgammal_r(x, &sign);
}

struct Function {
  Instruction instruction;
  Real (*reference)(Real);
  double low, high;  // where most of the samples lie
};
const Function kFunctions[] = {
    {Instruction::kRsqrt, [](Real x) { return 1 / std::sqrt(x); }, 0, 100},
    {Instruction::kExp, std::exp, -110, 110},
    {Instruction::kExpm1, std::expm1, -4, 4},
    {Instruction::kLog, std::log, 0, 4},
    {Instruction::kLog1p, std::log1p, -1, 3},
    {Instruction::kSin, std::sin, -100, 100},
    {Instruction::kCos, std::cos, -100, 100},
    {Instruction::kTan, std::tan, -100, 100},
    {Instruction::kAsin, std::asin, -1, 1},
    {Instruction::kAcos, std::acos, -1, 1},
    {Instruction::kAtan, std::atan, -6, 6},
    {Instruction::kSinh, std::sinh, -10, 10},
    {Instruction::kCosh, std::cosh, -10, 10},
    {Instruction::kTanh, std::tanh, -6, 6},
    {Instruction::kAsinh, std::asinh, -10, 10},
    {Instruction::kAcosh, std::acosh, 1, 10},
    {Instruction::kAtanh, std::atanh, -1, 1},
    {Instruction::kSigmoid, reference_sigmoid, -30, 30},
    {Instruction::kSoftplus, reference_softplus, -30, 30},
    {Instruction::kErf, std::erf, -4, 4},
    {Instruction::kErfc, std::erfc, -4, 12},
    {Instruction::kErfinv, reference_erfinv, -1, 1},
    {Instruction::kNdtri, reference_ndtri, 0, 1},
    {Instruction::kLgamma, reference_lgamma, -10, 30},
    {Instruction::kDigamma, reference_digamma, -10, 30},
};

double stated_error(Instruction instruction, bool is_float) {
  for (const Accuracy& accuracy : kAccuracies) {
    if (accuracy.instruction == instruction) return is_float ? accuracy.float32 : accuracy.float64;
  }
  return 0.5;
}

template <typename T>
bool is_denormal(T x) {
  return x != 0 && std::fabs(x) < std::numeric_limits<T>::min();
}

template <typename T>
std::vector<T> arguments(double low, double high, int n) {
  using Limits = std::numeric_limits<T>;
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  std::vector<T> x = {
      T(0),
      T(-0.0),
      Limits::infinity(),
      -Limits::infinity(),
      Limits::quiet_NaN(),
      std::bit_cast<T>(static_cast<Bits>(std::bit_cast<Bits>(Limits::quiet_NaN()) | 1)),
      Limits::max(),
      Limits::lowest(),
      Limits::min(),
      -Limits::min(),
      T(1),
      T(-1),
      T(0.5),
      T(-0.5),
      T(2),
      T(-2),
      T(10),
      T(-3),
      T(1e5),
      T(1e7),
      T(-1e10),
      T(1e30)};
  // Both sides of where results overflow or vanish, and of the signs of one.
  for (double edge : {88.72283,
                      -87.33654,
                      -103.97,
                      709.782712893384,
                      -708.3964185322641,
                      1.0,
                      -1.0,
                      0.5,
                      10.0,
                      22.0,
                      -18.0,
                      -40.0,
                      80.0,
                      700.0,
                      4.0,
                      28.0,
                      0.41421356,
                      2.4142135,
                      89.415,
                      710.4758,
                      1e6,
                      8192.0}) {
    T at = static_cast<T>(edge);
    T below = at, above = at;
    for (int i = 0; i < 4; ++i) {
      x.push_back(below), x.push_back(above);
      x.push_back(-below), x.push_back(-above);
      below = std::nextafter(below, -Limits::infinity());
      above = std::nextafter(above, Limits::infinity());
    }
  }
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> inside(low, high);
  std::uniform_real_distribution<double> exponent(-30, 10);
  for (int i = 0; i < n; ++i) {
    x.push_back(static_cast<T>(inside(random)));
    T any = std::bit_cast<T>(static_cast<Bits>(random()));
    if (!is_denormal(any)) x.push_back(any);
    T small = static_cast<T>(std::exp2(exponent(random)));
    x.push_back(i % 2 ? small : -small);
  }
  return x;
}

// In units of the last place of the exact result.
template <typename T>
double error_in_ulp(T got, Real exact) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) && std::isnan(got) ? 0 : 1e30;
  // What rounds to infinity, and what may be flushed.
  Real overflow = static_cast<Real>(Limits::max()) * (1 + static_cast<Real>(Limits::epsilon()) / 4);
  if (std::isinf(got)) {
    return std::fabs(exact) > static_cast<Real>(Limits::max()) *
                                  (1 - 4 * static_cast<Real>(Limits::epsilon())) &&
                   std::signbit(got) == std::signbit(exact)
               ? 0
               : 1e30;
  }
  if (std::fabs(exact) >= overflow) {
    // A finite neighbour of the overflow is within the error.
    return std::fabs(exact) < overflow * (1 + 4 * static_cast<Real>(Limits::epsilon())) ? 0 : 1e30;
  }
  if (std::fabs(exact) < Limits::min() * (1 + 4 * static_cast<Real>(Limits::epsilon())) &&
      std::fabs(got) <= Limits::min() * (1 + 4 * Limits::epsilon())) {
    return 0;
  }
  int power = std::max(std::ilogb(exact), Limits::min_exponent - 1);
  return static_cast<double>(std::fabs(static_cast<Real>(got) - exact) /
                             std::scalbn(Real(1), power - Limits::digits + 1));
}

template <typename T>
double check_function(const Function& function, int n) {
  BlockFunction f = block_function(function.instruction, kDTypeOf<T>, kDTypeOf<T>);
  REQUIRE((f != nullptr));
  std::vector<T> x = arguments<T>(function.low, function.high, n), out(x.size()), alone(x.size());
  {
    FlushDenormals flush;
    f(out.data(), x.data(), nullptr, nullptr, static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) f(&alone[i], &x[i], nullptr, nullptr, 1);
  }
  double bound = stated_error(function.instruction, sizeof(T) == 4), worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    INFO(std::string(instruction_name(function.instruction)), " of ", x[i], " gives ", out[i]);
    // The bits do not depend on the place in the block.
    REQUIRE((std::memcmp(&out[i], &alone[i], sizeof(T)) == 0 || std::isnan(out[i])));
    Real exact = function.reference(x[i]);
    if (exact == 0 && out[i] == 0 && function.instruction != Instruction::kLgamma) {
      REQUIRE(std::signbit(exact) == std::signbit(out[i]));
    }
    double error = error_in_ulp(out[i], exact);
    if (function.instruction == Instruction::kDigamma) {
      Real terms = std::fabs(std::log(std::fabs(static_cast<Real>(x[i])) + 10)) +
                   std::fabs(1 / static_cast<Real>(x[i])) + std::fabs(exact);
      if (std::fabs(static_cast<Real>(out[i]) - exact) < terms * 0x1p-51L) error = 0;
    }
    worst = std::max(worst, error);
    INFO("an error of ", error, " ulp; exact is ", static_cast<double>(exact));
    CHECK(error <= bound);
    if (error > bound) return worst;
  }
  return worst;
}

TEST_CASE("functions of one float are as accurate as accuracy.h states, on every target") {
  for (int i = 0; i <= static_cast<int>(best_simd_target()); ++i) {
    set_simd_target_for_test(static_cast<SimdTarget>(i));
    for (const Function& function : kFunctions) {
      bool is_slow = function.instruction == Instruction::kErfinv ||
                     function.instruction == Instruction::kNdtri;
      int n = is_slow ? 500 : 20000;
      double of_floats = check_function<float>(function, n);
      double of_doubles = check_function<double>(function, n);
      REQUIRE(of_floats + of_doubles > 0);  // something was measured
    }
  }
  set_simd_target_for_test(best_simd_target());
}

template <typename T>
void check_of_two(Instruction instruction, Real (*reference)(Real, Real)) {
  BlockFunction f = block_function(instruction, kDTypeOf<T>, kDTypeOf<T>);
  REQUIRE((f != nullptr));
  std::vector<T> special, x, y;
  for (double v : {0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, 2.5, 1e30, -1e30, 1e-30,
                   HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    special.push_back(static_cast<T>(v));
  }
  for (T a : special) {
    for (T b : special) x.push_back(a), y.push_back(b);
  }
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal(0, 5);
  for (int i = 0; i < 40000; ++i) {
    double a = normal(random);
    x.push_back(static_cast<T>(i % 3 ? std::fabs(a) : a));
    y.push_back(static_cast<T>(i % 5 ? normal(random) : std::round(normal(random))));
    x.push_back(static_cast<T>(std::exp2(2 * normal(random))));
    y.push_back(static_cast<T>(4 * normal(random)));
  }
  std::vector<T> out(x.size());
  {
    FlushDenormals flush;
    f(out.data(), x.data(), y.data(), nullptr, static_cast<int64_t>(x.size()));
  }
  double bound = stated_error(instruction, sizeof(T) == 4);
  for (size_t i = 0; i < x.size(); ++i) {
    Real exact = reference(x[i], y[i]);
    double error = error_in_ulp(out[i], exact);
    INFO(std::string(instruction_name(instruction)), " of ", x[i], " and ", y[i], " gives ", out[i],
         ", not ", static_cast<double>(exact));
    REQUIRE(error <= bound);
    if (exact == 0) REQUIRE(std::signbit(exact) == std::signbit(out[i]));
  }
}

TEST_CASE("pow and atan2 have C's special cases and the stated accuracy, on every target") {
  for (int i = 0; i <= static_cast<int>(best_simd_target()); ++i) {
    set_simd_target_for_test(static_cast<SimdTarget>(i));
    check_of_two<float>(Instruction::kPow, std::pow);
    check_of_two<double>(Instruction::kPow, std::pow);
    check_of_two<float>(Instruction::kAtan2, std::atan2);
    check_of_two<double>(Instruction::kAtan2, std::atan2);
  }
  set_simd_target_for_test(best_simd_target());
}

}  // namespace
}  // namespace graven::engine
