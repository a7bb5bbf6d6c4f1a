#pragma once
#include <cstdint>
#include <string_view>

namespace graven::engine {

// Mixes a word into a hash. Based on the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
constexpr uint64_t hash_combine(uint64_t seed, uint64_t word) {
  uint64_t z = seed + 0x9e3779b97f4a7c15ULL + word;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// FNV-1a, then mixed.
constexpr uint64_t hash_text(std::string_view text) {
  uint64_t h = 0xcbf29ce484222325ULL;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash_combine(h, text.size());
}

}  // namespace graven::engine
