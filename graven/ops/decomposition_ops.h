#pragma once
#include <tuple>

#include "graven/ir/op.h"

namespace graven::engine {

// Factors of matrices, the last two axes of a tensor.

struct QrAttrs {
  bool full_matrices = false;
  static constexpr auto fields() {
    return std::tuple(field("full_matrices", &QrAttrs::full_matrices));
  }
};
struct SvdAttrs {
  bool compute_uv = true, full_matrices = false;
  static constexpr auto fields() {
    return std::tuple(field("compute_uv", &SvdAttrs::compute_uv),
                      field("full_matrices", &SvdAttrs::full_matrices));
  }
};
struct EighAttrs {
  bool compute_v = true;
  static constexpr auto fields() { return std::tuple(field("compute_v", &EighAttrs::compute_v)); }
};
struct EigAttrs {
  bool compute_v = true;
  DType Tout = DType::kComplex64;
  static constexpr auto fields() {
    return std::tuple(field("compute_v", &EigAttrs::compute_v),
                      required_field("Tout", &EigAttrs::Tout));
  }
};

GRAVEN_API inline OpHandle<QrAttrs> kQr;                  // input -> q, r
GRAVEN_API inline OpHandle<SvdAttrs> kSvd;                // input -> s, u, v
GRAVEN_API inline OpHandle<EighAttrs> kSelfAdjointEigV2;  // input -> e, v
GRAVEN_API inline OpHandle<EigAttrs> kEig;                // input -> e, v

}  // namespace graven::engine
