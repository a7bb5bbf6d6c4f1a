#pragma once
#include <memory>

#include "graven/kernels/onednn/plugin.h"

namespace graven::engine {

std::unique_ptr<OneDnnConvolution> compile_convolution(const Convolution& shape,
                                                       ConvolutionDirection direction);

}  // namespace graven::engine
