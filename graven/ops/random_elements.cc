#include "graven/ops/random_elements.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "graven/kernels/block_functions.h"
#include "graven/ops/elements.h"
#include "graven/ops/random_numbers.h"
#include "graven/tensor/half.h"

namespace graven::engine {
namespace {

constexpr int64_t kGroupsPerChunk = 1 << 12;

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

// A block of groups, word by word: the loops over them become vectors.
constexpr int64_t kBlockGroups = 64;
struct WordBlock {
  uint32_t words[4][kBlockGroups];
};

// The groups from `first` on, as stream.group(first), ... gives them one by one (philox.h).
void make_words(const PhiloxStream& stream, uint64_t first, int64_t groups, WordBlock& block) {
  auto& w = block.words;
  for (int64_t i = 0; i < groups; ++i) {
    uint64_t at = first + static_cast<uint64_t>(i), low = stream.counter_low + at;
    uint64_t high = stream.counter_high + (low < at ? 1 : 0);
    w[0][i] = static_cast<uint32_t>(low);
    w[1][i] = static_cast<uint32_t>(low >> 32);
    w[2][i] = static_cast<uint32_t>(high);
    w[3][i] = static_cast<uint32_t>(high >> 32);
  }
  philox_rounds(w[0], w[1], w[2], w[3], groups, stream.key);
}

// Two normals of each of n uniforms and angles; writes 2 n normals.
template <typename T>
void normals(T* uniforms, T* angles, int64_t n, T* to) {
  static constexpr DType kType = kDTypeOf<T>;
  static const BlockFunction log = math_function(Instruction::kLog, kType);
  static const BlockFunction sin = math_function(Instruction::kSin, kType);
  static const BlockFunction cos = math_function(Instruction::kCos, kType);
  T sines[2 * kBlockGroups];
  log(uniforms, uniforms, nullptr, nullptr, n);
  sin(sines, angles, nullptr, nullptr, n);
  cos(angles, angles, nullptr, nullptr, n);
  for (int64_t i = 0; i < n; ++i) uniforms[i] = std::sqrt(T(-2) * uniforms[i]);
  for (int64_t i = 0; i < n; ++i) {
    to[2 * i] = uniforms[i] * sines[i];
    to[2 * i + 1] = uniforms[i] * angles[i];
  }
}

// Calls write(block, groups, elements) for blocks of groups that cover the output; it writes the
// elements of these groups. Of the last group the output may hold a part.
template <typename T, typename F>
void for_blocks(const PhiloxStream& stream, const Tensor& out, F&& write) {
  constexpr int64_t n = sizeof(T) == 8 ? 2 : 4;
  T* to = static_cast<T*>(out.mutable_raw_data());
  const int64_t count = out.num_elements();
  for_ranges((count + n - 1) / n, kGroupsPerChunk, [&](int64_t begin, int64_t end) {
    WordBlock block;
    T last[kBlockGroups * n];
    for (int64_t first = begin; first < end; first += kBlockGroups) {
      const int64_t groups = std::min(kBlockGroups, end - first);
      const int64_t wanted = std::min(groups * n, count - first * n);
      make_words(stream, static_cast<uint64_t>(first), groups, block);
      T* target = wanted == groups * n ? to + first * n : last;
      write(block, groups, target);
      if (target == last) std::copy_n(last, wanted, to + first * n);
    }
  });
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

uint64_t wide_integer(const WordBlock& block, int word, int64_t i) {
  return block.words[word][i] | uint64_t{block.words[word + 1][i]} << 32;
}

template <typename T>
void integers_in_range(const PhiloxStream& stream, T low, T size, const Tensor& out) {
  for_blocks<T>(stream, out, [&](const WordBlock& block, int64_t groups, T* to) {
    for (int64_t i = 0; i < groups; ++i) {
      if constexpr (sizeof(T) == 8) {
        for (int k = 0; k < 2; ++k) to[2 * i + k] = low + wide_integer(block, 2 * k, i) % size;
      } else {
        for (int k = 0; k < 4; ++k) to[4 * i + k] = low + block.words[k][i] % size;
      }
    }
  });
}

}  // namespace

void fill_uniform(const PhiloxStream& stream, const Tensor& out) {
  visit_float_type(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for_blocks<T>(stream, out, [](const WordBlock& block, int64_t groups, T* to) {
      const auto& w = block.words;
      for (int64_t i = 0; i < groups; ++i) {
        if constexpr (std::is_same_v<T, double>) {
          for (int k = 0; k < 2; ++k) to[2 * i + k] = unit_double(w[2 * k][i], w[2 * k + 1][i]);
        } else {
          for (int k = 0; k < 4; ++k) to[4 * i + k] = unit<T>(w[k][i]);
        }
      }
    });
  });
}

void fill_normal(const PhiloxStream& stream, const Tensor& out) {
  visit_float_type(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for_blocks<T>(stream, out, [](const WordBlock& block, int64_t groups, T* to) {
      const auto& w = block.words;
      if constexpr (std::is_same_v<T, double>) {
        double uniforms[kBlockGroups], angles[kBlockGroups];
        for (int64_t i = 0; i < groups; ++i) {
          uniforms[i] = std::max(unit_double(w[0][i], w[1][i]), kLeastUniform);
          angles[i] = 2.0 * std::numbers::pi * unit_double(w[2][i], w[3][i]);
        }
        normals(uniforms, angles, groups, to);
      } else {
        float uniforms[2 * kBlockGroups], angles[2 * kBlockGroups];
        for (int64_t i = 0; i < groups; ++i) {
          for (int k = 0; k < 2; ++k) {
            uniforms[2 * i + k] =
                std::max(unit_float(w[2 * k][i]), static_cast<float>(kLeastUniform));
            angles[2 * i + k] = static_cast<float>(
                2.0 * std::numbers::pi * static_cast<double>(unit_float(w[2 * k + 1][i])));
          }
        }
        if constexpr (std::is_same_v<T, float>) {
          normals(uniforms, angles, 2 * groups, to);
        } else {
          float elements[4 * kBlockGroups];
          normals(uniforms, angles, 2 * groups, elements);
          for (int64_t i = 0; i < 4 * groups; ++i) to[i] = T(elements[i]);
        }
      }
    });
  });
}

// Group i, of n elements, draws from the counters from 64 n i on until n numbers are within two
// standard deviations.
void fill_truncated_normal(const PhiloxStream& stream, const Tensor& out) {
  visit_float_type(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    constexpr int n = sizeof(T) == 8 ? 2 : 4;
    for_groups<T>(out, [&](uint64_t i, T* to) {
      int count = 0;
      auto keep = [&](auto value) {
        if (count < n && std::abs(value) < 2) to[count++] = T(value);
      };
      // NOLINTNEXTLINE(bugprone-infinite-loop): keep() counts.
      for (uint64_t draw = 0; count < n; ++draw) {
        PhiloxWords w = stream.group(uint64_t{64 * n} * i + draw);
        if constexpr (std::is_same_v<T, double>) {
          for (double number : normal_doubles(w)) keep(number);
        } else {
          for (int k = 0; k < 4; k += 2) {
            for (float number : normal_floats(w[k], w[k + 1])) keep(number);
          }
        }
      }
    });
  });
}

void fill_integers(const PhiloxStream& stream, const Tensor& out) {
  if (dtype_size(out.dtype()) == 8) {
    for_blocks<uint64_t>(stream, out, [](const WordBlock& block, int64_t groups, uint64_t* to) {
      for (int64_t i = 0; i < groups; ++i) {
        for (int k = 0; k < 2; ++k) to[2 * i + k] = wide_integer(block, 2 * k, i);
      }
    });
  } else {
    for_blocks<uint32_t>(stream, out, [](const WordBlock& block, int64_t groups, uint32_t* to) {
      for (int64_t i = 0; i < groups; ++i) {
        for (int k = 0; k < 4; ++k) to[4 * i + k] = block.words[k][i];
      }
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
