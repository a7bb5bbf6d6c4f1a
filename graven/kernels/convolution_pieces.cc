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

// The sizes along the axis that slabs are cut of, and what follows it: rows of an image, or planes
// of a volume.
struct Outer {
  int64_t in, out, filter, stride, dilation, pad;
  int64_t in_elements, out_elements;  // of one row or plane
  explicit Outer(const Convolution& c)
      : in_elements(c.in_width * c.in_channels), out_elements(c.out_width * c.out_channels) {
    if (!c.is_volume()) {
      in = c.in_height, out = c.out_height, filter = c.filter_height;
      stride = c.stride_height, dilation = c.dilation_height, pad = c.pad_top;
      return;
    }
    in = c.in_depth, out = c.out_depth, filter = c.filter_depth;
    stride = c.stride_depth, dilation = c.dilation_depth, pad = c.pad_front;
    in_elements *= c.in_height;
    out_elements *= c.out_height;
  }
  int64_t extent() const { return (filter - 1) * dilation + 1; }
};

std::vector<ConvolutionPiece> cut_batch(const Convolution& c, int64_t wanted) {
  const Outer outer(c);
  std::vector<ConvolutionPiece> pieces;
  const int64_t images = images_of_piece(c.batch, wanted);
  for (int64_t first = 0; first < c.batch; first += images) {
    ConvolutionPiece piece = {c};
    piece.shape.batch = std::min(images, c.batch - first);
    piece.input_offset = first * outer.in * outer.in_elements;
    piece.output_offset = first * outer.out * outer.out_elements;
    pieces.push_back(piece);
  }
  return pieces;
}

// The piece of the rows [in_first, in_end) of the input and [out_first, out_end) of the output of
// one image. The paddings say where a window begins in the rows that are left; the lower one may
// be negative, down to 1 - stride, if no window reaches the last rows.
ConvolutionPiece slab(const Convolution& c, int64_t image, int64_t in_first, int64_t in_end,
                      int64_t out_first, int64_t out_end) {
  const Outer outer(c);
  ConvolutionPiece piece = {c};
  Convolution& s = piece.shape;
  const int64_t in = in_end - in_first, out = out_end - out_first;
  const int64_t before = outer.pad + in_first - out_first * outer.stride;
  const int64_t after = (out - 1) * outer.stride + outer.extent() - in - before;
  s.batch = 1;
  if (c.is_volume()) {
    s.in_depth = in, s.out_depth = out, s.pad_front = before, s.pad_back = after;
  } else {
    s.in_height = in, s.out_height = out, s.pad_top = before, s.pad_bottom = after;
  }
  piece.input_offset = (image * outer.in + in_first) * outer.in_elements;
  piece.output_offset = (image * outer.out + out_first) * outer.out_elements;
  return piece;
}

}  // namespace

double convolution_cost(const Convolution& c) {
  return static_cast<double>(c.batch) * static_cast<double>(c.out_depth) *
         static_cast<double>(c.out_height * c.out_width) *
         static_cast<double>(c.filter_depth * c.filter_height * c.filter_width) *
         (static_cast<double>(c.in_channels) / static_cast<double>(c.groups)) *
         static_cast<double>(c.out_channels);
}

std::vector<ConvolutionPiece> cut_output(const Convolution& c, int64_t wanted) {
  const Outer outer(c);
  if (c.batch >= wanted || outer.out < 4) return cut_batch(c, wanted);
  const int64_t rows = std::max<int64_t>(2, divide_up(outer.out, divide_up(wanted, c.batch)));
  std::vector<ConvolutionPiece> pieces;
  for (int64_t image = 0; image < c.batch; ++image) {
    for (int64_t first = 0; first < outer.out; first += rows) {
      const int64_t end = std::min(first + rows, outer.out);
      const int64_t top = first * outer.stride - outer.pad;
      const int64_t bottom = (end - 1) * outer.stride - outer.pad + outer.extent();
      const int64_t in_first = std::clamp<int64_t>(top, 0, outer.in);
      const int64_t in_end = std::clamp<int64_t>(bottom, in_first, outer.in);
      pieces.push_back(slab(c, image, in_first, in_end, first, end));
    }
  }
  return pieces;
}

std::vector<ConvolutionPiece> cut_input(const Convolution& c, int64_t wanted) {
  const Outer outer(c);
  if (c.batch >= wanted || outer.in < 4) return cut_batch(c, wanted);
  // Whole strides, so that a slab begins where a window does.
  const int64_t strides = divide_up(outer.in, divide_up(wanted, c.batch) * outer.stride);
  const int64_t rows = std::max<int64_t>(2, strides) * outer.stride;
  std::vector<ConvolutionPiece> pieces;
  for (int64_t image = 0; image < c.batch; ++image) {
    for (int64_t first = 0; first < outer.in; first += rows) {
      const int64_t end = std::min(first + rows, outer.in);
      // The first output row whose window ends after `first`, and the one that begins at `end`.
      const int64_t lowest = first + outer.pad - (outer.extent() - 1);
      const int64_t out_first =
          std::clamp<int64_t>(divide_up(std::max<int64_t>(lowest, 0), outer.stride), 0, outer.out);
      const int64_t out_end =
          std::clamp<int64_t>(divide_up(end + outer.pad, outer.stride), out_first, outer.out);
      pieces.push_back(slab(c, image, first, end, out_first, out_end));
    }
  }
  return pieces;
}

}  // namespace graven::engine
