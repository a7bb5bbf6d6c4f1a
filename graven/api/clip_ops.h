#pragma once
#include <optional>
#include <vector>

#include "graven/api/arguments.h"
#include "graven/api/operand.h"
#include "graven/api/tensor.h"
#include "graven/api/variable.h"
#include "graven/base/export.h"

// Gradients kept from growing. In lists no tensor stands for no gradient, which stays one.

namespace graven {

// t scaled down so that its Euclidean norm over the axes is at most clip_norm. A ValueError if
// clip_norm does not broadcast to the shape of t.
GRAVEN_API Tensor clip_by_norm(const Operand& t, const Operand& clip_norm, const Axes& axes = {});
GRAVEN_API IndexedSlices clip_by_norm(const IndexedSlices& t, const Operand& clip_norm,
                                      const Axes& axes = {});

// All tensors scaled by one factor so that the norm of all together is at most clip_norm; NaN if
// that norm is not finite.
struct ClippedByGlobalNorm {
  std::vector<Tensor> clipped;
  Tensor norm;  // before
};
GRAVEN_API ClippedByGlobalNorm
clip_by_global_norm(const std::vector<Tensor>& t_list, const Operand& clip_norm,
                    const std::optional<Tensor>& use_norm = std::nullopt);

namespace linalg {
// sqrt(sum of the squares of all elements of all tensors).
GRAVEN_API Tensor global_norm(const std::vector<Tensor>& t_list, Here location = Here::current());
}  // namespace linalg

}  // namespace graven
