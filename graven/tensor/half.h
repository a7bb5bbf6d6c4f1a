#pragma once
#include <bit>
#include <cstdint>

namespace graven::engine {

// IEEE binary16. Arithmetic is done in float; this type only stores. Rounds to nearest even.
struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(float value) : bits(from_float(value)) {}
  explicit operator float() const { return to_float(bits); }
  static Half from_bits(uint16_t bits) {
    Half half;
    half.bits = bits;
    return half;
  }
  friend bool operator==(Half a, Half b) { return static_cast<float>(a) == static_cast<float>(b); }

  static constexpr uint16_t from_float(float value) {
    uint32_t f = std::bit_cast<uint32_t>(value);
    uint32_t sign = f >> 16 & 0x8000, magnitude = f & 0x7fffffff;
    if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);
    if (magnitude >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);
    if (magnitude < 0x38800000) {  // below 2^-14: a denormal half, counted in units of 2^-24
      if (magnitude < 0x33000000) return static_cast<uint16_t>(sign);
      int shift = 126 - static_cast<int>(magnitude >> 23);
      uint32_t mantissa = (magnitude & 0x7fffff) | 0x800000;
      uint32_t kept = mantissa >> shift, rest = mantissa & ((1u << shift) - 1),
               middle = 1u << (shift - 1);
      kept += rest > middle || (rest == middle && (kept & 1));
      return static_cast<uint16_t>(sign | kept);
    }
    uint32_t rebased = magnitude - 0x38000000;
    uint32_t rounded = rebased + 0xfff + (rebased >> 13 & 1);
    return static_cast<uint16_t>(sign | rounded >> 13);
  }
  static constexpr float to_float(uint16_t half) {
    uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16, magnitude = half & 0x7fff;
    if (magnitude >= 0x7c00) {
      return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
    }
    if (magnitude < 0x400) {
      float value = static_cast<float>(magnitude) * 0x1p-24f;
      return sign ? -value : value;
    }
    return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000));
  }
};

// The upper half of a float. Arithmetic is done in float. Rounds to nearest even.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value) : bits(from_float(value)) {}
  explicit operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
  static BFloat16 from_bits(uint16_t bits) {
    BFloat16 value;
    value.bits = bits;
    return value;
  }
  friend bool operator==(BFloat16 a, BFloat16 b) {
    return static_cast<float>(a) == static_cast<float>(b);
  }

  static constexpr uint16_t from_float(float value) {
    uint32_t f = std::bit_cast<uint32_t>(value);
    if ((f & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>((f >> 16) | 0x40);
    return static_cast<uint16_t>((f + 0x7fff + (f >> 16 & 1)) >> 16);
  }
};

}  // namespace graven::engine
