#pragma once
#include "graven/ir/op.h"

namespace graven::engine {

// Discrete Fourier transforms over the last axes.

GRAVEN_API inline OpHandle<NoAttrs> kFFT, kFFT2D, kFFT3D, kIFFT, kIFFT2D, kIFFT3D;

// The dtype of the output, which has the precision of the input's.
struct RealFftAttrs {
  DType Tcomplex = DType::kComplex64;
  static constexpr auto fields() { return std::tuple(field("Tcomplex", &RealFftAttrs::Tcomplex)); }
};
struct RealInverseFftAttrs {
  DType Treal = DType::kFloat32;
  static constexpr auto fields() { return std::tuple(field("Treal", &RealInverseFftAttrs::Treal)); }
};
// input, fft_length -> output
GRAVEN_API inline OpHandle<RealFftAttrs> kRFFT, kRFFT2D, kRFFT3D;
GRAVEN_API inline OpHandle<RealInverseFftAttrs> kIRFFT, kIRFFT2D, kIRFFT3D;

}  // namespace graven::engine
