#pragma once
#include <cstdint>

namespace graven::engine {

// Constants of elementary_functions-inl.h that depend on the type.
template <typename T>
struct ElementaryConstants;
template <>
struct ElementaryConstants<float> {
  using Int = int32_t;
  static constexpr int kMantissaBits = 23;
  static constexpr float kMagic = 0x1.8p23f;  // x + kMagic has x, rounded, in its lowest bits
  static constexpr float kLog2High = 0.693145751953125f, kLog2Low = 1.42860677e-6f;
  static constexpr float kExpHighest = 88.72283172607421875f, kExpLowest = -87.336540f;
  static constexpr float kExpm1Lowest = -18.0f;
  static constexpr float kTanhIsOne = 10.0f, kSinhFactors = 80.0f;
  static constexpr float kLogOnly = 0x1p13f;  // x^2 + 1 is x^2
  static constexpr Int kSqrtHalf = 0x3f3504f3;
};
template <>
struct ElementaryConstants<double> {
  using Int = int64_t;
  static constexpr int kMantissaBits = 52;
  static constexpr double kMagic = 0x1.8p52;
  static constexpr double kLog2High = 6.93147180369123816490e-01;
  static constexpr double kLog2Low = 1.90821492927058770002e-10;
  static constexpr double kExpHighest = 709.782712893383973096, kExpLowest = -708.3964185322641;
  static constexpr double kExpm1Lowest = -40.0;
  static constexpr double kTanhIsOne = 22.0, kSinhFactors = 700.0;
  static constexpr double kLogOnly = 0x1p28;
  static constexpr Int kSqrtHalf = 0x3fe6a09e667f3bcd;
};

// Polynomials of elementary_functions-inl.h, lowest degree first: Chebyshev interpolation of the
// functions that the comments state, computed with 60 digits and rounded.
template <typename T>
struct Coefficients;
template <>
struct Coefficients<double> {
  // exp(r) = 1 + r + r^2 P(r), |r| <= ln(2) / 2.
  static constexpr double kExp[] = {
      0x1.0000000000001p-1,  0x1.5555555555556p-3,  0x1.5555555553ce3p-5,  0x1.111111111098cp-7,
      0x1.6c16c178bd6bcp-10, 0x1.a01a01a7e29cdp-13, 0x1.a019b84d17a80p-16, 0x1.71de0d383914ap-19,
      0x1.28926932adb78p-22, 0x1.af39c20098071p-26};
  // log(1 + f) = 2 s + s z P(z), s = f / (2 + f), z = s^2.
  static constexpr double kLog[] = {
      0x1.5555555555558p-1, 0x1.99999999951f5p-2, 0x1.2492492e0b70cp-2, 0x1.c71c62c42db89p-3,
      0x1.7462be245eae3p-3, 0x1.39fd25d62ab23p-3, 0x1.2b6776a1bf0b9p-3};
  // sin(r) = r + r z P(z), z = r^2, |r| <= pi / 4.
  static constexpr double kSin[] = {
      -0x1.5555555555555p-3,  0x1.1111111111110p-7,  -0x1.a01a01a01990ap-13, 0x1.71de3a545b148p-19,
      -0x1.ae6454093c147p-26, 0x1.61217781a8ccdp-33, -0x1.ab13654fd392ap-41};
  // cos(r) = 1 - z / 2 + z^2 P(z).
  static constexpr double kCos[] = {
      0x1.5555555555555p-5,  -0x1.6c16c16c16c16p-10, 0x1.a01a01a019cf6p-16, -0x1.27e4fb7710638p-22,
      0x1.1eed8de759d0dp-29, -0x1.9394b3581cec8p-37, 0x1.ab746999271a1p-45};
  // atan(x) = x + x z P(z), z = x^2, |x| <= tan(pi / 8).
  static constexpr double kAtan[] = {
      -0x1.5555555555555p-2, 0x1.9999999999953p-3, -0x1.249249248d768p-3, 0x1.c71c71c2fe5d9p-4,
      -0x1.745d165cb83aap-4, 0x1.3b1392b641b06p-4, -0x1.110e858a72e28p-4, 0x1.e199da4156fd9p-5,
      -0x1.ac78ec6b8cb98p-5, 0x1.74d64aa665b0ap-5, -0x1.1b2058fb5da30p-5, 0x1.0aa87c56e3eb5p-6};
  // asin(x) = x + x z P(z), z = x^2 <= 1/4.
  static constexpr double kAsin[] = {
      0x1.5555555555555p-3, 0x1.333333333332dp-4,  0x1.6db6db6db7c96p-5, 0x1.f1c71c70ed1adp-6,
      0x1.6e8ba31ce37bfp-6, 0x1.1c4ebd6df68b7p-6,  0x1.c99b000e791f4p-7, 0x1.7a70ab2bcdeadp-7,
      0x1.40e47f482ed3fp-7, 0x1.0a9171f4c504ep-7,  0x1.20548a3ca847dp-7, 0x1.804c02406780dp-12,
      0x1.720d0586f24a2p-6, -0x1.8a435f5117257p-6, 0x1.f7b7e46af0ee7p-6};
  // erf(x) = x P(x^2), |x| <= 1.
  static constexpr double kErf[] = {
      0x1.20dd750429b6dp+0,  -0x1.812746b0379e7p-2,  0x1.ce2f21a042bdep-4,  -0x1.b82ce312889bap-6,
      0x1.565bcd0e6502dp-8,  -0x1.c02db3feeb579p-11, 0x1.f9a326c233146p-14, -0x1.f4d2561aeafd4p-17,
      0x1.b9e6509b9867dp-20, -0x1.5f6d925a0bc7ap-23, 0x1.fc4356498c2d9p-27, -0x1.4e607b41a6416p-30,
      0x1.7f072188e194dp-34, -0x1.29b9f1b3df556p-38};
  // erfc(x) = exp(-x^2) P(t) / (1 + 2 x), t = (x - 3.75) / (x + 3.75), 0 <= x <= 28.
  static constexpr double kErfc[] = {
      0x1.3ccda0b5d5dc2p+0,  -0x1.1f367683f89a7p-3,  0x1.d5f2948159cd7p-9,   0x1.510169d096807p-4,
      -0x1.bda9309a287d6p-4, 0x1.7a14188a99ac0p-4,   -0x1.e0d0fa6e03bb3p-5,  0x1.d0b0037dcd5ddp-6,
      -0x1.3f603c32fd51ep-7, 0x1.cc3a0e22d33b2p-10,  0x1.33fb23a973a39p-12,  -0x1.303f9dd0fe93ep-12,
      0x1.b144686606fd4p-15, 0x1.778a4bb59f476p-16,  -0x1.800a5b15e4973p-17, -0x1.053022733e860p-20,
      0x1.d6d83df416257p-20, -0x1.f06d1f61cd4cap-25, -0x1.1960cb49dee74p-22, 0x1.9181817056d29p-26,
      0x1.670d8bc657b9fp-25, -0x1.c358df86dd27cp-29, -0x1.d8c006ee75c39p-28, -0x1.c3000cb6533fap-33,
      0x1.d00a01d6b63e2p-31, 0x1.92d572e0e0b66p-33};
};
template <>
struct Coefficients<float> {
  // exp(r) = 1 + r + r^2 P(r), |r| <= ln(2) / 2.
  static constexpr float kExp[] = {0x1.0000000000000p-1f, 0x1.5554dc0000000p-3f,
                                   0x1.5555180000000p-5f, 0x1.120cba0000000p-7f,
                                   0x1.6d12540000000p-10f};
  // log(1 + f) = f - f^2 / 2 + f^3 P(f), sqrt(1/2) <= 1 + f < sqrt(2).
  static constexpr float kLog[] = {
      0x1.5555540000000p-2f,  -0x1.fffffc0000000p-3f, 0x1.999d5c0000000p-3f,
      -0x1.555b4a0000000p-3f, 0x1.23d1b40000000p-3f,  -0x1.fcf3fe0000000p-4f,
      0x1.deaa480000000p-4f,  -0x1.d63f840000000p-4f, 0x1.1d84ae0000000p-4f};
  // sin(r) = r + r z P(z), z = r^2, |r| <= pi / 4.
  static constexpr float kSin[] = {-0x1.5555560000000p-3f, 0x1.11110e0000000p-7f,
                                   -0x1.a013960000000p-13f, 0x1.6db8ac0000000p-19f};
  // cos(r) = 1 - z / 2 + z^2 P(z).
  static constexpr float kCos[] = {0x1.5555560000000p-5f, -0x1.6c16c00000000p-10f,
                                   0x1.a015ba0000000p-16f, -0x1.2520ba0000000p-22f};
  // atan(x) = x + x z P(z), z = x^2, |x| <= tan(pi / 8).
  static constexpr float kAtan[] = {-0x1.5555540000000p-2f, 0x1.9997300000000p-3f,
                                    -0x1.241ffa0000000p-3f, 0x1.b80b480000000p-4f,
                                    -0x1.08351c0000000p-4f};
  // asin(x) = x + x z P(z), z = x^2 <= 1/4.
  static constexpr float kAsin[] = {
      0x1.5555560000000p-3f, 0x1.33331e0000000p-4f, 0x1.6dc0f60000000p-5f, 0x1.efed0c0000000p-6f,
      0x1.82e3180000000p-6f, 0x1.5a41fc0000000p-7f, 0x1.fbaa700000000p-6f};
  // erf(x) = x P(x^2), |x| <= 1.
  static constexpr float kErf[] = {0x1.20dd760000000p+0f,  -0x1.8127460000000p-2f,
                                   0x1.ce2f080000000p-4f,  -0x1.b829c80000000p-6f,
                                   0x1.562a600000000p-8f,  -0x1.bccf660000000p-11f,
                                   0x1.d887500000000p-14f, -0x1.445f480000000p-17f};
  // erfc(x) = exp(x P(x)), 1 <= x <= 4.
  static constexpr float kLogErfc[] = {
      -0x1.20f8900000000p+0f, -0x1.44ec8e0000000p-1f,  -0x1.b65d3e0000000p-4f,
      0x1.8ea9160000000p-6f,  -0x1.f6ba680000000p-9f,  0x1.5bcc220000000p-12f,
      0x1.a94e580000000p-20f, -0x1.b26e0a0000000p-19f, 0x1.d12f080000000p-23f};
  // erfc(x) = exp(-x^2) s P(t), s = 1 / (x + 2), 1/2 <= x <= 10.1, for which t is in [-1, 1].
  static constexpr float kErfc[] = {
      0x1.ff02820000000p-1f,  0x1.b218100000000p-2f,  0x1.c6a4b20000000p-4f,
      0x1.49aa8a0000000p-7f,  -0x1.b040fa0000000p-9f, -0x1.7e20660000000p-11f,
      0x1.7faa820000000p-13f, 0x1.459b460000000p-15f, -0x1.a8bef20000000p-17f};
  // t = kErfcScale s - kErfcShift.
  static constexpr float kErfcScale = 0x1.9355560000000p+2f, kErfcShift = 0x1.8555560000000p+0f;
};

}  // namespace graven::engine
