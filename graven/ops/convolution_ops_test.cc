// Convolutions and pooling against loops over their definitions.
#include "graven/ops/convolution_ops.h"

#include <limits>

#include "graven/ops/testing.h"

namespace graven::engine {
namespace {

// An NHWC image at a place, 0 outside.
double at(const Tensor& x, int64_t n, int64_t h, int64_t w, int64_t c) {
  const Shape& s = x.shape();
  if (h < 0 || w < 0 || h >= s.size(1) || w >= s.size(2)) return 0;
  return x.data<double>()[((n * s.size(1) + h) * s.size(2) + w) * s.size(3) + c];
}

struct Sizes {
  int64_t before, out;
};
Sizes sizes_of(const ConvolutionAttrs& a, int axis, int64_t in, int64_t window) {
  const int64_t stride = a.strides[axis], span = (window - 1) * a.dilations[axis] + 1;
  if (a.padding == "SAME") {
    const int64_t out = (in + stride - 1) / stride;
    return {std::max<int64_t>((out - 1) * stride + span - in, 0) / 2, out};
  }
  int64_t before = 0, all = 0;
  if (a.padding == "EXPLICIT") {
    before = a.explicit_paddings[2 * axis];
    all = before + a.explicit_paddings[2 * axis + 1];
  }
  return {before, (in + all - span) / stride + 1};
}

Tensor naive_convolution(const Tensor& x, const Tensor& filter, const ConvolutionAttrs& a) {
  const Shape &s = x.shape(), &f = filter.shape();
  const Sizes rows = sizes_of(a, 1, s.size(1), f.size(0));
  const Sizes columns = sizes_of(a, 2, s.size(2), f.size(1));
  const int64_t of_group = f.size(2), groups = s.size(3) / of_group;
  Tensor y = *Tensor::allocate(DType::kFloat64, {s.size(0), rows.out, columns.out, f.size(3)});
  double* to = y.mutable_data<double>().data();
  for (int64_t n = 0; n < s.size(0); ++n) {
    for (int64_t h = 0; h < rows.out; ++h) {
      for (int64_t w = 0; w < columns.out; ++w) {
        for (int64_t o = 0; o < f.size(3); ++o) {
          double sum = 0;
          for (int64_t i = 0; i < f.size(0); ++i) {
            for (int64_t j = 0; j < f.size(1); ++j) {
              for (int64_t c = 0; c < of_group; ++c) {
                sum += at(x, n, h * a.strides[1] + i * a.dilations[1] - rows.before,
                          w * a.strides[2] + j * a.dilations[2] - columns.before,
                          o / (f.size(3) / groups) * of_group + c) *
                       filter.data<double>()[((i * f.size(1) + j) * of_group + c) * f.size(3) + o];
              }
            }
          }
          *to++ = sum;
        }
      }
    }
  }
  return y;
}

// The axes of a tensor in another order.
Tensor transposed(const Tensor& x, const std::vector<int>& order) {
  Shape shape;
  for (int axis : order) shape.push_back(x.shape()[axis]);
  Tensor y = *Tensor::allocate(DType::kFloat64, shape);
  std::vector<int64_t> strides(order.size(), 1), index(order.size(), 0);
  for (int i = static_cast<int>(order.size()) - 2; i >= 0; --i) {
    strides[i] = strides[i + 1] * x.shape().size(i + 1);
  }
  for (double& to : y.mutable_data<double>()) {
    int64_t from = 0;
    for (size_t i = 0; i < order.size(); ++i) from += index[i] * strides[order[i]];
    to = x.data<double>()[from];
    for (int i = static_cast<int>(order.size()) - 1; i >= 0; --i) {
      if (++index[i] < shape.size(i)) break;
      index[i] = 0;
    }
  }
  return y;
}
Tensor to_nchw(const Tensor& x) { return transposed(x, {0, 3, 1, 2}); }

ConvolutionAttrs in_nchw(const ConvolutionAttrs& a) {
  ConvolutionAttrs b = a;
  b.data_format = "NCHW";
  b.strides = {1, 1, a.strides[1], a.strides[2]};
  b.dilations = {1, 1, a.dilations[1], a.dilations[2]};
  if (!a.explicit_paddings.empty()) {
    b.explicit_paddings = {0,
                           0,
                           0,
                           0,
                           a.explicit_paddings[2],
                           a.explicit_paddings[3],
                           a.explicit_paddings[4],
                           a.explicit_paddings[5]};
  }
  return b;
}

double dot(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (int64_t i = 0; i < a.num_elements(); ++i) sum += a.data<double>()[i] * b.data<double>()[i];
  return sum;
}

Tensor sizes_tensor(const Shape& shape) {
  std::vector<int32_t> sizes;
  for (Dim dim : shape.dims()) sizes.push_back(static_cast<int32_t>(dim.number()));
  return vector_of(sizes);
}

const ConvolutionAttrs kConvolutions[] = {
    {.strides = {1, 1, 1, 1}, .padding = "VALID"},
    {.strides = {1, 1, 1, 1}, .padding = "SAME"},
    {.strides = {1, 2, 3, 1}, .padding = "SAME"},
    {.strides = {1, 2, 1, 1}, .padding = "VALID"},
    {.strides = {1, 1, 1, 1}, .padding = "SAME", .dilations = {1, 2, 3, 1}},
    {.strides = {1, 1, 1, 1}, .padding = "VALID", .dilations = {1, 2, 1, 1}},
    {.strides = {1, 2, 2, 1}, .padding = "EXPLICIT", .explicit_paddings = {0, 0, 2, 1, 0, 3, 0, 0}},
};

}  // namespace

TEST_CASE("convolutions are sums over windows, in both formats, with groups") {
  for (const ConvolutionAttrs& attrs : kConvolutions) {
    for (int64_t groups : {1, 2}) {
      INFO(attrs.padding, " strides ", attrs.strides[1], " ", attrs.strides[2], " dilations ",
           attrs.dilations[1], " ", attrs.dilations[2], " groups ", groups);
      Tensor x = random_tensor({2, 7, 9, 4}, 1), filter = random_tensor({3, 2, 4 / groups, 6}, 2);
      Tensor expected = naive_convolution(x, filter, attrs);
      check_near(run(kConv2D, {x, filter}, attrs), expected);
      check_near(run(kConv2D, {to_nchw(x), filter}, in_nchw(attrs)), to_nchw(expected));
    }
  }
}

TEST_CASE("gradients of convolutions are their adjoints") {
  for (const ConvolutionAttrs& attrs : kConvolutions) {
    Tensor x = random_tensor({2, 7, 9, 4}, 1), filter = random_tensor({3, 2, 2, 6}, 2);
    Tensor y = run(kConv2D, {x, filter}, attrs), dy = random_tensor(y.shape(), 3);
    Tensor dx = run(kConv2DBackpropInput, {sizes_tensor(x.shape()), filter, dy}, attrs);
    Tensor df = run(kConv2DBackpropFilter, {x, sizes_tensor(filter.shape()), dy}, attrs);
    CHECK(dx.shape() == x.shape());
    CHECK(dot(dx, x) == doctest::Approx(dot(y, dy)));
    CHECK(dot(df, filter) == doctest::Approx(dot(y, dy)));
    const ConvolutionAttrs second = in_nchw(attrs);
    Tensor shape = sizes_tensor(to_nchw(x).shape());
    check_near(run(kConv2DBackpropInput, {shape, filter, to_nchw(dy)}, second), to_nchw(dx));
    check_near(
        run(kConv2DBackpropFilter, {to_nchw(x), sizes_tensor(filter.shape()), to_nchw(dy)}, second),
        df);
  }
}

TEST_CASE("a depthwise convolution has a filter for each channel") {
  Tensor x = random_tensor({2, 6, 5, 3}, 1), filter = random_tensor({3, 2, 3, 2}, 2);
  const ConvolutionAttrs dense = {.strides = {1, 2, 2, 1}, .padding = "SAME"};
  const DepthwiseConvolutionAttrs attrs = {.strides = {1, 2, 2, 1}, .padding = "SAME"};
  Tensor grouped = filter.with_shape({3, 2, 1, 6});
  Tensor y = run(kDepthwiseConv2dNative, {x, filter}, attrs);
  check_near(y, naive_convolution(x, grouped, dense));
  Tensor dy = random_tensor(y.shape(), 3);
  Tensor dx =
      run(kDepthwiseConv2dNativeBackpropInput, {sizes_tensor(x.shape()), filter, dy}, attrs);
  Tensor df =
      run(kDepthwiseConv2dNativeBackpropFilter, {x, sizes_tensor(filter.shape()), dy}, attrs);
  CHECK(dot(dx, x) == doctest::Approx(dot(y, dy)));
  CHECK(dot(df, filter) == doctest::Approx(dot(y, dy)));
  CHECK(error_of(kDepthwiseConv2dNative, {x, random_tensor({3, 2, 2, 2})}, attrs) ==
        "[DepthwiseConv2dNative] input and filter must have the same depth: 3 vs 2");
}

TEST_CASE("a convolution of nothing, or that leaves nothing, is empty or zero") {
  const ConvolutionAttrs attrs = {.strides = {1, 1, 1, 1}, .padding = "VALID"};
  Tensor filter = random_tensor({2, 2, 3, 4});
  CHECK(run(kConv2D, {random_tensor({0, 5, 5, 3}), filter}, attrs).shape() == Shape{0, 4, 4, 4});
  CHECK(run(kConv2D, {random_tensor({1, 1, 5, 3}), filter}, attrs).shape() == Shape{1, 0, 4, 4});
  Tensor df =
      run(kConv2DBackpropFilter,
          {random_tensor({0, 5, 5, 3}), sizes_tensor(filter.shape()), random_tensor({0, 4, 4, 4})},
          attrs);
  for (double x : values_of<double>(df)) CHECK(x == 0);
}

TEST_CASE("wrong convolutions say what is wrong") {
  Tensor x = random_tensor({1, 4, 4, 2}), filter = random_tensor({2, 2, 2, 3});
  const ConvolutionAttrs good = {.strides = {1, 1, 1, 1}, .padding = "VALID"};
  auto with = [&](auto change) {
    ConvolutionAttrs attrs = good;
    change(attrs);
    return error_of(kConv2D, {x, filter}, attrs);
  };
  CHECK(error_of(kConv2D, {random_tensor({4, 4}), filter}, good) ==
        "[Conv2D] input must be 4-dimensional: [4,4]");
  CHECK(error_of(kConv2D, {x, random_tensor({2, 2, 3, 3})}, good) ==
        "[Conv2D] input depth must be evenly divisible by filter depth: 2 vs 3");
  CHECK(error_of(kConv2D, {random_tensor({1, 4, 4, 4}), filter}, good) ==
        "[Conv2D] output depth must be evenly divisible by number of groups: 3 vs 2");
  CHECK(error_of(kConv2D, {x, random_tensor({7, 7, 2, 3})}, good) ==
        "[Conv2D] Computed output size would be negative: -2 [input_size: 4, "
        "effective_filter_size: 7, stride: 1]");
  CHECK(with([](auto& a) {
          a.strides = {1, 0, 1, 1};
        }) == "[Conv2D] Stride must be > 0, but got 0");
  CHECK(with([](auto& a) {
          a.strides = {1, std::numeric_limits<int64_t>::max(), 1, 1};
        }) == "[Conv2D] strides must fit into int32, got 9223372036854775807");
  CHECK(with([](auto& a) {
          a.dilations = {1, int64_t{1} << 62, 1, 1};
        }).find("dilations must fit into int32") != std::string::npos);
  CHECK(with([](auto& a) {
          a.strides = {1, 1};
        }) == "[Conv2D] Sliding window strides field must specify 4 dimensions, got 2");
  CHECK(with([](auto& a) {
          a.strides = {2, 1, 1, 1};
        }).find("strides in the batch and depth") != std::string::npos);
  CHECK(with([](auto& a) {
          a.dilations = {1, 0, 1, 1};
        }) == "[Conv2D] Dilated rates should be larger than 0, but got 0");
  CHECK(with([](auto& a) { a.padding = "LEFT"; }).find("got \"LEFT\"") != std::string::npos);
  CHECK(with([](auto& a) { a.data_format = "CHWN"; }).find("got \"CHWN\"") != std::string::npos);
  CHECK(with([](auto& a) {
          a.padding = "EXPLICIT";
          a.explicit_paddings = {0, 0, -1, 0, 0, 0, 0, 0};
        }) == "[Conv2D] All elements of explicit_paddings must be nonnegative, but got -1");
  CHECK(error_of(kConv2DBackpropInput,
                 {vector_of<int32_t>({1, 4, 4, 2}), filter, random_tensor({1, 2, 2, 3})}, good) ==
        "[Conv2DBackpropInput] Size of out_backprop doesn't match computed: actual = [1,2,2,3], "
        "computed = [1,3,3,3]");
  CHECK(error_of(kConv2DBackpropInput,
                 {vector_of<int32_t>({1, 4, -4, 2}), filter, random_tensor({1, 2, 2, 3})},
                 good) == "[Conv2DBackpropInput] input_sizes must be nonnegative, got -4");
}

TEST_CASE("sizes of convolutions and pooling stay symbolic") {
  Trace t;
  Tensor x = t.placeholder(DType::kFloat32, {Dim::unknown(), Dim::unknown(), 8, 3});
  Tensor filter = t.placeholder(DType::kFloat32, {3, 3, 3, 16});
  CHECK(t.symbols(t.emit(kConv2D, {x, filter}, {.strides = {1, 2, 2, 1}, .padding = "SAME"})) ==
        "x.0 ceildiv(x.1, 2) 4 16 ");
  CHECK(t.symbols(t.emit(kConv2D, {x, filter}, {.strides = {1, 1, 1, 1}, .padding = "VALID"})) ==
        "x.0 x.1 - 2 6 16 ");
  CHECK(t.symbols(t.emit(kMaxPool, {x},
                         {.ksize = {1, 2, 2, 1}, .strides = {1, 2, 2, 1}, .padding = "VALID"})) ==
        "x.0 floordiv(x.1, 2) 4 3 ");
  CHECK(t.emit.status().ok());
  t.emit(kConv2D, {x, t.placeholder(DType::kFloat32, {9, 9, 3, 16})},
         {.strides = {1, 1, 1, 1}, .padding = "VALID"});
  CHECK(t.emit.status().message().find("Negative dimension size caused by subtracting 9 from 8") !=
        std::string::npos);
}

namespace {

// What a function makes of the elements of each window that lie inside the image.
template <typename F>
Tensor naive_pooling(const Tensor& x, const MaxPoolAttrs& a, F f) {
  const Shape& s = x.shape();
  const ConvolutionAttrs as_convolution = {
      .strides = a.strides, .padding = a.padding, .explicit_paddings = a.explicit_paddings};
  const Sizes rows = sizes_of(as_convolution, 1, s.size(1), a.ksize[1]);
  const Sizes columns = sizes_of(as_convolution, 2, s.size(2), a.ksize[2]);
  Tensor y = *Tensor::allocate(DType::kFloat64, {s.size(0), rows.out, columns.out, s.size(3)});
  double* to = y.mutable_data<double>().data();
  for (int64_t n = 0; n < s.size(0); ++n) {
    for (int64_t h = 0; h < rows.out; ++h) {
      for (int64_t w = 0; w < columns.out; ++w) {
        for (int64_t c = 0; c < s.size(3); ++c) {
          std::vector<double> window;
          for (int64_t i = 0; i < a.ksize[1]; ++i) {
            for (int64_t j = 0; j < a.ksize[2]; ++j) {
              const int64_t row = h * a.strides[1] + i - rows.before;
              const int64_t column = w * a.strides[2] + j - columns.before;
              if (row < 0 || column < 0 || row >= s.size(1) || column >= s.size(2)) continue;
              window.push_back(at(x, n, row, column, c));
            }
          }
          *to++ = f(window);
        }
      }
    }
  }
  return y;
}
double largest(const std::vector<double>& window) {
  return *std::max_element(window.begin(), window.end());
}
double mean(const std::vector<double>& window) {
  double sum = 0;
  for (double x : window) sum += x;
  return sum / static_cast<double>(window.size());
}

MaxPoolAttrs in_nchw(const MaxPoolAttrs& a) {
  MaxPoolAttrs b = a;
  b.data_format = "NCHW";
  b.ksize = {1, 1, a.ksize[1], a.ksize[2]};
  b.strides = {1, 1, a.strides[1], a.strides[2]};
  return b;
}
PoolAttrs without_explicit(const MaxPoolAttrs& a) {
  return {a.ksize, a.strides, a.padding, a.data_format};
}

const MaxPoolAttrs kPoolings[] = {
    {.ksize = {1, 2, 2, 1}, .strides = {1, 2, 2, 1}, .padding = "VALID"},
    {.ksize = {1, 2, 2, 1}, .strides = {1, 2, 2, 1}, .padding = "SAME"},
    {.ksize = {1, 3, 2, 1}, .strides = {1, 1, 2, 1}, .padding = "SAME"},
    {.ksize = {1, 3, 3, 1}, .strides = {1, 2, 1, 1}, .padding = "VALID"},
};

}  // namespace

TEST_CASE("pooling takes the largest or the mean of each window, in both formats") {
  Tensor x = random_tensor({2, 7, 9, 4}, 1);
  for (const MaxPoolAttrs& attrs : kPoolings) {
    INFO(attrs.padding, " ksize ", attrs.ksize[1], " strides ", attrs.strides[1]);
    Tensor most = naive_pooling(x, attrs, largest), middle = naive_pooling(x, attrs, mean);
    check_near(run(kMaxPool, {x}, attrs), most, 0);
    check_near(run(kMaxPool, {to_nchw(x)}, in_nchw(attrs)), to_nchw(most), 0);
    check_near(run(kAvgPool, {x}, without_explicit(attrs)), middle);
    check_near(run(kAvgPool, {to_nchw(x)}, without_explicit(in_nchw(attrs))), to_nchw(middle));
  }
  MaxPoolAttrs padded = {.ksize = {1, 3, 3, 1},
                         .strides = {1, 2, 2, 1},
                         .padding = "EXPLICIT",
                         .explicit_paddings = {0, 0, 1, 0, 0, 2, 0, 0}};
  check_near(run(kMaxPool, {x}, padded), naive_pooling(x, padded, largest), 0);
}

TEST_CASE("gradients of pooling go where the values came from") {
  Tensor x = random_tensor({2, 7, 9, 4}, 1);
  for (const MaxPoolAttrs& attrs : kPoolings) {
    Tensor y = run(kMaxPool, {x}, attrs), dy = random_tensor(y.shape(), 2);
    Tensor dx = run(kMaxPoolGrad, {x, y, dy}, attrs);
    // The values that came from x weigh as much: x . dx = y . dy.
    CHECK(dot(x, dx) == doctest::Approx(dot(y, dy)));
    check_near(run(kMaxPoolGrad, {to_nchw(x), to_nchw(y), to_nchw(dy)}, in_nchw(attrs)),
               to_nchw(dx));
    Tensor picked = run(kMaxPoolGradGrad, {x, y, x}, without_explicit(attrs));
    check_near(picked, y, 0);
    Tensor mean_of = run(kAvgPool, {x}, without_explicit(attrs));
    Tensor shape = sizes_tensor(x.shape());
    Tensor through = run(kAvgPoolGrad, {shape, dy}, without_explicit(attrs));
    CHECK(dot(x, through) == doctest::Approx(dot(mean_of, dy)));
  }
}

TEST_CASE("the largest may be taken over channels") {
  Tensor x = tensor_of<float>({1, 1, 2, 4}, {1, 5, 3, 2, 8, 7, 0, -1});
  const MaxPoolAttrs attrs = {.ksize = {1, 1, 1, 2}, .strides = {1, 1, 1, 2}, .padding = "VALID"};
  Tensor y = run(kMaxPool, {x}, attrs);
  CHECK(y.shape() == Shape{1, 1, 2, 2});
  CHECK(values_of<float>(y) == std::vector<float>{5, 3, 8, 0});
  Tensor dx = run(kMaxPoolGrad, {x, y, y}, attrs);
  CHECK(values_of<float>(dx) == std::vector<float>{0, 5, 3, 0, 8, 0, 0, 0});
}

TEST_CASE("wrong pooling says what is wrong") {
  Tensor x = random_tensor({1, 4, 4, 2});
  auto with = [&](std::vector<int64_t> ksize, std::vector<int64_t> strides) {
    return error_of(kMaxPool, {x}, {.ksize = ksize, .strides = strides, .padding = "VALID"});
  };
  CHECK(with({1, 0, 2, 1}, {1, 2, 2, 1}) ==
        "[MaxPool] Sliding window ksize must be positive, got 0");
  CHECK(with({2, 2}, {1, 2, 2, 1}) ==
        "[MaxPool] Sliding window ksize field must specify 4 dimensions, got 2");
  CHECK(with({1, 2, 2, 1}, {1, 0, 2, 1}) == "[MaxPool] Stride must be > 0, but got 0");
  CHECK(with({2, 2, 2, 1}, {1, 2, 2, 1}) ==
        "[MaxPool] Pooling is not yet supported on the batch dimension.");
  CHECK(with({1, 2, 2, 2}, {1, 1, 1, 2}).find("exactly one of pooling across depth") !=
        std::string::npos);
  CHECK(with({1, 7, 7, 1}, {1, 1, 1, 1}).find("Computed output size would be negative: -2") !=
        std::string::npos);
  CHECK(error_of(kMaxPool, {random_tensor({4, 4})},
                 {.ksize = {1, 2, 2, 1}, .strides = {1, 2, 2, 1}, .padding = "VALID"}) ==
        "[MaxPool] the input must be 4-dimensional, got shape [4,4]");
  Tensor y = random_tensor({1, 2, 2, 2});
  CHECK(error_of(kMaxPoolGrad, {x, y, random_tensor({1, 3, 2, 2})},
                 {.ksize = {1, 2, 2, 1}, .strides = {1, 2, 2, 1}, .padding = "VALID"}) ==
        "[MaxPoolGrad] Expected grad shape to be [1,2,2,2], but got [1,3,2,2]");
}

}  // namespace graven::engine
