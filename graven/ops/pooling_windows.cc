#include "graven/ops/pooling_windows.h"

namespace graven::engine {

Result<Shape> pooled_shape(InferContext& c, const Windows& windows, const Shape& image) {
  const int rank = windows.axes + 2;
  if (image.has_rank() && image.rank() != rank) {
    return invalid_argument("the input must be ", rank, "-dimensional, got shape ",
                            image.to_message());
  }
  const Shape in =
      image.has_rank() ? channels_last(image, windows.channels_second) : unknown_sizes(rank);
  Shape out = in;
  if (windows.depth != 1) {
    if (in[3].is_number() && in[3].number() % windows.depth != 0) {
      return unimplemented(
          "Depthwise max pooling requires the depth window to evenly divide the input depth.");
    }
    out.set(3, c.floor_div(in[3], windows.depth));
    return in_format(out, windows.channels_second);
  }
  for (int axis = 0; axis < windows.axes; ++axis) {
    ASSIGN_OR_RETURN(Dim count, count_windows(c, windows, axis, in[1 + axis], windows.sizes[axis]));
    out.set(1 + axis, count);
  }
  return in_format(out, windows.channels_second);
}

// A window over channels is one that slides
// along the width of images of one pixel row, which has a channel in each column.
Pooling pooling_of(const Windows& windows, DType dtype, const Shape& image, const Shape& out) {
  if (windows.depth != 1) {
    return {.dtype = dtype,
            .batch = image.size(0) * image.size(1) * image.size(2),
            .in_height = 1,
            .in_width = image.size(3),
            .channels = 1,
            .window_height = 1,
            .window_width = windows.depth,
            .out_height = 1,
            .out_width = out.size(3),
            .stride_width = windows.depth};
  }
  const int y = windows.axes - 2, x = y + 1;  // spatial axes
  const auto pad = [&](int axis) {
    const int64_t in = image.size(1 + axis);
    return pads_of(windows, axis, in, windows.sizes[axis], out.size(1 + axis)).before;
  };
  Pooling p{.dtype = dtype,
            .batch = image.size(0),
            .in_height = image.size(1 + y),
            .in_width = image.size(1 + x),
            .channels = image.size(2 + x),
            .window_height = windows.sizes[y],
            .window_width = windows.sizes[x],
            .out_height = out.size(1 + y),
            .out_width = out.size(1 + x),
            .stride_height = windows.strides[y],
            .stride_width = windows.strides[x],
            .pad_top = pad(y),
            .pad_left = pad(x)};
  if (windows.axes == 3) {
    p.in_depth = image.size(1);
    p.window_depth = windows.sizes[0];
    p.out_depth = out.size(1);
    p.stride_depth = windows.strides[0];
    p.pad_front = pad(0);
  }
  return p;
}

Status check_shape(std::string_view what, const Shape& expected, const Shape& got) {
  if (merge_shapes(expected, got).ok()) return {};
  return invalid_argument("Expected ", what, " shape to be ", expected.to_message(), ", but got ",
                          got.to_message());
}

}  // namespace graven::engine
