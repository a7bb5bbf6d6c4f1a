#include "graven/kernels/convolution_pieces.h"

#include <algorithm>

namespace graven::engine {
namespace {

constexpr int64_t divide_up(int64_t value, int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

// Images of a piece: about batch / wanted. A number that divides the batch needs one compiled
// convolution instead of two.
int64_t images_of_piece(int64_t batch, int64_t wanted) {
  const int64_t least = divide_up(batch, wanted);
  for (int64_t images = least; images < std::min(2 * least, batch); ++images) {
    if (batch % images == 0) return images;
  }
  return least;
}

std::vector<ConvolutionPiece> cut_batch(const Convolution& c, int64_t wanted) {
  std::vector<ConvolutionPiece> pieces;
  const int64_t images = images_of_piece(c.batch, wanted);
  for (int64_t first = 0; first < c.batch; first += images) {
    ConvolutionPiece piece = {c};
    piece.shape.batch = std::min(images, c.batch - first);
    piece.input_offset = first * c.in_height * c.in_width * c.in_channels;
    piece.output_offset = first * c.out_height * c.out_width * c.out_channels;
    pieces.push_back(piece);
  }
  return pieces;
}

// The piece of the rows [in_first, in_end) of the input and [out_first, out_end) of the output of
// one image. The paddings say where a window begins in the rows that are left; the lower one may
// be negative, down to 1 - stride, if no window reaches the last rows.
ConvolutionPiece slab(const Convolution& c, int64_t image, int64_t in_first, int64_t in_end,
                      int64_t out_first, int64_t out_end) {
  ConvolutionPiece piece = {c};
  Convolution& s = piece.shape;
  const int64_t extent = (c.filter_height - 1) * c.dilation_height + 1;
  s.batch = 1;
  s.in_height = in_end - in_first;
  s.out_height = out_end - out_first;
  s.pad_top = c.pad_top + in_first - out_first * c.stride_height;
  s.pad_bottom = (s.out_height - 1) * c.stride_height + extent - s.in_height - s.pad_top;
  piece.input_offset = (image * c.in_height + in_first) * c.in_width * c.in_channels;
  piece.output_offset = (image * c.out_height + out_first) * c.out_width * c.out_channels;
  return piece;
}

}  // namespace

double convolution_cost(const Convolution& c) {
  return static_cast<double>(c.batch) * static_cast<double>(c.out_height * c.out_width) *
         static_cast<double>(c.filter_height * c.filter_width) *
         (static_cast<double>(c.in_channels) / static_cast<double>(c.groups)) *
         static_cast<double>(c.out_channels);
}

std::vector<ConvolutionPiece> cut_output(const Convolution& c, int64_t wanted) {
  if (c.batch >= wanted || c.out_height < 4) return cut_batch(c, wanted);
  const int64_t rows = std::max<int64_t>(2, divide_up(c.out_height, divide_up(wanted, c.batch)));
  const int64_t extent = (c.filter_height - 1) * c.dilation_height + 1;
  std::vector<ConvolutionPiece> pieces;
  for (int64_t image = 0; image < c.batch; ++image) {
    for (int64_t first = 0; first < c.out_height; first += rows) {
      const int64_t end = std::min(first + rows, c.out_height);
      const int64_t top = first * c.stride_height - c.pad_top;
      const int64_t bottom = (end - 1) * c.stride_height - c.pad_top + extent;
      const int64_t in_first = std::clamp<int64_t>(top, 0, c.in_height);
      const int64_t in_end = std::clamp<int64_t>(bottom, in_first, c.in_height);
      pieces.push_back(slab(c, image, in_first, in_end, first, end));
    }
  }
  return pieces;
}

std::vector<ConvolutionPiece> cut_input(const Convolution& c, int64_t wanted) {
  if (c.batch >= wanted || c.in_height < 4) return cut_batch(c, wanted);
  // Whole strides, so that a slab begins where a window does.
  const int64_t strides = divide_up(c.in_height, divide_up(wanted, c.batch) * c.stride_height);
  const int64_t rows = std::max<int64_t>(2, strides) * c.stride_height;
  const int64_t extent = (c.filter_height - 1) * c.dilation_height + 1;
  std::vector<ConvolutionPiece> pieces;
  for (int64_t image = 0; image < c.batch; ++image) {
    for (int64_t first = 0; first < c.in_height; first += rows) {
      const int64_t end = std::min(first + rows, c.in_height);
      // The first output row whose window ends after `first`, and the one that begins at `end`.
      const int64_t lowest = first + c.pad_top - (extent - 1);
      const int64_t out_first = std::clamp<int64_t>(
          divide_up(std::max<int64_t>(lowest, 0), c.stride_height), 0, c.out_height);
      const int64_t out_end =
          std::clamp<int64_t>(divide_up(end + c.pad_top, c.stride_height), out_first, c.out_height);
      pieces.push_back(slab(c, image, first, end, out_first, out_end));
    }
  }
  return pieces;
}

}  // namespace graven::engine
