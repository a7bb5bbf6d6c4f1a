#include "graven/ops/sampling_taps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace graven::engine {
namespace {

float scale_of(int64_t in, int64_t out, bool align_corners) {
  if (align_corners && in > 1 && out > 1) {
    return static_cast<float>(in - 1) / static_cast<float>(out - 1);
  }
  return static_cast<float>(in) / static_cast<float>(out);
}

// Where in the source a place of the result lies.
float source_of(int64_t place, float scale, bool half_pixel_centers) {
  const auto x = static_cast<float>(place);
  return half_pixel_centers ? (x + 0.5F) * scale - 0.5F : x * scale;
}

// Weights that do not vanish are made to add up to 1.
void normalize(std::vector<float>& weights, size_t first) {
  float sum = 0;
  for (size_t i = first; i < weights.size(); ++i) sum += weights[i];
  if (std::abs(sum) < 1000 * std::numeric_limits<float>::min()) return;
  for (size_t i = first; i < weights.size(); ++i) weights[i] *= 1 / sum;
}

}  // namespace

Taps bilinear_taps(int64_t in, int64_t out, const ResizeAttrs& attrs) {
  const float scale = scale_of(in, out, attrs.align_corners);
  Taps taps;
  for (int64_t place = 0; place < out; ++place) {
    const float source = source_of(place, scale, attrs.half_pixel_centers);
    const float below = std::floor(source);
    const int64_t low = std::clamp<int64_t>(static_cast<int64_t>(below), 0, in - 1);
    const int64_t high = std::clamp<int64_t>(static_cast<int64_t>(below) + 1, 0, in - 1);
    if (low == high) {
      taps.weights.push_back(1);
    } else {
      taps.weights.push_back(1 - (source - below));
      taps.weights.push_back(source - below);
    }
    taps.add(low);
  }
  return taps;
}

// A cubic curve that is 1 at 0 and 0 at the other whole numbers, looked up at steps of 1/1024 as
// TensorFlow does. With centers of pixels its slope at 1 is -0.5 and neighbours outside have no
// weight; else the slope is -0.75 and the edge stands for them.
Taps bicubic_taps(int64_t in, int64_t out, const ResizeAttrs& attrs) {
  constexpr int64_t kSteps = 1024;
  const bool is_centered = attrs.half_pixel_centers;
  const double a = is_centered ? -0.5 : -0.75;
  const auto near = [a](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far = [a](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  const float scale = scale_of(in, out, attrs.align_corners);
  Taps taps;
  for (int64_t place = 0; place < out; ++place) {
    const float source = source_of(place, scale, is_centered), below = std::floor(source);
    const double x = static_cast<double>(std::lrint((source - below) * kSteps)) / kSteps;
    const double curve[] = {far(x + 1), near(x), near(1 - x), far(2 - x)};
    const int64_t first = static_cast<int64_t>(below) - 1;
    const int64_t start = std::clamp<int64_t>(first, 0, in - 1);
    const int64_t last = std::clamp<int64_t>(first + 3, 0, in - 1);
    const size_t own = taps.weights.size();
    taps.weights.resize(own + static_cast<size_t>(last - start + 1), 0);
    for (int64_t i = 0; i < 4; ++i) {
      const int64_t at = std::clamp<int64_t>(first + i, 0, in - 1);
      if (is_centered && at != first + i) continue;
      taps.weights[own + static_cast<size_t>(at - start)] += static_cast<float>(curve[i]);
    }
    if (is_centered) normalize(taps.weights, own);
    taps.add(start);
  }
  return taps;
}

// The part of each neighbour within the place; neighbours outside the image are the edge.
Taps area_taps(int64_t in, int64_t out, bool align_corners) {
  const float scale = scale_of(in, out, align_corners);
  Taps taps;
  for (int64_t place = 0; place < out; ++place) {
    const float begin = static_cast<float>(place) * scale;
    const float end = static_cast<float>(place + 1) * scale;
    const auto first = static_cast<int64_t>(std::floor(begin));
    const auto last = static_cast<int64_t>(std::ceil(end));
    const int64_t start = std::clamp<int64_t>(first, 0, in - 1);
    const size_t own = taps.weights.size();
    taps.weights.resize(own + 1, 0);
    for (int64_t i = first; i < last; ++i) {
      const auto from = std::max(static_cast<float>(i), begin);
      const auto to = std::min(static_cast<float>(i + 1), end);
      const auto at = own + static_cast<size_t>(std::clamp<int64_t>(i, 0, in - 1) - start);
      taps.weights.resize(std::max(taps.weights.size(), at + 1), 0);
      taps.weights[at] += (to - from) / scale;
    }
    taps.add(start);
  }
  return taps;
}

namespace {

template <int radius>
float lanczos(float x) {
  constexpr float kPi = std::numbers::pi_v<float>;
  if (x > radius) return 0;
  if (x <= 1e-3F) return 1;
  return radius * std::sin(kPi * x) * std::sin(kPi * x / radius) / (kPi * kPi * x * x);
}

float gaussian(float x) {
  constexpr float kDeviation = 0.5;
  return x >= 1.5F ? 0 : std::exp(-x * x / (2 * kDeviation * kDeviation));
}

float box(float x) { return x < 0.5F ? 1 : x == 0.5F ? 0.5F : 0; }

float triangle(float x) { return std::max(1 - x, 0.0F); }

float keys_cubic(float x) {
  if (x >= 2) return 0;
  return x >= 1 ? ((-0.5F * x + 2.5F) * x - 4) * x + 2 : (1.5F * x - 2.5F) * x * x + 1;
}

float mitchell_cubic(float x) {
  if (x >= 2) return 0;
  return x >= 1 ? ((-7.0F / 18 * x + 2) * x - 10.0F / 3) * x + 16.0F / 9
                : (7.0F / 6 * x - 2) * x * x + 8.0F / 9;
}

}  // namespace

Result<Curve> curve_of(std::string_view kernel_type) {
  struct Named {
    std::string_view name;
    Curve curve;
  };
  static constexpr std::array kCurves = {Named{"lanczos1", {1, lanczos<1>}},
                                         Named{"lanczos3", {3, lanczos<3>}},
                                         Named{"lanczos5", {5, lanczos<5>}},
                                         Named{"gaussian", {1.5, gaussian}},
                                         Named{"box", {1, box}},
                                         Named{"triangle", {1, triangle}},
                                         Named{"keyscubic", {2, keys_cubic}},
                                         Named{"mitchellcubic", {2, mitchell_cubic}}};
  for (const Named& named : kCurves) {
    if (named.name == kernel_type) return named.curve;
  }
  return invalid_argument("Unrecognized kernel type: ", kernel_type);
}

Taps curve_taps(int64_t in, int64_t out, const Curve& curve, bool antialias, float scale,
                float translation) {
  const float step = 1 / scale, shift = -step * translation;
  const float width = antialias ? std::max(step, 1.0F) : 1.0F;
  // Large numbers are rounded, so that the edge is checked again as an integer.
  const auto within = [in](float x) {
    const auto edge = static_cast<float>(in - 1);
    return std::min(static_cast<int64_t>(std::clamp(x, 0.0F, edge)), in - 1);
  };
  Taps taps;
  for (int64_t place = 0; place < out; ++place) {
    const float source = (static_cast<float>(place) + 0.5F) * step + shift;
    if (!(source >= 0 && source <= static_cast<float>(in))) {
      taps.add(0);
      continue;
    }
    const float reach = curve.radius * width;
    const int64_t start = within(std::ceil(source - reach - 0.5F));
    const int64_t last = within(std::floor(source + reach - 0.5F));
    const size_t own = taps.weights.size();
    for (int64_t i = start; i <= last; ++i) {
      const float distance = std::abs(static_cast<float>(i) + 0.5F - source);
      taps.weights.push_back(curve.at(distance / width));
    }
    normalize(taps.weights, own);
    taps.add(start);
  }
  return taps;
}

std::vector<int64_t> nearest_places(int64_t in, int64_t out, const ResizeAttrs& attrs) {
  const float scale = scale_of(in, out, attrs.align_corners);
  std::vector<int64_t> places;
  for (int64_t place = 0; place < out; ++place) {
    const float x = static_cast<float>(place) + (attrs.half_pixel_centers ? 0.5F : 0.0F);
    const float source = attrs.align_corners ? std::round(x * scale) : std::floor(x * scale);
    places.push_back(std::clamp<int64_t>(static_cast<int64_t>(source), 0, in - 1));
  }
  return places;
}

}  // namespace graven::engine
