#pragma once
#include <cstdint>
#include <vector>

#include "graven/kernels/convolution.h"

namespace graven::engine {

// A part of a convolution that is a convolution itself: some whole images, or a slab of rows of
// one image, or of planes of one volume, with paddings of its own. The offsets are in elements of
// the whole's input and output.
struct ConvolutionPiece {
  Convolution shape;
  int64_t input_offset = 0, output_offset = 0;
};

// Pieces that together compute each element of the output once. Neighbouring slabs read common rows
// of the input; a slab that reads padding only has in_height or in_depth 0. About `wanted` pieces,
// cut by shape alone.
std::vector<ConvolutionPiece> cut_output(const Convolution& c, int64_t wanted);
// Pieces that together cover each element of the input once: for the input's gradient. Neighbouring
// slabs read common rows of the output. A slab that no output row reads has out_height or
// out_depth 0.
std::vector<ConvolutionPiece> cut_input(const Convolution& c, int64_t wanted);

// The number of multiplications of one direction of the convolution.
double convolution_cost(const Convolution& c);

}  // namespace graven::engine
