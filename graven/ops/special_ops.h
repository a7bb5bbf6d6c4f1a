#pragma once
#include "graven/ir/op.h"

namespace graven::engine {

// --- bessel_ops.cc: x -> y. The ...e ones are multiplied by exp(-|x|), those of the second kind
// (k) by exp(x).
GRAVEN_API inline OpHandle<NoAttrs> kBesselI0, kBesselI1, kBesselI0e, kBesselI1e;
GRAVEN_API inline OpHandle<NoAttrs> kBesselK0, kBesselK1, kBesselK0e, kBesselK1e;
GRAVEN_API inline OpHandle<NoAttrs> kBesselJ0, kBesselJ1, kBesselY0, kBesselY1;

// --- special_ops.cc.
GRAVEN_API inline OpHandle<NoAttrs> kDawsn, kExpint, kFresnelCos, kFresnelSin, kSpence;  // x -> y
GRAVEN_API inline OpHandle<NoAttrs> kIgamma, kIgammac, kIgammaGradA;  // a, x -> z
GRAVEN_API inline OpHandle<NoAttrs> kBetainc;                         // a, b, x -> z
GRAVEN_API inline OpHandle<NoAttrs> kRandomGammaGrad;                 // alpha, sample -> output

}  // namespace graven::engine
