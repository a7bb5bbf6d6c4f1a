#include "graven/ops/integral_functions.h"

#include <array>
#include <cmath>
#include <numbers>
#include <span>

#include "graven/ops/chebyshev.h"

namespace graven::engine {
namespace {

constexpr double kPi = std::numbers::pi;

// Chebyshev series, computed with 60 digits. For |x| up to 2.5, where s = 2 (x / 2.5)^4 - 1: the
// integral of sines by x^3, that of cosines by x.
constexpr double kSineNear[] = {
    1.37314180771534539e-1,  -1.69601109421882416e-1, 1.19722449464411429e-1,
    -6.68274788787215789e-2, 2.36989769489172605e-2,  -5.45525987602636046e-3,
    8.68583465133759289e-4,  -1.01092963163781855e-4, 8.97761758523780049e-6,
    -6.28800011504621408e-7, 3.56518800758318532e-8,  -1.67090163430510676e-9,
    6.58498333765055556e-11, -2.2135599128688899e-12, 6.42396772220728521e-14,
    -1.6262360081997799e-15, 3.62347494967594125e-17};
constexpr double kCosineNear[] = {
    3.40003787532841805e-1,   -2.1463555314242846e-1,   1.50860685972738965e-1,
    -1.62752981159655975e-1,  9.43918869708579835e-2,   -3.02586748443480331e-2,
    6.13625934525813748e-3,   -8.63010076858736346e-4,  8.95260150638483431e-5,
    -7.15519721893539519e-6,  4.55070608078572754e-7,   -2.36138466216756309e-8,
    1.01981886739712481e-9,   -3.72561127093624379e-11, 1.16696971743343234e-12,
    -3.17012370817730426e-14, 7.54238294684345584e-16,  -1.5850932611248596e-17};
// Beyond it, where s = 2 (2.5 / x)^4 - 1: pi x f and pi^2 x^3 g of the auxiliary functions f and g
// (Abramowitz and Stegun, 7.3.9, 7.3.10).
constexpr double kF[] = {
    9.96332895740156388e-1,   -3.59830967065788089e-3,  6.57137006798975508e-5,
    -2.85367801988877907e-6,  2.03924328732271106e-7,   -2.02661093306317726e-8,
    2.55208759791136786e-9,   -3.84554116487569391e-10, 6.67531636406520506e-11,
    -1.29992222281836513e-11, 2.78547536610357382e-12,  -6.47283755167595508e-13,
    1.6129097288670447e-13,   -4.27141678500546061e-14, 1.19359091224832127e-14,
    -3.49863377904453886e-15, 1.0704597151201907e-15,   -3.40469047425582578e-16,
    1.12174599419972475e-16,  -3.81689608825424153e-17};
constexpr double kG[] = {
    9.82434032233483972e-1,   -1.70027980013711911e-2,  5.28754447158930552e-4,
    -3.12784007413708359e-5,  2.76054858619922543e-6,   -3.21108924967379701e-7,
    4.57813562239260634e-8,   -7.63787257869375948e-9,  1.44484872658553928e-9,
    -3.03032895569550591e-10, 6.93047875952051264e-11,  -1.70665009428347935e-11,
    4.48059231403189426e-12,  -1.24424279706383986e-12, 3.63133097252477572e-13,
    -1.10794329765437757e-13, 3.51833687037070987e-14,  -1.15850866015912642e-14,
    3.94288111195588799e-15,  -1.38319257951142152e-15, 4.98959081381900313e-16,
    -1.84692333538624571e-16, 7.00214363962552487e-17,  -2.71455759575191685e-17};
constexpr double kNear = 2.5, kNear4 = kNear * kNear * kNear * kNear;
// From here on x^2 has no digits behind the point, and the integrals are 0.5 to the last digit.
constexpr double kFar = 1e15;

struct Auxiliary {
  double f, g, sine, cosine;  // the last two of pi x^2 / 2
};

Auxiliary auxiliary(double x) {
  const double square = x * x, s = 2 * kNear4 / (square * square) - 1;
  // x^2 modulo 4, with the digits that the product rounds off.
  const double angle = kPi / 2 * (std::fmod(square, 4) + std::fma(x, x, -square));
  return {chebyshev(s, std::span(kF)) / (kPi * x),
          chebyshev(s, std::span(kG)) / (kPi * kPi * x * square), std::sin(angle), std::cos(angle)};
}

// exp(-x^2) times a sum of positive terms, x^(2 k + 1) / (k! (2 k + 1)).
double dawson_near(double x) {
  const double square = x * x;
  double power = x, sum = x;
  for (int k = 1; k < 40; ++k) {
    power *= square / k;
    const double term = power / (2 * k + 1);
    sum += term;
    if (std::abs(term) < 1e-17 * std::abs(sum)) break;
  }
  return std::exp(-square) * sum;
}

// Rybicki's sum of exp(-(x - n h)^2) / n over odd n, by sqrt(pi), whose error is exp(-(pi / (2
// h))^2) (Computers in Physics 3, 85, 1989). Taken around the even n nearest to x / h.
double dawson_far(double x) {
  constexpr double kStep = 0.25;
  constexpr int kTerms = 14;
  static const std::array<double, kTerms> weights = [] {
    std::array<double, kTerms> made{};
    for (int i = 0; i < kTerms; ++i) made[i] = std::exp(-std::pow((2 * i + 1) * kStep, 2));
    return made;
  }();
  const double middle = 2 * std::nearbyint(x / (2 * kStep));
  const double rest = x - middle * kStep;
  double up = std::exp(2 * rest * kStep), down = 1 / up;
  const double up2 = up * up, down2 = down * down;
  double sum = 0;
  for (int i = 0; i < kTerms; ++i) {
    const double n = 2 * i + 1;
    sum += weights[i] * (up / (middle + n) + down / (middle - n));
    up *= up2;
    down *= down2;
  }
  return std::exp(-rest * rest) * sum / std::sqrt(kPi);
}

}  // namespace

double dawson(double x) {
  const double size = std::abs(x);
  if (std::isnan(x)) return x;
  if (size < 2.5) return dawson_near(x);
  // From here on the terms behind the first are below its last digit.
  return std::copysign(size < 1e9 ? dawson_far(size) : 0.5 / size, x);
}

double fresnel_cosine(double x) {
  const double size = std::abs(x), square = x * x;
  if (std::isnan(x)) return x;
  if (size <= kNear) return x * chebyshev(2 * square * square / kNear4 - 1, std::span(kCosineNear));
  if (size > kFar) return std::copysign(0.5, x);
  const Auxiliary a = auxiliary(size);
  return std::copysign(0.5 + (a.f * a.sine - a.g * a.cosine), x);
}

double fresnel_sine(double x) {
  const double size = std::abs(x), square = x * x;
  if (std::isnan(x)) return x;
  if (size <= kNear) {
    return x * square * chebyshev(2 * square * square / kNear4 - 1, std::span(kSineNear));
  }
  if (size > kFar) return std::copysign(0.5, x);
  const Auxiliary a = auxiliary(size);
  return std::copysign(0.5 - (a.f * a.cosine + a.g * a.sine), x);
}

}  // namespace graven::engine
