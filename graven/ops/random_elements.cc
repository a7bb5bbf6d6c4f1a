#include "graven/ops/random_elements.h"

#include <bit>
#include <cmath>
#include <numbers>

#include "graven/ops/elements.h"
#include "graven/tensor/half.h"

namespace graven::engine {
namespace {

constexpr int64_t kGroupsPerChunk = 1 << 12;

// The bits of a number in [1, 2), then minus 1.
float unit_float(uint32_t word) {
  return std::bit_cast<float>(0x3F800000u | (word & 0x7FFFFF)) - 1.0f;
}
double unit_double(uint32_t high, uint32_t low) {
  return std::bit_cast<double>(uint64_t{0x3FF} << 52 | uint64_t{high & 0xFFFFF} << 32 | low) - 1.0;
}
template <typename T>
T unit(uint32_t word) {
  if constexpr (std::is_same_v<T, float>) {
    return unit_float(word);
  } else if constexpr (std::is_same_v<T, Half>) {
    auto bits = static_cast<uint16_t>(0x3C00 | (word & 0x3FF));
    return T(static_cast<float>(Half::from_bits(bits)) - 1.0f);
  } else {
    auto bits = static_cast<uint16_t>(0x3F80 | (word & 0x7F));
    return T(static_cast<float>(BFloat16::from_bits(bits)) - 1.0f);
  }
}

// A sine and a cosine, times a radius: two independent normals of two uniforms.
constexpr double kLeastUniform = 1e-7;
struct FloatPair {
  float first, second;
};
FloatPair normal_floats(uint32_t w0, uint32_t w1) {
  float u = std::max(unit_float(w0), static_cast<float>(kLeastUniform));
  auto angle = static_cast<float>(2.0 * std::numbers::pi * static_cast<double>(unit_float(w1)));
  float radius = std::sqrt(-2.0f * std::log(u));
  return {radius * std::sin(angle), radius * std::cos(angle)};
}
struct DoublePair {
  double first, second;
};
DoublePair normal_doubles(const PhiloxWords& w) {
  double u = std::max(unit_double(w[0], w[1]), kLeastUniform);
  double angle = 2.0 * std::numbers::pi * unit_double(w[2], w[3]);
  double radius = std::sqrt(-2.0 * std::log(u));
  return {radius * std::sin(angle), radius * std::cos(angle)};
}

// Calls group(i, elements), which writes the elements of group i, for all groups. Only the last
// may be cut short.
template <typename T, typename F>
void for_groups(const Tensor& out, F&& group) {
  constexpr int64_t n = sizeof(T) == 8 ? 2 : 4;
  T* to = static_cast<T*>(out.mutable_raw_data());
  const int64_t count = out.num_elements(), whole = count / n;
  for_ranges((count + n - 1) / n, kGroupsPerChunk, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < std::min(end, whole); ++i) {
      group(static_cast<uint64_t>(i), to + i * n);
    }
    if (end > whole) {
      T last[n];
      group(static_cast<uint64_t>(whole), last);
      std::copy_n(last, count - whole * n, to + whole * n);
    }
  });
}

template <typename F>
void visit_float_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kHalf:
      return f(Half{});
    case DType::kBFloat16:
      return f(BFloat16{});
    case DType::kFloat64:
      return f(double{});
    default:
      return f(float{});
  }
}

template <typename T>
void integers_in_range(const PhiloxStream& stream, T low, T size, const Tensor& out) {
  for_groups<T>(out, [&](uint64_t i, T* to) {
    PhiloxWords w = stream.group(i);
    if constexpr (sizeof(T) == 8) {
      for (int k = 0; k < 2; ++k) {
        to[k] = low + (w[2 * k] | uint64_t{w[2 * k + 1]} << 32) % size;
      }
    } else {
      for (int k = 0; k < 4; ++k) to[k] = low + w[k] % size;
    }
  });
}

}  // namespace

void fill_uniform(const PhiloxStream& stream, const Tensor& out) {
  visit_float_type(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for_groups<T>(out, [&](uint64_t i, T* to) {
      PhiloxWords w = stream.group(i);
      if constexpr (std::is_same_v<T, double>) {
        for (int k = 0; k < 2; ++k) to[k] = unit_double(w[2 * k], w[2 * k + 1]);
      } else {
        for (int k = 0; k < 4; ++k) to[k] = unit<T>(w[k]);
      }
    });
  });
}

void fill_normal(const PhiloxStream& stream, const Tensor& out) {
  visit_float_type(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for_groups<T>(out, [&](uint64_t i, T* to) {
      PhiloxWords w = stream.group(i);
      if constexpr (std::is_same_v<T, double>) {
        DoublePair pair = normal_doubles(w);
        to[0] = pair.first;
        to[1] = pair.second;
      } else {
        for (int k = 0; k < 4; k += 2) {
          FloatPair pair = normal_floats(w[k], w[k + 1]);
          to[k] = T(pair.first);
          to[k + 1] = T(pair.second);
        }
      }
    });
  });
}

// Group i draws from the counters 64 times its number of elements behind those of group i - 1, one
// after another, until it has its elements.
void fill_truncated_normal(const PhiloxStream& stream, const Tensor& out) {
  visit_float_type(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    constexpr int n = sizeof(T) == 8 ? 2 : 4;
    for_groups<T>(out, [&](uint64_t i, T* to) {
      int count = 0;
      auto keep = [&](auto value) {
        if (count < n && std::abs(value) < 2) to[count++] = T(value);
      };
      for (uint64_t draw = 0; count < n; ++draw) {
        PhiloxWords w = stream.group(uint64_t{64 * n} * i + draw);
        if constexpr (std::is_same_v<T, double>) {
          DoublePair pair = normal_doubles(w);
          keep(pair.first);
          keep(pair.second);
        } else {
          for (int k = 0; k < 4; k += 2) {
            FloatPair pair = normal_floats(w[k], w[k + 1]);
            keep(pair.first);
            keep(pair.second);
          }
        }
      }
    });
  });
}

void fill_integers(const PhiloxStream& stream, const Tensor& out) {
  if (dtype_size(out.dtype()) == 8) {
    for_groups<uint64_t>(out, [&](uint64_t i, uint64_t* to) {
      PhiloxWords w = stream.group(i);
      for (int k = 0; k < 2; ++k) to[k] = w[2 * k] | uint64_t{w[2 * k + 1]} << 32;
    });
  } else {
    for_groups<uint32_t>(out, [&](uint64_t i, uint32_t* to) {
      PhiloxWords w = stream.group(i);
      std::copy_n(w.data(), 4, to);
    });
  }
}

void fill_integers(const PhiloxStream& stream, int64_t low, int64_t high, const Tensor& out) {
  if (dtype_size(out.dtype()) == 8) {
    integers_in_range(stream, static_cast<uint64_t>(low),
                      static_cast<uint64_t>(high) - static_cast<uint64_t>(low), out);
  } else {
    integers_in_range(stream, static_cast<uint32_t>(low), static_cast<uint32_t>(high - low), out);
  }
}

}  // namespace graven::engine
