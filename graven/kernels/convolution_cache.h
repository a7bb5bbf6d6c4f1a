#pragma once
#include <memory>

#include "graven/kernels/onednn/plugin.h"

namespace graven::engine {

// The compiled convolution of the shape, made if it is not kept, or null where oneDNN has none
// (which is kept, too). Any thread may call it.
std::shared_ptr<const OneDnnConvolution> cached_convolution(const OneDnn& library,
                                                            const Convolution& shape,
                                                            ConvolutionDirection direction);

}  // namespace graven::engine
